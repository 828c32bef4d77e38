"""What values of the lower rooms look like: one short line each, and in a notebook a table."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass, replace
from html.parser import HTMLParser

import mujoco
import numpy as np
import pytest

from posewright.formats import read_motion
from posewright.gaits import (
    EXPLANATIONS,
    PHASE_TABLES,
    QuadrupedGait,
    VelocityCommand,
    check_gait,
    gait_names,
    read_gait,
    require_quadruped,
    steady_walk,
)
from posewright.gaits.quadruped.step import StepPlanner
from posewright.hazards import check_motion
from posewright.kinematics import head_of, legs_of
from posewright.motions import DesignRules, Motion, retarget_motion, sample_motion
from posewright.motions.checked_motion import CheckedMotion
from posewright.robots import robot, robot_folder, robot_names

LONGEST = 200
ROOMS = tuple(f"posewright.{room}." for room in ("robots", "motions", "kinematics", "gaits"))
ERS7 = robot("sony_ers7")
MOTIONS = [
    read_motion(path) for name in robot_names() for path in sorted(robot_folder(name).glob("motions/*.yaml"))
]
GAITS = [require_quadruped(read_gait(name)) for name in gait_names("sony_ers7")]


def values_in(value: object) -> Iterator[object]:
    """Yield a value and all values it is made of that have fields, each once."""
    if isinstance(value, Mapping):
        value = tuple(value.values())
    if isinstance(value, tuple | list | frozenset):
        for part in value:
            yield from values_in(part)
    elif is_dataclass(value) and type(value).__module__.startswith(ROOMS):
        yield value
        for entry in fields(value):
            yield from values_in(getattr(value, entry.name))


def in_one_short_line(*values: object) -> None:
    for value in values_in(values):
        text = repr(value)
        assert len(text) < LONGEST, text
        assert "array(" not in text
        assert "\n" not in text
        assert "object at 0x" not in text


@pytest.mark.parametrize("name", robot_names())
def test_a_robot_and_all_of_it_show_themselves_in_a_short_line(name: str) -> None:
    it = robot(name)
    in_one_short_line(it, DesignRules.of(it))
    assert repr(it) == f"Robot({name!r}, {len(it.joints)} joints)"
    assert repr(it.coupling) == f"Coupling({len(it.coupling)} tables)"


@pytest.mark.parametrize("motion", MOTIONS, ids=lambda motion: motion.name)
def test_a_motion_and_all_of_it_show_themselves_in_a_short_line(motion: Motion) -> None:
    it = robot(motion.robot)
    rules = replace(DesignRules.of(it), max_duration_s=0.1, max_step_deg=1.0)
    checked = CheckedMotion(motion, it, rules, (), is_celebration=False)
    findings = check_motion(motion, it, rules=rules)
    assert findings
    in_one_short_line(motion, motion.resolved_poses(), sample_motion(motion, it, rate_hz=50.0), findings)
    in_one_short_line(checked, checked.segments, motion._default_interpolator, retarget_motion(motion, it))
    assert repr(motion).startswith(f"Motion({motion.name!r}, {it.name}, {len(motion.keyframes)} keyframes")


@pytest.mark.parametrize("gait", GAITS, ids=lambda gait: gait.name)
def test_a_gait_and_all_of_it_show_themselves_in_a_short_line(gait: QuadrupedGait) -> None:
    planner = StepPlanner(gait, ERS7)
    step = planner.plan_step(VelocityCommand(0.05), planner.standing_feet, 0)
    in_one_short_line(gait, planner.timing, step, check_gait(gait, ERS7))
    in_one_short_line(steady_walk(gait, ERS7, VelocityCommand(0.05)))
    assert repr(gait) == f"QuadrupedGait(name={gait.name!r}, robot='sony_ers7')"


def test_a_biped_s_gait_and_its_steps_show_themselves_in_a_short_line() -> None:
    card = robot("robotis_bioloid")
    gait = read_gait("biped", robot=card)
    in_one_short_line(gait, gait.generator(card).take_step(VelocityCommand(0.05)))
    assert repr(gait) == "BipedGait(name='biped', robot='robotis_bioloid')"


def test_what_is_of_no_document_shows_itself_in_a_short_line() -> None:
    in_one_short_line(PHASE_TABLES, EXPLANATIONS, legs_of(ERS7), head_of(ERS7))


class Cells(HTMLParser):
    """Collects a table's text and checks that every tag is closed in order."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.texts: list[str] = []
        self.feed(text)
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: object) -> None:  # noqa: ARG002 - the base's own
        self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


@pytest.mark.parametrize("name", robot_names())
def test_a_robot_shows_its_joints_in_a_notebook(name: str) -> None:
    card = replace(robot(name), title="<script> & co")
    cells = Cells(card._repr_html_()).texts
    assert cells[0] == f"{name}: <script> & co"
    joint, servo = card.joints[0], card.servos[0]
    first = cells.index(joint.name)
    assert cells[first + 3] == servo.model
    assert float(cells[first + 1]) == pytest.approx(np.degrees(joint.lower_rad), abs=1e-3)
    assert {joint.name for joint in card.joints} <= set(cells)


def test_a_motion_shows_its_keyframes_in_a_notebook() -> None:
    motion = replace(MOTIONS[0], name="<b>")
    cells = Cells(motion._repr_html_()).texts
    assert cells[0] == f"<b>, for {motion.robot}: {motion.duration:g} s"
    assert cells[1:6] == ["keyframe", "reached [s]", "pause [s]", "easing", "pose [deg]"]
    assert cells[6::5] == [str(number) for number in range(1, len(motion.keyframes) + 1)]


@pytest.mark.parametrize("name", [name for name in robot_names() if robot(name).model_path])
def test_the_links_on_a_card_weigh_what_they_weigh_in_the_model(name: str) -> None:
    model = mujoco.MjModel.from_xml_path(str(robot(name).model_path))
    masses = {model.body(place).name: model.body_mass[place] for place in range(1, model.nbody)}
    assert dict(robot(name).link_masses_kg) == pytest.approx(masses, abs=1e-9)
    assert robot(name).mass_kg == pytest.approx(model.body_mass.sum(), abs=1e-9)


def test_of_a_robot_whose_links_nobody_weighed_no_mass_is_told() -> None:
    assert robot("sony_ers210").mass_kg is None
