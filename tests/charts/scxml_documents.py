"""Documents of other tools, and how the tests run them."""

from __future__ import annotations

from collections.abc import Iterator

from posewright.charts import Chart, Interpreter, Snapshot

HEAD = '<scxml xmlns="http://www.w3.org/2005/07/scxml" version="1.0" datamodel="ecmascript" name="drawn"'


def document(inside: str, **attributes: str) -> str:
    said = "".join(f' {name}="{value}"' for name, value in attributes.items())
    return f"{HEAD}{said}>\n{inside}\n</scxml>"


def states_of(chart: Chart, ticks: int, *events: str) -> list[str]:
    """Return the configuration after each tick; the events come at the second."""
    return [state.state for state in steps_of(chart, ticks, *events)]


def steps_of(chart: Chart, ticks: int, *events: str) -> Iterator[Snapshot]:
    interpreter = Interpreter(chart)
    state = interpreter.initial()
    for tick in range(ticks):
        state = interpreter.step(state, dict.fromkeys(events, True) if tick == 1 else {})
        yield state
