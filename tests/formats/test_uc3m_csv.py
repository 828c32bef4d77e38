"""The UC3M thesis's joint tables: ticks, the renumbering, and the column that is no speed."""

from __future__ import annotations

import csv
import math
from collections.abc import Callable
from dataclasses import replace
from decimal import ROUND_HALF_UP, Decimal
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from posewright.errors import FormatError, InputError
from posewright.formats import (
    MotionFile,
    Velocity,
    document_velocity,
    losses,
    read_motion,
    read_motion_file,
    step_speeds,
    table_with,
    write_motion,
)
from posewright.motions import Easing, Keyframe, Motion, Pose
from posewright.robots import robot

ReadBytes = Callable[[bytes], MotionFile]
Save = Callable[..., Path]
BIOLOID = robot("robotis_bioloid")
TABLES = ["forward", "left", "right"]
RENUMBERED = {1: 1, 2: 2, 3: 3, 4: 22, 5: 6, 6: 7, 7: 8, 8: 11, 9: 12, 10: 13, 11: 14, 12: 15, 13: 16, 14: 17}
RENUMBERED |= {15: 18, 16: 19, 17: 20, 18: 21}  # RoboPlus -> the document, seeds.md E6
UNUSED = {4, 5, 9, 10}


def degrees(tick: int) -> str:
    """Print a tick as the document does: a half hundredth upwards."""
    return str((Decimal(tick) * 300 / 1024).quantize(Decimal("0.01"), ROUND_HALF_UP))


def table(n_steps: int = 2, *, line_end: str = "\r\n", **cells: str) -> bytes:
    """A table of ours: every joint turns by ten ticks a step."""
    steps = [f"step{i}_deg" for i in range(1, n_steps + 1)]
    lines = [",".join(["thesis_id", "initial_deg", *steps, "velocity_rad_s"])]
    for number in range(1, 23):
        ticks = (
            [0] * (n_steps + 1) if number in UNUSED else [400 + number + 10 * i for i in range(n_steps + 1)]
        )
        row = [str(number), *map(degrees, ticks), "0.00" if number in UNUSED else "9.99"]
        lines.append(cells.get(f"row{number}", ",".join(row)))
    return "".join(line + line_end for line in lines).encode()


def rows_of(path: Path) -> list[list[float]]:
    with path.open(newline="") as file:
        return [[float(cell) for cell in row] for row in list(csv.reader(file))[1:]]


@pytest.fixture(params=TABLES)
def document_table(request: pytest.FixtureRequest, source_tables: Callable[[str], Path]) -> Path:
    return source_tables(f"thesis_table_{request.param}.csv")


def test_every_angle_of_the_document_is_a_whole_tick(document_table: Path) -> None:
    for row in rows_of(document_table):
        for printed in row[1:-1]:
            assert degrees(round(printed * 1024 / 300)) == f"{printed:.2f}"


def test_a_table_is_read_as_the_document_means_it(document_table: Path) -> None:
    motion = read_motion(document_table)
    rows = {int(row[0]): row[1:-1] for row in rows_of(document_table)}
    assert (motion.name, motion.repeat) == (document_table.stem, None)
    assert [(k.reach_s, k.pause_s, k.easing) for k in motion.keyframes] == [(0.125, 0.0, Easing.LINEAR)] * 4
    assert motion.start is not None
    poses = [motion.start, *(frame.pose for frame in motion.keyframes)]
    for servo in BIOLOID.servos:
        angles = np.array([pose.angle(servo.joint) for pose in poses])
        ticks = servo.to_ticks(angles)
        assert np.allclose(ticks, np.round(ticks), atol=1e-9)
        assert np.allclose(servo.to_servo_deg(angles), rows[RENUMBERED[servo.id]], atol=0.00501)


def test_tables_come_back_byte_for_byte(document_table: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.csv"
    motion = read_motion(document_table)
    assert losses(motion, "uc3m-csv") == ()
    write_motion(motion, out)
    assert out.read_bytes() == document_table.read_bytes()


def test_the_documents_velocity_column_is_reproduced_to_the_last_row(document_table: Path) -> None:
    printed = {int(row[0]): row[-1] for row in rows_of(document_table)}
    formula = document_velocity(read_motion(document_table))
    assert len(printed) == 22
    assert {number: f"{speed:.2f}" for number, speed in formula.items()} == {
        number: f"{speed:.2f}" for number, speed in printed.items()
    }


def test_the_documents_velocity_column_is_the_speed_of_no_step(source_tables: Callable[[str], Path]) -> None:
    forward = read_motion(source_tables("thesis_table_forward.csv"))
    left = read_motion(source_tables("thesis_table_left.csv"))
    assert (round(document_velocity(forward)[1], 2), round(step_speeds(forward)[1], 2)) == (1.31, 3.80)
    assert (round(document_velocity(left)[16], 2), round(step_speeds(left)[16], 2)) == (5.45, 2.21)
    assert (round(document_velocity(left)[8], 2), round(step_speeds(left)[8], 2)) == (0.0, 1.27)


def test_the_column_is_rewritten_on_request_to_the_same_bytes(document_table: Path) -> None:
    again, _ = table_with(read_motion(document_table), velocity=Velocity.DOCUMENT)
    assert again.render() == document_table.read_bytes()


@pytest.mark.parametrize(
    "data", [table(), table(line_end="\n"), table(7), table()[:-2], b"\xef\xbb\xbf" + table()]
)
def test_our_own_tables_come_back_byte_for_byte(data: bytes, saved: Save, tmp_path: Path) -> None:
    write_motion(read_motion(saved(data, "in.csv")), tmp_path / "out.csv")
    assert (tmp_path / "out.csv").read_bytes() == data


def test_a_hand_written_angle_between_two_ticks_is_kept(saved: Save, tmp_path: Path) -> None:
    data = table(row8="8,120.4,120.50,120.6001,0.00")
    motion = read_motion(saved(data, "in.csv"))
    servo = BIOLOID.servo("right_hip_yaw" if RENUMBERED[7] == 8 else "")
    assert motion.keyframes[0].pose.angle(servo.joint) == pytest.approx(servo.from_servo_deg(120.5))
    write_motion(motion, tmp_path / "out.csv")
    assert (tmp_path / "out.csv").read_bytes() == data


def test_an_edit_changes_its_cell_and_tells_true_speeds(saved: Save, tmp_path: Path) -> None:
    motion = read_motion(saved(table(), "in.csv"))
    pose = motion.keyframes[0].pose
    angles = pose.angles.copy()
    angles[motion.joints.index("right_knee")] = BIOLOID.servo("right_knee").from_ticks(500.0)
    first = replace(motion.keyframes[0], pose=Pose(pose.joints, angles))
    edited = replace(motion, keyframes=(first, *motion.keyframes[1:]))
    write_motion(edited, tmp_path / "out.csv")
    before = [line.split(",") for line in table().decode().split("\r\n")[1:-1]]
    after = [line.split(",") for line in (tmp_path / "out.csv").read_text().split("\n")[1:-1]]
    changed = [
        (int(row[0]), i) for row, old in zip(after, before, strict=True) for i in range(4) if row[i] != old[i]
    ]
    assert changed == [(RENUMBERED[13], 2)]
    speeds = step_speeds(edited)
    assert all(float(row[-1]) == pytest.approx(speeds[int(row[0])], abs=0.005) for row in after)


@settings(max_examples=30, deadline=None)
@given(ticks=st.lists(st.lists(st.integers(0, 1023), min_size=18, max_size=18), min_size=2, max_size=9))
def test_both_directions_of_the_renumbering_agree(
    ticks: list[list[int]], tmp_path_factory: pytest.TempPathFactory
) -> None:
    poses = [Pose(BIOLOID.joint_names, BIOLOID.from_ticks(np.array(row, dtype=float))) for row in ticks]
    made = Motion(
        "made",
        BIOLOID.name,
        BIOLOID.joint_names,
        tuple(Keyframe(pose, 0.125) for pose in poses[1:]),
        repeat=None,
        start=poses[0],
    )
    assert losses(made, "uc3m-csv") == ()
    out = tmp_path_factory.mktemp("table") / "made.csv"
    write_motion(made, out)
    for row in rows_of(out):
        column = {new: old - 1 for old, new in RENUMBERED.items()}.get(int(row[0]))
        expected = [degrees(0 if column is None else step[column]) for step in ticks]
        assert [f"{cell:.2f}" for cell in row[1:-1]] == expected
    again = read_motion(out)
    assert again.start is not None
    assert np.allclose(again.start.angles, poses[0].angles, atol=1e-12)
    for old, new in zip(made.keyframes, again.keyframes, strict=True):
        assert np.allclose(old.pose.angles, new.pose.angles, atol=1e-12)


def test_what_a_table_cannot_hold_is_told() -> None:
    pose = Pose(BIOLOID.joint_names, np.zeros(18))
    rich = Motion(
        "rich",
        BIOLOID.name,
        BIOLOID.joint_names,
        (Keyframe(pose, 0.5, 0.1, Easing.SMOOTH, {"left_knee": 4.0}),),
        next="x",
    )
    lost = " / ".join(losses(rich, "uc3m-csv"))
    for word in ("times", "pauses", "easing", "stiffness", "end", "next and exit", "start pose"):
        assert word in lost


def test_a_joint_without_an_angle_is_refused(tmp_path: Path) -> None:
    joints = BIOLOID.joint_names[:17]
    arms = Motion("arms", BIOLOID.name, joints, (Keyframe(Pose(joints, np.zeros(17)), 0.125),))
    with pytest.raises(FormatError, match="has no angle of left_ankle_roll"):
        write_motion(arms, tmp_path / "out.csv")


@pytest.mark.parametrize(
    ("data", "story"),
    [
        (b"thesis_id,initial_deg\r\n", "not the header"),
        (table().replace(b"step2", b"step3"), "not the header"),
        (table().replace(b"velocity_rad_s", b"speed"), "not the header"),
        (table(0), "not the header"),
        (table().split(b"\r\n")[0], "no rows"),
        (table(row7="7,1.00,2.00,0.00"), "4 columns, expected 5"),
        (table(row7="7,1.00,2.00,x,0.00"), "angle in degrees is 'x'"),
        (table(row7="7,1.00,-2.00,3.00,0.00"), "angle in degrees is '-2.00'"),
        (table(row7="7,1.00,nan,3.00,0.00"), "angle in degrees is 'nan'"),
        (table(row7="7,1.00,300.01,3.00,0.00"), "angle in degrees is '300.01'"),
        (table(row7="7,1.00,2.00,3.00,fast"), "velocity 'fast'"),
        (table(row7="0,1.00,2.00,3.00,0.00"), "ID is '0'"),
        (table(row7="24,1.00,2.00,3.00,0.00"), "ID is '24'"),
        (table(row7="8,1.00,2.00,3.00,0.00"), "second row for ID 8"),
        (table(row7=""), "no row for ID 7, the left_elbow"),
        (table() + b"1," * 100_000, "columns, expected"),
        (b"thesis_id,initial_deg" + b",step1_deg" * 100_000, "not the header"),
    ],
    ids=range(17),
)
def test_a_malformed_table_is_refused_at_its_line(data: bytes, story: str, read_bytes: ReadBytes) -> None:
    with pytest.raises(FormatError, match=story) as refusal:
        read_bytes(data)
    assert refusal.value.hint


def test_every_cut_is_refused_or_read(read_bytes: ReadBytes) -> None:
    data = table()
    for length in range(len(data)):
        try:
            file = read_bytes(data[:length])
        except FormatError:
            continue
        assert length > len(data) - 8  # only the last velocity lost a digit
        assert file.warnings == ("the last line has no line end",)


@settings(max_examples=80, deadline=None)
@given(changes=st.lists(st.tuples(st.floats(0.0, 1.0), st.integers(0, 255)), min_size=1, max_size=4))
def test_flipped_bytes_are_refused_or_read_and_never_crash(
    changes: list[tuple[float, int]], read_bytes: ReadBytes
) -> None:
    data = bytearray(table())
    for place, byte in changes:
        data[int(place * (len(data) - 1))] = byte
    try:
        (motion,) = read_bytes(bytes(data)).motions
    except InputError:
        return
    assert all(math.isfinite(angle) for frame in motion.keyframes for angle in frame.pose.angles)
    assert table_with(motion)[0].render() == bytes(data)


def test_a_table_has_one_page(saved: Save) -> None:
    path = saved(table(), "walk.csv")
    assert read_motion(path, 1).name == read_motion(path, "walk").name == "walk"
    with pytest.raises(InputError, match="no page"):
        read_motion(path, 2)
    assert read_motion_file(path).format == "uc3m-csv"
