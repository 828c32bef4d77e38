"""Watchers of a trial: one fills the trace, one tells how it goes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from posewright.contests import Race
from posewright.control import Block, Guard, Intervention
from posewright.recordings import Event, Recorder

REPORT_EVERY_S = 0.5
"""How much simulated time lies between two reports of progress [s]."""


@dataclass(frozen=True, slots=True)
class Progress:
    """How a trial goes.

    Attributes:
        time_s: simulated [s].
        chart_state: where the chart is.
        playing: the motion that is played; None while standing.
        leg: 1 or 2.
        distance_cm: of the present leg [cm].
        penalties: so far.
    """

    time_s: float
    chart_state: str
    playing: str | None
    leg: int
    distance_cm: float
    penalties: int


class RecordingWatcher:
    """Fills a trace with everything that passes.

    What safety changed is noted once for each joint and guard: a motion that asks too much does so in
    every pass.
    """

    def __init__(self, recorder: Recorder) -> None:
        self.recorder = recorder
        self._noted: set[tuple[Guard, str]] = set()

    def watch(self, block: Block) -> bool:
        """Keep a block; never stops a trial."""
        tick = block.tick
        if tick is not None:
            self.recorder.append_tick(
                tick.time_s,
                tick.chart.state,
                tick.inputs,
                tick.outputs,
                playing=tick.play,
                sensors=block.state.sensors,
            )
            for broken in tick.broken:
                data = {"promise": broken.promise.name, "message": broken.message}
                self.recorder.append_event(Event(tick.time_s, "promise", data))
        self.recorder.append_track(block.track, block.frames.angles)
        for intervention in block.interventions:
            self._note(intervention, block.state.time_s)
        return False

    def _note(self, intervention: Intervention, time_s: float) -> None:
        kind = (intervention.guard, intervention.joint)
        if kind in self._noted:
            return
        self._noted.add(kind)
        data = {
            "guard": intervention.guard.value,
            "joint": intervention.joint,
            "value": intervention.value,
            "limit": intervention.limit,
            "unit": intervention.guard.unit,
        }
        self.recorder.append_event(Event(time_s, "safety", data))


class Reporting:
    """Tells how a trial goes, every so often in simulated time."""

    def __init__(self, race: Race, tell: Callable[[Progress], None]) -> None:
        self._race = race
        self._tell = tell
        self._next_s = 0.0

    def watch(self, block: Block) -> bool:
        """Report when it is time to; never stops a trial."""
        time_s = block.state.time_s
        if block.tick is not None and time_s >= self._next_s:
            self._next_s = time_s + REPORT_EVERY_S
            race = self._race
            self._tell(
                Progress(
                    time_s,
                    block.tick.chart.state,
                    block.tick.play,
                    race.leg,
                    race.distance_cm,
                    len(race.penalties()),
                )
            )
        return False
