"""speedscope's file format as in its published schema, and what its importer needs beyond that.

The schema (www.speedscope.app/file-format-schema.json) gives fields, types and words; the
comments of its source and the importer add that indices exist, samples and weights pair up, and
events are in order and balanced.
"""

from typing import Literal

import msgspec

SCHEMA = "https://www.speedscope.app/file-format-schema.json"
Number = int | float  # JSON has only one kind of number
Unit = Literal["none", "nanoseconds", "microseconds", "milliseconds", "seconds", "bytes"]


class Shape(msgspec.Struct, forbid_unknown_fields=True):
    """The schema allows fields that it does not name; in our files they would be typos."""


class Frame(Shape):
    name: str
    file: str | msgspec.UnsetType = msgspec.UNSET
    line: Number | msgspec.UnsetType = msgspec.UNSET
    col: Number | msgspec.UnsetType = msgspec.UNSET


class Shared(Shape):
    frames: list[Frame]


class Event(Shape):
    type: Literal["O", "C"]
    at: Number
    frame: Number


class Sampled(Shape, tag_field="type", tag="sampled"):
    name: str
    unit: Unit
    startValue: Number
    endValue: Number
    samples: list[list[Number]]
    weights: list[Number]


class Evented(Shape, tag_field="type", tag="evented"):
    name: str
    unit: Unit
    startValue: Number
    endValue: Number
    events: list[Event]


class File(Shape, kw_only=True):
    schema: Literal["https://www.speedscope.app/file-format-schema.json"] = msgspec.field(
        name="$schema"
    )
    shared: Shared
    profiles: list[Sampled | Evented]
    name: str | msgspec.UnsetType = msgspec.UNSET
    activeProfileIndex: Number | msgspec.UnsetType = msgspec.UNSET
    exporter: str | msgspec.UnsetType = msgspec.UNSET


class NotSpeedscope(Exception):
    """Which rule the file breaks."""


def checked(content: bytes) -> File:
    """The file, if it is one that speedscope opens; else NotSpeedscope."""
    try:
        file = msgspec.json.decode(content, type=File)
    except msgspec.ValidationError as error:
        raise NotSpeedscope(str(error)) from error
    require(bool(file.profiles), "no profile")
    if file.activeProfileIndex is not msgspec.UNSET:
        require_index(file.activeProfileIndex, len(file.profiles), "active profile")
    for profile in file.profiles:
        require(profile.endValue >= profile.startValue, "ends before it starts")
        if isinstance(profile, Sampled):
            check_samples(profile, len(file.shared.frames))
        else:
            check_events(profile, len(file.shared.frames))
    return file


def check_samples(profile: Sampled, frames: int) -> None:
    require(len(profile.samples) == len(profile.weights), "samples and weights do not pair up")
    for stack in profile.samples:
        for frame in stack:
            require_index(frame, frames, "frame")
    require(all(weight >= 0 for weight in profile.weights), "negative weight")
    total = sum(profile.weights)
    require(total <= profile.endValue - profile.startValue, "weights beyond the end")


def check_events(profile: Evented, frames: int) -> None:
    """In order, within the profile, and closed in the opposite order of opening."""
    stack: list[Number] = []
    at = profile.startValue
    for event in profile.events:
        require_index(event.frame, frames, "frame")
        require(event.at >= at, "events out of order")
        at = event.at
        if event.type == "O":
            stack.append(event.frame)
        else:
            require(bool(stack) and stack.pop() == event.frame, "closes what is not innermost")
    require(not stack, "frames left open")
    require(at <= profile.endValue, "events beyond the end")


def require_index(number: Number, size: int, what: str) -> None:
    require(number == int(number) and 0 <= number < size, f"there is no {what} {number}")


def require(fine: bool, rule: str) -> None:
    if not fine:
        raise NotSpeedscope(rule)
