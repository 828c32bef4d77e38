"""Projects of OpenHRP3 and Choreonoid as arenas. The files are laid out as the samples of both programs."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from posewright.arenas import Role
from posewright.errors import FormatError, InputError, PosewrightError
from posewright.formats import import_arena

MODEL = """#VRML V2.0 utf8
PROTO Joint [ exposedField MFNode children []  exposedField SFVec3f translation 0 0 0
  exposedField SFRotation rotation 0 0 1 0
  exposedField SFString jointType ""  exposedField SFInt32 jointId -1 ]
{ Transform { children IS children translation IS translation rotation IS rotation } }
PROTO Segment [ exposedField MFNode children []  exposedField SFFloat mass 0  eventIn MFNode addChildren ]
{ Group { children IS children addChildren IS addChildren } }
PROTO Humanoid [ exposedField MFNode humanoidBody []  exposedField MFNode joints [] ]
{ Transform { children [ Group { children IS humanoidBody } ] } }
"""


def model(root_joint: str, shape: str, mass: float = 0.5, name: str = "longfloor", more: str = "") -> str:
    return f"""{MODEL}DEF {name} Humanoid {{ humanoidBody [ DEF WAIST Joint {{ jointType "{root_joint}"
      translation 0 0 7 rotation 1 0 0 1
      children [ DEF BODY Segment {{ mass {mass} children [ {shape} ] }} {more} ]
    }} ] joints [ USE WAIST ] }}"""


def box(size: str) -> str:
    return f"Shape {{ geometry DEF box-FACES Box {{ size {size} }} }}"


MOVING_JOINTS = 'DEF A Joint { jointType "rotate" jointId 0 } DEF B Joint { jointType "rotate" jointId 1 }'


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """Return the path of a project that is still to be written, beside its models."""
    models = {
        "floor": model("fixed", box("6 4 0.2")),
        "crate": model("free", box("0.2 0.3 0.4"), mass=2.5),
        "robot": model("free", box("0.1 0.1 0.1"), more=MOVING_JOINTS),
        "house/table.main": model("fixed", 'Inline { url "table.wrl" }'),
    }
    for name, text in models.items():
        path = tmp_path / "model" / f"{name}.wrl"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    (tmp_path / "model/house/table.wrl").write_text(
        f"#VRML V2.0 utf8\nTransform {{ translation 0 0 0.35 children [ {box('1 0.6 0.7')} ] }}"
    )
    (tmp_path / "project").mkdir()
    return tmp_path / "project" / "Sample.xml"


def item(name: str, url: str, attributes: str = "", **properties: str) -> str:
    tags = "".join(
        f'<property name="{key.replace("__", ".")}" value="{value}"/>' for key, value in properties.items()
    )
    head = f'class="com.generalrobotix.ui.item.GrxModelItem" name="{name}" {attributes} url="{url}"'
    return f"<item {head}>{tags}</item>\n"


def write(path: Path, *items: str) -> Path:
    path.write_text(f'<grxui><mode name="Simulation">\n{"".join(items)}</mode></grxui>')
    return path


FLOOR = item(
    "floor",
    "$(OPENHRPHOME)/sample/model/floor.wrl",
    isRobot="false",
    WAIST__translation="0 0 -0.1 ",
    WAIST__rotation="0.0 1.0 0.0 0.0 ",
)


def test_bodies_stand_where_the_project_places_them(project: Path) -> None:
    quarter_turn = f"0 0 1 {math.pi / 2}"
    crate = item(
        "crate",
        "$(PROJECT_DIR)/../model/crate.wrl",
        isRobot="true",  # of a single part, it is none
        WAIST__translation="1.0 0.5 0.2",
        WAIST__rotation=quarter_turn,
    )
    table = item(
        "table",
        "/opt/share/OpenHRP-3.1/sample/model/house/table.main.wrl",
        isRobot="false",
        WAIST__translation="-1 -0.5 0",
        WAIST__rotation="0 0 1 0",
    )
    imported = import_arena(write(project, FLOOR, crate, table))
    assert imported.notes == ()
    assert imported.arena.size_m == (6.0, 4.0)
    (loose_box,) = imported.arena.boxes
    assert (loose_box.x, loose_box.y) == pytest.approx((4.0, 0.5))
    kind = imported.arena.kind_of(loose_box)
    assert kind.size_m == pytest.approx((0.3, 0.2, 0.4))  # a quarter turn
    assert kind.mass_kg == 2.5
    (shape,) = imported.arena.shapes
    assert (shape.name, shape.role) == ("table", Role.FURNITURE)
    assert (shape.x, shape.y, *shape.size_m) == pytest.approx((2.0, -0.5, 1.0, 0.6, 0.7))


def test_the_mass_of_a_body_is_that_of_its_only_part_and_not_of_each_of_several(project: Path) -> None:
    parts = f"{box('0.2 0.2 0.4')} Transform {{ translation 1 0 0 children [ {box('0.3 0.2 0.4')} ] }}"
    (project.parent / "pair.wrl").write_text(model("free", parts, mass=2.5))
    pair = item(
        "pair", "pair.wrl", isRobot="false", WAIST__translation="1 0.5 0.2", WAIST__rotation="0 0 1 0"
    )
    imported = import_arena(write(project, FLOOR, pair))
    masses = [imported.arena.kind_of(part).mass_kg for part in imported.arena.boxes]
    assert masses == pytest.approx([0.8, 1.2])  # of each volume at 50 kg a cubic metre, as the arena says
    assert "50 kg a cubic metre" in imported.arena.sources["box_kinds"]


def test_a_joint_that_the_project_does_not_place_stands_as_in_its_model(project: Path) -> None:
    (project.parent / "step.wrl").write_text(
        model("fixed", box("1 1 0.2")).replace("translation 0 0 7 rotation 1 0 0 1", "translation 2 0 0.1")
    )
    imported = import_arena(write(project, FLOOR, item("step", "step.wrl", isRobot="false")))
    (shape,) = imported.arena.shapes
    assert (shape.role, shape.x, shape.base_m) == (Role.STEP, 5.0, pytest.approx(0.0))


def test_robots_and_all_else_are_listed_with_their_lines(project: Path) -> None:
    pair = '<item class="com.generalrobotix.ui.item.GrxCollisionPairItem" name="{}">{}</item>\n'
    friction = '<property name="slidingFriction" value="0.4"/>'
    items = [
        FLOOR,
        item("hero", "$(CURRENT_DIR)/../model/robot.wrl", isRobot="true"),
        item("puppet", "$(CURRENT_DIR)/../model/gone.wrl", isRobot="true", controller="Walk"),
        item("unsaid", "$(CURRENT_DIR)/../model/robot.wrl"),
        item("gone", "$(CURRENT_DIR)/../model/gone.wrl", isRobot="false"),
        item("hidden", "$(CURRENT_DIR)/../model/crate.wrl", 'select="false"'),
        item("secret", "$(CURRENT_DIR)/../../../../../etc/passwd"),
        item("mesh", "../model/house/table.stl", isRobot="false"),
        pair.format("CP#a#b", friction) + pair.format("CP#c#d", friction.replace("0.4", "")),
        '<view class="com.generalrobotix.ui.view.Grx3DView"/>\n',
        item(
            "crate",
            "../model/crate.wrl",
            base__translation="1 1 1",
            WAIST__velocity="0 1 0",
            A__angle="0.5",
            B__velocity="0.0",
        ),
    ]
    notes = import_arena(write(project, *items)).notes
    for line, words in (
        (3, "the robot hero is left out: an arena has no robots"),
        (4, "the robot puppet is left out: an arena has no robots"),
        (5, "the robot unsaid is left out: an arena has no robots"),
        (6, "the model gone is left out: there is no file '$(CURRENT_DIR)/../model/gone.wrl'"),
        (7, "the model hidden is left out: it is not selected"),
        (8, "the model secret is left out: there is no file"),
        (9, "the model mesh is left out: there is no file"),
        (11, "a friction is not read: <property> has no attribute 'value'"),
        (12, "Grx3DView is left out"),
        (13, "the velocity of crate is ignored"),
        (13, "the angles of joints of crate"),
    ):
        assert any(f"Sample.xml:{line}: {words}" in note for note in notes), words
    assert "the pose of the joint base of crate is ignored: it is not the root" in notes
    assert "the file has a friction of 0.4; write it into the document" in notes


def test_obstacles_in_the_model_of_a_floor_stand_on_it(project: Path) -> None:
    bump = f"Transform {{ translation 1 0.5 0.2 children [ {box('0.3 0.6 0.2')} ] }}"
    extrusion = "Shape { geometry Extrusion { spine [ 0 -2 0, 0 2 0 ] } }"
    (project.parents[1] / "model/floor.wrl").write_text(model("fixed", box("6 4 0.2") + bump + extrusion))
    imported = import_arena(write(project, FLOOR))
    (obstacle,) = imported.arena.shapes
    assert (obstacle.role, obstacle.x, obstacle.y) == (Role.FURNITURE, 4.0, 0.5)
    assert (obstacle.base_m, obstacle.size_m) == (pytest.approx(0.0), pytest.approx((0.3, 0.6, 0.2)))
    (note,) = imported.notes
    assert "geometry Extrusion is not read; export it as faces" in note


def test_a_floor_that_is_not_level_is_told(project: Path) -> None:
    slanted = FLOOR.replace("0.0 1.0 0.0 0.0", "0.0 1.0 0.0 0.1")
    assert import_arena(write(project, slanted)).notes == ("floor is not level: a field is flat",)


def test_a_damaged_model_is_left_out_and_a_project_of_robots_only_is_refused(project: Path) -> None:
    (project.parent / "bad.wrl").write_text("#VRML V2.0 utf8\nShape { geometry Box { size 1 } }")
    notes = import_arena(write(project, FLOOR, item("bad", "bad.wrl"))).notes
    assert "bad.wrl:2: size of Box has 1 numbers" in " ".join(notes)
    with pytest.raises(InputError, match="no bodies with shapes besides robots") as caught:
        import_arena(write(project, item("hero", "../model/robot.wrl")))
    assert "the robot hero is left out" in str(caught.value.hint)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("<grxui/>", "the project has no <mode>"),
        (
            '<grxui><mode><item class="GrxModelItem"><property name="WAIST.translation" value="1 2"/>'
            "</item></mode></grxui>",
            "value of <property>",
        ),
    ],
)
def test_a_damaged_project_is_refused_with_its_line(project: Path, text: str, words: str) -> None:
    project.write_text(text)
    with pytest.raises(FormatError, match=words) as caught:
        import_arena(project)
    assert caught.value.where is not None
    assert caught.value.where.line == 1


CNOID = """items:
  id: 0
  name: "Root"
  plugin: Base
  class: RootItem
  children:
    -
      name: "World"
      class: WorldItem
      data:
        collisionDetection: false
      children:
        - name: "Floor"
          class: BodyItem
          data:
            modelFile: "${SHARE}/model/floor.wrl"
            rootPosition: [ 0, 0, -0.1 ]
            rootAttitude: [
              1, 0, 0,
              0, 1, 0,
              0, 0, 1 ]
            staticModel: true
        - name: "crate"
          class: BodyItem
          data:
            modelFile: "../model/crate.wrl"
            rootPosition: [ 1, 0.5, 0.2 ]
            rootAttitude: [ 0, -1, 0, 1, 0, 0, 0, 0, 1 ]
        - name: "SR1"
          class: BodyItem
          data: { modelFile: "${SHARE}/model/SR1.body", rootPosition: [ 0, 0, 0.7 ] }
          children: [ { class: SimpleControllerItem } ]
        - name: "chair"
          class: BodyItem
          data: { file: "${SHARE}/model/chair.body", rootPosition: [ 0, 0, 0.7 ] }
        - class: AISTSimulatorItem
views: []
"""


def test_a_project_of_choreonoid_is_an_arena_too(project: Path) -> None:
    path = project.with_suffix(".cnoid")
    path.write_text(CNOID)
    (project.parents[1] / "model/chair.body").write_text("format: ChoreonoidBody")
    imported = import_arena(path)
    (loose_box,) = imported.arena.boxes
    assert (loose_box.x, loose_box.y) == pytest.approx((4.0, 0.5))
    assert imported.arena.kind_of(loose_box).size_m == pytest.approx((0.3, 0.2, 0.4))
    notes = " ".join(imported.notes)
    for words in (
        "Sample.cnoid:29: the robot SR1 is left out",
        "the model chair is left out: '${SHARE}/model/chair.body' is not VRML",
        "AISTSimulatorItem is left out",
        "the views are left out",
    ):
        assert words in notes


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("items:", "things:", "this is not a project of Choreonoid"),
        ("[ 1, 0.5, 0.2 ]", "[ 1, 0.5 ]", "rootPosition of crate does not have 3 numbers"),
        (
            "[ 0, -1, 0, 1, 0, 0, 0, 0, 1 ]",
            "[ 0, -1, 0, 1, 0, 0, 0, 0, 7 ]",
            "rootAttitude of crate is no rotation",
        ),
        ("views: []", "views: [", "not valid YAML"),
    ],
)
def test_a_damaged_project_of_choreonoid_is_refused(project: Path, old: str, new: str, words: str) -> None:
    path = project.with_suffix(".cnoid")
    path.write_text(CNOID.replace(old, new))
    with pytest.raises(PosewrightError, match=words):
        import_arena(path)
