"""Stress maps are drawn from runs that differ in one factor alone."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from pathlib import Path

import pytest

from posewright.bodies import NOMINAL, DomainParameters, Push, domain_randomization, draw_domain
from posewright.cli.app import run as run_cli
from posewright.errors import InputError, UnknownNameError
from posewright.evaluation.stress import POINTS, SPEED, StressedRun
from posewright.figures import draw_stress
from posewright.figures.saving import picture_bytes
from posewright.gaits import VelocityCommand, read_gait_and_robot
from posewright.robots import robot
from posewright.runs import FACTORS, StressedProgram, read_stressed_program, stress_program, walk_gait
from posewright.runs.stress import list_runs
from posewright.simulation import SimulatedBody, World

BIOLOID = robot("robotis_bioloid")


@dataclass(frozen=True)
class Slider:
    """A program that falls on slippery and steep floors, and is as fast as its body is light.

    It stores the bodies that it ran on in a file.
    """

    bodies_path: Path

    def run(self, seed: int, domain: DomainParameters) -> StressedRun:
        with self.bodies_path.open("a") as file:
            file.write(json.dumps([seed, domain.to_dict()]) + "\n")
        is_slippery = domain.friction is not None and domain.friction < 0.25
        is_steep = math.hypot(*domain.slope_rad) > math.radians(5.0)
        return StressedRun(seed, int(is_slippery or is_steep), measured=0.2 / domain.mass_scale)

    def read_bodies(self) -> list[tuple[int, DomainParameters]]:
        bodies = []
        for line in self.bodies_path.read_text().splitlines():
            seed, data = json.loads(line)
            data["pushes"] = tuple(Push(**push) for push in data.get("pushes", ()))
            data["plates"] = ()
            data |= {name: tuple(data[name]) for name in ("com_shift_m", "slope_rad")}
            bodies.append((seed, DomainParameters(**data)))
        return bodies


def sliding(tmp_path: Path) -> tuple[StressedProgram, Slider]:
    slider = Slider(tmp_path / "bodies.jsonl")
    program = StressedProgram("slider", BIOLOID, slider, SPEED, "10 s", documents={"slider": "1"})
    return program, slider


def test_the_map_shows_where_a_program_falls_and_how_fast_it_is(tmp_path: Path) -> None:
    program, _ = sliding(tmp_path)
    stress_map = stress_program(program, factors=["friction", "slope", "mass"], trials=2, body="nominal")
    friction, slope, mass = stress_map.sweeps
    assert friction.find_tolerated() == (0.3, 1.3)
    assert slope.find_tolerated() == (0.0, 4.0)
    assert mass.find_tolerated() == (0.7, 1.75)
    assert [point.median for point in mass.points] == pytest.approx(
        [0.2 / value for value in FACTORS["mass"].values]
    )


def test_a_factor_is_swept_alone_on_the_bodies_of_the_seeds(tmp_path: Path) -> None:
    program, slider = sliding(tmp_path)
    stress_program(program, factors=["slope"], trials=2, seed=3, body="random")
    bodies = slider.read_bodies()
    ranges = domain_randomization("random")
    assert [seed for seed, _ in bodies] == [3, 4] * 7
    for (seed, body), value in zip(
        bodies, [v for v in FACTORS["slope"].values for _ in range(2)], strict=True
    ):
        drawn = draw_domain(ranges, seed)
        assert math.degrees(math.hypot(*body.slope_rad)) == pytest.approx(value)
        assert body.friction == drawn.friction
        assert body.com_shift_m == drawn.com_shift_m
    sides = {seed: math.atan2(*body.slope_rad) for seed, body in bodies if any(body.slope_rad)}
    for seed, body in bodies[2:]:
        assert math.atan2(*body.slope_rad) == pytest.approx(sides[seed])


def test_pushes_grow_with_the_mass_of_the_robot_and_come_every_three_seconds(tmp_path: Path) -> None:
    program, slider = sliding(tmp_path)
    stress_map = stress_program(program, factors=["push"], trials=1, body="nominal")
    (sweep,) = stress_map.sweeps
    (_, unpushed), *_, (_, pushed) = slider.read_bodies()
    assert unpushed == NOMINAL
    assert {push.impulse_n_s for push in pushed.pushes} == {sweep.points[-1].value}
    assert pushed.pushes[1].time_s - pushed.pushes[0].time_s == pytest.approx(3.0)
    mass_kg = SimulatedBody(World(BIOLOID)).facts()["mass_kg"]
    assert sweep.points[-1].value == pytest.approx(0.9 * mass_kg, rel=0.05)  # rounded to two digits


def test_a_stopped_map_is_continued_and_other_conditions_are_not_mixed_with_it(tmp_path: Path) -> None:
    program, slider = sliding(tmp_path)
    first = stress_program(program, factors=["mass"], trials=1, body="nominal", folder=tmp_path / "map")
    both = stress_program(
        program, factors=["mass", "friction"], trials=1, body="nominal", folder=tmp_path / "map"
    )
    assert both.sweeps[0] == first.sweeps[0]
    assert len(slider.read_bodies()) == 14
    assert (tmp_path / "map/results.csv").read_text().startswith("run,factor,value,upright,falls,speed_m_s")
    with pytest.raises(InputError, match="another body"):
        stress_program(program, factors=["mass"], trials=1, body="random", folder=tmp_path / "map")


def test_the_picture_has_a_panel_for_each_factor(tmp_path: Path) -> None:
    program, _ = sliding(tmp_path)
    stress_map = stress_program(program, factors=["friction", "slope"], trials=2, body="nominal")
    picture = picture_bytes(draw_stress(stress_map), ".svg").decode()
    for name in ("friction", "slope"):
        assert FACTORS[name].title in picture
    assert "slider on robotis_bioloid, nominal bodies, 10 s, 2 runs of each value" in picture


def test_a_gait_walks_as_gait_run_lets_it_walk() -> None:
    program = read_stressed_program("biped", "robotis_bioloid", command=VelocityCommand(0.15), seconds=1.0)
    domain = DomainParameters(mass_scale=1.1)
    stressed = program.runner.run(4, domain)
    gait, card = read_gait_and_robot("biped", robot=BIOLOID)
    walk = walk_gait(gait, card, command=VelocityCommand(0.15), seconds=1.0, domain=domain, seed=4)
    assert stressed == StressedRun(4, falls=0, measured=walk.report.figures[SPEED])
    assert program.commanded == 0.15


def test_any_program_runs_on_a_bare_floor_or_in_a_contest() -> None:
    free = read_stressed_program("passivity_test", "robotis_bioloid", seconds=0.5)
    free_run = free.runner.run(1, NOMINAL)
    assert (free.measure, free_run.falls) == (SPEED, 0)
    assert free_run.measured is not None
    assert free_run.measured < 0.05
    contest = read_stressed_program("passivity_test", "robotis_bioloid", contest="passivity-test")
    contest_run = contest.runner.run(1, NOMINAL)
    assert (contest.measure, contest_run.falls) == (POINTS, 0)
    assert contest_run.measured is not None


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["passivity_test", "--forward", "0.1"], "no gait"),
        (["biped", "--robot", "robotis_bioloid", "--forward", "9"], "9"),
        (["biped", "--layout", "random"], "add the contest"),
        (["biped", "--contest", "obstacle-race", "--forward", "0.1"], "no velocity command"),
        (["biped", "--factors", "wind"], "unknown factor"),
        (["biped", "--body", "randm"], "random"),
        (["nobody"], "nobody"),
    ],
)
def test_what_cannot_be_stressed_is_an_error(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_cli(["stress", *arguments, "--trials", "1", "--json"]) == 2
    assert message in capsys.readouterr().err


def test_the_number_of_trials_is_bounded(tmp_path: Path) -> None:
    program, _ = sliding(tmp_path)
    with pytest.raises(InputError, match="trials is 0"):
        list_runs(program, ["mass"], trials=0)
    with pytest.raises(UnknownNameError, match="masss"):
        list_runs(program, ["masss"], trials=1)


def test_the_command_prints_and_draws_the_map(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = "stress biped --robot robotis_bioloid --forward 0.1 --factors mass --trials 1 --seconds 0.2"
    plot = tmp_path / "map.png"
    assert (
        run_cli([*arguments.split(), "--body", "nominal", "--workers", "1", "--plot", str(plot), "--json"])
        == 0
    )
    data = json.loads(capsys.readouterr().out)
    (mass,) = data["factors"]
    assert [point["value"] for point in mass["points"]] == list(FACTORS["mass"].values)
    assert data["commanded_forward_m_s"] == 0.1
    assert plot.read_bytes().startswith(b"\x89PNG")
