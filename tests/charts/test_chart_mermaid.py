"""Mermaid text of statecharts: only what Mermaid knows to draw, and nothing lost on the way."""

from __future__ import annotations

from dataclasses import replace

from posewright.charts.drawing.mermaid import draw_mermaid
from posewright.charts.model import Chart, ChartKind, HistoryKind, Raise, State, StateTarget, Transition, to


def on(event: str, *goals: str) -> Transition:
    return Transition(on=(event,), go=to(*goals))


def compound(name: str, *states: State) -> State:
    return State(name, states=states, initial=to(states[0].name))


def lines_of(*states: State, parallel: bool = False, active: str | None = None, **more: object) -> list[str]:
    initial = () if parallel else to(states[0].name)
    chart = Chart("c", ChartKind.STATECHART, 0.1, {}, {}, initial, states, parallel=parallel, **more)  # type: ignore[arg-type]
    return [line.strip() for line in draw_mermaid(chart, active=active).splitlines()]


ARMS = State(
    "arms",
    parallel=True,
    states=(
        compound("left_arm", State("left_up", (on("beat", "left_down"),)), State("left_down")),
        compound("right_arm", State("right_up", (on("off", "idle"), on("cross", "left_down")))),
    ),
)


def test_states_are_inside_states() -> None:
    inner = State("inner", (on("next", "other"),), entry=(Raise("hello"),))
    found = lines_of(State("idle", (on("go", "outer"),)), compound("outer", inner, State("other")))
    assert found[:4] == ["stateDiagram-v2", "idle", "state outer {", "inner"]
    assert found[4:7] == ["note right of inner", "entry / raise hello", "end note"]
    assert found[7:11] == ["other", "[*] --> inner", "inner --> other : next", "}"]
    assert found[11:] == ["[*] --> idle", "idle --> outer : go"]


def test_regions_are_divided() -> None:
    found = lines_of(State("idle", (on("go", "arms"),)), ARMS)
    assert found.count("--") == 1
    assert found.index("%% left_arm") < found.index("--") < found.index("%% right_arm")


def test_regions_of_a_whole_chart_are_inside_a_state_of_its_name() -> None:
    plain = tuple(replace(region, states=region.states[:1]) for region in ARMS.states)
    inside = tuple(replace(region, states=(replace(region.states[0], transitions=()),)) for region in plain)
    found = lines_of(*inside, parallel=True)
    assert found[1].startswith('state "c" as ')
    assert found.count("--") == 1


def test_what_crosses_borders_is_drawn_where_mermaid_can_and_says_its_real_ends() -> None:
    found = lines_of(State("idle", (on("jump", "left_down"),)), ARMS)
    assert "idle --> arms : jump (to left_down)" in found
    assert "arms --> idle : off (from right_up)" in found
    assert "arms --> arms : cross (from right_up to left_down)" in found


def test_history_is_told_on_the_arrow() -> None:
    back = Transition(on=("back",), go=(StateTarget("outer", HistoryKind.SHALLOW),))
    deep = Transition(on=("deep",), go=(StateTarget("outer", HistoryKind.DEEP),))
    found = lines_of(State("idle", (back, deep)), compound("outer", State("inner")))
    assert "idle --> outer : back (to the history)<br/>deep (to the deep history)" in found


def test_junctions_are_choices_and_several_goals_a_fork() -> None:
    ask = (Transition(on=(), go=to("b")), Transition(is_else=True, go=to("a")))
    found = lines_of(State("a", (Transition(on=("x",), junction="ask"),)), State("b"), junctions={"ask": ask})
    assert "state ask <<choice>>" in found
    assert {"a --> ask : x", "ask --> b", "ask --> a : #91;else#93;"} <= set(found)
    fork = lines_of(State("idle", (on("jump", "left_down", "right_up"),)), ARMS)
    assert any(line.endswith("<<fork>>") for line in fork)


def test_a_final_state_keeps_its_name() -> None:
    found = lines_of(State("idle", (on("end", "over"),)), State("over", final=True))
    assert {"over", "over --> [*]", "idle --> over : end"} <= set(found)


def test_active_states_and_those_around_them_are_marked() -> None:
    found = lines_of(State("idle"), ARMS, active="left_up+right_up")
    assert "class left_up,right_up active" in found
    assert "class arms outer" in found
