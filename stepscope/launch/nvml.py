"""Device utilisation and memory through NVIDIA's management library, if it is installed."""

import ctypes
from typing import Any, Final

_LIBRARY: Final = "libnvidia-ml.so.1"
_OK: Final = 0
_NAME_BYTES: Final = 96


class _Utilisation(ctypes.Structure):
    _fields_ = (("gpu", ctypes.c_uint), ("memory", ctypes.c_uint))


class _Memory(ctypes.Structure):
    _fields_ = (
        ("total", ctypes.c_ulonglong),
        ("free", ctypes.c_ulonglong),
        ("used", ctypes.c_ulonglong),
    )


class Devices:
    """All devices of this machine; none if the library or the driver is missing."""

    def __init__(self, library: str = _LIBRARY) -> None:
        self._handles: list[ctypes.c_void_p] = []
        try:
            self._nvml = ctypes.CDLL(library)
            if self._nvml.nvmlInit_v2() == _OK:
                self._handles = self._all_handles()
        except (OSError, AttributeError):
            self._handles = []

    def read(self) -> list[dict[str, Any]]:
        """One object per device, with null for what it does not report."""
        return [self._read_one(index, handle) for index, handle in enumerate(self._handles)]

    def close(self) -> None:
        if self._handles:
            self._nvml.nvmlShutdown()
            self._handles = []

    def _all_handles(self) -> list[ctypes.c_void_p]:
        count = ctypes.c_uint()
        if self._nvml.nvmlDeviceGetCount_v2(ctypes.byref(count)) != _OK:
            return []
        handles = []
        for index in range(count.value):
            handle = ctypes.c_void_p()
            if self._nvml.nvmlDeviceGetHandleByIndex_v2(index, ctypes.byref(handle)) == _OK:
                handles.append(handle)
        return handles

    def _read_one(self, index: int, handle: ctypes.c_void_p) -> dict[str, Any]:
        use, memory = _Utilisation(), _Memory()
        name = ctypes.create_string_buffer(_NAME_BYTES)
        has_use = self._nvml.nvmlDeviceGetUtilizationRates(handle, ctypes.byref(use)) == _OK
        has_memory = self._nvml.nvmlDeviceGetMemoryInfo(handle, ctypes.byref(memory)) == _OK
        has_name = self._nvml.nvmlDeviceGetName(handle, name, _NAME_BYTES) == _OK
        return {
            "index": index,
            "name": name.value.decode(errors="replace") if has_name else None,
            "utilisation_share": use.gpu / 100 if has_use else None,
            "memory_used_bytes": memory.used if has_memory else None,
            "memory_total_bytes": memory.total if has_memory else None,
        }
