"""OpenRAVE's XML: poses, included files, and what is rejected."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

from posewright.arenas import Role
from posewright.errors import FormatError, InputError
from posewright.formats import import_arena
from posewright.formats.openrave import GeometryKind, JointKind, read_openrave

SAMPLES = Path(__file__).parents[4] / "shared" / "samples" / "openrave"

ROBOT = """<Robot name="Walker">
  <KinBody>
    <Body name="Trunk" type="dynamic">
      <Translation>0 0 1</Translation>
      <Geom type="box"><Extents>0.1 0.2 0.3</Extents></Geom>
      <Mass type="box"><total>2.4</total><extents>0.1 0.2 0.3</extents><com>0 0 0.1</com></Mass>
    </Body>
    <Body name="Leg">
      <offsetfrom>Trunk</offsetfrom>
      <RotationAxis>1 0 0 90</RotationAxis>
      <Translation>0 0.5 0</Translation>
      <RotationAxis>0 0 1 90</RotationAxis>
      <Geom type="cylinder"><radius>0.05</radius><height>0.4</height></Geom>
      <Mass type="mimicgeom"><density>1000</density></Mass>
    </Body>
    <Joint name="hip" type="hinge">
      <Body>trunk</Body><Body>Leg</Body>
      <offsetfrom>Leg</offsetfrom>
      <Axis>0 0 2</Axis><Anchor>0 0.1 0</Anchor>
      <limitsdeg>45 -30</limitsdeg><maxveldeg>180</maxveldeg><maxtorque>1.5</maxtorque>
    </Joint>
    <Joint name="dummy" type="hinge" enable="false">
      <Body>Trunk</Body><Body>Leg</Body><limits>0 0</limits></Joint>
    <Adjacent>Trunk Leg</Adjacent>
  </KinBody>
  <Manipulator name="arm"><base>Trunk</base><effector>Leg</effector></Manipulator>
  <AttachedSensor name="laser"><link>Trunk</link><translation>0 0.06 0.08</translation>
    <sensor type="BaseLaser2D"><maxrange>5</maxrange></sensor></AttachedSensor>
</Robot>
"""

FIELD = """<Environment>
  <camtrans>0 0 3</camtrans>
  <Robot file="robots/walker.robot.xml"><Translation>1 2 0</Translation></Robot>
  <KinBody name="floor"><Body type="static"><Translation>0 0 -0.005</Translation>
    <Geom type="box"><extents>1 1 0.005</extents><diffuseColor>.3 1 .3</diffuseColor></Geom></Body></KinBody>
  <KinBody name="box1"><Body><Translation>0.2 0.3 0.25</Translation>
    <Geom type="box"><extents>0.1 0.1 0.25</extents></Geom></Body></KinBody>
  <KinBody name="pared"><Body type="static"><Translation>-1.01 0 0.25</Translation>
    <Geom type="box"><extents>0.01 1 0.25</extents></Geom></Body></KinBody>
  <physicsengine type="ode">
    <odeproperties><friction>0.5</friction><gravity>0 0 -9.8</gravity></odeproperties></physicsengine>
</Environment>
"""


@pytest.fixture
def scene(tmp_path: Path) -> Path:
    (tmp_path / "robots").mkdir()
    (tmp_path / "robots/walker.robot.xml").write_text(ROBOT)
    (tmp_path / "field.env.xml").write_text(FIELD)
    return tmp_path / "field.env.xml"


def refusal(path: Path, text: str) -> FormatError:
    path.write_text(text)
    with pytest.raises(FormatError) as caught:
        read_openrave(path)
    assert caught.value.where is not None
    return caught.value


def test_links_without_a_name_stay_apart(tmp_path: Path) -> None:
    box = '<Geom type="box"><extents>0.1 0.1 0.1</extents></Geom>'
    nameless = f"<Body><Translation>0 0 {{}}</Translation>{box}</Body>"
    inner = f"<KinBody>{nameless.format(3)}{nameless.format(4)}</KinBody>"
    first = f'<Body name="link1"><Translation>0 0 1</Translation>{box}</Body>'
    path = tmp_path / "a.kinbody.xml"
    path.write_text(f'<KinBody name="k">{first}{nameless.format(2)}{inner}</KinBody>')
    (body,) = read_openrave(path).bodies
    assert [(link.pose[2, 3], len(link.geometries)) for link in body.links] == [
        (1.0, 1),
        (2.0, 1),
        (3.0, 1),
        (4.0, 1),
    ]
    assert len({link.name for link in body.links}) == 4


def test_a_mesh_is_looked_for_in_the_folder_that_its_body_names(tmp_path: Path) -> None:
    (tmp_path / "models").mkdir()
    (tmp_path / "models/cup.wrl").write_text("#VRML V2.0 utf8\nShape { geometry Box { size 1 1 1 } }")
    mesh = '<Body><Geom type="trimesh"><data>cup.wrl 0.5</data></Geom></Body>'
    bodies = f"<KinBody><modelsdir>models</modelsdir>{mesh}</KinBody><KinBody>{mesh}</KinBody>"
    path = tmp_path / "a.env.xml"
    path.write_text(f"<Environment>{bodies}</Environment>")
    environment = read_openrave(path)
    found, missing = (body.links[0].geometries for body in environment.bodies)
    assert [np.ptp(part, axis=0).tolist() for shape in found for part in shape.points()] == [[0.5] * 3]
    assert missing == ()
    assert any("there is no file 'cup.wrl'" in note for note in environment.notes)


def test_links_and_joints_stand_where_the_document_says(scene: Path) -> None:
    (robot,) = read_openrave(scene.parent / "robots/walker.robot.xml").bodies
    _, leg = robot.links
    assert (robot.name, robot.is_robot) == ("Walker", True)
    turned = np.array([(0, 0, 1), (1, 0, 0), (0, 1, 0)])  # about x first, then about z
    assert np.allclose(leg.pose[:3, :3], turned)
    assert np.allclose(leg.pose[:3, 3], (0, 0.5, 1))
    hip, dummy = robot.joints
    assert (hip.kind, hip.parent, hip.child) == (JointKind.HINGE, "Trunk", "Leg")
    assert np.allclose(hip.axis, turned @ (0, 0, 1))
    assert np.allclose(hip.anchor_m, (0, 0.5, 1) + turned @ (0, 0.1, 0))
    assert hip.limits == pytest.approx((math.radians(-30), math.radians(45)))
    assert (hip.max_velocity, hip.max_torque) == (pytest.approx(math.pi), 1.5)
    assert not dummy.is_enabled
    assert dummy.limits == (0.0, 0.0)


def test_masses_are_those_of_full_bodies(scene: Path) -> None:
    (robot,) = read_openrave(scene.parent / "robots/walker.robot.xml").bodies
    trunk, leg = (link.mass for link in robot.links)
    assert trunk is not None
    assert leg is not None
    assert trunk.kg == 2.4
    assert np.allclose(trunk.centre_m, (0, 0, 0.1))
    assert np.allclose(np.diag(trunk.inertia), 0.2 * np.array([0.16 + 0.36, 0.04 + 0.36, 0.04 + 0.16]))
    assert leg.kg == pytest.approx(1000 * math.pi * 0.05**2 * 0.4)
    assert leg.inertia[1, 1] == pytest.approx(leg.kg * 0.05**2 / 2)


def test_sensors_are_kept_and_manipulators_are_told(scene: Path) -> None:
    scene_file = read_openrave(scene.parent / "robots/walker.robot.xml")
    (sensor,) = scene_file.bodies[0].sensors
    assert (sensor.name, sensor.kind, sensor.link) == ("laser", "BaseLaser2D", "Trunk")
    assert np.allclose(sensor.pose[:3, 3], (0, 0.06, 0.08))
    assert sensor.values == (("maxrange", "5"),)
    assert [note.rpartition(":")[2] for note in scene_file.notes] == [
        " <adjacent> is ignored",
        " <manipulator> is ignored",
    ]


def test_an_environment_places_what_it_includes(scene: Path) -> None:
    scene_file = read_openrave(scene)
    assert scene_file.friction == 0.5
    assert np.allclose(scene_file.bodies[0].links[0].pose[:3, 3], (1, 2, 1))
    assert np.allclose(scene_file.bodies[0].joints[0].anchor_m[:2], (1, 2.5))


def test_an_environment_becomes_a_field_without_its_robots(scene: Path) -> None:
    imported = import_arena(scene)
    assert imported.arena.size_m == (2.0, 2.0)
    assert [(box.x, box.y) for box in imported.arena.boxes] == [(1.2, 0.3)]
    assert [shape.role for shape in imported.arena.shapes] == [Role.WALL]
    assert imported.arena.colours["floor"] == (0.3, 1.0, 0.3)
    assert any("the robot robots/walker.robot.xml is left out" in note for note in imported.notes)


def test_a_mesh_comes_from_the_folder_with_its_scale(tmp_path: Path) -> None:
    (tmp_path / "parts").mkdir()
    (tmp_path / "parts/my cube.wrl").write_text("#VRML V2.0 utf8\nShape { geometry Box { } }\n")
    mesh = '<Geom type="trimesh"><Data>parts/my cube.wrl 0.01</Data></Geom>'
    text = f'<KinBody name="b"><Body name="b">{mesh}</Body></KinBody>'
    (tmp_path / "b.kinbody.xml").write_text(text)
    (shape,) = read_openrave(tmp_path / "b.kinbody.xml").bodies[0].links[0].geometries
    assert shape.kind is GeometryKind.MESH
    assert np.allclose(np.abs(shape.points()[0]), 0.01)


@pytest.mark.parametrize(
    "name", ["../outside.xml", "/etc/passwd", "robots/../../outside.xml", "a\\..\\..\\outside.xml"]
)
def test_an_include_never_leaves_the_folder(tmp_path: Path, name: str) -> None:
    (tmp_path / "outside.xml").write_text(ROBOT)
    (tmp_path / "in").mkdir()
    error = refusal(tmp_path / "in/x.xml", f'<Environment>\n<Robot file="{name}"/></Environment>')
    assert "leads out of the folder" in error.message
    assert error.where is not None
    assert error.where.line == 2


def test_a_link_in_the_folder_does_not_lead_out_either(tmp_path: Path) -> None:
    (tmp_path / "outside.xml").write_text(ROBOT)
    (tmp_path / "in").mkdir()
    (tmp_path / "in/way.xml").symlink_to(tmp_path / "outside.xml")
    error = refusal(tmp_path / "in/x.xml", '<Environment><Robot file="way.xml"/></Environment>')
    assert "leads out of the folder" in error.message


def test_documents_do_not_include_themselves(tmp_path: Path) -> None:
    (tmp_path / "b.xml").write_text('<KinBody file="a.xml"/>')
    assert "includes itself" in refusal(tmp_path / "a.xml", '<KinBody file="b.xml"/>').message


def test_bombs_and_entities_are_refused(tmp_path: Path) -> None:
    bomb = '<!DOCTYPE x [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]><Environment>&b;</Environment>'
    assert "document type" in refusal(tmp_path / "a.xml", bomb).message
    outside = '<!DOCTYPE x [<!ENTITY a SYSTEM "file:///etc/passwd">]><Environment>&a;</Environment>'
    assert "document type" in refusal(tmp_path / "a.xml", outside).message
    assert "too deep" in refusal(tmp_path / "a.xml", "<a>" * 500).message
    assert "too many elements" in refusal(tmp_path / "a.xml", "<a>" + "<b/>" * 100_001 + "</a>").message


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ('<Body name="a"><offsetfrom>nobody</offsetfrom></Body>', "no body 'nobody' yet"),
        ('<Body name="a"><Geom type="box"/></Body>', "without <extents>"),
        ('<Body name="a"><Geom type="box"><extents>1 2</extents></Geom></Body>', "2 numbers"),
        ('<Body name="a"><Geom type="box"><extents>1 -2 1</extents></Geom></Body>', "above 0"),
        ('<Body name="a"><Translation>1 nan 1</Translation></Body>', "not finite"),
        ('<Body name="a"><RotationMat>1 1 1 1 1 1 1 1 1</RotationMat></Body>', "not a rotation matrix"),
        ('<Body name="a"><Mass type="pyramid"/></Body>', "'pyramid' is not read"),
        ('<Joint name="j" type="universal"/>', "'universal' is not read"),
        ('<Body name="a"/><Joint name="j"><Body>a</Body><Body>a</Body></Joint>', "between 1 bodies"),
        ('<Body name="a"><Geom type="trimesh"/></Body>', "without <data>"),
    ],
)
def test_what_is_wrong_is_told_with_file_and_line(tmp_path: Path, body: str, words: str) -> None:
    error = refusal(tmp_path / "a.xml", f'<KinBody name="k">\n\n{body}</KinBody>')
    assert words in f"{error.message} {error.hint}"
    assert error.where is not None
    assert error.where.line == 3


def test_the_minus_signs_of_a_browsers_view_are_told(tmp_path: Path) -> None:
    error = refusal(tmp_path / "a.xml", '-<KinBody name="k">\n-<Body name="a"/></KinBody>')
    assert error.hint is not None
    assert "browser" in error.hint
    for dash in ("-", "\u2013", "\u2212"):
        inside = refusal(tmp_path / "a.xml", f'<KinBody name="k">\n{dash}<Body name="a"/>\n</KinBody>')
        assert "minus" in inside.message
        assert inside.where is not None
        assert inside.where.line == 2


def test_other_xml_is_refused(tmp_path: Path) -> None:
    assert "not an OpenRAVE document" in refusal(tmp_path / "a.xml", "<mujoco/>").message
    project = refusal(tmp_path / "a.xml", "<grxui><mode name='Simulation'/></grxui>")
    assert "project of OpenHRP3" in project.message
    assert "arena import" in str(project.hint)
    (tmp_path / "a.xml").write_text(ROBOT)
    with pytest.raises(InputError, match="no bodies with shapes") as caught:
        import_arena(tmp_path / "a.xml")
    assert caught.value.where is not None


@pytest.mark.parametrize(
    ("inside", "words"),
    [
        ("".join(f'<Body name="b{i}"/>' for i in range(1001)), "too many parts"),
        ('<Body name="a"/><Body name="b"/>' + "<Joint><Body>a</Body><Body>b</Body></Joint>" * 1001, "parts"),
        ("".join(f'<KinBody prefix="{i}" file="b.xml"/>' for i in range(241)), "too many or too large files"),
    ],
)
def test_what_would_take_for_ever_is_refused_at_once(tmp_path: Path, inside: str, words: str) -> None:
    (tmp_path / "b.xml").write_text('<KinBody><Body name="b"/></KinBody>')
    assert words in refusal(tmp_path / "a.xml", f"<KinBody>{inside}</KinBody>").message


@pytest.mark.skipif(not SAMPLES.is_dir(), reason="other people's samples are not here")
def test_samples_are_read_or_refused_with_file_and_line() -> None:
    (robot,) = read_openrave(SAMPLES / "rdiankov_twodof.robot.xml").bodies
    assert [link.name for link in robot.links] == ["Base", "Arm0", "Arm1"]
    assert all(link.mass is not None for link in robot.links)
    sample = read_openrave(SAMPLES / "rdiankov_sample.kinbody.xml")
    (mesh_note,) = (note for note in sample.notes if "models/objects/cup.iv" in note)
    assert ":56: a mesh is left out: there is no file" in mesh_note
    with pytest.raises(FormatError, match="there is no file") as caught:
        read_openrave(SAMPLES / "rdiankov_testphysics.env.xml")
    assert caught.value.where is not None
    assert caught.value.where.line == 5
    imported = import_arena(SAMPLES / "rdiankov_testphysics.env.xml")
    assert imported.arena.size_m == (4.0, 4.0)
    assert any(":5: the robot Puma is left out" in note for note in imported.notes)


@pytest.mark.parametrize("data", ["cup.iv 0.01", "a" + " " * 50_000 + "x"])
def test_a_mesh_without_its_file_is_left_out_with_a_note(tmp_path: Path, data: str) -> None:
    mesh = f'<Geom type="trimesh"><data>{data}</data></Geom><Geom type="blob"/>'
    (tmp_path / "a.xml").write_text(f'<KinBody name="k"><Body name="a">{mesh}</Body></KinBody>')
    document = read_openrave(tmp_path / "a.xml")
    assert document.bodies[0].links[0].geometries == ()
    assert "a mesh is left out: there is no file" in document.notes[0]
    assert "'blob' is ignored" in document.notes[1]


def test_bodies_may_not_stand_in_each_other_without_end(tmp_path: Path) -> None:
    assert "too deep" in refusal(tmp_path / "a.xml", "<KinBody>" * 150 + "</KinBody>" * 150).message


def test_a_prefix_goes_before_all_names_of_what_is_included(scene: Path) -> None:
    text = '<Robot><Robot file="robots/walker.robot.xml" prefix="one_"/></Robot>'
    (scene.parent / "two.robot.xml").write_text(text)
    (robot,) = read_openrave(scene.parent / "two.robot.xml").bodies
    assert {link.name for link in robot.links} == {"one_Trunk", "one_Leg"}
    assert [(sensor.name, sensor.link) for sensor in robot.sensors] == [("one_laser", "one_Trunk")]


def test_a_link_defined_again_and_again_does_not_weigh_its_shapes_for_ever(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every definition adds a shape and adds all masses up again: 2,000 took over ten seconds."""
    monkeypatch.setattr("posewright.formats.openrave.reader.MAX_WEIGHED", 100)
    shape = (
        '<Geom type="sphere"><radius>0.1</radius></Geom><Mass type="mimicgeom"><density>1</density></Mass>'
    )
    path = tmp_path / "again.xml"
    link = f'<Body name="a">{shape}</Body>'
    path.write_text(f"<KinBody>{link * 13}</KinBody>")
    assert len(read_openrave(path).bodies) == 1  # 1 + 2 + ... + 13 = 91 shapes
    path.write_text(f"<KinBody>{link * 14}</KinBody>")
    with pytest.raises(FormatError, match="masses of too many shapes"):
        read_openrave(path)
