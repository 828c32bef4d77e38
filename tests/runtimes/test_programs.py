"""Robots' old programs are programs as any other: found by name or file, read with options, begun anew."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from posewright.arrays import Floats
from posewright.bodies import MockBody, quiet_readings
from posewright.control import Controller, Program, ProgramKind, drive
from posewright.errors import InputError, PosewrightError, UnknownNameError
from posewright.robots import robot
from posewright.runtimes.openr import OpenRController, OpenRKind
from posewright.runtimes.openr.programs import FOLDER
from posewright.runtimes.robi import RobiController, RobiKind
from posewright.runtimes.robobasic import RoboBasicController, RoboBasicKind

OWN_OBJECT = """
from posewright.runtimes.openr import OObject


class Nodder(OObject):
    def __init__(self):
        super().__init__()
"""

KINDS: dict[str, tuple[ProgramKind, str, Mapping[str, str]]] = {
    "openr": (OpenRKind(), "move_head", {"commands": "MOVE_MP@0, MV_RGHT@0.5"}),
    "robi": (RobiKind(), "startup", {"words": "1@0.5, 3@2"}),
    "robobasic": (RoboBasicKind(), "hello", {"inputs": "REMOCON=1@0.5"}),
}
"""By kind, what finds its programs, one that ships, and options with which it moves."""

each_kind = pytest.mark.parametrize("kind", KINDS)


def read(kind: str) -> Program:
    finder, name, options = KINDS[kind]
    return finder.read(name, None, options)


def body_of(program: Program) -> MockBody:
    quiet = quiet_readings(program.sensors)
    return MockBody(program.robot, lambda _time_s: quiet, positions=program.start_pose)


def commands_of(program: Program, controller: Controller, seconds: float) -> Floats:
    """Return what a controller commands to a robot in its start pose, `(n_frames, n_joints)` [rad]."""
    body = body_of(program)
    drive(body, {body.name: controller}, until_s=seconds)
    return body.commands


@each_kind
def test_it_is_a_program_of_its_kind(kind: str) -> None:
    finder, name, _ = KINDS[kind]
    program = read(kind)
    assert isinstance(finder, ProgramKind)
    assert isinstance(program, Program)
    assert (finder.name, program.kind, program.name) == (kind, kind, name)
    assert program.extras[kind]["program"] == name
    assert program.documents
    assert program.start_pose.shape == (len(program.robot.joints),)
    assert program.sensors == program.robot.sensors


@each_kind
def test_programs_that_ship_are_named_for_their_robot_alone(kind: str) -> None:
    finder, name, _ = KINDS[kind]
    assert name in finder.names(None)
    assert name in finder.names(read(kind).robot)
    assert finder.names(robot("robotis_bioloid")) == ()


@each_kind
def test_one_that_ships_can_be_read_without_options(kind: str) -> None:
    finder, name, _ = KINDS[kind]
    assert finder.read(name, None, {}).warnings == ()


@each_kind
def test_another_robot_is_refused(kind: str) -> None:
    finder, name, _ = KINDS[kind]
    with pytest.raises(PosewrightError):
        finder.read(name, robot("robotis_bioloid"), {})


@each_kind
def test_an_option_that_is_none_is_refused_with_those_there_are(kind: str) -> None:
    finder, name, _ = KINDS[kind]
    with pytest.raises(UnknownNameError, match="colour"):
        finder.read(name, None, {"colour": "red"})


@each_kind
def test_a_restart_begins_the_program_anew_from_its_start(kind: str) -> None:
    program = read(kind)
    fresh = commands_of(program, program.controller(0), 3.0)
    controller = program.controller(0)
    commands_of(program, controller, 2.2)
    controller.restart()
    again = commands_of(program, controller, 3.0)
    assert np.ptp(fresh, axis=0).max() > 0.01
    assert np.array_equal(fresh, again)
    controller.close()


@each_kind
def test_two_controllers_of_one_program_know_nothing_of_each_other(kind: str) -> None:
    program = read(kind)
    first = program.controller(0)
    commands_of(program, first, 1.0)
    assert np.array_equal(
        commands_of(program, program.controller(0), 2.0), commands_of(program, program.controller(0), 2.0)
    )


def test_an_openr_program_is_recognised_by_its_connect_cfg_and_a_folder_by_holding_one(
    tmp_path: Path,
) -> None:
    text = (FOLDER / "move_head.cfg").read_text()
    plain = tmp_path / "plain"
    conf = tmp_path / "stick" / "OPEN-R" / "MW" / "CONF"
    empty = tmp_path / "empty"
    for folder in (plain, conf, empty):
        folder.mkdir(parents=True)
    (plain / "connect.cfg").write_text(text)
    (conf / "CONNECT.CFG").write_text(text)
    kind = OpenRKind()
    assert kind.recognises("CONNECT.CFG")
    assert kind.recognises(str(plain))
    assert kind.recognises(str(tmp_path / "stick"))
    assert not kind.recognises(str(empty))
    assert not kind.recognises("race.behaviour.yaml")
    for path in (plain / "connect.cfg", plain, tmp_path / "stick"):
        program = kind.read(str(path), None, {"commands": "MOVE_MP@0"})
        assert program.name.upper() == "CONNECT.CFG"
        assert program.controller().system.objects


def test_objects_of_ones_own_are_made_anew_at_a_restart(tmp_path: Path) -> None:
    objects = tmp_path / "own.py"
    objects.write_text(OWN_OBJECT)
    config = tmp_path / "own.cfg"
    config.write_text("Nodder.Move.OCommandVectorData.S OVirtualRobotComm.Effector.OCommandVectorData.O\n")
    objects.write_text(OWN_OBJECT + '        self.move = self.subject("Move", "OCommandVectorData")\n')
    program = OpenRKind().read(str(config), None, {"objects": str(objects)})
    controller = program.controller()
    nodder = controller.system.objects[1]
    controller.restart()
    assert controller.system.objects[1] is not nodder
    assert type(controller.system.objects[1]) is type(nodder)


def test_what_is_wrong_with_a_script_is_said_when_the_program_is_read() -> None:
    with pytest.raises(InputError, match="FLY"):
        OpenRKind().read("move_head", None, {"commands": "FLY@0"})


def test_two_sticks_are_one_too_many(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="two memory sticks"):
        OpenRKind().read(str(tmp_path), None, {"stick": "/elsewhere"})


@pytest.mark.parametrize(
    ("kind", "name"),
    [
        (RobiKind(), "own.rm4"),
        (RobiKind(), "OWN.LST"),
        (RoboBasicKind(), "walk.bas"),
        (RoboBasicKind(), "WALK.BAS"),
    ],
)
def test_a_file_is_recognised_by_its_ending(kind: ProgramKind, name: str) -> None:
    assert kind.recognises(name)
    assert not kind.recognises("race.behaviour.yaml")


def test_a_robi_on_its_chair_begins_in_a_room_that_has_one() -> None:
    chair = RobiKind().read("startup", None, {"posture": "chair"})
    assert chair.arena is not None
    assert chair.arena.name == "robi_room"
    assert chair.start != (0.0, 0.0, 0.0)
    standing = RobiKind().read("startup", None, {})
    assert (standing.arena, standing.start) == (None, (0.0, 0.0, 0.0))


def test_a_memory_that_was_given_to_a_robi_is_at_a_restart_as_it_was_given() -> None:
    program = RobiKind().read("startup", None, {})
    controller = program.controller()
    controller.memory.set("word", 7)
    controller.restart()
    assert controller.memory.get("word") == 0


def endings(controller: Controller, body: MockBody, seconds: float) -> list[object]:
    """Return what is told of a program that still runs at the end."""
    found: list[object] = []
    for _ in range(round(seconds / body.frame_period_s)):
        decision = controller.next(body.read(), 1).decision
        found += [data["what"] for _, data in decision.events] if decision is not None else []
    return [what for what in found if what == "running"]


def test_a_run_ends_when_it_ends_however_often_its_basic_program_began_anew(tmp_path: Path) -> None:
    path = tmp_path / "wave.bas"
    path.write_text("main:\nMOVE G6B, 100, 60\nWAIT\nMOVE G6B, 100, 30\nWAIT\nGOTO main\n")
    program = replace(RoboBasicKind().read(str(path), None, {}), until_s=2.0)
    controller, body = program.controller(0), body_of(program)
    assert endings(controller, body, 1.0) == []
    controller.restart()
    assert endings(controller, body, 1.0) == ["running"]


def test_a_run_ends_when_it_ends_however_often_its_robi_program_began_anew(tmp_path: Path) -> None:
    path = tmp_path / "count.lst"
    path.write_text("main:\n    mem_w 2 0x0a00 = 0x0000\n    call wait\n    jump main\n")
    program = replace(RobiKind().read(str(path), None, {}), until_s=1.0)
    controller, body = program.controller(0), body_of(program)
    assert endings(controller, body, 0.5) == []
    controller.restart()
    assert endings(controller, body, 0.5) == ["running"]


def test_a_number_that_is_none_is_refused() -> None:
    with pytest.raises(InputError, match="speed_counts_s"):
        RoboBasicKind().read("hello", None, {"speed_counts_s": "fast"})


def test_several_plugs_and_breakpoints_are_parted_by_commas() -> None:
    program = RoboBasicKind().read("bow", None, {"plugs": "0=tilt, 5=none", "breakpoints": "1, 20"})
    assert program.ad_sensors is not None
    assert 5 not in program.ad_sensors
    assert len(program.breakpoints) == 2


@pytest.mark.parametrize("controller", [OpenRController, RobiController, RoboBasicController])
def test_each_is_a_controller(controller: type[Controller]) -> None:
    assert issubclass(controller, Controller)
