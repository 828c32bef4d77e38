"""Whatever is done to a document, its reader reads it or says what is wrong with it, in an error of ours."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import posewright as pw
from posewright.arenas.arena import read_arena
from posewright.bodies.domain import read_domain_randomization
from posewright.charts.scenarios import parse_scenario
from posewright.contests import contest
from posewright.errors import PosewrightError
from posewright.experiments.trial import read_trial
from posewright.experiments.tuning.reading import read_tune
from posewright.robots import read_robot

HOUSE = Path(pw.__file__).parent
CHARTS = Path(__file__).parents[2] / "examples" / "charts"
LAMP = CHARTS / "button_lamp"
DOG = HOUSE / "robots" / "catalogue" / "sony_ers7"
MAN = HOUSE / "robots" / "catalogue" / "robotis_bioloid"


def scenario(path: Path) -> Any:
    return parse_scenario(path.read_text(), pw.read_chart(LAMP / "button_lamp.chart.yaml"), path)


READERS: dict[str, tuple[Callable[[Path], Any], Path]] = {
    "robot": (read_robot, MAN / "robot.yaml"),
    "gait": (pw.read_gait, DOG / "gaits" / "trot.gait.yaml"),
    "motion": (pw.read_motion, DOG / "motions" / "nod.motion.yaml"),
    "tune": (read_tune, DOG / "tunes" / "trot.tune.yaml"),
    "behaviour": (pw.read_behaviour, MAN / "behaviours" / "passivity_test.behaviour.yaml"),
    "chart": (pw.read_chart, MAN / "behaviours" / "passivity_test.chart.yaml"),
    "scenario": (scenario, LAMP / "scenarios" / "push_on_push_off.scenario.yaml"),
    "layout": (pw.read_layout, HOUSE / "arenas" / "layouts" / "example_4.layout.yaml"),
    "arena": (read_arena, HOUSE / "arenas" / "ceabot_obstacles.arena.yaml"),
    "trial": (read_trial, HOUSE / "experiments" / "catalogue" / "dog-crossing.trial.yaml"),
    "bodies": (read_domain_randomization, HOUSE / "bodies" / "catalogue" / "random.bodies.yaml"),
    "rules": (
        lambda path: contest("obstacle-race", path.read_text()),
        HOUSE / "contests" / "obstacle_race" / "obstacle_race.rules.yaml",
    ),
}

ODD = (
    "0", "-1", "1e-300", "1e300", "1" + "0" * 400, ".nan", ".inf", "true", "~", "[]", "{}", "[[1]]", "\"\"",
    "\"\\0\"", "\"\\e[31m\"", "../../x.yaml", "/dev/zero", "n" * 300, "<<", "*a", "&a 1", "'", "{a: 1}",
)  # fmt: skip

WORD = re.compile(r"[^\s,:\[\]{}]+")


@st.composite
def damaged(draw: st.DrawFn, text: str) -> str:
    """Draw a document with some words replaced, lines lost, doubled or moved in, or bytes cut off."""
    for _ in range(draw(st.integers(1, 3))):
        lines = text.splitlines(keepends=True) or [""]
        words = [match.span() for match in WORD.finditer(text)] or [(0, 0)]
        at = draw(st.integers(0, len(lines) - 1))
        what = draw(st.sampled_from(("word", "word", "word", "lose", "double", "indent", "cut")))
        if what == "word":
            begin, end = draw(st.sampled_from(words))
            other = text[slice(*draw(st.sampled_from(words)))]
            text = text[:begin] + draw(st.sampled_from((*ODD, other))) + text[end:]
        elif what == "cut":
            text = text[: draw(st.integers(0, len(text)))]
        else:
            lines[at] = {"lose": "", "double": 2 * lines[at], "indent": "  " + lines[at]}[what]
            text = "".join(lines)
    return text


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder to put damaged documents into."""
    return tmp_path_factory.mktemp("damaged")


@pytest.mark.parametrize("kind", READERS)
@given(data=st.data())
def test_a_damaged_document_is_read_or_refused_in_our_own_words(
    kind: str, data: st.DataObject, place: Path
) -> None:
    read, document = READERS[kind]
    path = place / document.name
    path.write_text(data.draw(damaged(document.read_text())), encoding="utf-8")
    told = ""
    try:
        read(path)
    except PosewrightError as error:
        told = str(error)
    assert told.isprintable()
    assert len(told) < 2000


def test_a_whole_number_may_have_any_number_of_digits(tmp_path: Path) -> None:
    read, document = READERS["gait"]
    text, count = re.subn(r"(?m)^(  \w+): .*", r"\1: 1" + "0" * 400, document.read_text())
    assert count
    (tmp_path / "x.gait.yaml").write_text(text)
    with pytest.raises(PosewrightError):
        read(tmp_path / "x.gait.yaml")
    for key in re.findall(r"(?m)^  (\w+): ", document.read_text()):
        other = re.sub(rf"(?m)^  {key}: .*", f"  {key}: 1{'0' * 400}", document.read_text())
        (tmp_path / "x.gait.yaml").write_text(other)
        with pytest.raises(PosewrightError):
            read(tmp_path / "x.gait.yaml")
