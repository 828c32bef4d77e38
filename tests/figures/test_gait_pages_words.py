"""No words of a gait's picture lie on others or run off the page: measured where they come to lie."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations
from typing import Any

import pytest

from posewright.figures import draw_gait
from posewright.figures.gait.content import GaitContent
from posewright.figures.gait.parameter import draw_small_multiples
from posewright.figures.style import picture_style
from posewright.gaits import LEFT_TURN, STILL, QuadrupedGait, TravelGain, VelocityCommand, read_gait
from posewright.robots import robot

DOG = robot("sony_ers7")
TROT = read_gait("trot").with_values(
    {
        "ground_speed_m_s": 0.3,
        "maximum_displacement_m": 0.05,
        "maximum_turn_rad": 0.4,
        "air_ground_factor": 1.0,
    }
)
UNEVEN = replace(
    TROT.with_values({"turn_multiplier_rad_m": 3.0, "air_ground_factor": 0.4, "ascent_pairs": 2}),
    name="a gait with a name as long as names of gaits may well be",
    phases=LEFT_TURN,
    travel_gain=TravelGain(1.3, 1.2, 1.1),
)
CASES = {
    "ahead and round as much as may be": (TROT, VelocityCommand(0.29, 0.0, 2.3)),
    "to the side": (TROT, VelocityCommand(left_m_s=0.2)),
    "on the spot": (TROT, STILL),
    "made up for, with many steps": (UNEVEN, VelocityCommand(0.04, -0.03, 0.6)),
}
SHOWN = ("ground_speed_m_s", "ascent_pairs", "ground_points", "air_ground_factor", "equilibrium_m")
"""One parameter for each way to draw them."""


def written(figure: Any, monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, Any]]:
    """Draw a figure and return every text that is really drawn, with its box on the page."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.text import Text

    found: dict[int, tuple[str, Any]] = {}
    draw = Text.draw

    def noted(text: Text, renderer: Any, *args: Any, **kwargs: Any) -> None:
        if text.get_visible() and text.get_text().strip():
            found[id(text)] = (text.get_text(), Text.get_window_extent(text, renderer))
        draw(text, renderer, *args, **kwargs)

    monkeypatch.setattr(Text, "draw", noted)
    FigureCanvasAgg(figure).draw()
    monkeypatch.undo()
    return list(found.values())


def overlapping(boxes: list[tuple[str, Any]]) -> Iterator[tuple[str, str]]:
    """Yield texts that lie on one another by more than a hair."""
    for (one, a), (other, b) in combinations(boxes, 2):
        across, up = min(a.x1, b.x1) - max(a.x0, b.x0), min(a.y1, b.y1) - max(a.y0, b.y0)
        if across > 1.0 and up > 1.5:
            yield one, other


@pytest.mark.parametrize(("gait", "command"), CASES.values(), ids=CASES)
def test_no_words_lie_on_others_or_beyond_the_page(
    gait: QuadrupedGait, command: VelocityCommand, monkeypatch: pytest.MonkeyPatch
) -> None:
    figure = draw_gait(gait, DOG, command=command)
    boxes = written(figure, monkeypatch)
    assert len(boxes) > 80
    assert list(overlapping(boxes)) == []
    page = figure.bbox
    assert [text for text, box in boxes if not (page.x0 <= box.x0 and box.x1 <= page.x1)] == []
    assert [text for text, box in boxes if not (page.y0 <= box.y0 and box.y1 <= page.y1)] == []


@pytest.mark.parametrize("name", SHOWN)
def test_no_words_lie_on_others_in_small_pictures(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    content = GaitContent(TROT, DOG, VelocityCommand(0.2))
    panels = {f"the {place}": content for place in ("low one", "high one")}
    with picture_style("drawing a gait"):
        assert list(overlapping(written(draw_small_multiples(name, panels), monkeypatch))) == []


def test_words_that_lie_on_others_are_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    from matplotlib.figure import Figure

    figure = Figure()
    for text in ("one", "other"):
        figure.text(0.5, 0.5, text)
    figure.text(0.1, 0.1, "apart")
    assert list(overlapping(written(figure, monkeypatch))) == [("one", "other")]
