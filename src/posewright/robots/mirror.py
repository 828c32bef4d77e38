"""Mirror pairs: which joints are right and left of the same thing."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from posewright.documents import Node

SIGNS = {"same_sign": 1, "opposite_sign": -1}
"""Keys of `mirror_pairs:` and what they do to an angle."""


@dataclass(frozen=True)
class MirrorPair:
    """Two joints that change places when a pose is mirrored left to right.

    A joint on the middle line is its own partner (`left == right`).

    Attributes:
        left: the joint on the left.
        right: the joint on the right.
        sign: +1 where the mirrored joint has the same angle, -1 where it has the opposite.
    """

    left: str
    right: str
    sign: int


def parse_mirror_pairs(node: Node, joints: Collection[str]) -> tuple[MirrorPair, ...]:
    """Read `{same_sign: [[right, left], ...], opposite_sign: [[right, left], [middle], ...]}`.

    Raises:
        DocumentError: an entry is not one or two joints, or a joint is in two of them.
        UnknownNameError: a name is not among `joints`.
    """
    pairs: list[MirrorPair] = []
    taken: set[str] = set()
    for key, listing in node.fields(optional=(*SIGNS, "source")).items():
        if key == "source":
            continue
        for entry in listing.items():
            pair = _pair(entry, joints, SIGNS[key])
            if taken & {pair.left, pair.right}:
                entry.fail(f"{pair.right} or {pair.left} is in another pair already")
            taken |= {pair.left, pair.right}
            pairs.append(pair)
    return tuple(pairs)


def _pair(entry: Node, joints: Collection[str], sign: int) -> MirrorPair:
    names = [name.choice("joint", joints) for name in entry.items()]
    if len(names) not in (1, 2):
        entry.fail(f"expected one or two joints, found {len(names)}", hint="[right, left] or [middle]")
    if len(names) != len(set(names)):
        entry.fail(f"{names[0]} is paired with itself", hint="a joint on the middle line stands alone")
    return MirrorPair(left=names[-1], right=names[0], sign=sign)
