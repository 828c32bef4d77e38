"""Read the coupled limits of a robot's card."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator

from posewright.documents import Node
from posewright.robots.coupling import CoupledLimit, GivenRange
from posewright.robots.joint import parse_range

MAX_ROUNDING_DEG = 5.0
"""More than any table is rounded to."""


def parse_coupled_limits(node: Node, joints: Collection[str]) -> tuple[CoupledLimit, ...]:
    """Read a list of tables; each says what it limits by what, and its rows.

    `{limits: {left_elevator: [left_rotator], right_elevator: [right_rotator]}, rounding_deg: 0.5,
    rows_deg: [[[-115, -76], [-1, 88]], ...], source: ...}`: a row is one range for every given joint, then
    that of the limited one. The same rows may hold for several joints, each with its own given ones.

    Raises:
        DocumentError: a row does not fit its table, or a range is none.
        UnknownNameError: a name is not among `joints`.
    """
    return tuple(row for table in node.items() for row in _table(table, joints))


def _table(node: Node, joints: Collection[str]) -> Iterator[CoupledLimit]:
    fields = node.fields(required=("limits", "rows_deg"), optional=("rounding_deg", "source"))
    rounding = (
        fields["rounding_deg"].number(low=0.0, high=MAX_ROUNDING_DEG) if "rounding_deg" in fields else 0.0
    )
    for joint, entry in fields["limits"].fields(optional=joints).items():
        given = [name.choice("joint", joints) for name in entry.items()]
        if not given or joint in given or len(set(given)) != len(given):
            entry.fail(
                f"{joint} cannot depend on {', '.join(given) or 'nothing'}", hint="other joints, each once"
            )
        for row in fields["rows_deg"].items():
            yield _row(row, joint, given, math.radians(rounding))


def _row(node: Node, joint: str, given: list[str], rounding_rad: float) -> CoupledLimit:
    entries = node.items()
    if len(entries) != len(given) + 1:
        node.fail(
            f"{len(entries)} ranges in a row for {len(given) + 1}",
            hint=f"one each for {', '.join([*given, joint])}",
        )
    *given_ranges, own = (_radians(entry) for entry in entries)
    where = tuple(GivenRange(name, *pair) for name, pair in zip(given, given_ranges, strict=True))
    return CoupledLimit(joint, where, own[0], own[1], rounding_rad)


def _radians(node: Node) -> tuple[float, float]:
    lower, upper = parse_range(node)
    return math.radians(lower), math.radians(upper)
