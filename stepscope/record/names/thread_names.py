"""Which thread a sample or an event belongs to: one entry for each in names.jsonl."""

import threading

from stepscope.store.writer import Names


def name_thread(
    names: Names, ident: int | None = None, native: int | None = None, *, is_pythons: bool = False
) -> int:
    """The id of a thread's entry, by default of the current thread. 0 for one that Python started
    and that has no name yet, or no longer has one. A thread that Python does not know stays
    unknown to it: `threading.current_thread()` would make a dummy for it."""
    ident = threading.get_ident() if ident is None else ident
    native = threading.get_native_id() if native is None else native
    known = threading._active.get(ident)  # type: ignore[attr-defined]  # current_thread() makes one
    if known is None and is_pythons:
        return 0
    main = ident == threading.main_thread().ident
    name = known.name if known is not None else f"thread {native}"
    return names.intern("thread", name=name, native_id=native, main=main)
