"""The interpreter and the checks against a plain reference that was written from the page on semantics.

`make fuzz TESTS=tests/charts/test_chart_reference.py` holds them to charts that nobody has seen, and
POSEWRIGHT_CHARTS=3000 to as many.
"""

from __future__ import annotations

import json
import os
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from posewright.charts import Chart, Interpreter, chart_data, check_chart, parse_chart
from posewright.errors import InputError

from .exhaustive import disagreements, facts_of
from .random_charts import charts, rows
from .reference import Reference
from .reference_text import FaultError
from .test_chart_check_laws import strict

MOST_TICKS = 2500
CHARTS = int(os.environ.get("POSEWRIGHT_CHARTS", "15"))


@settings(max_examples=40, deadline=None)
@given(st.data())
def test_a_tick_is_what_the_page_says(data: st.DataObject) -> None:
    drawn = data.draw(
        charts(completion=True, floats=data.draw(st.booleans()), faults=data.draw(st.booleans()))
    )
    reference, interpreter = Reference(drawn), Interpreter(drawn)
    where, state = reference.start(), interpreter.initial()
    for row in data.draw(rows(drawn, 30)):
        inputs = {name: row[name] for name in drawn.inputs}
        try:
            where, _ = reference.tick(where, inputs, [event for event in drawn.events if row[event]])
        except FaultError:
            with pytest.raises(InputError):
                interpreter.step(state, row)
            return
        state = interpreter.step(state, row)
        assert where.active == {*state.active}
        assert dict(zip(reference.variables, where.values, strict=True)) == {**state.outputs, **state.locals}


def written_down(drawn: Chart) -> Chart:
    """Return a chart as it is read again, so that everything has a line."""
    return parse_chart(json.dumps(chart_data(drawn), indent=1))


@settings(max_examples=CHARTS, deadline=None)
@given(st.data())
def test_no_check_denies_what_happens_nor_proves_what_does_not(data: st.DataObject) -> None:
    features: dict[str, Any] = {
        name: data.draw(st.booleans()) for name in ("completion", "timed", "promises", "parallel", "faults")
    }
    drawn = data.draw(charts(max_states=data.draw(st.integers(2, 5)), **features))
    drawn = written_down(strict(drawn) if data.draw(st.booleans()) else drawn)
    facts = facts_of(drawn, MOST_TICKS)
    assert list(disagreements(drawn, list(check_chart(drawn)), facts)) == []
