"""A field that is saved over its document leaves comments, titles and short forms as they are."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from posewright import arenas
from posewright.arenas import Box, Role, Shape, layout, read_arena, read_layout, write_arena, write_layout

SHIPPED = Path(arenas.__file__).parent


@pytest.fixture
def document(tmp_path: Path) -> Path:
    path = tmp_path / "mine.arena.yaml"
    shutil.copy(SHIPPED / "ceabot_obstacles.arena.yaml", path)
    return path


def test_an_unchanged_field_leaves_its_file_byte_for_byte(document: Path) -> None:
    before = document.read_bytes()
    write_arena(document, read_arena(document))
    assert document.read_bytes() == before


def test_a_box_more_changes_only_the_lines_of_the_boxes(document: Path) -> None:
    before = document.read_text().splitlines()
    changed = read_arena(document).with_boxes([Box(1.0, 0.2)])
    write_arena(document, changed)
    after = document.read_text().splitlines()
    assert [line for line in before if line not in after] == []
    assert [line for line in after if line not in before] == ["boxes:", "  - {x: 1.0, y: 0.2}"]
    assert read_arena(document) == changed


def test_a_moved_line_and_higher_walls_stay_in_their_short_forms(document: Path) -> None:
    field = read_arena(document)
    shapes = []
    for shape in field.shapes:
        if shape.role is Role.WALL:
            length, width, _ = shape.size_m
            shapes.append(replace(shape, size_m=(length, width, 0.3)))
        else:
            shapes.append(replace(shape, x=1.9) if shape.name == "line_1" else shape)
    changed = replace(field, shapes=(*shapes, Shape("step_1", Role.STEP, 1.2, 0.0, (0.2, 0.5, 0.03))),
                      colours={**field.colours, "step": (1.0, 1.0, 1.0)})  # fmt: skip
    write_arena(document, changed)
    text = document.read_text()
    assert "wall_height_m: 0.3" in text
    assert "lines_x_m: [0.5, 1.9]" in text
    assert text.count("role:") == 1
    assert "title: CEABOT obstacle race" in text
    assert "# The field of the CEABOT obstacle race." in text
    assert read_arena(document) == changed


def test_without_one_edge_wall_the_others_are_written_as_shapes(document: Path) -> None:
    field = read_arena(document)
    changed = replace(field, shapes=tuple(shape for shape in field.shapes if shape.name != "wall_end"))
    write_arena(document, changed)
    assert "wall_height_m" not in document.read_text().split("sources:")[0]
    assert read_arena(document) == changed


def test_a_layout_saved_over_its_document_keeps_its_title_and_comments(tmp_path: Path) -> None:
    path = tmp_path / "mine.layout.yaml"
    shutil.copy(SHIPPED / "layouts" / "example_1.layout.yaml", path)
    boxes = (*layout("example_1")[:2], Box(1.75, -0.25))
    write_layout(path, boxes)
    text = path.read_text()
    assert text.startswith("# Ours, in the spirit of the rules")
    assert "title: Three boxes" in text
    assert read_layout(path) == boxes
