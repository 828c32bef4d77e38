"""A search that was stopped anywhere goes on as if it had not been; a journal is never mistaken or spoilt."""

from __future__ import annotations

import errno
import hashlib
import json
import math
import os
import re
import statistics
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from posewright.arrays import mean_of, standard_deviation
from posewright.cli.app import run
from posewright.errors import FormatError, InputError, OutputError
from posewright.search import Attempt, Dimension, Evaluation, Generation, TuningResult, read_journal, tune
from posewright.search.journal import (
    attempt_line,
    checksum_of,
    header_line,
    read_attempt,
    read_header,
)
from posewright.search.plan import Plan

from .tuning_problems import BOX, Bowl, Cliffs, Gears

OPTIONS: dict[str, Any] = {"generations": 3, "population": 4, "seed": 9}


class Counting(Cliffs):
    """Cliffs that remember what they were asked."""

    def evaluate(self, values: Mapping[str, float]) -> Evaluation:
        ASKED.append(dict(values))
        return super().evaluate(values)


ASKED: list[Mapping[str, float]] = []


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> tuple[bytes, TuningResult]:
    """The journal of a search that nothing stopped, and its result."""
    path = tmp_path_factory.mktemp("whole") / "journal.jsonl"
    tuned = tune(Cliffs(), journal=path, **OPTIONS)
    return path.read_bytes(), tuned


def resume(content: bytes, path: Path, problem: Any = None, **changes: Any) -> tuple[bytes, TuningResult]:
    path.write_bytes(content)
    tuned = tune(problem or Counting(), journal=path, **{**OPTIONS, **changes})
    return path.read_bytes(), tuned


def refused(content: bytes, path: Path, error: type[Exception], message: str, **changes: Any) -> str:
    """Check that a journal is refused and left as it is; return the message."""
    with pytest.raises(error, match=message) as caught:
        resume(content, path, **changes)
    assert path.read_bytes() == content
    return str(caught.value)


def test_a_journal_holds_every_evaluation(whole: tuple[bytes, TuningResult], tmp_path: Path) -> None:
    seen: list[Attempt] = []
    path = tmp_path / "journal.jsonl"
    tuned = tune(Cliffs(), journal=path, after=seen.append, **OPTIONS)
    journal = read_journal(path)
    assert journal.attempts == tuple(seen)
    assert journal.generations == tuned.generations == whole[1].generations
    assert journal.plan == Plan("cliffs", BOX, population=4, spread=0.3, seed=9)
    assert path.read_bytes() == whole[0]


def test_a_journal_is_strict_json_in_ascii(whole: tuple[bytes, TuningResult]) -> None:
    def refuse(name: str) -> None:
        raise AssertionError(name)

    lines = [json.loads(line, parse_constant=refuse) for line in whole[0].decode("ascii").splitlines()]
    assert len(lines) == 1 + 1 + 3 * 4
    assert None in [line["score"] for line in lines[1:]]
    assert lines[0]["dimensions"][0] == {
        "name": "length_m",
        "low": 0.0,
        "high": 0.1,
        "start": 0.08,
        "is_whole": False,
    }


def check_cut(whole: tuple[bytes, TuningResult], kept: int, path: Path) -> None:
    """Check that a journal cut off after some bytes goes on to the same end, and evaluates no more."""
    content, tuned = whole
    ASKED.clear()
    assert resume(content[:kept], path) == (content, tuned)
    written = content[:kept].count(b"\n")
    assert len(ASKED) == tuned.evaluations - max(0, written - 1)


def test_a_search_cut_off_at_any_line_goes_on_to_the_same_end(
    whole: tuple[bytes, TuningResult], tmp_path: Path
) -> None:
    ends = [0, *(match.end() for match in re.finditer(b"\n", whole[0]))]
    for end in ends:
        for kept in {max(0, end - 1), end, min(end + 1, len(whole[0]))}:
            check_cut(whole, kept, tmp_path / "journal.jsonl")


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(share=st.floats(0.0, 1.0))
def test_a_search_cut_off_at_any_byte_goes_on_to_the_same_end(
    whole: tuple[bytes, TuningResult], tmp_path: Path, share: float
) -> None:
    check_cut(whole, round(share * len(whole[0])), tmp_path / "journal.jsonl")


@pytest.mark.parametrize("problem", [Gears(), Bowl()], ids=["whole numbers", "bowl"])
def test_a_search_stopped_time_and_again_goes_on_to_the_same_end(problem: Any, tmp_path: Path) -> None:
    at_once, bit_by_bit = tmp_path / "at_once.jsonl", tmp_path / "bit_by_bit.jsonl"
    tuned = tune(problem, generations=12, journal=at_once)
    for generations in (1, 2, 5, 6, 12):
        last = tune(problem, generations=generations, journal=bit_by_bit)
    assert last == tuned
    assert bit_by_bit.read_bytes() == at_once.read_bytes()


def test_an_error_of_the_problem_leaves_a_journal_that_goes_on(
    whole: tuple[bytes, TuningResult], tmp_path: Path
) -> None:
    class Tired(Cliffs):
        def evaluate(self, values: Mapping[str, float]) -> Evaluation:
            left[0] -= 1
            if left[0] < 0:
                raise KeyboardInterrupt
            return super().evaluate(values)

    path, left = tmp_path / "journal.jsonl", [6]
    with pytest.raises(KeyboardInterrupt):
        tune(Tired(), journal=path, **OPTIONS)
    assert len(read_journal(path).attempts) == 6
    assert resume(path.read_bytes(), path) == whole


def test_fewer_generations_than_stand_there_are_the_first_ones(
    whole: tuple[bytes, TuningResult], tmp_path: Path
) -> None:
    content, fewer = resume(whole[0], tmp_path / "journal.jsonl", generations=2)
    assert content == whole[0]
    assert fewer.generations == whole[1].generations[:3]


def test_what_was_recalled_is_shown_too_and_said_to_be(
    whole: tuple[bytes, TuningResult], tmp_path: Path
) -> None:
    lines = whole[0].splitlines(keepends=True)
    path = tmp_path / "journal.jsonl"
    path.write_bytes(b"".join(lines[: 1 + 1 + 4 + 3]))
    shown: list[Generation] = []
    evaluated: list[Attempt] = []

    def watch(one: Generation) -> bool:
        shown.append(one)
        return True

    tune(Cliffs(), journal=path, watch=watch, after=evaluated.append, **OPTIONS)
    assert [one.recalled for one in shown] == [1, 4, 3, 0]
    assert [(one.generation, one.index) for one in evaluated] == [(2, 3), (3, 0), (3, 1), (3, 2), (3, 3)]


def test_one_damaged_byte_is_found_where_it_is(whole: tuple[bytes, TuningResult], tmp_path: Path) -> None:
    """In any line that is whole: a digit that changed is no less damage than one that is no digit."""
    content = whole[0]
    for at in range(0, len(content) - 1, 37):
        if content[at : at + 1] == b"\n":
            continue
        line = content[:at].count(b"\n") + 1
        other = b"7" if content[at : at + 1] != b"7" else b"8"
        for put in (other, b"\xff"):
            damaged = content[:at] + put + content[at + 1 :]
            (tmp_path / "journal.jsonl").write_bytes(damaged)
            with pytest.raises(FormatError, match=rf"journal.jsonl:{line}: "):
                read_journal(tmp_path / "journal.jsonl")


@pytest.mark.parametrize("change", ["missing", "twice", "swapped", "empty", "joined", "nested", "list"])
def test_a_journal_with_lines_out_of_order_is_refused_and_left_as_it_is(
    whole: tuple[bytes, TuningResult], tmp_path: Path, change: str
) -> None:
    lines = whole[0].splitlines(keepends=True)
    lines[4:6] = {
        "missing": lines[5:6],
        "twice": [lines[4], lines[4]],
        "swapped": [lines[5], lines[4]],
        "empty": [b"\n", lines[5]],
        "joined": [lines[4][:-1], lines[5]],
        "nested": [b"[" * 100_000 + b"\n", lines[5]],
        "list": [b"[1]\n", lines[5]],
    }[change]
    line = 6 if change == "twice" else 5
    refused(b"".join(lines), tmp_path / "journal.jsonl", FormatError, f"journal.jsonl:{line}: ")


@pytest.mark.parametrize(
    "content",
    [b"shopping list\nmilk\n", b"shopping list", b"{}\n", b"\n", b"\0\0\0", b'{"journal": "post"}\n'],
)
def test_a_file_that_is_no_journal_is_refused_and_left_as_it_is(content: bytes, tmp_path: Path) -> None:
    message = refused(content, tmp_path / "list.txt", FormatError, "list.txt:1: ")
    assert "posewright tune" in message


def test_a_journal_of_a_later_version_is_refused(whole: tuple[bytes, TuningResult], tmp_path: Path) -> None:
    later = whole[0].replace(b'"version": 1', b'"version": 2')
    refused(later, tmp_path / "journal.jsonl", FormatError, "version 2, not 1")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"problem": Bowl()}, "another problem: 'cliffs', not 'bowl'"),
        ({"seed": 10}, "another seed: 9, not 10"),
        ({"population": 5}, "another population: 4, not 5"),
        ({"spread": 0.2}, "another spread: 0.3, not 0.2"),
        ({"problem": Cliffs(dimensions=(*BOX[:2], replace(BOX[2], start=0.5)))}, "another set of dimensions"),
    ],
)
def test_a_journal_of_another_search_is_refused_and_left_as_it_is(
    whole: tuple[bytes, TuningResult], tmp_path: Path, changes: dict[str, Any], message: str
) -> None:
    for content in (whole[0], whole[0][:-5]):
        refused(content, tmp_path / "journal.jsonl", InputError, message, **changes)


def test_a_journal_whose_candidates_cannot_be_repeated_is_refused(
    whole: tuple[bytes, TuningResult], tmp_path: Path
) -> None:
    """As after a change of cma: line by line it is whole, but the search asks for something else."""
    lines = whole[0].decode().splitlines()
    plan, _ = read_header(lines[0])
    written = [header_line(plan, "cma 1.0")]
    for number, line in enumerate(lines[1:]):
        attempt = read_attempt(line, plan, number, checksum_of(lines[number]))
        if number == 3:
            values = {**attempt.values, "phase": attempt.values["phase"] + 1e-6}
            attempt = replace(attempt, values=values)
        written.append(attempt_line(attempt, checksum_of(written[-1])))
    content = "".join(f"{line}\n" for line in written).encode()
    message = refused(content, tmp_path / "journal.jsonl", FormatError, "draws another candidate")
    assert "journal.jsonl:5: " in message
    assert "cma 1.0" in message


def test_a_second_search_on_the_same_journal_is_refused(
    whole: tuple[bytes, TuningResult], tmp_path: Path
) -> None:
    path = tmp_path / "journal.jsonl"

    def second(attempt: Attempt) -> None:
        before = path.read_bytes()
        with pytest.raises(OutputError, match="another process is writing"):
            tune(Cliffs(), journal=path, **OPTIONS)
        assert path.read_bytes() == before
        assert read_journal(path).attempts[-1] == attempt  # but it may be read

    assert tune(Cliffs(), journal=path, after=second, **OPTIONS) == whole[1]
    assert path.read_bytes() == whole[0]


def test_a_journal_that_cannot_be_written_is_refused_before_anything_is_evaluated(tmp_path: Path) -> None:
    ASKED.clear()
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path, tmp_path / "pipe", tmp_path / "nowhere" / "journal.jsonl"):
        with pytest.raises(OutputError):
            tune(Counting(), journal=path, **OPTIONS)
    assert ASKED == []


def test_a_journal_that_cannot_be_read_is_refused(tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "nowhere.jsonl"):
        with pytest.raises(FormatError, match="cannot be read"):
            read_journal(path)


def test_a_full_disk_is_told_of_and_the_search_goes_on_when_there_is_room(
    whole: tuple[bytes, TuningResult], tmp_path: Path
) -> None:
    def write_little(handle: int, content: memoryview) -> int:
        room[0] -= min(50, len(content))
        if room[0] < 0:
            genuine(handle, content[:9])
            raise OSError(errno.ENOSPC, "No space left on device")
        return genuine(handle, content[:50])  # a system may write less than it is given

    genuine, room, path = os.write, [1500], tmp_path / "journal.jsonl"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "write", write_little)
        with pytest.raises(OutputError, match="No space left"):
            tune(Cliffs(), journal=path, **OPTIONS)
    assert not path.read_bytes().endswith(b"\n")
    assert 2 < len(read_journal(path).attempts) < 12
    assert resume(path.read_bytes(), path) == whole


TEXTS = st.text(max_size=12)
NUMBERS = st.floats(allow_nan=False)
FACTS = st.dictionaries(TEXTS, TEXTS | NUMBERS | st.integers(-(10**30), 10**30), max_size=4)


@given(fingerprint=TEXTS, score=NUMBERS, facts=FACTS, share=st.floats(0.0, 1.0), teeth=st.integers(-3, 9))
def test_what_is_written_down_is_read_as_it_was(
    fingerprint: str, score: float, facts: dict[str, float | int | str], share: float, teeth: int
) -> None:
    dimensions = (
        Dimension('a\n"b"', -0.1, 0.3, 0.1 + 0.1 * share),
        Dimension("ß", -3, 9, teeth, is_whole=True),
    )
    plan = Plan(fingerprint, dimensions, population=4, spread=0.1, seed=2**62)
    header = header_line(plan, "made")
    assert read_header(header) == (plan, "made")
    values = {dimensions[0].name: dimensions[0].start, "ß": teeth}
    attempt = Attempt(1, 2, values, Evaluation(score, facts))
    line = attempt_line(attempt, checksum_of(header))
    assert "\n" not in header + line
    assert line.isascii()
    assert read_attempt(line, plan, 3, checksum_of(header)) == attempt


def test_a_check_goes_over_its_line_and_all_before_it(whole: tuple[bytes, TuningResult]) -> None:
    """As the page says, so that others can check a journal too."""
    check = ""
    for line in whole[0].decode().splitlines():
        body, name, sealed = re.fullmatch(r'(.*), "(hash|check)": "([0-9a-f]{16})"\}', line).groups()  # type: ignore[union-attr]
        check = hashlib.sha256(f"{check}{body}}}".encode()).hexdigest()[:16]
        assert (check, name) == (sealed, "check" if '"index"' in body else "hash")


def test_not_a_number_is_kept_as_a_fact() -> None:
    plan = Plan("one", (Dimension("x", 0.0, 1.0, 0.5),), population=4, spread=0.1, seed=0)
    attempt = Attempt(0, 0, {"x": 0.5}, Evaluation(0.0, {"angle": math.nan}))
    read = read_attempt(attempt_line(attempt, ""), plan, 0, "")
    assert math.isnan(float(read.evaluation.facts["angle"]))


@pytest.mark.parametrize("odd", ['"0.5"', "null", "true", "1" + "0" * 400, "[1.0]", "{}"])
def test_a_value_that_is_no_number_is_refused_however_it_is_sealed(tmp_path: Path, odd: str) -> None:
    path = tmp_path / "journal.jsonl"
    tune(Bowl(), generations=1, journal=path)
    header, start, *_ = path.read_text().splitlines()
    body = json.loads(start)
    del body["check"]
    body["values"][BOX[0].name] = json.loads(odd)
    told = json.dumps(body)
    check = hashlib.sha256(f"{checksum_of(header)}{told}".encode()).hexdigest()[:16]
    path.write_text(f'{header}\n{told[:-1]}, "check": "{check}"}}\n')
    with pytest.raises(FormatError, match=r"journal\.jsonl:2: the line (was changed|is damaged)"):
        tune(Bowl(), generations=1, journal=path)


def test_a_candidate_outside_its_range_is_refused_with_its_line(
    whole: tuple[bytes, TuningResult], tmp_path: Path
) -> None:
    path = tmp_path / "journal.jsonl"
    path.write_bytes(whole[0])
    journal = read_journal(path)
    first, *_ = journal.attempts
    name = journal.plan.dimensions[0].name
    header = whole[0].splitlines()[0].decode()
    far = replace(first, values={**first.values, name: 1e308})
    path.write_text(f"{header}\n{attempt_line(far, checksum_of(header))}\n")
    with pytest.raises(FormatError, match=rf"{name} is 1e\+308, outside its range") as caught:
        read_journal(path)
    assert caught.value.where is not None
    assert caught.value.where.line == 2


@pytest.mark.parametrize("score", [1e308, -1e308])
def test_scores_whose_sum_is_not_finite_are_reported(
    whole: tuple[bytes, TuningResult], tmp_path: Path, score: float
) -> None:
    path = tmp_path / "journal.jsonl"
    path.write_bytes(whole[0])
    journal = read_journal(path)
    lines = [whole[0].splitlines()[0].decode()]
    for attempt in journal.attempts:
        changed = replace(attempt, evaluation=Evaluation(score, {"largest": 1e308}))
        lines.append(attempt_line(changed, checksum_of(lines[-1])))
    path.write_text("\n".join(lines) + "\n")
    assert {generation.median_score for generation in read_journal(path).generations} == {score}
    assert run(["tune", "--report", str(path), "--plot", str(tmp_path / "course.png")]) == 0


def test_means_and_deviations_of_numbers_without_a_finite_square() -> None:
    assert mean_of([1e308, 1e308, 1e308]) == pytest.approx(1e308)
    assert standard_deviation([1e200, 3e200], is_sample=False) == pytest.approx(1e200)
    assert standard_deviation([1.0, 3.0], is_sample=True) == statistics.stdev([1.0, 3.0])
    assert math.isnan(standard_deviation([1.0, math.inf], is_sample=True))
