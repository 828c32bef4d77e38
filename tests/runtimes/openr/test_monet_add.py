"""Adding motions to a stick: existing bytes stay, and unplayable motions are rejected."""

from __future__ import annotations

import gzip
import math
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from posewright.errors import (
    FormatError,
    LossError,
    OutputError,
    PosewrightError,
    UnknownNameError,
    UnsafeCommandError,
)
from posewright.formats import write_motion
from posewright.formats.binary import GzipWrapping
from posewright.formats.motion_format import WriteOptions
from posewright.formats.oda.archive import Compression, OdaArchive
from posewright.formats.oda.reader import parse_archive
from posewright.formats.omtn.format import FORMAT
from posewright.formats.omtn.reader import read_omtn
from posewright.gaits import VelocityCommand, read_gait, sample_gait
from posewright.motions import Keyframe, Motion, Pose
from posewright.robots import robot as robot_named
from posewright.runtimes.openr.setup import _select_setup
from posewright.runtimes.openr.stick import add as stick_writing
from posewright.runtimes.openr.stick.add import add_to_stick
from posewright.runtimes.openr.stick.check import check_monet
from posewright.runtimes.openr.stick.finding import MonetFinding
from posewright.runtimes.openr.stick.limits import postures_of
from posewright.runtimes.openr.stick.memory_stick import read_stick
from posewright.runtimes.openr.stick.text import read_commands

ARCHIVE = "OPEN-R/MW/DATA/P/ERS-7/MOTION7.ODA"
COMMANDS = "OPEN-R/MW/CONF/ERS-7/MONETCMD.CFG"
CONF = "OPEN-R/MW/CONF"
LEGS = tuple(
    f"{side}_{end}_{joint}"
    for side in ("left", "right")
    for end in ("front", "rear")
    for joint in ("rotator", "elevator", "knee")
)
JOINTS = ("neck_tilt", "head_pan", *LEGS)
LISTED = b"# first\n60 1 0\nmonetagentMTN a_stand#stand_kick -1\n61 1 0\nmonetagentSOUND bark -1\n"
WAYS = b"monetagentNEUTRAL a_nt#stand_standard 0\nmonetagentMTN a_stand#sit_standard -1\n"
WAYS += b"monetagentMTN a_sit#stand_standard -1\n"

Build = Callable[..., Path]


def motion(
    name: str = "wave",
    *,
    pan: float = 0.2,
    robot: str = "sony_ers7",
    joints: tuple[str, ...] = JOINTS,
    posture: str = "stand",
    end: str | None = None,
) -> Motion:
    """Return a motion from a posture to another, or to the same."""
    card = robot_named(robot)
    poses = [card.poses[name if name in card.poses else "stand"] for name in (posture, end or posture)]
    frames = tuple(
        Keyframe(Pose(joints, [0.0, angle, *(pose[joint] for joint in joints[2:])]), reach)
        for angle, reach, pose in zip((0.0, pan), (0.0, 1.28 if end else 0.32), poses, strict=True)
    )
    return Motion(name, robot, joints, frames)


def fit(name: str) -> Motion:
    """Return a motion that begins and ends where its name says."""
    postures = postures_of(name)
    return motion(name, posture=postures.start, end=postures.end)


def omtn(name: str) -> bytes:
    return FORMAT.render(fit(name), Path("x.mtn"), WriteOptions()).data


def archive(*names: str) -> OdaArchive:
    result = OdaArchive()
    for name in names or ("a_stand#sit_standard", "a_sit#stand_standard", "a_stand#stand_kick"):
        result = result.with_entry(name, omtn(name))
    return result


@pytest.fixture
def stick(tmp_path: Path) -> Build:
    """Give a function that lays out a memory stick."""

    def build(
        listed: bytes = LISTED, stored: bytes | None = None, ways: bytes = WAYS, name: str = "stick"
    ) -> Path:
        root = tmp_path / name
        designdb = f"[ERS-7]\nMONET_MOTION /MS/{ARCHIVE}\nMONET_SOUND /MS/OPEN-R/SOUND.ODA\n"
        files = {
            f"{CONF}/DESIGNDB.CFG": designdb.encode(),
            COMMANDS: listed,
            f"{CONF}/ERS-7/MONET.CFG": ways,
            ARCHIVE: archive().render() if stored is None else stored,
            "OPEN-R/SOUND.ODA": OdaArchive().with_entry("bark", b"RIFF\x04\0\0\0WAVE").render(),
        }
        for file, data in files.items():
            (root / file).parent.mkdir(parents=True, exist_ok=True)
            (root / file).write_bytes(data)
        return root

    return build


def contents(root: Path) -> dict[str, bytes]:
    return {str(path.relative_to(root)): path.read_bytes() for path in root.rglob("*") if path.is_file()}


def unsettled(root: Path) -> list[MonetFinding]:
    return [finding for finding in check_monet(root) if finding.level.value != "note"]


def test_a_motion_is_in_the_archive_and_in_the_list_under_its_name(stick: Build) -> None:
    root = stick()
    added = add_to_stick(motion(), root, id=70, name="a_stand#stand_wave")
    assert (added.archive, added.commands, added.index) == (root / ARCHIVE, root / COMMANDS, 3)
    stored = parse_archive((root / ARCHIVE).read_bytes())
    document = read_omtn(stored.entries[3].data)
    assert (stored.entries[3].name, document.name, document.design) == (
        "a_stand#stand_wave",
        "a_stand#stand_wave",
        "DRX-1000",
    )
    assert len(document.locators) == 20
    assert document.times_ms[-1] == 320
    assert (root / COMMANDS).read_bytes() == LISTED + (
        b"#####\n# a_stand#stand_wave\n#####\n70 1 0\nmonetagentMTN a_stand#stand_wave -1\n"
    )
    assert unsettled(root) == []


names = st.from_regex(r"a_(stand|sit)#(stand|sit)_[a-z0-9]{1,15}", fullmatch=True)


@given(
    names=st.lists(names, min_size=1, max_size=4, unique=True),
    eol=st.sampled_from([b"\n", b"\r\n"]),
    ends_open=st.booleans(),
    compression=st.sampled_from(list(Compression)),
)
@settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_whatever_is_added_is_found_good_and_the_rest_keeps_its_bytes(
    names: list[str], eol: bytes, ends_open: bool, compression: Compression, stick: Build
) -> None:
    listed = LISTED.replace(b"\n", eol)
    stored = archive()
    if compression is Compression.ENTRIES:
        for entry in stored.entries:
            stored = stored.with_entry(entry.name, gzip.compress(entry.data, mtime=0))
    data = stored.render()
    root = stick(
        listed[: -len(eol)] if ends_open else listed,
        gzip.compress(data) if compression is Compression.FILE else data,
    )
    others = {name: data for name, data in contents(root).items() if name not in (ARCHIVE, COMMANDS)}
    for number, name in enumerate(names, 100):
        add_to_stick(fit(name), root, id=number)
    after = parse_archive((root / ARCHIVE).read_bytes())
    assert after.compression is compression
    assert [(entry.name, entry.type, entry.data) for entry in after.entries[:3]] == [
        (entry.name, entry.type, entry.data) for entry in stored.entries
    ]
    assert [entry.name for entry in after.entries[3:]] == names
    text = (root / COMMANDS).read_bytes()
    assert text.startswith(listed)
    assert text.count(b"\n") == text.count(eol)
    assert [command.id for command in read_commands(text).commands[2:]] == list(range(100, 100 + len(names)))
    assert {name: data for name, data in contents(root).items() if name in others} == others
    assert unsettled(root) == []


def test_a_sound_goes_with_it_and_both_begin_together(stick: Build) -> None:
    root = stick()
    add_to_stick(
        motion(posture="sit"),
        root,
        id=70,
        name="a_sit#sit_bark",
        sound="bark",
        sync=True,
        agent="monetagentMTNWALK",
    )
    assert (
        (root / COMMANDS)
        .read_bytes()
        .endswith(b"70 2 1\nmonetagentMTNWALK a_sit#sit_bark -1\nmonetagentSOUND bark -1\n")
    )
    assert unsettled(root) == []


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"id": 60}, "id 60 is taken: it plays a_stand#stand_kick"),
        ({"id": -1}, "not a valid id"),
        ({"id": 10_000_000}, "not a valid id"),
        ({"name": "a_stand#stand_kick"}, "archive already has a motion"),
        ({"name": "a_stand#stand_" + "x" * 18}, "has 32 bytes"),
        ({"name": "two words"}, "is not a valid name"),
        ({"name": "\u732b"}, "cannot be written"),
        ({"name": None}, "own name, 'wave', does not state"),
        ({"sound": "meow"}, "no sound in SOUND.ODA has the name 'meow'"),
        ({"name": "a_walk#walk_x"}, "no transition leads to walk"),
        ({"agent": "monetagentMTM"}, "unknown agent"),
        ({"agent": "monetagentSOUND"}, "unknown agent"),
        ({"model": "ERS-210"}, "unknown robot 'ERS-210' among the MONET files"),
        ({"model": "ERS-8"}, "unknown robot"),
    ],
)
def test_what_the_robot_could_not_play_is_refused_and_nothing_changes(
    stick: Build, options: dict[str, object], message: str
) -> None:
    root = stick()
    before = contents(root)
    with pytest.raises(PosewrightError, match=message):
        add_to_stick(motion(), root, **{"id": 70, "name": "a_stand#stand_wave", **options})  # type: ignore[arg-type]
    assert contents(root) == before


def test_a_name_without_postures_is_added_with_a_warning(stick: Build) -> None:
    added = add_to_stick(motion(), stick(), id=70, name="a_KickB")
    assert [finding.rule for finding in added.findings] == ["posture"]


def test_a_name_without_postures_is_refused_where_the_legs_are_in_none(stick: Build) -> None:
    far = [replace(frame, pose=Pose(JOINTS, [0.0, 0.0, *[1.0] * 12])) for frame in motion().keyframes]
    with pytest.raises(UnsafeCommandError, match="the nearest posture, as its name states none"):
        add_to_stick(replace(motion(), keyframes=tuple(far)), stick(), id=70, name="a_KickB")


def test_a_motion_whose_own_name_says_enough_keeps_it(stick: Build) -> None:
    assert add_to_stick(fit("a_sit#stand_hop"), stick(), id=70).name == "a_sit#stand_hop"


def test_a_command_is_replaced_with_its_motion(stick: Build) -> None:
    root = stick()
    added = add_to_stick(motion(pan=0.4), root, id=60, name="a_stand#stand_kick", overwrite=True)
    assert added.index == 2
    stored = parse_archive((root / ARCHIVE).read_bytes())
    assert [entry.data for entry in stored.entries[:2]] == [entry.data for entry in archive().entries[:2]]
    assert read_omtn(stored.entries[2].data).angles[1, 1] == 400_000
    assert (root / COMMANDS).read_bytes() == LISTED
    assert unsettled(root) == []


def test_a_replaced_command_leaves_its_motion_and_says_so(stick: Build) -> None:
    root = stick()
    add_to_stick(motion(), root, id=70, name="a_stand#stand_one")
    before = (root / COMMANDS).read_bytes()
    added = add_to_stick(motion(), root, id=70, name="a_stand#stand_two", overwrite=True)
    assert ["a_stand#stand_one stays" in finding.message for finding in added.findings] == [True]
    assert (root / COMMANDS).read_bytes() == before.replace(b"stand_one", b"stand_two")


def test_a_motion_that_others_play_too_is_not_replaced(stick: Build) -> None:
    root = stick(LISTED + b"62 1 0\nmonetagentMTN a_stand#stand_kick -1\n")
    with pytest.raises(FormatError, match="not only command 60") as refused:
        add_to_stick(motion(), root, id=60, name="a_stand#stand_kick", overwrite=True)
    assert refused.value.where is not None
    assert refused.value.where.line == 7
    with pytest.raises(FormatError, match="not only command 63"):
        add_to_stick(motion(), root, id=63, name="a_stand#sit_standard", overwrite=True)


def test_a_name_in_an_entry_of_another_name_is_not_replaced(stick: Build) -> None:
    stored = archive().with_entry("other", omtn("a_stand#stand_one"))
    root = stick(stored=stored.render())
    for name in ("other", "a_stand#stand_one"):
        with pytest.raises(FormatError):
            add_to_stick(motion(), root, id=70, name=name)
    with pytest.raises(FormatError, match="another name"):
        add_to_stick(motion(), root, id=70, name="a_stand#stand_one", overwrite=True)


@pytest.mark.parametrize(
    ("listed", "line"),
    [
        (LISTED.replace(b"61 1", b"61 2"), 4),
        (LISTED.replace(b"60 1", b"60 7"), 2),
        (LISTED.replace(b"60 1", b"60 -1"), 2),
    ],
)
def test_behind_a_command_that_waits_for_more_lines_nothing_is_added(
    stick: Build, listed: bytes, line: int
) -> None:
    with pytest.raises(FormatError, match="would not find the new command") as refused:
        add_to_stick(motion(), stick(listed), id=70, name="a_stand#stand_wave")
    assert refused.value.where is not None
    assert refused.value.where.line == line


def test_another_folder_is_written_to_and_the_stick_let_be(stick: Build, tmp_path: Path) -> None:
    root, out = stick(), tmp_path / "new"
    before = contents(root)
    added = add_to_stick(motion(), root, id=70, name="a_stand#stand_wave", output=out)
    assert contents(root) == before
    assert set(contents(out)) == {ARCHIVE, COMMANDS}
    assert added.archive == out / ARCHIVE
    with pytest.raises(OutputError, match="exists already"):
        add_to_stick(motion(), root, id=71, name="a_stand#stand_more", output=out)
    for name, data in contents(out).items():
        (root / name).write_bytes(data)
    assert unsettled(root) == []


def test_an_archive_and_a_list_without_a_stick_do_as_well(stick: Build, tmp_path: Path) -> None:
    root = stick()
    add_to_stick(fit("a_walk#walk_x"), (root / ARCHIVE, root / COMMANDS), id=70)
    assert parse_archive((root / ARCHIVE).read_bytes()).entries[3].name == "a_walk#walk_x"
    add_to_stick(fit("a_walk#walk_y"), (root / ARCHIVE, root / COMMANDS), id=71, output=tmp_path / "o")
    assert set(contents(tmp_path / "o")) == {"MOTION7.ODA", "MONETCMD.CFG"}


def test_files_in_small_letters_are_written_where_they_are(stick: Build) -> None:
    root = stick()
    for path in sorted(root.rglob("*"), reverse=True):
        path.rename(path.with_name(path.name.lower()))
    files = set(contents(root))
    assert add_to_stick(motion(), root, id=70, name="a_stand#stand_wave").archive.name == "motion7.oda"
    backups = {f"{name.lower()}.bak" for name in (ARCHIVE, COMMANDS)}
    assert set(contents(root)) == files | backups


def test_of_another_robot_the_joints_it_has_are_carried_over(stick: Build) -> None:
    root = stick()
    added = add_to_stick(motion(robot="sony_ers210"), root, id=70, name="a_stand#stand_wave")
    assert any("does not move" in remark for remark in added.remarks)
    assert not any("which way is positive" in remark for remark in added.remarks)
    stored = parse_archive((root / ARCHIVE).read_bytes())
    assert read_omtn(stored.entries[3].data).design == "DRX-1000"


def test_what_the_robot_cannot_do_is_refused_until_it_is_accepted(stick: Build) -> None:
    root = stick()
    before = contents(root)
    far = motion(robot="sony_ers210", pan=3.0)
    with pytest.raises(LossError, match="head_pan"):
        add_to_stick(far, root, id=70, name="a_stand#stand_wave")
    assert contents(root) == before
    assert add_to_stick(far, root, id=70, name="a_stand#stand_wave", accept_loss=True).losses


def test_a_motion_file_is_read_whatever_it_is(stick: Build, tmp_path: Path) -> None:
    document = tmp_path / "wave.motion.yaml"
    document.write_text(
        "motion: wave\nrobot: sony_ers7\njoints: [head_pan]\nkeyframes:\n"
        "  - {reach_s: 0, pose_deg: [0]}\n  - {reach_s: 0.16, pose_deg: [20]}\n"
    )
    root = stick()
    add_to_stick(document, root, id=70, name="a_stand#stand_wave")
    assert read_stick(root).setups[0].motions is not None
    assert unsettled(root) == []


def test_if_the_second_file_cannot_be_written_the_first_is_restore(
    stick: Build, monkeypatch: pytest.MonkeyPatch
) -> None:
    root, write = stick(), stick_writing.write_atomically
    before = contents(root)
    for fault in (OutputError("disk full"), KeyboardInterrupt()):

        def fail_for_commands(path: Path, data: bytes, fault: BaseException = fault) -> None:
            if path.name == "MONETCMD.CFG":
                raise fault
            write(path, data)

        monkeypatch.setattr(stick_writing, "write_atomically", fail_for_commands)
        with pytest.raises(type(fault)):
            add_to_stick(motion(), root, id=70, name="a_stand#stand_wave")
        assert contents(root) == before


def test_killed_between_the_two_files_the_stick_still_plays_all_it_did(
    stick: Build, monkeypatch: pytest.MonkeyPatch
) -> None:
    root, write = stick(), stick_writing.write_atomically

    class Killed(BaseException):
        """Nothing runs any more."""

    def die_after_the_archive(path: Path, data: bytes) -> None:
        write(path, data)
        monkeypatch.setattr(stick_writing, "_restore", lambda *_: None)
        raise Killed

    monkeypatch.setattr(stick_writing, "write_atomically", die_after_the_archive)
    with pytest.raises(Killed):
        add_to_stick(motion(), root, id=70, name="a_stand#stand_wave")
    assert unsettled(root) == []
    monkeypatch.undo()
    with pytest.raises(FormatError, match="the archive already has a motion"):
        add_to_stick(motion(pan=0.25), root, id=70, name="a_stand#stand_wave")
    assert add_to_stick(motion(), root, id=71, name="a_stand#stand_again").index == 4
    assert add_to_stick(motion(), root, id=70, name="a_stand#stand_wave").index == 3
    assert [command.id for command in read_commands((root / COMMANDS).read_bytes()).commands][-2:] == [71, 70]
    with pytest.raises(FormatError, match="id 70 is taken: it plays"):
        add_to_stick(motion(), root, id=70, name="a_stand#stand_wave")


def test_a_disk_that_returns_something_else_is_noticed(stick: Build, monkeypatch: pytest.MonkeyPatch) -> None:
    root, write = stick(), stick_writing.write_atomically
    before = contents(root)
    spoiled = iter([True])

    def spoil_once(path: Path, data: bytes) -> None:
        write(path, data[:-1] if next(spoiled, False) else data)

    monkeypatch.setattr(stick_writing, "write_atomically", spoil_once)
    with pytest.raises(OutputError, match="reads back"):
        add_to_stick(motion(), root, id=70, name="a_stand#stand_wave")
    assert contents(root) == before


def test_many_who_add_at_once_lose_nothing_whatever_they_call_the_stick(
    stick: Build, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root, write = stick(), stick_writing.write_all
    (tmp_path / "link").symlink_to(root)
    ways = (root, root / "OPEN-R", tmp_path / "link", (root / ARCHIVE, root / COMMANDS))

    def written_late(files: Mapping[Path, bytes]) -> None:
        time.sleep(0.005)  # so that all would have read before one has written
        write(files)

    monkeypatch.setattr(stick_writing, "write_all", written_late)

    def add(number: int) -> int:
        return add_to_stick(motion(), ways[number % 4], id=number, name=f"a_stand#stand_wave{number}").id

    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(add, range(70, 78))) == list(range(70, 78))
    listed = read_commands((root / COMMANDS).read_bytes())
    assert {command.id for command in listed.commands} == {60, 61, *range(70, 78)}
    stored = parse_archive((root / ARCHIVE).read_bytes())
    assert {f"a_stand#stand_wave{number}" for number in range(70, 78)} <= {e.name for e in stored.entries}


def test_a_stick_without_archive_or_list_is_refused(stick: Build) -> None:
    for missing, message in ((ARCHIVE, "no archive of motions"), (COMMANDS, r"no MONETCMD\.CFG")):
        root = stick(name=missing[-8:])
        (root / missing).unlink()
        with pytest.raises(FormatError, match=message):
            add_to_stick(motion(), root, id=70, name="a_stand#stand_wave")
    (root / CONF / "ERS-7/MONET.CFG").unlink()
    with pytest.raises(UnknownNameError):
        add_to_stick(motion(), root, id=70, name="a_stand#stand_wave")


def test_entries_in_gzip_get_more_of_their_kind(stick: Build) -> None:
    stored = archive()
    for entry in stored.entries:
        stored = stored.with_entry(entry.name, GzipWrapping().wrap(entry.data))
    root = stick(stored=stored.render())
    add_to_stick(motion(), root, id=70, name="a_stand#stand_wave")
    after = parse_archive((root / ARCHIVE).read_bytes())
    assert after.entries[3].content.is_packed
    assert [entry.data for entry in after.entries[:3]] == [entry.data for entry in stored.entries]


def test_a_motion_of_the_head_alone_is_only_told_to_stand_where_its_name_says_so(stick: Build) -> None:
    root, nod = stick(), motion(joints=JOINTS[:2])
    assert add_to_stick(nod, root, id=70, name="a_stand#stand_nod").losses == ()
    for name in ("a_sit#sit_nod", "h_any#any_nod"):
        with pytest.raises(LossError, match="leaves the legs alone"):
            add_to_stick(nod, root, id=71, name=name)
    with pytest.raises(LossError, match="leaves right_rear_knee alone"):
        add_to_stick(motion(joints=JOINTS[:-1]), root, id=71, name="a_sit#sit_nod")


def test_a_motion_that_begins_or_ends_elsewhere_than_its_name_says_is_told(stick: Build) -> None:
    root = stick()
    assert add_to_stick(motion(), root, id=70, name="a_stand#stand_x").findings == ()
    assert add_to_stick(motion(posture="sit"), root, id=71, name="a_sit#sit_x").findings == ()


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("a_stand#sit_x", "the motion ends with left_rear_knee 80 deg from where it is in 'sit'"),
        ("a_sit#stand_x", "the motion begins with left_rear_knee 80 deg from where it is in 'sit'"),
    ],
)
def test_a_jump_is_refused_and_one_that_is_accepted_is_found(stick: Build, name: str, words: str) -> None:
    root = stick()
    before = contents(root)
    with pytest.raises(UnsafeCommandError, match=words):
        add_to_stick(motion(), root, id=72, name=name)
    assert contents(root) == before
    (lies,) = add_to_stick(motion(), root, id=72, name=name, accept_jump=True).findings
    assert (lies.level.value, lies.rule) == ("error", "jump")
    (found,) = unsettled(root)
    assert (found.level.value, found.rule, found.path) == ("error", "jump", root / COMMANDS)
    assert words in found.message
    add_to_stick(fit("a_stand#stand_more"), root, id=73)  # the jump that was accepted is not in its way


@pytest.mark.parametrize("gait", ["crawl", "trot", "fast"])
def test_a_walk_from_standing_to_standing_is_added_without_a_word(
    stick: Build, gait: str, tmp_path: Path
) -> None:
    root = stick()
    how: dict[str, Any] = {"command": VelocityCommand(0.05), "cycles": 2, "every_frames": 2}
    walk = sample_gait(read_gait(gait), **how, from_pose="stand", to_pose="stand")
    write_motion(walk, tmp_path / "walk.mtn")
    added = add_to_stick(tmp_path / "walk.mtn", root, id=70, name="a_stand#stand_mywalk")
    assert (added.findings, added.losses, added.remarks) == ((), (), ())
    assert unsettled(root) == []
    amid = sample_gait(read_gait(gait), **how)
    with pytest.raises(UnsafeCommandError, match="would jump"):
        add_to_stick(amid, root, id=71, name="a_stand#stand_amid")


def test_legs_that_only_the_start_pose_sets_are_no_legs_left_alone(stick: Build) -> None:
    sitting = motion(posture="sit")
    turned = Pose.of(sitting.joints, {"head_pan": 0.2})
    nod = replace(sitting, start=sitting.keyframes[0].pose, keyframes=(Keyframe(turned, 0.32),))
    root = stick()
    assert add_to_stick(nod, root, id=71, name="a_sit#sit_nod").losses == ()
    kept = read_omtn(parse_archive((root / ARCHIVE).read_bytes()).entries[3].data)
    column = kept.locators.index(robot_named("sony_ers7").names_in("open_r")["left_rear_knee"])
    knee = robot_named("sony_ers7").poses["sit"]["left_rear_knee"]
    assert (kept.angles[:, column] == round(knee * 1e6)).all()


def test_sonys_own_motions_do_what_their_names_say(stick: Build, samples: Callable[[str], Path]) -> None:
    root = stick(b"", OdaArchive().render(), samples("aibo_monet/ERS7_MONET.CFG").read_bytes())
    stored = samples("aibo_oda/sdk_ers7_MOTION7.ODA")
    for number, entry in enumerate(parse_archive(stored.read_bytes()).entries):
        if "walk" not in entry.name:
            added = add_to_stick(stored, (root / ARCHIVE, root / COMMANDS), id=number, page=entry.name)
            assert (added.findings, added.losses, added.remarks) == ((), (), ())
            assert added.name == entry.name
    kept = {entry.name: entry.data for entry in parse_archive((root / ARCHIVE).read_bytes()).entries}
    assert kept.items() <= {(e.name, e.data) for e in parse_archive(stored.read_bytes()).entries}


def test_a_stick_is_written_to_from_within(stick: Build, monkeypatch: pytest.MonkeyPatch) -> None:
    root = stick()
    monkeypatch.chdir(root / CONF)
    added = add_to_stick(motion(), "../../..", id=70, name="a_stand#stand_one", output="../../../../out")
    assert added.archive.resolve() == root.parent / "out" / ARCHIVE
    assert add_to_stick(motion(), ".", id=70, name="a_stand#stand_one").index == 3


def test_a_posture_that_the_card_lacks_is_unknown_and_not_the_nearest(tmp_path: Path) -> None:
    """The cards of ERS-210 and ERS-220 know `stand` only as our guess; Sony's motions sit and sleep, too."""
    joints = tuple(name for name in LEGS if name in robot_named("sony_ers220").joint_names)
    sitting = Pose(joints, [math.radians(80.0)] * len(joints))
    sits = Motion("x", "sony_ers220", joints, (Keyframe(sitting, 0.0), Keyframe(sitting, 0.32)))
    text = b"60 1 0\nmonetagentMTN a_sit#sit_x -1\n61 1 0\nmonetagentMTN a_sit#sit_x 0\n"
    text += b"62 1 0\nmonetagentMTN a_any#any_y -1\n63 1 0\nmonetagentMTN a_stand#stand_z -1\n"
    names = ("a_sit#sit_x", "a_any#any_y", "a_stand#stand_z")
    archive_of_dogs = OdaArchive()
    for name in names:
        data = FORMAT.render(replace(sits, name=name), Path("x.mtn"), WriteOptions()).data
        archive_of_dogs = archive_of_dogs.with_entry(name, data)
    files = {
        f"{CONF}/DESIGNDB.CFG": b"".join(
            f"[{model}]\nMONET_MOTION /MS/OPEN-R/MW/DATA/P/ERS-200/MOTION.ODA\n".encode()
            for model in ("ERS-210", "ERS-220")
        ),
        f"{CONF}/ERS-200/MONETCMD.CFG": text,
        f"{CONF}/ERS-200/MONET.CFG": (
            b"monetagentNEUTRAL a_nt#sit_standard 0\nmonetagentNEUTRAL a_nt#stand_standard 0\n"
        ),
        "OPEN-R/MW/DATA/P/ERS-200/MOTION.ODA": archive_of_dogs.render(),
    }
    for file, content in files.items():
        (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / file).write_bytes(content)
    assert [finding for finding in check_monet(tmp_path) if finding.rule == "jump"] == []
    chosen = _select_setup(read_stick(tmp_path), robot_named("sony_ers210"), tmp_path)
    assert "ERS-210" in chosen.models
    added = add_to_stick(sits, tmp_path, id=70, name="a_sit#sit_more", model="sony_ers210", accept_loss=True)
    assert added.model == "ERS-210"
    notes = [finding for finding in added.findings if finding.rule == "jump"]
    assert [finding.level.value for finding in notes] == ["note", "note"]
    assert "has no such pose" in notes[0].message
    (begins, ends) = [
        finding
        for finding in add_to_stick(
            sits, tmp_path, id=71, name="a_stand#stand_more", model="ERS-220", accept_loss=True
        ).findings
        if finding.rule == "jump"
    ]
    assert (begins.level.value, ends.level.value) == ("warning", "warning")


def test_a_motion_that_two_lines_play_is_reported_once(stick: Build) -> None:
    data = FORMAT.render(replace(motion(), name="a_sit#sit_x"), Path("x.mtn"), WriteOptions()).data
    listed = b"60 1 0\nmonetagentMTN a_sit#sit_x -1\n61 1 0\nmonetagentMTN a_sit#sit_x 0\n"
    root = stick(listed, OdaArchive().with_entry("a_sit#sit_x", data).render())
    jumps = [finding for finding in check_monet(root) if finding.rule == "jump"]
    assert [(finding.line, finding.message.split(" is played: ")[1][:17]) for finding in jumps] == [
        (2, "the motion begins"),
        (2, "the motion ends w"),
    ]


def test_a_stick_of_sonys_sdk_has_no_motion_that_could_harm_the_dog(
    stick: Build, samples: Callable[[str], Path]
) -> None:
    commands = samples("aibo_monet/ERS7_MONETCMD.CFG").read_bytes()
    ways = samples("aibo_monet/ERS7_MONET.CFG").read_bytes()
    root = stick(commands, samples("aibo_oda/sdk_ers7_MOTION7.ODA").read_bytes(), ways)
    rules = {finding.rule for finding in check_monet(root) if finding.level.value == "error"}
    assert rules <= {"sound"}, "its sounds are not among the samples"
