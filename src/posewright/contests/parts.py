"""Which parts of a robot are its legs and arms, as a recording's header tells how it is built."""

from __future__ import annotations

from collections.abc import Iterator

from posewright.recordings import RobotHeader

_HEAD = ("head", "neck")


def leg_parts(header: RobotHeader) -> frozenset[str]:
    """Return the feet and all links between them and the base."""
    parents = _parents(header)
    return frozenset(link for foot in header.feet for link in _up(foot, parents))


def arm_parts(header: RobotHeader) -> frozenset[str]:
    """Return the links of chains that end in neither a foot nor a head: arms and hands.

    Empty where the header does not say how the robot is built.
    """
    parents, legs = _parents(header), leg_parts(header)
    heads = {name for name in parents if any(word in one for one in _up(name, parents) for word in _HEAD)}
    return frozenset(name for name, parent in parents.items() if parent and name not in legs | heads)


def _parents(header: RobotHeader) -> dict[str, str]:
    return {str(link["name"]): str(link.get("parent") or "") for link in header.links}


def _up(name: str, parents: dict[str, str]) -> Iterator[str]:
    """Go from a link up to the last one below the base."""
    while parents.get(name):
        yield name
        name = parents[name]
    if name not in parents:  # a foot of a robot of which nothing is known
        yield name
