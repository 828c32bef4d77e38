"""Tunings as native documents: `*.tune.yaml`."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path

from posewright.bodies import (
    NOMINAL,
    DomainParameters,
    domain_randomization,
    domain_randomization_names,
    draw_domain,
)
from posewright.documents import Catalogue, Node, is_path, parse_document, read_record, read_text
from posewright.errors import InputError, UnknownNameError
from posewright.gaits import EXPLANATIONS, Gait, gait_names, read_gait
from posewright.kinematics import legs_of
from posewright.robots import Robot, robot, robot_folder, robot_names
from posewright.runs.tuning.score import TERMS, Fall
from posewright.runs.tuning.task import (
    LARGEST_WEIGHT,
    Asked,
    GaitTask,
    SearchPlan,
    Term,
    TunedBodies,
    TunedWalk,
)
from posewright.runs.walking.many import MOST_BODIES
from posewright.search import MAX_SEED, Dimension

FOLDER = "tunes"
SUFFIX = ".tune.yaml"

REQUIRED = ("tune", "robot", "gait", "parameters", "walks", "score")
OPTIONAL = ("description", "source", "bodies", "hold", "search")

GREATEST = "greatest"
_MOST = {"forward_m_s": 10.0, "left_m_s": 10.0, "turn_rad_s": 100.0}
"""Nobody walks or turns faster [m/s, rad/s]; a slip of the pen is refused."""

MOST_WALKS = 100

_SHARE_SLACK = 1e-9

_START = "{range: [low, high], start: value}"
_RANGE_HINT = f"[low, high], or {_START}"


def tune_names(card: Robot | str | None = None) -> tuple[str, ...]:
    """Return the names of the tunings that ship for a robot, or for any, in alphabetical order."""
    name = card.name if isinstance(card, Robot) else card
    return _catalogue(name).names()


def read_tune(name: str | Path) -> GaitTask:
    """Read a tuning.

    Args:
        name: one of `tune_names()`, or the path of a `*.tune.yaml`.

    Raises:
        DocumentError: the document is not what it should be.
        UnknownNameError: there is no such tuning, robot, gait, parameter, joint, ...
        InputError: tunings of several robots are called so.
    """
    path = Path(name) if is_path(name) else _catalogue().find(name)
    return tune_in(read_text(path), path)


def tune_in(text: str, path: Path | None = None) -> GaitTask:
    """Return the tuning that a text tells of; `path` is for messages, and for what it names by a path."""
    node = parse_document(text, path).fields(required=REQUIRED, optional=OPTIONAL)
    card = _robot(node["robot"], path)
    gait = _gait(node["gait"], card, path)
    return GaitTask(
        name=_name(node["tune"]),
        robot=card,
        gait=gait,
        dimensions=_dimensions(node["parameters"], gait),
        walks=_walks(node["walks"]),
        bodies=_bodies(node["bodies"], path) if "bodies" in node else TunedBodies(),
        terms=_terms(node["score"]),
        held=_held(node["hold"], card) if "hold" in node else (),
        search=read_record(node["search"], SearchPlan, degrees=False) if "search" in node else SearchPlan(),
        description=node["description"].text() if "description" in node else "",
        source=node["source"].text() if "source" in node else "",
        path=path,
    )


def _catalogue(robot_name: str | None = None) -> Catalogue:
    known = [name for name in robot_names() if robot_name in (None, name)]
    return Catalogue("tuning", SUFFIX, lambda: [robot_folder(name) / FOLDER for name in known])


def _name(node: Node) -> str:
    name = node.text()
    if not name.strip() or "/" in name or "\\" in name:
        node.fail(f"{name!r} is no name", hint="the name of the gait that is looked for; no path")
    return name


def _robot(node: Node, path: Path | None) -> Robot:
    name = node.text()
    beside = path.parent if path is not None else Path()
    card = robot(beside / name if is_path(name) else node.choice("robot", robot_names()))
    if card.model_path is None:
        node.fail(f"{card.name} has no model", hint="a tuning walks in simulation")
    try:
        legs_of(card)
    except InputError as error:
        node.fail(error.message, hint=error.hint)
    return card


def _gait(node: Node, card: Robot, path: Path | None) -> Gait:
    name = node.text()
    if is_path(name):
        return read_gait((path.parent if path is not None else Path()) / name, robot=card)
    return read_gait(node.choice(f"gait of {card.name}", gait_names(card)), robot=card)


def _walks(node: Node) -> tuple[TunedWalk, ...]:
    entries = node.items()
    if not 1 <= len(entries) <= MOST_WALKS:
        node.fail(f"{len(entries)} walks", hint=f"1 to {MOST_WALKS}, such as {{forward_m_s: {GREATEST}}}")
    return tuple(_walk(entry) for entry in entries)


def _walk(node: Node) -> TunedWalk:
    told = node.fields(optional=(*_MOST, "seconds", "settle_s", "weight"))
    forward, left, turn = (_asked(told[key], most) if key in told else Asked() for key, most in _MOST.items())
    share = math.hypot(*(one.value for one in (forward, left) if one.is_share))
    if share > 1.0 + _SHARE_SLACK:
        what = f"forward and left together are {share:.3g} times the greatest speed"
        node.fail(what, hint="shares whose squares add up to 1 at most, such as 0.6 and 0.8")
    walk = read_record(
        node, TunedWalk, extra_keys=_MOST, degrees=False, forward=forward, left=left, turn=turn
    )
    if walk.weight == 0.0:
        told["weight"].fail("a walk that does not count", hint="a weight over 0, or leave the walk out")
    return walk


def _asked(node: Node, most: float) -> Asked:
    """Return a velocity: a number, `greatest`, or `{greatest: share}`."""
    if isinstance(node.value, dict):
        entry = node.fields(required=(GREATEST,), optional=())[GREATEST]
        return Asked(entry.number(low=-1.0, high=1.0), is_share=True)
    if isinstance(node.value, str):
        node.choice("velocity", (GREATEST,))
        return Asked(1.0, is_share=True)
    return Asked(node.number(low=-most, high=most))


def _bodies(node: Node, path: Path | None) -> TunedBodies:
    told = node.fields(optional=("nominal", "random", "seed", "ranges", "worst_share"))
    nominal = told["nominal"].boolean() if "nominal" in told else True
    drawn = told["random"].integer(low=0, high=MOST_BODIES) if "random" in told else 0
    seed = told["seed"].integer(low=0, high=MAX_SEED - MOST_BODIES) if "seed" in told else 0
    if not nominal and not drawn:
        node.fail("no body walks", hint="nominal: true, or random: 3")
    variations: tuple[DomainParameters, ...] = (NOMINAL,) if nominal else ()
    if drawn or "ranges" in told:
        spread = domain_randomization(_ranges(told["ranges"], path) if "ranges" in told else "random")
        variations += tuple(draw_domain(spread, seed + number) for number in range(drawn))
    worst_share = told["worst_share"].number(low=0.0, high=1.0) if "worst_share" in told else 0.0
    return TunedBodies(variations, worst_share)


def _ranges(node: Node, path: Path | None) -> str | Path:
    name = node.text()
    if is_path(name):
        return (path.parent if path is not None else Path()) / name
    return node.choice("set of bodies", domain_randomization_names())


def _terms(node: Node) -> tuple[Term, ...]:
    entries = node.fields(required=(Fall.name,), optional=TERMS)
    if len(entries) == 1:
        node.fail("nothing but falls is looked at", hint=f"one more of {', '.join(TERMS)}")
    return tuple(_term(TERMS[name], entries[name]) for name in TERMS if name in entries)


def _term(kind: type[Term], node: Node) -> Term:
    """Return a term: a number alone is its weight."""
    if isinstance(node.value, dict):
        return read_record(node, kind, degrees=False)
    weigh: Callable[..., Term] = kind
    return weigh(weight=node.number(low=0.0, high=LARGEST_WEIGHT))


def _held(node: Node, card: Robot) -> tuple[str, ...]:
    legs = {joint for leg in card.legs for joint in leg.joints}
    held: list[str] = []
    for entry in node.items():
        name = entry.choice("joint or group of joints", (*card.joint_names, *card.groups))
        joints = card.groups.get(name, (name,))
        if legs.intersection(joints):
            entry.fail(f"{name} walks", hint="only what no leg has can be held still")
        held += [joint for joint in joints if joint not in held]
    return tuple(held)


def _dimensions(node: Node, gait: Gait) -> tuple[Dimension, ...]:
    """Read what is searched, each by a dotted name as `Gait.changed` takes it."""
    entries = node.fields()
    if not entries:
        node.fail("nothing is searched", hint=f"ground_speed_m_s: {_RANGE_HINT}")
    setters: dict[str, str] = {}
    dimensions = []
    for name, entry in entries.items():
        low, high, start = _bounds(entry)
        sets = _sets(entry, name, gait, low, high)
        for value in sets:
            if value in setters:
                entry.fail(f"{value} is set by {setters[value]} too", hint="search it once")
            setters[value] = name
        if start is None:
            start = _own(entry, name, gait, sets[0])
            if not low <= start <= high:
                what = f"the gait has {start:g}, outside {low:g} to {high:g}"
                entry.fail(what, hint=f"a range with that in it; or {_START}")
        dimensions.append(Dimension(name, low, high, start, _is_whole(name)))
    return tuple(dimensions)


def _own(node: Node, name: str, gait: Gait, value: str) -> float:
    """Return the gait's own value, where the search begins; fail where a name sets several that differ."""
    own = gait.flat[value]
    if gait.with_values({name: own}).flat != gait.flat:
        node.fail(f"the gait has several values for {name}", hint=f"search each by itself; or {_START}")
    return own


def _bounds(node: Node) -> tuple[float, float, float | None]:
    """Return low, high and, where it is told, the start."""
    if not isinstance(node.value, dict):
        return (*_range(node), None)
    told = node.fields(required=("range",), optional=("start",))
    low, high = _range(told["range"])
    return low, high, told["start"].number(low=low, high=high) if "start" in told else None


def _range(node: Node) -> tuple[float, float]:
    ends = node.items()
    if len(ends) != 2:
        node.fail(f"expected two numbers, found {len(ends)}", hint=_RANGE_HINT)
    low, high = (end.number() for end in ends)
    if not low < high:
        what = f"the range goes from {low:g} to {high:g}"
        node.fail(what, hint="the lower number first; what is fixed is not searched")
    return low, high


def _sets(node: Node, name: str, gait: Gait, low: float, high: float) -> list[str]:
    """Return the values of the gait that a name sets, or fail where one of the bounds cannot be."""
    try:
        at_low, at_high = (gait.with_values({name: end}).flat for end in (low, high))
    except UnknownNameError as error:
        raise UnknownNameError(error.message, where=node.where, hint=error.hint) from error
    except InputError as error:
        node.fail(error.message, hint=error.hint)
    return [value for value in at_low if at_low[value] != at_high[value]]


def _is_whole(name: str) -> bool:
    base = name.partition(".")[0]
    return base in EXPLANATIONS and EXPLANATIONS[base].is_whole
