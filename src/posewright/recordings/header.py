"""What a recording is of, and the texts needed to judge and replay it."""

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
"""What the documents are called that a contest is judged by."""

MAX_OF_A_KIND = 1000
"""A file's header has at most so many robots and boxes, a robot so many joints and feet."""

BoxPlace = tuple[float, float, float]
"""x [m], y [m], yaw [rad] of a box at the start, in the field frame."""


@dataclass(frozen=True)
class RobotHeader:
    """Which robot, and who controlled it.

    Attributes:
        robot: name of its card.
        controller: what decided: `behaviour obstacle_race`, `gait trot`, `motion bow`.
        sensors: the card of each sensor as `sensor_card` gives it.
        facts: what the body knows of itself besides its card, as `Body.facts` gives it.
        links: what it is built of, for viewers, the base first and each after its parent: `name`, `parent`,
            `position` [m] and `rotation` (w x y z) in the parent's frame with the joint at 0, the `joint`
            that turns it about its origin, around which `axis`, and `shapes`, each with `kind` (box, sphere,
            ellipsoid, cylinder, capsule), `size` of the box around it along its own x, y and z [m],
            `position`, `rotation`, and `colour`, red green blue and perhaps opacity.
    """

    robot: str
    controller: str = ""
    joints: tuple[str, ...] = ()
    feet: tuple[str, ...] = ()
    sensors: Mapping[str, PlainMapping] = field(default_factory=dict)
    facts: PlainMapping = field(default_factory=dict)
    links: tuple[PlainMapping, ...] = field(default=(), repr=False)

    def __post_init__(self) -> None:
        for name in ("joints", "feet"):
            object.__setattr__(self, name, tuple(getattr(self, name)))
        for name in ("sensors", "facts"):
            object.__setattr__(self, name, to_plain(getattr(self, name)))
        object.__setattr__(self, "links", tuple(to_plain(link) for link in self.links))

    @classmethod
    def of(cls, body: Body | Supervisor, controller: str = "") -> Self:
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
        """Return the column of a joint; raise an UnknownNameError where there is none of that name."""
        if name not in self.joints:
            raise UnknownNameError.among("joint", name, self.joints)
        return self.joints.index(name)


@dataclass(frozen=True)
class Header:
    """Who did what, where.

    Attributes:
        contest: name of the contest's rules, e.g. `ceabot_2013/obstacle_race`; empty outside contests.
        layout: what the layout is called; `boxes` is what counts.
        boxes: where the boxes stood at the start.
        rate_hz: rows kept a second [Hz].
        arena: the field as plain data, as `Arena.to_dict` gives it.
        documents: full texts of behaviour, chart, motions, gait, rules, layout, and of a robot's card where
            that does not ship, by file name.
        extras: whatever else should travel along.
    """

    robots: Mapping[str, RobotHeader]
    contest: str = ""
    layout: str = ""
    boxes: tuple[BoxPlace, ...] = ()
    seed: int = 0
    version: str = ""
    rate_hz: float = 32.0
    arena: PlainMapping = field(default_factory=dict)
    documents: Mapping[str, str] = field(default_factory=dict, repr=False)
    extras: PlainMapping = field(default_factory=dict)

    def __post_init__(self) -> None:
        boxes = tuple((float(x), float(y), float(yaw)) for x, y, yaw in self.boxes)
        object.__setattr__(self, "boxes", boxes)
        object.__setattr__(self, "robots", dict(self.robots))
        for name in self.robots or ("",):
            if not name or "/" in name:
                raise InputError(
                    f"a robot in a header cannot be called {name!r}", hint="no slash: topics have them"
                )
        for name in ("arena", "documents", "extras"):
            object.__setattr__(self, name, to_plain(getattr(self, name)))

    def __repr__(self) -> str:
        return f"<Header of {', '.join(self.robots)}, seed {self.seed}>"

    def to_plain(self) -> PlainMapping:
        """Return everything but the documents as plain data."""
        data = {entry.name: getattr(self, entry.name) for entry in fields(self)}
        del data["documents"]
        data["robots"] = {
            name: {entry.name: getattr(one, entry.name) for entry in fields(one)}
            for name, one in self.robots.items()
        }
        return {name: to_plain(value) for name, value in data.items()}

    def identity(self) -> dict[str, PlainData]:
        """Return what makes two runs the same run, as plain data: no names of files, no versions, no looks.

        The rules a contest is judged by belong to it, and so does the field.
        """
        named = ("contest", "boxes", "seed", "rate_hz", "arena")
        told = self.to_plain()
        robots = {
            name: {key: value for key, value in one.items() if key not in {"links", "sensors"}}
            for name, one in told["robots"].items()
        }
        rules = {name: text for name, text in self.documents.items() if name.endswith(RULES_SUFFIX)}
        return {**{name: told[name] for name in named}, "robots": robots, "rules": rules}

    @classmethod
    def from_plain(cls, data: object, documents: Mapping[str, str]) -> Self:
        """Rebuild a header from `to_plain`."""
        names = [entry.name for entry in fields(cls) if entry.name != "documents"]
        if not isinstance(data, dict) or set(data) != set(names):
            raise InputError("the header is not that of a recording", hint=f"it has {', '.join(names)}")
        require_shape("the header", data, _HEADER)
        for what, found in (("robots", data["robots"]), ("boxes", data["boxes"])):
            if len(found) > MAX_OF_A_KIND:
                raise InputError(f"the header has {len(found)} {what}", hint=f"at most {MAX_OF_A_KIND}")
        robots = {name: _read_robot(name, one) for name, one in data["robots"].items()}
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


_PLACE: dict[str | type, Shape] = {"position": (float,) * 3, "rotation": (float,) * 4}
_SHAPE: dict[str | type, Shape] = {"kind": str, "size": (float,) * 3, "colour": [float], **_PLACE}
_LINK: dict[str | type, Shape] = {"name": str, "parent": str, "shapes": [_SHAPE], **_PLACE}
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
_CARD: Mapping[str, Shape] = {
    "base_pose": (float,) * 7,
    "link": str,
    "link_pose": (float,) * 7,
    **dict.fromkeys(("start_deg", "step_deg", "max_range_m", "fan_deg"), float),
}


def _read_robot(name: str, data: PlainMapping) -> RobotHeader:
    for sensor, card in data["sensors"].items():
        for key in _CARD.keys() & card.keys():
            require_shape(f"{key} of {sensor} of {name} of the header", card[key], _CARD[key])
    known: set[str] = set()
    for link in data["links"]:
        if link.get("joint") is not None:
            require_shape(f"axis of {link['name']} of {name} of the header", link.get("axis"), (float,) * 3)
        if known and link["parent"] not in known:
            raise InputError(f"the header is damaged: link {link['name']} of {name} hangs on nothing")
        known.add(link["name"])
    for what in ("joints", "feet"):
        if len(set(data[what])) < len(data[what]):
            raise InputError(f"the header is damaged: a name of {name} comes twice")
        if len(data[what]) > MAX_OF_A_KIND:
            raise InputError(f"{name} has {len(data[what])} {what}", hint=f"at most {MAX_OF_A_KIND}")
    if data.keys() != _ROBOT.keys():
        raise InputError(f"the header is damaged: robot {name} has {', '.join(data)}")
    return RobotHeader(
        robot=data["robot"],
        controller=data["controller"],
        joints=data["joints"],
        feet=data["feet"],
        sensors=data["sensors"],
        facts=data["facts"],
        links=data["links"],
    )


PLACED = frozenset({"base_pose", "link", "link_pose"})
"""Keys of a sensor's card that say where it sits."""


def sensor_card(sensor: SensorSpec, link: str = "", pose: Sequence[float] | None = None) -> PlainMapping:
    """Return a sensor's specification as plain data, its kind with it.

    `pose` is where it sits, x y z qw qx qy qz [m, unit quaternion]; None where that is not known. It becomes
    the card's `base_pose`, in the base's frame, or that `link`'s, and then its `link_pose`.
    """
    placed = {"link": link, "link_pose": pose} if link else {"base_pose": pose}
    return {
        "kind": sensor.kind,
        **{entry.name: to_plain(getattr(sensor, entry.name)) for entry in fields(sensor)},
        **({} if pose is None else {name: to_plain(value) for name, value in placed.items()}),
    }
