"""Logs to MLflow, at the address that the environment names."""

import mlflow
from training import steps

with mlflow.start_run() as run:
    for step, loss in steps():
        mlflow.log_metric("loss", loss, step=step)
print("run", run.info.run_id)
