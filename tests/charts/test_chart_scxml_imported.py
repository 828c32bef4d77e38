"""SCXML documents of other tools, read as charts."""

from __future__ import annotations

from posewright.charts import BoolType, EnumType, FloatType, Interpreter, IntType, Kind
from posewright.charts.formats import parse_scxml, scxml_text
from posewright.charts.model import Otherwise, Priority, Steps

from .scxml_documents import document, states_of, steps_of


def test_a_document_of_another_tool_runs_to_completion_and_takes_the_first_transition() -> None:
    chart = parse_scxml(document('<state id="a"><transition target="b"/></state><state id="b"/>'))
    assert (chart.kind, chart.steps) == (Kind.STATECHART, Steps.COMPLETION)
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
