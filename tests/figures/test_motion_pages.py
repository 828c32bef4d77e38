"""The picture of a motion: every joint in its place, findings numbered where they happen, the same bytes."""

from __future__ import annotations

import math
import re
from dataclasses import replace
from html import unescape
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from posewright.figures import draw_motion, save_figure
from posewright.figures.motion.content import (
    ATTITUDE,
    EMPTY,
    Mosaic,
    MotionContent,
    largest_gap,
    lay_out_panels,
)
from posewright.figures.motion.panel import MAX_LISTED, list_lines, spread_positions
from posewright.hazards import check_motion
from posewright.motions import Finding, Keyframe, Level, Motion, Pose
from posewright.robots import Robot, robot, unlisted_robot

DOG, MAN = robot("sony_ers7"), robot("robotis_bioloid")
FAR = math.radians(20.0)


def moving(
    card: Robot, *joints: str, attitude: tuple[float, float, float] | None = None, **rest: object
) -> Motion:
    """Return a motion of a card in which these joints go 20 degrees and back; all of them without any."""
    rests = card.pose("stand") if "stand" in card.poses else np.zeros(len(card.joints))
    away = rests.copy()
    away[[card.index(joint) for joint in joints or card.joint_names]] += FAR
    keyframes = (
        Keyframe(Pose(card.joint_names, rests), 0.0, attitude=attitude),
        Keyframe(Pose(card.joint_names, away), 0.5, attitude=attitude),
        Keyframe(Pose(card.joint_names, rests), 0.5, attitude=attitude),
    )
    return replace(Motion("moved", card.name, card.joint_names, keyframes), **rest)  # type: ignore[arg-type]


def layout(card: Robot, *joints: str, attitude: tuple[float, float, float] | None = None) -> Mosaic:
    return lay_out_panels(MotionContent(moving(card, *joints, attitude=attitude), card))


def places(of: Mosaic) -> dict[str, tuple[int, int]]:
    """Return row and column by panel; a panel wider than one column stands where its last one is."""
    return {name: (n, k) for n, row in enumerate(of) for k, name in enumerate(row) if name != EMPTY}


def drawn(path: Path, motion: Motion, card: Robot, findings: list[Finding] | None = None) -> str:
    save_figure(draw_motion(motion, card, findings=findings), path / "motion.svg")
    return (path / "motion.svg").read_text(encoding="utf-8")


def texts(svg: str) -> list[str]:
    """Return what is written in a picture."""
    return [unescape(text).strip() for text in re.findall(r"<text[^>]*>(.*?)</text>", svg)]


def test_legs_of_a_dog_stand_side_by_side_joint_beside_joint() -> None:
    at = places(layout(DOG))
    for column, leg in enumerate(("left_front", "left_rear", "right_front", "right_rear")):
        assert [at[f"{leg}_{part}"] for part in ("rotator", "elevator", "knee")] == [
            (n, column) for n in (1, 2, 3)
        ]
    assert [at[joint] for joint in ("neck_tilt", "head_pan", "head_tilt", "mouth")] == [
        (0, n) for n in range(4)
    ]
    assert {at[joint][0] for joint in ("left_ear", "right_ear", "tail_tilt", "tail_pan")} == {4}


def test_a_dog_that_moves_its_knees_shows_four_panels_in_a_row() -> None:
    knees = [f"{leg}_knee" for leg in ("left_front", "left_rear", "right_front", "right_rear")]
    assert places(layout(DOG, *knees)) == {knee: (0, n) for n, knee in enumerate(knees)}


def test_arms_and_legs_of_a_man_are_stacks_right_beside_left() -> None:
    at = places(layout(MAN))
    assert (at["right_elbow"], at["left_elbow"]) == ((2, 0), (2, 1))
    assert (at["right_ankle_roll"], at["left_ankle_roll"]) == ((5, 2), (5, 3))
    few = places(layout(MAN, "right_elbow", "left_elbow", "right_knee"))
    assert few == {"right_elbow": (0, 0), "left_elbow": (0, 1), "right_knee": (1, 0)}


def test_a_robot_without_groups_is_laid_out_in_rows() -> None:
    joints = tuple(f"joint_{n}" for n in range(20))
    whole = layout(unlisted_robot("nobodys", joints))
    assert (len(whole), len(whole[0])) == (5, 4)
    assert tuple(places(whole)) == joints


@given(st.sampled_from([DOG, MAN]), st.data())
def test_every_moving_joint_has_a_place_of_its_own(card: Robot, data: st.DataObject) -> None:
    joints = data.draw(st.lists(st.sampled_from(card.joint_names), min_size=1, unique=True))
    whole = layout(card, *joints, attitude=data.draw(st.sampled_from([None, (0.0, 0.1, 0.0)])))
    names = [name for row in whole for name in row if name not in {EMPTY, ATTITUDE}]
    assert len(names) == len(set(names))
    assert set(joints) <= set(names)
    assert len({len(row) for row in whole}) == 1


@given(st.sampled_from([DOG, MAN]), st.data())
def test_the_gap_of_a_layout_is_empty(card: Robot, data: st.DataObject) -> None:
    whole = layout(card, *data.draw(st.lists(st.sampled_from(card.joint_names), min_size=1, unique=True)))
    top, left, width = largest_gap(whole)
    assert all(name == EMPTY for row in whole[top:] for name in row[left : left + width])
    assert top == 0 or any(name != EMPTY for name in whole[top - 1][left : left + width])


def test_the_bases_attitude_has_a_panel_where_the_file_has_one() -> None:
    assert ATTITUDE in places(layout(DOG, attitude=(0.1, 0.0, 0.0)))
    assert ATTITUDE not in places(layout(DOG, attitude=(0.0, 0.0, 0.0)))
    assert ATTITUDE not in places(layout(DOG))


@pytest.mark.parametrize("card", [DOG, MAN], ids=lambda card: card.name)
@pytest.mark.parametrize("kind", ["png", "svg"])
def test_the_same_motion_gives_the_same_bytes(tmp_path: Path, card: Robot, kind: str) -> None:
    motion = moving(card, *card.joint_names[:7], attitude=(0.0, 0.1, 0.0))
    for name in ("one", "two"):
        save_figure(draw_motion(motion), tmp_path / f"{name}.{kind}")
    assert (tmp_path / f"one.{kind}").read_bytes() == (tmp_path / f"two.{kind}").read_bytes()


def test_what_the_rules_find_is_numbered_and_listed(tmp_path: Path) -> None:
    motion = moving(DOG, "left_front_knee", speed=10.0, next="more")
    findings = check_motion(motion, DOG)
    assert [found.rule for found in findings] == ["speed", "speed"]
    written = texts(drawn(tmp_path, motion, DOG))
    assert written.count("1") == written.count("2") == 2  # in the panel and in the list
    assert all(any(found.message[:40] in text for text in written) for found in findings)
    assert any("2 warnings" in text for text in written)


def test_an_empty_list_of_findings_marks_nothing(tmp_path: Path) -> None:
    written = texts(drawn(tmp_path, moving(DOG, "left_front_knee", speed=10.0), DOG, findings=[]))
    assert "1" not in written
    assert not any("error" in text for text in written)


def test_a_joint_that_stands_still_is_shown_if_something_is_found_of_it(tmp_path: Path) -> None:
    motion = moving(DOG, "left_front_knee")
    found = Finding(Level.WARNING, "limit", "the tail is odd", 1, "tail_pan", times_s=(0.2,))
    assert "tail pan" in texts(drawn(tmp_path, motion, DOG, findings=[found]))
    assert "tail pan" not in texts(drawn(tmp_path, motion, DOG, findings=[]))


def test_what_is_found_of_the_whole_robot_is_marked_in_the_first_panel(tmp_path: Path) -> None:
    fall = Finding(Level.ERROR, "fall", "it falls", 2, None, 90.0, 60.0, "deg", (0.7,))
    long = Finding(Level.ERROR, "duration", "it is long", value=3.0, limit=2.0, unit="s")
    written = texts(drawn(tmp_path, moving(DOG, "left_front_knee"), DOG, findings=[fall, long]))
    assert (written.count("1"), written.count("2")) == (2, 1)


def test_a_panel_names_both_limits_of_its_joint(tmp_path: Path) -> None:
    assert any(
        "-25 .. 122  (-30 .. 127)" in text
        for text in texts(drawn(tmp_path, moving(DOG, "left_front_knee"), DOG))
    )
    assert "limits -5 .. 150" in texts(drawn(tmp_path, moving(MAN, "left_knee"), MAN))


def test_the_fastest_is_said_as_a_share_of_what_the_joint_can(tmp_path: Path) -> None:
    motion = moving(DOG, "left_front_knee")
    share = FAR / 0.5 / DOG.max_speeds[DOG.index("left_front_knee")]
    assert f"{share:.0%}" in texts(drawn(tmp_path, motion, DOG))
    jump = replace(motion, keyframes=tuple(replace(k, reach_s=0.0, pause_s=0.3) for k in motion.keyframes))
    assert "jump" in texts(drawn(tmp_path, jump, DOG))


def test_a_long_list_is_cut_and_says_so() -> None:
    many = tuple(Finding(Level.WARNING, "step", f"finding {n}", 1, "head_pan") for n in range(MAX_LISTED + 5))
    lines = list_lines(MotionContent(moving(DOG, "head_pan"), DOG, many), 10.0)
    assert len(lines) == MAX_LISTED + 1
    assert lines[-1].text == "and 5 more"
    assert [line.number for line in lines[:-1]] == list(range(1, MAX_LISTED + 1))


def test_a_long_sentence_is_broken_into_lines_with_one_number() -> None:
    long = Finding(Level.NOTE, "step", "word " * 60, 1, "head_pan")
    lines = list_lines(MotionContent(moving(DOG, "head_pan"), DOG, (long,)), 6.0)
    assert len(lines) > 2
    assert [line.number for line in lines] == [1] + [None] * (len(lines) - 1)


@given(st.lists(st.floats(0.0, 1.0), max_size=8).map(sorted), st.floats(0.01, 0.12))
def test_numbers_never_overlap_and_stay_in_their_panel(wanted: list[float], width: float) -> None:
    found = spread_positions(wanted, width)
    assert len(found) == len(wanted)
    assert all(b - a >= width - 1e-9 for a, b in pairwise(found))
    assert all(width / 2 - 1e-9 <= place <= 1.0 - width / 2 + 1e-9 for place in found)


@given(st.lists(st.integers(1, 9), max_size=8, unique=True).map(sorted))
def test_numbers_with_room_stand_where_they_happen(tenths: list[int]) -> None:
    wanted = [tenth / 10 for tenth in tenths]
    assert spread_positions(wanted, 0.1) == pytest.approx(wanted)


@pytest.mark.parametrize("name", ["bow", "$x^2$ and \\frac", "ÄÖ_ü#1", ""])
def test_a_name_is_written_as_it_is(tmp_path: Path, name: str) -> None:
    written = texts(drawn(tmp_path, moving(DOG, "mouth", name=name), DOG))
    assert name == "" or any(name in text for text in written)


def test_a_motion_with_free_and_infinite_joints_is_drawn(tmp_path: Path) -> None:
    motion = moving(DOG, "mouth", "head_pan")
    angles = motion.keyframes[1].pose.angles.copy()
    angles[DOG.index("head_tilt")] = np.inf
    angles[DOG.index("neck_tilt")] = np.nan
    odd = Pose(DOG.joint_names, angles, frozenset({"neck_tilt"}))
    frames = (motion.keyframes[0], replace(motion.keyframes[1], pose=odd), motion.keyframes[2])
    assert "free" in texts(drawn(tmp_path, replace(motion, keyframes=frames), DOG))


def test_a_loop_is_drawn_twice(tmp_path: Path) -> None:
    written = texts(drawn(tmp_path, moving(MAN, "left_knee", repeat=None), MAN))
    assert any("repeats for ever (second pass paler)" in text for text in written)
