"""Library functions that save, evaluate or log: they can be left out where the user's function that
calls them does more than that, or where a trainer calls them."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from stepscope.advise.evidence.case import Case
    from stepscope.analyze.code.sampled_steps import Look
    from stepscope.model.findings import Finding

_MOST: Final = 0.5  # of what the finding is about
_SAVE: Final = "save {every} times less often: if step % {every} == 0: …"
_LOG: Final = "log {every} times less often: if step % {every} == 0: …"


class LibraryCall(NamedTuple):
    """`name` in `module` is what gets replaced; `file`: how the path ends in which it is written.
    What is written in C shows only in the line that calls it."""

    module: str
    name: str
    file: str
    advice: str  # what to write by hand; {every}: how much less often

    @property
    def words(self) -> str:
        return f"{self.module.partition('.')[0]}'s {self.name}"


def _lightning(path: str, name: str, advice: str) -> tuple[LibraryCall, ...]:
    """The package has two names."""
    return tuple(
        LibraryCall(
            f"{package}.{path}", name, f"{package}.{path}".replace(".", "/") + ".py", advice
        )
        for package in ("lightning.pytorch", "pytorch_lightning")
    )


def _tensorboard(name: str) -> LibraryCall:
    file = "/torch/utils/tensorboard/writer.py"
    return LibraryCall("torch.utils.tensorboard.writer", f"SummaryWriter.{name}", file, _LOG)


# Trainers first: they call the others.
SAVES: Final = (
    *_lightning(
        "trainer.trainer",
        "Trainer.save_checkpoint",
        "ModelCheckpoint(every_n_train_steps=…): {every} times as many",
    ),
    LibraryCall(
        "transformers.trainer",
        "Trainer._save_checkpoint",
        "/transformers/trainer.py",
        "TrainingArguments(save_steps=…): {every} times as many",
    ),
    LibraryCall(
        "keras.src.callbacks.model_checkpoint",
        "ModelCheckpoint._save_model",
        "/callbacks/model_checkpoint.py",
        "ModelCheckpoint(save_freq=…): {every} times as many",
    ),
    LibraryCall("torch", "save", "/torch/serialization.py", _SAVE),
    LibraryCall("numpy", "savez_compressed", "/numpy/lib/_npyio_impl.py", _SAVE),
    LibraryCall("numpy", "savez", "/numpy/lib/_npyio_impl.py", _SAVE),
    LibraryCall("numpy", "save", "/numpy/lib/_npyio_impl.py", _SAVE),
    LibraryCall("pickle", "dump", "/pickle.py", _SAVE),
    LibraryCall("json", "dump", "/json/__init__.py", _SAVE),
)
EVALUATES: Final = (
    *_lightning(
        "loops.evaluation_loop",
        "_EvaluationLoop.run",
        "Trainer(val_check_interval=…): {every} times as many",
    ),
    LibraryCall(
        "transformers.trainer",
        "Trainer.evaluate",
        "/transformers/trainer.py",
        "TrainingArguments(eval_steps=…): {every} times as many",
    ),
    LibraryCall(
        "keras.src.backend.tensorflow.trainer",
        "TensorFlowTrainer.evaluate",
        "/backend/tensorflow/trainer.py",
        "model.fit(…, validation_freq={every})",
    ),
)
LOGS: Final = (
    *map(_tensorboard, ("add_histogram", "add_scalar", "add_scalars", "add_image", "add_figure")),
    LibraryCall("logging", "Logger.handle", "/logging/__init__.py", _LOG),
    LibraryCall("builtins", "print", "", _LOG),
)


def library_call(
    case: "Case", finding: "Finding", known: Iterable[LibraryCall]
) -> LibraryCall | None:
    """The first one that most of the finding's time goes through."""
    for call in known:
        looks = (look for look in case.stacks.time.looks if _goes_through(case, look, call))
        if case.stacks.share(looks) >= _MOST * finding.share:
            return call
    return None


def _goes_through(case: "Case", look: "Look", call: LibraryCall) -> bool:
    if any(_is(frame.function.name, frame.function.file, call) for frame in look.frames):
        return True
    if not look.users or not look.is_in_users_line:
        return False
    text = case.code.text(case.code.place(look.users[-1])) or ""
    return f"{call.name}(" in text


def _is(function: str, file: str, call: LibraryCall) -> bool:
    return function == call.name and bool(call.file) and file.endswith(call.file)
