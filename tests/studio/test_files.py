"""Files: what is saved is what was edited, nothing else changes, and nothing is lost silently."""

from __future__ import annotations

import base64
import difflib
import hashlib
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from posewright.errors import FormatError, InputError, UnknownNameError
from posewright.formats import create_archive, read_motion, read_motion_file
from posewright.runs import export_robot
from posewright.studio.files.drafts import read_draft
from posewright.studio.studio import open_studio
from posewright.studio.workspace import Workspace

Shipped = Callable[[str], Path]
KEPT_WITHIN_S = 1.0


@pytest.fixture
def bow(shipped: Shipped) -> Path:
    return shipped("play_bow")


def eventually(is_so: Callable[[], Any], within_s: float = 600.0) -> Any:
    """Wait for something, no longer than allowed, and return it."""
    end = time.monotonic() + within_s
    while not (found := is_so()):
        assert time.monotonic() < end, "it did not come"
        time.sleep(0.02)
    return found


def drafts_in(folder: Path) -> list[Path]:
    return list(folder.glob(".*.autosave"))


def turn(window: Any, degrees: float, keyframe: int = 1) -> None:
    window.edit("set_angles", page=1, keyframe=keyframe, angles_deg={"head_pan": degrees})


def test_a_one_keyframe_edit_is_a_diff_of_one_line_and_comments_stay(
    bow: Path, studio_of: Any, window_of: Any
) -> None:
    text = "# my own remark\n" + bow.read_text()
    bow.write_text(text)
    window = window_of(studio_of(bow))
    turn(window, 12.0)
    assert window.ask("files.save") == {"saved": bow.name, "lost": []}
    assert not window.topics["history"]["dirty"]
    changed = [
        line for line in difflib.ndiff(text.splitlines(), bow.read_text().splitlines()) if line[0] in "+-"
    ]
    assert len(changed) == 2
    assert read_motion(bow).keyframes[1].pose.angle("head_pan") == pytest.approx(0.20944, abs=1e-5)
    window.ask("session.undo")
    assert window.topics["history"]["dirty"]
    window.ask("files.save")
    assert bow.read_text() == text


def test_a_file_that_somebody_else_changed_is_not_saved_over_unasked(
    bow: Path, studio_of: Any, window_of: Any
) -> None:
    window = window_of(studio_of(bow))
    turn(window, 12.0)
    theirs = bow.read_text() + "# theirs\n"
    bow.write_text(theirs)
    assert "somebody else" in window.ask("files.save")["conflict"]
    assert bow.read_text() == theirs
    eventually(lambda: window.topics["file"]["changed"])
    assert window.ask("files.save", over=True)["saved"] == bow.name
    assert not window.topics["file"]["changed"]
    os.utime(bow)
    time.sleep(1.5)
    assert not window.topics["file"]["changed"]


def test_unsaved_edits_are_kept_within_a_second_and_removed_once_saved(
    bow: Path, studio_of: Any, window_of: Any
) -> None:
    before = bow.read_bytes()
    window = window_of(studio_of(bow))
    turn(window, 12.0)
    eventually(lambda: drafts_in(bow.parent), KEPT_WITHIN_S)
    assert bow.read_bytes() == before
    window.ask("session.undo")
    eventually(lambda: not drafts_in(bow.parent))
    window.ask("session.redo")
    eventually(lambda: drafts_in(bow.parent))
    window.ask("files.save")
    eventually(lambda: not drafts_in(bow.parent))


def test_what_was_not_saved_is_recovered_and_no_undo_takes_it_away(
    bow: Path, studio_of: Any, window_of: Any
) -> None:
    first = studio_of(bow)
    turn(window_of(first), 12.0)
    second = window_of(studio_of(bow))
    assert second.topics["drafts"] == [], "a living studio's draft is its own"
    first.close()
    window = window_of(studio_of(bow))
    (draft,) = window.topics["drafts"]
    assert window.ask("files.recover", draft=draft["id"])["changed"] is False
    pose = window.topics["motion"]["keyframes"][1]["pose"]
    assert pose[window.topics["motion"]["joints"].index("head_pan")] == pytest.approx(12.0)
    assert window.topics["history"] == {"undo": None, "redo": None, "dirty": True}
    assert "nothing to undo" in window.answer("session.undo")["error"]["message"]
    eventually(lambda: drafts_in(bow.parent))
    assert window.topics["drafts"] == []
    text = bow.read_text()
    window.ask("files.save")
    assert len(list(difflib.unified_diff(text.splitlines(), bow.read_text().splitlines(), n=0))) == 5
    eventually(lambda: not drafts_in(bow.parent))


def test_a_damaged_draft_is_told_and_put_aside_and_the_file_is_untouched(
    bow: Path, studio_of: Any, window_of: Any
) -> None:
    before = bow.read_bytes()
    studio = studio_of(bow)
    turn(window_of(studio), 12.0)
    studio.close()
    (path,) = drafts_in(bow.parent)
    path.write_bytes(path.read_bytes()[:-9] + b"damaged!!")
    window = window_of(studio_of(bow))
    (told,) = window.topics["drafts"]
    assert "damaged" in told["damage"]
    assert [kept.name for kept in bow.parent.glob("*.damaged")] == [f"{path.name}.damaged"]
    assert "no such draft" in window.answer("files.recover", draft=told["id"])["error"]["message"]
    assert bow.read_bytes() == before


EDITS = """
import sys, time
from posewright.studio.commands import COMMANDS
from posewright.studio.studio import open_studio
studio = open_studio(sys.argv[1])
for number in range(1, 10_000):
    command = COMMANDS["set_angles"](1, 1, {"head_pan": number * 1e-4})
    studio.session.do_and_wait(lambda: studio.session.do(command))
    print(number, flush=True)
    time.sleep(0.02)
"""


def test_a_studio_that_is_killed_loses_no_more_than_the_last_second(
    bow: Path, studio_of: Any, window_of: Any
) -> None:
    before = bow.read_bytes()
    process = subprocess.Popen([sys.executable, "-c", EDITS, str(bow)], stdout=subprocess.PIPE, text=True)  # noqa: S603
    assert process.stdout is not None
    done: list[tuple[int, float]] = []
    for line in process.stdout:
        done.append((int(line), time.monotonic()))
        if len(done) > 60 and time.monotonic() - done[0][1] > 1.7:
            os.kill(process.pid, signal.SIGKILL)
            break
    process.wait()
    process.stdout.close()
    killed_at = done[-1][1]
    wanted = max(number for number, at in done if at < killed_at - KEPT_WITHIN_S)
    window = window_of(studio_of(bow))
    (draft,) = window.topics["drafts"]
    assert not draft["damage"]
    window.ask("files.recover", draft=draft["id"])
    column = window.topics["motion"]["joints"].index("head_pan")
    recovered_deg = window.topics["motion"]["keyframes"][1]["pose"][column]
    assert recovered_deg >= wanted * 1e-4 * 57.29 - 1e-3
    assert bow.read_bytes() == before


def test_another_file_is_opened_only_when_what_is_not_saved_may_stay_behind(
    bow: Path, shipped: Shipped, studio_of: Any, window_of: Any
) -> None:
    shipped("walk_forward")
    window = window_of(studio_of(bow))
    turn(window, 12.0)
    assert window.ask("files.open", file="walk_forward.motion.yaml") == {"unsaved": True}
    assert window.topics["robot"]["name"] == "sony_ers7"
    window.ask("files.open", file="walk_forward.motion.yaml", anyway=True)
    assert window.topics["robot"]["name"] == "robotis_bioloid"
    assert window.topics["history"]["undo"] is None
    (draft,) = window.topics["drafts"]
    assert draft["file"] == bow.name
    eventually(lambda: drafts_in(bow.parent))
    window.ask("files.recover", draft=draft["id"])
    assert window.topics["robot"]["name"] == "sony_ers7"
    assert window.topics["history"]["dirty"]


def test_a_new_motion_is_begun_and_saved_where_nothing_stood(
    tmp_path: Path, studio_of: Any, window_of: Any
) -> None:
    window = window_of(studio_of(tmp_path, "sony_ers7"))
    window.ask("files.new", name="high five", pose="sit")
    assert window.topics["file"]["isNew"]
    assert not list(tmp_path.glob("*.yaml"))
    turn(window, 3.0, keyframe=0)
    window.ask("files.save")
    saved = read_motion(tmp_path / "high_five.motion.yaml")
    assert (saved.name, saved.robot, len(saved.keyframes)) == ("high five", "sony_ers7", 1)
    window.ask("files.new", name="high five", pose="stand")
    assert "already" in window.ask("files.save")["conflict"]


def test_an_unsaved_new_motion_is_recovered_too(tmp_path: Path, studio_of: Any, window_of: Any) -> None:
    studio = studio_of(tmp_path, "sony_ers7")
    turn(window_of(studio), 3.0, keyframe=0)
    studio.close()
    window = window_of(studio_of(tmp_path, "robotis_bioloid"))
    window.ask("files.recover", draft=window.topics["drafts"][0]["id"])
    assert window.topics["robot"]["name"] == "sony_ers7"
    window.ask("files.save")
    assert read_motion(tmp_path / "untitled.motion.yaml").keyframes[0].pose.angle("head_pan") > 0.05


def test_what_an_export_would_lose_is_told_before_anything_is_written(
    shipped: Shipped, studio_of: Any, window_of: Any
) -> None:
    path = shipped("turn_left")
    window = window_of(studio_of(path))
    (vendor,) = [one for one in window.ask("files.formats") if one["name"].startswith("roboplus")]
    how = {"file": vendor["file"], "format": vendor["name"]}
    told = window.ask("files.preview", **how)
    assert told["remarks"]
    target = path.with_name(vendor["file"])
    if told["losses"]:
        assert window.ask("files.export", **how) == {"losses": told["losses"]}
        assert not target.exists()
    assert window.ask("files.export", **how, accept_loss=True)["saved"] == target.name
    assert read_motion(target).robot == "robotis_bioloid"
    assert "already" in window.ask("files.export", **how)["conflict"]


def test_a_foreign_file_is_dropped_edited_and_saved(bow: Path, studio_of: Any, window_of: Any) -> None:
    window = window_of(studio_of(bow))
    header = b"const double KICK_101_01[] = {0,0,0,-3,0,0,60,0,0,60,0,0,60,0,0,60};\n"
    window.ask("files.drop", name="EKMoves.h", data=base64.b64encode(header).decode())
    assert window.topics["motion"]["name"] == "KICK_101"
    turn(window, 20.0, keyframe=0)
    window.ask("files.save")
    assert b"20" in (bow.parent / "EKMoves.h").read_bytes()


BAD_FILES = [
    ("x.motion.yaml", b"motion: x\nrobot: nobody\n"),
    ("x.motion.yaml", b"motion: x\nrobot: ../secret/robot.yaml\njoints: []\nkeyframes: []\n"),
    ("x.mot", b"#MSq\nload ../../secret.pos\n#END\n"),
    ("x.mtn", b"\0" * 512),
    ("x.jpg", b"\xff\xd8\xff\xe0"),
    ("x", b""),
    (".bashrc", b"motion: x\n"),
    ("..", b"motion: x\n"),
]


def test_a_bad_file_that_is_dropped_gives_a_message_and_changes_nothing(
    bow: Path, studio_of: Any, window_of: Any
) -> None:
    window = window_of(studio_of(bow))
    before = dict(window.topics)
    for name, data in BAD_FILES:
        told = window.answer("files.drop", name=name, data=base64.b64encode(data).decode())
        assert told["error"]["message"]
        assert window.topics == {**window.topics, **before}


@pytest.fixture
def outside(tmp_path: Path) -> Workspace:
    root = tmp_path / "root"
    root.mkdir()
    (tmp_path / "secret.motion.yaml").write_text("motion: secret\n")
    (root / "link").symlink_to(tmp_path)
    (root / "circle").symlink_to("circle")
    return Workspace(root)


@pytest.mark.parametrize(
    "name",
    [
        "../secret.motion.yaml",
        "/etc/passwd",
        "link/secret.motion.yaml",
        "a\0b",
        "~/x/../../../etc",
        "x" * 5000,
        "circle",
    ],
)
def test_nothing_outside_the_folder_has_a_path(outside: Workspace, name: str) -> None:
    with pytest.raises(InputError):
        outside.path(name)
    assert list(outside.files()) == []


@pytest.mark.parametrize(
    "body", [b"null", b"{}", b"[" * 100_000, b'{"file": "../a", "robot": "sony_ers7"}', b'{"file": 5}']
)
def test_a_draft_of_somebody_else_keeps_nobody_from_opening(bow: Path, body: bytes) -> None:
    sealed = b"posewright-autosave 1 " + hashlib.sha256(body).hexdigest().encode() + b"\n" + body
    draft = bow.parent / ".a.autosave"
    draft.write_bytes(sealed)
    with pytest.raises(FormatError, match="is invalid"):
        read_draft(draft)


def test_a_link_that_takes_the_place_of_the_open_file_is_not_followed_outside(
    bow: Path, studio_of: Any, window_of: Any
) -> None:
    window = window_of(studio_of(bow))
    turn(window, 3.0)
    bow.unlink()
    bow.symlink_to("../outside.motion.yaml")
    assert "outside" in window.answer("files.save", over=True)["error"]["message"]
    assert not (bow.parent / "../outside.motion.yaml").exists()
    bow.unlink()
    assert window.ask("files.save")["saved"] == bow.name


def test_a_studio_that_cannot_be_opened_leaves_its_port_free(tmp_path: Path, studio_of: Any) -> None:
    with socket.create_server(("127.0.0.1", 0)) as held:
        port = held.getsockname()[1]
    with pytest.raises(InputError, match="no model"):
        open_studio(tmp_path, "sony_ers210", port=port)
    assert studio_of(tmp_path, "sony_ers7", port=port).server.port == port


def test_devices_pipes_and_huge_files_are_neither_read_nor_replaced(
    bow: Path, studio_of: Any, window_of: Any
) -> None:
    os.mkfifo(bow.parent / "pipe.motion.yaml")
    with (bow.parent / "huge.motion.yaml").open("wb") as file:
        file.truncate(1 << 40)
    window = window_of(studio_of(bow))
    for name in ("pipe.motion.yaml", "huge.motion.yaml", "nothing.motion.yaml"):
        assert window.answer("files.open", file=name)["error"]["message"]
    assert [one["file"] for one in window.ask("files.folder")] == [bow.name]
    for name in ("huge.motion.yaml", "pipe.motion.yaml"):
        told = window.ask("files.save", name=name)
        assert "already" in told["conflict"]
        window.ask("files.preview", file=name, format="ekmoves-h")


def test_a_memory_stick_shows_its_motions_with_pictures(
    studio_of: Any, window_of: Any, tmp_path: Path
) -> None:
    samples = Path(__file__).parents[2] / "../shared/samples"
    if not samples.exists():
        pytest.skip("the samples are not here")
    archive, conf = samples / "aibo_oda/sdk_ers7_MOTION7.ODA", tmp_path / "OPEN-R/MW/CONF"
    folder = tmp_path / "OPEN-R/MW/DATA/P/ERS-7"
    for made in (folder, conf / "ERS-7"):
        made.mkdir(parents=True)
    shutil.copy(archive, folder / "MOTION7.ODA")
    shutil.copy(samples / "aibo_monet/DESIGNDB.CFG", conf / "DESIGNDB.CFG")
    shutil.copy(samples / "aibo_monet/ERS7_MONETCMD.CFG", conf / "ERS-7/MONETCMD.CFG")
    shutil.copy(samples / "aibo_monet/ERS7_MONET.CFG", conf / "ERS-7/MONET.CFG")
    window = window_of(studio_of(tmp_path))
    assert window.topics["file"]["isStick"]
    shown = [one for one in window.ask("files.folder") if one["kind"] == "stick"]
    assert len(shown) == 12
    assert re.search(r"\d s", shown[3]["detail"])
    window.ask("files.open", file=shown[3]["file"], page=shown[3]["page"])
    assert window.topics["cursor"]["page"] == int(shown[3]["page"])
    address = window.ask("files.picture", file=shown[3]["file"], page=shown[3]["page"])
    assert address.startswith("data:image/png;base64,")
    assert read_motion_file(folder / "MOTION7.ODA").format == window.topics["file"]["format"]


def test_an_edit_that_could_harm_the_robot_is_saved_into_an_archive_only_when_that_is_accepted(
    shipped: Shipped, studio_of: Any, window_of: Any
) -> None:
    source = shipped("play_bow")
    archive = source.with_name("MOTION7.ODA")
    create_archive(archive, [source], accept_loss=True)
    before = archive.read_bytes()
    window = window_of(studio_of(archive))
    page = window.topics["cursor"]["page"]
    window.edit("set_angles", page=page, keyframe=1, angles_deg={"left_front_knee": 122.0})
    told = window.ask("files.save")
    assert "left_front_knee is commanded to turn" in told["faults"][0]
    assert archive.read_bytes() == before
    assert window.ask("files.save", accept_faults=True)["saved"] == archive.name
    assert archive.with_name("MOTION7.ODA.bak").read_bytes() == before
    how = {"file": "hurt.mtn", "format": "aibo-omtn", "accept_loss": True}
    assert window.ask("files.preview", file="hurt.mtn", format="aibo-omtn")["faults"]
    assert window.ask("files.export", **how)["faults"]
    assert window.ask("files.export", **how, accept_faults=True)["saved"] == "hurt.mtn"


def test_a_motion_of_another_robot_is_carried_over_as_a_new_one(
    studio_of: Any, window_of: Any, shipped: Any
) -> None:
    """The file stays as it is; what the new motion lost on the way is told."""
    window = window_of(studio_of(shipped("turn_left"), "deagostini_robi2"))
    assert window.topics["robot"]["name"] == "deagostini_robi2"
    assert window.topics["file"]["isNew"]
    assert window.topics["file"]["name"] == "turn_left_deagostini_robi2.motion.yaml"
    assert window.topics["file"]["notes"]


def test_a_folder_that_is_named_is_shown_first(studio_of: Any, window_of: Any, shipped: Any) -> None:
    """With a robot, a new motion of that robot is what was asked for."""
    folder = shipped("play_bow").parent
    assert window_of(studio_of(folder)).topics["file"]["isStick"]
    assert not window_of(studio_of(folder, "sony_ers7")).topics["file"]["isStick"]


def test_a_shipped_motion_is_opened_by_its_name_as_a_copy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, studio_of: Any, window_of: Any
) -> None:
    monkeypatch.chdir(tmp_path)
    window = window_of(studio_of(Path("walk_forward")))
    assert window.topics["robot"]["name"] == "robotis_bioloid"
    assert window.topics["file"]["isNew"]
    window.ask("files.save")
    assert (tmp_path / "walk_forward.motion.yaml").exists()
    window.ask("files.open_shipped", name="sony_ers7/play_bow")
    assert window.topics["robot"]["name"] == "sony_ers7"
    assert window.ask("files.picture", file="sony_ers7/play_bow", shipped=True).startswith("data:image/png")
    with pytest.raises(UnknownNameError, match=r"unknown file or shipped motion 'walk_forwards'"):
        open_studio(Path("walk_forwards"))


def test_a_bare_folder_begins_with_the_robot_of_its_motions(
    tmp_path: Path, shipped: Any, studio_of: Any, window_of: Any
) -> None:
    """In an empty folder, with the robot for which most motions are shipped."""
    assert window_of(studio_of(tmp_path)).topics["robot"]["name"] == "robotis_bioloid"
    folder = shipped("play_bow").parent
    assert window_of(studio_of(folder)).topics["robot"]["name"] == "sony_ers7"


@pytest.mark.parametrize(("to", "suffix"), [("urdf", ".urdf"), ("mjcf", ".xml")])
def test_a_robots_model_is_opened_without_a_card(
    tmp_path: Path, studio_of: Any, window_of: Any, to: str, suffix: str
) -> None:
    """It is imported once; the second time its folder is used."""
    path = tmp_path / f"mine{suffix}"
    export_robot("robotis_bioloid", to, path)
    for _ in range(2):
        window = window_of(studio_of(path))
        assert len(window.topics["robot"]["joints"]) == 18
        assert window.topics["file"]["name"] == "untitled.motion.yaml"
    assert (tmp_path / "mine" / "robot.yaml").exists()
