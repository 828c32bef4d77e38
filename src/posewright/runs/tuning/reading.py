"""Reads tunings of gaits from documents: `*.tune.yaml`."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from posewright.bodies import (
    NOMINAL,
    domain_randomization,
    domain_randomization_names,
    draw_domain,
)
from posewright.controllers import read_page_gait
from posewright.documents import Catalogue, Node, is_path, parse_document, read_record, read_text
from posewright.errors import InputError, UnknownNameError
from posewright.gaits import gait_names, leg_joint_indices, read_gait, read_gait_and_robot
from posewright.robots import Robot, robot, robot_folder, robot_names
from posewright.runs.tuning.score import TERMS, Fall
from posewright.runs.tuning.task import (
    MAX_WEIGHT,
    NOMINAL_SEED,
    GaitTask,
    SearchPlan,
    Term,
    TunableGait,
    TunedBodies,
    TunedWalk,
    VelocityTarget,
)
from posewright.runs.walking.many import MAX_BODIES
from posewright.search import MAX_SEED, Dimension

FOLDER = "tunes"
SUFFIX = ".tune.yaml"

REQUIRED = ("tune", "robot", "gait", "parameters", "walks", "score")
OPTIONAL = ("description", "source", "bodies", "hold", "search")

GREATEST = "greatest"
"""In a document: the greatest velocity of the candidate."""

_MAX_VELOCITIES = {"forward_m_s": 10.0, "left_m_s": 10.0, "turn_rad_s": 100.0}
"""Larger velocities are taken for typing errors [m/s, rad/s]."""

MAX_WALKS = 100

_SHARE_TOLERANCE = 1e-9

_START_EXAMPLE = "{range: [low, high], start: value}"
_RANGE_HINT = f"[low, high], or {_START_EXAMPLE}"


def tune_names(card: Robot | str | None = None) -> tuple[str, ...]:
    """Return the names of the tunings that ship for a robot, or for all, in alphabetical order."""
    robot_name = card.name if isinstance(card, Robot) else card
    return _catalogue(robot_name).names()


@dataclass(frozen=True)
class TuneOverrides:
    """Parts of a tuning that replace those in its document; None for what stays.

    Attributes:
        gait: the gait at which the search starts: a name or a path; it states the robot, too.
        ranges: the sets of bodies, by name or path, from which the random bodies are drawn.
        n_random: number of random bodies.
        n_held_out: number of bodies on which the result is tested.

    Raises:
        InputError: a number is out of range.
    """

    gait: str | None = None
    ranges: tuple[str, ...] | None = None
    n_random: int | None = None
    n_held_out: int | None = None

    def __post_init__(self) -> None:
        for kind, count in (("random", self.n_random), ("held-out", self.n_held_out)):
            if count is not None and not 0 <= count <= MAX_BODIES:
                raise InputError(f"{count} {kind} bodies", hint=f"0 to {MAX_BODIES}")


NO_OVERRIDES = TuneOverrides()

DEFAULT_HELD_OUT = 20
"""Number of bodies on which a result is tested, if it was tuned on random bodies and no number is stated."""


def read_tune(name: str | Path, *, overrides: TuneOverrides = NO_OVERRIDES) -> GaitTask:
    """Read a tuning.

    Args:
        name: one of `tune_names()`, or the path of a `*.tune.yaml`.
        overrides: what replaces parts of the document.

    Raises:
        DocumentError: the document has an error.
        UnknownNameError: there is no tuning, robot, gait, parameter or joint of a name.
        InputError: several robots have tunings of this name.
    """
    path = Path(name) if is_path(name) else _catalogue().find(name)
    return parse_tune(read_text(path), path, overrides=overrides)


def parse_tune(text: str, path: Path | None = None, *, overrides: TuneOverrides = NO_OVERRIDES) -> GaitTask:
    """Return the tuning in a text.

    Args:
        text: the text of the document.
        path: the path of its file, for messages; paths in the document are relative to its folder.
        overrides: what replaces parts of the document; its paths are relative to the working folder.

    Raises:
        DocumentError, UnknownNameError, InputError: as `read_tune`.
    """
    node = parse_document(text, path).fields(required=REQUIRED, optional=OPTIONAL)
    if overrides.gait is None:
        card = _read_robot(node["robot"], path)
        gait = _read_gait(node["gait"], card, path)
    else:
        gait, card = read_gait_and_robot(overrides.gait)
        _require_walking_robot(card, node["robot"])
    return GaitTask(
        name=_read_name(node["tune"]),
        robot=card,
        gait=gait,
        dimensions=_read_dimensions(node["parameters"], gait),
        walks=_read_walks(node["walks"]),
        bodies=_read_bodies(node.get("bodies"), path, overrides),
        terms=_read_terms(node["score"]),
        locked_joints=_read_locked_joints(node["hold"], card) if "hold" in node else (),
        search=read_record(node["search"], SearchPlan, degrees=False) if "search" in node else SearchPlan(),
        description=node["description"].text() if "description" in node else "",
        source=node["source"].text() if "source" in node else "",
        path=path,
    )


def _catalogue(robot_name: str | None = None) -> Catalogue:
    """Return the catalogue of the tunings for one robot, or for all."""
    names = [name for name in robot_names() if robot_name in (None, name)]
    return Catalogue("tuning", SUFFIX, lambda: [robot_folder(name) / FOLDER for name in names])


def _read_name(node: Node) -> str:
    """Read the name of the tuning."""
    name = node.text()
    if not name.strip() or "/" in name or "\\" in name:
        node.fail(f"{name!r} is not a name", hint="a name for the resulting gait, without slashes")
    return name


def _read_robot(node: Node, document_path: Path | None) -> Robot:
    """Read the robot, which needs a model and legs."""
    name = node.text()
    folder = document_path.parent if document_path is not None else Path()
    card = robot(folder / name if is_path(name) else node.choice("robot", robot_names()))
    _require_walking_robot(card, node)
    return card


def _require_walking_robot(card: Robot, node: Node) -> None:
    """Fail at a node unless a robot has a model and legs."""
    if card.model_path is None:
        node.fail(f"{card.name} has no model", hint="a tuning simulates its robot, which needs a model")
    try:
        leg_joint_indices(card)
    except InputError as error:
        node.fail(error.message, hint=error.hint)


def _read_gait(node: Node, card: Robot, document_path: Path | None) -> TunableGait:
    """Read the gait that the search starts at: a name, a path, or a page of a motion file."""
    if isinstance(node.value, dict):
        fields = node.fields(required=("file", "page"))
        folder = document_path.parent if document_path is not None else Path()
        page = fields["page"]
        reference = page.text() if isinstance(page.value, str) else page.integer(low=1)
        with node.locate_errors():
            return read_page_gait(folder / fields["file"].text(), reference, card)
    name = node.text()
    if is_path(name):
        folder = document_path.parent if document_path is not None else Path()
        return read_gait(folder / name, robot=card)
    return read_gait(node.choice("gait", gait_names(card)), robot=card)


def _read_walks(node: Node) -> tuple[TunedWalk, ...]:
    """Read the walks by which candidates are evaluated."""
    entries = node.items()
    if not 1 <= len(entries) <= MAX_WALKS:
        node.fail(
            f"the tuning has {len(entries)} walks",
            hint=f"1 to {MAX_WALKS}, such as {{forward_m_s: {GREATEST}}}",
        )
    return tuple(_read_walk(entry) for entry in entries)


def _read_walk(node: Node) -> TunedWalk:
    """Read one walk: velocities, durations and weight."""
    entries = node.fields(optional=(*_MAX_VELOCITIES, "seconds", "settle_s", "weight"))
    targets = {
        key: _read_velocity(entries[key], maximum) if key in entries else VelocityTarget()
        for key, maximum in _MAX_VELOCITIES.items()
    }
    forward = targets["forward_m_s"]
    left = targets["left_m_s"]
    share = math.hypot(*(target.value for target in (forward, left) if target.is_share))
    if share > 1.0 + _SHARE_TOLERANCE:
        node.fail(
            f"forward and left together are {share:.3g} times the greatest speed",
            hint="shares whose squares add up to at most 1, such as 0.6 and 0.8",
        )
    walk = read_record(
        node,
        TunedWalk,
        extra_keys=_MAX_VELOCITIES,
        degrees=False,
        forward=forward,
        left=left,
        turn=targets["turn_rad_s"],
    )
    if walk.weight == 0.0:
        entries["weight"].fail(
            "a walk of weight 0 does not count", hint="a weight above 0, or leave the walk out"
        )
    return walk


def _read_velocity(node: Node, maximum: float) -> VelocityTarget:
    """Return a velocity that is stated as a number, `greatest`, or `{greatest: share}`."""
    if isinstance(node.value, dict):
        share = node.fields(required=(GREATEST,), optional=())[GREATEST]
        return VelocityTarget(share.number(low=-1.0, high=1.0), is_share=True)
    if isinstance(node.value, str):
        node.choice("velocity", (GREATEST,))
        return VelocityTarget(1.0, is_share=True)
    return VelocityTarget(node.number(low=-maximum, high=maximum))


def _read_bodies(node: Node | None, document_path: Path | None, overrides: TuneOverrides) -> TunedBodies:
    """Return the bodies of a tuning: the nominal one, and bodies that are drawn by seeds.

    The random bodies, and then the held-out ones, have consecutive seeds; they are drawn from the sets of
    bodies in turn.
    """
    keys = ("nominal", "random", "seed", "ranges", "worst_share", "held_out")
    entries = {} if node is None else node.fields(optional=keys)
    has_nominal = entries["nominal"].boolean() if "nominal" in entries else True
    n_random = entries["random"].integer(low=0, high=MAX_BODIES) if "random" in entries else 0
    if overrides.n_random is not None:
        n_random = overrides.n_random
    n_held_out = DEFAULT_HELD_OUT if n_random else 0
    if overrides.n_held_out is not None:
        n_held_out = overrides.n_held_out
    elif "held_out" in entries:
        n_held_out = entries["held_out"].integer(low=0, high=MAX_BODIES)
    first_seed = entries["seed"].integer(low=0, high=MAX_SEED - 2 * MAX_BODIES) if "seed" in entries else 0
    if node is not None and not has_nominal and not n_random:
        node.fail("no body walks", hint="nominal: true, or random: 3")
    ranges: Sequence[str | Path] = ("random",)
    if overrides.ranges is not None:
        ranges = overrides.ranges
    elif "ranges" in entries:
        ranges = _read_ranges(entries["ranges"], document_path)
    sets_of_bodies = [domain_randomization(name) for name in ranges]
    drawn_bodies = [
        (first_seed + number, draw_domain(sets_of_bodies[number % len(ranges)], first_seed + number))
        for number in range(n_random + n_held_out)
    ]
    bodies = drawn_bodies[:n_random]
    if has_nominal:
        bodies.insert(0, (NOMINAL_SEED, NOMINAL))
    return TunedBodies(
        variations=tuple(domain for _, domain in bodies),
        worst_share=entries["worst_share"].number(low=0.0, high=1.0) if "worst_share" in entries else 0.0,
        seeds=tuple(seed for seed, _ in bodies),
        held_out=tuple(drawn_bodies[n_random:]),
    )


def _read_ranges(node: Node, document_path: Path | None) -> list[str | Path]:
    """Return the names or paths of the sets of bodies from which bodies are drawn: one, or a list."""
    entries = node.items() if isinstance(node.value, list) else [node]
    if not entries:
        node.fail("no set of bodies", hint="ranges: random, or a list of names and paths")
    folder = document_path.parent if document_path is not None else Path()
    return [
        folder / name
        if is_path(name := entry.text())
        else entry.choice("set of bodies", domain_randomization_names())
        for entry in entries
    ]


def _read_terms(node: Node) -> tuple[Term, ...]:
    """Read the terms of the score, in the order of `TERMS`."""
    entries = node.fields(required=(Fall.name,), optional=TERMS)
    if len(entries) == 1:
        node.fail("the score has no term besides falls", hint=f"at least one more of {', '.join(TERMS)}")
    return tuple(_read_term(TERMS[name], entries[name]) for name in TERMS if name in entries)


def _read_term(term_class: type[Term], node: Node) -> Term:
    """Return a term; a number alone is its weight."""
    if isinstance(node.value, dict):
        return read_record(node, term_class, degrees=False)
    make_term: Callable[..., Term] = term_class
    return make_term(weight=node.number(low=0.0, high=MAX_WEIGHT))


def _read_locked_joints(node: Node, card: Robot) -> tuple[str, ...]:
    """Read the joints and groups of joints to lock; those of legs are an error."""
    leg_joints = {card.joint_names[index] for index in leg_joint_indices(card)}
    locked_joints: list[str] = []
    for entry in node.items():
        name = entry.choice("joint or group of joints", (*card.joint_names, *card.groups))
        joints = card.groups.get(name, (name,))
        if leg_joints.intersection(joints):
            entry.fail(f"{name} has joints of a leg", hint="only joints that belong to no leg can be held")
        locked_joints += [joint for joint in joints if joint not in locked_joints]
    return tuple(locked_joints)


def _read_dimensions(node: Node, gait: TunableGait) -> tuple[Dimension, ...]:
    """Return what is searched, each by a dotted name that `Gait.with_values` takes."""
    entries = node.fields()
    if not entries:
        node.fail("nothing is searched", hint=f"ground_speed_m_s: {_RANGE_HINT}")
    name_by_key: dict[str, str] = {}
    dimensions = []
    for name, entry in entries.items():
        low, high, start = _read_bounds(entry)
        keys = _gait_keys(entry, name, gait, low, high)
        for key in keys:
            if key in name_by_key:
                entry.fail(f"{key} is set by {name_by_key[key]} too", hint="search it once")
            name_by_key[key] = name
        if start is None:
            start = _gait_value(entry, name, gait, key=keys[0])
            if not low <= start <= high:
                entry.fail(
                    f"the gait has {start:g}, outside {low:g} to {high:g}",
                    hint=f"a range that includes it, or {_START_EXAMPLE}",
                )
        dimensions.append(Dimension(name, low, high, start, is_whole=gait.explanation(name).is_whole))
    return tuple(dimensions)


def _gait_value(node: Node, name: str, gait: TunableGait, key: str) -> float:
    """Return the gait's own value, where the search starts.

    Fails if the name sets several values of the gait that differ.
    """
    value = gait.flat[key]
    if gait.with_values({name: value}).flat != gait.flat:
        node.fail(
            f"the gait has several values for {name}", hint=f"search each by itself, or {_START_EXAMPLE}"
        )
    return value


def _read_bounds(node: Node) -> tuple[float, float, float | None]:
    """Return low, high and the start, which is None if the document states none."""
    if not isinstance(node.value, dict):
        low, high = _read_range(node)
        return low, high, None
    entries = node.fields(required=("range",), optional=("start",))
    low, high = _read_range(entries["range"])
    start = entries["start"].number(low=low, high=high) if "start" in entries else None
    return low, high, start


def _read_range(node: Node) -> tuple[float, float]:
    """Read a range, the lower number first."""
    bounds = node.items()
    if len(bounds) != 2:
        node.fail(f"expected two numbers, found {len(bounds)}", hint=_RANGE_HINT)
    low, high = (bound.number() for bound in bounds)
    if not low < high:
        node.fail(
            f"the range goes from {low:g} to {high:g}",
            hint="the lower number first; leave out a parameter that is not searched",
        )
    return low, high


def _gait_keys(node: Node, name: str, gait: TunableGait, low: float, high: float) -> list[str]:
    """Return the keys of the gait's values that a name sets; fails if the gait does not allow a bound."""
    try:
        values_at_low = gait.with_values({name: low}).flat
        values_at_high = gait.with_values({name: high}).flat
    except UnknownNameError as error:
        raise UnknownNameError(error.message, where=node.where, hint=error.hint) from error
    except InputError as error:
        node.fail(error.message, hint=error.hint)
    return [key for key, value in values_at_low.items() if value != values_at_high[key]]
