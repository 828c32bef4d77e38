"""Pictures of statecharts: everything inside what it is inside of, nothing hidden, arrows in place."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations, pairwise
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from posewright.charts import read_chart
from posewright.charts.drawing import CoverageMark, LabelStyle, draw_chart, draw_mermaid, draw_svg
from posewright.charts.drawing.diagram import ROUND_SHAPES, DiagramLink, NodeShape
from posewright.charts.drawing.layout.edge_sides import NodeHierarchy
from posewright.charts.drawing.layout.layout_search import Scene
from posewright.charts.drawing.pen import BoundingBox, Point, text_width
from posewright.charts.drawing.svg import compose_picture
from posewright.charts.expression import Expression, Name, SourceText, constant
from posewright.charts.model import (
    Chart,
    ChartKind,
    HistoryKind,
    Priority,
    Raise,
    State,
    StateTarget,
    Transition,
    assign,
    to,
)
from posewright.charts.types import BoolType
from posewright.errors import InputError, UnknownNameError

SVG = "{http://www.w3.org/2000/svg}"


def guard(text: str) -> Expression:
    return Expression(Name("x"), BoolType(), SourceText(text))


def chart(*states: State, name: str = "c", parallel: bool = False, **more: object) -> Chart:
    initial = () if parallel else to(states[0].name)
    return Chart(name, ChartKind.STATECHART, 0.1, {}, {}, initial, states, parallel=parallel, **more)  # type: ignore[arg-type]


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
        Transition(on=("up",), go=(StateTarget("racing", HistoryKind.SHALLOW, ("walking",)),)),
        Transition(on=("back",), go=(StateTarget("racing", HistoryKind.DEEP),)),
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
            return Transition(on=event, go=(StateTarget(draw(st.sampled_from(around)), HistoryKind.SHALLOW),))
        return Transition(on=event, go=to(draw(st.sampled_from(plain.state_names))))

    def filled(state: State) -> State:
        arrows = tuple(arrow() for _ in range(draw(st.integers(0, 2))))
        return replace(state, transitions=arrows, states=tuple(map(filled, state.states)))

    return replace(plain, states=tuple(map(filled, plain.states)))


def build_scene(drawn: Chart) -> tuple[Scene, NodeHierarchy]:
    scene = compose_picture(drawn, LabelStyle.WORDS, {}).scene
    return scene, NodeHierarchy(scene.diagram)


def holds(outer: BoundingBox, inner: BoundingBox) -> bool:
    x, y = inner.width / 2, inner.height / 2
    return outer.grown(0.5).contains((inner.x - x, inner.y - y)) and outer.grown(0.5).contains(
        (inner.x + x, inner.y + y)
    )


def crosses(way: Sequence[Point], box: BoundingBox) -> bool:
    """Return whether a way of straight pieces, all level or upright, meets the inside of a box."""
    return any(
        BoundingBox(
            (a[0] + b[0]) / 2, (a[1] + b[1]) / 2, abs(a[0] - b[0]) + 1e-6, abs(a[1] - b[1]) + 1e-6
        ).overlap(box)
        > 0
        for a, b in pairwise(way)
    )


def require_order(drawn: Chart) -> None:
    scene, family = build_scene(drawn)
    page = BoundingBox(scene.width / 2, scene.height / 2, scene.width, scene.height)
    for key, box in scene.boxes.items():
        parent = family.parent_of[key]
        assert holds(scene.boxes.get(parent, page), box), f"{key} is not inside {parent}"
    for one, other in combinations(scene.boxes, 2):
        if other not in family.ancestors(one) and one not in family.ancestors(other):
            assert scene.boxes[one].overlap(scene.boxes[other]) == 0, f"{one} and {other} overlap"
    require_labels(scene, family)
    require_arrows(scene, family)


def require_labels(scene: Scene, family: NodeHierarchy) -> None:
    labels = [routed_link.label_box for routed_link in scene.routed_links if routed_link.label_box]
    assert all(a.overlap(b) == 0 for a, b in combinations(labels, 2))
    leaves = [scene.boxes[key] for key, node in family.nodes.items() if not node.children]
    titles = [
        BoundingBox(
            x + text_width(family.nodes[key].title) / 2, y - 5, text_width(family.nodes[key].title), 10
        )
        for key, (x, y) in scene.title_positions.items()
    ]
    assert all(label.overlap(box) == 0 for label in labels for box in (*leaves, *titles))
    for routed_link in scene.routed_links:
        if routed_link.label_box and not between_regions(routed_link.link, family):
            own = distance(routed_link.label_box, routed_link.corners)
            for other in scene.routed_links:
                if other is not routed_link:
                    assert own < distance(routed_link.label_box, other.corners), (
                        f"{routed_link.link} or {other.link}?"
                    )


def between_regions(link: DiagramLink, family: NodeHierarchy) -> bool:
    """Return whether an arrow leads from one region of a state to another: others may cross its words."""
    around = [key for key in family.ancestors(link.start) if family.nodes[key].parallel]
    pairs = [(family.child(key, link.start), family.child(key, link.end)) for key in around]
    return any(end is not None and start != end for start, end in pairs)


def distance(box: BoundingBox, way: Sequence[Point]) -> float:
    """Return how far a way of level and upright pieces is from a box."""
    gaps = [
        (
            max(abs(box.x - (a[0] + b[0]) / 2) - (box.width + abs(a[0] - b[0])) / 2, 0.0),
            max(abs(box.y - (a[1] + b[1]) / 2) - (box.height + abs(a[1] - b[1])) / 2, 0.0),
        )
        for a, b in pairwise(way)
    ]
    return min(math.hypot(*gap) for gap in gaps)


def require_arrows(scene: Scene, family: NodeHierarchy) -> None:
    for routed_link in scene.routed_links:
        link, way = routed_link.link, routed_link.corners
        assert all(a[0] == b[0] or a[1] == b[1] for a, b in pairwise(way)), "every piece is level or upright"
        for key, end in ((link.start, way[0]), (link.end, way[-1])):
            assert at_border(scene, family, key, end), f"{link} ends at {end}, not at {key}"
        if routed_link.label_box and link.start != link.end:
            assert crosses(way, routed_link.label_box), "a label is on its arrow"
        for key, node in family.nodes.items():
            if (
                not node.children
                and key not in {link.start, link.end}
                and family.root != family.parent_of.get(key)
            ):
                assert not crosses(way, scene.boxes[key].grown(-2)), f"{link} runs through {key}"


def at_border(scene: Scene, family: NodeHierarchy, key: str, end: Point) -> bool:
    """Return whether an arrow ends at the line around a node or at its round sign; a region has no line."""
    box = scene.boxes.get(key, BoundingBox(scene.width / 2, scene.height / 2, scene.width, scene.height))
    aside, above = abs(end[0] - box.x), abs(end[1] - box.y)
    if family.nodes[key].shape in ROUND_SHAPES:
        far = aside + above if family.nodes[key].shape is NodeShape.JUNCTION else math.hypot(aside, above)
        return far == pytest.approx(box.width / 2, abs=1.5)
    inside = aside <= box.width / 2 and above <= box.height / 2
    region = family.nodes[key].shape is NodeShape.REGION
    return inside and (region or aside == box.width / 2 or above == box.height / 2)


@pytest.mark.parametrize("name", CHARTS)
def test_everything_has_its_own_place(name: str) -> None:
    require_order(CHARTS[name])


@settings(max_examples=12, deadline=None)
@given(charts())
def test_everything_has_its_own_place_in_any_chart(drawn: Chart) -> None:
    require_order(drawn)
    require_page(draw_svg(drawn))


@st.composite
def flat_charts(draw: st.DrawFn) -> Chart:
    """A flat chart of up to six states with arrows both ways between most of them, some to a final state."""
    names = [f"s{i}" for i in range(draw(st.integers(2, 6)))]

    def arrows() -> list[Transition]:
        goals = draw(st.lists(st.sampled_from([*names, "over"]), max_size=4))
        return [on(draw(st.sampled_from(["go", "a_rather_long_event"])), goal) for goal in goals]

    states = [leaf(name, *arrows()) for name in names]
    priority = draw(st.sampled_from(Priority))
    return chart(*states, State("over", final=True), priority=priority)


@settings(max_examples=25, deadline=None)
@given(flat_charts())
def test_every_label_is_nearest_to_its_own_arrow_where_arrows_lead_both_ways(drawn: Chart) -> None:
    require_order(drawn)
    require_page(draw_svg(drawn))


def require_page(picture: str) -> None:
    """Require that all letters are on the page, and that none are written over others."""
    root = ET.fromstring(picture)  # noqa: S314 -- our own text
    left, top, width, height = map(float, root.get("viewBox", "").split())
    page = BoundingBox(left + width / 2, top + height / 2, width, height)
    boxes = [written(text) for text in root.iter(f"{SVG}text")]
    assert all(holds(page, box) for box in boxes)
    assert all(a.overlap(b) == 0 for a, b in combinations(boxes, 2))
    assert all(page.contains(point) for path in root.iter(f"{SVG}path") for point in corners(path))


def written(text: ET.Element) -> BoundingBox:
    """Return what a line of text takes on the page, between its base and the height of small letters."""
    looks, words = set(text.get("class", "").split()), text.text or ""
    font = next((size for look, size in FONTS.items() if look in looks), 12.0)
    width, x, y = len(words.strip()) * 0.6 * font, float(text.get("x", "")), float(text.get("y", ""))
    x += (len(words) - len(words.lstrip())) * 0.6 * font
    middle = x + width / 2 if looks & {"left", "title", "legend"} else x - width / 2 if "rank" in looks else x
    return BoundingBox(middle, y - 0.3 * font, width, 0.6 * font)


FONTS = {"title": 17.0, "name": 15.0, "region": 13.0, "rank": 9.5}


def corners(path: ET.Element) -> list[Point]:
    if "sign" in path.get("class", ""):
        return []
    pairs = re.findall(r"(-?[\d.]+),(-?[\d.]+)", path.get("d", ""))
    return [(float(x), float(y)) for x, y in pairs if path.get("class")]


ROOT = Path(__file__).resolve().parents[2]
FILES = [*ROOT.glob("examples/charts/*/*.chart.yaml"), *ROOT.glob("src/**/behaviours/*.chart.yaml")]


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name.split(".")[0])
def test_shipped_charts_have_everything_in_its_own_place(path: Path) -> None:
    drawn = read_chart(path)
    require_order(drawn)
    require_page(draw_svg(drawn))


def test_a_large_chart_has_few_bends_and_crossings() -> None:
    scene, _ = build_scene(read_chart(ROOT / "examples/charts/sumo/sumo_18_5.chart.yaml"))
    assert scene.n_bends <= 82
    assert scene.n_crossings <= 2


def test_transitions_that_are_asked_in_order_are_numbered() -> None:
    states = (
        leaf("a", on("one", "b"), on("two", "b"), Transition(go=to("c"))),
        leaf("b", on("x", "a")),
        leaf("c"),
    )
    picture = draw_svg(chart(*states, priority=Priority.ORDERED))
    assert re.findall(r'class="rank"[^>]*>(\d)<', picture) == ["1", "2"]
    assert "3" in texts(picture), "an arrow without words has its number alone"
    assert 'class="rank"' not in draw_svg(chart(*states)), "nor where guards exclude one another"
    found = draw_mermaid(chart(*states, priority=Priority.ORDERED))
    assert "a --> b : 1#58; one<br/>2#58; two" in found
    assert "a --> c : 3" in found


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


def test_a_transition_between_a_region_and_its_state_is_written_inside() -> None:
    left = compound("left", leaf("one"), transitions=[on("up", "both")])
    both = State("both", (on("down", "left"),), parallel=True, states=(left, compound("right", leaf("two"))))
    assert {"up -> both", "down -> left"} <= set(texts(draw_svg(chart(both))))


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
        "waiting": CoverageMark.COVERED,
        "lying": CoverageMark.MISSED,
        ("waiting", 0): CoverageMark.COVERED,
        ("lying", 0): CoverageMark.MISSED,
    }
    picture = draw_svg(NESTED, marks=marks | {("racing", 1): CoverageMark.PARTLY})
    assert looks(picture, "covered") == ["waiting"]
    assert looks(picture, "missed") == ["lying"]
    assert {"✗ up", "~ poke / raise ouch", "start", "covered", "✗ not covered"} <= set(texts(picture))
    assert picture.count('class="arrow missed"') == 1


def test_transitions_that_share_an_arrow_and_differ_are_marked_as_partly() -> None:
    both = chart(leaf("a", on("one", "b"), on("two", "b")), leaf("b"), compound("c", leaf("d")))
    picture = draw_svg(both, marks={("a", 0): CoverageMark.COVERED, ("a", 1): CoverageMark.MISSED})
    assert 'class="arrow partly"' in picture
    assert {"one", "✗ two"} <= set(texts(picture))


def test_numbers_have_a_key_that_says_where_each_transition_leads() -> None:
    found = texts(draw_svg(DECISION, style=LabelStyle.NUMBERS))
    assert "   1  -> 1a, 1b" in found
    assert "    1a  [front] -> left" in found
    assert "    1b  [else] -> junction ask" in found
    assert "junction ask" in found


def test_marks_are_refused_in_mermaid_text(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot draw marks"):
        draw_chart(NESTED, tmp_path / "x.mmd", marks={"waiting": CoverageMark.COVERED})


def test_what_nobody_could_read_is_refused() -> None:
    with pytest.raises(InputError, match="a picture of 251 states is too large"):
        draw_svg(chart(*(leaf(f"s{i}") for i in range(251))))
