"""Pictures of statecharts: everything inside what it is inside of, nothing hidden, arrows in place."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations, pairwise
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from posewright.charts.drawing import (
    Box,
    Family,
    Mark,
    Point,
    Scene,
    Style,
    compose,
    draw_chart,
    draw_svg,
    text_width,
)
from posewright.charts.expression import Expression, Name, Source, constant
from posewright.charts.model import Chart, Kind, Memory, Raise, State, Target, Transition, assign, to
from posewright.charts.types import BoolType
from posewright.errors import InputError, UnknownNameError

SVG = "{http://www.w3.org/2000/svg}"


def guard(text: str) -> Expression:
    return Expression(Name("x"), BoolType(), Source(text))


def chart(*states: State, name: str = "c", parallel: bool = False, **more: object) -> Chart:
    initial = () if parallel else to(states[0].name)
    return Chart(name, Kind.STATECHART, 0.1, {}, {}, initial, states, parallel=parallel, **more)  # type: ignore[arg-type]


def leaf(name: str, *transitions: Transition) -> State:
    return State(name, transitions)


def compound(name: str, *states: State, transitions: Sequence[Transition] = ()) -> State:
    return State(name, tuple(transitions), states=states, initial=to(states[0].name))


def on(event: str, *goals: str) -> Transition:
    return Transition(on=(event,), go=to(*goals))


TURNING = compound(
    "turning",
    leaf("turning_left", Transition(guard("right"), go=to("turning_right"))),
    leaf("turning_right", on("again", "turning_right"), on("straight", "walking")),
)
RACING = replace(
    compound(
        "racing",
        leaf("walking", Transition(guard("left"), go=to("turning_left")), on("stop", "over")),
        TURNING,
        transitions=(on("fall", "lying"), Transition(on=("poke",), do=(Raise("ouch"),))),
    ),
    entry=assign({"motion": constant("walk")}),
)
NESTED = chart(
    leaf("waiting", on("start", "racing")),
    RACING,
    leaf(
        "lying",
        Transition(on=("up",), go=(Target("racing", Memory.SHALLOW, ("walking",)),)),
        Transition(on=("back",), go=(Target("racing", Memory.DEEP),)),
    ),
    State("over", final=True),
)
DANCE = State(
    "dance",
    (on("stop", "off"),),
    parallel=True,
    states=(
        compound(
            "left_arm", leaf("left_up", on("beat", "left_down")), leaf("left_down", on("beat", "left_up"))
        ),
        compound(
            "right_arm", leaf("right_up", on("cross", "left_down")), leaf("right_down", on("panic", "off"))
        ),
        compound("eyes", leaf("open", on("blink", "open")), transitions=[on("wake", "eyes")]),
    ),
)
PARALLEL = chart(leaf("off", on("start", "dance"), on("jump", "left_down", "right_down")), DANCE)
ELSE = Transition(is_else=True, junction="ask")
DECISION = chart(
    leaf("stopped", Transition(then=(Transition(guard("front"), go=to("left")), ELSE))),
    leaf("left", Transition(guard("near"), junction="ask")),
    leaf("right"),
    junctions={
        "ask": (Transition(guard("far"), go=to("right")), Transition(is_else=True, do=(Raise("lost"),)))
    },
)
SELVES = chart(
    leaf("idle", on("tick", "idle"), on("go", "busy")),
    compound(
        "busy",
        leaf("first", on("next", "second"), on("out", "busy")),
        leaf("second"),
        transitions=[on("again", "busy"), on("skip", "second"), replace(on("soft", "first"), local=True)],
    ),
)
CHARTS = {
    "nested": NESTED,
    "parallel": PARALLEL,
    "decision": DECISION,
    "selves": SELVES,
    "regions": chart(*DANCE.states[:1], DANCE.states[2], name="regions", parallel=True),
}


@st.composite
def charts(draw: st.DrawFn) -> Chart:
    """Any nested chart of up to a dozen states; links lead anywhere."""
    names = iter(f"s{'x' * draw(st.integers(0, 9))}{i}" for i in range(100))

    def states(count: int, depth: int, regions: bool) -> tuple[State, ...]:
        return tuple(state(depth, regions) for _ in range(count))

    def state(depth: int, region: bool) -> State:
        name = next(names)
        if not region and (depth >= 2 or draw(st.integers(0, 2))):
            return State(name)
        parallel = not region and depth == 0 and draw(st.booleans())
        inside = states(draw(st.integers(1 + parallel, 2)), depth + 1, parallel)
        return State(name, states=inside, initial=() if parallel else to(inside[0].name), parallel=parallel)

    plain = chart(*states(draw(st.integers(2, 3)), 0, False))
    around = [state.name for state in plain.every_state if state.states]

    def arrow() -> Transition:
        event = (draw(st.sampled_from(["go", "a_long_event", "tick"])),)
        if around and draw(st.integers(0, 5)) == 0:
            return Transition(on=event, go=(Target(draw(st.sampled_from(around)), Memory.SHALLOW),))
        return Transition(on=event, go=to(draw(st.sampled_from(plain.state_names))))

    def filled(state: State) -> State:
        arrows = tuple(arrow() for _ in range(draw(st.integers(0, 2))))
        return replace(state, transitions=arrows, states=tuple(map(filled, state.states)))

    return replace(plain, states=tuple(map(filled, plain.states)))


def scene_of(drawn: Chart) -> tuple[Scene, Family]:
    scene = compose(drawn, Style.WORDS, {}).scene
    return scene, Family(scene.diagram)


def holds(outer: Box, inner: Box) -> bool:
    x, y = inner.width / 2, inner.height / 2
    return outer.grown(0.5).holds((inner.x - x, inner.y - y)) and outer.grown(0.5).holds(
        (inner.x + x, inner.y + y)
    )


def crosses(way: Sequence[Point], box: Box) -> bool:
    """Return whether a way of straight pieces, all level or upright, meets the inside of a box."""
    return any(
        Box((a[0] + b[0]) / 2, (a[1] + b[1]) / 2, abs(a[0] - b[0]) + 1e-6, abs(a[1] - b[1]) + 1e-6).overlap(
            box
        )
        > 0
        for a, b in pairwise(way)
    )


def require_order(drawn: Chart) -> None:
    scene, family = scene_of(drawn)
    page = Box(scene.width / 2, scene.height / 2, scene.width, scene.height)
    for key, box in scene.boxes.items():
        parent = family.parent[key]
        assert holds(scene.boxes.get(parent, page), box), f"{key} is not inside {parent}"
    for one, other in combinations(scene.boxes, 2):
        if other not in family.around(one) and one not in family.around(other):
            assert scene.boxes[one].overlap(scene.boxes[other]) == 0, f"{one} and {other} overlap"
    require_labels(scene, family)
    require_arrows(scene, family)


def require_labels(scene: Scene, family: Family) -> None:
    labels = [track.label for track in scene.tracks if track.label]
    assert all(a.overlap(b) == 0 for a, b in combinations(labels, 2))
    configuration = [scene.boxes[key] for key, node in family.nodes.items() if not node.inside]
    titles = [
        Box(x + text_width(family.nodes[key].title) / 2, y - 5, text_width(family.nodes[key].title), 10)
        for key, (x, y) in scene.heads.items()
    ]
    assert all(label.overlap(box) == 0 for label in labels for box in (*configuration, *titles))


def require_arrows(scene: Scene, family: Family) -> None:
    for track in scene.tracks:
        link, way = track.link, track.points
        assert scene.boxes.get(link.start, Box(0, 0, 1e6, 1e6)).grown(1).holds(way[0])
        assert scene.boxes.get(link.end, Box(0, 0, 1e6, 1e6)).grown(1).holds(way[-1])
        assert all(a[0] == b[0] or a[1] == b[1] for a, b in pairwise(way)), "every piece is level or upright"
        if track.label and link.start != link.end:
            assert crosses(way, track.label), "a label is on its arrow"
        for key, node in family.nodes.items():
            if (
                not node.inside
                and key not in {link.start, link.end}
                and family.root != family.parent.get(key)
            ):
                assert not crosses(way, scene.boxes[key].grown(-2)), f"{link} runs through {key}"


@pytest.mark.parametrize("name", CHARTS)
def test_everything_has_its_own_place(name: str) -> None:
    require_order(CHARTS[name])


@settings(max_examples=12, deadline=None)
@given(charts())
def test_everything_has_its_own_place_in_any_chart(drawn: Chart) -> None:
    require_order(drawn)


def texts(picture: str) -> list[str]:
    root = ET.fromstring(picture)  # noqa: S314 -- our own text
    return [text.text or "" for text in root.iter(f"{SVG}text")]


def looks(picture: str, look: str) -> list[str]:
    """Return the states whose box has a look."""
    root = ET.fromstring(picture)  # noqa: S314 -- our own text
    return [
        group.get("data-state", "")
        for group in root.iter(f"{SVG}g")
        if any(look in shape.get("class", "").split() for shape in group if shape.tag != f"{SVG}text")
    ]


@pytest.mark.parametrize("name", CHARTS)
def test_every_state_is_named_and_the_same_chart_is_always_drawn_the_same(name: str) -> None:
    picture = draw_svg(CHARTS[name])
    assert set(CHARTS[name].state_names) <= set(texts(picture))
    assert picture == draw_svg(CHARTS[name])


def test_what_a_state_does_is_written_in_its_box() -> None:
    found = texts(draw_svg(NESTED))
    assert "entry / motion=walk" in found
    assert "poke / raise ouch" in found


def test_history_finals_forks_and_junctions_have_their_signs() -> None:
    nested, fork, decision = (draw_svg(drawn) for drawn in (NESTED, PARALLEL, DECISION))
    assert {"H", "H*"} <= set(texts(nested))
    assert nested.count('class="sign"') == 3, "two of history, one final"
    assert fork.count('<rect class="solid"') == 1
    assert decision.count('<path class="sign"') == 2
    assert {"[else]", "[else] / raise lost", "ask", "stays"} <= set(texts(decision))


def test_regions_are_divided_and_a_transition_between_them_is_drawn() -> None:
    picture = draw_svg(PARALLEL)
    assert picture.count('class="divider"') == 3, "two between three regions, one in front of them"
    assert "cross" in texts(picture)
    assert "wake -> eyes" in texts(picture)


def test_the_active_states_are_highlighted_and_lighter_what_is_around_them() -> None:
    for active in ("left_up+right_down", ["left_up", "right_down"], ("off", "left_up+right_down")):
        picture = draw_svg(PARALLEL, active=active)
        assert set(looks(picture, "active")) == {"left_up", "right_down"} | ({"off"} & set(active))
        assert looks(picture, "outer") == ["dance"]
    everything = draw_svg(NESTED, active=["racing", "turning", "turning_left"])
    assert looks(everything, "active") == ["turning_left"]


def test_an_unknown_state_cannot_be_active() -> None:
    with pytest.raises(UnknownNameError, match="did you mean left_up"):
        draw_svg(PARALLEL, active="left_upp+right_up")


def test_marks_are_drawn_told_apart_without_colour_and_explained() -> None:
    marks = {
        "waiting": Mark.COVERED,
        "lying": Mark.MISSED,
        ("waiting", 0): Mark.COVERED,
        ("lying", 0): Mark.MISSED,
    }
    picture = draw_svg(NESTED, marks=marks | {("racing", 1): Mark.PARTLY})
    assert looks(picture, "covered") == ["waiting"]
    assert looks(picture, "missed") == ["lying"]
    assert {"✗ up", "~ poke / raise ouch", "start", "covered", "✗ not covered"} <= set(texts(picture))
    assert picture.count('class="arrow missed"') == 1


def test_transitions_that_share_an_arrow_and_differ_are_marked_as_partly() -> None:
    both = chart(leaf("a", on("one", "b"), on("two", "b")), leaf("b"), compound("c", leaf("d")))
    picture = draw_svg(both, marks={("a", 0): Mark.COVERED, ("a", 1): Mark.MISSED})
    assert 'class="arrow partly"' in picture
    assert {"one", "✗ two"} <= set(texts(picture))


def test_numbers_have_a_key_that_says_where_each_transition_leads() -> None:
    found = texts(draw_svg(DECISION, style=Style.NUMBERS))
    assert "   1  -> 1a, 1b" in found
    assert "    1a  [front] -> left" in found
    assert "    1b  [else] -> junction ask" in found
    assert "junction ask" in found


def test_a_flat_machine_is_drawn_in_layers_only_where_it_is_marked() -> None:
    states = leaf("a", Transition(go=to("b"))), leaf("b")
    flat = Chart("flat", Kind.MEALY, 0.1, {}, {}, to("a"), states)
    assert "data-state" not in draw_svg(flat)
    assert "data-state" in draw_svg(flat, marks={"a": Mark.COVERED})


def test_marks_are_refused_in_mermaid_text(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot draw marks"):
        draw_chart(NESTED, tmp_path / "x.mmd", marks={"waiting": Mark.COVERED})


def test_what_nobody_could_read_is_refused() -> None:
    with pytest.raises(InputError, match="251 states in one picture"):
        draw_svg(chart(*(leaf(f"s{i}") for i in range(251))))
