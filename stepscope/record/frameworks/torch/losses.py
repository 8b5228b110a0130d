"""PyTorch: the loss that each backward starts from, with --losses.

On the CPU the value is read from the tensor's memory: an operator of ours would be seen by the
script's own profilers. On a device it is copied there and read later.
"""

import ctypes
import functools
import struct
import threading
import weakref
from typing import Any, Final

from stepscope.native import _core
from stepscope.record.frameworks.watching import compiled_graphs, losses, notes
from stepscope.record.frameworks.watching.patches import Patches
from stepscope.record.frameworks.watching.timed_calls import leave_out_this_frame
from stepscope.record.names import naming
from stepscope.signal_handlers import let_pass

_LABEL: Final = "backward"
_NO_TASK: Final = -1


class _Here(threading.local):
    in_backward = False


_here: Final = _Here()


def install(torch: Any, patches: Patches) -> None:
    losses.when_wanted(lambda: _watch(torch, patches))


def _watch(torch: Any, patches: Patches) -> None:
    starts = _Starts(torch)
    _watch_backward(torch, starts, patches)
    scaler = getattr(getattr(torch.amp, "grad_scaler", None), "GradScaler", None)
    if scaler is not None:
        _watch_scale(scaler, starts, patches)


def _watch_backward(torch: Any, starts: "_Starts", patches: Patches) -> None:
    """Around the one that is timed: our work is not part of its time."""
    before = vars(torch.autograd)["backward"]
    original = getattr(before, "__wrapped__", before)
    running_task = torch._C._current_graph_task_id

    @functools.wraps(before)
    def backward(*args: Any, **kwargs: Any) -> Any:
        if compiled_graphs.is_compiling():
            return original(*args, **kwargs)
        # Inside another backward, a checkpoint computes its part again: that is no loss.
        is_start = not _here.in_backward and running_task() == _NO_TASK
        if is_start:
            starts.begins(args[0] if args else kwargs.get("tensors"))
            _here.in_backward = True
        try:
            return before(*args, **kwargs)
        except BaseException as error:
            leave_out_this_frame(error)
            raise
        finally:
            if is_start:
                _here.in_backward = False

    patches.set(torch.autograd, "backward", backward)


def _watch_scale(scaler: Any, starts: "_Starts", patches: Patches) -> None:
    """A GradScaler multiplies the loss before backward: the loss is what it was before."""
    before = scaler.scale

    @functools.wraps(before)
    def scale(self: Any, outputs: Any) -> Any:
        try:
            scaled = before(self, outputs)
        except BaseException as error:
            leave_out_this_frame(error)
            raise
        if scaled is not outputs and not compiled_graphs.is_compiling():
            starts.scaled(outputs, scaled)
        return scaled

    patches.set(scaler, "scale", scale)


class _Starts:
    """The tensors that backward starts from."""

    def __init__(self, torch: Any) -> None:
        self._torch = torch
        self._values = _Values(torch)
        self._unscaled: dict[int, tuple[weakref.ref[Any], Any]] = {}  # by the scaled tensor's id

    @compiled_graphs.are_not_for
    def begins(self, tensors: Any) -> None:
        if naming.name_id is None:
            return
        at_ticks = _core.ticks()
        try:
            for tensor in (tensors,) if self._is_tensor(tensors) else tensors:
                self._keep(at_ticks, tensor)
        except Exception as error:
            let_pass(error)
            notes.note(f"A loss was not recorded: {error!r}.")

    @compiled_graphs.are_not_for
    def scaled(self, loss: Any, scaled: Any) -> None:
        if naming.name_id is None or not self._is_tensor(scaled):
            return
        key = id(scaled)
        try:
            value = self._values.of(loss)
            alive = weakref.ref(scaled, lambda _: self._unscaled.pop(key, None))
            self._unscaled[key] = alive, value
        except Exception as error:
            let_pass(error)
            notes.note(f"A loss was not recorded: {error!r}.")

    def _is_tensor(self, thing: Any) -> bool:
        return isinstance(thing, self._torch.Tensor)

    def _keep(self, at_ticks: int, tensor: Any) -> None:
        if not self._is_tensor(tensor):  # an edge of the graph
            return
        alive, value = self._unscaled.pop(id(tensor), (None, None))
        if alive is None or alive() is not tensor:
            value = self._values.of(tensor)
        if isinstance(value, float):
            losses.record(_LABEL, at_ticks, value)
        elif value is not None:
            losses.read_later(_LABEL, at_ticks, value, _item)


def _item(tensor: Any) -> float:
    return float(tensor.item())


class _Values:
    """Copies of values, taken at once: scripts change a loss in place, to log its mean over the
    ranks for example."""

    def __init__(self, torch: Any) -> None:
        self._torch = torch
        # bfloat16 is the upper half of a float32
        self._formats = {
            torch.float64: ("<d", 8, b""),
            torch.float32: ("<f", 4, b""),
            torch.float16: ("<e", 2, b""),
            torch.bfloat16: ("<f", 2, b"\0\0"),
        }

    def of(self, tensor: Any) -> Any:
        """A number, or a tensor on the device that holds it; None: there is none."""
        tensor = getattr(tensor, "_local_tensor", tensor)  # this rank's part of a DTensor
        with self._torch._C.DisableTorchFunctionSubclass():
            if tensor.device.type != "cpu":
                return self._copy_on_device(tensor)
            return self._in_memory(tensor if tensor.numel() == 1 else self._sum(tensor))

    def _in_memory(self, tensor: Any) -> float | None:
        form = self._formats.get(tensor.dtype)
        address = tensor.data_ptr()
        if form is None or not address:
            return None
        code, size, below = form
        value: float = struct.unpack(code, below + ctypes.string_at(address, size))[0]
        return value

    def _copy_on_device(self, tensor: Any) -> Any:
        """Not while a graph is recorded: the copy would be part of it."""
        if tensor.is_cuda and self._torch.cuda.is_current_stream_capturing():
            return None
        return self._sum(tensor)

    def _sum(self, tensor: Any) -> Any:
        has_float64 = tensor.device.type != "mps"
        with self._torch.no_grad():
            return tensor.sum(dtype=self._torch.float64 if has_float64 else None)
