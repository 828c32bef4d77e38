"""SCXML of other tools: layout is passed over, and what is lost is listed before the rest is read."""

from __future__ import annotations

from pathlib import Path

import pytest

from posewright.charts import check_chart, parse_scxml, read_chart, read_scxml_partially
from posewright.charts.formats.scxml.partial import parse_scxml_partially
from posewright.charts.formats.scxml.writer import scxml_text
from posewright.cli.app import run
from posewright.errors import FormatError, InputError

HEAD = '<scxml xmlns="http://www.w3.org/2005/07/scxml" version="1.0" initial="idle" '
QT = 'xmlns:qt="http://www.qt.io/2015/02/scxml-ext">'
NATIVE = """chart: a
kind: statechart
period_s: 1
events: [go]
initial: idle
states:
  idle: {transitions: [{on: go, go: end}]}
  end: {}
"""
DEAD_END = '<state id="idle"><transition event="go" target="end"/></state><state id="end"/>'
LOSSY = f"""{HEAD} exmode="strict" datamodel="ecmascript" xmlns:viz="urn:viz">
<script>function helper() {{ return 1; }}</script>
<datamodel><data id="count" expr="0"/></datamodel>
<state id="idle">
<onentry><script>helper();</script><viz:place x="3"/></onentry>
<invoke type="http" src="x"><param name="a" expr="1"/></invoke>
<transition event="go" cond="helper() == 1" target="run"/>
<transition event="start" target="run"><assign location="count" expr="count + 1"/></transition>
</state>
<state id="run">
<transition event="stop" target="idle"><assign location="gone" expr="1"/></transition>
</state>
</scxml>
"""


def test_the_layout_of_qt_creator_is_passed_over_also_among_actions() -> None:
    info = '<qt:editorinfo movePoint="5;6"/>'
    transition = f'<transition event="go" target="run">{info}</transition>'
    states = f'<state id="idle">{info}<onentry>{info}</onentry>{transition}</state><state id="run"/>'
    chart = parse_scxml(f"{HEAD}{QT}{info}{states}</scxml>")
    assert [state.name for state in chart.states] == ["idle", "run"]
    assert not chart.states[0].entry


EDITED = """<scxml xmlns="http://www.w3.org/2005/07/scxml" version="1.0" initial="walk"
 xmlns:qt="http://www.qt.io/2015/02/scxml-ext" xmlns:viz="urn:viz" viz:zoom="2">
 <qt:editorinfo initialGeometry="10;20;-20;-20;40;40"/>
 <state id="walk" viz:colour="red"><qt:editorinfo geometry="1;2" note="a > b"/>
  <onentry><qt:editorinfo/></onentry>
  <transition event="error.execution" target="stand"><qt:editorinfo movePoint="0;0"/></transition>
  <transition event="stop" target="stand"><qt:editorinfo movePoint="5;6"/></transition>
 </state>
 <state id="stand"><viz:box>caf\u00e9 <viz:b>x</viz:b> y<!-- here --></viz:box></state>
</scxml>
"""


def test_markup_of_other_tools_is_written_back_where_it_was() -> None:
    text = scxml_text(parse_scxml(EDITED))
    lines = [line.strip() for line in text.splitlines()]
    assert 'viz:zoom="2"' in lines[1]
    assert lines[2] == '<qt:editorinfo initialGeometry="10;20;-20;-20;40;40"/>'
    walk = lines.index('<state id="walk" viz:colour="red">')
    assert lines[walk + 1] == '<qt:editorinfo geometry="1;2" note="a > b"/>'
    transition = lines.index('<transition event="stop" target="stand">')
    assert lines[transition + 1] == '<qt:editorinfo movePoint="5;6"/>'
    assert "<viz:box>caf\u00e9 <viz:b>x</viz:b> y<!-- here --></viz:box>" in lines
    assert scxml_text(parse_scxml(text)) == text


def test_markup_of_other_tools_without_a_place_in_the_chart_is_listed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "edited.scxml"
    path.write_text(EDITED)
    markup = read_chart(path).document_markup
    assert markup is not None
    assert markup.n_kept == 6
    # the chart has neither the <onentry> nor the transition on an error, which never occurs
    assert markup.losses == (
        "<qt:editorinfo> in <onentry>, line 5",
        "<qt:editorinfo> in <transition>, line 6",
    )
    assert run(["chart", "convert", str(path), "-o", str(tmp_path / "edited.chart.yaml")]) == 0
    notes = " ".join(capsys.readouterr().err.split())
    assert "markup of another tool is not kept: <qt:editorinfo> in <onentry>, line 5" in notes
    assert "6 elements and attributes of other tools (qt, viz) are not written" in notes


def test_transitions_on_events_of_a_platform_are_listed_as_left_out(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    # https://www.w3.org/TR/scxml/#errorsAndEvents: a processor raises error.execution and others
    error_states = """><state id="idle">
      <transition event="error.*" target="end"/>
      <transition event="go error.send" target="end"/>
    </state><state id="end"/></scxml>"""
    path = tmp_path / "errors.scxml"
    path.write_text(HEAD + error_states)
    chart = read_chart(path)
    assert chart.document_markup is not None
    assert chart.document_markup.ignored_transitions == ((2, "error.*"),)
    (loss,) = parse_scxml_partially(path.read_text()).losses
    assert (loss.line, loss.part) == (2, '<transition event="error.*">')
    assert len(chart.states[0].transitions) == 1
    for verb in (["check", str(path)], ["convert", str(path), "-o", str(tmp_path / "errors.chart.yaml")]):
        run(["chart", *verb])
        notes = " ".join(capsys.readouterr().err.split())
        assert 'line 2: <transition event="error.*"> is left out: its event never occurs' in notes


def test_a_prefix_that_a_document_uses_twice_keeps_its_first_meaning() -> None:
    first = '<state id="idle"><v:a xmlns:v="urn:1"/></state>'
    second = '<state id="end" xmlns:v="urn:2" v:x="1" xmlns:w="urn:3" ><v:a/><w:a/></state>'
    text = f'{HEAD}xmlns:v="urn:0"><v:a/>{first}{second}</scxml>'
    markup = parse_scxml(text).document_markup
    assert markup is not None
    assert markup.namespaces == {"v": "urn:0", "w": "urn:3"}
    assert markup.losses == ("<v:a> in <state>, line 1", "v:x of <state>, line 1")


def test_actions_of_a_foreign_namespace_are_no_layout() -> None:
    with pytest.raises(FormatError, match="place"):
        parse_scxml(f'{HEAD}xmlns:v="urn:v"><state id="idle"><onentry><v:place/></onentry></state></scxml>')


def test_everything_that_is_lost_is_listed_and_the_rest_is_read(tmp_path: Path) -> None:
    path = tmp_path / "lossy.scxml"
    path.write_text(LOSSY)
    partial_chart = read_scxml_partially(path)
    assert [(loss.line, loss.part) for loss in partial_chart.losses] == [
        (1, "exmode of <scxml>"),
        (2, "<script>"),
        (5, "<script>"),
        (5, "<place>"),
        (6, "<invoke>"),
        (7, "<transition>"),
        (11, "<assign>"),
    ]
    assert all(loss.reason for loss in partial_chart.losses)
    idle, running = partial_chart.chart.states
    assert [transition.on for transition in idle.transitions] == [("start",)]
    assert [transition.on for transition in running.transitions] == [("stop",)]


def test_only_the_transition_that_cannot_be_read_is_left_out_of_a_line() -> None:
    guilty = '<transition event="e" cond="f(n)" target="end"/>'
    innocent = '<transition event="go" target="end"/>'
    states = f'<state id="idle">{innocent}{guilty}{innocent}{guilty}{innocent}</state><state id="end"/>'
    partial_chart = parse_scxml_partially(f'{HEAD}datamodel="ecmascript">{states}</scxml>')
    idle, _ = partial_chart.chart.states
    assert [transition.on for transition in idle.transitions] == [("go",)] * 3
    assert [loss.part for loss in partial_chart.losses] == ["<transition>"] * 2


def test_a_loss_that_refers_to_another_line_names_that_line() -> None:
    history = '<history id="back"><transition target="b"/></history>'
    states = f'<state id="idle">\n{history}<state id="b"/>\n{history}</state>'
    (loss,) = parse_scxml_partially(f"{HEAD}>\n{states}</scxml>").losses
    assert (loss.line, loss.part) == (4, "<history>")
    assert loss.reason == "the id 'back' occurs twice (first in line 3)"


def test_convert_writes_nothing_before_the_loss_is_accepted(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "lossy.scxml"
    path.write_text(LOSSY)
    output = tmp_path / "mine.chart.yaml"
    assert run(["chart", "convert", str(path), "-o", str(output)]) == 2
    printed = capsys.readouterr()
    assert "no document can run code" in printed.out
    assert "5 more of the kind" not in printed.err
    assert "--accept-loss" in printed.err
    assert not output.exists()
    assert run(["chart", "convert", str(path), "-o", str(output), "--accept-loss"]) == 0
    assert [state.name for state in read_chart(output).states] == ["idle", "run"]


def test_a_document_without_a_readable_state_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "a.scxml"
    path.write_text(f"{HEAD}></scxml>")
    with pytest.raises(InputError, match="there is no state"):
        read_scxml_partially(path)
    path.write_text("<html/>")
    with pytest.raises(FormatError, match="is not SCXML"):
        read_scxml_partially(path)


def test_the_queue_of_sent_events_is_no_conflict_of_the_document() -> None:
    send = '<onentry><send event="flip" delay="30ms"/></onentry>'
    text = f"""{HEAD.replace("idle", "p")}><parallel id="p">
      <state id="a" initial="a1">
       <state id="a1">{send}<transition event="flip" target="a2"/></state>
       <state id="a2">{send}<transition event="flip" target="a1"/></state>
      </state>
      <state id="b" initial="b1">
       <state id="b1"><transition cond="In('a2')" target="b2"/></state>
       <state id="b2"><transition cond="In('a1')" target="b1"/></state>
      </state></parallel></scxml>"""
    assert check_chart(parse_scxml(text)) == ()


@pytest.mark.parametrize(
    ("name", "text", "advice"),
    [
        ("a.scxml", f"{HEAD}>{DEAD_END}</scxml>", "make it a <final>"),
        ("a.csv", "# events: [go]\nstate,on,go\nidle,go,end\nend,,\n", "write true in the column `final`"),
        ("a.chart.yaml", NATIVE, "set `final: true`"),
    ],
)
def test_advice_is_in_the_words_of_the_file(tmp_path: Path, name: str, text: str, advice: str) -> None:
    (tmp_path / name).write_text(text)
    (finding,) = check_chart(read_chart(tmp_path / name))
    assert advice in finding.message


def test_a_large_document_full_of_errors_is_not_read_hundreds_of_times(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Each round reads all elements again: 2,000 of them in 300 rounds took over ten seconds."""
    monkeypatch.setattr("posewright.charts.formats.scxml.partial.MAX_ELEMENTS_READ", 3000)
    wrong = '<transition event="go" cond="helper()" target="idle"/>\n' * 98
    with pytest.raises(InputError, match="more than 30 parts cannot be read"):
        parse_scxml_partially(f'{HEAD} datamodel="ecmascript">\n<state id="idle">\n{wrong}</state></scxml>')
