"""MoNet: commands by number are played from the robot's present posture, or the result says why not."""

from __future__ import annotations

import gzip
import io
import wave
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from posewright.control import Safety, Until
from posewright.errors import FormatError, InputError
from posewright.evaluation import evaluate_run
from posewright.formats import OdaArchive, OmtnDocument, document_of, read_omtn, sdk_path
from posewright.recordings import Recording
from posewright.recordings.falls import tilt
from posewright.runs import perform
from posewright.runs.openr import openr_result, run_openr
from posewright.runtimes.openr import ONotifyEvent, OpenRController
from posewright.runtimes.openr.commander import CommandSender
from posewright.runtimes.openr.connections import read_connect
from posewright.runtimes.openr.kernel import OpenR
from posewright.runtimes.openr.monet.frames import motion_frames
from posewright.runtimes.openr.monet.monet import MoNet
from posewright.runtimes.openr.monet.motion_agents import MotionAgents
from posewright.runtimes.openr.monet.sound_agent import SoundAgent, wave_seconds
from posewright.runtimes.openr.programs import program
from posewright.runtimes.openr.script import read_script
from posewright.runtimes.openr.stick import MonetSetup, read_stick
from posewright.runtimes.openr.stick.check import PostureGraph
from posewright.runtimes.openr.stick.setup import MonetArchive
from posewright.runtimes.openr.stick.text import read_commands, read_transitions

from .playing import DOG, make_program
from .test_vectors import Keeper

MICRO = 1_000_000
FRAME_S = 0.008
WAYS = """monetagentNEUTRAL a_nt#sleep_standard 0
monetagentMTN a_sleep#stand_standard -1
monetagentMTN a_stand#sit_standard -1
"""
COMMANDS = """0 1 0
monetagentMTN a_sleep#sleep_null -1
2 1 0
monetagentMTN a_stand#stand_null -1
60 1 0
monetagentMTN a_stand#stand_kick -1
61 2 1
monetagentMTN a_stand#stand_kick -1
monetagentSOUND bark -1
62 2 0
monetagentMTN a_stand#stand_kick -1
monetagentSOUND bark -1
70 1 0
monetagentSOUND bark -1
80 1 0
monetagentMTN a_sit#sit_nod -1
"""
NEUTRAL_S = (16 + 384 + 384) * FRAME_S
UP_S, KICK_S = 2 * FRAME_S * 100, 2 * FRAME_S * 10 * 2


def urad(pose: str, **moved: int) -> list[int]:
    """Return a pose in the order of a file, with some joints elsewhere [micro-radians]."""
    naming, angles = DOG.naming("open_r"), DOG.poses[pose]
    order = (naming[locator] for locator in DOG.names_in("open_r").values())
    return [moved.get(joint, round(angles[joint] * MICRO)) for joint in order]


def bark(seconds: float = 0.5, rate: int = 8000) -> bytes:
    stream = io.BytesIO()
    with wave.open(stream, "wb") as sound:
        sound.setnchannels(1)
        sound.setsampwidth(1)
        sound.setframerate(rate)
        sound.writeframes(bytes(round(seconds * rate)))
    return stream.getvalue()


@dataclass(frozen=True)
class Run:
    """A finished run of a script."""

    recording: Recording
    controller: OpenRController

    @property
    def results(self) -> list[tuple[float, str]]:
        """Times [s] and texts of MoNet's results for Commander."""
        return [(time_s, text) for time_s, text in self.sent("MoNet.ClientResult")]

    def sent(self, who: str) -> list[tuple[float, str]]:
        return [
            (event.time_s, str(event.data["data"]))
            for event in self.recording.events
            if event.data.get("what") == "notify" and event.data["from"] == who
        ]

    @property
    def text(self) -> str:
        return "\n".join(str(event.data.get("text", "")) for event in self.recording.events)

    @property
    def played(self) -> list[str]:
        """Names of the motions that the motion agents were asked to play."""
        return [text.split()[1] for _, text in self.sent("MoNet.MotionAgentCommand")]

    @property
    def rows(self) -> np.ndarray[Any, np.dtype[np.int64]]:
        """Requested joint angles in each frame, `(n, n_joints)` [micro-radians]."""
        requested = self.recording.robot().requested
        return np.rint(np.asarray(requested) * MICRO).astype(np.int64)

    def has_moved(self) -> bool:
        return bool((self.rows != self.rows[0]).any())


Build = Callable[..., MonetSetup]


@pytest.fixture
def setup(tmp_path: Path, aibo: Any) -> Build:
    """Give a function that lays out a memory stick and reads it."""

    def motion(name: str, *keyframes: Sequence[int], between: Sequence[int] | None = None) -> bytes:
        ways = [9] * (len(keyframes) - 1) if between is None else between
        data = aibo.omtn(keyframes, ways, name=name, design="DRX-1000", locators=aibo.ers7, minor=2)
        assert isinstance(data, bytes)
        return data

    kick = urad("stand", left_front_rotator=300_001)
    usual = {
        "a_sleep#stand_standard": motion(
            "a_sleep#stand_standard", urad("sleep"), urad("stand"), between=[99]
        ),
        "a_stand#sit_standard": motion("a_stand#sit_standard", urad("stand"), urad("sit")),
        "a_stand#stand_kick": motion("a_stand#stand_kick", urad("stand"), kick, urad("stand")),
        "a_sit#sit_nod": motion("a_sit#sit_nod", urad("sit"), urad("sit")),
    }

    def build(
        *,
        commands: str = COMMANDS,
        ways: str = WAYS,
        entries: dict[str, bytes] | None = None,
        sounds: dict[str, bytes] | None = None,
    ) -> MonetSetup:
        files = {
            "MONETCMD.CFG": commands.encode(),
            "MONET.CFG": ways.encode(),
            "MOTION7.ODA": aibo.oda({**usual, **(entries or {})}.items()),
            "SOUND7.ODA": aibo.oda([(name, data, b"WAVE") for name, data in (sounds or {}).items()]),
        }
        for name, data in files.items():
            (tmp_path / name).write_bytes(data)
        return read_stick(*(tmp_path / name for name in files if sounds or "SOUND" not in name)).setups[0]

    build.motion = motion  # type: ignore[attr-defined]
    return build


def played(
    setup: MonetSetup,
    script: str,
    *,
    exact: bool = False,
    pose: str = "sleep",
    body: str = "mock",
    safety: Safety | None = None,
) -> Run:
    """Play a script on a mock body, or on another."""
    controller = make_program("monet", script, monet=setup, exact=exact, pose=pose).controller()
    idle = Until(lambda: controller.is_idle, 0.1)
    recording = perform(
        controller, DOG, name="monet", until_s=60.0, body=body, pose=pose, watchers=[idle], safety=safety
    )
    return Run(recording, controller)


def results(run: Run) -> list[str]:
    return [text for _, text in run.results]


def test_a_command_is_played_after_whatever_leads_to_where_it_begins(setup: Build) -> None:
    run = played(setup(), "MoNetExecute(60)")
    assert run.played == ["a_nt#sleep_standard", "a_sleep#stand_standard", "a_stand#stand_kick"]
    assert results(run) == ["60 done, in posture stand"]
    assert run.results[0][0] == pytest.approx(NEUTRAL_S + UP_S + KICK_S)
    assert "on the way to stand: a_sleep#stand_standard (MONET.CFG:2)" in run.text


def test_from_where_the_robot_is_nothing_else_is_played(setup: Build) -> None:
    run = played(setup(), "60@0, 60@20, 80@21")
    assert run.played[3:] == ["a_stand#stand_kick", "a_stand#sit_standard", "a_sit#sit_nod"]
    assert results(run)[1:] == ["60 done, in posture stand", "80 done, in posture sit"]


def test_motions_follow_each_other_without_a_frame_between(setup: Build) -> None:
    run = played(setup(), "60@0")
    begin = round((NEUTRAL_S + UP_S) / FRAME_S)
    document = read_omtn(setup().motions.entries[2].data)  # type: ignore[union-attr]
    joints = [DOG.index(DOG.naming("open_r")[locator]) for locator in document.locators]
    assert (run.rows[begin : begin + 40, joints] == sdk_path(document)).all()


def test_an_id_nobody_knows_is_answered_with_those_there_are(setup: Build) -> None:
    run = played(setup(), "99")
    (text,) = results(run)
    assert text.startswith("99 refused, in posture nt: there is no command 99 (ids are 0, 2, 60, 61")
    assert not run.has_moved()


def test_without_a_way_it_is_said_which_ways_there_are(setup: Build) -> None:
    there_only = "monetagentNEUTRAL a_nt#sleep_standard 0\nmonetagentMTN a_stand#sit_standard -1\n"
    run = played(setup(ways=there_only), "80")
    assert results(run) == [
        "80 refused, in posture nt: no transitions lead from posture nt to sit "
        "(there are transitions from nt to sleep; from stand to sit)"
    ]
    assert not run.has_moved()


def test_whoever_asks_meanwhile_hears_that_it_is_busy(setup: Build) -> None:
    run = played(setup(), "60@0, 0@1, 99@2")
    assert results(run) == [
        "0 busy, in posture nt: command 60 is being played",
        "99 busy, in posture nt: command 60 is being played",
        "60 done, in posture stand",
    ]


def test_a_null_motion_is_done_at_once_and_moves_nothing(setup: Build) -> None:
    run = played(setup(), "2@0, 2@20")
    (first, _), (second_s, second) = run.results
    assert first == pytest.approx(NEUTRAL_S + UP_S)
    assert (second_s, second) == (20.0, "2 done, in posture stand")


@pytest.mark.parametrize("number", [61, 62])
def test_motion_and_sound_begin_in_one_frame_with_a_sync_key_or_without(setup: Build, number: int) -> None:
    run = played(setup(sounds={"bark": bark()}), f"2@0, {number}@20")
    motion, sound = run.sent("MoNet.MotionAgentCommand")[-1], run.sent("MoNet.SoundAgentCommand")[-1]
    assert motion == (20.0, "monetagentMTN a_stand#stand_kick 2")
    assert sound == (20.0, "monetagentSOUND bark 0")
    begin, leg = round(20.0 / FRAME_S), DOG.index("left_front_rotator")
    assert run.rows[begin, leg] == urad("stand")[6], "the first keyframe in the first frame"
    assert run.rows[begin + 20, leg] == 300_001
    assert "plays 'bark' for 0.500 s" in run.text
    assert run.results[-1] == (20.504, f"{number} done, in posture stand"), "the sound ends last"


def test_a_sound_alone_needs_no_posture_and_lasts_as_long_as_its_file_says(setup: Build) -> None:
    run = played(setup(sounds={"bark": gzip.compress(bark(0.25))}), "70@1")
    assert run.results == [(pytest.approx(1.25, abs=FRAME_S), "70 done, in posture nt")]
    assert not run.has_moved()


def test_a_sound_that_is_in_no_archive_lasts_no_time_and_is_told(setup: Build) -> None:
    run = played(setup(), "70@1")
    assert run.results == [(1.0, "70 done, in posture nt")]
    assert "'bark' is in no archive: 0 s of silence" in run.text


@pytest.mark.parametrize("data", [b"RIFF\x04\0\0\0WAVE", bark()[:30], b"RIFF" + bytes(4) + b"WAVEfmt "])
def test_a_sound_that_cannot_be_played_is_refused(setup: Build, data: bytes) -> None:
    (text,) = results(played(setup(sounds={"bark": data}), "70@1"))
    assert text.startswith("70 no sound to be played, in posture nt")
    assert "SOUND7.ODA, byte 208: no WAVE that can be played" in text


@given(st.binary(max_size=80))
def test_no_bytes_make_a_sound_longer_than_they_are(tail: bytes) -> None:
    try:
        seconds = wave_seconds(bark(0.01)[:28] + tail)
    except FormatError:
        return
    assert 0.0 <= seconds <= 108


def test_a_damaged_motion_is_refused_before_anything_moves(setup: Build) -> None:
    good = setup().motions.entries[2].data  # type: ignore[union-attr]
    run = played(setup(entries={"a_stand#stand_kick": good[:-5]}), "60@0, 2@1")
    first, second = results(run)
    assert first.startswith("60 refused, in posture nt: ")
    assert "MOTION7.ODA, byte" in first
    assert "the file ends after" in first
    assert second == "2 done, in posture stand", "all else is played"


def test_a_damaged_motion_on_the_way_is_refused_before_anything_moves(setup: Build) -> None:
    run = played(setup(entries={"a_sleep#stand_standard": b"NotOMTN "}), "60@0")
    (text,) = results(run)
    assert text.startswith("60 refused, in posture nt: ")
    assert "MONET.CFG:2: no motion in MOTION7.ODA has the name 'a_sleep#stand_standard'" in text
    assert not run.has_moved()


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("monetagentMTN a_sleep#sleep_wink -1", "no motion in MOTION7.ODA has the name 'a_sleep#sleep_wink'"),
        ("monetagentMTN a_sleep#sleep_wink 9", "no motion in MOTION7.ODA has the index 9"),
        ("monetagentMTN a_sleep#sleep_wink 4", "entry 4, 'bones', is not a motion"),
    ],
)
def test_a_motion_that_is_not_there_is_refused(setup: Build, line: str, why: str) -> None:
    run = played(setup(commands=f"5 1 0\n{line}\n", entries={"bones": b"NotOMTN "}), "5")
    (text,) = results(run)
    assert text.startswith("5 refused, in posture nt: ")
    assert why in text


def test_a_motion_for_another_robot_is_refused(setup: Build, aibo: Any) -> None:
    foreign = aibo.ers110(name="a_sleep#sleep_nod")
    commands = "5 1 0\nmonetagentMTN a_sleep#sleep_nod -1\n"
    (text,) = results(played(setup(commands=commands, entries={"nod": foreign}), "5"))
    assert "'a_sleep#sleep_nod' is for 'DRX-700_Head', not sony_ers7" in text


@pytest.mark.parametrize(
    ("is_older_monet", "line", "why"),
    [
        (True, "monetagentANY a_stand#sleep_lie 0", "there is no monetagentANY here (known: "),
        (True, "monetagentNEUTRAL a_stand#sleep_lie 2", "has no index 2 for sony_ers7 (expected 0 or 1, and"),
        (False, "monetagentNEUTRAL a_stand#sleep_lie 1", "has no index 1 for sony_ers7 (expected 0, and"),
    ],
)
def test_what_no_agent_here_can_play_is_refused_before_anything_moves(
    setup: Build, is_older_monet: bool, line: str, why: str
) -> None:
    files = replace(setup(commands=f"{COMMANDS}5 1 0\n{line}\n"), is_older_monet=is_older_monet)
    run = played(files, "5")
    (text,) = results(run)
    assert text.startswith("5 refused, in posture nt: ")
    assert why in text
    assert not run.has_moved()


def test_a_null_name_with_the_index_of_no_motion_is_refused_before_anything_moves(setup: Build) -> None:
    line = "monetagentMTN a_stand#stand_null 4"
    run = played(setup(commands=f"5 1 0\n{line}\n", entries={"bones": b"NotOMTN "}), "5")
    (text,) = results(run)
    assert text.startswith("5 refused, in posture nt: ")
    assert "entry 4, 'bones', is not a motion" in text
    assert not run.has_moved()


def test_an_older_stick_lets_the_neutral_agent_lay_the_robot_down_from_anywhere(setup: Build) -> None:
    files = setup(commands="5 1 0\nmonetagentNEUTRAL a_any#sleep_lie 1\n")
    run = played(replace(files, is_older_monet=True), "5", pose="walk")
    assert results(run) == ["5 done, in posture sleep"]


@pytest.mark.parametrize(
    "second", ["monetagentMTNWALK a_stand#stand_kick -1", "monetagentNEUTRAL a_nt#sleep_x 0"]
)
def test_a_second_motion_of_a_command_is_refused_before_anything_moves(setup: Build, second: str) -> None:
    run = played(setup(commands=f"5 2 1\nmonetagentMTN a_stand#stand_kick -1\n{second}\n"), "5")
    (text,) = results(run)
    assert text.startswith("5 refused, in posture nt: ")
    assert "MONETCMD.CFG:3: a second motion in one command, after line 2" in text
    assert not run.has_moved()


def test_a_motion_beside_one_of_that_nothing_is_played_is_no_second_one(setup: Build) -> None:
    lines = "monetagentMTN a_stand#stand_null -1\nmonetagentMTNWALK a_stand#stand_kick -1\n"
    assert results(played(setup(commands=f"5 2 1\n{lines}"), "5")) == ["5 done, in posture stand"]


def test_an_index_below_minus_one_is_taken_for_it_and_told(setup: Build) -> None:
    run = played(setup(commands="5 1 0\nmonetagentMTN a_stand#stand_kick -2\n"), "5")
    assert "MONETCMD.CFG:2: warning: the index -2 is treated as -1, with which" in run.text
    assert results(run) == ["5 done, in posture stand"]


def test_a_line_whose_motion_is_for_other_postures_is_believed_and_told_when_it_is_played(
    setup: Build,
) -> None:
    run = played(setup(commands="5 1 0\nmonetagentMTN a_stand#stand_nod 3\n"), "5@1")
    rest = run.text.partition("on the way to stand")[2]
    for verb in ("begins", "ends"):
        played_as = f"'a_sit#sit_nod', index 3 in MOTION7.ODA, is played: the motion {verb}"
        assert f"MoNet believes the name in the line all the same: {played_as}" in rest
    assert results(run) == ["5 done, in posture stand"]


def test_without_an_archive_no_line_of_a_file_is_to_blame(setup: Build) -> None:
    (text,) = results(played(replace(setup(), motions=None), "60"))
    assert text.startswith("60 refused, in posture nt: no archive of motions was read, so ")
    assert "name its .ODA file, too" in text
    assert ".CFG:" not in text


@pytest.mark.parametrize(
    ("commands", "line", "message", "hint"),
    [
        ("60 1 0\n\nmonetagentMTN a_stand#stand_kick -1\n", 2, "a blank line", "remove it"),
        ("60 2 0\nmonetagentMTN a_stand#stand_kick -1\n", 1, "announces 2 agent lines", "add the missing"),
        ("60 1 0\nmonetagentMNT a_stand#stand_kick -1\n", 2, "no agent 'monetagentMNT'", "did you mean"),
        ("60 1 0\nmonetagentMTN a_stand#stand_kick\n", 2, "2 of 3 words", "<agent> <name> <index>"),
        ("60 1 0\nmonetagentMTN a_stand#stand_" + "k" * 30 + " -1\n", 2, "room for 31", "at most 31"),
    ],
)
def test_files_that_crash_a_robot_are_not_run(
    setup: Build, commands: str, line: int, message: str, hint: str
) -> None:
    with pytest.raises(FormatError, match=message) as caught:
        played(setup(commands=commands), "60")
    assert caught.value.where is not None
    assert (caught.value.where.path.name, caught.value.where.line) == ("MONETCMD.CFG", line)  # type: ignore[union-attr]
    assert hint in str(caught.value)


def test_bad_ways_are_not_run_either_and_all_faults_are_told(setup: Build) -> None:
    with pytest.raises(FormatError) as caught:
        played(setup(ways=WAYS + "monetagentMTN a_up -1\n\n"), "60")
    assert [error.where.line for error in caught.value.errors if error.where] == [5, 4]


def test_what_the_check_warns_of_is_told_and_run(setup: Build) -> None:
    run = played(setup(commands=COMMANDS + "60 1 7\nmonetagentMTN a_stand#stand_null -1\n"), "60")
    assert "MONETCMD.CFG:17: warning: the sync key is '7'" in run.text
    assert "id 60 is already used on line 5: MoNet uses the last" in run.text
    assert run.played[-1] == "a_stand#stand_null", "the last of an id counts"


def test_without_a_memory_stick_there_is_nothing_to_play() -> None:
    with pytest.raises(InputError, match=r"none is given.*--stick FOLDER"):
        make_program("monet").controller()


@pytest.mark.parametrize("word", ["kick", "MoNetExecute(kick)", "-1", "99999999", "MoNetExecute 60"])
def test_what_is_no_command_is_refused_before_it_runs(setup: Build, word: str) -> None:
    with pytest.raises(FormatError, match=r"no object knows the command.*0, 2, 60, 61, 62, 70, 80"):
        played(setup(), word)


def test_a_name_that_says_no_postures_is_played_as_the_robot_is(setup: Build) -> None:
    """Seed A2: `60 1 0`, `monetagentMTN a_KickB -1`, `MoNetExecute(60)`."""
    build: Any = setup
    kick = build.motion("a_KickB", urad("sleep"), urad("sleep", tail_tilt=500_000))
    files = setup(commands="60 1 0\nmonetagentMTN a_KickB -1\n", entries={"a_KickB": kick})
    run = played(files, "MoNetExecute(60)")
    assert results(run) == ["60 done, in posture nt"]
    assert "Sony's MoNet may crash" in run.text
    assert "a_KickB begins near sleep: call it a_sleep#sleep_KickB" in run.text
    assert run.has_moved()


def test_where_a_motion_without_postures_begins_is_told_and_how_to_get_there(setup: Build) -> None:
    build: Any = setup
    entries = {"a_KickB": build.motion("a_KickB", urad("stand"), urad("sit"))}
    commands = f"{COMMANDS}63 1 0\nmonetagentMTN a_KickB -1\n"
    run = played(setup(commands=commands, entries=entries), "63@0, 2@5, 63@30")
    assert "the robot jumps: right_rear_rotator is 114 deg from where a_KickB begins" in run.text
    text = "a_KickB begins near stand: MoNetExecute(2) goes there first; or call it a_stand#sit_KickB"
    assert run.text.count(text) == 1
    assert "a_KickB begins near stand: call it a_stand#sit_KickB" in run.text, "the robot is there already"
    assert run.text.count("the robot jumps") == 1, "after that, the robot is there"


@pytest.mark.parametrize("rotator", [0, 2_000_000])
def test_of_a_motion_that_begins_in_no_posture_no_way_out_is_told(setup: Build, rotator: int) -> None:
    build: Any = setup
    legs = {joint: rotator for joint in DOG.groups["legs"] if joint.endswith("rotator")}
    odd = build.motion("a_KickB", urad("stand", **legs), urad("stand"))
    entries = {"a_KickB": odd} if rotator else {}
    run = played(setup(commands="63 1 0\nmonetagentMTN a_KickB -1\n", entries=entries), "63")
    assert "begins near" not in run.text


def test_signs_that_could_steer_a_terminal_are_written_out(setup: Build) -> None:
    run = played(setup(commands="5 1 0\nmonetagentMTN a_sleep#sleep_\x9b31m_null -1\n"), "5")
    texts = "\n".join(str(value) for event in run.recording.events for value in event.data.values())
    assert "\x9b" not in texts
    assert "a_sleep#sleep_Â\\x9b31m" in texts


def test_what_is_played_anywhere_and_ends_in_a_posture_leads_there(setup: Build) -> None:
    build: Any = setup
    files = setup(
        commands=COMMANDS + "7 1 0\nmonetagentMTN a_any#stand_up -1\n",
        entries={"up": build.motion("a_any#stand_up", urad("sleep"), urad("stand"), between=[99])},
    )
    run = played(files, "7@0, 60@3")
    assert run.played == ["a_any#stand_up", "a_stand#stand_kick"]
    assert results(run) == ["7 done, in posture stand", "60 done, in posture stand"]


def test_a_motion_of_a_part_leaves_all_other_joints_and_ears_go_by_type_4(setup: Build, aibo: Any) -> None:
    part = aibo.omtn(
        [[0, 0], [349_066, -100_000]],
        [0],
        name="h_any#any_ears",
        locators=(aibo.ers7[4], aibo.ers7[1]),
        design="DRX-1000_Head",
    )
    files = setup(commands="5 1 0\nmonetagentMTN h_any#any_ears -1\n", entries={"ears": part})
    run = played(files, "5", exact=True)
    assert results(run) == ["5 done, in posture nt"]
    rows, moved = run.rows, [DOG.index("left_ear"), DOG.index("head_pan")]
    assert rows[:3, moved].tolist() == [[0, 0], [174_533, -50_000], [349_066, -100_000]]
    assert (np.delete(rows, moved, axis=1) == np.delete(rows[0], moved)).all()


def test_sonys_player_never_sends_the_last_keyframe_and_the_exact_one_does(setup: Build) -> None:
    build: Any = setup
    files = setup(
        commands="5 1 0\nmonetagentMTN a_any#any_tail -1\n",
        entries={
            "tail": build.motion(
                "a_any#any_tail", urad("sleep"), urad("sleep", tail_tilt=500_000), between=[1]
            )
        },
    )
    tail = DOG.index("tail_tilt")
    begin = urad("sleep")[18]
    as_sony, exact = (played(files, "5", exact=way).rows[:, tail].tolist() for way in (False, True))
    step = (500_000 - begin) // 4
    assert as_sony[:4] == [begin, begin + step, begin + 2 * step, begin + 3 * step]
    assert as_sony[-1] == begin + 3 * step
    assert exact[4] == exact[-1] == 500_000


def test_of_one_keyframe_sonys_player_sends_nothing_and_says_so(setup: Build) -> None:
    build: Any = setup
    files = setup(
        commands="5 1 0\nmonetagentMTN a_any#any_pose -1\n",
        entries={"pose": build.motion("a_any#any_pose", urad("sleep"))},
    )
    assert "has a single keyframe, for which Sony's player sends no frame" in results(played(files, "5"))[0]
    assert results(played(files, "5", exact=True)) == ["5 done, in posture nt"]


def test_the_neutral_agent_goes_slowly_and_leaves_the_ears(setup: Build) -> None:
    recording = played(setup(), "0", pose="walk").recording
    rows = np.asarray(recording.robot().requested)
    speeds = np.abs(np.diff(rows, axis=0)).max(axis=0) / FRAME_S
    assert (speeds <= 0.26 * DOG.max_speeds).all()
    servos = [place for place, joint in enumerate(DOG.joints) if not joint.two_state]
    assert rows[-1, servos] == pytest.approx(DOG.pose("sleep")[servos], abs=1e-6)
    assert (np.delete(rows, servos, axis=1) == np.delete(rows[0], servos)).all()
    assert not recording.events_of("safety")


def test_a_jump_is_played_as_it_is_and_told(setup: Build) -> None:
    files = setup(commands="5 1 0\nmonetagentMTN a_any#any_jump 2\n")
    run = played(files, "5")
    assert "the robot jumps: right_rear_rotator" in run.text
    assert results(run) == ["5 done, in posture nt"]
    assert run.recording.events_of("safety"), "the safety filter reports it, too"


def test_all_vectors_are_free_in_the_end(setup: Build) -> None:
    run = played(setup(), "60@0, 80@20")
    (agents,) = (item for item in run.controller.system.objects if item.name == "MotionAgents")
    assert all(region.is_free for region in agents._effector._regions)  # type: ignore[attr-defined]


class Late(Keeper):
    """Says only after a while that it is ready for another vector."""

    def take(self, event: ONotifyEvent) -> None:
        """Answer later."""
        self.openr.call_at(self.openr.time_s + self.keeps_s, lambda: self.vectors.assert_ready(event.sender))


@pytest.mark.parametrize("watcher", [Keeper(1.0), Late(0.5)])
def test_a_command_is_done_though_somebody_is_slow_with_its_vectors(setup: Build, watcher: Keeper) -> None:
    files, line = setup(), "MotionAgents.Effector.OCommandVectorData.S Keeper.Effector.OCommandVectorData.O"
    config = read_connect("\n".join([*map(str, program("monet").config.lines), line]))
    players = [MoNet(files), MotionAgents(files), SoundAgent(files), watcher]
    objects = [CommandSender(config, read_script("60")), *players]
    controller = OpenRController(DOG, lambda: objects, config, DOG.pose("sleep"))
    idle = Until(lambda: controller.is_idle, 1.1)
    still = Run(
        perform(controller, DOG, name="monet", until_s=90.0, body="mock", pose="sleep", watchers=[idle]),
        controller,
    )
    assert results(still) == ["60 done, in posture stand"]
    assert still.results[0][0] > 30.0
    assert (still.rows[-1] == played(files, "60").rows[-1]).all()


def test_the_fewest_ways_are_taken_and_of_those_the_first() -> None:
    ways = read_transitions(
        b"monetagentMTN a_nt#sleep_a -1\nmonetagentMTN a_sleep#sit_b -1\nmonetagentMTN a_sit#stand_c -1\n"
        b"monetagentMTN a_sleep#stand_d -1\nmonetagentMTN a_sleep#stand_e -1\n"
    )
    commands = read_commands(b"1 1 0\nmonetagentMTN a_stand#walk_f -1\n")
    graph = PostureGraph.of(ways, commands, is_older_monet=False)

    def route(start: str, goal: str) -> list[str] | None:
        route = graph.find_route(start, goal)
        return None if route is None else [command.agent_lines[0].name for command in route]

    assert route("nt", "walk") == ["a_nt#sleep_a", "a_sleep#stand_d", "a_stand#walk_f"]
    assert route("stand", "stand") == []
    assert route("walk", "nt") is None


def assert_players_agree(setup: MonetSetup, index: int) -> None:
    """Formats.md 1.1: Sony's falls short by at most 2n + 1 micro-radians, snaps, and leaves out the last."""
    assert setup.motions is not None
    document = document_of(setup.motions.entries[index], index + 1, setup.motions.oda_archive)
    as_sony = sdk_path(document).astype(np.int64)
    frames = motion_frames(index, setup, OpenR(DOG), exact=True)
    exact = np.stack(list(frames.values()), axis=1).astype(np.int64)
    steps = 2 * document.n_frames_between.astype(np.int64) + 2
    assert len(exact) == len(as_sony) + 1 == steps.sum() + 1
    most = np.repeat(steps - 1, steps)[:, np.newaxis]
    assert (np.abs(exact[:-1] - as_sony) <= most).all()
    reached = np.concatenate([[0], np.cumsum(steps)])
    assert (exact[reached] == document.angles).all(), "each keyframe, and the last"
    assert (as_sony[reached[:-1]] == document.angles[:-1]).all()
    ways = np.abs(np.diff(exact, axis=0))
    per_frame = np.repeat(np.abs(np.diff(document.angles.astype(np.int64), axis=0)), steps, axis=0)
    share = per_frame / np.repeat(steps, steps)[:, np.newaxis]
    assert (np.abs(ways - share) < 1.0 + 1e-6).all(), "straight, to the micro-radian"


def test_the_players_differ_as_far_as_the_format_says_on_sonys_motions(
    samples: Callable[[str], Path],
) -> None:
    (setup,) = read_stick(
        samples("aibo_oda/sdk_ers7_MOTION7.ODA"), samples("aibo_monet/ERS7_MONETCMD.CFG")
    ).setups
    assert setup.motions is not None
    for index in range(len(setup.motions.entries)):
        assert_players_agree(setup, index)


ANGLES = st.integers(-6_283_185, 6_283_185)


@given(st.lists(st.tuples(ANGLES, ANGLES, st.integers(0, 40)), min_size=1, max_size=8))
def test_the_players_differ_as_far_as_the_format_says_on_any_motion(
    keyframes: list[tuple[int, int, int]],
) -> None:
    angles = np.array([frame[:2] for frame in keyframes], np.int32)
    between = np.array([frame[2] for frame in keyframes[1:]], np.int32)
    attitudes = np.zeros((len(angles), 3), np.int32)
    locators = tuple(DOG.naming("open_r"))[:2]
    document = OmtnDocument("a", "b", "DRX-1000_Head", locators, angles, attitudes, between)
    archive = OdaArchive().with_entry("a", document.render())
    setup = MonetSetup(motions=MonetArchive(archive, Path("MOTION7.ODA")))
    assert_players_agree(setup, 0)


@pytest.fixture
def sonys_files(samples: Callable[[str], Path]) -> list[Path]:
    """Sony's own files for the ERS-7."""
    names = ("aibo_monet/ERS7_MONETCMD.CFG", "aibo_monet/ERS7_MONET.CFG", "aibo_oda/sdk_ers7_MOTION7.ODA")
    return [samples(name) for name in names]


@pytest.fixture
def sonys(sonys_files: list[Path]) -> MonetSetup:
    """Sony's own files for the ERS-7, read."""
    return read_stick(*sonys_files).setups[0]


def test_sonys_walk_from_sitting_goes_through_standing(sonys: MonetSetup) -> None:
    run = played(sonys, "1@0, 10@14, 12@24")
    assert run.played[:3] == ["a_nt#sleep_standard", "a_sleep#sit_standard", "a_sit#sit_null"]
    assert run.played[3:] == ["a_sit#stand_standard", "a_stand#walk_sox_standard", "a_walk#walk_sox_fwd"]
    assert results(run) == [
        "1 done, in posture sit",
        "10 done, in posture walk",
        "12 done, in posture walk",
    ]


def test_the_simulated_dog_gets_up_and_walks_as_sony_wrote_it(sonys: MonetSetup) -> None:
    pytest.importorskip("mujoco")
    steps = ", ".join(f"12@{24 + 1.392 * k:.3f}" for k in range(5))
    safety = Safety(DOG, hardware=True)
    run = played(sonys, f"1@0, 10@14, {steps}", body="sim", safety=safety)
    recording = run.recording
    assert (
        results(run)
        == ["1 done, in posture sit", "10 done, in posture walk"] + ["12 done, in posture walk"] * 5
    )
    base = np.asarray(recording.robot().base)
    walking = recording.times >= 24.0
    assert np.rad2deg(tilt(base[walking])).max() < 6.0
    assert base[walking, 2].min() > 0.12
    assert base[-1, 0] - base[walking][0, 0] == pytest.approx(5 * 0.093, abs=0.05)


def test_a_robot_that_sits_down_as_sony_wrote_it_has_not_fallen(sonys_files: list[Path]) -> None:
    recording = run_openr("monet", commands="1@0, 2@15, 1@25", monet=sonys_files)
    assert tilt(np.asarray(recording.robot().base)).max() > np.deg2rad(45.0), "it leans back, sitting down"
    assert openr_result(recording)["fell"] is False
    assert evaluate_run(recording).robots[DOG.name].falls == 0, "everybody counts falls alike"
