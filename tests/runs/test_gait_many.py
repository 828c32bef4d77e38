"""A gait on many bodies, none quite like the model."""

from __future__ import annotations

import json
import math
import multiprocessing
import os
import signal
import threading
from collections.abc import Callable

import pytest

from posewright.bodies import DomainParameters, DomainRandomization, domain_randomization, draw_domain
from posewright.errors import BodyError, InputError, UnavailableError
from posewright.evaluation.walking.figures import FIGURES
from posewright.gaits import VelocityCommand, read_gait
from posewright.robots import robot
from posewright.runs.walking.many import WalkTask, walk_many
from posewright.runs.walking.walk import walk_gait

from ..search.worker_tasks import eventually, is_there

CARD = robot("sony_ers7")
GAIT = read_gait("trot", robot=CARD)
AHEAD = VelocityCommand(0.12)


def test_many_bodies_are_the_ones_of_the_seeds_that_follow() -> None:
    many = walk_many(GAIT, CARD, command=AHEAD, bodies=3, seed=5, seconds=0.5)
    assert [body.seed for body in many.bodies] == [5, 6, 7]
    assert len({body.domain for body in many.bodies}) == 3
    (second,) = walk_many(GAIT, CARD, command=AHEAD, bodies=1, seed=6, seconds=0.5).bodies
    assert second.to_dict() == many.bodies[1].to_dict()
    alone = walk_gait(GAIT, CARD, command=AHEAD, seconds=0.5, domain=second.domain, seed=6)
    assert alone.report == second.report


def test_of_many_bodies_the_worst_and_the_median_are_told() -> None:
    seeds: list[int] = []
    many = walk_many(
        GAIT,
        CARD,
        command=AHEAD,
        bodies=3,
        seconds=0.5,
        on_progress=lambda body: seeds.append(body.seed),
        clock=lambda: 0.0,
    )
    tilts = sorted(report.attitude.max_tilt_deg for report in many.reports)
    assert many.worst["max_tilt_deg"] == tilts[2]
    assert many.median["max_tilt_deg"] == tilts[1]
    assert set(many.worst) == {figure.name for figure in FIGURES}
    speeds = [report.travel.speed_m_s for report in many.reports if report.travel.speed_m_s is not None]
    assert many.worst["speed_m_s"] == max(speeds, key=lambda speed: abs(speed - 0.12))
    assert seeds == [0, 1, 2]
    data = json.loads(json.dumps(many.to_dict(), allow_nan=False))
    assert data["held_joints"] == ["mouth", *CARD.group("ears"), *CARD.group("tail")]
    assert (data["upright"], data["n_bodies"], data["falls"]) == (many.upright, 3, 3 - many.upright)


def test_workers_walk_the_same_bodies() -> None:
    alone, parallel = (
        walk_many(GAIT, CARD, command=AHEAD, bodies=2, seconds=0.4, workers=workers) for workers in (1, 2)
    )
    assert alone.to_dict()["bodies"] == parallel.to_dict()["bodies"]


TOO_HEAVY = DomainParameters(mass_scale=1e308)
"""A body whose weight is no number."""


@pytest.fixture
def _too_heavy(monkeypatch: pytest.MonkeyPatch) -> None:
    """Draw as ever, but for the body of seed 1, which no simulation can carry."""

    def draw(ranges: DomainRandomization, seed: int) -> DomainParameters:
        return TOO_HEAVY if seed == 1 else draw_domain(ranges, seed)

    monkeypatch.setattr("posewright.runs.walking.many.draw_domain", draw)


@pytest.mark.usefixtures("_too_heavy")
@pytest.mark.parametrize("workers", [1, 2])
def test_a_body_the_simulation_fails_on_counts_as_fallen_and_the_others_walk_on(workers: int) -> None:
    many = walk_many(GAIT, CARD, command=AHEAD, bodies=3, seconds=0.4, workers=workers)
    before, failed, after = many.bodies
    assert (failed.seed, failed.domain, failed.report) == (1, TOO_HEAVY, None)
    assert failed.failure is not None
    assert "blew up" in failed.failure
    assert (many.upright, many.failed) == (2, (failed,))
    (alone,) = walk_many(GAIT, CARD, command=AHEAD, bodies=1, seed=2, seconds=0.4).bodies
    assert alone.to_dict() == after.to_dict()
    assert (many.worst["falls"], many.median["falls"]) == (1, 0.0)
    assert many.reports == (before.report, after.report)


@pytest.mark.usefixtures("_too_heavy")
def test_a_failure_is_told_with_seed_and_reason_and_without_figures() -> None:
    many = walk_many(GAIT, CARD, command=AHEAD, bodies=2, seconds=0.4)
    data = json.loads(json.dumps(many.to_dict(), allow_nan=False))
    assert (data["upright"], data["falls"], data["fallen_seeds"]) == (1, 1, [1])
    assert data["falls"] == sum(body["falls"] for body in data["bodies"])
    assert data["failures"] == [{"seed": 1, "reason": many.bodies[1].failure}]
    walked, failed = data["bodies"]
    assert set(failed) == set(walked)
    assert (walked["failure"], failed["failure"]) == (None, many.bodies[1].failure)
    known_values = {name for name, value in failed.items() if value is not None}
    assert known_values == {"seed", "failure", "falls", "variation", "simulated_s"}


@pytest.mark.usefixtures("_too_heavy")
def test_where_the_simulation_fails_on_all_there_is_no_figure_but_falls() -> None:
    many = walk_many(GAIT, CARD, command=AHEAD, bodies=1, seed=1, seconds=0.4)
    data = json.loads(json.dumps(many.to_dict(), allow_nan=False))
    assert (data["upright"], data["commanded_forward_m_s"]) == (0, 0.12)
    assert {name for name, value in data["worst"].items() if value is not None} == {"falls"}
    assert data["held_joints"] == ["mouth", *CARD.group("ears"), *CARD.group("tail")]


TOO_WEAK = DomainParameters(mass_scale=20.0)
"""A body whose servos cannot carry it: it sinks before the command changes."""


@pytest.mark.parametrize("first", [TOO_WEAK, TOO_HEAVY])
def test_what_many_were_asked_for_is_that_of_the_whole_time_whoever_fell(
    first: DomainParameters, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("posewright.runs.walking.many.draw_domain", lambda *_: first)
    schedule = [(0.0, AHEAD), (0.6, VelocityCommand(turn_rad_s=0.4))]
    many = walk_many(GAIT, CARD, command=schedule, bodies=1, seconds=0.8, settle_s=0.4)
    assert many.upright == 0
    data = many.to_dict()
    commanded = [data[f"commanded_{name}"] for name in ("forward_m_s", "left_m_s", "turn_rad_s")]
    assert commanded == pytest.approx([0.12 * 0.25, 0.0, 0.4 * 0.75])
    assert commanded == [
        many.commanded(f"commanded_{name}") for name in ("forward_m_s", "left_m_s", "turn_rad_s")
    ]


def test_the_bodies_of_other_ranges_are_not_called_those_that_ship() -> None:
    shipped, own = (
        walk_many(GAIT, CARD, command=AHEAD, bodies=1, seconds=0.2, settle_s=0.0, ranges=ranges)
        for ranges in (domain_randomization(), DomainRandomization())
    )
    assert (shipped.to_dict()["body"], own.to_dict()["body"]) == ("random", "varied")
    assert own.to_dict("my.bodies.yaml") == {**own.to_dict(), "body": "my.bodies.yaml"}


def test_of_one_body_that_was_asked_for_a_failure_is_an_error() -> None:
    with pytest.raises(BodyError, match="blew up"):
        walk_gait(GAIT, CARD, command=AHEAD, seconds=0.4, domain=TOO_HEAVY)


def test_what_cannot_be_walked_by_any_body_is_an_error_with_workers_too() -> None:
    for workers in (1, 2):
        with pytest.raises(InputError, match="out of range"):
            walk_many(GAIT, CARD, command=VelocityCommand(9.0), bodies=2, workers=workers)


def during_the_walk(act: Callable[[list[int]], None]) -> Callable[[], list[int]]:
    """Do something to the workers when they are there; return how to wait for it, and who they were."""
    seeds: list[int] = []

    def watch() -> None:
        eventually(lambda: len(multiprocessing.active_children()) == 2)
        seeds.extend(process.pid or 0 for process in multiprocessing.active_children())
        act(seeds)

    watcher = threading.Thread(target=watch)
    watcher.start()

    def joined() -> list[int]:
        watcher.join()
        return seeds

    return joined


LONG = {"bodies": 4, "seconds": 600.0, "workers": 2}
"""A walk of some minutes."""


def test_ctrl_c_ends_a_walk_of_many_at_once_and_quietly(capfd: pytest.CaptureFixture[str]) -> None:
    def interrupt(workers: list[int]) -> None:
        for process in (*workers, os.getpid()):  # as the terminal does, to all of them
            os.kill(process, signal.SIGINT)

    joined = during_the_walk(interrupt)
    with pytest.raises(KeyboardInterrupt):
        walk_many(GAIT, CARD, command=AHEAD, **LONG)  # type: ignore[arg-type]
    assert not any(map(is_there, joined()))
    assert capfd.readouterr() == ("", "")


def test_a_worker_that_is_killed_ends_the_walk_with_a_reason() -> None:
    joined = during_the_walk(lambda workers: os.kill(workers[0], signal.SIGKILL))
    with pytest.raises(UnavailableError, match="a worker process ended"):
        walk_many(GAIT, CARD, command=AHEAD, **LONG)  # type: ignore[arg-type]
    assert not any(map(is_there, joined()))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"bodies": 0}, "the number of bodies is 0 .*1 to 10000"),
        ({"bodies": 10**9}, "bodies"),
        ({"workers": 0}, "0 workers"),
        ({"seed": -1}, f"the seed is -1 .*0 to {2**63 - 20}"),
        ({"seed": 2**63 - 19}, "the seed is"),
    ],
)
def test_numbers_of_bodies_and_workers_have_their_ranges(changes: dict[str, int], message: str) -> None:
    with pytest.raises(InputError, match=message):
        walk_many(GAIT, CARD, command=AHEAD, **changes)  # type: ignore[arg-type]


def test_the_last_seed_of_all_is_a_body_too() -> None:
    (last,) = walk_many(GAIT, CARD, command=AHEAD, bodies=1, seed=2**63 - 1, seconds=0.2, settle_s=0.0).bodies
    assert last.seed == 2**63 - 1
    assert math.isfinite(last.simulated_s)


def test_a_gait_comes_back_whole_from_its_travels() -> None:
    import pickle

    task = WalkTask(GAIT, CARD, AHEAD, 0.2, 0.0)
    task.walk((0, DomainParameters()))  # which makes a world, that stays at home
    unpickled = pickle.loads(pickle.dumps(task))  # noqa: S301 -- our own
    assert unpickled.gait.parameters == GAIT.parameters
    assert unpickled.gait.phases == GAIT.phases
    assert (unpickled.gait.name, unpickled.gait.travel_gain) == (GAIT.name, GAIT.travel_gain)
