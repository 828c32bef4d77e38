"""The walking benchmark runs the same tests with any gait or behaviour, and reports them on one page."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path

import pytest

from posewright import runs
from posewright.bodies import NOMINAL, domain_randomization, draw_domain
from posewright.cli.app import run as run_cli
from posewright.errors import InputError
from posewright.evaluation.walking.benchmark import (
    BenchmarkReport,
    Direction,
    FallTest,
    FloorTest,
    PushTest,
    SpeedTest,
)
from posewright.figures import draw_walk_report
from posewright.figures.saving import picture_bytes
from posewright.gaits import VelocityCommand, read_gait_and_robot, velocity_limits, write_gait
from posewright.kinematics import leg_length_m
from posewright.robots import robot
from posewright.runs import WalkBenchmark, plan_walk_report, report_walk, run_walk_report, walk_gait
from posewright.runs.walking.benchmark import WalkReportPlan

TINY = WalkBenchmark(
    seconds=0.4,
    forward_shares=(1.0,),
    other_shares=(),
    n_speed_bodies=1,
    fall_seconds=1.2,
    n_fall_bodies=1,
    impulses_n_s=(0.3,),
    n_sides=2,
    n_phases=1,
    n_push_bodies=0,
    push_after_s=0.3,
    seconds_after_push=0.3,
    plates_mm=(3.0,),
    slopes_deg=(4.0,),
    n_floor_bodies=1,
)


@pytest.fixture(scope="module")
def biped_report(tmp_path_factory: pytest.TempPathFactory) -> tuple[BenchmarkReport, Path]:
    """A report of a Bioloid's walk, and its folder."""
    folder = tmp_path_factory.mktemp("report")
    report = report_walk("biped", "robotis_bioloid", forward_m_s=0.1, benchmark=TINY, folder=folder)
    return report, folder


def test_every_speed_is_that_of_the_same_walk(biped_report: tuple[BenchmarkReport, Path]) -> None:
    report, _ = biped_report
    gait, card = read_gait_and_robot("biped", robot=robot("robotis_bioloid"))
    top_m_s = velocity_limits(gait.generator(card)).forward_m_s
    assert [test.commanded for test in report.speeds] == pytest.approx([0.1, top_m_s])
    nominal, random = report.common_speed.runs
    for run, domain in (
        (nominal, NOMINAL),
        (random, draw_domain(domain_randomization("random"), 0)),
    ):
        walk = walk_gait(gait, card, command=VelocityCommand(0.1), seconds=0.4, domain=domain)
        assert run.speed_m_s == walk.report.figures["speed_m_s"]
        assert run.max_torque_ratio == walk.report.figures["max_torque_ratio"]
        assert run.upright_s == pytest.approx(1.4, abs=0.01)
    assert (nominal.is_nominal, random.is_nominal) == (True, False)


def test_a_stopped_report_is_continued_from_its_folder(biped_report: tuple[BenchmarkReport, Path]) -> None:
    report, folder = biped_report
    plan = plan_walk_report("biped", "robotis_bioloid", forward_m_s=0.1, benchmark=TINY)
    stored: list[bool] = []
    next(folder.glob("journal/*push*")).unlink()
    again = run_walk_report(plan, folder=folder, on_run=lambda _run, is_stored: stored.append(is_stored))
    assert again == report
    assert (len(stored), stored.count(False)) == (plan.n_runs, 1)
    faster = plan_walk_report("biped", "robotis_bioloid", forward_m_s=0.2, benchmark=TINY)
    with pytest.raises(InputError, match="another command"):
        run_walk_report(faster, folder=folder)


def test_the_page_stands_alone_and_has_all_tables(biped_report: tuple[BenchmarkReport, Path]) -> None:
    report, folder = biped_report
    page = (folder / "report.html").read_text()
    assert "Walk report of biped on robotis_bioloid" in page
    assert 'src="data:image/png;base64,' in page
    assert "http" not in page.replace("http-equiv", "")
    for table in report.tables():
        if table.title and "biped" not in table.title:
            assert f"<h2>{table.title}</h2>" in page
    assert (folder / "report.png").read_bytes().startswith(b"\x89PNG")
    assert json.loads((folder / "report.json").read_text()) == report.to_dict()


def test_the_picture_has_a_panel_for_each_part(biped_report: tuple[BenchmarkReport, Path]) -> None:
    report, _ = biped_report
    picture = picture_bytes(draw_walk_report(report), ".svg").decode()
    for title in ("forward [m/s]", "heading off", "efficiency", "falls an hour", "push survived", "plates"):
        assert title in picture
    assert "turn left" not in picture


def test_a_gait_is_pushed_from_all_sides_in_all_phases_of_its_cycle() -> None:
    plan = plan_walk_report("trot", benchmark=replace(TINY, n_sides=4, n_phases=2, n_push_bodies=1))
    pushes = [planned for planned in plan.tests if isinstance(planned.test, PushTest)]
    gait, card = read_gait_and_robot("trot")
    cycle_s = gait.cycle(card).period_s
    places = []
    for planned in pushes:
        assert isinstance(planned.test, PushTest)
        nominal, random = planned.bodies
        (push,) = nominal.domain.pushes
        assert random.domain.pushes == (push,)
        assert random.domain.friction == draw_domain(domain_randomization("random"), 0).friction
        assert math.degrees(push.from_rad) == pytest.approx(planned.test.side_deg)
        assert push.time_s / cycle_s % 1.0 == pytest.approx(planned.test.phase, abs=1e-9)
        places.append((planned.test.side_deg, planned.test.phase))
    assert places == [(side, phase) for side in (0.0, 90.0, 180.0, -90.0) for phase in (0.0, 0.5)]


def test_falls_are_counted_on_the_same_bodies_with_and_without_pushes() -> None:
    plan = plan_walk_report("trot", benchmark=replace(TINY, n_fall_bodies=2), seed=7)
    undisturbed, pushed = (planned for planned in plan.tests if isinstance(planned.test, FallTest))
    assert [body.seed for body in undisturbed.bodies] == [7, 8]
    for calm_body, pushed_body in zip(undisturbed.bodies, pushed.bodies, strict=True):
        assert replace(pushed_body.domain, pushes=()) == calm_body.domain
        first, second, *_ = pushed_body.domain.pushes
        assert isinstance(pushed.test, FallTest)
        assert second.time_s - first.time_s == pytest.approx(pushed.test.interval_s)
        assert first.impulse_n_s == pushed.test.impulse_n_s


def test_floors_have_their_plates_and_slopes() -> None:
    plan = plan_walk_report("trot", benchmark=TINY)
    plates, slope = (planned.bodies[0] for planned in plan.tests if isinstance(planned.test, FloorTest))
    assert {plate.thickness_m for plate in plates.domain.plates} == {0.003}
    assert math.degrees(math.hypot(*slope.domain.slope_rad)) == pytest.approx(4.0)


def forward_commands(plan: WalkReportPlan) -> list[float | None]:
    tests = [planned.test for planned in plan.tests if isinstance(planned.test, SpeedTest)]
    return [test.commanded for test in tests if test.direction is Direction.FORWARD]


def test_a_gait_that_cannot_turn_is_not_tested_in_turns(tmp_path: Path) -> None:
    trot, card = read_gait_and_robot("trot")
    path = tmp_path / "straight.gait.yaml"
    write_gait(trot.with_values({"maximum_turn_rad": 0.0}), path)
    plan = plan_walk_report(str(path), benchmark=replace(TINY, other_shares=(0.5, 1.0)))
    directions = {planned.test.direction for planned in plan.tests if isinstance(planned.test, SpeedTest)}
    assert directions == {Direction.FORWARD, Direction.LEFT}
    limits = velocity_limits(trot.generator(card))
    back_m_s = -limits.backward_m_s
    ahead_m_s = limits.forward_m_s
    assert forward_commands(plan) == pytest.approx([back_m_s, back_m_s / 2.0, ahead_m_s / 2.0, ahead_m_s])


def test_a_command_that_differs_from_a_share_by_rounding_is_tested_once() -> None:
    trot, card = read_gait_and_robot("trot")
    forward_m_s = math.nextafter(0.5 * velocity_limits(trot.generator(card)).forward_m_s, 0.0)
    benchmark = replace(TINY, forward_shares=(0.5,))
    plan = plan_walk_report("trot", forward_m_s=forward_m_s, benchmark=benchmark)
    assert forward_commands(plan) == [forward_m_s]


def test_a_behaviour_is_tested_as_it_walks() -> None:
    benchmark = replace(TINY, fall_seconds=0.4, n_sides=1)
    report = report_walk("get_up_and_walk", "robotis_bioloid", benchmark=benchmark)
    (speed,) = report.speeds
    assert (speed.commanded, report.commanded_m_s) == (None, None)
    assert speed.n_upright == 2
    assert speed.median("max_torque_ratio") is not None
    assert report.falls[0].hours == pytest.approx(0.4 / 3600.0, rel=0.05)
    assert "speed along the path" in picture_bytes(draw_walk_report(report), ".svg").decode()


def test_legs_are_measured_from_the_hip_to_the_ground() -> None:
    """Sums of the lengths in the cards: thigh, shank, ankle and sole; upper and lower leg and paw."""
    assert leg_length_m(robot("robotis_bioloid")) == pytest.approx(0.187, abs=0.001)
    assert leg_length_m(robot("sony_ers7")) == pytest.approx(0.152, abs=0.001)
    assert leg_length_m(robot("deagostini_robi2")) is None


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["get_up_and_walk", "--robot", "robotis_bioloid", "--forward", "0.1"], "no gait"),
        (["biped", "--forward", "9"], "9"),
        (["nobody"], "nobody"),
    ],
)
def test_what_cannot_be_reported_is_an_error(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_cli(["gait", "report", *arguments, "--json"]) == 2
    assert message in capsys.readouterr().err


def test_a_benchmark_without_bodies_is_an_error() -> None:
    with pytest.raises(InputError, match="n_fall_bodies 0"):
        WalkBenchmark(n_fall_bodies=0)


def test_the_command_prints_the_report(
    biped_report: tuple[BenchmarkReport, Path],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    report, folder = biped_report
    monkeypatch.setattr(runs, "QUICK_BENCHMARK", TINY)
    arguments = ["gait", "report", "biped", "--robot", "robotis_bioloid", "--forward", "0.1", "--quick"]
    arguments += ["--workers", "1"]
    assert run_cli([*arguments, "--out", str(folder), "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == report.to_dict()
    assert run_cli(arguments) == 0
    text = capsys.readouterr().out
    for part in ("biped on robotis_bioloid", "falls an hour, undisturbed", "Greatest push", "plates 3 mm"):
        assert part in text
