"""Pinning without a device, with the loader's own function: parts that pin themselves."""

from torch.utils.data import _utils


class Part:
    def pin_memory(self):
        return self


batch = {"images": [Part(), Part()], "names": ("a", "b")}
for _ in range(5):
    pinned = _utils.pin_memory.pin_memory(batch)
assert pinned["images"][1] is batch["images"][1]
