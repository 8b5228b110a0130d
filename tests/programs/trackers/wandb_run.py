"""Logs to W&B: the run is ended by the script, or ('exit') by the end of the process. 'no-python':
there is none to start beside it."""

import sys

import wandb
from training import steps

run = wandb.init(project="digits", mode="offline", settings=wandb.Settings(silent=True))
for step, loss in steps():
    wandb.log({"loss": loss})
print("folder", run.dir)
if sys.argv[1:] == ["no-python"]:
    sys.executable = "/nonexistent/python"
if sys.argv[1:] != ["exit"]:
    wandb.finish()
