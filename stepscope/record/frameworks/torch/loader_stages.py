"""PyTorch: what the input pipeline does, with or without workers, as stages.

"wait for work", "fetch" (with "collate" inside) and "send" in a worker; "get" and "pin memory" in
the process that trains. Without workers that process fetches and collates itself.
"""

import collections
import functools
import threading
import weakref
from collections.abc import Callable
from typing import Any, Final

from stepscope.native import _core
from stepscope.record.frameworks.watching import compiled_graphs, notes
from stepscope.record.frameworks.watching.patches import Patches
from stepscope.record.frameworks.watching.timed_calls import leave_out_this_frame, timed
from stepscope.record.names import naming
from stepscope.store.format import SpanCategory

_QUEUES: Final = ("index_queue", "data_queue")  # parameters of torch's worker loop


def install(utils: Any, patches: Patches) -> None:
    """`utils`: torch.utils.data._utils."""
    fetch = utils.fetch
    for kind in (fetch._MapDatasetFetcher, fetch._IterableDatasetFetcher):
        patches.set(kind, "fetch", _fetching(kind.fetch))
    _watch_collate(fetch._BaseDatasetFetcher, patches)
    patches.set(utils.worker, "_worker_loop", _worker_loop(utils.worker._worker_loop))
    patches.set(utils.pin_memory, "pin_memory", _outermost(utils.pin_memory.pin_memory))
    _watch_deaths(utils.signal_handling, patches)


@compiled_graphs.are_not_for
def begin(stage: str, number: int = 0, about: int = 0) -> int:
    """`number`: how many samples or workers, or a worker's pid; `about`: which loader."""
    if naming.name_id is None or compiled_graphs.is_compiling():
        return 0
    return _core.span_begin(naming.name_id(stage), SpanCategory.STAGE, number, about)


@compiled_graphs.are_not_for
def tell(text: str) -> None:
    notes.note(text)


@compiled_graphs.are_not_for
def tell_of_death(error: BaseException) -> None:
    """Note the death of a worker that was noticed because a wait for it timed out."""
    if isinstance(error, RuntimeError) and "exited unexpectedly" in str(error):
        tell(str(error).strip())


def name_workers(workers: Any, about: int) -> None:
    """Record the workers' processes and their loader: `about` as in its INPUT spans."""
    for worker in workers:
        _core.span_end(begin("worker", worker.pid, about))


def _watch_deaths(signals: Any, patches: Patches) -> None:
    """For a dead worker torch raises wherever the training process is: note it in the run."""
    check = signals._error_if_any_worker_fails

    @functools.wraps(check)
    def _error_if_any_worker_fails() -> Any:
        try:
            return check()
        except RuntimeError as error:
            leave_out_this_frame(error)
            if naming.name_id is not None:
                tell(str(error).strip())
            raise

    patches.set(signals, "_error_if_any_worker_fails", _error_if_any_worker_fails)


# --- fetch and collate ----------------------------------------------------------------------------


def _fetching(fetch: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(fetch)
    def run(self: Any, index: Any) -> Any:
        span = begin("fetch", len(index) if isinstance(index, list | tuple) else 1)
        try:
            return fetch(self, index)
        except BaseException as error:
            leave_out_this_frame(error)
            if isinstance(error, Exception) and not isinstance(error, StopIteration):
                _tell_of(error)
            raise
        finally:
            _core.span_end(span)

    return run


def _tell_of(error: Exception) -> None:
    """torch shows it in the training process; the note says where it was raised."""
    innermost = error.__traceback__
    while innermost is not None and innermost.tb_next is not None:
        innermost = innermost.tb_next
    if innermost is not None:
        where = f"{innermost.tb_frame.f_code.co_filename}:{innermost.tb_lineno}"
        tell(f"Fetching a batch ended with {type(error).__name__} at {where}.")


def _watch_collate(fetcher: Any, patches: Patches) -> None:
    """A fetcher keeps its own reference to the function: only that one is replaced."""
    init = fetcher.__init__

    @functools.wraps(init)
    def __init__(self: Any, *args: Any, **kwargs: Any) -> None:
        init(self, *args, **kwargs)
        if naming.name_id is not None and callable(self.collate_fn):
            self.collate_fn = timed(self.collate_fn, SpanCategory.STAGE, "collate")

    patches.set(fetcher, "__init__", __init__)


def _outermost(pin: Callable[..., Any]) -> Callable[..., Any]:
    """It calls itself for every part of a batch."""
    inside = threading.local()

    @functools.wraps(pin)
    def pin_memory(*args: Any, **kwargs: Any) -> Any:
        if hasattr(inside, "a_batch"):
            return pin(*args, **kwargs)
        inside.a_batch = True
        span = begin("pin memory")
        try:
            return pin(*args, **kwargs)
        except BaseException as error:
            leave_out_this_frame(error)
            raise
        finally:
            _core.span_end(span)
            del inside.a_batch

    return pin_memory


# --- the worker's queues --------------------------------------------------------------------------


def _worker_loop(loop: Callable[..., Any]) -> Callable[..., Any]:
    names = loop.__code__.co_varnames[: loop.__code__.co_argcount]

    @functools.wraps(loop)
    def _worker_loop(*args: Any, **kwargs: Any) -> Any:
        if naming.name_id is not None:
            _watch_queues({**dict(zip(names, args, strict=False)), **kwargs})
        try:
            return loop(*args, **kwargs)
        except BaseException as error:
            leave_out_this_frame(error)
            raise

    return _worker_loop


def _watch_queues(arguments: dict[str, Any]) -> None:
    """The worker has its own copies: no others are changed."""
    indices, batches = (arguments.get(name) for name in _QUEUES)
    try:
        _watch_waiting(indices)
        _watch_sending(batches)
    except Exception as error:
        tell(f"A loader's queues are not watched completely: {error!r}.")


def _watch_waiting(queue: Any) -> None:
    get, itself = type(queue).get, weakref.ref(queue)  # no cycle: queues close when they are freed

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
    send = queue._send_bytes

    def send_bytes(*args: Any, **kwargs: Any) -> Any:
        try:
            return send(*args, **kwargs)
        except BaseException as error:
            leave_out_this_frame(error)
            raise
        finally:
            outgoing.sent()

    queue._send_bytes = send_bytes


class _Outgoing(collections.deque[Any]):
    """Batches waiting to be sent; one is sent at a time."""

    _span = 0

    def popleft(self) -> Any:
        item = super().popleft()
        _core.span_drop(self._span)  # that one could not be pickled
        self._span = begin("send") if isinstance(item, tuple) else 0  # the last item is no batch
        return item

    def sent(self) -> None:
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
