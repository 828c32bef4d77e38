"""The display of `posewright robi watch`: live tables in a terminal, plain lines elsewhere."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import TracebackType
from typing import TYPE_CHECKING

from rich.columns import Columns
from rich.console import Group
from rich.text import Text

from posewright.cli import console
from posewright.display import Styled, Table, format_count, table
from posewright.runtimes.robi.status import Status, status_of

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.live import Live

    from posewright.control import Block
    from posewright.runtimes.robi.controller import RobiController

REFRESH_S = 0.1
"""Time between two updates of the tables [s]."""

MAX_CELLS = 16
"""Number of memory words in the table; the others are only counted."""


TABLE_PREFIX = "table_"
"""Begins the names of the words of the parameter tables, which are too many to list."""

LISTED_ELSEWHERE = frozenset({"posture", "word"})
"""Memory words that have a line of their own."""

LIGHT_BLOCK = "\u2588\u2588"


class LiveView:
    """A watcher that shows the status of a program: tables in a terminal, else a line for every change."""

    def __init__(self, controller: RobiController) -> None:
        self._controller = controller
        self._live: Live | None = None
        self._drawn_s = -REFRESH_S
        self._printed: PrintedStatus | None = None

    def __enter__(self) -> LiveView:
        """Start the live view if the output is a terminal."""
        if sys.stdout.isatty():
            from rich.live import Live

            self._live = Live(console=console.stdout, auto_refresh=False, vertical_overflow="crop")
            self._live.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._live is not None:
            self._live.stop()

    def watch(self, block: Block) -> bool:
        """Show the status after a block; never ends a run."""
        now_s = float(block.states.times[-1])
        if self._live is not None:
            if now_s - self._drawn_s >= REFRESH_S:
                self._drawn_s = now_s
                self._live.update(render_status(now_s, status_of(self._controller)), refresh=True)
            return False
        decision = block.requests.decision
        events = () if decision is None else decision.events
        for _event_name, data in events:
            if data.get("what") == "word":  # a word that the robot hears
                console.print_line(f"{now_s:8.3f} s  word {data['number']} is recognised")
            elif data.get("what") == "unsafe":
                console.print_line(f"{now_s:8.3f} s  {data['message']}")
        status = status_of(self._controller)
        current = PrintedStatus(status.posture, status.label, status.cells, status.lights, status.error)
        if current != self._printed:
            for line in describe_changes(self._printed, current):
                console.print_line(f"{now_s:8.3f} s  {line}")
            self._printed = current
        return False


@dataclass(frozen=True)
class PrintedStatus:
    """The part of a program's status that is printed whenever it changes."""

    posture: str
    label: str
    cells: Mapping[str, int]
    lights: Mapping[str, tuple[float, float, float]]
    error: str


def describe_changes(previous: PrintedStatus | None, current: PrintedStatus) -> Iterator[str]:
    """Yield a line for every change of the status; for everything if there is no previous status."""
    if previous is None or current.posture != previous.posture:
        yield f"posture {current.posture}"
    if previous is None or current.label != previous.label:
        yield f"at {current.label or '-'}"
    old_cells: Mapping[str, int] = {} if previous is None else previous.cells
    old_lights: Mapping[str, tuple[float, float, float]] = {} if previous is None else previous.lights
    yield from _describe_cell_changes(old_cells, current.cells)
    for name, colour in current.lights.items():
        if old_lights.get(name) != colour:
            yield f"{name} {_hex(colour)}"
    if current.error != ("" if previous is None else previous.error):
        yield current.error


def _describe_cell_changes(old_cells: Mapping[str, int], cells: Mapping[str, int]) -> Iterator[str]:
    """Yield a line for every memory word that has changed; those of the parameter tables are only counted.

    A word that has its first value, as before the program, is missing from the cells.
    """
    changed_names = [name for name in {**old_cells, **cells} if old_cells.get(name) != cells.get(name)]
    n_table_cells = sum(name.startswith(TABLE_PREFIX) for name in changed_names)
    if n_table_cells:
        yield f"{format_count(n_table_cells, 'word')} of the parameter tables"
    for name in changed_names:
        if name.startswith(TABLE_PREFIX) or name in LISTED_ELSEWHERE:
            continue
        if name in cells:
            yield f"{name} = {cells[name]:#06x}"
        else:
            yield f"{name} has its first value again"


def render_status(now_s: float, status: Status) -> Group:
    """Return the tables of a status at a time [s]: where the program is, lights, servos and memory."""
    time_left = f"move {status.time_left_s:5.2f} s left"
    heading = f"{now_s:8.2f} s   posture {status.posture}   word {status.word}   {time_left}"
    depth = format_count(len(status.calls), "call")
    position = f"at {status.label or '-'} (0x{status.address:08x}), {depth} deep"
    servos = console.render_item(_servo_table(status))
    cells = console.render_item(_cell_table(status.cells))
    parts: list[RenderableType] = [
        console.render_item(heading),
        console.render_item(position),
        _render_lights(status.lights),
        Columns([servos, cells], padding=(0, 4)),
    ]
    if status.error:
        parts.append(console.render_item(Styled(status.error, "red")))
    return Group(*parts)


def _render_lights(lights: Mapping[str, tuple[float, float, float]]) -> Text:
    """Return a line with a block in the colour of each light, and its name."""
    line = Text("LEDs  ")
    for name, colour in lights.items():
        line.append(LIGHT_BLOCK, _hex(colour))
        line.append(console.printable_line(f" {name}  "))
    return line


def _servo_table(status: Status) -> Table:
    """Return the table of servos: goals, measured angles and torque limits."""
    rows = [
        (
            servo.id,
            servo.joint,
            f"{servo.goal_deg:.1f}",
            f"{servo.measured_deg:.1f}",
            servo.torque_percent,
            "mapped" if servo.is_mapped else "",
        )
        for servo in status.servos
    ]
    return table(("ID", "servo", "goal [deg]", "is [deg]", "torque [%]", ""), rows)


def _cell_table(cells: Mapping[str, int]) -> Table:
    """Return the table of the first memory words that are not in parameter tables; all others are counted.

    Args:
        cells: words of the memory that have changed since power-on, by name.
    """
    listed_names = [name for name in cells if not name.startswith(TABLE_PREFIX)][:MAX_CELLS]
    rows = [(name, f"{cells[name]:#06x}") for name in listed_names]
    n_hidden = len(cells) - len(rows)
    if n_hidden:
        rows.append((f"and {n_hidden} more", ""))
    return table(("memory", "word"), rows)


def _hex(colour: tuple[float, float, float]) -> str:
    """Return a colour, 0..1 each, as `#rrggbb`."""
    return "#" + "".join(f"{round(255 * min(max(part, 0.0), 1.0)):02x}" for part in colour)
