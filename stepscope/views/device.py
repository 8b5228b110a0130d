"""`show device`: how much of its time each device worked, and why not all of it."""

from typing import TYPE_CHECKING

from stepscope.views.view import View

if TYPE_CHECKING:
    from stepscope.model.ops import DeviceAnswer

DEVICE: "View[DeviceAnswer]" = View(
    name="device",
    title="The device",
    question="how much of its time did each device work, and why not all of it?",
    computed="analyze.device.answer:device",
    drawn="show.terminal.device:device",
    page="device",
    takes_traces=True,
)
