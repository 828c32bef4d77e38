"""One value a joint: a list in the order of the joints, or a mapping by joint."""

from __future__ import annotations

from collections.abc import Sequence

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
