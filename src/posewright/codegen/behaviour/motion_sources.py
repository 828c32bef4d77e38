"""C sources of the player on a board: fixed files, and the motions as constant tables."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

import numpy as np

from posewright.buses.dynamixel.packets import FULL_SPEED, GENTLE_SPEED, packet_bytes
from posewright.codegen.behaviour.tables import EASINGS, Integers, Page, PageTables
from posewright.codegen.c.writer import CWriter, comment
from posewright.codegen.unit import Element, SourceFile, read_package_sources
from posewright.errors import Where

_POSITIONS_PER_LINE = 9


def player_sources(
    tables: PageTables, place_of_motion: Mapping[str, Where], *, has_handover: bool = False
) -> tuple[SourceFile, ...]:
    """Return the C files of the player and of its tables.

    Args:
        tables: the motions.
        place_of_motion: the place of each motion in the document, to which its lines are traced.
        has_handover: whether gaits are walked between motions or motions are interrupted, for which the
            player has further functions.
    """
    header, source = read_package_sources(__package__, ("player.h", "player.c"))
    if has_handover:
        more_header, more_source = read_package_sources(
            __package__, ("player_handover.h", "player_handover.c")
        )
        *declarations, guard_end = header.lines
        header = replace(header, lines=(*declarations[:-1], *more_header.lines, "", guard_end))
        source = replace(source, lines=(*source.lines, *more_source.lines))
    return (header, source, _motions_header(tables), _motions_source(tables, place_of_motion))


def _motions_header(tables: PageTables) -> SourceFile:
    """Return `motions.h`, the sizes of the tables."""
    writer = CWriter()
    writer.write(["#ifndef MOTIONS_H", "#define MOTIONS_H", ""])
    for name, number, meaning in (
        ("N_JOINTS", len(tables.servo_ids), ""),
        ("N_MOTIONS", len(tables.pages), ""),
        ("FRAME_PARTS", tables.parts_per_frame, "in which times are counted"),
        ("SHORTEST_JOIN", tables.min_join_frames, "frames"),
        ("PACKET_BYTES", packet_bytes(len(tables.servo_ids)), ""),
        ("GENTLE_SPEED", GENTLE_SPEED, "of 0.111 turns a minute"),
        ("FULL_SPEED", FULL_SPEED, "as fast as a servo can"),
    ):
        writer.line(f"#define {name} {number}U" + (f" {comment(meaning)}" if meaning else ""))
    writer.write(["", "#endif /* MOTIONS_H */"])
    return writer.file("motions.h")


def _motions_source(tables: PageTables, place_of_motion: Mapping[str, Where]) -> SourceFile:
    """Return `motions.c`, the tables of servos, start pose and motions."""
    writer = CWriter()
    writer.write(['#include "player.h"', "", "#include <stddef.h>", ""])
    joint_names = tables.robot.joint_names
    with writer.block("const servo_t servos[N_JOINTS] =", "};"):
        # the members of the C struct `servo_t` before the ID, for all servos
        servo_members = (tables.join_frames_per_tick, tables.equality_distance, *tables.max_steps)
        for joint_index, servo_id in enumerate(tables.servo_ids):
            literals = ", ".join(f"{int(member[joint_index])}U" for member in servo_members)
            writer.line(f"{{{literals}, {servo_id}U}}, {comment(joint_names[joint_index])}")
    writer.line()
    start_pose = tables.start_pose[np.newaxis]
    writer.write([*_position_table("const int32_t start_pose[N_JOINTS]", start_pose), ""])
    for number, (name, page) in enumerate(tables.pages.items(), 1):
        place = place_of_motion.get(name)
        line = place.line if place is not None else None
        with writer.traced_to(Element("motion", name, line)):
            _write_page(writer, f"motion_{number}", name, page)
    with writer.block("const motion_t motions[N_MOTIONS + 1U] =", "};"):
        writer.line("{NULL, NULL, NULL, 0U, 0U, 0U, 0U, 0U, 0U},")  # number 0 means no motion
        for number, (name, page) in enumerate(tables.pages.items(), 1):
            start = "NULL" if page.start_positions is None else f"motion_{number}_start"
            members = (
                page.duration,
                page.frames_to_first_keyframe,
                page.n_passes,
                len(page.end_times),
                page.next_number,
                page.exit_number,
            )
            literals = ", ".join(f"{value}U" for value in members)
            arrays = f"motion_{number}_keyframes, motion_{number}_positions, {start}"
            writer.line(f"{{{arrays}, {literals}}}, {comment(name)}")
    return writer.file("motions.c")


def _write_page(writer: CWriter, prefix: str, name: str, page: Page) -> None:
    """Write the tables of a motion: keyframes, positions, and the start pose if it has one.

    Args:
        writer: receives the lines.
        prefix: the prefix with which the names of the tables begin.
        name: the motion's name, for a comment.
        page: the motion.
    """
    writer.line(comment(f"{name}: {len(page.end_times)} keyframes"))
    with writer.block(f"static const keyframe_t {prefix}_keyframes[] =", "};"):
        for arrival, end, accel_fraction, easing in zip(
            page.arrival_times, page.end_times, page.accel_fractions, page.easings, strict=True
        ):
            writer.line(f"{{{arrival}U, {end}U, {accel_fraction}U, {EASINGS[easing]}U}},")
    writer.write(_position_table(f"static const int32_t {prefix}_positions[]", page.positions))
    if page.start_positions is not None:
        writer.write(
            _position_table(f"static const int32_t {prefix}_start[]", page.start_positions[np.newaxis])
        )
    writer.line()


def _position_table(head: str, rows: Integers) -> Iterator[str]:
    """Yield the lines of a table of positions, `(n, n_joints)`; `head` is its declaration."""
    yield f"{head} = {{"
    for row in rows.tolist():
        for begin in range(0, len(row), _POSITIONS_PER_LINE):
            yield f"    {', '.join(map(str, row[begin : begin + _POSITIONS_PER_LINE]))},"
    yield "};"
