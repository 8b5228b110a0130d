"""What the rules about a device look at: its time in the steps of a trace."""

import functools
from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from stepscope.advise.evidence.case import CannotJudge, Case
from stepscope.analyze.operators.device_steps import DeviceTime, device_time
from stepscope.frameworks.facts import Words
from stepscope.frameworks.table import words_of
from stepscope.store.reader import ProcessData, Run


class DeviceCase:
    """`explained_share`: the part of the device's idle time that a rule has already explained."""

    def __init__(self, run: Run, process: ProcessData, training: Case | None = None) -> None:
        """`training`: the recording around the trace, if there is one."""
        self.run = run
        self.process = process
        self.training = training
        self.explained_share = 0.0

    @functools.cached_property
    def device(self) -> DeviceTime:
        found = device_time(self.run, self.process)
        if found is None:
            raise CannotJudge("no device in this run")
        return found

    def require_device(self, without: Callable[[Case], str]) -> None:
        """`without`: what can be said about a training on the CPU."""
        try:
            self.device  # noqa: B018  # it raises
        except CannotJudge as reason:
            if self.training is None:
                raise
            raise CannotJudge(f"{reason}{without(self.training)}") from None

    @property
    def step_ns(self) -> float:
        return float(self.device.step_ns.mean())

    def by_step(self, ns: npt.ArrayLike) -> float:
        """A sum over all steps, as the mean per step."""
        return float(np.sum(ns)) / self.device.steps

    def share(self, by_step_ns: float) -> float:
        return by_step_ns / self.step_ns

    def explain(self, by_step_ns: float, least: float) -> float | None:
        """The share of the step that the device idles for a known reason; None if under `least`."""
        share = self.share(by_step_ns)
        if share < least:
            return None
        self.explained_share += share
        return share

    # --- words: a trace may mark no steps, and have several devices -----------------------------

    @property
    def is_by_step(self) -> bool:
        return self.device.is_by_step

    @property
    def of_each(self) -> str:
        """What shares are of."""
        return "step time" if self.is_by_step else "the traced time"

    @property
    def a_step(self) -> str:
        return "a step" if self.is_by_step else "the traced time"

    @property
    def per_step(self) -> str:
        """Behind a number of things."""
        return "a step" if self.is_by_step else "in the trace"

    @property
    def the_device(self) -> str:
        device = self.device
        if device.devices == 1:
            return "the device"
        return f"device {device.number}, the busiest of {device.devices},"

    @property
    def words(self) -> Words:
        """The words of the framework that the trace comes from."""
        return words_of(self.device.part.tree.trace.framework)
