"""What `python -m tests.house.fuzz` has found, made small: each is an error that says what is wrong."""

from __future__ import annotations

import io
import json
import struct
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from .damaged_files import describe_bad_message, error_in
from .readers import READERS

CHART = """\
chart: found
kind: statechart
period_s: 0.1
inputs: {go: bool}
outputs: {lamp: {enum: [tries, lit]}}
locals: {tries: {int: [0, 3]}}
initial_values: {lamp: tries, tries: 0}
initial: a
states:
  a: {transitions: [{when: go, do: {tries: tries + 1}, go: b}]}
  b: {}
"""
FACE = "v 0 0 0\nv 1 0 0\nv 0 nan 0\nf 1 2 3\n"
FLAT_PLY = (
    "ply\nformat ascii 1.0\nelement vertex 3\nproperty float x\nproperty float y\n"
    "element face 1\nproperty list uchar int vertex_indices\nend_header\n0 0\n1 0\n0 1\n3 0 1 2\n"
)
DAE = '<?xml version="1.0"?>\n<!DOCTYPE COLLADA [<!ENTITY a "b">]>\n<COLLADA>&a;</COLLADA>'


def seed_of(kind: str, name: str) -> bytes:
    return READERS[kind].seeds()[name]


def sealed(kind: str, data: bytes) -> bytes:
    seal = READERS[kind].sealed
    assert seal is not None
    return seal(data)


def day_with(**changes: Any) -> bytes:
    """Return the result of a day whose only discipline has other values."""
    day = json.loads(json.loads(seed_of("day's result", "day.json"))["day"])
    day["disciplines"][0] |= changes
    return sealed("day's result", json.dumps({"day": json.dumps(day)}).encode())


def batch_entry_with(**changes: Any) -> bytes:
    """Return the entry of a batch's journal with other values."""
    run = json.loads(json.loads(seed_of("batch's entry", "journal/seed_1.json"))["run"])
    return sealed("batch's entry", json.dumps({"run": json.dumps(run | changes)}).encode())


def manifest_with(**changes: Any) -> bytes:
    manifest = json.loads(seed_of("generated folder", "posewright.json"))
    return json.dumps(manifest | changes).encode()


def postures_with(old: bytes, new: bytes) -> bytes:
    data = seed_of("Robi's tables", "postures.yaml")
    assert old in data
    return data.replace(old, new, 1)


def cut_archive() -> bytes:
    """Return an archive of COLLADA whose table of contents says that the document is longer than the file."""
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as file:
        file.writestr("field.dae", "<COLLADA/>")
    data = bytearray(archive.getvalue())
    sizes = data.index(b"PK\x01\x02") + 20  # compressed and uncompressed size, APPNOTE.TXT 4.3.12
    struct.pack_into("<II", data, sizes, 10**6, 10**6)
    return bytes(data)


def glb_with(header: bytes) -> bytes:
    return struct.pack("<4sIIII", b"glTF", 2, 20 + len(header), len(header), 0x4E4F534A) + header


def humanoid_with_last(old: bytes, new: bytes) -> bytes:
    """Return a robot whose last link with some text has another one."""
    before, found, after = seed_of("robot import", "small_humanoid.urdf").rpartition(old)
    assert found
    return before + new + after


Case = tuple[str, str, bytes, str]
"""The reader's name, the file's name, its content, and a part of the error."""


CASES: dict[str, Callable[[], Case]] = {
    "a transition with an empty key": lambda: (
        "chart", "found.chart.yaml", CHART.replace("go: b}", "go: b, '': null}").encode(), "unknown key ''"
    ),
    "a value of an enumeration with the name of a variable": lambda: (
        "chart", "found.chart.yaml", CHART.encode(), "'tries' occurs twice"
    ),
    "a face at a point that is no number": lambda: ("scene", "field.obj", FACE.encode(), "no number"),
    "an infinite angle of a body": lambda: (
        "robot import",
        "small.xml",
        seed_of("robot import", "small.xml").replace(b"0 10 0", b"0 10 -inf"),
        "body_quat is not finite",
    ),
    "a rotation about an axis of 1e300": lambda: (
        "project of a simulator",
        "project.xml",
        seed_of("project of a simulator", "project.xml").replace(b"0 0 1 0.5", b"1e300 0 1 0.5"),
        "a number that is too large",
    ),
    "COLLADA that is not XML": lambda: ("scene", "field.dae", b"<COLLADA><a></COLLADA>", "not XML"),
    "entities in another encoding": lambda: ("scene", "field.dae", DAE.encode("utf-16"), "document type"),
    "a mesh of a robot in two dimensions": lambda: ("robot's mesh", "foot.ply", FLAT_PLY.encode(), ""),
    "a mesh of a robot at no number": lambda: ("robot's mesh", "foot.obj", FACE.encode(), ""),
    "a range of one servo": lambda: (
        "Robi's tables", "postures.yaml", postures_with(b"[[1, 11]]", b"[[1]]"), "range of IDs"
    ),
    "a program with more errors than anybody reads": lambda: (
        "RoboBASIC's motions", "many.bas", b"GOTO nowhere\n" * 100, "and 80 more"
    ),
    "a day whose points are a list": lambda: ("day's result", "day.json", day_with(earned=[3]), "earned"),
    "a day of no points": lambda: ("day's result", "day.json", day_with(most=0), "most"),
    "a batch's score without rows": lambda: (
        "batch's entry", "journal/seed_1.json", batch_entry_with(score={"columns": 3}), "changed"
    ),
    "a batch's run without its figures": lambda: (
        "batch's entry", "journal/seed_1.json", batch_entry_with(figures={}), ""
    ),
    "a batch's figure that is a list": lambda: (
        "batch's entry", "journal/seed_1.json", batch_entry_with(figures={"points": [1]}), "changed"
    ),
    "a manifest whose texts are a number": lambda: (
        "generated folder", "posewright.json", manifest_with(texts=1.5), "texts"
    ),
    "a manifest of a document with a long name": lambda: (
        "generated folder",
        "posewright.json",
        manifest_with(texts={}, documents={"x" * 3000: ""}),
        "not found",
    ),
    "a manifest that leads out of its folder": lambda: (
        "generated folder", "posewright.json", manifest_with(files={"../mine.c": ""}), "not in the folder"
    ),
    "a list of lines without lines": lambda: (
        "generated folder", "trace.json", b'{"places": [{"file": "a.c"}]}', "damaged"
    ),
    "a promise with the time since a state was entered": lambda: (
        "checked chart",
        "found.chart.yaml",
        CHART.replace("[tries, lit]", "[dark, lit]").replace("lamp: tries", "lamp: dark").encode()
        + b"promises: [{never: after(0.5 s)}]",
        "`after` has no meaning here",
    ),
    "a behaviour whose chart has a name too long for a file": lambda: (
        "behaviour (Bioloid)",
        "behaviours/long.behaviour.yaml",
        seed_of("behaviour (Bioloid)", "behaviours/obstacle_race.behaviour.yaml").replace(
            b"obstacle_race.chart.yaml", b"x" * 50_000 + b".chart.yaml"
        ),
        "name too long",
    ),
    "a hundred empty lines": lambda: ("webots", "nod.motion", b"\r\n" * 100, ""),
    "a mesh of infinitely many points": lambda: (
        "robot's mesh", "foot.glb", glb_with(b'{"accessors": [{"count": 1e999}]}'), ""
    ),
    "an archive that ends in its document": lambda: ("scene", "field.zae", cut_archive(), "cut off"),
    "a robot with an inertia of a mountain": lambda: (
        "robot import", "small_humanoid.urdf", humanoid_with_last(b'iyz="0"', b'iyz="1e19"'), "Inertia matrix"
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_what_was_found_is_an_error_that_says_what_is_wrong(name: str, tmp_path: Path) -> None:
    kind, file_name, data, part = CASES[name]()
    reader = READERS[kind]
    reader.laid_out(tmp_path)
    error = error_in(reader, tmp_path, file_name, data)
    assert describe_bad_message(error) == ""
    assert part in error
