"""What a tuning's document says is searched and walked; the rest is refused, with its place."""

from __future__ import annotations

import re
from dataclasses import fields, replace
from pathlib import Path

import pytest

from posewright.bodies import NOMINAL, domain_randomization, draw_domain
from posewright.errors import InputError
from posewright.gaits import gait_names, read_gait, write_gait
from posewright.robots import robot
from posewright.runs import GaitProblem, read_tune, tune_names
from posewright.runs.tuning.reading import OPTIONAL, parse_tune
from posewright.runs.tuning.score import TERMS, Fall, Following, Tilt
from posewright.runs.tuning.task import TunedBodies, TunedWalk, VelocityTarget
from posewright.search import Dimension

from .gait_tunes import ERS7, MADE_GAIT, QUICK

OWN = f"gait: {MADE_GAIT.as_posix()}"


@pytest.mark.parametrize("name", ["crawl", "fast", "trot"])
def test_every_tuning_that_ships_begins_at_a_gait_and_walks_it(name: str) -> None:
    task = read_tune(name)
    assert task.name == name == task.gait.name
    assert set(tune_names("sony_ers7")) == set(gait_names("sony_ers7"))
    assert set(tune_names("sony_ers7")) < set(tune_names())
    assert tune_names(robot("deagostini_robi2")) == ()
    assert task.locked_joints == ("mouth", "left_ear", "right_ear", "tail_tilt", "tail_pan")
    assert all(term.weight > 0.0 for term in task.terms)
    evaluation = GaitProblem(
        replace(
            task,
            walks=tuple(replace(walk, seconds=0.2, settle_s=0.1) for walk in task.walks[:1]),
            bodies=TunedBodies(),
        )
    ).evaluate({dimension.name: dimension.start for dimension in task.dimensions})
    assert evaluation.is_judged, evaluation.facts


@pytest.mark.parametrize("name", tune_names())
def test_every_tuning_that_ships_begins_at_its_gait_itself(name: str) -> None:
    task = read_tune(name)
    assert (
        task.candidate({dimension.name: dimension.start for dimension in task.dimensions}).flat
        == task.gait.flat
    )


def test_a_document_says_what_is_searched_and_walked() -> None:
    task = parse_tune(
        QUICK.replace(
            "  - {forward_m_s: 0.1, seconds: 0.45, settle_s: 0.2}\n",
            "  - {forward_m_s: greatest, weight: 2}\n  - {left_m_s: {greatest: -0.5}, turn_rad_s: 0.3}\n"
            "bodies: {nominal: true, random: 2, seed: 7, worst_share: 0.5}\nhold: [mouth, tail]\n"
            "search: {generations: 5, population: 8, spread: 0.1}\ndescription: a quick one\n",
        )
    )
    assert task.dimensions == (
        Dimension("ground_speed_m_s", 0.25, 0.4, 0.3),
        Dimension("front_height_m", 0.004, 0.02, 0.012),
        Dimension("travel_gain.forward", 0.9, 1.8, 1.2),
    )
    assert task.walks == (
        TunedWalk(VelocityTarget(1.0, is_share=True), weight=2.0),
        TunedWalk(left=VelocityTarget(-0.5, is_share=True), turn=VelocityTarget(0.3)),
    )
    random_bodies = [draw_domain(domain_randomization(), seed) for seed in (7, 8)]
    assert (task.bodies.variations, task.bodies.worst_share) == ((NOMINAL, *random_bodies), 0.5)
    assert task.terms == (Following(weight=1.0), Tilt(weight=0.02, over=5.0), Fall(weight=2.0))
    assert task.locked_joints == ("mouth", "tail_tilt", "tail_pan")
    assert (task.search.generations, task.search.population, task.search.spread) == (5, 8, 0.1)
    assert task.description == "a quick one"


def test_the_page_names_every_key_and_what_it_is_by_default() -> None:
    page = (Path(__file__).parents[2] / "docs/how-to-tune.md").read_text(encoding="utf-8")
    text = re.search(r"```yaml\n(# quick.*?)```", page, re.DOTALL)
    assert text is not None
    task = parse_tune(text[1])
    assert (task.name, len(task.dimensions), len(task.walks), len(task.terms)) == ("quick", 4, 2, 4)
    for name, term in TERMS.items():
        rows = [line for line in page.splitlines() if line.startswith(f"| `{name}` |")]
        assert len(rows) == 1, name
        for entry in fields(term):  # type: ignore[arg-type]
            if entry.name != "weight":
                assert f"`{entry.name}` ({entry.default:g})" in rows[0], (name, entry.name)
    for key in (
        *OPTIONAL,
        "forward_m_s",
        "seconds",
        "settle_s",
        "worst_share",
        "ranges",
        "held_out",
        "population",
    ):
        assert f"`{key}`" in page


def test_the_search_begins_at_the_gaits_own_values() -> None:
    values = "  ascent_pairs: [2, 6]\n  equilibrium_m.hind.y: [0.05, 0.08]\n  shape_factor: [0, 0.5]\n"
    task = parse_tune(QUICK.replace("  front_height_m: [0.004, 0.02]\n", values))
    assert [(dimension.name, dimension.start, dimension.is_whole) for dimension in task.dimensions[1:4]] == [
        ("ascent_pairs", 3, True),
        ("equilibrium_m.hind.y", 0.067, False),
        ("shape_factor", 0.5, False),
    ]
    gait = task.candidate({dimension.name: dimension.low for dimension in task.dimensions})
    feet = gait.parameters.equilibrium_m
    assert (feet["left_rear"][1], feet["right_rear"][1], gait.parameters.ascent_pairs) == (0.05, -0.05, 2)


@pytest.mark.parametrize(
    ("given_text", "instead", "line", "message"),
    [
        ("tune: quick", "tune: a/b", 1, "'a/b' is not a name"),
        ("robot: sony_ers7", "robot: sony_ers8", 2, "unknown robot 'sony_ers8'"),
        ("robot: sony_ers7", "robot: deagostini_robi2", 2, "legs"),
        (OWN, "gait: trott", 3, "unknown gait 'trott' (did you mean trot?)"),
        (f"{OWN}\n", "", 1, "'gait' is missing"),
        (OWN, f"{OWN}\nspeed: 3", 4, "unknown key 'speed'"),
        ("ground_speed_m_s:", "ground_speed:", 5, "unknown gait parameter 'ground_speed'"),
        ("travel_gain.forward:", "travel_gain.up:", 7, "unknown travel_gain 'up'"),
        ("[0.25, 0.4]", "[0.25, 4]", 5, "ground_speed_m_s is 4 (the range is 0.01 to 1 m/s)"),
        ("[0.25, 0.4]", "[0.4, 0.25]", 5, "the range goes from 0.4 to 0.25"),
        ("[0.25, 0.4]", "[0.25, 0.25]", 5, "leave out a parameter that is not searched"),
        ("[0.25, 0.4]", "[0.25, 0.3, 0.4]", 5, "expected two numbers, found 3"),
        ("[0.25, 0.4]", "[0.25, fast]", 5, "expected a number, found 'fast'"),
        ("[0.25, 0.4]", "[0.25, .nan]", 5, "expected a finite number"),
        ("[0.25, 0.4]", "0.3", 5, "expected a list"),
        ("ground_speed_m_s: [0.25, 0.4]", "ascent_pairs: [1.5, 4]", 5, "a whole number"),
        ("[0.25, 0.4]", "[0.31, 0.4]", 5, "the gait has 0.3, outside 0.31 to 0.4"),
        ("front_height_m:", "central_height_m:", 6, "the gait has several values for central_height_m"),
        ("start: 1.2", "start: 2", 7, "is out of range (the range is 0.9..1.8)"),
        (
            "ground_speed_m_s: [0.25, 0.4]",
            "front_height_m.hind: [0.01, 0.02]",
            6,
            "front_height_m.hind is set by",
        ),
        ("forward_m_s: 0.1", "forward_m_s: fastest", 9, "unknown velocity 'fastest'"),
        ("forward_m_s: 0.1", "forward_m_s: {greatest: 1.5}", 9, "1.5 is out of range (the range is -1..1)"),
        ("forward_m_s: 0.1", "forward_m_s: greatest, left_m_s: greatest", 9, "1.41 times the greatest speed"),
        ("forward_m_s: 0.1", "forward_m_s: 99", 9, "is out of range (the range is -10..10)"),
        ("forward_m_s: 0.1", "ahead: 0.1", 9, "unknown key 'ahead'"),
        ("seconds: 0.45", "seconds: 0", 9, "is out of range (the range is 0.1..600)"),
        ("seconds: 0.45", "weight: 0", 9, "a walk of weight 0 does not count"),
        ("  - {forward_m_s: 0.1, seconds: 0.45, settle_s: 0.2}", "  []", 8, "0 walks"),
        (", fall: 2}", "}", 10, "'fall' is missing"),
        ("following: 1, tilt_deg: {weight: 0.02, over: 5}, ", "", 10, "the score has no term besides falls"),
        ("following: 1", "speeed: 1", 10, "did you mean speed?"),
        ("following: 1", "following: -1", 10, "-1"),
        ("following: 1", "following: {worst: 1}", 10, "'weight' is missing"),
        ("following: 1", "following: {weight: 1, worst: 2}", 10, "2.0 is out of range (the range is 0..1)"),
        ("following: 1", "slip: {weight: 1, over: 2}", 10, "unknown key 'over'"),
        (
            "fall: 2}\n",
            "fall: 2}\nhold: [left_front_leg]\n",
            11,
            "only joints that belong to no leg can be held",
        ),
        ("fall: 2}\n", "fall: 2}\nhold: [nose]\n", 11, "unknown joint or group of joints 'nose'"),
        ("fall: 2}\n", "fall: 2}\nbodies: {nominal: false}\n", 11, "no body walks"),
        ("fall: 2}\n", "fall: 2}\nbodies: {random: -1}\n", 11, "-1"),
        ("fall: 2}\n", "fall: 2}\nbodies: {ranges: mars}\n", 11, "unknown set of bodies 'mars'"),
        ("fall: 2}\n", "fall: 2}\nsearch: {population: 3}\n", 11, "3 is out of range"),
        ("fall: 2}\n", "fall: 2}\nsearch: {spread: 0.5}\n", 11, "0.5 is out of range"),
    ],
)
def test_what_a_document_must_not_say_is_refused_with_its_place(
    given_text: str, instead: str, line: int, message: str
) -> None:
    assert QUICK.count(given_text) >= 1
    with pytest.raises(InputError) as caught:
        parse_tune(QUICK.replace(given_text, instead, 1), Path("quick.tune.yaml"))
    message_text = str(caught.value)
    assert message in message_text
    where = f"quick.tune.yaml:{line}: "
    assert message_text.startswith(where) or (line == 1 and message_text.startswith("quick.tune.yaml"))


def test_nothing_to_search_is_refused() -> None:
    head, _, tail = QUICK.partition("parameters:\n")
    with pytest.raises(InputError, match="nothing is searched"):
        parse_tune(f"{head}parameters: {{}}\n{tail[tail.index('walks:') :]}")


def test_a_tuning_that_is_not_there_is_named_with_those_that_are(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"unknown tuning 'fst'.*fast"):
        read_tune("fst")
    with pytest.raises(InputError, match=r"gone.tune.yaml"):
        read_tune(tmp_path / "gone.tune.yaml")


def test_paths_in_a_document_are_seen_from_it(tmp_path: Path) -> None:
    write_gait(replace(read_gait(MADE_GAIT, robot=ERS7), name="mine"), tmp_path / "mine.gait.yaml")
    (tmp_path / "my.tune.yaml").write_text(QUICK.replace(OWN, "gait: mine.gait.yaml"))
    task = read_tune(tmp_path / "my.tune.yaml")
    assert (task.gait.name, task.path) == ("mine", tmp_path / "my.tune.yaml")
