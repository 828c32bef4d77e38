"""What a trace is a trace of, and the texts needed to judge and replay it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any

from posewright.errors import InputError, UnknownNameError
from posewright.recordings.plain import plain

if TYPE_CHECKING:
    from posewright.robots import SensorSpec

BoxPlace = tuple[float, float, float]
"""x [m], y [m], yaw [rad] of a box at the start, in the field frame."""


@dataclass(frozen=True)
class Header:
    """Who did what, where.

    Attributes:
        robot: name of the robot.
        behaviour: name of the behaviour.
        contest: name of the contest, e.g. `ceabot_2013/obstacle_race`; empty outside contests.
        layout: what the layout is called; `boxes` is what counts.
        boxes: where the boxes stood at the start.
        seed: of everything drawn by chance.
        version: of Posewright.
        joints: names, in the order of the columns.
        feet: names, in the order of the columns.
        rate_hz: rows kept a second [Hz].
        arena: the field as plain data, as `Arena.to_dict` gives it.
        sensors: the card of each sensor as `sensor_card` gives it.
        documents: full texts of behaviour, chart, motions, rules, layout, and of the robot's card where that
            does not ship, by file name.
        extras: whatever else should travel along.
    """

    robot: str
    behaviour: str = ""
    contest: str = ""
    layout: str = ""
    boxes: tuple[BoxPlace, ...] = ()
    seed: int = 0
    version: str = ""
    joints: tuple[str, ...] = ()
    feet: tuple[str, ...] = ()
    rate_hz: float = 32.0
    arena: Mapping[str, Any] = field(default_factory=dict)
    sensors: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    documents: Mapping[str, str] = field(default_factory=dict)
    extras: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        boxes = tuple((float(x), float(y), float(yaw)) for x, y, yaw in self.boxes)
        object.__setattr__(self, "boxes", boxes)
        for name in ("joints", "feet"):
            object.__setattr__(self, name, tuple(getattr(self, name)))
        for name in ("arena", "sensors", "documents", "extras"):
            object.__setattr__(self, name, plain(getattr(self, name)))

    def joint(self, name: str) -> int:
        """Return the column of a joint.

        Raises:
            UnknownNameError: there is no such joint.
        """
        if name not in self.joints:
            raise UnknownNameError.among("joint", name, self.joints)
        return self.joints.index(name)

    def to_plain(self) -> dict[str, Any]:
        """Return everything but the documents as plain data."""
        data = {entry.name: plain(getattr(self, entry.name)) for entry in fields(self)}
        del data["documents"]
        return data

    def identity(self) -> dict[str, Any]:
        """Return what makes two trials the same trial, as plain data: no names of files, no versions."""
        named = ("robot", "behaviour", "contest", "boxes", "seed", "joints", "feet", "rate_hz")
        return {name: plain(getattr(self, name)) for name in named}

    @classmethod
    def from_plain(cls, data: object, documents: Mapping[str, str]) -> Header:
        """Rebuild a header from `to_plain`.

        Raises:
            InputError: an entry is missing or of the wrong kind.
        """
        names = [entry.name for entry in fields(cls) if entry.name != "documents"]
        if not isinstance(data, dict) or set(data) != set(names):
            raise InputError("the header is not that of a trace", hint=f"it has {', '.join(names)}")
        try:
            header = cls(**data, documents=documents)
        except (TypeError, ValueError) as error:
            raise InputError(f"the header is damaged: {error}") from error
        header._check_kinds()
        return header

    def _check_kinds(self) -> None:
        texts: list[Any] = [self.robot, self.behaviour, self.contest, self.layout, self.version]
        mappings: list[Any] = [self.arena, self.sensors, self.extras, *self.sensors.values()]
        numbers: list[Any] = [self.seed, self.rate_hz]
        right = (
            all(isinstance(text, str) for text in [*texts, *self.joints, *self.feet])
            and all(isinstance(mapping, dict) for mapping in mappings)
            and all(isinstance(number, int | float) for number in numbers)
            and all(_is_pose(card["base_pose"]) for card in self.sensors.values() if "base_pose" in card)
        )
        if not right:
            raise InputError("the header is damaged: an entry is of the wrong kind")


def sensor_card(sensor: SensorSpec, base_pose: Sequence[float] | None = None) -> dict[str, Any]:
    """Return a sensor's specification as plain data, its kind with it.

    Args:
        sensor: the specification.
        base_pose: where it sits in the base's frame, x y z qw qx qy qz [m, unit quaternion]; None where
            that is not known, or changes.
    """
    return {
        "kind": sensor.kind,
        **{entry.name: plain(getattr(sensor, entry.name)) for entry in fields(sensor)},
        **({} if base_pose is None else {"base_pose": plain(tuple(base_pose))}),
    }


def _is_pose(value: Any) -> bool:
    is_seven = isinstance(value, list) and len(value) == 7
    return is_seven and all(isinstance(number, int | float) for number in value)
