"""A robot of an OpenRAVE document becomes a card, a model and sensors, and what does not fit is said."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

from posewright.bodies import JointCommands
from posewright.cli.app import run
from posewright.errors import FormatError, InputError
from posewright.robots import Camera, FlashLidar, RangeScan
from posewright.runs import ImportedRobot, import_robot
from posewright.simulation import SimulatedBody, World
from posewright.simulation.mechanisms import mechanism_of

SAMPLES = Path(__file__).parents[3] / "shared" / "samples" / "openrave"

BODY = '<Body name="{0}"><Translation>{1}</Translation><Geom type="box"><Extents>{2}</Extents></Geom></Body>'
HINGE = """<Joint name="{0}" type="hinge"><Body>{1}</Body><Body>{2}</Body><offsetfrom>{2}</offsetfrom>
<anchor>{3}</anchor><axis>0 1 0</axis><limitsdeg>-40 60</limitsdeg><maxveldeg>300</maxveldeg>
<maxtorque>1.5</maxtorque></Joint>"""
SENSOR = """<AttachedSensor name="{0}"><link>trunk</link><translation>0.05 0 0.02</translation>{3}
<sensor type="{1}">{2}</sensor></AttachedSensor>"""
AHEAD = "<rotationmat>0 0 1 -1 0 0 0 -1 0</rotationmat>"
"""Turns a camera, which looks along z with its y down, to look along x."""

WALKER = "\n".join(
    [
        '<Robot name="Box Walker"><KinBody><Mass type="mimicgeom"><density>800</density></Mass>',
        BODY.format("trunk", "0 0 0.3", "0.04 0.08 0.06"),
        BODY.format("left", "0 0.05 0.14", "0.03 0.02 0.1"),
        BODY.format("right", "0 -0.05 0.14", "0.03 0.02 0.1"),
        BODY.format("lid", "0 0 0.37", "0.02 0.02 0.01"),
        HINGE.format("left_hip", "trunk", "left", "0 0 0.1"),
        HINGE.format("right_hip", "right", "trunk", "0 -0.05 -0.06"),
        '<Joint name="lid_joint"><Body>trunk</Body><Body>lid</Body><limits>0 0</limits></Joint>',
        "</KinBody>",
        SENSOR.format("laser", "BaseLaser2D", "<minangle>-90</minangle><resolution>2</resolution>", ""),
        SENSOR.format("depth", "BaseFlashLidar3D", "<KK>32 32 32 24</KK><maxrange>3</maxrange>", AHEAD),
        SENSOR.format("eye", "BaseCamera", "<width>320</width><height>240</height>", AHEAD),
        SENSOR.format("wrist", "BaseForce6D", "", ""),
        "</Robot>",
    ]
)


def imported(folder: Path, text: str) -> ImportedRobot:
    (folder / "walker.robot.xml").write_text(text)
    return import_robot(folder / "walker.robot.xml", folder / "made")


def test_joints_links_masses_and_limits_come_in(tmp_path: Path) -> None:
    card = imported(tmp_path, WALKER).robot
    assert (card.name, card.joint_names) == ("box_walker", ("left_hip", "right_hip"))
    assert math.degrees(card.joint("left_hip").upper_rad) == pytest.approx(60)
    assert card.servo("left_hip").stall_torque_nm == 1.5
    assert card.servo("left_hip").no_load_speed_rad_s == pytest.approx(math.radians(300))
    assert card.link_masses_kg["trunk"] == pytest.approx(800 * 0.08 * 0.16 * 0.12)
    assert card.feet == ("left", "right")


def test_hinges_stand_where_the_document_says(tmp_path: Path) -> None:
    links = {link.name: link for link in mechanism_of(imported(tmp_path, WALKER).robot).links}
    left = links["left"]
    right = links["right"]
    assert left.position_m == pytest.approx((0, 0.05, -0.06))
    assert left.centre_m == pytest.approx((0, 0, -0.1))
    assert left.hinge is not None
    assert left.hinge.axis == pytest.approx((0, 1, 0))
    assert right.position_m == pytest.approx((0, -0.05, -0.06))
    assert right.hinge is not None
    assert right.hinge.axis == pytest.approx((0, -1, 0))  # its joint names it before the trunk
    assert links["lid"].hinge is None


def test_attached_sensors_are_on_the_card_and_see(tmp_path: Path) -> None:
    walker = imported(tmp_path, WALKER)
    sensors = {sensor.name: sensor for sensor in walker.robot.sensors}
    laser = sensors["laser"]
    depth = sensors["depth"]
    eye = sensors["eye"]
    assert isinstance(laser, RangeScan)
    assert isinstance(depth, FlashLidar)
    assert isinstance(eye, Camera)
    assert (laser.start_deg, laser.beams) == (-90, 91)
    assert (depth.max_range_m, depth.horizontal_fov_deg) == (3, pytest.approx(90))
    assert any("BaseForce6D" in str(oddity) for oddity in walker.oddities)
    world = World(walker.robot)
    body = SimulatedBody(world, start_pose=walker.robot.pose("stand"))
    world.advance({body.instance.name: JointCommands(np.zeros((20, 2)))})
    picture = np.asarray(body.read().sensors["depth"]).reshape(48, 64)
    assert (picture[:20] == 3).all()  # the sky
    assert (picture[-4:] < 1).all()  # the floor: it looks ahead, and down is below


def test_an_imu_of_the_files_own_takes_the_place_of_ours(tmp_path: Path) -> None:
    walker = imported(
        tmp_path, WALKER.replace('name="wrist"', 'name="imu"').replace("BaseForce6D", "BaseIMU")
    )
    world = World(walker.robot)
    sensors = SimulatedBody(world, start_pose=walker.robot.pose("stand")).read().sensors
    assert sensors["imu.orientation"] == pytest.approx((0, 0, 0), abs=0.01)


def test_what_a_card_has_no_place_for_is_said_with_its_line(tmp_path: Path) -> None:
    text = WALKER.replace('name="left_hip" type="hinge"', 'name="left_hip" type="slider"')
    text = text.replace("<limitsdeg>-40 60</limitsdeg>", "", 2)
    ring = HINGE.format("ring", "left", "right", "0 0 0") + "</KinBody>"
    odd = "\n".join(map(str, imported(tmp_path, text.replace("</KinBody>", ring)).oddities))
    for remark in ("left_hip is a slider", "right_hip has no limits", "ring closes a ring"):
        assert f": {remark}" in odd


def test_a_robot_is_taken_from_its_environment_and_stands_as_it_is_placed_there(tmp_path: Path) -> None:
    (tmp_path / "one.robot.xml").write_text(WALKER)
    place = "<RotationAxis>0 0 1 90</RotationAxis>"
    walker = imported(tmp_path, f'<Environment><Robot file="one.robot.xml">{place}</Robot></Environment>')
    assert mechanism_of(walker.robot).hinges[0].axis == pytest.approx((-1, 0, 0))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('<Environment><KinBody name="k"><Body name="a"/></KinBody></Environment>', "exactly one"),
        (
            WALKER.replace("<Body>trunk</Body><Body>lid</Body>", "<Body>left</Body><Body>right</Body>"),
            "is not connected",
        ),
        (WALKER.replace("<resolution>2<", "<resolution>two<"), "1 numbers"),
        (WALKER.replace("<maxrange>3<", "<maxrange>-3<"), "0.001 to"),
        (WALKER.replace("<Body>trunk</Body>", "<Body>nobody</Body>", 1), "no body 'nobody'"),
    ],
)
def test_what_is_wrong_is_refused_and_nothing_is_written(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises((FormatError, InputError)) as caught:
        imported(tmp_path, text)
    assert message in f"{caught.value.message} {caught.value.hint}"
    assert caught.value.where is not None
    assert not (tmp_path / "made").exists()


@pytest.mark.skipif(not SAMPLES.is_dir(), reason="other people's samples are not here")
def test_samples_are_imported_or_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    messages = {
        "rdiankov_twodof.robot.xml:12: Base weighs 565",
        "sample.kinbody.xml:8: Body1 weighs 40000",
        "physics.env.xml:5",
    }
    for path in SAMPLES.iterdir():
        assert run(["robots", "import", str(path), "-o", str(tmp_path / "no")]) == 2
    errors = capsys.readouterr().err
    assert all(place in errors for place in messages)
    text = (SAMPLES / "rdiankov_twodof.robot.xml").read_text().replace("10000000", "100000")
    card = imported(tmp_path, text)
    assert card.robot.joint_names == ("Arm0", "Arm1")
    assert any("Arm1 has no limits" in str(oddity) for oddity in card.oddities)
