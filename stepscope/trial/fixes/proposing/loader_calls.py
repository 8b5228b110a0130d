"""DataLoaders of torch: whether the steps use one, and the patch that gives it more arguments."""

from collections.abc import Mapping

from stepscope.advise.evidence.case import Case
from stepscope.advise.evidence.patch import with_arguments
from stepscope.advise.evidence.source import Sources
from stepscope.analyze.input.loaders import find_loader
from stepscope.store.format import SpanCategory


def gives_batches(case: Case) -> bool:
    """Whether a step has waited for one."""
    spans = case.process.spans.of(SpanCategory.INPUT)
    return bool((spans.loader > 0).any())


def epochs_begun(case: Case) -> int | None:
    """How often the steps' loader started over; None: they have none."""
    loader = find_loader(case.run, case.process, case.steps)
    return len(loader.starts[0]) if loader else None


def loader_with(sources: Sources, arguments: Mapping[str, str]) -> str:
    """A diff if there is one such call in a file; otherwise what to write."""
    for file in sources.files:
        text = sources.text(file)
        if text is not None and text.tree is not None:
            found = with_arguments(file, text, lambda name: name == "DataLoader", arguments)
            if found:
                return found
    words = ", ".join(f"{name}={value}" for name, value in arguments.items())
    return f"DataLoader(…, {words})\n"
