"""Motions as constant tables of C, and the sources that are the same for every behaviour."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from posewright.buses.dynamixel.packets import FULL_SPEED, GENTLE_SPEED, packet_bytes
from posewright.codegen.behaviour.tables import EASINGS, Page, PageTables, Whole
from posewright.codegen.c.writer import CWriter, comment
from posewright.codegen.unit import Element, SourceFile, shipped
from posewright.errors import Where


def player_sources(tables: PageTables, where: Mapping[str, Where]) -> tuple[SourceFile, ...]:
    """Return the page player and its tables; `where` says in which line each motion is named."""
    fixed = shipped(__package__, ("player.h", "player.c"))
    return (*fixed, _motions_header(tables), _motions_source(tables, where))


def _motions_header(tables: PageTables) -> SourceFile:
    """Return the sizes of the tables."""
    writer = CWriter()
    writer.write(["#ifndef MOTIONS_H", "#define MOTIONS_H", ""])
    for name, number, said in (
        ("N_JOINTS", len(tables.ids), ""),
        ("N_MOTIONS", len(tables.pages), ""),
        ("FRAME_PARTS", tables.parts, "in which times are counted"),
        ("SHORTEST_JOIN", tables.shortest_join, "frames"),
        ("PACKET_BYTES", packet_bytes(len(tables.ids)), ""),
        ("GENTLE_SPEED", GENTLE_SPEED, "of 0.111 turns a minute"),
        ("FULL_SPEED", FULL_SPEED, "as fast as a servo can"),
    ):
        writer.line(f"#define {name} {number}U" + (f" {comment(said)}" if said else ""))
    writer.write(["", "#endif /* MOTIONS_H */"])
    return writer.file("motions.h")


def _motions_source(tables: PageTables, where: Mapping[str, Where]) -> SourceFile:
    """Return the tables: servos, the start pose, the motions."""
    writer = CWriter()
    writer.write(['#include "player.h"', "", "#include <stddef.h>", ""])
    joints = tables.robot.joint_names
    with writer.block("const servo_t servos[N_JOINTS] =", "};"):
        for joint, id_ in enumerate(tables.ids):
            numbers = (tables.join_frames, tables.touching, *tables.steps)
            told = ", ".join(f"{int(one[joint])}U" for one in numbers)
            writer.line(f"{{{told}, {id_}U}}, {comment(joints[joint])}")
    writer.line()
    writer.write([*_positions("const int32_t start_pose[N_JOINTS]", tables.start_pose[np.newaxis]), ""])
    for number, (name, page) in enumerate(tables.pages.items(), 1):
        place = where.get(name)
        line = place.line if place is not None else None
        with writer.about(Element("motion", name, line)):
            _page(writer, f"motion_{number}", name, page)
    with writer.block("const motion_t motions[N_MOTIONS + 1U] =", "};"):
        writer.line("{NULL, NULL, NULL, 0U, 0U, 0U, 0U, 0U, 0U},")
        for number, (name, page) in enumerate(tables.pages.items(), 1):
            start = "NULL" if page.start is None else f"motion_{number}_start"
            sizes = (page.length, page.first_way, page.repeat, len(page.ends), page.next, page.exit)
            texts = ", ".join(f"{one}U" for one in sizes)
            base = f"motion_{number}_keyframes, motion_{number}_positions"
            writer.line(f"{{{base}, {start}, {texts}}}, {comment(name)}")
    return writer.file("motions.c")


def _page(writer: CWriter, prefix: str, name: str, page: Page) -> None:
    writer.line(comment(f"{name}: {len(page.ends)} keyframes"))
    with writer.block(f"static const keyframe_t {prefix}_keyframes[] =", "};"):
        rows = zip(page.arrives, page.ends, page.accel, page.easings, strict=True)
        writer.write(f"{{{a}U, {b}U, {accel}U, {EASINGS[easing]}U}}," for a, b, accel, easing in rows)
    writer.write(_positions(f"static const int32_t {prefix}_positions[]", page.positions))
    if page.start is not None:
        writer.write(_positions(f"static const int32_t {prefix}_start[]", page.start[np.newaxis]))
    writer.line()


def _positions(head: str, rows: Whole) -> Iterator[str]:
    """Yield the lines of a table of positions, a row a line."""
    yield f"{head} = {{"
    for row in rows.tolist():
        for begin in range(0, len(row), 9):
            yield f"    {', '.join(map(str, row[begin : begin + 9]))},"
    yield "};"
