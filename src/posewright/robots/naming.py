"""Names of joints: what others call and number them, and groups of them."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from posewright.documents import Node


def per_joint(node: Node, joints: Sequence[str]) -> list[Node]:
    """Return one node a joint, in the order of `joints`.

    Raises:
        DocumentError: there are more or fewer values than joints, or one is missing.
        UnknownNameError: a key is not among `joints`.
    """
    if isinstance(node.value, dict):
        entries = node.fields(required=joints, optional=())
        return [entries[joint] for joint in joints]
    values = node.items()
    if len(values) != len(joints):
        node.fail(f"{len(values)} values for {len(joints)} joints", hint="one a joint, in the joints' order")
    return values


AS_ITS_JOINTS = frozenset({"webots"})
"""Schemes in which a robot is called as here where its card says nothing else.

Webots has no names of its own: a world calls its motors as whoever made it likes.
"""


def parse_naming(node: Node, joints: Sequence[str]) -> dict[str, str]:
    """Read `{names: [one a joint], source: ...}`, or `{names: {joint: name, ...}}` for some of them.

    Returns:
        The robot's joints by the others' names.

    Raises:
        DocumentError: a name stands for two joints, or there are more or fewer than joints.
        UnknownNameError: a key is not among `joints`.
    """
    names = node.fields(required=("names",), optional=("source",))["names"]
    naming: dict[str, str] = {}
    for joint, entry in _by_joint(names, joints):
        name = entry.text()
        if name in naming:
            entry.fail(f"{name!r} stands for both {naming[name]} and {joint}", hint="each name once")
        naming[name] = joint
    return naming


def _by_joint(node: Node, joints: Sequence[str]) -> list[tuple[str, Node]]:
    if isinstance(node.value, dict):
        return list(node.fields(optional=joints).items())
    return list(zip(joints, per_joint(node, joints), strict=True))


def parse_designs(
    node: Node, joints: Collection[str], groups: dict[str, tuple[str, ...]]
) -> dict[str, tuple[str, ...]]:
    """Read `{DRX-1000_Head: [joints or groups], ..., source: ...}`: motion files' labels for sets of joints.

    Raises:
        DocumentError: a joint stands twice in one.
        UnknownNameError: a name is neither a joint nor a group.
    """
    designs = {}
    for label, entry in node.fields().items():
        if label == "source":
            continue
        members: list[str] = []
        for member in entry.items():
            name = member.choice("joint or group", {*joints, *groups})
            members += groups.get(name, (name,))
        if len(members) != len(set(members)):
            entry.fail("a joint stands here twice")
        designs[label] = tuple(members)
    return designs
