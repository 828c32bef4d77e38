"""Imports of fields read what they can, and list what they leave out with its place."""

from __future__ import annotations

import struct
import zipfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from posewright.arenas import Role, read_arena, write_arena
from posewright.errors import FormatError, InputError
from posewright.formats import import_arena
from posewright.formats.scenes import parse_vrml, read_scene

HEAD = "#VRML V2.0 utf8\n"
PROTOTYPES = """PROTO Joint [
  exposedField SFVec3f center 0 0 0   exposedField MFNode children []
  exposedField MFFloat llimit []      exposedField SFRotation rotation 0 0 1 0
  exposedField SFVec3f translation 0 0 0   exposedField SFString jointType ""
] { Transform { center IS center children IS children rotation IS rotation translation IS translation } }
PROTO Segment [
  field SFVec3f bboxSize -1 -1 -1   exposedField MFNode children []   eventIn MFNode addChildren
] { Group { addChildren IS addChildren bboxSize IS bboxSize children IS children } }
PROTO Humanoid [ exposedField MFNode humanoidBody []  exposedField MFNode joints [] ]
{ Transform { children [ Group { children IS humanoidBody } ] } }
PROTO Plate [ field SFVec3f size 1 1 0.1 ] { Box { size IS size } }
"""
"""Prototypes as OpenHRP3's models declare them (ISO/IEC 14772-1, 4.8)."""


CUP_STL = struct.pack("<80xI12fH", 1, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0)
"""A binary STL of one triangle: a head of 80 bytes, the number of triangles, and each with its normal."""


def body(name: str, shape: str, translation: str) -> str:
    return f"""DEF {name} Humanoid {{ humanoidBody [ DEF WAIST{name} Joint {{ jointType "fixed"
      translation {translation} children [ DEF BODY{name} Segment {{ children [ {shape} ] }} ] }} ]
    joints [ USE WAIST{name} ] }}
    """


def test_prototypes_are_expanded_with_their_values_and_defaults() -> None:
    text = f"{HEAD}{PROTOTYPES}{body('a', 'Shape { geometry Plate { size 2 4 6 } }', '1 0 0')}"
    (mesh,) = parse_vrml(text).meshes
    assert np.allclose(np.ptp(mesh.points, axis=0), (2, 4, 6))
    assert np.allclose(mesh.points.mean(axis=0), (1, 0, 0))
    assert (*mesh.group_names, mesh.name) == ("a", "WAISTa", "BODYa")
    (default,) = parse_vrml(f"{HEAD}{PROTOTYPES}Shape {{ geometry Plate {{ }} }}").meshes
    assert np.allclose(np.ptp(default.points, axis=0), (1, 1, 0.1))


def test_a_field_of_prototypes_has_its_floor_by_the_name_of_the_outermost_group(tmp_path: Path) -> None:
    floor = body("floor", "Shape { geometry Box { size 4 3 0.2 } }", "0 0 -0.1")
    crate = body("Crate", "Shape { geometry Box { size 0.2 0.2 0.4 } }", "1 0 0.2")
    (tmp_path / "field.wrl").write_text(HEAD + PROTOTYPES + floor + crate)
    field = import_arena(tmp_path / "field.wrl").arena
    assert field.size_m == (4.0, 3.0)
    assert field.shapes == ()
    assert [(box.x, box.y) for box in field.boxes] == [(3.0, 0.0)]


def test_prototypes_inside_prototypes_have_their_own_names() -> None:
    text = f"""{HEAD}PROTO Pair [ field SFFloat gap 1 field SFVec3f far 5 0 0 ] {{
      PROTO Ball [ field SFVec3f place 0 0 0 ]
      {{ Transform {{ translation IS place children Shape {{ geometry Sphere {{ }} }} }} }}
      Group {{ children [ Ball {{ place IS far }} Ball {{ }} ] }} }}
    Pair {{ }} Pair {{ far 9 0 0 }}"""
    middles = [round(float(mesh.points[:, 0].mean())) for mesh in parse_vrml(text).meshes]
    assert middles == [5, 0, 9, 0]
    assert parse_vrml(f"{text} Ball {{ }}").notes == ("input:6: Ball is not read",)


def test_prototypes_that_double_again_and_again_are_refused() -> None:
    lines = [f"{HEAD}PROTO P0 [ ] {{ Shape {{ geometry Box {{ }} }} }}"]
    lines += [
        f"PROTO P{i} [ ] {{ Group {{ children [ P{i - 1} {{ }} P{i - 1} {{ }} ] }} }}" for i in range(1, 40)
    ]
    with pytest.raises(FormatError, match="too many nodes"):
        parse_vrml("\n".join(lines))
    with pytest.raises(FormatError, match="nested too deep"):
        parse_vrml(HEAD + "PROTO P [ ] { " * 200)
    deep = "Group { children " * 90
    chain = [f"PROTO P{i} [ ] {{ {deep} P{i - 1} {{ }} {'}' * 90} }}" for i in range(1, 20)]
    with pytest.raises(FormatError, match="nested too deep"):
        parse_vrml("\n".join([*lines[:1], *chain]))


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("PROTO X", 2, "cut off|end of the file|in the middle"),
        ("PROTO X { }", 2, r"expected \[ after PROTO X"),
        ("PROTO X [ field SFFloat a ]", 2, "without a value"),
        ("\nPROTO X [ vertex SFFloat a 1 ] { }", 3, "expected a declaration of X"),
        ("PROTO X [ ] Group { }", 2, "expected { at the body"),
    ],
)
def test_a_damaged_prototype_is_refused_with_its_line(text: str, line: int, words: str) -> None:
    with pytest.raises(FormatError, match=words) as caught:
        parse_vrml(HEAD + text)
    assert caught.value.where is not None
    assert caught.value.where.line == line


def test_inlined_files_of_the_folder_are_read_and_others_listed(tmp_path: Path) -> None:
    (tmp_path / "parts").mkdir()
    (tmp_path / "parts/desk.wrl").write_text(f"{HEAD}Shape {{ geometry Box {{ size 1 1 1 }} }}")
    (tmp_path / "parts/loop.wrl").write_text(f'{HEAD}Inline {{ url "loop.wrl" }}')
    text = f"""{HEAD}Transform {{ translation 3 0 0 children Inline {{ url ["gone.wrl" "parts/desk.wrl"] }} }}
    Inline {{ url "gone.wrl" }}
    Inline {{ url "../desk.wrl" }}
    Inline {{ url "parts/loop.wrl" }}"""
    (tmp_path / "room.wrl").write_text(text)
    scene = read_scene(tmp_path / "room.wrl")
    (mesh,) = scene.meshes
    assert np.allclose(mesh.points.mean(axis=0), (3, 0, 0))
    places_and_words = (
        (":3:", "'gone.wrl' is missing"),
        (":4:", "outside"),
        ("loop.wrl:2:", "inlines itself"),
    )
    for note, (place, words) in zip(scene.notes, places_and_words, strict=True):
        assert place in note
        assert words in note


def test_nodes_and_geometries_that_are_not_read_are_listed_once_with_their_count(tmp_path: Path) -> None:
    text = f"""{HEAD}EXTERNPROTO Tree [ field SFFloat height ] "trees.wrl#Tree"
    Tree {{ height 3 }} Tree {{ height 4 }}
    Viewpoint {{ }} Script {{ field SFFloat a 1 eventIn SFBool set url "x.js" }}
    Shape {{ geometry Extrusion {{ spine [ 0 0 0 ] }} }}
    """
    assert [note.partition(": ")[2] for note in parse_vrml(text).notes] == [
        "Tree is not read (2 times)",
        "geometry Extrusion is not read; export it as faces",
    ]
    (tmp_path / "a.wrl").write_text(text)
    with pytest.raises(InputError, match="the scene is empty") as caught:
        import_arena(tmp_path / "a.wrl")
    assert "Extrusion" in str(caught.value.hint)


def static_box(name: str, extents: str, place: str = "0 0 0") -> str:
    geometry = f'<Geom type="box"><extents>{extents}</extents><translation>{place}</translation></Geom>'
    return f'<KinBody name="{name}"><Body type="static">{geometry}</Body></KinBody>'


FLOOR = static_box("floor", "2 1.5 0.005")


def crate(name: str, x: float, y: float = 0.0) -> str:
    geometry = (
        f'<Geom type="box"><extents>0.1 0.1 0.2</extents><translation>{x} {y} 0.205</translation></Geom>'
    )
    return f'<KinBody name="{name}"><Body type="dynamic">{geometry}</Body></KinBody>'


def test_an_environment_reads_the_file_that_its_root_names(tmp_path: Path) -> None:
    folder = tmp_path / "data"
    folder.mkdir()
    (folder / "base.env.xml").write_text(f"<Environment>{FLOOR}{crate('a', 0.5)}</Environment>")
    for name in ("base.env.xml", "data/base.env.xml"):  # OpenRAVE names files from its data folder, too
        (folder / "more.env.xml").write_text(f'<Environment file="{name}">{crate("b", 1.0)}</Environment>')
        assert [box.x for box in import_arena(folder / "more.env.xml").arena.boxes] == [2.5, 3.0]
    (folder / "inside.env.xml").write_text(
        f'<Environment><Environment file="base.env.xml">{crate("b", 1.0)}</Environment></Environment>'
    )
    assert len(import_arena(folder / "inside.env.xml").arena.boxes) == 2


def test_robots_are_left_out_unread_and_missing_files_are_listed(tmp_path: Path) -> None:
    geometry = '<Geom type="trimesh"><data>models/cup.iv 0.01</data></Geom>'
    mesh = f'<KinBody name="cup"><Body>{geometry}</Body></KinBody>'
    text = f"""<Environment>{FLOOR}{crate("crate", 0.5)}
    <Robot name="Puma" file="../robots/puma.robot.xml"><translation>0 0 0</translation></Robot>
    <Robot file="robots/hironx.zae"/>
    <KinBody name="mug" file="mug.kinbody.xml"/>
    {mesh}
    <KinBody name="scaled" scalegeometry="2"><Body><Geom type="capsule"/></Body></KinBody>
    </Environment>"""
    (tmp_path / "a.env.xml").write_text(text)
    imported = import_arena(tmp_path / "a.env.xml")
    assert len(imported.arena.boxes) == 1
    for line, words in (
        (2, "the robot Puma is left out"),
        (3, "the robot robots/hironx.zae is left out"),
        (4, "the body mug is left out: there is no file 'mug.kinbody.xml'"),
        (5, "a mesh is left out: there is no file 'models/cup.iv'"),
        (6, "scalegeometry of <kinbody> is ignored"),
        (6, "'capsule' is ignored"),
    ):
        assert [note for note in imported.notes if f":{line}: " in note and words in note], words


def test_a_mesh_that_is_there_but_of_another_kind_is_listed(tmp_path: Path) -> None:
    (tmp_path / "cup.iv").write_text("#Inventor V2.1 ascii")
    mesh = '<KinBody name="cup"><Body><Geom type="trimesh"><data>cup.iv</data></Geom></Body></KinBody>'
    (tmp_path / "a.env.xml").write_text(f"<Environment>{FLOOR}{mesh}</Environment>")
    assert any(
        "a mesh of the kind '.iv' is not read" in note for note in import_arena(tmp_path / "a.env.xml").notes
    )


GRAVITY = "<physicsengine><odeproperties><gravity>0 -9.8 0</gravity></odeproperties></physicsengine>"


@pytest.mark.parametrize("gravity", ["", GRAVITY])
def test_a_scene_of_openrave_with_y_up_is_turned(tmp_path: Path, gravity: str) -> None:
    floor = static_box("floor", "2 0.005 1.5")
    post = static_box("post", "0.1 0.4 0.1", "0.5 0.405 0.3")
    (tmp_path / "a.env.xml").write_text(f"<Environment>{floor}{post}{gravity}</Environment>")
    field = import_arena(tmp_path / "a.env.xml").arena
    (shape,) = field.shapes
    assert field.size_m == (4.0, 3.0)
    assert (shape.x, shape.y, shape.base_m, shape.size_m[2]) == (2.5, -0.3, 0.0, 0.8)


def test_a_body_of_several_shapes_that_can_move_is_fixed_with_a_note(tmp_path: Path) -> None:
    foot = '<Geom type="box"><extents>0.1 0.1 0.1</extents></Geom>'
    pole = '<Geom type="box"><extents>0.01 0.01 0.3</extents></Geom>'
    link = f'<Body type="dynamic">{foot}{pole}</Body>'
    peg = f'<KinBody name="peg"><translation>0 0 0.305</translation>{link}</KinBody>'
    (tmp_path / "a.env.xml").write_text(f"<Environment>{FLOOR}{peg}</Environment>")
    notes = [
        note for note in import_arena(tmp_path / "a.env.xml").notes if "peg can move in the file" in note
    ]
    assert len(notes) == 1


def test_a_box_on_a_table_stays_there_and_is_fixed(tmp_path: Path) -> None:
    table = static_box("table", "0.3 0.6 0.37", "1 0 0.37")
    geometry = '<Geom type="box"><extents>0.03 0.09 0.07</extents></Geom>'
    parcel = f'<KinBody name="Box1"><translation>1 0 0.81</translation><Body>{geometry}</Body></KinBody>'
    (tmp_path / "a.env.xml").write_text(f"<Environment>{FLOOR}{table}{parcel}{crate('b', 0.5)}</Environment>")
    imported = import_arena(tmp_path / "a.env.xml")
    assert len(imported.arena.boxes) == 1
    (shape,) = [shape for shape in imported.arena.shapes if shape.name == "box1"]
    assert shape.role is Role.FURNITURE
    assert shape.base_m == pytest.approx(0.81 - 0.07 - 0.005)  # above the floor, whose top is at 0.005 m
    assert any("Box1 can move in the file and is fixed here" in note for note in imported.notes)


def test_a_box_called_so_below_the_floor_stays_there_with_a_note(tmp_path: Path) -> None:
    floor = body("floor", "Shape { geometry Box { size 4 3 0.2 } }", "0 0 -0.1")
    sunk = body("box", "Shape { geometry Box { size 0.2 0.2 0.4 } }", "1 0 0.1")
    (tmp_path / "field.wrl").write_text(HEAD + PROTOTYPES + floor + sunk)
    imported = import_arena(tmp_path / "field.wrl")
    assert [shape.base_m for shape in imported.arena.shapes] == [pytest.approx(0.1 - 0.2)]
    assert any("is called a box in the file and is fixed here" in note for note in imported.notes)


def test_raised_floors_and_lines_are_listed(tmp_path: Path) -> None:
    platform = static_box("floor_platform", "0.5 0.5 0.02", "1 0 0.02")
    line = static_box("line", "0.3 0.02 0.001", "-1 0 0.03")
    (tmp_path / "a.env.xml").write_text(f"<Environment>{FLOOR}{platform}{line}</Environment>")
    notes = " ".join(import_arena(tmp_path / "a.env.xml").notes)
    assert "1 parts of the floor lie higher than its lowest one, by up to 0.035 m" in notes
    assert "line_2 is laid on the floor" in notes


def test_a_box_has_the_mass_that_its_body_gives(tmp_path: Path) -> None:
    geometry = '<Geom type="box"><extents>0.1 0.1 0.1</extents></Geom>'
    mass = '<Mass type="mimicgeom"><total>0.285</total></Mass>'
    heavy = f'<KinBody name="a"><translation>0 0 0.1</translation><Body>{mass}{geometry}</Body></KinBody>'
    other = f'<KinBody name="b"><translation>1 0 0.1</translation><Body>{geometry}</Body></KinBody>'
    (tmp_path / "a.env.xml").write_text(f"<Environment>{FLOOR}{heavy}{other}</Environment>")
    field = import_arena(tmp_path / "a.env.xml").arena
    masses_kg = [field.box_kinds[box.kind].mass_kg for box in field.boxes]
    assert masses_kg == [0.285, pytest.approx(50.0 * 0.2**3)]  # 50 kg/m^3 where the file gives none


def test_what_would_place_or_harden_parts_otherwise_is_listed(tmp_path: Path) -> None:
    (tmp_path / "cup.stl").write_bytes(CUP_STL)
    links = '<Body name="x"/><Body name="y" enable="false"/>'
    joint = '<Joint type="hinge"><Body>x</Body><Body>y</Body><initial>30</initial></Joint>'
    mesh = '<Geom type="trimesh"><data>cup.iv</data><render>cup.stl</render></Geom>'
    door = f'<KinBody name="door">{links}{joint}<jointvalues>0.5</jointvalues></KinBody>'
    cup = f'<KinBody name="cup"><Body>{mesh}</Body></KinBody>'
    (tmp_path / "a.env.xml").write_text(f"<Environment>{FLOOR}{door}{cup}</Environment>")
    notes = " ".join(import_arena(tmp_path / "a.env.xml").notes)
    for words in (
        'enable="false" of <body> is ignored',
        "<initial>, with which parts would stand elsewhere, is ignored",
        "<jointvalues>, with which parts would stand elsewhere, is ignored",
        "a mesh is read from <render>: there is no file 'cup.iv'",
    ):
        assert words in notes


def test_models_of_openhrp3_have_z_up_and_list_joints_that_move(tmp_path: Path) -> None:
    desk = body("desk", "Shape { geometry Box { size 0.5 0.2 1.2 } }", "0 0 0.6")
    shelf = body("shelf", "Shape { geometry Box { size 0.5 0.2 1.2 } }", "2 0 0.6")
    moving_shelf = shelf.replace('"fixed"', '"slide"')
    (tmp_path / "room.wrl").write_text(HEAD + PROTOTYPES + desk + moving_shelf)
    imported = import_arena(tmp_path / "room.wrl")
    assert [kind.size_m for kind in imported.arena.box_kinds.values()] == [(0.5, 0.2, 1.2)]
    assert len(imported.arena.boxes) == 2
    assert any("a joint of the type slide is ignored" in note for note in imported.notes)
    assert not any("fixed is ignored" in note for note in imported.notes)


def test_a_tray_without_a_lid_is_solid_with_a_note(tmp_path: Path) -> None:
    points = "0 0 0, 4 0 0, 4 3 0, 0 3 0, 0 0 0.4, 4 0 0.4, 4 3 0.4, 0 3 0.4"
    sides = "0 1 2 3 -1 0 1 5 4 -1 1 2 6 5 -1 2 3 7 6 -1 3 0 4 7 -1"
    for lid, n_notes in (("", 1), (" 4 5 6 7 -1", 0)):
        geometry = f"coord Coordinate {{ point [{points}] }} coordIndex [{sides}{lid}]"
        text = f"{HEAD}DEF tray Shape {{ geometry IndexedFaceSet {{ {geometry} }} }}"
        (tmp_path / "tray.wrl").write_text(text)
        notes = import_arena(tmp_path / "tray.wrl").notes
        assert sum("tray lacks a side or has holes" in note for note in notes) == n_notes


def test_what_has_no_faces_or_is_hollow_or_no_obstacle_is_listed() -> None:
    points = "coord Coordinate { point [0 0 0, 1 0 0, 1 1 0, 0 1 1] }"
    shapes = f"""Shape {{ geometry IndexedFaceSet {{ {points} }} }}
    Shape {{ geometry Cone {{ bottom FALSE }} }}
    Shape {{ geometry Cylinder {{ top FALSE side TRUE }} }}
    Collision {{ collide FALSE children Shape {{ geometry Sphere {{ }} }} }}"""
    scene = parse_vrml(HEAD + shapes)
    assert len(scene.meshes) == 3
    notes = [
        "input:2: an IndexedFaceSet without faces is left out",
        "input:3: bottom FALSE of Cone is ignored: it is solid here",
        "input:4: top FALSE of Cylinder is ignored: it is solid here",
        "input:5: collide FALSE of Collision is ignored: it is solid here",
    ]
    assert list(scene.notes) == notes


def test_fields_that_a_prototype_does_not_have_are_listed() -> None:
    text = f"{HEAD}{PROTOTYPES}Plate {{ children Shape {{ geometry Box {{ }} }} }}"
    assert any("children of Plate is ignored" in note for note in parse_vrml(text).notes)


def test_a_box_of_vrml_may_be_a_sheet_and_not_less() -> None:
    (sheet,) = parse_vrml(f"{HEAD}Shape {{ geometry Box {{ size 10 10 0 }} }}").meshes
    assert np.ptp(sheet.points, axis=0).tolist() == [10.0, 10.0, 0.0]
    for size in ("10 0 0", "10 -1 0", "0 0 0"):
        with pytest.raises(FormatError, match="a Box of"):
            parse_vrml(f"{HEAD}Shape {{ geometry Box {{ size {size} }} }}")


def test_walls_inside_the_field_are_not_its_edge(tmp_path: Path) -> None:
    walls = static_box("wall1", "0.01 0.5 0.3", "0 0 0.3") + static_box("wall2", "0.01 0.5 0.3", "0.5 0 0.3")
    walls += static_box("wall3", "0.5 0.01 0.3", "0 0.5 0.3") + static_box(
        "wall4", "0.5 0.01 0.3", "0 -0.5 0.3"
    )
    (tmp_path / "a.env.xml").write_text(f"<Environment>{FLOOR}{walls}{crate('box', 1.5, 1.0)}</Environment>")
    imported = import_arena(tmp_path / "a.env.xml")
    assert imported.arena.size_m == (4.0, 3.0)
    assert [(box.x, box.y) for box in imported.arena.boxes] == [(3.5, 1.0)]
    assert any("1 parts lie outside the walls" in note for note in imported.notes)


def test_an_arena_document_with_a_shape_outside_its_field_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "a.arena.yaml").write_text(
        "arena: a\nsize_m: [2, 1]\nfriction: 0.5\nshapes:\n"
        "  - {name: chair, role: furniture, x: 1, y: 3, size_m: [0.3, 0.3, 0.2]}\n"
        "colours_rgb: {floor: [0, 0, 0], furniture: [0, 0, 0]}\nsources: {size_m: a test}\n"
    )
    with pytest.raises(InputError, match=r"chair at \(1, 3\) is outside the field") as caught:
        read_arena(tmp_path / "a.arena.yaml")
    assert caught.value.where is not None


def test_what_is_flat_is_no_box_whatever_its_name(tmp_path: Path) -> None:
    pytest.importorskip("trimesh")
    sheet = "o box_1\nv 0 0 0\nv .1 0 0\nv .1 .1 0\nv 0 .1 0\nf 5 6 7 8\n"
    (tmp_path / "a.obj").write_text("o floor\nv -1 -1 0\nv 1 -1 0\nv 1 1 0\nv -1 1 0\nf 1 2 3 4\n" + sheet)
    field = import_arena(tmp_path / "a.obj").arena
    assert not field.boxes
    write_arena(tmp_path / "a.arena.yaml", field)
    assert read_arena(tmp_path / "a.arena.yaml").shapes == field.shapes


def test_a_field_of_more_pieces_than_are_read_is_refused_by_the_import(tmp_path: Path) -> None:
    post = "Shape { geometry Cylinder { radius 0.1 height 0.2 } }"
    places = [(number % 25, number // 25) for number in range(603)]
    pieces = "".join(f"Transform {{ translation {x} {y} 0.1 children {post} }}\n" for x, y in places)
    (tmp_path / "a.wrl").write_text(HEAD + pieces)
    with pytest.raises(InputError, match="603 shapes") as caught:
        import_arena(tmp_path / "a.wrl")
    assert "at most 500" in str(caught.value.hint)


def test_an_arena_that_could_not_be_read_is_not_written(tmp_path: Path) -> None:
    (tmp_path / "a.env.xml").write_text(f"<Environment>{FLOOR}{crate('a', 0.5)}</Environment>")
    field = replace(import_arena(tmp_path / "a.env.xml").arena, friction=500.0)
    with pytest.raises(InputError, match="could not be read back"):
        write_arena(tmp_path / "a.arena.yaml", field)
    assert not (tmp_path / "a.arena.yaml").exists()


@pytest.mark.parametrize("is_zipped", [False, True])
def test_collada_is_read_in_metres_with_its_own_upward_axis(tmp_path: Path, is_zipped: bool) -> None:
    pytest.importorskip("collada", reason="pycollada reads COLLADA; it comes with the extra `meshes`")
    trimesh = pytest.importorskip("trimesh")
    text = trimesh.creation.box((400, 300, 1)).export(file_type="dae").decode()
    head, _, rest = text.partition("</asset>")
    dates = "<created>2020-01-01T00:00:00</created><modified>2020-01-01T00:00:00</modified>"
    asset = f'<asset>{dates}<unit meter="0.01" name="cm"/><up_axis>Z_UP</up_axis>'
    text = head.partition("<asset>")[0] + asset + "</asset>" + rest
    path = tmp_path / ("field.zae" if is_zipped else "field.dae")
    if is_zipped:
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("field.dae", text)
    else:
        path.write_text(text)
    imported = import_arena(path)
    assert imported.arena.size_m == (4.0, 3.0)
    path.write_bytes(b'<!DOCTYPE x [<!ENTITY a "b">]>' + text.encode())
    with pytest.raises(FormatError, match="document type"):
        import_arena(path)


def test_sheets_and_roles(tmp_path: Path) -> None:
    (tmp_path / "a.env.xml").write_text(
        f"<Environment>{FLOOR.replace('floor', 'ground_plate')}{crate('a', 0.5)}</Environment>"
    )
    field = import_arena(tmp_path / "a.env.xml").arena
    assert field.size_m == (4.0, 3.0)
    assert all(shape.role is not Role.FURNITURE for shape in field.shapes)
