"""The report of a walking benchmark: what follows from its runs."""

from __future__ import annotations

import pytest

from posewright.evaluation.walking.benchmark import (
    BenchmarkReport,
    BenchmarkRun,
    Direction,
    FallTest,
    Floor,
    FloorTest,
    PushPlace,
    PushTest,
    SpeedTest,
)

SIDES_DEG = (0.0, 90.0, 180.0, -90.0)


def walked(
    *,
    falls: bool = False,
    seed: int = 0,
    nominal: bool = False,
    seconds: float = 10.0,
    speed: float = 0.2,
    drift_deg: float = 0.0,
    joint_speed: float = 0.8,
) -> BenchmarkRun:
    """Return a run with these figures."""
    return BenchmarkRun(
        is_upright=not falls,
        is_nominal=nominal,
        seed=seed,
        upright_s=seconds,
        speed_m_s=speed,
        heading_drift_deg=drift_deg,
        max_joint_speed_ratio=joint_speed,
    )


def forward(commanded: float | None, *runs: BenchmarkRun) -> SpeedTest:
    return SpeedTest(direction=Direction.FORWARD, commanded=commanded, runs=runs)


def falls_of(*runs: BenchmarkRun, impulse: float = 0.0) -> FallTest:
    return FallTest(impulse_n_s=impulse, interval_s=5.0, runs=runs)


def pushed(impulse: float, side_deg: float, phase: float, *falls: bool) -> PushTest:
    """Return a test with a run for each body: whether it fell."""
    runs = tuple(walked(falls=is_fall, seed=seed) for seed, is_fall in enumerate(falls))
    return PushTest(impulse_n_s=impulse, side_deg=side_deg, phase=phase, runs=runs)


def report_of(
    speeds: tuple[SpeedTest, ...] = (forward(0.1, walked(speed=0.1)),),
    falls: tuple[FallTest, ...] = (falls_of(walked()),),
    pushes: tuple[PushTest, ...] = (pushed(0.5, 0.0, 0.0, False),),
    *,
    commanded_m_s: float | None = 0.1,
    leg_length_m: float | None = 0.2,
) -> BenchmarkReport:
    floors = (FloorTest(floor=Floor.PLATES, value=3.0, runs=(walked(), walked(falls=True, seed=4))),)
    return BenchmarkReport(
        program="biped",
        robot="small",
        conditions="0.1 m/s",
        mass_kg=2.0,
        leg_length_m=leg_length_m,
        commanded_m_s=commanded_m_s,
        seconds=10.0,
        speeds=speeds,
        falls=falls,
        pushes=pushes,
        floors=floors,
    )


def headline(report: BenchmarkReport, label: str) -> tuple[str, str]:
    """Return value and note of a headline."""
    return next((line.value, line.note) for line in report.headlines() if line.label == label)


def test_falls_an_hour_are_the_first_falls_by_the_time_up_to_them() -> None:
    test = falls_of(walked(seconds=60.0), walked(falls=True, seconds=12.0), walked(seconds=60.0))
    assert test.n_falls == 1
    assert test.falls_per_hour == pytest.approx(3600.0 / 132.0)


@pytest.mark.parametrize(("n_falls", "bound"), [(0, 2.996), (1, 4.744), (10, 16.962)])
def test_their_upper_bound_is_that_of_a_poisson_process(n_falls: int, bound: float) -> None:
    """The bounds are those of the table in NIST's Dataplot, one-sided 95 %, for one hour."""
    runs = [walked(falls=index < n_falls, seconds=360.0) for index in range(10)]
    assert falls_of(*runs).most_falls_per_hour == pytest.approx(bound, abs=1e-3)


def test_without_an_upright_moment_there_is_no_rate() -> None:
    test = falls_of(walked(falls=True, seconds=0.0))
    assert (test.falls_per_hour, test.most_falls_per_hour) == (None, None)
    report = report_of(falls=(test,))
    assert headline(report, "falls an hour, undisturbed") == ("-", "every robot fell at once")


def test_a_body_survives_a_push_only_if_it_survives_all_weaker_ones() -> None:
    tests = (
        pushed(0.9, 90.0, 0.0, False, True),
        pushed(0.3, 90.0, 0.0, False, False),
        pushed(0.6, 90.0, 0.0, False, True),
        pushed(0.3, 0.0, 0.0, True, True),
        pushed(0.6, 0.0, 0.0, False, True),
    )
    report = report_of(pushes=tests)
    impulses = report.greatest_impulses
    assert impulses[PushPlace(90.0, 0.0)] == pytest.approx((0.9 + 0.3) / 2.0)
    assert impulses[PushPlace(0.0, 0.0)] == 0.0
    assert report.survived_share(0.6) == 0.5
    value, note = headline(report, "push survived")
    assert value == "0.30 N s"
    assert note.startswith("0.15 N s/kg")
    assert note.endswith("least 0.00 from ahead")


def test_the_top_speed_is_the_greatest_at_which_nine_of_ten_bodies_stay_upright() -> None:
    slow = forward(0.1, *(walked(speed=0.1, seed=seed) for seed in range(10)))
    fast = forward(0.3, *(walked(speed=0.25, seed=seed, falls=seed == 0) for seed in range(10)))
    faster = forward(0.4, *(walked(speed=0.35, seed=seed, falls=seed < 2) for seed in range(10)))
    report = report_of((slow, fast, faster))
    assert report.top_speed is fast
    assert headline(report, "top speed") == (
        "0.250 m/s",
        "1.25 leg lengths a second, 9 of 10 bodies upright",
    )
    assert report.to_dict()["leg_lengths_per_s"] == pytest.approx(1.25)


def test_a_program_that_falls_at_every_speed_has_no_top_speed() -> None:
    report = report_of((forward(0.1, walked(falls=True)),))
    assert report.top_speed is None
    assert headline(report, "top speed") == ("-", "less than 90% upright at every speed")


def test_medians_are_of_the_upright_random_bodies() -> None:
    test = forward(
        0.2,
        walked(speed=0.9, nominal=True),
        walked(speed=0.1),
        walked(speed=0.2),
        walked(speed=0.4),
        walked(speed=9.0, falls=True),
    )
    assert test.nominal == 0.9
    assert test.median("speed_m_s") == 0.2
    assert test.n_upright == 4


def test_heading_counts_to_either_side() -> None:
    report = report_of((forward(0.1, walked(drift_deg=-8.0), walked(drift_deg=2.0), walked(drift_deg=3.0)),))
    assert headline(report, "heading off after 10 s") == (
        "3.0 deg",
        "median over random bodies; the worst of 3: 8.0 deg",
    )
    assert report.to_dict()["worst_heading_drift_deg"] == 8.0


def test_margins_are_what_is_left_at_the_common_and_the_top_speed() -> None:
    slow = forward(0.1, walked(speed=0.1, joint_speed=0.6))
    fast = forward(0.3, walked(speed=0.3, joint_speed=1.2))
    assert headline(report_of((slow, fast)), "speed margin") == (
        "40%, -20%",
        "of the fastest joint at 0.1 m/s and 0.3 m/s",
    )


def test_a_program_without_a_command_has_one_speed() -> None:
    report = report_of((forward(None, walked(speed=0.12)),), commanded_m_s=None, leg_length_m=None)
    assert headline(report, "speed") == ("0.120 m/s", "1 of 1 bodies upright")
    assert report.to_dict()["leg_lengths_per_s"] is None
    assert "forward as it likes" in {test.name for test in report.speeds}


def test_the_tables_have_a_row_for_each_command_side_impulse_and_floor() -> None:
    pushes = tuple(pushed(impulse, side, 0.0, False) for impulse in (0.3, 0.6) for side in SIDES_DEG)
    _, speeds, sides, impulses, floors = report_of(pushes=pushes).tables()
    assert [str(cell) for cell in speeds.rows[0][:4]] == ["forward [m/s]", "0.100", "-", "0.100"]
    assert [row[0] for row in sides.rows] == ["ahead", "left", "behind", "right"]
    assert [row[0] for row in impulses.rows] == ["0.3", "0.6"]
    assert [str(cell) for cell in floors.rows[0]] == ["plates 3 mm", "1 of 2", "0.200"]
