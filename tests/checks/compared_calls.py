"""The programs whose calls must be counted as cProfile counts them."""

from pathlib import Path

PROGRAMS = Path(__file__).parents[1] / "programs"

COMPARED = [
    *sorted((PROGRAMS / "lines").glob("*.py")),
    *(
        PROGRAMS / "calls" / f"{name}.py"
        for name in (
            "called_from_c",
            "class_bodies_and_imports",
            "exceptions_on_the_way",
            "generators_and_coroutines",
            "recursion_of_many_kinds",
        )
    ),
]

# On 3.11 a frame that continues because an exception was swallowed below it makes no call event,
# only a return event. cProfile then ends its caller's call, and its callers and recursion are off.
THROWN_PAST = {"async_throw", "yield_from"}
