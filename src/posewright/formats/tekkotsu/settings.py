"""What a Tekkotsu file sets, and when: the lines of a sequence or posture with everything worked out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from posewright.formats.tekkotsu.lines import Word
from posewright.formats.tekkotsu.outputs import is_for, is_led, joints_called, unit_rad
from posewright.robots import Robot

EVERY = ""
"""The name of all outputs at once, in a setting that releases them."""


class Setting(NamedTuple):
    """An output set to a value at a time.

    Attributes:
        time_ms: when [ms].
        name: the output as the file names it, without padding; `EVERY` for all of them.
        value: [rad], of a LED its brightness.
        weight: 1, or less where other commands have a say; 0 releases the output.
        line: number of the line it stands in.
        word: the word its value stands in; None where that is in another file, or nowhere.
        unit: what the word was multiplied by.
        model: pattern of the models the setting is for; empty for all.
    """

    time_ms: int
    name: str
    value: float
    weight: float = 1.0
    line: int = 0
    word: Word | None = None
    unit: float = 1.0
    model: str = ""


class Key(NamedTuple):
    """A key of an output's own track: its value and weight at a time."""

    time_ms: int
    value: float
    weight: float


Track = tuple[Key, ...]


@dataclass(frozen=True)
class Tracks:
    """Every output's own keys, in the order of time.

    Attributes:
        joints: by joint of the robot.
        leds: by Tekkotsu's name.
        unknown: outputs that the robot has not, each with the first line it stands in.
    """

    joints: Mapping[str, Track]
    leds: Mapping[str, Track]
    unknown: Mapping[str, int]

    @cached_property
    def times(self) -> list[int]:
        """All times at which a joint has a key, in order [ms]."""
        return sorted({key.time_ms for track in self.joints.values() for key in track})

    @property
    def end_ms(self) -> int:
        """The time of the last key [ms]."""
        tracks = [*self.joints.values(), *self.leds.values()]
        return max((track[-1].time_ms for track in tracks), default=0)


def tracks_of(settings: Sequence[Setting], card: Robot) -> Tracks:
    """Return the tracks of settings on a robot; of two at the same time the later line counts.

    A weight of 0 at time 0 sets nothing: the output begins wherever it is.
    """
    keys: dict[str, dict[int, Key]] = {}
    unknown: dict[str, int] = {}
    units = {joint: unit_rad(joint, card) for joint in card.joint_names}
    for setting in settings:
        if not is_for(setting.model, card):
            continue
        outputs = _outputs(setting.name, card)
        if not outputs:
            unknown.setdefault(setting.name, setting.line)
        for output in outputs:
            value = setting.value * (1.0 if is_led(output) else units[output])
            key = Key(setting.time_ms, value, max(setting.weight, 0.0))
            keys.setdefault(output, {})[setting.time_ms] = key
    tracks = {output: _track(by_time) for output, by_time in keys.items()}
    tracks = {output: track for output, track in tracks.items() if any(key.weight for key in track)}
    joints = {joint: tracks[joint] for joint in card.joint_names if joint in tracks}
    return Tracks(joints, {name: tracks[name] for name in tracks if is_led(name)}, unknown)


def _outputs(name: str, card: Robot) -> tuple[str, ...]:
    if name == EVERY:
        return card.joint_names
    return (name,) if is_led(name) else joints_called(name, card)


def _track(keys: Mapping[int, Key]) -> Track:
    return tuple(keys[time] for time in sorted(keys) if time or keys[time].weight)
