"""PyTorch: what the input pipeline does, with or without workers, as stages.

"wait for work", "fetch" (with "collate" inside) and "send" in a worker; "get" and "pin memory" in
the process that trains. Without workers that process fetches and collates itself.
"""

import collections
import threading
import weakref
from typing import Any, Final

from stepscope.native import _core
from stepscope.record.frameworks.watching import compiled_graphs, notes
from stepscope.record.frameworks.watching.patches import Patches
from stepscope.record.frameworks.watching.timed_calls import (
    do_nothing,
    leave_out_this_frame,
    timed,
    watched,
)
from stepscope.record.names import naming
from stepscope.signal_handlers import let_pass
from stepscope.store.format import SpanCategory

_QUEUES: Final = ("index_queue", "data_queue")  # parameters of torch's worker loop


def install(utils: Any, patches: Patches) -> None:
    """`utils`: torch.utils.data._utils."""
    fetch = utils.fetch
    for kind in (fetch._MapDatasetFetcher, fetch._IterableDatasetFetcher):
        patches.watch(kind, "fetch", _begin_fetch, failed=_fetch_failed)
    patches.follow(fetch._BaseDatasetFetcher, "__init__", _watch_collate)
    _watch_worker_loop(utils.worker, patches)
    _watch_pinning(utils.pin_memory, patches)
    _watch_deaths(utils.signal_handling, patches)


@compiled_graphs.are_not_for
def begin(stage: str, number: int = 0, about: int = 0) -> int:
    """`number`: how many samples or workers, or a worker's pid; `about`: which loader."""
    if naming.name_id is None or compiled_graphs.is_compiling():
        return 0
    return _core.span_begin(naming.name_id(stage), SpanCategory.STAGE, number, about)


@compiled_graphs.are_not_for
def note(text: str) -> None:
    notes.note(text)


@compiled_graphs.are_not_for
def note_death(error: BaseException) -> None:
    """Note the death of a worker that was noticed because a wait for it timed out."""
    if isinstance(error, RuntimeError) and "exited unexpectedly" in str(error):
        note(str(error).strip())


def name_workers(workers: Any, about: int) -> None:
    """Record the workers' processes and their loader: `about` as in its INPUT spans."""
    for worker in workers:
        _core.span_end(begin("worker", worker.pid, about))


def _watch_deaths(signals: Any, patches: Patches) -> None:
    """For a dead worker torch raises wherever the training process is: note it in the run."""

    def failed(_is_recording: bool, error: BaseException) -> None:
        if isinstance(error, RuntimeError):
            note(str(error).strip())

    patches.watch(signals, "_error_if_any_worker_fails", _is_recording, do_nothing, failed)


def _is_recording() -> bool | None:
    return True if naming.name_id is not None else None


# --- fetch and collate ----------------------------------------------------------------------------


def _begin_fetch(_fetcher: Any, index: Any, /) -> int:
    return begin("fetch", len(index) if isinstance(index, list | tuple) else 1)


def _fetch_failed(span: int, error: BaseException) -> None:
    if isinstance(error, Exception) and not isinstance(error, StopIteration):
        _note_failure(error)
    _core.span_end(span)


@compiled_graphs.are_not_for
def _note_failure(error: Exception) -> None:
    """torch shows it in the training process; the note says where it was raised."""
    innermost = error.__traceback__
    while innermost is not None and innermost.tb_next is not None:
        innermost = innermost.tb_next
    if innermost is not None:
        where = f"{innermost.tb_frame.f_code.co_filename}:{innermost.tb_lineno}"
        note(f"Fetching a batch ended with {type(error).__name__} at {where}.")


def _watch_collate(fetcher: Any, /, *_args: Any, **_kwargs: Any) -> None:
    """A fetcher keeps its own reference to the function: only that one is replaced."""
    if naming.name_id is not None and callable(fetcher.collate_fn):
        fetcher.collate_fn = timed(fetcher.collate_fn, SpanCategory.STAGE, "collate")


def _watch_pinning(module: Any, patches: Patches) -> None:
    """The function calls itself for every part of a batch."""
    inside = threading.local()

    def begins(*_args: Any, **_kwargs: Any) -> int | None:
        if hasattr(inside, "a_batch"):
            return None
        inside.a_batch = True
        return begin("pin memory")

    def ended(span: int, _pinned: Any) -> None:
        _core.span_end(span)
        del inside.a_batch

    patches.watch(module, "pin_memory", begins, ended)


# --- the worker's queues --------------------------------------------------------------------------


def _watch_worker_loop(module: Any, patches: Patches) -> None:
    code = module._worker_loop.__code__
    names = code.co_varnames[: code.co_argcount]

    def begins(*args: Any, **kwargs: Any) -> None:
        if naming.name_id is not None:
            _watch_queues({**dict(zip(names, args, strict=False)), **kwargs})

    patches.watch(module, "_worker_loop", begins)


def _watch_queues(arguments: dict[str, Any]) -> None:
    """The worker has its own copies: no others are changed."""
    indices, batches = (arguments.get(name) for name in _QUEUES)
    try:
        _watch_waiting(indices)
        _watch_sending(batches)
    except Exception as error:
        let_pass(error)
        note(f"A loader's queues are not watched completely: {error!r}.")


def _watch_waiting(queue: Any) -> None:
    get, itself = type(queue).get, weakref.ref(queue)  # no cycle: queues close when they are freed

    # Not `watched`, which would need the queue itself.
    def waiting_get(*args: Any, **kwargs: Any) -> Any:
        span = begin("wait for work")
        try:
            return get(itself(), *args, **kwargs)
        except BaseException as error:
            leave_out_this_frame(error)
            raise
        finally:
            _core.span_end(span)

    queue.get = waiting_get


def _watch_sending(queue: Any) -> None:
    """The queue's own thread takes a batch out of its buffer, pickles it (that moves tensors to
    shared memory) and writes it to the pipe: from the first to the last it is being sent."""
    if type(queue._buffer) is not collections.deque or queue._thread is not None:
        return
    outgoing = queue._buffer = _Outgoing(queue._buffer)
    queue._send_bytes = watched(queue._send_bytes, outgoing.itself, _Outgoing.sent)


class _Outgoing(collections.deque[Any]):
    """Batches waiting to be sent; one is sent at a time."""

    _span = 0

    def popleft(self) -> Any:
        item = super().popleft()
        _core.span_drop(self._span)  # that one could not be pickled
        self._span = begin("send") if isinstance(item, tuple) else 0  # the last item is no batch
        return item

    def itself(self, *_args: Any, **_kwargs: Any) -> "_Outgoing":
        return self

    def sent(self, _result: Any) -> None:
        span, self._span = self._span, 0
        _core.span_end(span)


def watch_receiving(queue: Any) -> None:
    """From the arrival of a batch until it is unpacked, without the wait for it.

    When a worker dies, torch's handler of SIGCHLD raises in the next function that is called: the
    way out of here calls none, and leaves the span to the next batch."""
    if not hasattr(queue, "_recv_bytes"):
        return
    get, itself = type(queue).get, weakref.ref(queue)
    receive = queue._recv_bytes
    here = threading.local()

    def recv_bytes(*args: Any, **kwargs: Any) -> Any:
        try:
            _core.span_drop(here.__dict__.pop("span", 0))
            here.span = begin("get")
            return receive(*args, **kwargs)
        except BaseException as error:
            error.__traceback__ = error.__traceback__ and error.__traceback__.tb_next
            raise

    def receiving_get(*args: Any, **kwargs: Any) -> Any:
        try:
            batch = get(itself(), *args, **kwargs)
            _core.span_end(here.__dict__.pop("span", 0))
            return batch
        except BaseException as error:
            error.__traceback__ = error.__traceback__ and error.__traceback__.tb_next
            raise

    queue._recv_bytes, queue.get = recv_bytes, receiving_get
