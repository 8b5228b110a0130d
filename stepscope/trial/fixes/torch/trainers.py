"""Patches for scripts that train through a trainer: the setting is an argument of its own."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from stepscope.trial.fixes.subject import Subject

Argument = tuple[str, str]  # its name, and the value as it is written


def trainer_patch(
    subject: "Subject", *, lightning: Argument | None = None, transformers: Argument | None = None
) -> str | None:
    """None if no trainer is used, or the place is not clear."""
    if transformers and "transformers" in subject.frameworks:
        found = argument_patch(
            subject, ("TrainingArguments", "Seq2SeqTrainingArguments"), transformers
        )
        if found:
            return found
    if lightning and subject.frameworks & {"lightning", "pytorch_lightning"}:
        return argument_patch(subject, ("Trainer",), lightning)
    return None


def argument_patch(subject: "Subject", called: tuple[str, ...], argument: Argument) -> str | None:
    """The only call of one of these names in the script, with one keyword set."""
    from stepscope.advise.evidence.patch import with_argument

    sources = subject.case.code.sources
    for file in sources.files:
        text = sources.text(file)
        found = text and with_argument(file, text, lambda name: name in called, *argument)
        if found:
            return found
    return None
