"""What `show device` answers: how each device spent its time, and everything else about it."""

import msgspec

from stepscope.analyze.device.annotations import annotations
from stepscope.analyze.device.copies import copies
from stepscope.analyze.device.critical_path import critical_path
from stepscope.analyze.device.launches import launches
from stepscope.analyze.device.memory import memory
from stepscope.analyze.device.queues import queues
from stepscope.analyze.device.roofline import roofline
from stepscope.analyze.device.sequences import sequences
from stepscope.analyze.device.synchronisations import synchronisations
from stepscope.analyze.operators import device as device_time
from stepscope.analyze.traces.devices import Device, devices
from stepscope.model.device import DeviceDetails
from stepscope.model.ops import DeviceAnswer
from stepscope.store.reader import Run


def device(run: Run) -> DeviceAnswer:
    """One row per device and rank."""
    answer = device_time.device(run)
    rows = [
        msgspec.structs.replace(row, details=_details(each))
        for row, each in zip(answer.ranks, devices(run), strict=True)
    ]
    return msgspec.structs.replace(answer, ranks=rows)


def _details(each: Device) -> DeviceDetails:
    works = each.works
    return DeviceDetails(
        launches=launches(works), queues=queues(works), synchronisations=synchronisations(works),
        copies=copies(works), memory=memory(works), annotations=annotations(works),
        critical_path=critical_path(works), roofline=roofline(works), sequences=sequences(works),
    )  # fmt: skip
