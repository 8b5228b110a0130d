"""`--log`: adds what was recorded to the script's run in W&B, just before that run ends.

Only the script's own process can write to it. The analysis is made in another one; what is logged
then goes to W&B's own process, so nothing here waits for a server.
"""

import atexit
import html
import json
import os
import subprocess
import tempfile
from typing import Any, Final

from stepscope.launch.tracker_runs import DIGEST_FILE, command
from stepscope.launch.unrecorded import unrecorded
from stepscope.record.frameworks.trackers.open_runs import is_first_rank
from stepscope.record.frameworks.watching import running_recording
from stepscope.record.frameworks.watching.patches import Patches
from stepscope.record.frameworks.watching.running_recording import RunningRecording
from stepscope.signal_handlers import let_pass

_PATIENCE_S: Final = 120.0  # for the analysis: the script waits meanwhile
_STEP: Final = "stepscope/step"

_is_logged = False


def install(module: Any, patches: Patches) -> None:
    patches.on_undo(_forget)
    running_recording.when_running(lambda recording: _watch(module, patches, recording))


def _forget() -> None:
    global _is_logged
    _is_logged = False


def _watch(wandb: Any, patches: Patches, recording: RunningRecording) -> None:
    if not recording.options.log or not is_first_rank():
        return

    def log(run: Any = None, *_args: Any, **_kwargs: Any) -> None:
        _log(wandb, run or wandb.run, recording)

    def before_exit(*_args: Any, **_kwargs: Any) -> None:
        """At the end of the process W&B closes its connection without ending the run. What is
        registered last runs first, so this has to follow its own handler."""
        atexit.unregister(log)
        atexit.register(log)

    run_class = wandb.sdk.wandb_run.Run
    patches.watch(run_class, "_finish" if hasattr(run_class, "_finish") else "finish", log)
    patches.follow(wandb, "init", before_exit)
    patches.on_undo(lambda: atexit.unregister(log))
    before_exit()
    running_recording.before_end(log)


def _log(wandb: Any, run: Any, recording: RunningRecording) -> None:
    """Once; None: a run is open no more, or none was."""
    global _is_logged
    if run is None or _is_logged or getattr(run, "_is_finished", False):
        return
    _is_logged = True
    try:
        with tempfile.TemporaryDirectory() as folder:
            _add(wandb, run, _digest(os.path.dirname(recording.folder()), folder))
    except Exception as error:
        let_pass(error)
        recording.note(f"Not added to the run in W&B: {error}")


def _digest(run_folder: str, folder: str) -> dict[str, Any]:
    subprocess.run(
        command("digest", run_folder, folder),
        env=unrecorded(os.environ),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        timeout=_PATIENCE_S,
        check=True,
    )
    with open(os.path.join(folder, DIGEST_FILE), encoding="utf-8") as file:
        digest: dict[str, Any] = json.load(file)
    return digest


def _add(wandb: Any, run: Any, digest: dict[str, Any]) -> None:
    """Steps on an axis of their own: the script's own axis may count something else."""
    run.define_metric(_STEP)
    run.define_metric("stepscope/*", step_metric=_STEP)
    for step, metrics in digest["course"]:
        run.log({_STEP: step, **metrics})
    text = f"<pre style='white-space: pre-wrap'>{html.escape(digest['findings'])}</pre>"
    run.log({"stepscope/findings": wandb.Html(text)})
    run.summary.update({**digest["summary"], "stepscope/verdict": digest["verdict"]})
    if digest["report"] is not None:
        artifact = wandb.Artifact(f"stepscope-{run.id}", type="profile")
        artifact.add_file(digest["report"], name="report.html")
        run.log_artifact(artifact)
