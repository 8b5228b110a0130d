"""`--log`: notes which runs of experiment trackers the script has open.

Afterwards another process adds what was recorded (`launch/tracker_runs.py`). Nothing is imported
here, and nothing is sent.
"""

import json
import os
import sys
from typing import Any

from stepscope.record.frameworks.watching import running_recording
from stepscope.record.frameworks.watching.patches import Patches
from stepscope.record.frameworks.watching.running_recording import RunningRecording
from stepscope.record.frameworks.watching.timed_calls import do_nothing
from stepscope.store.format import TRACKERS_FILE
from stepscope.store.plain_files import append_plain

_noted: set[str] = set()


def install(module: Any, patches: Patches) -> None:
    """When something can be written, and only if the user asked for it."""
    patches.on_undo(_noted.clear)
    running_recording.when_running(lambda recording: _watch(module, patches, recording))


def _watch(module: Any, patches: Patches, recording: RunningRecording) -> None:
    if not recording.options.log or not is_first_rank():
        return
    if module.__name__ == "mlflow":
        _watch_mlflow(module, patches, recording)
    elif module.__name__ == "tensorflow":
        _watch_file_writers(module.summary, patches, recording)
    else:
        _watch_summary_writers(module.SummaryWriter, patches, recording)


def is_first_rank() -> bool:
    return os.environ.get("STEPSCOPE_RANK", "0") == "0"


def _note(recording: RunningRecording, kind: str, **facts: str) -> None:
    """The first of each kind: the run that the script opens for itself."""
    if kind in _noted:
        return
    _noted.add(kind)
    line = json.dumps({"is": kind, **facts}) + "\n"
    append_plain(os.path.join(recording.folder(), TRACKERS_FILE), line.encode())


# --- MLflow ---------------------------------------------------------------------------------------


def _watch_mlflow(mlflow: Any, patches: Patches, recording: RunningRecording) -> None:
    """A run is known when it is made, and also when it is used: `start_run` may go on with an old
    one, loggers make theirs with a client, and a `Profiler` begins later than the run."""

    def note(client: Any, run_id: Any) -> None:
        facts = {"uri": str(client.tracking_uri), "run": str(run_id), "folder": os.getcwd()}
        _note(recording, "mlflow", **facts)

    def used(client: Any, run_id: Any = None, *_args: Any, **_kwargs: Any) -> None:
        if run_id is not None and "mlflow" not in _noted:
            note(client, run_id)

    patches.watch(mlflow.MlflowClient, "create_run", _client, _then(note), do_nothing)
    for name in ("log_metric", "log_batch", "log_param"):
        patches.follow(mlflow.MlflowClient, name, used)


def _client(client: Any, *_args: Any, **_kwargs: Any) -> Any:
    return client


def _then(note: Any) -> Any:
    return lambda client, run: note(client, run.info.run_id)


# --- TensorBoard ----------------------------------------------------------------------------------


def _watch_summary_writers(writer: Any, patches: Patches, recording: RunningRecording) -> None:
    """torch's, and tensorboardX's."""

    def note(self: Any, *_args: Any, **_kwargs: Any) -> None:
        folder = getattr(self, "logdir", None) or getattr(self, "log_dir", None)
        if folder is not None and "://" not in str(folder):
            _note(recording, "tensorboard", folder=os.path.abspath(str(folder)))

    patches.follow(writer, "__init__", note)
    # One that was made before a `Profiler` began shows itself when it is used.
    patches.follow(writer, "add_scalar", note)


def _watch_file_writers(summary: Any, patches: Patches, recording: RunningRecording) -> None:
    def note(logdir: Any, *_args: Any, **_kwargs: Any) -> None:
        if "://" not in str(logdir):
            _note(recording, "tensorboard", folder=os.path.abspath(str(logdir)))

    patches.follow(summary, "create_file_writer", note)
    for callback in _keras_callbacks():
        note(os.path.join(str(callback.log_dir), "train"))


def _keras_callbacks() -> list[Any]:
    """TensorBoard callbacks that are at work already, where a callback of ours begins to record."""
    import gc

    names = ("keras.callbacks", "keras.src.callbacks.tensorboard", "tf_keras.callbacks")
    found = (getattr(sys.modules.get(name), "TensorBoard", None) for name in names)
    classes = tuple(each for each in found if each is not None)
    return [each for each in gc.get_objects() if isinstance(each, classes)] if classes else []
