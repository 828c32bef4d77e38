"""Pictures of what hardly lasts or does not move, and pictures within others: nothing leaks or is empty."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from matplotlib.figure import Figure

import posewright as pw
from posewright.figures import draw_gait, draw_motion, draw_parameter, draw_recording, draw_robot, draw_walk
from posewright.figures.field import _find_free_position
from posewright.motions import Keyframe, Motion, Pose
from posewright.recordings import Decisions, Recording

DOG = pw.robot("sony_ers7")


@pytest.fixture(autouse=True)
def _warnings_are_errors() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield


def rows_of(recording: Recording, first: int, last: int) -> Recording:
    """Return some rows of a recording of one robot."""
    ((name, record),) = recording.robots.items()
    rows = slice(first, last)
    arrays = {
        key: value[rows]
        for key, value in vars(record).items()
        if isinstance(value, np.ndarray) and len(value) == len(recording.times)
    }
    times = recording.times[rows] - recording.times[first]
    ticks = slice(0, max(1, int((record.decisions.times <= times[-1]).sum())))
    made = record.decisions
    one = (made.states[ticks], made.inputs[ticks], made.outputs[ticks], made.playing[ticks])
    states = Decisions(made.times[ticks], *one)
    kept = replace(record, **arrays, contacts=None, decisions=states)
    return replace(recording, times=times, boxes=recording.boxes[rows], robots={name: kept}, events=())


@pytest.mark.parametrize("n", [1, 2, 12])
def test_a_recording_of_a_few_rows_is_drawn_without_a_warning(played: Recording, n: int) -> None:
    figure = draw_recording(rows_of(played, 0, n))
    figure.draw_without_rendering()
    assert all(axes.has_data() or axes.get_title().startswith("no joint") for axes in figure.axes)


def test_a_robot_that_stays_is_said_to_stay_and_no_joint_to_move(played: Recording) -> None:
    figure = draw_recording(rows_of(played, 0, 12))
    words = [text.get_text() for axes in figure.axes for text in (*axes.texts, axes.title)]
    assert "does not leave its place" in words
    assert "no joint moves" in words


def test_a_motion_of_one_pose_and_a_walk_on_the_spot_are_drawn_without_a_warning() -> None:
    stand = Pose(DOG.joint_names, DOG.pose("stand"))
    held = Motion("held", DOG.name, DOG.joint_names, (Keyframe(stand, 0.0, pause_s=0.1),))
    draw_motion(held).draw_without_rendering()
    draw_gait(pw.read_gait("trot"), command=pw.VelocityCommand()).draw_without_rendering()
    walk = pw.walk_gait(pw.read_gait("trot"), DOG, command=pw.VelocityCommand(), seconds=0.1)
    draw_walk(walk).draw_without_rendering()


def test_everything_draws_into_a_part_of_a_figure(played: Recording) -> None:
    whole = Figure((20, 20), layout="constrained")
    parts = iter(whole.subfigures(3, 2).ravel())
    gait, motion = pw.read_gait("trot"), pw.read_motion(f"{DOG.folder}/motions/nod.motion.yaml")
    assert draw_gait(gait, figure=next(parts)) is whole
    assert draw_motion(motion, figure=next(parts)) is whole
    assert draw_recording(played, figure=next(parts)) is whole
    assert draw_robot(DOG, figure=next(parts)) is whole
    assert draw_parameter(gait, "shape_factor", [0.0, 1.0], figure=next(parts)) is whole
    walk = pw.walk_gait(gait, DOG, command=pw.VelocityCommand(0.1), seconds=0.3)
    assert draw_walk(walk, figure=next(parts)) is whole
    whole.draw_without_rendering()


def test_a_robot_is_named_or_handed_in() -> None:
    gait, motion = pw.read_gait("trot"), pw.read_motion(f"{DOG.folder}/motions/nod.motion.yaml")
    for draw, one in ((draw_gait, gait), (draw_motion, motion)):
        labels = {draw(one, robot).get_label() for robot in (None, DOG, DOG.name)}  # type: ignore[operator]
        assert len(labels) == 1
    assert pw.robot(DOG) is DOG


def test_words_beside_a_path_keep_clear_of_it() -> None:
    path = np.stack([np.linspace(-1.0, 1.0, 50), np.zeros(50)], axis=1)
    x, y = _find_free_position(np.zeros(2), path, 0.2)
    assert abs(y) == pytest.approx(0.09)
    assert abs(x) < 1e-9


def test_a_changed_gait_is_not_called_as_the_one_that_ships() -> None:
    gait = pw.read_gait("trot")

    def title(of: object) -> str:
        return draw_gait(of).texts[0].get_text()  # type: ignore[arg-type]

    assert title(gait) == "trot"
    assert title(gait.with_values({"ground_speed_m_s": 0.25})) == "trot, changed: ground_speed_m_s 0.25"
    walk = pw.walk_gait(
        gait.with_values({"ground_speed_m_s": 0.25}), DOG, command=pw.VelocityCommand(0.1), seconds=0.2
    )
    assert str(draw_walk(walk).get_label()).startswith("trot, changed: ground_speed_m_s 0.25 on sony_ers7")


def test_velocities_and_turning_have_an_axis_each() -> None:
    walk = pw.walk_gait(pw.read_gait("trot"), DOG, command=pw.VelocityCommand(0.1), seconds=0.2)
    units = [axes.get_ylabel() for axes in draw_walk(walk).axes]
    assert "[m/s]" in units
    assert "[rad/s]" in units


@pytest.mark.parametrize("name", ["\u3053\u3093\u306b", "a\x07b", "$x_{"])
def test_a_name_that_no_font_has_leaks_no_warning(name: str, tmp_path: Path) -> None:
    motion = replace(pw.read_motion(f"{DOG.folder}/motions/nod.motion.yaml"), name=name)
    pw.save_figure(draw_motion(motion), tmp_path / "named.png")
