"""Where the joints stand in the picture of a motion: limbs side by side, head and tail above and below.

Everything is counted in cells, rows from the top and columns from the left.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from posewright.figures.motion.content import Content

LIMBS = 3
"""From so many limbs alike on they stand side by side, joint beside joint: the legs of an AIBO."""

MOST_COLUMNS = 4
MANY_JOINTS = 12
"""More joints than these are laid out in up to four columns, fewer in up to two."""

TALLEST = 9
"""No column is taller than this: a robot without groups is laid out in rows."""

LEAST_SPAN_DEG = 10.0
"""No panel shows less, so that a tremble does not look like a kick."""

ROOM = 1.2
"""A panel shows so much more than the joint travels."""

ATTITUDE = "as the file has it [deg]"
TRUNK = "base attitude"
ATTITUDE_COLUMNS = 2


@dataclass(frozen=True)
class Cell:
    """A panel's place.

    Attributes:
        row: from the top.
        column: from the left.
        joint: whose panel it is; `ATTITUDE` for the base's.
        span_deg: how much the panel shows; those to be compared show as much.
        heading: what stands above it, mostly nothing.
        columns: how many columns it is wide.
    """

    row: int
    column: int
    joint: str
    span_deg: float = LEAST_SPAN_DEG
    heading: str = ""
    columns: int = 1


@dataclass(frozen=True)
class Gap:
    """A place of so many cells without panels, its upper left one at `row` and `column`."""

    row: int
    column: int
    columns: int
    rows: int


@dataclass(frozen=True)
class Layout:
    """All panels."""

    cells: tuple[Cell, ...]

    @property
    def rows(self) -> int:
        """How many they fill."""
        return 1 + max(cell.row for cell in self.cells)

    @property
    def columns(self) -> int:
        """How many they fill."""
        return max(cell.column + cell.columns for cell in self.cells)

    @cached_property
    def heights(self) -> tuple[int, ...]:
        """Rows down to the lowest panel, by column."""
        return tuple(
            max((c.row + 1 for c in self.cells if c.column <= column < c.column + c.columns), default=0)
            for column in range(self.columns)
        )

    def is_lowest(self, cell: Cell) -> bool:
        """Tell whether nothing stands below."""
        return max(self.heights[cell.column : cell.column + cell.columns]) == cell.row + 1

    @property
    def gap(self) -> Gap:
        """The largest place at the foot of the page where no panel stands."""
        spans = [(i, j) for i in range(self.columns) for j in range(i + 1, self.columns + 1)]
        gaps = [Gap(max(self.heights[i:j]), i, j - i, self.rows - max(self.heights[i:j])) for i, j in spans]
        return max(gaps, key=lambda gap: (gap.rows * gap.columns, gap.columns))


def laid_out(content: Content) -> Layout:
    """Return where every panel stands."""
    limbs = _limbs(content)
    if limbs:
        cells = [*_side_by_side(content, limbs)]
    else:
        cells = [*_stacked(content)]
        if max(cell.row for cell in cells) >= TALLEST:
            cells = [*_in_rows(content, content.shown, 0, MOST_COLUMNS)]
    if content.attitude is not None:
        cells.append(_attitude(Layout(tuple(cells))))
    return Layout(tuple(cells))


def _limbs(content: Content) -> list[tuple[str, ...]]:
    """Return the joints of limbs that are alike, where there are many: as long, and left or right."""
    paired = {joint for pair in content.robot.mirror_pairs for joint in (pair.left, pair.right)}
    known = [content.robot.groups.get(group, ()) for group in content.groups]
    sided = [joints for joints in known if len(joints) > 1 and paired.issuperset(joints)]
    lengths = [len(joints) for joints in sided]
    alike = [joints for joints in sided if len(joints) == max(lengths, key=lengths.count)]
    return alike if len(alike) >= LIMBS else []


def _side_by_side(content: Content, limbs: Sequence[tuple[str, ...]]) -> Iterator[Cell]:
    """Yield a row of what comes before the limbs, the limbs in columns, and rows of all the rest."""
    order, width = content.motion.joints, len(limbs)
    members = {joint for joints in limbs for joint in joints}
    others = [joint for joint in content.shown if joint not in members]
    first = min(order.index(joint) for joint in members.intersection(order))
    before = [joint for joint in others if order.index(joint) < first][:width]
    if before and len(others) <= width:
        before = others  # one row holds head and tail
    yield from _in_rows(content, before, 0, width)
    top = 1 if before else 0
    ranks = [joints for joints in zip(*limbs, strict=True) if not set(joints).isdisjoint(content.shown)]
    for row, joints in enumerate(ranks, top):
        span = _span(content, joints)
        for column, joint in enumerate(joints):
            if joint in order:
                yield Cell(row, column, joint, span, _group(content, limbs[column]) if row == top else "")
    yield from _in_rows(content, [j for j in others if j not in before], top + len(ranks), width)


def _in_rows(content: Content, joints: Sequence[str], top: int, width: int) -> Iterator[Cell]:
    groups = {joint: group for group, members in content.groups.items() for joint in members}
    for place, joint in enumerate(joints):
        group = groups[joint]
        heading = group if joint == content.groups[group][0] else ""
        span = _span(content, content.groups[group])
        yield Cell(top + place // width, place % width, joint, span, heading)


def _stacked(content: Content) -> Iterator[Cell]:
    """Yield every group as a stack, where there is room: right beside left, legs below arms."""
    most = MOST_COLUMNS if len(content.shown) > MANY_JOINTS else MOST_COLUMNS // 2
    heights = [0] * min(len(content.groups), most)
    for group, joints in content.groups.items():
        column = heights.index(min(heights))
        for row, joint in enumerate(joints, heights[column]):
            heading = group if joint == joints[0] else ""
            yield Cell(row, column, joint, _span(content, joints), heading)
        heights[column] += len(joints)


def _attitude(layout: Layout) -> Cell:
    """Return where the base's attitude stands: where there is room at the foot, else in a row of its own."""
    gap = layout.gap
    row, column, room = (gap.row, gap.column, gap.columns) if gap.rows else (layout.rows, 0, layout.columns)
    return Cell(row, column, ATTITUDE, heading=TRUNK, columns=min(ATTITUDE_COLUMNS, room))


def _span(content: Content, joints: Sequence[str]) -> float:
    shown = [joint for joint in joints if joint in content.motion.joints]
    return max(LEAST_SPAN_DEG, *(content.span(joint) * ROOM for joint in shown))


def _group(content: Content, joints: tuple[str, ...]) -> str:
    return next(name for name, members in content.robot.groups.items() if members == joints)
