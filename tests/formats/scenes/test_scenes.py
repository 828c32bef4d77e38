"""Scenes of drawing programs become arenas, whichever axis points up; damaged files are rejected."""

from __future__ import annotations

import json
import math
import struct
from pathlib import Path

import numpy as np
import pytest

from posewright.arenas import Role, read_arena, write_arena
from posewright.errors import FormatError, InputError, UnknownNameError
from posewright.formats import import_arena
from posewright.formats.scenes import parse_vrml, read_scene

from .blender import FIELD, HEAD, wrl


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "field.wrl").write_text(wrl())
    return tmp_path


@pytest.mark.parametrize("y_up", [True, False])
def test_the_obstacle_field_is_recognised_by_names_and_sizes(tmp_path: Path, y_up: bool) -> None:
    (tmp_path / "my field.wrl").write_text(wrl(y_up=y_up))
    field = import_arena(tmp_path / "my field.wrl").arena
    assert (field.name, field.size_m) == ("my_field", (2.5, 2.0))
    assert [wall.name for wall in field.walls] == ["wall_start", "wall_end", "wall_left", "wall_right"]
    assert [(line.x, line.width_m) for line in field.lines] == [(0.5, 0.02), (2.0, 0.02)]
    assert [(box.x, box.y, round(box.yaw_rad, 4)) for box in field.boxes] == [
        (1.0, 0.4, 0.0),
        (1.5, -0.35, 0.6),
    ]
    assert field.box_size == (0.2, 0.2, 0.5)
    assert "assumption" in field.sources["friction"]


def test_an_imported_field_is_read_back_as_it_was_written(folder: Path) -> None:
    field = import_arena(folder / "field.wrl").arena
    write_arena(folder / "field.arena.yaml", field)
    again = read_arena(folder / "field.arena.yaml")
    assert again.shapes == field.shapes
    assert again.box_kinds == field.box_kinds
    assert [(box.x, box.y) for box in again.boxes] == [(box.x, box.y) for box in field.boxes]


@pytest.mark.parametrize(("scale", "turn"), [(1.0, 0.0), (0.5, 0.0), (1.0, 180.0)])
def test_a_scale_and_a_half_turn_keep_what_things_are(folder: Path, scale: float, turn: float) -> None:
    field = import_arena(folder / "field.wrl", scale=scale, turn_deg=turn).arena
    assert field.size_m == (2.5 * scale, 2.0 * scale)
    assert len(field.walls) == 4
    assert len(field.lines) == 2
    assert len(field.boxes) == 2


def test_turned_by_a_quarter_the_field_is_as_wide_as_it_was_long(folder: Path) -> None:
    assert import_arena(folder / "field.wrl", turn_deg=90.0).arena.size_m == (2.0, 2.5)


@pytest.mark.parametrize("kind", ["stl", "obj", "glb"])
def test_other_programs_files_give_the_same_field(tmp_path: Path, kind: str) -> None:
    trimesh = pytest.importorskip("trimesh")
    scene = trimesh.Scene()
    for name, (middle, edges, yaw) in FIELD.items():
        place = trimesh.transformations.rotation_matrix(yaw, (0, 0, 1))
        place[:3, 3] = middle
        scene.add_geometry(trimesh.creation.box(edges, place), node_name=name, geom_name=name)
    scene.export(tmp_path / f"field.{kind}")
    field = import_arena(tmp_path / f"field.{kind}", up="z").arena
    assert field.size_m == (2.5, 2.0)
    assert (len(field.walls), len(field.lines), len(field.boxes)) == (4, 2, 2)


def test_what_is_no_block_is_its_hull_and_a_cylinder_is_round(tmp_path: Path) -> None:
    ramp = "coord Coordinate { point [ 0 0 0, 0.4 0 0, 0.4 0.1 0, 0 0 -0.3, 0.4 0 -0.3, 0.4 0.1 -0.3 ] }"
    faces = "coordIndex [ 0 1 2 -1 3 5 4 -1 0 3 4 1 -1 1 4 5 2 -1 0 2 5 3 -1 ]"
    text = (
        f"{HEAD}DEF Ramp Transform {{ children Shape {{ geometry IndexedFaceSet {{ {ramp} {faces} }} }} }}\n"
        "DEF Post Transform { translation 1 0.2 0\n"
        "  children Shape { geometry Cylinder { radius 0.1 height 0.4 } } }\n"
        "DEF Floor Transform { translation 0.5 -0.05 0 children Shape { geometry Box { size 2 0.1 2 } } }\n"
    )
    (tmp_path / "ramp.wrl").write_text(text)
    imported = import_arena(tmp_path / "ramp.wrl")
    ramp_shape, post = imported.arena.shapes
    assert ramp_shape.size_m == pytest.approx((0.4, 0.3, 0.1), abs=1e-6)
    assert len(ramp_shape.hull_m) == 6
    assert post.is_round
    assert post.size_m == pytest.approx((0.2, 0.2, 0.4), abs=1e-6)
    assert post.role is Role.FURNITURE
    assert any("convex" in note for note in imported.notes)


def test_transforms_follow_the_standard() -> None:
    text = (
        f"{HEAD}Transform {{ center 1 0 0 rotation 0 0 1 1.5707963267948966 scale 2 1 1 translation 0 0 5\n"
        "children Shape { geometry IndexedFaceSet { coord Coordinate { point [ 2 0 0, 1 1 0, 1 0 0 ] }\n"
        "coordIndex [0 1 2 -1] } } }"
    )
    (mesh,) = parse_vrml(text).meshes
    assert np.allclose(mesh.points, [(1, 2, 5), (0, 0, 5), (1, 0, 5)])


@pytest.mark.parametrize(
    ("body", "line", "words"),
    [
        ("Transform { translation 1 2 children [ ] }", 2, "2 numbers"),
        ("Transform { translation 1 2 1e300 }", 2, "not finite or above 1e9"),
        ("Transform { children [ USE nobody ] }", 2, "not defined before"),
        ("Transform { children [", 2, "without a value"),
        ("\n\n } ", 4, "expected a node"),
        ("Shape { geometry IndexedFaceSet { coord Coordinate { point [0 0] } } }", 2, "not points"),
        (
            "Shape { geometry IndexedFaceSet { coord Coordinate { point [0 0 0] } coordIndex [7] } }",
            2,
            "point 7",
        ),
        ('WorldInfo { title "never ends }', 2, "without an end"),
        ("Shape { geometry Box { size 1 -1 1 } }", 2, "a Box of 1 x -1 x 1"),
        ("Shape {\r geometry Cone { height 0 } }", 3, "a Cone of 1 x 0"),
        ("\n[ " + "1 " * 1_000_010, 3, "expected a node"),
        ("Shape { geometry X { point [" + "1 " * 1_000_010, 2, "too many numbers"),
    ],
)
def test_a_damaged_wrl_is_refused_with_its_line(tmp_path: Path, body: str, line: int, words: str) -> None:
    path = tmp_path / "bad.wrl"
    path.write_text("#VRML V2.0 utf8\n" + body.replace("'", '"'))
    with pytest.raises(FormatError, match=words) as caught:
        read_scene(path)
    assert caught.value.where is not None
    assert caught.value.where.line == line
    assert caught.value.hint or words


def test_nodes_that_double_again_and_again_are_refused() -> None:
    lines = [f"{HEAD}DEF n0 Shape {{ geometry Box {{ }} }}"]
    lines += [f"DEF n{i} Group {{ children [ USE n{i - 1} USE n{i - 1} ] }}" for i in range(1, 40)]
    with pytest.raises(FormatError, match="the scene is too large"):
        parse_vrml("\n".join(lines))
    with pytest.raises(FormatError, match="too deep"):
        parse_vrml(HEAD + "Group { children " * 200)


def test_a_glb_that_claims_too_much_or_leads_elsewhere_is_refused(tmp_path: Path) -> None:
    for entries, words in (
        ({"accessors": [{"count": 10**12}]}, "its header counts"),
        ({"accessors": [{"count": 10**6}] * 100}, "its header counts"),
        ({"buffers": [{"uri": "../../etc/passwd"}]}, "refers to another file"),
    ):
        text = json.dumps({"asset": {"version": "2.0"}, **entries}).encode()
        head = struct.pack("<4sIII4s", b"glTF", 2, 20 + len(text), len(text), b"JSON")
        (tmp_path / "bad.glb").write_bytes(head + text)
        with pytest.raises(FormatError, match=words):
            import_arena(tmp_path / "bad.glb")


def test_a_glb_whose_faces_name_points_it_has_not_is_refused(tmp_path: Path) -> None:
    trimesh = pytest.importorskip("trimesh")
    box = trimesh.creation.box((1, 1, 1))
    data = trimesh.Scene(box).export(file_type="glb")
    places = {kind: box.faces[0].astype(kind).tobytes() for kind in ("<u4", "<u2", "u1")}
    kind, first = next((kind, found) for kind, found in places.items() if found in data)
    (tmp_path / "a.glb").write_bytes(data.replace(first, np.array([0, 1, 99], dtype=kind).tobytes()))
    with pytest.raises(FormatError, match="names point 99 of 8"):
        read_scene(tmp_path / "a.glb")


def test_what_falls_into_too_many_pieces_is_refused_at_once(tmp_path: Path) -> None:
    pytest.importorskip("trimesh")
    (tmp_path / "a.obj").write_text("v 0 0 0\nv 1 0 0\nv 0 1 0\n" + "f 1 2 3\n" * 5001)
    with pytest.raises(InputError, match="5,001 unconnected parts") as caught:
        import_arena(tmp_path / "a.obj")
    assert caught.value.where is not None


def test_a_mark_of_the_order_of_bytes_is_no_part_of_a_scene() -> None:
    assert len(parse_vrml("\ufeff" + HEAD + "Shape { geometry Box { } }").meshes) == 1


@pytest.mark.parametrize("kind", ["glb", "stl", "obj", "wrl", "xml"])
@pytest.mark.parametrize(
    "data", [b"", b"\0" * 90, b"glTF\2\0\0\0", b"solid x\nfacet normal", b"v 1 2\nf 1 2 9\n"]
)
def test_rubbish_is_refused_whatever_it_is_called(tmp_path: Path, kind: str, data: bytes) -> None:
    (tmp_path / f"bad.{kind}").write_bytes(data)
    with pytest.raises((FormatError, InputError)):
        import_arena(tmp_path / f"bad.{kind}")


def test_a_drawing_in_millimetres_is_refused_with_the_scale_that_helps(folder: Path) -> None:
    with pytest.raises(InputError, match=r"2540 m from end to end .*0.001"):
        import_arena(folder / "field.wrl", scale=1000.0)
    with pytest.raises(InputError, match="a scale of nan"):
        import_arena(folder / "field.wrl", scale=math.nan)
    with pytest.raises(UnknownNameError, match="unknown axis 'x'"):
        import_arena(folder / "field.wrl", up="x")
