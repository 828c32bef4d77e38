"""The picture of a tuning shows what its journal holds, and is the same for the same journal."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from pathlib import Path

import pytest
from tests.search.tuning_problems import BOX, Bowl, Cliffs, Gears

from posewright.errors import FormatError, InputError
from posewright.figures import draw_tuning, save_figure
from posewright.search import Dimension, Evaluation, read_journal, tune


@pytest.fixture(scope="module")
def journal(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("tuned") / "journal.jsonl"
    tune(Cliffs(), generations=5, journal=path)
    return path


@pytest.mark.parametrize(("ending", "magic"), [(".png", b"\x89PNG"), (".SVG", b"<?xml"), (".pdf", b"%PDF")])
def test_a_picture_is_of_the_kind_its_name_says(
    journal: Path, tmp_path: Path, ending: str, magic: bytes
) -> None:
    save_figure(draw_tuning(journal), tmp_path / f"tuned{ending}")
    assert (tmp_path / f"tuned{ending}").read_bytes().startswith(magic)


def test_the_same_journal_gives_the_same_picture(journal: Path, tmp_path: Path) -> None:
    for name, what in (("a.svg", journal), ("b.svg", read_journal(journal))):
        save_figure(draw_tuning(what), tmp_path / name)
    assert (tmp_path / "a.svg").read_bytes() == (tmp_path / "b.svg").read_bytes()


def test_the_picture_names_the_search_its_dimensions_and_their_best_values(
    journal: Path, tmp_path: Path
) -> None:
    save_figure(draw_tuning(journal), tmp_path / "tuned.svg")
    drawn = (tmp_path / "tuned.svg").read_text(encoding="utf-8")
    last = read_journal(journal).generations[-1]
    failed = sum(not one.evaluation.is_judged for one in read_journal(journal).attempts)
    assert f"36 evaluations, {failed} not judged, population 7, seed 0: best {last.best_so_far:.6g}" in drawn
    for one in BOX:
        assert f"{one.name} = {last.best[one.name]:.4g}" in drawn
    for words in ("cliffs", "best so far", "median of a generation", "not judged", "spread / range"):
        assert words in drawn


def test_a_journal_that_is_not_there_cannot_be_drawn(tmp_path: Path) -> None:
    with pytest.raises(FormatError):
        draw_tuning(tmp_path / "nowhere.jsonl")


def test_a_journal_that_has_only_begun_can_be_drawn_but_not_an_empty_one(
    journal: Path, tmp_path: Path
) -> None:
    lines = journal.read_bytes().splitlines(keepends=True)
    begun = tmp_path / "begun.jsonl"
    begun.write_bytes(lines[0])
    with pytest.raises(InputError, match="nothing has been evaluated"):
        draw_tuning(begun)
    for count in (2, 3, 11):
        begun.write_bytes(b"".join(lines[:count]) + lines[count][:20])
        assert len(draw_tuning(begun).axes) == 2 + len(BOX)


class Fell(Bowl):
    def evaluate(self, values: Mapping[str, float]) -> Evaluation:
        return Evaluation(math.inf, {"reason": f"fell at {values['phase']}"})


class Level(Bowl):
    def evaluate(self, values: Mapping[str, float]) -> Evaluation:
        return Evaluation(-3.0 if values["phase"] < 9.0 else 0.0)


class Wide(Bowl):
    def evaluate(self, values: Mapping[str, float]) -> Evaluation:
        return Evaluation(-1.0 + 10.0 ** (3.0 * values["phase"]))


ODD = tuple(Dimension(f"$x_{k}$ <&> {{", -1e-9, 1e9, 0.0) for k in range(13))


class Many(Bowl):
    def evaluate(self, values: Mapping[str, float]) -> Evaluation:
        return Evaluation(sum(values.values()))


@pytest.mark.parametrize(
    "problem",
    [Fell(), Level(), Wide(), Gears(), Bowl(dimensions=BOX[:1]), Many(ODD, "$f$ " + "long " * 60)],
    ids=["all fell", "all alike", "far apart", "whole numbers", "one", "many"],
)
def test_whatever_was_tuned_can_be_drawn(problem: Bowl | Gears, tmp_path: Path) -> None:
    tune(problem, generations=3, journal=tmp_path / "journal.jsonl")
    save_figure(draw_tuning(tmp_path / "journal.jsonl"), tmp_path / "tuned.svg")
    drawn = (tmp_path / "tuned.svg").read_text(encoding="utf-8")
    assert len(re.findall("evaluations<", drawn)) == min(4, len(problem.dimensions))
