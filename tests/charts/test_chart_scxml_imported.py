"""SCXML documents of other tools, read as charts; what is outside the subset or hostile is refused."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from posewright.charts import (
    BoolType,
    Chart,
    ChartKind,
    EnumType,
    FloatType,
    Interpreter,
    IntType,
    Snapshot,
)
from posewright.charts.formats import parse_scxml, scxml_text
from posewright.charts.model import Otherwise, Priority, StepMode
from posewright.errors import ExpressionError, FormatError, InputError

from .work import counted

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


def test_a_document_of_another_tool_runs_to_completion_and_takes_the_first_transition() -> None:
    chart = parse_scxml(document('<state id="a"><transition target="b"/></state><state id="b"/>'))
    assert (chart.kind, chart.steps) == (ChartKind.STATECHART, StepMode.COMPLETION)
    assert (chart.priority, chart.otherwise) == (Priority.ORDERED, Otherwise.STAY)
    assert states_of(chart, 1) == ["b"]


def test_types_follow_from_what_is_assigned_and_compared() -> None:
    chart = parse_scxml(
        document("""
        <datamodel>
          <data id="count" expr="0"/> <data id="speed" expr="1"/> <data id="on" expr="false"/>
          <data id="mode" expr="'slow'"/> <data id="last"/>
        </datamodel>
        <state id="a">
          <onentry>
            <assign location="speed" expr="speed / 2"/> <assign location="last" expr="mode"/>
          </onentry>
          <transition event="go" cond="mode === 'fast' &amp;&amp; !on" target="a"/>
        </state>
        """)
    )
    texts = EnumType(("slow", "fast"))
    assert chart.outputs["count"] == IntType()
    assert chart.outputs["speed"] == FloatType()
    assert chart.outputs["on"] == BoolType()
    assert (chart.outputs["mode"], chart.outputs["last"]) == (texts, texts)
    assert str(chart.state("a").transitions[0].when) == "mode == fast and (not on)"


def test_a_comparison_with_a_text_is_a_truth_value_and_no_text() -> None:
    chart = parse_scxml(
        document("""
        <datamodel>
          <data id="m" expr="'stand'"/> <data id="x" expr="false"/> <data id="z"/>
        </datamodel>
        <state id="a">
          <onentry>
            <assign location="x" expr="m == 'walk'"/>
            <assign location="z" expr="'on' if m == 'walk' else 'off'"/>
          </onentry>
        </state>
        """)
    )
    assert chart.outputs["x"] == BoolType()
    assert chart.outputs["m"] == EnumType(("stand", "walk"))
    assert chart.outputs["z"] == EnumType(("on", "off"))


def test_a_number_alone_is_a_condition_that_it_is_not_zero() -> None:
    data = '<datamodel><data id="n" expr="2"/></datamodel>'
    states = '<state id="a"><transition cond="n" target="b"/></state><state id="b"/>'
    assert states_of(parse_scxml(document(data + states)), 1) == ["b"]


def test_a_prefix_and_a_star_stand_for_the_events_of_the_document() -> None:
    chart = parse_scxml(
        document("""
        <state id="a">
          <onentry><raise event="move.left"/><raise event="move.right"/><raise event="moves"/></onentry>
          <transition event="move" target="b"/> <transition event="*" target="c"/>
        </state>
        <state id="b"/> <state id="c"/>
        """)
    )
    assert chart.local_events == ("move_left", "move_right", "moves")
    assert [one.on for one in chart.state("a").transitions] == [
        ("move_left", "move_right"),
        chart.local_events,
    ]


def test_an_event_that_the_document_only_listens_to_comes_from_outside() -> None:
    chart = parse_scxml(document('<state id="a"><transition event="go" target="b"/></state><state id="b"/>'))
    assert chart.events == ("go",)
    assert states_of(chart, 3, "go") == ["a", "b", "b"]


def test_a_name_that_two_sorts_of_things_have_is_given_out_once() -> None:
    data = '<datamodel><data id="go" expr="0"/></datamodel>'
    chart = parse_scxml(document(f'{data}<state id="a"><transition event="go" target="a"/></state>'))
    assert ([*chart.outputs], chart.events) == (["go"], ("go_event",))


def test_names_that_would_become_one_are_told_apart() -> None:
    chart = parse_scxml(document('<state id="a.b"/> <state id="a-b"/> <state id="a_b"/> <state id="a b"/>'))
    assert chart.state_names == ("a_b", "a_b_2", "a_b_3", "a_b_4")


def test_states_without_a_name_are_called_after_their_line() -> None:
    assert parse_scxml(document("<state/>\n<state/>")).state_names == ("state_2", "state_3")


def test_in_asks_for_a_state_and_a_history_is_never_active() -> None:
    chart = parse_scxml(
        document("""
        <parallel id="both">
          <state id="one"><transition cond="In('back') || In('three')" target="end"/></state>
          <state id="two">
            <history id="back"><transition target="three"/></history>
            <state id="three"/>
          </state>
        </parallel>
        <final id="end"/>
        """)
    )
    assert str(chart.state("one").transitions[0].when) == "false or in(three)"
    assert states_of(chart, 1) == ["end"]


def test_a_history_leads_back_to_what_was_active() -> None:
    chart = parse_scxml(
        document("""
        <state id="out"><transition event="enter" target="back"/></state>
        <state id="within">
          <history id="back" type="deep"><transition target="two"/></history>
          <state id="one"/>
          <state id="two"><transition event="on" target="three"/></state>
          <state id="three"/>
          <transition event="leave" target="out"/>
        </state>
        """)
    )
    interpreter = Interpreter(chart)
    state, seen = interpreter.initial(), []
    for event in ("", "enter", "on", "leave", "enter"):
        state = interpreter.step(state, {event: True} if event else {})
        seen.append(state.state)
    assert seen == ["out", "two", "three", "out", "three"]


def test_what_an_initial_does_comes_after_the_entry_of_its_state() -> None:
    inside = """
    <datamodel><data id="n" expr="1"/></datamodel>
    <state id="a">
      <onentry><assign location="n" expr="n + 1"/></onentry>
      <initial><transition target="b"><assign location="n" expr="n * 10"/></transition></initial>
      <state id="b"><onentry><assign location="n" expr="n + 3"/></onentry></state>
    </state>
    """
    (state,) = steps_of(parse_scxml(document(inside)), 1)
    assert state.outputs["n"] == 23


def test_a_list_that_is_written_down_is_gone_over() -> None:
    inside = """
    <datamodel><data id="list">[3, 4, 5]</data><data id="sum" expr="0"/><data id="last" expr="0"/></datamodel>
    <state id="a"><onentry>
      <foreach array="list" item="each" index="last"><assign location="sum" expr="sum + each"/></foreach>
    </onentry></state>
    """
    (state,) = steps_of(parse_scxml(document(inside)), 1)
    assert (state.outputs["sum"], state.outputs["last"]) == (12, 2)


def test_the_end_of_a_document_is_its_end() -> None:
    inside = """
    <datamodel><data id="n" expr="0"/></datamodel>
    <state id="a"><transition event="stop" target="end"/></state>
    <final id="end">
      <onentry><assign location="n" expr="1"/></onentry> <onexit><assign location="n" expr="n + 1"/></onexit>
    </final>
    """
    *_, state = steps_of(parse_scxml(document(inside)), 3, "stop")
    assert (state.state, state.outputs["n"]) == ("end", 2)


# What a document sends to itself


SENDING = """
<state id="a">
  <onentry><send event="second"/><send event="third" delay="30ms"/><raise event="first"/></onentry>
  <transition event="first" target="b"/>
</state>
<state id="b"><transition event="second" target="c"/></state>
<state id="c"><transition event="third" target="d"/></state>
<state id="d"/>
"""


def test_an_event_that_is_sent_comes_after_those_that_are_raised_and_a_delayed_one_when_it_is_due() -> None:
    chart = parse_scxml(document(SENDING))
    assert chart.period_s == 0.01
    assert states_of(chart, 4) == ["b+mailbox", "c+mailbox", "c+mailbox", "d+mailbox"]


def test_events_due_at_once_come_in_the_order_in_which_they_were_sent() -> None:
    inside = """
    <state id="a">
      <onentry>
        <send event="late" delay="20ms"/> <send event="x" delay="10ms"/> <send event="y" delay=".01s"/>
      </onentry>
      <transition event="x" target="b"/> <transition event="*" target="wrong"/>
    </state>
    <state id="b"><transition event="y" target="c"/><transition event="*" target="wrong"/></state>
    <state id="c"><transition event="late" target="d"/></state>
    <state id="d"/> <state id="wrong"/>
    """
    assert [one.split("+")[0] for one in states_of(parse_scxml(document(inside)), 4)] == ["a", "b", "c", "d"]


def test_what_is_cancelled_does_not_come() -> None:
    inside = """
    <state id="a">
      <onentry><send id="bell" event="ring" delay="20ms"/><send event="calm" delay="40ms"/></onentry>
      <onexit><cancel sendid="bell"/></onexit>
      <transition event="go" target="b"/> <transition event="ring" target="rung"/>
    </state>
    <state id="b"><transition event="ring" target="rung"/><transition event="calm" target="c"/></state>
    <state id="c"/> <state id="rung"/>
    """
    chart = parse_scxml(document(inside))
    assert states_of(chart, 3)[-1] == "rung+mailbox"
    assert [one.split("+")[0] for one in states_of(chart, 6, "go")] == ["a", "b", "b", "b", "c", "c"]


def test_an_event_for_which_there_is_no_slot_breaks_a_promise() -> None:
    inside = """
    <state id="a">
      <transition event="again"><send event="x" delay="1s"/></transition>
      <transition event="x" target="a"/>
    </state>
    """
    chart = parse_scxml(document(inside))
    assert [one.name for one in chart.promises] == ["no_sent_event_is_lost"]
    interpreter = Interpreter(chart)
    state, lost = interpreter.initial(), []
    for _ in range(5):
        state = interpreter.step(state, {"again": True})
        lost.append(state.locals["sent_lost"])
    assert lost == [False, False, True, True, True]


def test_what_is_sent_may_be_the_text_of_a_data() -> None:
    inside = """
    <datamodel><data id="next" expr="'left'"/></datamodel>
    <state id="a">
      <onentry><assign location="next" expr="'right'"/><send eventexpr="next"/></onentry>
      <transition event="left" target="b"/> <transition event="right" target="c"/>
    </state>
    <state id="b"/> <state id="c"/>
    """
    assert states_of(parse_scxml(document(inside)), 2)[-1] == "c+mailbox"


def test_an_imported_document_goes_out_and_in_again() -> None:
    chart = parse_scxml(document(SENDING))
    assert parse_scxml(scxml_text(chart)) == chart


DATA = '<datamodel><data id="n" expr="0"/><data id="on" expr="true"/><data id="t" expr="\'x\'"/></datamodel>'
STATE = '<state id="a">{}</state>'
REFUSED = {
    '<state id="a"><invoke type="scxml"/></state>': "<invoke> is not in the supported subset of SCXML",
    "<script>x = 1</script>": "<script> is not in the supported subset of SCXML",
    '<state id="a"><onentry><script/></onentry></state>': "<script> is not in the supported subset of SCXML",
    '<state id="a" intial="b"/>': (
        "'intial' of <state> is not in the supported subset of SCXML (did you mean 'initial'?)"
    ),
    '<state id="a"/><state id="a"/>': "the id 'a' occurs twice (first in line 2)",
    '<state id="a"><transition target="b"/></state>': "unknown state 'b'",
    '<state id="a"><transition event="" target="a"/></state>': "empty 'event'",
    '<state id="a"><transition type="inner" target="a"/></state>': "'inner' is not a type of transition",
    '<state id="a"><initial/><state id="b"/></state>': "an <initial> needs exactly one <transition>",
    '<state id="a"><history id="h"/><state id="b"/></state><state id="c"><transition target="h"/></state>': (
        "a <history> needs exactly one <transition>"
    ),
    '<state id="a"><onentry><final/></onentry></state>': "<final> does not belong in <onentry>",
    "": "there is no state",
    '<datamodel><data id="n"/></datamodel><state id="a"/>': "the type of n cannot be inferred",
    '<datamodel><data id="n" src="x"/></datamodel><state id="a"/>': "'src' of <data> is not in the supported",
    STATE.format('<transition cond="m == 1" target="a"/>'): "unknown <data> 'm'",
    STATE.format('<transition cond="_event.data == 1" target="a"/>'): "the system variable _event.data",
    STATE.format('<transition cond="In(\'b\')" target="a"/>'): "unknown state 'b'",
    STATE.format('<transition cond="a.b" target="a"/>'): "a.b in `a.b` is not in the supported subset",
    STATE.format('<transition cond="sqrt(4) == 2" target="a"/>'): "the function sqrt in",
    STATE.format('<transition cond="1 = 1" target="a"/>'): "'=' in `1 = 1` is not in the supported subset",
    STATE.format('<onentry><assign location="m" expr="1"/></onentry>'): "no <data> 'm' to assign to",
    STATE.format(
        '<onentry><send event="x" target="http://a"/></onentry>'
    ): "<send> to 'http://a' is not in the supported subset",
    STATE.format('<onentry><send event="x" delay="soon"/></onentry>'): "the delay 'soon' is not a time",
    STATE.format(
        '<onentry><send event="x"><param name="p"/></send></onentry>'
    ): "<param> is not in the supported subset",
    STATE.format('<onentry><cancel sendid="x"/></onentry>'): "nothing is sent with the id 'x'",
    STATE.format(
        '<onentry><foreach array="x"/></onentry>'
    ): "<foreach> over 'x' is not in the supported subset",
    STATE.format("<onentry><raise/></onentry>"): "<raise> has no attribute 'event'",
    STATE.format("<onentry><if><log/></if></onentry>"): "<if> without 'cond'",
    STATE.format('<onentry><mine:act xmlns:mine="urn:x"/></onentry>'): "act> is not in the supported subset",
    '<state id="a"><onexit><if cond="In(\'q\')"/></onexit></state><state id="q"/>': "In('q') here",
}


@pytest.mark.parametrize("inside", REFUSED, ids=range(len(REFUSED)))
def test_what_is_outside_the_subset_is_refused_by_name_and_line(inside: str) -> None:
    with pytest.raises(FormatError, match=re.escape(REFUSED[inside])) as caught:
        parse_scxml(document(inside), Path("a.scxml"))
    assert caught.value.where is not None
    assert caught.value.where.line in (1, 2)
    assert caught.value.hint


def test_a_condition_of_the_wrong_type_is_refused_with_its_line() -> None:
    state = '<state id="a"><transition cond="n and on" target="a"/></state>'
    with pytest.raises(ExpressionError, match=r"a\.scxml:3: .*needs a truth value"):
        parse_scxml(document(f"{DATA}\n{state}"), Path("a.scxml"))


NATIVE = {
    '<datamodel><data id="k" expr="36" pw:role="constant" pw:unit="ccm"/></datamodel><state id="a"/>': (
        "there is no unit 'ccm' (did you mean cm?)"
    ),
    '<state id="a" pw:min_s="-1"/>': "-1.0 is out of range",
    '<state id="a" pw:priority="loud"/>': "unknown priority 'loud'",
    '<pw:junction id="j"/><state id="a"/>': "a junction needs segments",
}


@pytest.mark.parametrize("inside", NATIVE)
def test_what_a_native_document_may_not_say_an_scxml_document_may_not_say_either(inside: str) -> None:
    text = document(inside).replace("<scxml", '<scxml xmlns:pw="urn:posewright:chart"')
    with pytest.raises(InputError, match=re.escape(NATIVE[inside])) as caught:
        parse_scxml(text, Path("a.scxml"))
    assert str(caught.value).startswith("a.scxml:2: ")


def test_a_data_that_holds_a_truth_value_and_a_number_is_refused() -> None:
    state = '<state id="a"><onentry><assign location="on" expr="2"/></onentry></state>'
    with pytest.raises(FormatError, match="on holds a truth value in one place and a number in another"):
        parse_scxml(document(DATA + state))


@pytest.mark.parametrize(
    ("attribute", "value"),
    [("binding", "late"), ("version", "2.0"), ("datamodel", "xpath"), ("exmode", "lax")],
)
def test_a_document_of_another_kind_is_refused(attribute: str, value: str) -> None:
    text = document('<state id="a"/>').replace('datamodel="ecmascript"', "").replace('version="1.0"', "")
    with pytest.raises(FormatError, match="not in the supported subset of SCXML"):
        parse_scxml(text.replace("<scxml", f'<scxml {attribute}="{value}"'))


def test_signs_that_ecmascript_rounds_otherwise_are_refused() -> None:
    inside = f'{DATA}<state id="a"><transition cond="n % 2 == 1" target="a"/></state>'
    with pytest.raises(FormatError, match="'%', which ecmascript rounds differently,"):
        parse_scxml(document(inside))
    assert parse_scxml(document(inside).replace("ecmascript", "python"))


HOSTILE = {
    "ten megabytes": "<scxml>" + " " * 10_000_000 + "</scxml>",
    "nested ten thousand deep": "<scxml>" + "<state>" * 10_000 + "</state>" * 10_000 + "</scxml>",
    "a hundred thousand states": "<scxml>" + "<state/>" * 100_000 + "</scxml>",
    "an entity bomb": '<!DOCTYPE s [<!ENTITY a "x"><!ENTITY b "&a;&a;">]><scxml><state id="&b;"/></scxml>',
    "a file from elsewhere": '<!DOCTYPE s [<!ENTITY a SYSTEM "file:///etc/passwd">]><scxml name="&a;"/>',
    "brackets": f'<scxml><state id="a"><transition cond="{"(" * 5000}" target="a"/></state></scxml>',
    "negations": f'<scxml><state id="a"><transition cond="{"!" * 5000}a" target="a"/></state></scxml>',
    "code": "<scxml><datamodel><data id='a' expr='__import__(1)'/></datamodel><state id='b'/></scxml>",
    "no markup": "chart: x",
    "nothing": "",
    "another document": "<html/>",
    "a zero": "<scxml>\0</scxml>",
}


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_a_hostile_document_is_refused_with_little_work(text: str) -> None:
    with counted() as work, pytest.raises(InputError):
        parse_scxml(text, Path("a.scxml"))
    assert work.calls < 500_000
