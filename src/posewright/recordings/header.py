"""What a recording is of, and the texts needed to judge and replay it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any, Self

from posewright.errors import InputError, UnknownNameError
from posewright.recordings.plain import plain

if TYPE_CHECKING:
    from posewright.bodies import Body
    from posewright.robots import SensorSpec

BoxPlace = tuple[float, float, float]
"""x [m], y [m], yaw [rad] of a box at the start, in the field frame."""


@dataclass(frozen=True)
class RobotHeader:
    """Which robot, and who controlled it.

    Attributes:
        robot: name of its card.
        controller: what decided: `behaviour obstacle_race`, `gait trot`, `motion bow`.
        joints: names, in the order of the columns.
        feet: names, in the order of the columns.
        sensors: the card of each sensor as `sensor_card` gives it.
        facts: what the body knows of itself besides its card, as `Body.facts` gives it.
        links: what it is built of, for viewers, each after its parent: `name`, `parent`, `position` [m] and
            `rotation` (w x y z) in the parent's frame, the `joint` that turns it, around which `axis`, and
            `shapes`, each with `kind`, `size` [m], `position`, `rotation` and `colour`.
    """

    robot: str
    controller: str = ""
    joints: tuple[str, ...] = ()
    feet: tuple[str, ...] = ()
    sensors: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    facts: Mapping[str, Any] = field(default_factory=dict)
    links: tuple[Mapping[str, Any], ...] = field(default=(), repr=False)

    def __post_init__(self) -> None:
        for name in ("joints", "feet"):
            object.__setattr__(self, name, tuple(getattr(self, name)))
        for name in ("sensors", "facts"):
            object.__setattr__(self, name, plain(getattr(self, name)))
        object.__setattr__(self, "links", tuple(plain(link) for link in self.links))

    @classmethod
    def of(cls, body: Body, controller: str = "") -> Self:
        """Return the header of a body, with what it knows of itself."""
        robot, facts = body.robot, dict(body.facts())
        sensors = {sensor.name: sensor_card(sensor) for sensor in robot.sensors}
        return cls(
            robot=robot.name,
            controller=controller,
            joints=robot.joint_names,
            feet=robot.feet,
            sensors=facts.pop("sensors", sensors),
            links=tuple(facts.pop("links", ())),
            facts=facts,
        )

    def joint(self, name: str) -> int:
        """Return the column of a joint.

        Raises:
            UnknownNameError: there is no such joint.
        """
        if name not in self.joints:
            raise UnknownNameError.among("joint", name, self.joints)
        return self.joints.index(name)


@dataclass(frozen=True)
class Header:
    """Who did what, where.

    Attributes:
        robots: by the name each has in this recording.
        contest: name of the contest's rules, e.g. `ceabot_2013/obstacle_race`; empty outside contests.
        layout: what the layout is called; `boxes` is what counts.
        boxes: where the boxes stood at the start.
        seed: of everything drawn by chance.
        version: of Posewright.
        rate_hz: rows kept a second [Hz].
        arena: the field as plain data, as `Arena.to_dict` gives it.
        documents: full texts of behaviour, chart, motions, gait, rules, layout, and of a robot's card where that
            does not ship, by file name.
        extras: whatever else should travel along.
    """

    robots: Mapping[str, RobotHeader]
    contest: str = ""
    layout: str = ""
    boxes: tuple[BoxPlace, ...] = ()
    seed: int = 0
    version: str = ""
    rate_hz: float = 32.0
    arena: Mapping[str, Any] = field(default_factory=dict)
    documents: Mapping[str, str] = field(default_factory=dict, repr=False)
    extras: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        boxes = tuple((float(x), float(y), float(yaw)) for x, y, yaw in self.boxes)
        object.__setattr__(self, "boxes", boxes)
        object.__setattr__(self, "robots", dict(self.robots))
        for name in ("arena", "documents", "extras"):
            object.__setattr__(self, name, plain(getattr(self, name)))

    def __repr__(self) -> str:
        return f"<Header of {', '.join(self.robots)}, seed {self.seed}>"

    def to_plain(self) -> dict[str, Any]:
        """Return everything but the documents as plain data."""
        data = {entry.name: getattr(self, entry.name) for entry in fields(self)}
        del data["documents"]
        data["robots"] = {
            name: {entry.name: getattr(one, entry.name) for entry in fields(one)}
            for name, one in self.robots.items()
        }
        return {name: plain(value) for name, value in data.items()}

    def identity(self) -> dict[str, Any]:
        """Return what makes two runs the same run, as plain data: no names of files, no versions, no looks."""
        named = ("contest", "boxes", "seed", "rate_hz")
        told = self.to_plain()
        robots = {
            name: {key: value for key, value in one.items() if key not in {"links", "sensors"}}
            for name, one in told["robots"].items()
        }
        return {**{name: told[name] for name in named}, "robots": robots}

    @classmethod
    def from_plain(cls, data: object, documents: Mapping[str, str]) -> Self:
        """Rebuild a header from `to_plain`.

        Raises:
            InputError: an entry is missing or of the wrong kind.
        """
        names = [entry.name for entry in fields(cls) if entry.name != "documents"]
        if not isinstance(data, dict) or set(data) != set(names):
            raise InputError("the header is not that of a recording", hint=f"it has {', '.join(names)}")
        try:
            robots = {str(name): RobotHeader(**one) for name, one in data["robots"].items()}
            header = cls(**{**data, "robots": robots}, documents=documents)
        except (TypeError, ValueError, AttributeError) as error:
            raise InputError(f"the header is damaged: {error}") from error
        header._check_kinds()
        return header

    def _check_kinds(self) -> None:
        robots = self.robots.values()
        cards = [card for one in robots for card in one.sensors.values()]
        texts: list[Any] = [self.contest, self.layout, self.version]
        texts += [text for one in robots for text in (one.robot, one.controller, *one.joints, *one.feet)]
        mappings: list[Any] = [self.arena, self.extras, *cards]
        mappings += [one for robot in robots for one in (robot.sensors, robot.facts, *robot.links)]
        numbers: list[Any] = [self.seed, self.rate_hz]
        right = (
            all(isinstance(text, str) for text in texts)
            and all(isinstance(mapping, dict) for mapping in mappings)
            and all(isinstance(number, int | float) for number in numbers)
            and all(_is_pose(card["base_pose"]) for card in cards if "base_pose" in card)
        )
        if not right or not self.robots:
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
