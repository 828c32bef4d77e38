"""Names of joints: what others call and number them, and groups of them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import TypeVar

from posewright.documents import Node

_Key = TypeVar("_Key", int, str)

AS_ITS_JOINTS = frozenset({"webots"})
"""Schemes in which a robot is called as here where its card says nothing else.

Webots has no names of its own: a world calls its motors as whoever made it likes.
"""


def per_joint(node: Node, joints: Sequence[str]) -> list[Node]:
    """Return one node a joint, in the order of `joints`."""
    if isinstance(node.value, dict):
        entries = node.fields(required=joints, optional=())
        return [entries[joint] for joint in joints]
    values = node.items()
    if len(values) != len(joints):
        node.fail(f"{len(values)} values for {len(joints)} joints", hint="one a joint, in the joints' order")
    return values


def parse_naming(node: Node, joints: Sequence[str]) -> dict[str, str]:
    """Read `{names: [one a joint], source: ...}`, or `{names: {joint: name, ...}}` for some of them.

    Returns:
        The robot's joints by the others' names.
    """
    names = node.fields(required=("names",), optional=("source",))["names"]
    if isinstance(names.value, dict):
        entries = names.fields(optional=joints)
    else:
        entries = dict(zip(joints, per_joint(names, joints), strict=True))
    return _each_once("name", ((joint, entry.text(), entry) for joint, entry in entries.items()))


def parse_numbering(node: Node, joints: Sequence[str]) -> dict[int, str]:
    """Read `{ids: [one a joint], source: ...}` into joints by ID, or raise DocumentError."""
    ids = per_joint(node.fields(required=("ids",), optional=("source",))["ids"], joints)
    return _each_once(
        "ID", ((joint, entry.integer(low=0), entry) for joint, entry in zip(joints, ids, strict=True))
    )


def _each_once(what: str, said: Iterable[tuple[str, _Key, Node]]) -> dict[_Key, str]:
    found: dict[_Key, str] = {}
    for joint, key, entry in said:
        if key in found:
            entry.fail(f"{key!r} stands for both {found[key]} and {joint}", hint=f"each {what} once")
        found[key] = joint
    return found


def parse_groups(entries: Iterable[tuple[str, Node]], joints: Collection[str]) -> dict[str, tuple[str, ...]]:
    """Read groups, each of joints or of groups that stand before it; a joint counts once."""
    groups: dict[str, tuple[str, ...]] = {}
    for name, node in entries:
        if name in joints:
            node.fail(f"{name!r} is a joint", hint="give the group another name")
        groups[name] = tuple(dict.fromkeys(_members(node, joints, groups)))
    return groups


def parse_designs(
    node: Node, joints: Collection[str], groups: Mapping[str, tuple[str, ...]]
) -> dict[str, tuple[str, ...]]:
    """Read `{DRX-1000_Head: [joints or groups], ..., source: ...}`: motion files' labels for sets of joints.
    """
    designs = {}
    for label, entry in node.fields().items():
        if label == "source":
            continue
        members = designs[label] = tuple(_members(entry, joints, groups))
        if len(members) != len(set(members)):
            entry.fail("a joint stands here twice")
    return designs


def _members(node: Node, joints: Collection[str], groups: Mapping[str, tuple[str, ...]]) -> Iterator[str]:
    for member in node.items():
        name = member.choice("joint or group", {*joints, *groups})
        yield from groups.get(name, (name,))
