"""Tunings as native documents: `*.tune.yaml`."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

from posewright.bodies import NOMINAL, DomainParameters, draw_domain, domain_randomization_names, domain_randomization
from posewright.documents import Node, parse_document, read_text
from posewright.errors import InputError, UnknownNameError
from posewright.experiments.tuning.bounds import read_dimensions
from posewright.experiments.tuning.task import GaitTask, SearchPlan
from posewright.experiments.tuning.terms import LARGEST_WEIGHT, TERMS, Fall, Term, bounds_of
from posewright.experiments.tuning.walk import Asked, TunedBodies, TunedWalk
from posewright.experiments.walking.many import MOST_BODIES
from posewright.experiments.walking.trial import MOST_S, MOST_SETTLE_S
from posewright.gaits import Gait, gait_names, read_gait
from posewright.kinematics import legs_of
from posewright.robots import Robot, is_path, robot, robot_names
from posewright.robots.catalogue import FOLDER as ROBOTS
from posewright.search.plan import FEWEST, MAX_SEED, MOST_CANDIDATES, WIDEST_SPREAD

FOLDER = "tunes"
SUFFIX = ".tune.yaml"

REQUIRED = ("tune", "robot", "gait", "parameters", "walks", "score")
OPTIONAL = ("description", "source", "bodies", "hold", "search")

GREATEST = "greatest"
FASTEST_M_S, FASTEST_RAD_S = 10.0, 100.0
"""Nobody walks faster; a slip of the pen is refused."""

MOST_WALKS = 100
MOST_GENERATIONS = 1_000_000

_SHARE_SLACK = 1e-9


def tune_names(card: Robot | str | None = None) -> tuple[str, ...]:
    """Return the names of the tunings that ship for a robot, or for any, in alphabetical order."""
    name = card.name if isinstance(card, Robot) else card
    return tuple(sorted({path.name.removesuffix(SUFFIX) for path in _shipped(name)}))


def read_tune(name: str | Path) -> GaitTask:
    """Read a tuning.

    Args:
        name: one of `tune_names()`, or the path of a `*.tune.yaml`.

    Raises:
        DocumentError: the document is not what it should be.
        UnknownNameError: there is no such tuning, robot, gait, parameter, joint, ...
        InputError: tunings of several robots are called so.
    """
    path = _find(name)
    return tune_in(read_text(path), path)


def tune_in(text: str, path: Path | None = None) -> GaitTask:
    """Return the tuning that a text tells of.

    Args:
        text: a tuning's document.
        path: where it comes from, for messages, and for what it names by a path.

    Raises:
        DocumentError, UnknownNameError: as `read_tune`.
    """
    node = parse_document(text, path).fields(required=REQUIRED, optional=OPTIONAL)
    card = _robot(node["robot"], path)
    gait = _gait(node["gait"], card, path)
    return GaitTask(
        name=_name(node["tune"]),
        robot=card,
        gait=gait,
        dimensions=read_dimensions(node["parameters"], gait),
        walks=_walks(node["walks"]),
        bodies=_bodies(node["bodies"], path) if "bodies" in node else TunedBodies(),
        terms=_terms(node["score"]),
        held=_held(node["hold"], card) if "hold" in node else (),
        search=_search(node["search"]) if "search" in node else SearchPlan(),
        description=node["description"].text() if "description" in node else "",
        source=node["source"].text() if "source" in node else "",
        path=path,
    )


def _shipped(robot_name: str | None) -> list[Path]:
    return sorted(ROBOTS.glob(f"{'*' if robot_name is None else robot_name}/{FOLDER}/*{SUFFIX}"))


def _find(name: str | Path) -> Path:
    if is_path(name):
        return Path(name)
    named = [path for path in _shipped(None) if path.name == f"{name}{SUFFIX}"]
    if len(named) == 1:
        return named[0]
    if named:
        raise InputError(f"several robots have a tuning {name}", hint=f"name a file: {named[0]}")
    if Path(name).is_file():
        return Path(name)
    raise UnknownNameError.among("tuning", name, tune_names())


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
    velocities = ("forward_m_s", "left_m_s", "turn_rad_s")
    told = node.fields(optional=(*velocities, "seconds", "settle_s", "weight"))
    most = {"forward_m_s": FASTEST_M_S, "left_m_s": FASTEST_M_S, "turn_rad_s": FASTEST_RAD_S}
    forward, left, turn = (_asked(told[key], most[key]) if key in told else Asked() for key in velocities)
    share = math.hypot(*(one.value for one in (forward, left) if one.is_share))
    if share > 1.0 + _SHARE_SLACK:
        node.fail(
            f"forward and left together are {share:.3g} times the greatest speed",
            hint="shares whose squares add up to 1 at most, such as 0.6 and 0.8",
        )
    return TunedWalk(
        forward,
        left,
        turn,
        **_numbers(told, {"seconds": (0.1, MOST_S), "settle_s": (0.0, MOST_SETTLE_S)}),
        **_weight(told),
    )


def _asked(node: Node, most: float) -> Asked:
    """Return a velocity: a number, `greatest`, or `{greatest: share}`."""
    if isinstance(node.value, dict):
        entry = node.fields(required=(GREATEST,), optional=())[GREATEST]
        return Asked(entry.number(low=-1.0, high=1.0), is_share=True)
    if isinstance(node.value, str):
        node.choice("velocity", (GREATEST,))
        return Asked(1.0, is_share=True)
    return Asked(node.number(low=-most, high=most))


def _weight(told: Mapping[str, Node]) -> dict[str, float]:
    if "weight" not in told:
        return {}
    weight = told["weight"].number(low=0.0, high=LARGEST_WEIGHT)
    if weight == 0.0:
        told["weight"].fail("a walk that does not count", hint="a weight over 0, or leave the walk out")
    return {"weight": weight}


def _numbers(told: Mapping[str, Node], ranges: Mapping[str, tuple[float, float]]) -> dict[str, float]:
    """Return those numbers of `ranges` that are told."""
    return {key: told[key].number(low=low, high=high) for key, (low, high) in ranges.items() if key in told}


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
    return TunedBodies(variations, **_numbers(told, {"worst_share": (0.0, 1.0)}))


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
    entries: dict[str, Any] = {entry.name: entry for entry in fields(kind)}  # type: ignore[arg-type]
    if isinstance(node.value, dict):
        told = node.fields(required=("weight",), optional=entries)
    else:
        told = {"weight": node}
    values = {}
    for key, one in told.items():
        low, high = bounds_of(entries[key])
        values[key] = one.number(low=low, high=high)
    return kind(**values)


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


def _search(node: Node) -> SearchPlan:
    told = node.fields(optional=("generations", "population", "spread"))
    values: dict[str, Any] = {}
    if "generations" in told:
        values["generations"] = told["generations"].integer(low=1, high=MOST_GENERATIONS)
    if "population" in told:
        values["population"] = told["population"].integer(low=FEWEST, high=MOST_CANDIDATES)
    values |= _numbers(told, {"spread": (0.001, WIDEST_SPREAD)})
    return SearchPlan(**values)
