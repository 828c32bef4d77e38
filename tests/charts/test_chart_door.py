"""One door for every file that holds a chart: what it is, its first line says."""

from __future__ import annotations

from pathlib import Path

import pytest

from posewright.charts import read_chart
from posewright.charts.formats import MAX_BYTES, ChartFormat, detect_format
from posewright.errors import DocumentError

DOCUMENT = "# a, b\nchart: x\nperiod_s: 1\ninitial: a\nstates: {a: []}\n"
TRUTH_TABLE = "# front\nstate,front,next,go\nhalt,0,halt,0\nhalt,1,walk,1\nwalk,X,walk,1\n"
TRANSITIONS = "# inputs: {front: bool}\nstate,when,go\nhalt,front,walk\nwalk,not front,halt\n"
SCXML = '<scxml xmlns="http://www.w3.org/2005/07/scxml" version="1.0" initial="a"><state id="a"/></scxml>'


@pytest.mark.parametrize(
    ("text", "holder"),
    [
        (DOCUMENT, ChartFormat.DOCUMENT),
        ("{chart: x, period_s: 1}", ChartFormat.DOCUMENT),
        ("", ChartFormat.DOCUMENT),
        ("nothing of all that", ChartFormat.DOCUMENT),
        (TRUTH_TABLE, ChartFormat.TRUTH_TABLE),
        ("q1,q0,front,q1_next,q0_next,s1\n", ChartFormat.TRUTH_TABLE),
        (TRANSITIONS, ChartFormat.TRANSITION_TABLE),
        (SCXML, ChartFormat.SCXML),
        (f'\ufeff\n<?xml version="1.0"?>\n{SCXML}', ChartFormat.SCXML),
    ],
)
def test_a_text_says_what_it_is(text: str, holder: ChartFormat) -> None:
    assert detect_format(text) is holder


@pytest.mark.parametrize(
    ("text", "states"),
    [
        (DOCUMENT, ("a",)),
        (SCXML, ("a",)),
        (TRANSITIONS, ("halt", "walk")),
        (TRUTH_TABLE.split("\n", 1)[1], ("halt", "walk")),
    ],
)
def test_whatever_holds_a_chart_is_read(text: str, states: tuple[str, ...], tmp_path: Path) -> None:
    path = tmp_path / "any.name"
    path.write_text(text)
    assert read_chart(path).state_names == states
    path.write_bytes(b"\xef\xbb\xbf" + text.replace("\n", "\r\n").encode())
    assert read_chart(path).state_names == states


@pytest.mark.parametrize("holder", [ChartFormat.DOCUMENT, ChartFormat.TRUTH_TABLE, ChartFormat.SCXML])
def test_a_file_that_is_too_large_is_refused_where_it_becomes_so(holder: ChartFormat, tmp_path: Path) -> None:
    first = {
        ChartFormat.DOCUMENT: "chart: x\n",
        ChartFormat.TRUTH_TABLE: "state,a,next,o\n",
        ChartFormat.SCXML: "<scxml>\n",
    }[holder]
    path = tmp_path / "large"
    path.write_text(first + (" " * 99 + "\n") * (MAX_BYTES[holder] // 100 + 1))
    with pytest.raises(DocumentError, match=f"larger than {MAX_BYTES[holder]} bytes") as caught:
        read_chart(path)
    assert caught.value.where is not None
    assert caught.value.where.line == MAX_BYTES[holder] // 100 + 1
