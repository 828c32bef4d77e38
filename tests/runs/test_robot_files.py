"""Robots come in from files of others, with what is odd about them, stand, and go out the same."""

from __future__ import annotations

import importlib.util
import os
import re
from pathlib import Path

import numpy as np
import pytest

from posewright.bodies import JointCommands
from posewright.cli.app import run
from posewright.errors import FormatError, InputError, OutputError, PosewrightError
from posewright.formats import write_motion
from posewright.formats.urdf.reading import read_urdf
from posewright.motions import create_motion
from posewright.robots import Robot, robot
from posewright.rotation import uprightness
from posewright.runs import export_robot, import_robot
from posewright.simulation import SimulatedBody, World
from posewright.simulation.mechanisms import mechanism_of
from posewright.studio.files.load import open_path

SMALL = Path(__file__).parent / "small_humanoid.urdf"
WITH_MODELS = ("robotis_bioloid", "sony_ers7", "deagostini_robi2")


def tilt_after(card: Robot, seconds: float) -> float:
    """Return how far a robot leans that is told to stand [deg]."""
    world = World(card)
    stand = card.pose("stand")
    body = SimulatedBody(world, start_pose=stand)
    n = round(seconds / card.frame_period_s)
    world.advance({body.instance.name: JointCommands(np.tile(stand, (n, 1)))})
    return float(np.degrees(np.arccos(uprightness(world.base[None, 3:])[0])))


def changed(folder: Path, old: str, new: str) -> Path:
    text = SMALL.read_text(encoding="utf-8")
    assert old in text
    path = folder / "changed.urdf"
    path.write_text(text.replace(old, new, 1), encoding="utf-8")
    return path


def odd(path: Path) -> str:
    return "\n".join(str(oddity) for oddity in import_robot(path, path.parent / "made").oddities)


def test_a_humanoid_written_by_hand_is_imported_and_stands(tmp_path: Path) -> None:
    imported = import_robot(SMALL, tmp_path / "small")
    assert imported.robot.name == "small_humanoid"
    assert imported.robot.joint_names[:2] == ("left_shoulder", "left_hip_roll")
    assert imported.robot.feet == ("left_foot", "right_foot")
    assert imported.robot.mass_kg == pytest.approx(1.8)
    assert imported.oddities == ()
    assert tilt_after(imported.robot, 3.0) < 2.0


def test_a_card_that_was_imported_is_a_robot_like_any_other(tmp_path: Path) -> None:
    import_robot(SMALL, tmp_path / "small", name="mine")
    again = robot(tmp_path / "small" / "robot.yaml")
    assert again.name == "mine"
    assert again.joint("left_knee").upper_rad == pytest.approx(2.2, abs=1e-9)
    assert again.servo("left_knee").stall_torque_nm == 2.5


@pytest.mark.parametrize("name", WITH_MODELS)
@pytest.mark.parametrize("kind", ["urdf", "mjcf"])
def test_what_is_exported_comes_in_again_with_its_masses_axes_and_limits(
    tmp_path: Path, name: str, kind: str
) -> None:
    card = robot(name)
    path = tmp_path / ("out.urdf" if kind == "urdf" else "out.xml")
    close = 1e-8 if kind == "urdf" else 1e-5  # MuJoCo writes six digits
    export_robot(card, kind, path)
    again = import_robot(path, tmp_path / "again").robot
    before = mechanism_of(card)
    after = mechanism_of(again)
    assert again.joint_names == tuple(hinge.name for hinge in before.hinges)
    for link, other_link in zip(before.links, after.links, strict=True):
        assert other_link.name == link.name
        assert other_link.mass_kg == pytest.approx(link.mass_kg, rel=1e-5)
        assert other_link.centre_m == pytest.approx(link.centre_m, abs=1e-5)
        assert other_link.position_m == pytest.approx(link.position_m, abs=1e-5) or not link.parent
    for mine, theirs in zip(before.hinges, after.hinges, strict=True):
        assert theirs.axis == pytest.approx(mine.axis, abs=1e-5)
        joint = card.joint(mine.name)
        assert again.joint(mine.name).lower_rad == pytest.approx(joint.lower_rad, abs=close)
        assert again.joint(mine.name).upper_rad == pytest.approx(joint.upper_rad, abs=close)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('<mass value="0.15"/>', '<mass value="0"/>', "weighs next to nothing"),
        ('<mass value="0.8"/>', '<mass value="0"/>', "trunk weighs next to nothing, but it is the base"),
        ('<box size="0.06 0.1 0.12"/>', '<box size="60 100 12"/>', "60 x 100 x 12 m; are these millimetres?"),
        ('<box size="0.06 0.1 0.12"/>', '<box size="0.6 1 1.2"/>', "weighs 0.8 kg, less than air"),
        ('<origin xyz="0 0 -0.09"/>', '<origin xyz="0 0 -90"/>', "90 m away from left_thigh; are these"),
        ('<origin xyz="0.0 0.0 0.06"/>', '<origin xyz="0 0 60"/>', "its centre of mass is 60 m away"),
        ('<origin xyz="0.0 0.0 0.06"/>', '<origin xyz="0 0 0.9"/>', "its centre of mass is 0.9 m away"),
        ('iyy="1.200e-03"', 'iyy="1.200e-01"', "no body has an inertia"),
        ('ixx="1.627e-03"', 'ixx="-1.627e-03"', "all must be above 0"),
        ('effort="2.5"', 'effort="0"', "left_shoulder has no actuator"),
        ('velocity="5.5"', 'velocity="0"', "speed of its motor"),
        ('lower="-3.0" upper="3.0"', 'lower="3.0" upper="-3.0"', "replaced by half a turn"),
        ('lower="-3.0" upper="3.0"', 'lower="0" upper="1e-12"', "replaced by half a turn"),
        ('lower="-3.0" upper="3.0"', 'lower="-170" upper="170"', "are these degrees?"),
        ('type="revolute"', 'type="prismatic"', "so it is fixed at 0"),
        ('type="revolute"', 'type="continuous"', "has no limits"),
        ('<box size="0.06 0.1 0.12"/>', '<mesh filename="package://no/trunk.stl"/>', "is missing"),
    ],
)
def test_what_cannot_be_is_said_and_the_robot_is_made_all_the_same(
    tmp_path: Path, old: str, new: str, message: str
) -> None:
    assert message in odd(changed(tmp_path, old, new))


def test_a_trunk_without_inertial_is_noticed_as_is_a_fixed_part_with_a_shape(tmp_path: Path) -> None:
    text = SMALL.read_text(encoding="utf-8")
    shape = '<collision><geometry><box size="0.02 0.02 0.02"/></geometry></collision>'
    lid = (
        f'<link name="lid">{shape}</link><link name="frame"/>'
        '<joint name="f" type="fixed"><parent link="trunk"/><child link="lid"/></joint>'
        '<joint name="g" type="fixed"><parent link="trunk"/><child link="frame"/></joint>'
    )
    (tmp_path / "lid.urdf").write_text(text.replace("</robot>", f"{lid}</robot>"), encoding="utf-8")
    oddities = odd(tmp_path / "lid.urdf")
    assert "lid has a shape, but no mass" in oddities
    assert "frame" not in oddities  # a frame has neither
    begin, end = text.index("<inertial>"), text.index("</inertial>") + len("</inertial>")
    (tmp_path / "trunk.urdf").write_text(text[:begin] + text[end:], encoding="utf-8")
    imported = import_robot(tmp_path / "trunk.urdf", tmp_path / "trunk")
    assert [str(oddity) for oddity in imported.oddities] == [
        "line 4: trunk weighs next to nothing, but it is the base; 0.0001 kg are assumed"
    ]


def test_a_base_without_mass_carries_that_of_what_is_fixed_to_it(tmp_path: Path) -> None:
    text = SMALL.read_text(encoding="utf-8")
    base = (
        '<link name="base"/><joint name="f" type="fixed"><parent link="base"/><child link="trunk"/></joint>'
    )
    (tmp_path / "a.urdf").write_text(text.replace("</robot>", f"{base}</robot>"), encoding="utf-8")
    assert odd(tmp_path / "a.urdf") == ""


@pytest.mark.parametrize("name", ["sony_ers7", "robotis_bioloid", "deagostini_robi2"])
def test_an_imported_robot_has_the_feet_of_the_one_that_was_exported(tmp_path: Path, name: str) -> None:
    export_robot(name, "urdf", tmp_path / "out.urdf")
    assert set(import_robot(tmp_path / "out.urdf", tmp_path / "made").robot.feet) == set(robot(name).feet)


def test_a_robot_without_any_shape_cannot_be_put_on_a_floor(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = re.sub(r"<collision>.*</collision>", "", SMALL.read_text(encoding="utf-8"))
    (tmp_path / "bare.urdf").write_text(text, encoding="utf-8")
    card = import_robot(tmp_path / "bare.urdf", tmp_path / "bare").robot
    motion = tmp_path / "still.motion.yaml"
    write_motion(create_motion("still", card), motion)
    assert run(["motion", "check", str(motion), "--physics"]) == 2
    assert "has no shape that can touch the floor" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("urdf_folder", "mesh_folder", "manifest"),
    [
        ("parts/urdf", "parts", ""),
        ("parts-master/urdf", "parts-master", ""),  # a ZIP of a code host
        ("parts-1.2/urdf", "parts-1.2", ""),
        ("mine/urdf", "parts", ""),  # beside, not above
        ("mine/urdf", "mine", "<package><name>parts</name></package>"),
        ("mine/urdf", "other", "<package><name> parts </name></package>"),
    ],
)
def test_a_package_is_found_above_a_file_or_beside_it(
    tmp_path: Path, urdf_folder: str, mesh_folder: str, manifest: str
) -> None:
    trimesh = pytest.importorskip("trimesh")
    for folder in (urdf_folder, f"{mesh_folder}/meshes"):
        (tmp_path / folder).mkdir(parents=True, exist_ok=True)
    if manifest:
        (tmp_path / mesh_folder / "package.xml").write_text(manifest, encoding="utf-8")
    trimesh.creation.box((0.06, 0.1, 0.12)).export(tmp_path / mesh_folder / "meshes/trunk.stl")
    new = '<mesh filename="package://parts/meshes/trunk.stl"/>'
    mechanism, remarks = read_urdf(changed(tmp_path / urdf_folder, '<box size="0.06 0.1 0.12"/>', new))
    assert not remarks
    assert mechanism.links[0].shapes[0].size_m == pytest.approx((0.06, 0.1, 0.12))


@pytest.mark.parametrize("package", ["..", ".", "parts", ""])
def test_a_package_that_is_not_there_leaves_its_mesh_out(tmp_path: Path, package: str) -> None:
    new = f'<mesh filename="package://{package}/trunk.stl"/>'
    _, remarks = read_urdf(changed(tmp_path, '<box size="0.06 0.1 0.12"/>', new))
    assert "its package is searched above the file and beside it" in str(remarks[0])


@pytest.mark.parametrize(
    ("shape", "remark"),
    [
        ('<mesh filename="../../../etc/passwd"/>', "outside of the package or cannot be read: left out"),
        (
            '<mesh filename="file:///usr/share/head.stl"/>',
            "outside of the package or cannot be read: left out",
        ),
        ('<sphere radius="0"/>', "a <sphere> has the size 0: left out"),
        ('<box size="0.1 0 0.1"/>', "a <box> has the size 0: left out"),
    ],
)
def test_a_shape_that_cannot_be_used_is_left_out_with_its_line(
    tmp_path: Path, shape: str, remark: str
) -> None:
    path = changed(tmp_path, '<box size="0.06 0.1 0.12"/>', shape)
    assert re.search(f"line 6: .*{re.escape(remark)}", odd(path))


def test_numbers_may_have_commas_between_them_but_no_decimal_commas(tmp_path: Path) -> None:
    path = changed(tmp_path, 'xyz="0 0.07 0.1"', 'xyz="0, 0.07, 0.1"')
    mechanism, _ = read_urdf(path)
    arm = next(link for link in mechanism.links if link.name == "left_arm")
    assert arm.position_m == (0.0, 0.07, 0.1)
    with pytest.raises(FormatError, match=r"numbers separated by spaces"):
        read_urdf(changed(tmp_path, 'xyz="0 0.07 0.1"', 'xyz="0 0,07 0,1"'))


def test_a_fixed_part_with_a_shape_and_no_mass_adds_no_mass_to_the_model(tmp_path: Path) -> None:
    part = """<link name="shell"><collision><geometry><sphere radius="0.05"/></geometry></collision></link>
  <joint name="glue" type="fixed"><parent link="trunk"/><child link="shell"/></joint>
</robot>"""
    imported = import_robot(changed(tmp_path, "</robot>", part), tmp_path / "made")
    assert World(imported.robot).model.body_mass.sum() == pytest.approx(1.8)


@pytest.mark.parametrize(
    "moments",
    [
        (1.627e-3, 1.2e-3, 2.8271e-3),  # by rounding, the third is larger than the other two together
        (1.0e-5, 1.0e-5, 9.0e-4),
        (0.0, 1.9e-3, 1.9e-3),
    ],
)
def test_moments_of_inertia_that_no_body_has_can_be_simulated(
    tmp_path: Path, moments: tuple[float, float, float]
) -> None:
    xx, yy, zz = moments
    old = 'ixx="1.627e-03" ixy="0" ixz="0" iyy="1.200e-03" iyz="0" izz="9.067e-04"'
    path = changed(tmp_path, old, f'ixx="{xx}" ixy="0" ixz="0" iyy="{yy}" iyz="0" izz="{zz}"')
    imported = import_robot(path, tmp_path / "made")
    model = World(imported.robot).model
    trunk_moments = sorted(model.body("trunk").inertia.tolist())
    assert trunk_moments[2] == pytest.approx(max(moments), rel=1e-3)


def test_a_file_without_links_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "empty.urdf"
    path.write_text('<robot name="a" xmlns:xacro="http://wiki.ros.org/xacro"/>', encoding="utf-8")
    with pytest.raises(FormatError, match="the file has no links"):
        read_urdf(path)


def test_joints_and_bodies_that_a_mujoco_model_has_beside_the_robot_are_listed(tmp_path: Path) -> None:
    path = tmp_path / "planar.xml"
    path.write_text(
        """<mujoco><worldbody>
        <body name="torso"><joint name="rootx" type="slide"/><geom size="0.1"/>
          <body name="leg"><joint name="knee"/><geom size="0.05" pos="0 0 -0.2"/></body></body>
        <body name="goal"><geom size="0.02"/></body></worldbody></mujoco>""",
        encoding="utf-8",
    )
    remarks = odd(path)
    assert "rootx: left out; the base torso is free to move here" in remarks
    assert "left out, since they are not connected to torso: goal" in remarks


def test_an_inertia_in_another_unit_is_noticed(tmp_path: Path) -> None:
    text = SMALL.read_text(encoding="utf-8")
    (tmp_path / "grams.urdf").write_text(
        text.replace("e-05", "e-01").replace("e-04", "e+00"), encoding="utf-8"
    )
    assert "check its unit" in odd(tmp_path / "grams.urdf")


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("<robot ", '<!DOCTYPE r [<!ENTITY a "b">]><robot ', "document type"),
        ("</robot>", "", "not XML"),
        ("<robot name", "<sdf name", "not XML"),
        ('<parent link="trunk"/>', '<parent link="nobody"/>', "no link 'nobody'"),
        ('<parent link="left_hip"/>', '<parent link="left_foot"/>', "is not connected to the base"),
        ('<mass value="0.8"/>', '<mass value="nan"/>', "numbers"),
        ('<box size="0.06 0.1 0.12"/>', '<box size="-0.06 0.1 0.12"/>', "write sizes above 0"),
        ('<axis xyz="0 1 0"/>', '<axis xyz="0 0 0"/>', "has length 0"),
        ('type="revolute"', 'type="ball"', "revolute"),
        ('<?xml version="1.0"?>', '<?xml version="1.0" encoding="cp949"?>', "multi-byte"),
        ('<?xml version="1.0"?>', '<?xml version="1.0" encoding="nobodys"?>', "unknown encoding"),
    ],
)
def test_what_is_damaged_is_refused_with_its_line_and_nothing_is_written(
    tmp_path: Path, old: str, new: str, message: str
) -> None:
    path = changed(tmp_path, old, new)
    with pytest.raises(FormatError, match=message) as caught:
        import_robot(path, tmp_path / "made")
    assert caught.value.where is not None
    assert caught.value.where.line
    assert [path.name for path in tmp_path.iterdir()] == ["changed.urdf"]


@pytest.mark.parametrize(
    "inside",
    [
        '<include file="other.xml"/>',
        '<asset><mesh name="m" file="/etc/passwd.stl"/></asset>',
        '<compiler meshdir="../.."/>',
        '<extension><plugin plugin="mujoco.sdf.bolt"/></extension>',
        '<asset><model name="m" file="other.xml"/></asset>',
        '<asset><texture name="t" type="cube" fileright="/etc/passwd"/></asset>',
        '<asset><mesh name="m" file="link.stl"/></asset>',
        '<compiler meshdir="sub"/><asset><mesh name="m" file="link.stl"/></asset>',
        '<asset><mesh name="m" file="pipe.stl"/></asset>',
        "<worldbody>" + "<body/>" * 501 + "</worldbody>",
        '<asset><hfield name="h" nrow="100000" ncol="100000" size="1 1 1 1"/></asset>',
        '<asset><texture name="t" type="2d" builtin="flat" width="100000" height="100000"/></asset>',
    ],
)
def test_a_mujoco_model_neither_leaves_its_folder_nor_fills_the_memory(tmp_path: Path, inside: str) -> None:
    folder = tmp_path / "model"
    (folder / "sub").mkdir(parents=True)
    (folder / "link.stl").symlink_to(SMALL)
    (folder / "sub/link.stl").symlink_to(SMALL)
    os.mkfifo(folder / "pipe.stl")
    path = folder / "model.xml"
    path.write_text(f"<mujoco>{inside}<worldbody><body/></worldbody></mujoco>", encoding="utf-8")
    with pytest.raises(
        FormatError, match=r"not supported|outside|leads out|not an ordinary|too (large|many)"
    ) as caught:
        import_robot(path, tmp_path / "made")
    assert caught.value.where is not None
    assert caught.value.where.line == 1


@pytest.mark.parametrize(
    ("inside", "message"),
    [
        ('<joint axis="1 0 0"/><joint axis="0 1 0"/>', "b has 2 joints"),
        ('<joint/><body pos="nan 0 0"><geom size="1"/></body>', "body_pos is not finite"),
        ('<joint/><body pos="1e300 0 0"><geom size="1"/></body>', "body_pos is not finite"),
    ],
)
def test_a_mujoco_model_that_is_no_robot_is_refused(tmp_path: Path, inside: str, message: str) -> None:
    body = f'<body><freejoint/><geom size="1"/><body name="b"><geom size="1"/>{inside}</body></body>'
    (tmp_path / "m.xml").write_text(f"<mujoco><worldbody>{body}</worldbody></mujoco>", encoding="utf-8")
    with pytest.raises(FormatError, match=message) as caught:
        import_robot(tmp_path / "m.xml", tmp_path / "made")
    assert caught.value.where is not None


def test_a_file_without_a_hinge_and_a_folder_that_is_there_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "stone.urdf"
    path.write_text('<robot name="stone"><link name="a"/></robot>', encoding="utf-8")
    with pytest.raises(InputError, match="no movable joint"):
        import_robot(path, tmp_path / "made")
    with pytest.raises(OutputError, match="it already exists"):
        import_robot(SMALL, tmp_path)
    with pytest.raises(PosewrightError, match="urdf, mjcf"):
        export_robot("robotis_bioloid", "sdf", tmp_path / "out")


@pytest.mark.parametrize("data", [b"", b"x" * 84, b"solid a\nfacet normal 0 0 1\n"])
def test_a_damaged_mesh_is_left_out_and_told(tmp_path: Path, data: bytes) -> None:
    pytest.importorskip("trimesh")
    (tmp_path / "trunk.stl").write_bytes(data)
    for name in ("trunk.stl", "m" * 5000):
        changed(tmp_path, '<box size="0.06 0.1 0.12"/>', f'<mesh filename="{name}"/>')
        _, remarks = read_urdf(tmp_path / "changed.urdf")
        assert any("cannot be read" in str(remark) for remark in remarks)


def test_a_robot_fixed_to_the_world_stands_free_and_no_part_is_called_world(tmp_path: Path) -> None:
    fixed = (
        '<link name="world"/><joint name="f" type="fixed"><parent link="world"/><child link="trunk"/></joint>'
    )
    text = SMALL.read_text(encoding="utf-8")
    (tmp_path / "a.urdf").write_text(text.replace("</robot>", f"{fixed}</robot>"), encoding="utf-8")
    imported = import_robot(tmp_path / "a.urdf", tmp_path / "made")
    assert imported.robot.mass_kg == pytest.approx(1.8)
    assert any("is free to move" in str(oddity) for oddity in imported.oddities)
    (tmp_path / "b.urdf").write_text(text.replace('"left_foot"', '"world"'), encoding="utf-8")
    with pytest.raises(FormatError, match="'world'"):
        import_robot(tmp_path / "b.urdf", tmp_path / "other")


def test_a_mesh_becomes_the_box_around_it(tmp_path: Path) -> None:
    trimesh = pytest.importorskip("trimesh")
    trimesh.creation.box((2.0, 4.0, 6.0)).apply_translation((1.0, 0.0, 0.0)).export(tmp_path / "trunk.stl")
    new = '<mesh filename="trunk.stl" scale="0.01 0.01 0.01"/>'
    mechanism, remarks = read_urdf(changed(tmp_path, '<box size="0.06 0.1 0.12"/>', new))
    (form,) = mechanism.links[0].shapes
    assert not remarks
    assert form.size_m == pytest.approx((0.02, 0.04, 0.06))
    assert form.position_m == pytest.approx((0.01, 0.0, 0.06))


def test_a_xacro_file_is_imported_as_the_robot_that_it_expands_to(tmp_path: Path) -> None:
    pytest.importorskip("simpleeval", reason="it comes with the extra `xacro`")
    text = SMALL.read_text(encoding="utf-8")
    macros = '<xacro:arg name="knee" default="knee"/><xacro:property name="width" value="${0.03 * 2}"/>'
    for plain, expression in (
        ("0.06 0.1 0.12", "${width} 0.1 ${width * 2}"),
        ("left_knee", "left_$(arg knee)"),
    ):
        assert plain in text
        text = text.replace(plain, expression)
    text = re.sub("<robot ([^>]*)>", rf'<robot \1 xmlns:xacro="http://www.ros.org/wiki/xacro">{macros}', text)
    path = tmp_path / "small.urdf.xacro"
    path.write_text(text, encoding="utf-8")
    mechanism, remarks = read_urdf(path)
    plain_mechanism, plain_remarks = read_urdf(SMALL)
    assert mechanism == plain_mechanism
    assert [str(remark) for remark in remarks if remark not in plain_remarks] == [
        "line 3: the argument knee has its default, 'knee'"
    ]
    (tmp_path / "small.urdf").write_text("an older one, expanded")
    opened = open_path(path)  # in the studio, which imports it beside the file
    assert opened.robot.model_path == tmp_path / "small" / "model.xml"


def test_a_collada_mesh_becomes_the_box_around_it_in_metres(tmp_path: Path) -> None:
    pytest.importorskip("collada", reason="pycollada reads COLLADA; it comes with the extra `meshes`")
    trimesh = pytest.importorskip("trimesh")
    (tmp_path / "foot.dae").write_bytes(trimesh.creation.box((0.1, 0.2, 0.3)).export(file_type="dae"))
    shape = re.search("<box [^>]*/>", SMALL.read_text(encoding="utf-8"))
    assert shape is not None
    mechanism, _ = read_urdf(changed(tmp_path, shape[0], '<mesh filename="foot.dae"/>'))
    sizes = [shape.size_m for link in mechanism.links for shape in link.shapes]
    assert any(size == pytest.approx((0.1, 0.2, 0.3)) for size in sizes)


def test_both_verbs_say_what_they_did(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["robots", "export", "robotis_bioloid", "--to", "urdf", "-o", str(tmp_path / "b.urdf")]) == 0
    assert run(["robots", "import", str(tmp_path / "b.urdf"), "-o", str(tmp_path / "b")]) == 0
    output = capsys.readouterr().out
    assert "18 joints, 1.8 kg" in output
    assert "fill in: maker and title" in output
    assert run(["robots", "import", str(tmp_path / "no.urdf")]) == 2
    assert run(["robots", "export", "robotis_bioloid", "--to", "sdf", "-o", str(tmp_path / "no")]) == 2


def test_names_that_would_steer_a_terminal_do_not(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = (
        SMALL.read_text(encoding="utf-8")
        .replace("left_foot", "left\u202e\u009bfoot: [&#10;")
        .replace("2.5", "0")
    )
    (tmp_path / "odd.urdf").write_text(text, encoding="utf-8")
    assert run(["robots", "import", str(tmp_path / "odd.urdf"), "-o", str(tmp_path / "made")]) in (0, 2)
    output = capsys.readouterr()
    assert all(sign.isprintable() or sign == "\n" for sign in output.out + output.err)


@pytest.mark.skipif(
    importlib.util.find_spec("fourier_robot_descriptions") is None,
    reason="needs a public humanoid: pip install fourier-robot-descriptions",
)
def test_a_public_humanoid_is_imported_and_stands(tmp_path: Path) -> None:
    spec = importlib.util.find_spec("fourier_robot_descriptions")
    assert spec is not None
    assert spec.submodule_search_locations
    folder = Path(spec.submodule_search_locations[0])
    imported = import_robot(folder / "assets/urdf/gr1t1.urdf", tmp_path / "gr1")
    assert len(imported.robot.feet) == 2
    assert tilt_after(imported.robot, 3.0) < 5.0
