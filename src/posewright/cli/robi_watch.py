"""What `posewright robi watch` shows: tables that are drawn anew for a person, plain lines for a file."""

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
from posewright.display import Styled, format_count, table
from posewright.runtimes.robi.status import Status, status_of

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.live import Live

    from posewright.control import Block
    from posewright.runtimes.robi.controller import RobiController

REFRESH_S = 0.1
"""So often the tables are drawn anew [s]."""

MOST_CELLS = 16
"""So many words of the memory are shown; the others are counted."""


class LiveView:
    """A watcher that shows how a program stands: in a terminal as tables, else a line a change."""

    def __init__(self, controller: RobiController) -> None:
        self._controller = controller
        self._live: Live | None = None
        self._drawn_s = -REFRESH_S
        self._shown: ShownStatus | None = None

    def __enter__(self) -> LiveView:
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
        """Show what is new; never ends a run."""
        now_s = float(block.states.times[-1])
        if self._live is not None:
            if now_s - self._drawn_s >= REFRESH_S:
                self._drawn_s = now_s
                self._live.update(tables(now_s, status_of(self._controller)), refresh=True)
            return False
        decision = block.requests.decision
        for _, data in () if decision is None else decision.events:
            if data.get("what") == "word":
                console.print_line(f"{now_s:8.3f} s  word {data['number']} is recognised")
            elif data.get("what") == "unsafe":
                console.print_line(f"{now_s:8.3f} s  {data['message']}")
        status = status_of(self._controller)
        current = ShownStatus(status.posture, status.label, status.cells, status.lights, status.error)
        if current != self._shown:
            for line in changes(self._shown, current):
                console.print_line(f"{now_s:8.3f} s  {line}")
            self._shown = current
        return False


@dataclass(frozen=True)
class ShownStatus:
    """What of a program's status a file shows, whenever it changes."""

    posture: str
    label: str
    cells: Mapping[str, int]
    lights: Mapping[str, tuple[float, float, float]]
    error: str


def changes(before: ShownStatus | None, now: ShownStatus) -> Iterator[str]:
    """Yield what has changed, in words; where nothing was known, all of it."""
    if before is None or now.posture != before.posture:
        yield f"posture {now.posture}"
    if before is None or now.label != before.label:
        yield f"at {now.label or '-'}"
    cells = now.cells
    old_cells: Mapping[str, int] = {} if before is None else before.cells
    old_lights: Mapping[str, tuple[float, float, float]] = {} if before is None else before.lights
    changed = [name for name in {**old_cells, **cells} if old_cells.get(name) != cells.get(name)]
    tables_changed = sum(name.startswith("table_") for name in changed)
    if tables_changed:
        yield f"{format_count(tables_changed, 'word')} of the parameter tables"
    for name in changed:
        if not name.startswith("table_") and name not in {"posture", "word"}:
            yield f"{name} = {cells[name]:#06x}" if name in cells else f"{name} as it was at first"
    for name, colour in now.lights.items():
        if old_lights.get(name) != colour:
            yield f"{name} {_hex(colour)}"
    if now.error != ("" if before is None else before.error):
        yield now.error


def tables(now_s: float, status: Status) -> Group:
    """Return all that is shown to a person at a time [s]."""
    left = f"move {status.time_left_s:5.2f} s left"
    head = f"{now_s:8.2f} s   posture {status.posture}   word {status.word}   {left}"
    deep = format_count(len(status.calls), "call")
    place = f"at {status.label or '-'} (0x{status.address:08x}), {deep} deep"
    lights = Text("LEDs  ")
    for name, colour in status.lights.items():
        lights.append("\u2588\u2588", _hex(colour))
        lights.append(console.printable_line(f" {name}  "))
    rows = (
        (
            one.id,
            one.joint,
            f"{one.goal_deg:.1f}",
            f"{one.measured_deg:.1f}",
            one.torque_percent,
            "mapped" * one.is_mapped,
        )
        for one in status.servos
    )
    servos = table(("ID", "servo", "goal [deg]", "is [deg]", "torque [%]", ""), rows)
    shown = [(name, f"{value:#06x}") for name, value in status.cells.items() if not name.startswith("table_")]
    more = len(status.cells) - len(shown[:MOST_CELLS])
    cells = table(("memory", "word"), [*shown[:MOST_CELLS], *([(f"and {more} more", "")] if more else [])])
    parts: list[RenderableType] = [
        console.render_item(head),
        console.render_item(place),
        lights,
        Columns([console.render_item(servos), console.render_item(cells)], padding=(0, 4)),
    ]
    if status.error:
        parts.append(console.render_item(Styled(status.error, "red")))
    return Group(*parts)


def _hex(colour: tuple[float, float, float]) -> str:
    return "#" + "".join(f"{round(255 * min(max(part, 0.0), 1.0)):02x}" for part in colour)
