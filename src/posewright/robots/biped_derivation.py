"""Derivation of a biped's geometry from its model: legs, hips, thighs, shanks and soles."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields

import numpy as np

from posewright.arrays import Floats
from posewright.errors import InputError
from posewright.robots.biped import LEG_PARTS, MAX_LENGTH_M, MIN_SOLE_M, OUTWARDS, SIDES, BipedGeometry
from posewright.robots.geometry import LEFT, RIGHT
from posewright.robots.mechanism import Link, LinkShape, Mechanism, rotation_matrix

AXIS_NAMES = ("x", "y", "z")
LEG_AXES: Mapping[str, int] = {
    "hip_yaw": 2,
    "hip_roll": 0,
    "hip_pitch": 1,
    "knee": 1,
    "ankle_pitch": 1,
    "ankle_roll": 0,
}
"""The axis about which each joint of a leg turns with all joints at 0: 0 is x, 1 is y, 2 is z."""

AXIS_TOLERANCE = 1e-3
"""Greatest deviation of a component of a joint's axis from that of x, y or z: files round."""

OFFSET_TOLERANCE_M = 5e-4
"""Axes that miss each other by less meet, and legs that differ by less mirror each other [m]: files round."""

SOLE_TOLERANCE_M = 1e-3
"""Corners of a foot's shapes that are higher than the lowest by at most this are of its sole [m]."""

CARD_TOLERANCE_M = 2e-3
"""Greatest difference between a length of a card and of its model [m]: ours, for legs measured by hand."""

DIGITS = 6
"""Decimals of derived lengths [m]."""


@dataclass(frozen=True)
class _PlacedLink:
    """A link with its pose in the base's frame, all joints at 0.

    Attributes:
        link: the link.
        rotation: of its frame, `(3, 3)`.
        origin: of its frame, `(3,)` [m].
    """

    link: Link
    rotation: Floats
    origin: Floats


@dataclass(frozen=True)
class _PlacedJoint:
    """A joint of a leg with all joints at 0, in the base's frame.

    Attributes:
        name: of the joint.
        link: name of the link that it moves.
        axis: the direction of its axis, a unit vector `(3,)`.
        point: a point of its axis, `(3,)` [m].
    """

    name: str
    link: str
    axis: Floats
    point: Floats


@dataclass(frozen=True)
class _Leg:
    """A leg as its links have it, with all joints at 0.

    Attributes:
        joints: names of its joints from the trunk to the foot.
        directions: 1 or -1 for each joint.
        foot: name of its foot.
        lengths: the fields of `BipedGeometry` that are lengths, of this leg [m].
    """

    joints: tuple[str, ...]
    directions: tuple[int, ...]
    foot: str
    lengths: Mapping[str, tuple[float, ...]]


def derive_biped(mechanism: Mechanism, feet: Sequence[str]) -> BipedGeometry:
    """Return the geometry of a biped's legs.

    Args:
        mechanism: the robot; x of its base points ahead, y to the left, z up.
        feet: names of the links that are its feet.

    Raises:
        InputError: there are not two feet, a leg does not have the joints of `LEG_PARTS`, its axes do not
            meet, or the legs do not mirror each other.
    """
    if len(feet) != len(SIDES):
        raise InputError(
            f"{mechanism.name} has {len(feet)} feet: {', '.join(feet) or 'none'}", hint="a biped has two"
        )
    placed_links = _place_links(mechanism)
    chains = [_find_chain(foot, placed_links) for foot in feet]
    shared_joints = [joint.name for joint in chains[0] if joint.link in {other.link for other in chains[1]}]
    if shared_joints:
        raise InputError(
            f"{', '.join(shared_joints)} moves both legs",
            hint="the base is the part from which the legs go out",
        )
    legs: dict[str, _Leg] = {}
    for foot, chain in zip(feet, chains, strict=True):
        side, leg = _measure_leg(foot, chain, placed_links)
        if side in legs:
            raise InputError(f"both feet are on the {side}", hint="y of the base points to the left")
        legs[side] = leg
    _require_mirrored(legs)
    right = legs[RIGHT]
    hip_ahead, hip_drop, ankle_drop = (right.lengths[name][0] for name in _SCALARS)
    hip_x, hip_y, hip_z = right.lengths["hip_m"]
    thigh_x, thigh_z = right.lengths["thigh_m"]
    shank_x, shank_z = right.lengths["shank_m"]
    sole_x, sole_y, sole_z = right.lengths["sole_m"]
    sole_length, sole_width = right.lengths["sole_size_m"]
    return BipedGeometry(
        joints={side: legs[side].joints for side in SIDES},
        feet={side: legs[side].foot for side in SIDES},
        directions={side: legs[side].directions for side in SIDES},
        hip_m=(hip_x, hip_y, hip_z),
        hip_ahead_m=hip_ahead,
        thigh_m=(thigh_x, thigh_z),
        shank_m=(shank_x, shank_z),
        sole_m=(sole_x, sole_y, sole_z),
        sole_size_m=(sole_length, sole_width),
        hip_drop_m=hip_drop,
        ankle_drop_m=ankle_drop,
    )


_SCALARS = ("hip_ahead_m", "hip_drop_m", "ankle_drop_m")


def list_biped_differences(card: BipedGeometry, model: BipedGeometry) -> Iterator[str]:
    """Yield what a card says otherwise than its model, each with the model's value.

    Args:
        card: the geometry on the card.
        model: the geometry that `derive_biped` returned for the card's model.
    """
    for side in SIDES:
        if card.feet[side] != model.feet[side]:
            yield f"the foot of the {side} leg is {model.feet[side]}"
        if card.joints[side] != model.joints[side]:
            yield f"the joints of the {side} leg are [{', '.join(model.joints[side])}]"
        elif card.directions[side] != model.directions[side]:
            yield f"the directions of the {side} leg are {list(model.directions[side])}"
    card_lengths = _comparable_lengths(card)
    for name, model_length in _comparable_lengths(model).items():
        if np.abs(np.subtract(card_lengths[name], model_length)).max() > CARD_TOLERANCE_M:
            yield f"{name} is {list(model_length) if len(model_length) > 1 else model_length[0]}"


def _comparable_lengths(geometry: BipedGeometry) -> dict[str, tuple[float, ...]]:
    """Return the lengths of a geometry by field; without a yaw, the hip is where its pitch axis is ahead."""
    lengths = {
        entry.name: tuple(np.atleast_1d(getattr(geometry, entry.name)).tolist())
        for entry in fields(geometry)
        if entry.name.endswith("_m")
    }
    if len(geometry.joints[RIGHT]) < len(LEG_PARTS):
        x, y, z = geometry.hip_m
        lengths["hip_m"] = (x + geometry.hip_ahead_m, y, z)
        lengths["hip_ahead_m"] = (0.0,)
    return lengths


def _place_links(mechanism: Mechanism) -> dict[str, _PlacedLink]:
    """Return the links by name with their poses in the base's frame, all joints at 0."""
    placed_links: dict[str, _PlacedLink] = {}
    for link in mechanism.links:
        if not link.parent:
            placed_links[link.name] = _PlacedLink(link, np.eye(3), np.zeros(3))
            continue
        parent = placed_links[link.parent]
        placed_links[link.name] = _PlacedLink(
            link,
            parent.rotation @ rotation_matrix(link.rotation),
            parent.origin + parent.rotation @ np.array(link.position_m),
        )
    return placed_links


def _find_chain(foot: str, placed_links: Mapping[str, _PlacedLink]) -> list[_PlacedJoint]:
    """Return the joints from the base to a foot."""
    chain = []
    name = foot
    while name:
        entry = placed_links[name]
        hinge = entry.link.hinge
        if hinge is not None:
            axis = entry.rotation @ np.array(hinge.axis)
            chain.append(_PlacedJoint(hinge.name, name, axis / np.linalg.norm(axis), entry.origin))
        name = entry.link.parent
    chain.reverse()
    return chain


def _measure_leg(
    foot: str, chain: Sequence[_PlacedJoint], placed_links: Mapping[str, _PlacedLink]
) -> tuple[str, _Leg]:
    """Return the side of a leg, and the leg.

    Raises:
        InputError: the leg does not have the joints of `LEG_PARTS`, or their axes do not meet.
    """
    joints = tuple(joint.name for joint in chain)
    n_missing = len(LEG_PARTS) - len(chain)
    if n_missing not in {0, 1}:
        raise InputError(
            f"{len(chain)} joints move {foot}: {', '.join(joints) or 'none'}",
            hint=f"a biped's leg has {', '.join(LEG_PARTS)}; the yaw may be missing",
        )
    parts = LEG_PARTS[n_missing:]
    directions = tuple(_find_direction(part, joint) for part, joint in zip(parts, chain, strict=True))
    points = dict(zip(parts, (joint.point for joint in chain), strict=True))
    hip_roll = points["hip_roll"]
    hip_pitch = points["hip_pitch"]
    knee = points["knee"]
    ankle_pitch = points["ankle_pitch"]
    ankle_roll = points["ankle_roll"]
    side = LEFT if hip_roll[1] > 0.0 else RIGHT
    hip_yaw = points.get("hip_yaw", np.array([hip_pitch[0], hip_roll[1], 0.0]))
    for part, point in (("hip_yaw", hip_yaw), ("ankle_roll", ankle_roll)):
        offset_m = abs(float(point[1] - hip_roll[1]))
        if offset_m > OFFSET_TOLERANCE_M:
            name = joints[parts.index(part)]
            roll_name = joints[parts.index("hip_roll")]
            raise InputError(
                f"the axes of {name} and {roll_name} pass each other at {offset_m:.4g} m",
                hint="in a leg that walks in closed form, the axes of yaw and roll are in one plane",
            )
    sole_middle, sole_size = _measure_sole(foot, chain[-1].link, placed_links)
    lengths = {
        "hip_m": (hip_yaw[0], hip_roll[1], hip_roll[2]),
        "hip_ahead_m": (hip_pitch[0] - hip_yaw[0],),
        "hip_drop_m": (hip_roll[2] - hip_pitch[2],),
        "thigh_m": (knee[0] - hip_pitch[0], knee[2] - hip_pitch[2]),
        "shank_m": (ankle_pitch[0] - knee[0], ankle_pitch[2] - knee[2]),
        "ankle_drop_m": (ankle_pitch[2] - ankle_roll[2],),
        "sole_m": (
            sole_middle[0] - ankle_pitch[0],
            sole_middle[1] - hip_roll[1],
            sole_middle[2] - ankle_roll[2],
        ),
        "sole_size_m": tuple(sole_size),
    }
    rounded_lengths = {
        name: tuple(round(float(value), DIGITS) + 0.0 for value in length)  # + 0.0 makes -0.0 a 0.0
        for name, length in lengths.items()
    }
    _require_bounds(foot, rounded_lengths)
    return side, _Leg(joints, directions, foot, rounded_lengths)


def _require_bounds(foot: str, lengths: Mapping[str, tuple[float, ...]]) -> None:
    """Raise InputError unless a card can have the lengths of a leg [m]."""
    for name, length in lengths.items():
        if max(map(abs, length)) > MAX_LENGTH_M:
            raise InputError(
                f"{name} of the leg of {foot} is {list(length)}", hint=f"at most {MAX_LENGTH_M:g} m"
            )
    for name in ("thigh_m", "shank_m"):
        if not any(lengths[name]):
            raise InputError(
                f"{name} of the leg of {foot} is 0", hint="the axes of hip, knee and ankle differ"
            )
    if min(lengths["sole_size_m"]) < MIN_SOLE_M:
        raise InputError(
            f"the sole of {foot} is {list(lengths['sole_size_m'])} m", hint="a foot with a flat lower side"
        )


def _find_direction(part: str, joint: _PlacedJoint) -> int:
    """Return 1 if a joint turns about the axis of its part of the leg, -1 if about the opposite one.

    Raises:
        InputError: it turns about another axis.
    """
    direction = 1 if joint.axis[LEG_AXES[part]] > 0.0 else -1
    expected_axis = direction * np.eye(3)[LEG_AXES[part]]
    if np.abs(joint.axis - expected_axis).max() > AXIS_TOLERANCE:
        x, y, z = joint.axis
        order = ", ".join(f"{name} about {AXIS_NAMES[number]}" for name, number in LEG_AXES.items())
        raise InputError(
            f"{joint.name} turns about [{x:.3g}, {y:.3g}, {z:.3g}], where a leg has its {part}",
            hint=f"from the trunk to the foot {order}; x ahead, y left, z up",
        )
    return direction


def _measure_sole(
    foot: str, last_link: str, placed_links: Mapping[str, _PlacedLink]
) -> tuple[Floats, Floats]:
    """Return the middle of a sole `(3,)` and its length and width `(2,)`, in the base's frame [m].

    Args:
        foot: name of the foot.
        last_link: name of the link that the last joint of the leg moves; what is fixed to it is of the foot.
        placed_links: all links.

    Raises:
        InputError: the foot has no shape.
    """
    corners = [
        corner
        for entry in placed_links.values()
        if _find_moved_link(entry.link, placed_links) == last_link
        for shape in entry.link.shapes
        if shape.is_solid
        for corner in _find_corners(shape, entry)
    ]
    if not corners:
        raise InputError(f"{foot} has no shape that collides", hint="a sole is the lowest side of its shapes")
    points = np.array(corners)
    lowest = float(points[:, 2].min())
    sole_corners = points[points[:, 2] <= lowest + SOLE_TOLERANCE_M]
    low = sole_corners.min(axis=0)
    high = sole_corners.max(axis=0)
    middle = (low + high) / 2.0
    middle[2] = lowest
    return middle, (high - low)[:2]


def _find_moved_link(link: Link, placed_links: Mapping[str, _PlacedLink]) -> str:
    """Return the name of the link of a rigid body that has its hinge, or of the base."""
    while link.hinge is None and link.parent:
        link = placed_links[link.parent].link
    return link.name


def _find_corners(shape: LinkShape, entry: _PlacedLink) -> Iterator[Floats]:
    """Yield the corners of a shape's bounding box in the base's frame, `(3,)` each [m]."""
    rotation = rotation_matrix(shape.rotation)
    for signs in itertools.product((-0.5, 0.5), repeat=3):
        corner = np.array(shape.position_m) + rotation @ (np.array(signs) * np.array(shape.size_m))
        yield entry.origin + entry.rotation @ corner


def _require_mirrored(legs: Mapping[str, _Leg]) -> None:
    """Raise InputError unless two legs mirror each other."""
    right = legs[RIGHT]
    left = legs[LEFT]
    if len(right.joints) != len(left.joints):
        raise InputError(
            f"the legs have {len(right.joints)} and {len(left.joints)} joints",
            hint="the legs of a biped mirror each other",
        )
    for name, right_length in right.lengths.items():
        mirror = np.ones(len(right_length))
        if name in {"hip_m", "sole_m"}:
            mirror[1] = OUTWARDS[LEFT] * OUTWARDS[RIGHT]
        difference = np.abs(mirror * right_length - np.array(left.lengths[name])).max()
        if difference > OFFSET_TOLERANCE_M:
            raise InputError(
                f"{name} of the legs differs: right {list(right_length)}, left {list(left.lengths[name])}",
                hint="the legs of a biped mirror each other",
            )
