"""A motion says how it is repeated and what follows it; pages of a file are added, moved and deleted."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from posewright.formats import FORMATS, MotionFile, WriteOptions, read_motion_file, write_motion_file
from posewright.motions import Keyframe, Motion, Pose
from posewright.robots import robot

Shipped = Callable[[str], Path]


@pytest.fixture
def bow(shipped: Shipped, studio_of: Any, window_of: Any) -> Any:
    return window_of(studio_of(shipped("play_bow")))


@pytest.fixture
def walk(shipped: Shipped, studio_of: Any, window_of: Any) -> Any:
    return window_of(studio_of(shipped("walk_forward")))


@pytest.fixture
def vendor(tmp_path: Path) -> Path:
    """A RoboPlus file of three pages: 1 leads to 2, 2 to itself for ever, 3 to 2 when it is stopped."""
    card = robot("robotis_bioloid")
    path = tmp_path / "opened" / "pages.mtn"
    path.parent.mkdir()

    def page(name: str, degree: float, **how: Any) -> Motion:
        pose = Pose.of(card.joint_names, dict.fromkeys(card.joint_names, 0.0) | {"left_knee": degree})
        return Motion(name, card.name, card.joint_names, (Keyframe(pose, 0.8),), **how)

    first = page("begin", 0.1)
    path.write_bytes(FORMATS["roboplus-mtn"].render(first, path, WriteOptions()).data)
    file = read_motion_file(path)
    pages = {1: replace(first, next="2"), 2: page("around", 0.2, repeat=None), 3: page("end", 0.3, exit="2")}
    labels = tuple(type(file.pages[0])(number, motion.name) for number, motion in pages.items())
    write_motion_file(replace(file, motions=tuple(pages.values()), pages=labels), path)
    return path


def leads(window: Any) -> dict[str, tuple[Any, Any, Any]]:
    links = window.topics["links"]["links"]
    return {number: (link["repeat"], link["next"], link["exit"]) for number, link in links.items()}


def saved(window: Any, path: Path) -> MotionFile:
    """The file as it is when the pages are written and read again."""
    pages = window.studio.session.document.pages
    assert write_motion_file(pages.as_file(), path) == ()
    return read_motion_file(path)


def test_a_motion_is_renamed_repeated_and_slowed_down_and_all_of_it_undone(walk: Any) -> None:
    before = walk.topics["motion"]
    duration = walk.topics["player"]["duration_s"]
    walk.edit("set_motion", page=1, name="stroll", repeat=0, next="sit", exit="halt", speed=0.5)
    motion = walk.topics["motion"]
    assert [motion[key] for key in ("name", "repeat", "next", "exit", "speed")] == [
        "stroll", None, "sit", "halt", 0.5,
    ]  # fmt: skip
    assert walk.topics["player"]["duration_s"] == pytest.approx(duration * before["speed"] / 0.5)
    assert walk.topics["pages"] == [{"number": 1, "name": "stroll"}]
    walk.edit("set_motion", page=1, next="", exit="")
    assert (walk.topics["motion"]["next"], walk.topics["motion"]["exit"]) == (None, None)
    walk.ask("session.undo")
    walk.ask("session.undo")
    assert walk.topics["motion"] == before


def test_what_is_said_again_is_no_change(walk: Any) -> None:
    motion = walk.topics["motion"]
    assert not walk.edit("set_motion", page=1, name=motion["name"], speed=motion["speed"])
    assert walk.topics["history"]["undo"] is None


@pytest.mark.parametrize("wrong", [{"name": " "}, {"speed": 0.0}, {"repeat": -1}])
def test_what_no_motion_can_be_is_refused(walk: Any, wrong: dict[str, Any]) -> None:
    asked = {"command": "set_motion", "arguments": {"page": 1, **wrong}}
    assert walk.answer("session.edit", **asked)["error"]["message"]


def test_a_motion_starts_from_a_pose_of_the_robot_or_from_any(bow: Any) -> None:
    bow.edit("blend_pose", page=1, keyframe=-1, named="sit")
    card = robot("sony_ers7")
    joints, start = bow.topics["motion"]["joints"], bow.topics["motion"]["start"]
    assert start == pytest.approx(
        [round(57.29577951 * card.poses["sit"][joint], 3) for joint in joints], abs=2e-3
    )
    assert bow.topics["links"]["start_pose"] == "sit"
    bow.edit("clear_start", page=1)
    assert bow.topics["motion"]["start"] is None


def test_a_light_is_set_and_left_as_it_was(bow: Any) -> None:
    bow.edit("set_lights", page=1, keyframe=1, lights={"face_13": [255, 0, 0], "face_5": 128})
    assert bow.topics["motion"]["keyframes"][1]["lights"] == {"face_13": [255.0, 0.0, 0.0], "face_5": 128.0}
    assert bow.ask("curves.lights")["face_13"] == [[1, "#ff0000"]]
    bow.edit("set_lights", page=1, keyframe=1, lights={"face_13": None})
    assert bow.topics["motion"]["keyframes"][1]["lights"] == {"face_5": 128.0}
    for lights in ({"face_5": [0, 0, 255]}, {"nose": 1}, {"face_5": 256}):
        asked = {"page": 1, "keyframe": 1, "lights": lights}
        assert "error" in bow.answer("session.edit", command="set_lights", arguments=asked)


def test_pages_are_added_moved_and_deleted_and_what_leads_to_them_follows(
    vendor: Path, studio_of: Any, window_of: Any
) -> None:
    window = window_of(studio_of(vendor))
    shown = leads(window)
    assert shown == {"1": (1, "2", None), "2": (None, None, None), "3": (1, None, "2")}
    window.edit("move_page", page=2, to=9)
    assert leads(window) == {"1": (1, "9", None), "3": (1, None, "9"), "9": (None, None, None)}
    window.edit("move_page", page=1, to=3)
    assert leads(window) == {"1": (1, None, "9"), "3": (1, "9", None), "9": (None, None, None)}
    window.edit("duplicate_page", page=9)
    window.edit("add_page", after=3, name="fresh")
    window.edit("set_motion", page=4, next="begin")
    assert window.topics["motion"]["page"] in {1, 3}
    file = saved(window, vendor)
    assert [tuple(label) for label in file.pages] == [
        (1, "end"), (3, "begin"), (4, "fresh"), (9, "around"), (10, "around"),
    ]  # fmt: skip
    assert file.motion(4).next == "3"
    assert file.motion(9).repeat is None
    assert file.motion(10).repeat is None
    window.edit("delete_page", page=9)
    assert leads(window)["3"] == (1, None, None)
    assert leads(window)["1"] == (1, None, None)
    for _ in range(6):
        window.ask("session.undo")
    assert leads(window) == shown


def test_a_moved_page_keeps_what_its_lines_say_of_other_servos(
    vendor: Path, studio_of: Any, window_of: Any
) -> None:
    raw = vendor.read_bytes().replace(b"step=512", b"step=77")
    vendor.write_bytes(raw)
    window = window_of(studio_of(vendor))
    window.edit("move_page", page=2, to=200)
    saved(window, vendor)
    assert vendor.read_bytes().count(b"step=77") == 3


def test_pages_of_a_native_file_stay_as_they_are(walk: Any) -> None:
    assert not walk.topics["links"]["can_change"]
    told = walk.answer("session.edit", command="add_page", arguments={"after": 1})
    assert "cannot be added" in told["error"]["message"]


def test_curves_go_through_the_keyframes_and_mark_what_is_too_fast(walk: Any) -> None:
    motion = walk.topics["motion"]
    joint = "right_knee"
    column = motion["joints"].index(joint)
    curve = walk.ask("curves.sample", joints=[joint, "no such joint"])
    assert list(curve["joints"]) == [joint]
    angles = curve["joints"][joint]["angles_deg"]
    assert len(angles) == len(curve["times_s"])
    for frame in motion["keyframes"]:
        assert any(angle == pytest.approx(frame["pose"][column], abs=1e-3) for angle in angles)
    walk.edit("set_motion", page=1, speed=1000.0)
    found = walk.ask("curves.sample", joints=[joint])["joints"][joint]["too_fast"]
    most = next(one for one in walk.topics["robot"]["joints"] if one["name"] == joint)["speed_deg_s"]
    assert {one["keyframe"] for one in found} >= {1, 2}
    assert all(one["speed_deg_s"] > most for one in found if one["speed_deg_s"] is not None)
    walk.edit("set_motion", page=1, speed=0.01)
    assert walk.ask("curves.sample", joints=[joint])["joints"][joint]["too_fast"] == []
