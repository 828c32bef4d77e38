"""The legs and arms of a robot, derived from the links in a recording's header."""

from __future__ import annotations

from collections.abc import Iterator

from posewright.recordings import RobotHeader

_HEAD_NAME_PARTS = ("head", "neck")


def leg_parts(header: RobotHeader) -> frozenset[str]:
    """Return the feet and all links between them and the base."""
    parents = _parent_of_links(header)
    return frozenset(link for foot in header.feet for link in _chain_to_base(foot, parents))


def arm_parts(header: RobotHeader) -> frozenset[str]:
    """Return the links of chains without a foot or a head: arms and hands.

    Empty if the header has no links.
    """
    parents = _parent_of_links(header)
    heads = set()
    for name in parents:
        chain = list(_chain_to_base(name, parents))
        if any(part in link for link in chain for part in _HEAD_NAME_PARTS):
            heads.add(name)
    legs = leg_parts(header)
    return frozenset(name for name, parent in parents.items() if parent and name not in legs | heads)


def _parent_of_links(header: RobotHeader) -> dict[str, str]:
    """Return each link's parent; empty for the base."""
    return {str(link["name"]): str(link.get("parent") or "") for link in header.links}


def _chain_to_base(name: str, parents: dict[str, str]) -> Iterator[str]:
    """Yield a link and the links between it and the base, without the base."""
    while parents.get(name):
        yield name
        name = parents[name]
    # a foot of a robot whose links are not in the header
    if name not in parents:
        yield name
