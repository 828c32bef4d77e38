"""Collects a trace while a trial runs: some array copies a block, no Python per frame."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from posewright.errors import BodyError, InputError
from posewright.recordings.event import Event
from posewright.recordings.header import Header
from posewright.recordings.recording import Recording
from posewright.recordings.rows_kept import ROWS_EVERY, kept_frames

if TYPE_CHECKING:
    from posewright.bodies import JointStates, Reading

_WORLD = ("base", "footprints", "foot_contacts", "boxes", "box_contacts")
_Rows = dict[str, NDArray[Any]]


class Recorder:
    """Keeps every `every`-th frame of what a body did, and all ticks and events."""

    def __init__(self, header: Header, *, every: int = ROWS_EVERY) -> None:
        if every < 1:
            raise InputError(f"cannot keep every {every}th frame", hint="1 keeps all of them")
        self.header = header
        self._every = every
        self._n_frames = 0
        self._blocks: list[_Rows] = []
        self._ticks: list[tuple[float, str, dict[str, Any], dict[str, Any], str | None]] = []
        self._readings: list[dict[str, NDArray[np.float64]]] = []
        self._events: list[Event] = []

    def append_track(self, track: JointStates, commands: NDArray[np.float64]) -> None:
        """Add a block.

        Which frames are kept depends on how many went before, not on where the blocks are cut. The
        arrays are copied: the body may use them again.

        Args:
            track: what the joints did, one row a frame.
            commands: what was sent, `(n, n_joints)` [rad].

        Raises:
            BodyError: the track and the commands are not of the same length.
        """
        n = len(track.times)
        if len(commands) != n:
            raise BodyError(f"{len(commands)} frames were commanded and {n} came back")
        kept = kept_frames(self._n_frames, self._every)
        self._n_frames += n
        block = {
            "times": track.times[kept].copy(),
            "joint_positions": track.positions[kept].copy(),
            "joint_commands": commands[kept].copy(),
            "joint_efforts": track.efforts[kept].copy(),
        }
        world = track.truth
        if world is not None:
            for name in _WORLD:
                block[name] = getattr(world, name)[kept].copy()
        self._blocks.append(block)

    def append_tick(
        self,
        time_s: float,
        state: str,
        inputs: Mapping[str, Any],
        outputs: Mapping[str, Any],
        *,
        playing: str | None = None,
        sensors: Mapping[str, Reading] | None = None,
    ) -> None:
        """Add a chart tick: the chart's state after it, what it saw, answered and asked to be played."""
        self._ticks.append((time_s, state, dict(inputs), dict(outputs), playing))
        readings = sensors or {}
        self._readings.append(
            {name: np.array(value, dtype=np.float64).ravel() for name, value in readings.items()}
        )

    def append_event(self, event: Event) -> None:
        """Add an event."""
        self._events.append(event)

    def finish(self) -> Recording:
        """Return the trace so far; the recorder may go on.

        Raises:
            InputError: what was appended does not fit the header, or a sensor changed its size.
        """
        times, states, inputs, outputs, playing = zip(*self._ticks, strict=True) if self._ticks else ((),) * 5
        return Recording(
            header=self.header,
            **self._rows(),
            tick_times=np.array(times, dtype=np.float64),
            chart_states=states,
            chart_inputs=inputs,
            chart_outputs=outputs,
            playing=playing,
            sensors=self._sensors(),
            events=tuple(self._events),
        )

    def _rows(self) -> _Rows:
        blocks = [self._complete(block) for block in self._blocks] or [self._complete(self._nothing())]
        return {name: np.concatenate([block[name] for block in blocks]) for name in blocks[0]}

    def _nothing(self) -> _Rows:
        joints = np.zeros((0, len(self.header.joints)))
        return {
            "times": np.zeros(0),
            "joint_positions": joints,
            "joint_commands": joints,
            "joint_efforts": joints,
        }

    def _complete(self, block: _Rows) -> _Rows:
        """Return the block with a world in it: not-a-number where the body knew of none."""
        if "base" in block:
            return block
        n, n_feet, n_boxes = len(block["times"]), len(self.header.feet), len(self.header.boxes)
        return {
            **block,
            "base": np.full((n, 7), np.nan),
            "footprints": np.full((n, n_feet, 4, 3), np.nan),
            "foot_contacts": np.zeros((n, n_feet), dtype=np.bool_),
            "boxes": np.full((n, n_boxes, 7), np.nan),
            "box_contacts": np.zeros((n, n_boxes), dtype=np.bool_),
        }

    def _sensors(self) -> dict[str, NDArray[np.float64]]:
        return {name: self._series(name) for name in dict.fromkeys(chain.from_iterable(self._readings))}

    def _series(self, name: str) -> NDArray[np.float64]:
        """Return what a sensor read at every tick, `(m, k)`; not-a-number where it read nothing."""
        rows = [readings.get(name) for readings in self._readings]
        first, *others = dict.fromkeys(len(row) for row in rows if row is not None)
        if others:
            raise InputError(f"sensor {name} gave {first} numbers, then {others[0]}")
        nothing = np.full(first, np.nan)
        series = np.concatenate([nothing if row is None else row for row in rows])
        return series.reshape(len(rows), first)
