"""Adds a digest to a run of MLflow: in our own process, the only one that waits for its server."""

import importlib
import os
import time
from typing import Any, Final

from stepscope.model.tracking import Digest

# MLflow's own defaults would have us try for an hour.
_PATIENCE: Final = {"MLFLOW_HTTP_REQUEST_TIMEOUT": "20", "MLFLOW_HTTP_REQUEST_MAX_RETRIES": "3"}
_FOLDER: Final = "stepscope"  # among the run's artifacts
_AT_ONCE: Final = 900  # metrics; a server takes 1,000 in one call
_LONGEST_TAG: Final = 5_000  # characters


def add(digest: Digest, uri: str, run_id: str, folder: str) -> None:
    """`folder`: the script's own, which a relative address is relative to."""
    for name, value in _PATIENCE.items():
        os.environ.setdefault(name, value)
    os.chdir(folder)
    mlflow: Any = importlib.import_module("mlflow")
    client = mlflow.MlflowClient(tracking_uri=uri)
    metrics = _metrics(mlflow.entities.Metric, digest)
    for first in range(0, len(metrics), _AT_ONCE):
        client.log_batch(run_id, metrics=metrics[first : first + _AT_ONCE])
    client.set_tag(run_id, "stepscope.verdict", digest.verdict[:_LONGEST_TAG])
    client.log_text(run_id, digest.findings, f"{_FOLDER}/findings.md")
    if digest.report is not None:
        client.log_artifact(run_id, digest.report, _FOLDER)


def _metrics(metric: Any, digest: Digest) -> list[Any]:
    now_ms = int(time.time() * 1000)
    last = digest.course[-1][0] if digest.course else 0
    rows = [*digest.course, (last, digest.summary)]
    return [
        metric(key=name, value=value, timestamp=now_ms, step=step)
        for step, metrics in rows
        for name, value in metrics.items()
    ]
