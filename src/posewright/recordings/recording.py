"""A trace: what happened in one trial, whoever the body was."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from posewright.errors import InputError
from posewright.recordings.digest import digest_of
from posewright.recordings.event import Event
from posewright.recordings.header import Header
from posewright.recordings.plain import plain

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]
Values = Mapping[str, bool | int | float | str]


@dataclass(frozen=True, eq=False)
class Recording:
    """What happened: n rows at `header.rate_hz`, m chart ticks, and events. Arrays are read-only.

    Attributes:
        header: what this is a trace of.
        times: of the rows, `(n,)` [s].
        joint_positions: `(n, n_joints)` [rad].
        joint_commands: what was sent, `(n, n_joints)` [rad].
        joint_efforts: `(n, n_joints)` [N m].
        base: x y z qw qx qy qz in the field frame, `(n, 7)`; NaN where nobody knew.
        footprints: sole corners in the field frame, front-left, front-right, rear-right, rear-left,
            `(n, n_feet, 4, 3)` [m].
        foot_contacts: foot on the ground, `(n, n_feet)`.
        boxes: x y z qw qx qy qz of each box, `(n, n_boxes, 7)`.
        box_contacts: box touched by the robot, `(n, n_boxes)`.
        tick_times: of the chart's ticks, `(m,)` [s].
        chart_states: the chart's state after each tick, m names.
        chart_inputs: what the chart saw at each tick, m mappings.
        chart_outputs: what it answered, m mappings.
        playing: name of the motion asked for at each tick, None for standing still.
        sensors: readings at the ticks by channel, each `(m, k)`, a contact as 0 or 1; NaN where none.
        events: what happened once, in the order it was seen.
    """

    header: Header
    times: Floats
    joint_positions: Floats
    joint_commands: Floats
    joint_efforts: Floats
    base: Floats
    footprints: Floats
    foot_contacts: Flags
    boxes: Floats
    box_contacts: Flags
    tick_times: Floats = field(default_factory=lambda: np.zeros(0))
    chart_states: tuple[str, ...] = ()
    chart_inputs: tuple[Values, ...] = ()
    chart_outputs: tuple[Values, ...] = ()
    playing: tuple[str | None, ...] = ()
    sensors: Mapping[str, Floats] = field(default_factory=dict)
    events: tuple[Event, ...] = ()

    def __post_init__(self) -> None:
        for name, shape in self._row_shapes().items():
            self._settle(name, shape, np.bool_ if name.endswith("_contacts") else np.float64)
        # They travel as JSON, which knows one NaN only: so that is the one a trace has.
        ticks = np.asarray(self.tick_times, dtype=np.float64)
        object.__setattr__(self, "tick_times", np.where(np.isnan(ticks), np.nan, ticks))
        self._settle("tick_times", (len(self.tick_times),), np.float64)
        for name in ("chart_states", "chart_inputs", "chart_outputs", "playing"):
            values = tuple(plain(value) for value in getattr(self, name))
            _expect(name, (len(values),), (len(self.tick_times),))
            object.__setattr__(self, name, values)
        object.__setattr__(self, "sensors", self._settled_sensors())
        object.__setattr__(self, "events", tuple(self.events))

    def _row_shapes(self) -> dict[str, tuple[int, ...]]:
        n, joints = len(self.times), len(self.header.joints)
        feet, boxes = len(self.header.feet), len(self.header.boxes)
        return {
            "times": (n,),
            "joint_positions": (n, joints),
            "joint_commands": (n, joints),
            "joint_efforts": (n, joints),
            "base": (n, 7),
            "footprints": (n, feet, 4, 3),
            "foot_contacts": (n, feet),
            "boxes": (n, boxes, 7),
            "box_contacts": (n, boxes),
        }

    def _settle(self, name: str, shape: tuple[int, ...], kind: type[Any]) -> None:
        object.__setattr__(self, name, _read_only(name, getattr(self, name), shape, kind))

    def _settled_sensors(self) -> dict[str, Floats]:
        n_ticks = len(self.tick_times)
        return {
            name: _read_only(f"sensor {name}", values, (n_ticks, np.shape(values)[-1]), np.float64)
            for name, values in sorted(self.sensors.items())
            if n_ticks
        }

    @property
    def n_rows(self) -> int:
        """How many rows were kept."""
        return len(self.times)

    @property
    def duration_s(self) -> float:
        """The time of the last thing known [s]."""
        last = [times[-1] for times in (self.times, self.tick_times) if len(times)]
        return float(max(last, default=0.0))

    @property
    def knows_world(self) -> bool:
        """Whether the robot's place in the field is known in every row."""
        return bool(self.n_rows and np.isfinite(self.base).all())

    def joint(self, name: str) -> int:
        """Return the column of a joint.

        Raises:
            UnknownNameError: the robot of this trace has no such joint.
        """
        return self.header.joint(name)

    def events_of(self, *kinds: str) -> tuple[Event, ...]:
        """Return the events of these kinds, in order."""
        return tuple(event for event in self.events if event.kind in kinds)

    def digest(self) -> str:
        """Return the SHA-256, in hex, over everything that happened.

        Wall time, paths, versions and the documents' texts do not enter: same trial, same digest.
        """
        return self._digest

    @cached_property
    def _digest(self) -> str:
        return digest_of(self)


def _read_only(name: str, values: Any, shape: tuple[int, ...], kind: type[Any]) -> NDArray[Any]:
    array = np.ascontiguousarray(values, dtype=kind).view()
    _expect(name, array.shape, shape)
    array.flags.writeable = False
    return array


def _expect(name: str, shape: tuple[int, ...], right: tuple[int, ...]) -> None:
    if shape != right:
        raise InputError(f"{name} has the shape {shape}", hint=f"{right} would fit this trace")
