"""The header of a recording: its robots, arena and seed, and the documents needed to judge and replay it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Self

from posewright.documents.plain import PlainData, PlainMapping, to_plain
from posewright.errors import InputError, UnknownNameError
from posewright.recordings.exact_json import Shape, require_shape

if TYPE_CHECKING:
    from posewright.bodies import Body, Supervisor
    from posewright.robots import SensorSpec

RULES_SUFFIX = ".rules.yaml"
"""File name suffix of documents with the rules of a contest."""

MAX_OF_A_KIND = 1000
"""Greatest number of robots and of boxes in a header, and of joints and of feet of a robot."""

BoxPose = tuple[float, float, float]
"""x [m], y [m] and yaw [rad] of a box at the start, in the field frame."""


def card_document(name: str) -> str:
    """Return the name under which a recording has the card of a robot that is not shipped."""
    return f"{name}.robot.yaml"


@dataclass(frozen=True)
class RobotHeader:
    """A robot in a recording, and its controller.

    Attributes:
        robot: name of its card.
        controller: kind and name, such as `behaviour obstacle_race`, `gait trot` or `motion bow`.
        joints: names, in the order of the columns of the record's arrays.
        feet: names, likewise.
        sensors: the card of each sensor, as returned by `sensor_card`.
        facts: the facts about the body, besides its card, as returned by `Body.facts`.
        links: for viewers, the base first and each link after its parent. A link has a `name`, its `parent`,
            `position` [m] and `rotation` (w x y z) in the parent's frame with its joint at 0, perhaps the
            `joint` that turns it about its origin with that joint's `axis`, and `shapes`. A shape has a
            `kind` (box, sphere, ellipsoid, cylinder, capsule), the `size` of its bounding box along its own
            x, y and z [m], a `position`, a `rotation`, and a `colour`: red, green, blue, perhaps opacity.
    """

    robot: str
    controller: str = ""
    joints: tuple[str, ...] = ()
    feet: tuple[str, ...] = ()
    sensors: Mapping[str, PlainMapping] = field(default_factory=dict)
    facts: PlainMapping = field(default_factory=dict)
    links: tuple[PlainMapping, ...] = field(default=(), repr=False)

    def __post_init__(self) -> None:
        """Store names as tuples, and everything else as plain data."""
        for name in ("joints", "feet"):
            object.__setattr__(self, name, tuple(getattr(self, name)))
        for name in ("sensors", "facts"):
            object.__setattr__(self, name, to_plain(getattr(self, name)))
        object.__setattr__(self, "links", tuple(to_plain(link) for link in self.links))

    @classmethod
    def of(cls, body: Body | Supervisor, controller: str = "") -> Self:
        """Return the header of a body: what its robot's card states, and what the body reports of itself.

        Args:
            body: the body, or its supervisor.
            controller: the kind and name of its controller.
        """
        robot = body.robot
        reported_facts = dict(body.facts())
        # `sensors` and `links` are fields of their own; the body's are more precise than the card's
        sensors_of_card = {sensor.name: sensor_card(sensor) for sensor in robot.sensors}
        sensors = reported_facts.pop("sensors", sensors_of_card)
        links = tuple(reported_facts.pop("links", ()))
        return cls(
            robot=robot.name,
            controller=controller,
            joints=robot.joint_names,
            feet=robot.feet,
            sensors=sensors,
            links=links,
            facts=reported_facts,
        )

    def joint(self, name: str) -> int:
        """Return the column of a joint in the record's arrays.

        Raises:
            UnknownNameError: the robot has no such joint.
        """
        if name not in self.joints:
            raise UnknownNameError.among("joint", name, self.joints)
        return self.joints.index(name)


@dataclass(frozen=True)
class Header:
    """Describes a recorded run.

    Attributes:
        robots: by the name that their topics have.
        contest: name of the contest's rules, e.g. `ceabot_2013/obstacle_race`; empty outside contests.
        layout: name of the layout, for information only; `boxes` has its content.
        boxes: poses of the boxes at the start, x, y and yaw [m, m, rad].
        seed: the seed of the run.
        version: the version of Posewright.
        rate_hz: recorded rows per second [Hz].
        arena: the field as plain data, as returned by `Arena.to_dict`.
        documents: full texts of behaviour, chart, motions, gait, rules and layout by file name, and of the
            robot's card unless it ships.
        extras: further plain data to store with the recording.

    Raises:
        InputError: the name of a robot is empty or has a slash.
    """

    robots: Mapping[str, RobotHeader]
    contest: str = ""
    layout: str = ""
    boxes: tuple[BoxPose, ...] = ()
    seed: int = 0
    version: str = ""
    rate_hz: float = 32.0
    arena: PlainMapping = field(default_factory=dict)
    documents: Mapping[str, str] = field(default_factory=dict, repr=False)
    extras: PlainMapping = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Store the parts of the header as plain data, and check the names of the robots.

        The header is frozen, so the parts are set through `object`.
        """
        boxes = tuple((float(x), float(y), float(yaw)) for x, y, yaw in self.boxes)
        object.__setattr__(self, "boxes", boxes)
        object.__setattr__(self, "robots", dict(self.robots))
        for name in self.robots or ("",):
            if not name or "/" in name:
                raise InputError(
                    f"a robot in a header cannot be called {name!r}",
                    hint="at least one character and no slash, which separates the parts of a topic",
                )
        for name in ("arena", "documents", "extras"):
            object.__setattr__(self, name, to_plain(getattr(self, name)))

    def __repr__(self) -> str:
        return f"<Header of {', '.join(self.robots)}, seed {self.seed}>"

    def to_plain(self) -> PlainMapping:
        """Return everything except the documents as plain data."""
        data = {entry.name: getattr(self, entry.name) for entry in fields(self)}
        del data["documents"]
        data["robots"] = {
            name: {entry.name: getattr(robot, entry.name) for entry in fields(robot)}
            for name, robot in self.robots.items()
        }
        return {name: to_plain(value) for name, value in data.items()}

    def identity(self) -> dict[str, PlainData]:
        """Return the part of the header that is equal for equal runs, as plain data.

        It includes the field and the rules of the contest, but no version, names of files, or shapes.
        """
        data = self.to_plain()
        robots = {
            name: {key: value for key, value in robot.items() if key not in {"links", "sensors"}}
            for name, robot in data["robots"].items()
        }
        rules = {name: text for name, text in self.documents.items() if name.endswith(RULES_SUFFIX)}
        entries = {name: data[name] for name in ("contest", "boxes", "seed", "rate_hz", "arena")}
        return {**entries, "robots": robots, "rules": rules}

    @classmethod
    def from_plain(cls, data: object, documents: Mapping[str, str]) -> Self:
        """Return the header that `to_plain` made data of.

        Raises:
            InputError: the data has another shape, or too many robots, boxes, joints or feet.
        """
        names = [entry.name for entry in fields(cls) if entry.name != "documents"]
        if not isinstance(data, dict) or set(data) != set(names):
            raise InputError("the header has other entries than a recording's", hint=f"{', '.join(names)}")
        require_shape("the header", data, _HEADER)
        for key in ("robots", "boxes"):
            if len(data[key]) > MAX_OF_A_KIND:
                raise InputError(f"the header has {len(data[key])} {key}", hint=f"at most {MAX_OF_A_KIND}")
        robots = {name: _read_robot(name, robot) for name, robot in data["robots"].items()}
        return cls(
            robots=robots,
            contest=data["contest"],
            layout=data["layout"],
            boxes=data["boxes"],
            seed=data["seed"],
            version=data["version"],
            rate_hz=data["rate_hz"],
            arena=data["arena"],
            documents=documents,
            extras=data["extras"],
        )


_POSE: dict[str | type, Shape] = {"position": (float,) * 3, "rotation": (float,) * 4}
_SHAPE: dict[str | type, Shape] = {"kind": str, "size": (float,) * 3, "colour": [float], **_POSE}
_LINK: dict[str | type, Shape] = {"name": str, "parent": str, "shapes": [_SHAPE], **_POSE}
_ROBOT: dict[str | type, Shape] = {
    "robot": str,
    "controller": str,
    "joints": [str],
    "feet": [str],
    "sensors": {str: dict},
    "facts": dict,
    "links": [_LINK],
}
_HEADER: Shape = {
    "robots": {str: _ROBOT},
    "contest": str,
    "layout": str,
    "boxes": [(float,) * 3],
    "seed": int,
    "version": str,
    "rate_hz": float,
    "arena": dict,
    "extras": dict,
}
_SENSOR_CARD_SHAPES: Mapping[str, Shape] = {
    "base_pose": (float,) * 7,
    "link": str,
    "link_pose": (float,) * 7,
    **dict.fromkeys(("start_deg", "step_deg", "max_range_m", "fan_deg"), float),
}


def _read_robot(name: str, data: PlainMapping) -> RobotHeader:
    """Return a robot's header from plain data.

    Raises:
        InputError: a value has another shape, a link precedes its parent, two joints or feet have the same
            name, there are too many, or there are other entries than those of a header.
    """
    for sensor, card in data["sensors"].items():
        for key in _SENSOR_CARD_SHAPES.keys() & card.keys():
            require_shape(f"{key} of {sensor} of {name} of the header", card[key], _SENSOR_CARD_SHAPES[key])
    link_names: set[str] = set()
    for link in data["links"]:
        if link.get("joint") is not None:
            require_shape(f"axis of {link['name']} of {name} of the header", link.get("axis"), (float,) * 3)
        if link_names and link["parent"] not in link_names:
            raise InputError(f"the header is damaged: link {link['name']} of {name} comes before its parent")
        link_names.add(link["name"])
    for key in ("joints", "feet"):
        if len(set(data[key])) < len(data[key]):
            raise InputError(f"the header is damaged: two {key} of {name} have the same name")
        if len(data[key]) > MAX_OF_A_KIND:
            raise InputError(f"{name} has {len(data[key])} {key}", hint=f"at most {MAX_OF_A_KIND}")
    if data.keys() != _ROBOT.keys():
        raise InputError(f"the header is damaged: robot {name} has the entries {', '.join(data)}")
    return RobotHeader(
        robot=data["robot"],
        controller=data["controller"],
        joints=data["joints"],
        feet=data["feet"],
        sensors=data["sensors"],
        facts=data["facts"],
        links=data["links"],
    )


MOUNTING_KEYS = frozenset({"base_pose", "link", "link_pose"})
"""Keys of a sensor's card with its position on the robot."""


def sensor_card(sensor: SensorSpec, link: str = "", pose: Sequence[float] | None = None) -> PlainMapping:
    """Return a sensor's specification with its kind and pose, as plain data.

    Args:
        sensor: the specification.
        link: on which it is mounted; empty for the base.
        pose: the pose of the sensor in the frame of that link or of the base, x y z qw qx qy qz [m, unit
            quaternion]; None if unknown. The card has it as `link_pose` with the `link`, or as `base_pose`.
    """
    card = {
        "kind": sensor.kind,
        **{entry.name: to_plain(getattr(sensor, entry.name)) for entry in fields(sensor)},
    }
    if pose is None:
        return card
    if link:
        return {**card, "link": link, "link_pose": to_plain(pose)}
    return {**card, "base_pose": to_plain(pose)}
