"""The sequence diagram of OPEN-R objects: a lifeline for each, and their messages from top to bottom."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Literal

from posewright.errors import InputError
from posewright.figures.style import COLOURS, FAINT, GREY, INK, WRONG, axes_at, canvas, label_figure, styled
from posewright.recordings import Recording
from posewright.runtimes.openr.flow import (
    MESSAGE_KINDS,
    STATE,
    MessageLoop,
    entries_of,
    fold_repetitions,
    format_label,
    objects_in,
    sender_and_receiver,
)
from posewright.runtimes.openr.kernel import LogEntry

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from posewright.figures.style import Canvas

# Measures [in].
HEAD = 0.32
TITLE = 0.42
FOOT = 0.2
ROW = 0.24
TIME = 0.75
EDGE = 0.3
MIN_COLUMN_GAP = 1.5
LETTER = 0.062
"""The greatest width of a letter of a label."""

SIZE = 7.0
"""Font size [points]."""

MAX_ROWS = 400
"""Greatest number of messages in a picture; later ones are only counted."""

_FILLS = {STATE: "#dcebf5", "refused": "#fdeecb", "silent": "#f8d7d3"}


@dataclass(frozen=True, slots=True)
class _MessageRow:
    """A message with its vertical position."""

    entry: LogEntry
    y: float  # from the top [in]
    label: str


@dataclass(frozen=True, slots=True)
class _LoopBox:
    """A box around the rows of a loop, with its vertical extent [in]."""

    top: float
    bottom: float
    label: str
    object_names: tuple[str, ...]


@styled("drawing a sequence diagram")
def draw_sequence(recording: Recording, *, figure: Canvas | None = None) -> Figure:
    """Draw the messages between OPEN-R objects: a column for each object, time downwards, states in boxes.

    A message is an arrow, an answer a dashed one. Repeated sequences are drawn once, in a box with their
    number.

    Args:
        recording: the recording of OPEN-R objects.
        figure: a figure, or a part of one, to draw into; default a new one.

    Raises:
        InputError: the recording has no messages of OPEN-R objects.
    """
    entries = entries_of(recording)
    if not entries:
        raise InputError(
            "the recording has no messages of OPEN-R objects", hint="use a recording of `posewright aibo run`"
        )
    rows, loops, n_omitted = _lay_out(fold_repetitions(entries))
    names = objects_in(row.entry for row in rows)
    columns, right = _columns(names, rows)
    depth = max([HEAD, *(row.y for row in rows), *(loop.bottom for loop in loops)]) + ROW
    header = next(iter(recording.header.robots.values()))
    width = right + EDGE
    height = TITLE + depth + FOOT
    diagram = canvas(figure, (width, height), dpi=150)
    title = f"{header.controller} on {header.robot}"
    diagram.text(EDGE / width, 1.0 - 0.26 / height, title, fontsize=11, weight="bold", parse_math=False)
    axes = axes_at(diagram, page=(width, height), left=0.0, top=TITLE, width=width, height=depth)
    axes.set(xlim=(0.0, width), ylim=(depth, 0.0))  # in inches, from the top down
    axes.axis("off")
    for name, x in columns.items():
        axes.plot([x, x], [HEAD, depth], color=FAINT, linewidth=1.0, zorder=1)
        _write(axes, x, y=0.5 * HEAD, text=name, fill="white", edge=INK, weight="bold", fontsize=SIZE + 0.5)
    for loop in loops:
        _draw_loop(axes, loop, columns)
    last_s = None
    for row in rows:
        if row.entry.time_s != last_s:  # only the first row of each time has a label
            last_s = row.entry.time_s
            _write(axes, TIME, row.y, text=f"{last_s:.3f} s", color=GREY, ha="right")
        _draw_row(axes, row, columns)
    if n_omitted:
        note = f"... and {n_omitted} more; see --json and --show-messages"
        diagram.text(EDGE / width, 0.06 / height, note, fontsize=SIZE, color=GREY)
    return label_figure(diagram, title)


def _lay_out(steps: Sequence[MessageLoop]) -> tuple[list[_MessageRow], list[_LoopBox], int]:
    """Return the rows and the boxes of loops from top to bottom, and the number of messages left out.

    A step that is repeated has a box around its messages. One that does not fit into `MAX_ROWS` is left out.

    Args:
        steps: sequences of messages, each repeated `n_repetitions` times.
    """
    rows: list[_MessageRow] = []
    loops: list[_LoopBox] = []
    y = HEAD + ROW  # of the next row, from the top [in]
    n_omitted = 0
    for step in steps:
        if len(rows) + len(step.body) > MAX_ROWS:
            n_omitted += len(step.body) * step.n_repetitions
            continue
        is_repeated = step.n_repetitions > 1
        box_top = y - 0.3 * ROW
        if is_repeated:
            y += ROW  # for the label of the box
        for entry in step.body:
            rows.append(_MessageRow(entry, y + 0.25 * ROW, format_label(entry)))
            y += ROW
        if is_repeated:
            object_names = tuple(name for entry in step.body for name in sender_and_receiver(entry))
            loops.append(
                _LoopBox(
                    box_top,
                    bottom=y - 0.3 * ROW,
                    label=f"{step.n_repetitions} times, until {step.until_s:.3f} s",
                    object_names=object_names,
                )
            )
            y += 0.5 * ROW
    return rows, loops, n_omitted


def _columns(names: Sequence[str], rows: Sequence[_MessageRow]) -> tuple[dict[str, float], float]:
    """Return the x position of each lifeline, and the right end of the diagram [in].

    Neighbours are as far apart as the labels between them need. An object's message to itself, or a note
    about it, may need room at the left of the first lifeline or at the right of the last.
    """
    column_indices = {name: index for index, name in enumerate(names)}
    gaps = [
        max(MIN_COLUMN_GAP, 0.5 * (_width(left) + _width(right)) + 0.3) for left, right in pairwise(names)
    ]
    room_left = room_right = 0.5 * max(_width(names[0]), _width(names[-1]))
    for row in rows:
        left, right = sorted(column_indices[name] for name in sender_and_receiver(row.entry))
        width = _width(row.label)
        if left == right:
            room_left = max(room_left, 0.5 * width - sum(gaps[:left]))
            room_right = max(room_right, 0.5 * width - sum(gaps[left:]))
            continue
        missing = width + 0.3 - sum(gaps[left:right])
        if missing > 0.0:
            for gap in range(left, right):
                gaps[gap] += missing / (right - left)
    first_x = TIME + EDGE + room_left
    columns = {name: first_x + sum(gaps[:index]) for name, index in column_indices.items()}
    return columns, columns[names[-1]] + room_right


def _width(text: str) -> float:
    return LETTER * len(text) + 0.16


def _draw_loop(axes: Axes, loop: _LoopBox, columns: dict[str, float]) -> None:
    """Draw the box around the messages of a loop, with its label."""
    from matplotlib.patches import Rectangle

    lifelines = [columns[name] for name in loop.object_names]
    left = min(lifelines) - 0.25
    right = max(lifelines) + 0.25
    right = max(right, left + _width(loop.label) + 0.1)
    frame = Rectangle((left, loop.top), right - left, loop.bottom - loop.top)
    frame.set(facecolor="#f7f7f5", edgecolor=GREY, linewidth=0.7, zorder=0.5)
    axes.add_patch(frame)
    _write(
        axes, x=left + 0.06, y=loop.top + 0.4 * ROW, text=loop.label, ha="left", color=GREY, style="italic"
    )


def _draw_row(axes: Axes, row: _MessageRow, columns: dict[str, float]) -> None:
    """Draw a message as an arrow between two objects, or an entry of one object as a note.

    Args:
        axes: the axes to draw into.
        row: the message or entry, with its height.
        columns: the x of each object's line, by name.
    """
    sender, receiver = (columns[name] for name in sender_and_receiver(row.entry))
    kind = row.entry.kind
    if kind not in MESSAGE_KINDS:
        _write(axes, sender, row.y, text=row.label, fill=_FILLS.get(kind, "#f2f2f0"))
        return
    colours = {"silent": WRONG, "notify": COLOURS[0]}
    colour = colours.get(kind, GREY)
    arrow = {
        "arrowstyle": "-|>,head_width=0.18,head_length=0.35",
        "shrinkA": 0,
        "shrinkB": 0,
        "color": colour,
        "linewidth": 0.9,
        "linestyle": "solid" if kind == "notify" else (0, (4, 2)),
    }
    if sender == receiver:
        arrow["connectionstyle"] = "arc3,rad=-1.2"
    axes.annotate("", (receiver, row.y), (sender, row.y), arrowprops=arrow, zorder=2)
    _write(axes, x=0.5 * (sender + receiver), y=row.y - 0.02, text=row.label, va="bottom", color=colour)


def _write(
    axes: Axes,
    x: float,
    y: float,
    text: str,
    *,
    ha: Literal["left", "center", "right"] = "center",
    va: Literal["center", "bottom"] = "center",
    fontsize: float = SIZE,
    color: str = INK,
    weight: str = "normal",
    style: Literal["normal", "italic"] = "normal",
    fill: str = "",
    edge: str = GREY,
) -> None:
    """Write a text, in a box if `fill` is a colour."""
    box = {"boxstyle": "round,pad=0.25", "facecolor": fill, "edgecolor": edge, "linewidth": 0.7}
    axes.text(
        x,
        y,
        text,
        ha=ha,
        va=va,
        fontsize=fontsize,
        color=color,
        weight=weight,
        style=style,
        parse_math=False,
        zorder=3,
        bbox=box if fill else None,
    )
