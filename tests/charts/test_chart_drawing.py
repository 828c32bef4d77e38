"""Pictures: well-formed, nothing hidden, nothing that a chart's words could break."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import posewright
from posewright.charts import Chart, draw_mermaid, draw_svg, parse_chart, read_chart
from posewright.charts.drawing import LabelStyle
from posewright.charts.drawing.svg import compose_picture
from posewright.errors import UnknownNameError

BEHAVIOURS = Path(posewright.__file__).parent / "robots/catalogue/robotis_bioloid/behaviours"
SVG = "{http://www.w3.org/2000/svg}"
HEAD = """\
chart: c
kind: mealy
period_s: 0.1
inputs: {a: bool, n: int8}
outputs: {x: bool}
initial: s0
states:
"""


@st.composite
def charts(draw: st.DrawFn) -> Chart:
    count = draw(st.integers(1, 10))
    text = HEAD
    for i in range(count):
        goals = sorted(draw(st.sets(st.integers(0, count - 1), max_size=4)) | {(i + 1) % count})
        rows = ", ".join(f"{{when: n == {goal}, do: {{x: {goal % 2}}}, go: s{goal}}}" for goal in goals)
        text += f"  s{i}: [{rows}]\n"
    return parse_chart(text)


@pytest.mark.parametrize("name", ["obstacle_mealy", "obstacle_mealy_table"])
@pytest.mark.parametrize("style", list(LabelStyle))
def test_a_shipped_chart_is_drawn_with_every_state_and_nothing_hidden(name: str, style: LabelStyle) -> None:
    chart = read_chart(BEHAVIOURS / f"{name}.chart.yaml")
    root = ET.fromstring(draw_svg(chart, active="walking", style=style))  # noqa: S314 -- our own text
    texts = [text.text for text in root.iter(f"{SVG}text")]
    assert set(chart.state_names) <= set(texts)
    assert sum("active" in box.get("class", "") for box in root.iter(f"{SVG}rect")) == 1
    assert hidden(chart, style) == 0


def hidden(chart: Chart, style: LabelStyle = LabelStyle.AUTO) -> float:
    scene = compose_picture(chart, style, {}).scene
    labels = [routed_link.label_box for routed_link in scene.routed_links if routed_link.label_box]
    return sum(a.overlap(b) for a, b in combinations([*labels, *scene.boxes.values()], 2))


@settings(max_examples=12, deadline=None)
@given(charts())
def test_no_label_hides_a_state_or_another_label(chart: Chart) -> None:
    assert hidden(chart) == 0


def test_signs_say_the_rows_and_the_caption_says_what_they_mean() -> None:
    text = draw_svg(read_chart(BEHAVIOURS / "obstacle_mealy.chart.yaml"))
    assert ">01X/10<" in text
    assert "w v u / s1 s0    X = either    w = right, v = left, u = front" in text


def test_numbers_have_a_key() -> None:
    rows = ", ".join(f"{{when: n > {i} and n < {i + 100} and a, do: {{x: 1}}, go: s0}}" for i in range(4))
    text = draw_svg(parse_chart(f"{HEAD}  s0: [{rows}]\n"), style=LabelStyle.NUMBERS)
    assert ">1  2  3  4<" in text
    assert "   3  [n &gt; 2 and n &lt; 102 and a] / x=1 -&gt; s0" in text


def test_words_that_would_fill_more_than_two_pages_become_numbers() -> None:
    rows = [f"{{when: n > {i} and n < {i + 100} and a, do: {{x: 1}}, go: s0}}" for i in range(90)]
    few, many = (draw_svg(parse_chart(f"{HEAD}  s0: [{', '.join(rows[:count])}]\n")) for count in (4, 90))
    assert "[n &gt; 2 and n &lt; 102 and a]" in few
    assert "  90  [n &gt; 89 and n &lt; 189 and a] / x=1 -&gt; s0" in many


def test_the_same_chart_is_always_drawn_the_same() -> None:
    chart = read_chart(BEHAVIOURS / "obstacle_mealy.chart.yaml")
    assert draw_svg(chart) == draw_svg(chart)


def test_mermaid_has_every_arrow_and_escapes_its_own_signs() -> None:
    states = '  s0: [{when: n < 3 and n % 2 == 1, go: end}]\n  end: []\n  "00": []\n'
    text = draw_mermaid(parse_chart(HEAD + states))
    lines = [line.strip() for line in text.splitlines()]
    assert lines[0] == "stateDiagram-v2"
    assert 'state "end" as state_end' in lines
    assert 'state "00" as state_00' in lines
    assert "[*] --> s0" in lines
    assert "s0 --> state_end : #91;n #60; 3 and n #37; 2 == 1#93;" in lines


def test_mermaid_marks_the_active_state() -> None:
    text = draw_mermaid(read_chart(BEHAVIOURS / "obstacle_mealy.chart.yaml"), active="walking")
    assert "class walking active" in text
    assert "stopped --> turning_left : 001/01<br/>1XX/01" in text


def test_an_unknown_state_cannot_be_active() -> None:
    chart = read_chart(BEHAVIOURS / "obstacle_mealy.chart.yaml")
    for draw in (draw_svg, draw_mermaid):
        with pytest.raises(UnknownNameError, match="did you mean walking"):
            draw(chart, active="walkin")
