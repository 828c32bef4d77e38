"""EKMotion: poses at their cycles, frames of the document's integer formula, one move at a time."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from posewright.bodies import BodyState
from posewright.charts import check_chart, read_chart
from posewright.control import Until
from posewright.errors import FormatError, InputError
from posewright.formats.ekmoves.document import JOINT_ORDER
from posewright.formats.ekmoves.reader import read_header
from posewright.rotation import uprightness
from posewright.runs import perform
from posewright.runtimes.openr import ONotifyEvent, OObject, OpenRController, read_connect
from posewright.runtimes.openr.automaton import CHARTS
from posewright.runtimes.openr.ekmotion import EKMotion, EKMotionData, open_moves
from posewright.runtimes.openr.ekmotion.moves import POSES, RESERVED
from posewright.runtimes.openr.programs import program

from .playing import DOG, STAND, opened

START = [round(angle * 1e6) for angle in STAND]
JOINTS = [DOG.index(name) for name in JOINT_ORDER]
NAMES = {
    110: "Kickc", 101: "Kicka", 102: "Kickb", 103: "Suelta", 105: "Kick", 201: "KickIzq", 301: "KickDer",
    401: "Bloqueo", 402: "BloqueoIzq", 403: "BloqueoDer", 501: "Festejo", 601: "Paro", 701: "Receptor",
    702: "PelotaReceptor", 901: "TiroR",
}  # fmt: skip
KICKB = [(1, "KICK_101_01"), (50, "KICK_101_02"), (100, "KICK_101_03"), (150, "KICK_101_04"),
         (200, "KICK_101_05"), (250, "KICK_101_06"), (300, "EK_POS")]  # fmt: skip
"""Seeds.md A4."""

Steps = Sequence[tuple[int, str, str]]
Degrees = Mapping[str, Sequence[float]]


@dataclass(frozen=True)
class Ran:
    """What the dog was commanded, `(n, 20)` [micro-radians], and what the objects said."""

    rows: NDArray[np.int64]
    events: list[Mapping[str, Any]]

    def told(self, what: str, **given: Any) -> list[Mapping[str, Any]]:
        return [one for one in self.events if one["what"] == what and given.items() <= one.items()]

    @property
    def states(self) -> list[str]:
        return [one["state"] for one in self.told("state", object="EKMotion")]

    @property
    def loads(self) -> list[tuple[int, str]]:
        return [(one["cycle"], one["pose"]) for one in self.told("load")]

    @property
    def refused(self) -> list[Mapping[str, Any]]:
        return self.told("refused")

    @property
    def vectors(self) -> int:
        return len(self.told("notify", **{"from": "EKMotion.Move"}))


def ran(script: str, *, n: int = 450, poses: Path | None = None, sequences: Path | None = None) -> Ran:
    """Return what comes of a script in `n` frames on a dog that is where it is told to be."""
    return played(opened("ekmotion", script, poses=poses, sequences=sequences).controller(), n)


def played(controller: OpenRController, n: int) -> Ran:
    rows, events, now, time_s = [], [], STAND, 0.0
    while n > 0:
        got = controller.next(BodyState(time_s, now, np.zeros(len(now))), n)
        rows.append(np.rint(got.angles * 1e6).astype(np.int64))
        events += [data for _, data in got.decision.events] if got.decision else []
        n, now, time_s = n - len(got), got.angles[-1], time_s + len(got) * 0.008
    return Ran(np.concatenate(rows), events)


def micro(degrees: float) -> int:
    """`int(1e6 * rad)` in C: what is behind the point is cut off."""
    return math.trunc(1e6 * (degrees * math.pi / 180.0))


def expected(steps: Steps, end: int, degrees: Degrees, frames: int, first: Sequence[int]) -> list[list[int]]:
    """Return what A4's words give: the 16 joints in each frame of a move [micro-radians], from `first` on."""
    current = list(first)
    rows = []
    for cycle in range(1, end + 1):
        target: dict[int, int] = {}
        for at, name, part in steps:
            if at == cycle:
                indices = {"all": range(16), "head": range(4), "legs": range(4, 16)}[part]
                target |= {index: micro(degrees[name][index]) for index in indices}
        for j in range(frames if target else 1):
            row = list(current)
            for index, value in target.items():
                step = Fraction((j + 1) * (value - current[index]), frames)  # C divides towards zero
                row[index] = current[index] + math.trunc(step)
            rows.append(row)
        for index, value in target.items():
            current[index] = value
    return rows


def ours() -> Degrees:
    return {one.name: one.degrees for one in read_header(POSES.read_bytes(), POSES).arrays}


HEAD_OF_16 = [START[joint] for joint in JOINTS]


def test_kickb_loads_its_poses_at_the_cycles_of_the_document_and_finishes_at_310() -> None:
    kick = ran("102")
    assert kick.loads == KICKB
    (result,) = kick.told("result")
    assert (result["cycle"], result["result"]) == (310, "MOVING_FINISH")
    assert kick.states == ["IDLE", "MNT_SPECIAL_MOVE", "IDLE"]
    assert kick.vectors == 310


def test_the_frames_of_kickb_are_those_of_the_integer_formula() -> None:
    kick = ran("102")
    want = expected([(*step, "all") for step in KICKB], 310, ours(), 16, HEAD_OF_16)
    assert len(want) == 7 * 16 + 303
    np.testing.assert_array_equal(kick.rows[: len(want), JOINTS], want)
    np.testing.assert_array_equal(kick.rows[len(want) :, JOINTS], [want[-1]] * (450 - len(want)))


def test_ears_and_tail_stay_where_they_are() -> None:
    others = [joint for joint in range(20) if joint not in JOINTS]
    np.testing.assert_array_equal(ran("102").rows[:, others], np.tile(np.array(START)[others], (450, 1)))


def test_a_second_move_begins_where_the_first_ended() -> None:
    kicks = ran("102, 105@3.6", n=700)
    steps = [(cycle, pose, "all") for cycle, pose in kicks.loads[len(KICKB) :]]
    end = open_moves().moves[105].end
    begin = round(3.6 / 0.008)
    want = expected(steps, end, ours(), 16, [micro(angle) for angle in ours()["EK_POS"]])
    np.testing.assert_array_equal(kicks.rows[begin : begin + len(want), JOINTS], want)


@pytest.mark.parametrize("number", [101, 102, 777, *RESERVED])
def test_a_command_during_a_move_is_ignored_and_acknowledged_and_changes_no_frame(number: int) -> None:
    disturbed, alone = ran(f"102, {number}@1.0"), ran("102")
    np.testing.assert_array_equal(disturbed.rows, alone.rows)
    (refusal,) = disturbed.refused
    assert "102 Kickb is under way: MNT_SPECIAL_MOVE" in refusal["why"]
    acknowledged = {"from": "EKMotion.ReceiveAction", "to": "Commander.SendAction"}
    assert len(disturbed.told("ready", **acknowledged)) == len(alone.told("ready", **acknowledged)) + 1
    assert disturbed.states == alone.states


@pytest.mark.parametrize("number", RESERVED)
def test_a_reserved_command_moves_nothing_and_the_log_says_so(number: int) -> None:
    still = ran(str(number))
    assert still.vectors == 0
    assert "reserved" in still.refused[0]["why"]
    assert still.states == ["IDLE"]
    assert (still.rows == START).all()


@given(st.integers(-(2**31), 2**31 - 1).filter(lambda number: number not in NAMES and number not in RESERVED))
@settings(max_examples=25)
def test_an_unknown_number_sends_nothing_is_acknowledged_and_leaves_it_idle(number: int) -> None:
    still = ran(str(number), n=20)
    assert still.vectors == 0
    assert "102 Kickb" in still.refused[0]["why"], "it says which are known"
    assert still.states == ["IDLE", "MNT_SPECIAL_MOVE", "IDLE"]
    assert len(still.told("ready", **{"from": "EKMotion.ReceiveAction"})) == 2, (
        "at the start, and for the command"
    )


def test_after_an_unknown_number_a_known_one_is_done() -> None:
    np.testing.assert_array_equal(ran("777, 102").rows, ran("102").rows)


def test_a_command_is_acknowledged_once() -> None:
    ready = ran("102").told("ready", **{"from": "EKMotion.ReceiveAction"})
    assert len(ready) == 2, "at the start, and when it was looked at"


def test_a_receiver_that_never_answers_holds_the_move_up_and_nothing_else() -> None:
    class Deaf(OObject):
        def __init__(self) -> None:
            super().__init__()
            self.observer("Effector", "OCommandVectorData", self.hear)

        def hear(self, event: ONotifyEvent) -> None:
            """Never say that it is done."""

    text = str(program("ekmotion").config.path and program("ekmotion").config.path.read_text())
    line = "EKMotion.Move.OCommandVectorData.S Deaf.Effector.OCommandVectorData.O"
    deaf = opened(read_connect(f"{text}{line}\n"), "102, 101@0.1", own={"Deaf": Deaf})
    held = played(deaf.controller(), 450)
    assert held.loads == KICKB[:1]
    assert "under way" in held.refused[0]["why"], "it still answers"
    (silent,) = held.told("silent")
    assert silent["to"] == "Deaf.Effector"


@pytest.mark.parametrize(
    ("text", "data"),
    [
        ("102", EKMotionData(102)),
        ("-7", EKMotionData(-7)),
        ("102 mouth=-20", EKMotionData(102, mouth=-20.0)),
        ("1000 y_walk=2.5 ang_walk=-1", EKMotionData(1000, y_walk=2.5, ang_walk=-1.0)),
    ],
)
def test_a_word_of_a_script_is_a_command_and_is_shown_as_it_was_written(
    text: str, data: EKMotionData
) -> None:
    assert EKMotionData.from_text(text) == data
    assert str(data) == text


@pytest.mark.parametrize(
    ("text", "right"),
    [
        ("kick", "102 mouth=-20"),
        ("10.5", "whole number"),
        ("99999999999", "32 bits"),
        ("", "whole number"),
        ("102 jaw=3", "fields: y_walk, ang_walk, x_head, y_head, z_head, mouth"),
        ("102 mouth=wide", "FIELD=NUMBER"),
        ("102 mouth=1 mouth=2", "each once"),
    ],
)
def test_what_is_no_command_is_refused_and_it_is_said_what_would_be_one(text: str, right: str) -> None:
    with pytest.raises(InputError) as caught:
        EKMotionData.from_text(text)
    assert right in str(caught.value.hint)


def test_a_script_with_no_command_is_refused_before_anything_moves() -> None:
    with pytest.raises(FormatError, match=r"kickb.*102 mouth=-20"):
        ran("kickb@1")


# The table and its poses


def header(path: Path, arrays: Degrees) -> Path:
    lines = [f"const double {name}[16] = {{{', '.join(map(str, row))}}};" for name, row in arrays.items()]
    path.write_text("\n".join(lines) + "\n")
    return path


def table(path: Path, moves: Mapping[str, tuple[int, Steps, int]], frames: int) -> Path:
    lines = ["ekmotion: mine", f"frames: {frames}", "moves:"]
    for name, (command, steps, end) in moves.items():
        lines += [f"  {name}:", f"    command: {command}", "    steps:"]
        lines += [f"      - [{', '.join(map(str, step))}]" for step in steps]
        lines += [f"    end: {end}"]
    path.write_text("\n".join(lines) + "\n")
    return path


def test_all_fifteen_numbers_have_the_names_of_the_document() -> None:
    assert {command: move.name for command, move in open_moves().moves.items()} == NAMES


def test_every_move_of_ours_begins_near_the_walk_pose_and_ends_at_it() -> None:
    poses = ours()
    for move in open_moves().moves.values():
        near = np.abs(np.subtract(poses[move.steps[0].pose], poses["EK_POS"]))
        assert near.max() <= 10.0, move.name
        assert move.steps[-1].pose == "EK_POS", move.name


def test_no_joint_of_ours_is_asked_for_more_than_its_servo_can_do_or_its_limits_allow() -> None:
    poses = {name: np.radians(row) for name, row in ours().items()}
    low, high = (limits[JOINTS] for limits in DOG.limits)
    for move in open_moves().moves.values():
        rows = np.array([STAND[JOINTS], *(poses[one.pose] for one in move.steps)])
        speeds = np.abs(np.diff(rows, axis=0)) / (16 * 0.008)
        assert (speeds <= DOG.max_speeds[JOINTS]).all(), move.name
        assert ((low <= rows[1:]) & (rows[1:] <= high)).all(), move.name


@pytest.mark.parametrize(("left", "right"), [(201, 301), (402, 403)])
def test_left_and_right_are_mirrored(left: int, right: int) -> None:
    moves, poses = open_moves().moves, ours()
    for one, other in zip(moves[left].steps, moves[right].steps, strict=True):
        rows = np.zeros((2, 20))
        rows[0, JOINTS], rows[1, JOINTS] = poses[one.pose], poses[other.pose]
        assert one.cycle == other.cycle
        np.testing.assert_array_equal(DOG.mirror(rows[0]), rows[1])


def test_the_simulated_dog_stays_up_in_all_fifteen_one_after_the_other_and_no_way_is_too_fast() -> None:
    script = ", ".join(f"{number}@{1 + 4 * at}" for at, number in enumerate(NAMES))
    controller = opened("ekmotion", script).controller()
    until = Until(lambda: controller.is_idle, 1.0)
    recording = perform(controller, DOG, name="ekmotion", until_s=65, watchers=[until])
    base = recording.robots[DOG.name].base
    results = [one.data["move"] for one in recording.events if one.data.get("what") == "result"]
    assert results == [f"{number} {name}" for number, name in NAMES.items()]
    assert uprightness(base[:, 3:]).min() > math.cos(math.radians(30))
    assert base[:, 2].min() > 0.10
    held_back = [one.time_s for one in recording.events if one.kind != "openr"]
    starts = [1 + 4 * at for at in range(len(NAMES))]
    late = [time_s for time_s in held_back if not any(0 < time_s - start < 0.01 for start in starts)]
    assert late == [], "only where a command first takes over where the joint really is"


def test_a_header_of_ones_own_is_played_by_our_table_as_far_as_it_goes(tmp_path: Path) -> None:
    some = {name: row for name, row in ours().items() if name.startswith("KICK_101") or name == "EK_POS"}
    path = header(tmp_path / "EKMoves.h", {**some, "KICK_101_03": [-9.0] * 16})
    kick = ran("102, 105@3.6", poses=path, n=600)
    assert kick.loads == KICKB
    want = expected(
        [(*step, "all") for step in KICKB], 310, {**some, "KICK_101_03": [-9.0] * 16}, 16, HEAD_OF_16
    )
    np.testing.assert_array_equal(kick.rows[: len(want), JOINTS], want)
    said = [one["text"] for one in kick.told("syslog", object="EKMotion")]
    (missing,) = [one for one in said if "--sequences FILE" in one]
    assert missing.startswith("14 moves have no poses in this header (110 Kickc, ")
    assert len(said) == 1, "a pose within the limits is not worth a word"
    (refusal,) = kick.refused
    assert refusal["why"].startswith("the header has no KICK_01, KICK_02 for 105 Kick: --sequences FILE")
    assert refusal["why"].endswith("known: 102 Kickb")


def test_kickb_over_a_header_whose_arrays_are_called_otherwise(tmp_path: Path) -> None:
    other = {f"PATADA_{number:02d}": [-number - index / 2 for index in range(16)] for number in range(7)}
    path = header(tmp_path / "mine.h", other)
    steps = [(cycle, f"PATADA_{number:02d}", "all") for number, (cycle, _) in enumerate(KICKB)]
    sequences = table(tmp_path / "mine.yaml", {"Kickb": (102, steps, 310)}, 9)
    kick = ran("102", poses=path, sequences=sequences)
    want = expected(steps, 310, other, 9, HEAD_OF_16)
    assert kick.loads == [step[:2] for step in steps]
    np.testing.assert_array_equal(kick.rows[: len(want), JOINTS], want)


TABLE = """\
ekmotion: mine
frames: 16
moves:
  Kick:
    command: 105
    steps:
      - [1, EK_POS]
      - [20, KICK_01, legs]
      - [20, KICK_02, head]
    end: 30
  Other:
    command: 106
    steps: [[1, EK_POS]]
    end: 2
"""


@pytest.mark.parametrize(
    ("old", "new", "line", "told"),
    [
        ("KICK_01, legs", "KICK_O1, legs", 8, "KICK_01"),
        ("[20, KICK_01, legs]", "[0, KICK_01]", 8, "range"),
        ("[20, KICK_01, legs]", "[twenty, KICK_01]", 8, "whole number"),
        ("[20, KICK_01, legs]", "[20]", 8, "[cycle, array]"),
        ("legs]", "leg]", 8, "legs"),
        ("[20, KICK_02, head]", "[19, KICK_02, head]", 9, "cycles increase"),
        ("[20, KICK_02, head]", "[20, KICK_02, legs]", 9, "cycles increase"),
        ("[20, KICK_02, head]", "[20, KICK_02]", 9, "cycles increase"),
        ("end: 30", "end: 20", 4, "after cycle 20"),
        ("command: 105", "command: 998", 4, "reserved"),
        ("command: 106", "command: 105", 11, "is that of Kick"),
        ("command: 105", "command: 4294967296", 5, "range"),
        ("steps: [[1, EK_POS]]", "steps: []", 11, "at least one"),
        ("frames: 16", "frames: 17", 2, "1..16"),
        ("frames: 16", "frame: 16", 2, "frames"),
        ("    end: 30\n", "", 4, "end"),
        ("moves:", "moves: [", 3, "]"),
    ],
)
def test_an_error_in_the_table_is_told_with_file_and_line_and_what_would_be_right(
    tmp_path: Path, old: str, new: str, line: int, told: str
) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text(TABLE)
    assert sorted(open_moves(None, path).moves) == [105, 106]
    path.write_text(TABLE.replace(old, new))
    with pytest.raises(InputError) as caught:
        open_moves(None, path)
    assert caught.value.where is not None
    assert (caught.value.where.path, caught.value.where.line) == (path, line)
    assert told in str(caught.value)


def test_a_header_that_is_damaged_is_told_with_its_line(tmp_path: Path) -> None:
    path = header(tmp_path / "short.h", {"EK_POS": [0.0] * 16, "KICK_01": [1.0] * 15})
    with pytest.raises(FormatError, match=r"short\.h:2.*KICK_01 has 15 numbers"):
        open_moves(path)
    with pytest.raises(FormatError, match=r"none\.h"):
        open_moves(tmp_path / "none.h")
    with pytest.raises(InputError, match=r"none\.yaml"):
        open_moves(None, tmp_path / "none.yaml")


ANGLES = st.tuples(
    *(
        st.floats(math.degrees(joint.hardware_lower_rad), math.degrees(joint.hardware_upper_rad))
        for joint in (DOG.joints[index] for index in JOINTS)
    )
)


@st.composite
def tables(draw: st.DrawFn) -> tuple[Steps, int, Degrees, int]:
    """Return steps, the end, poses [deg], and the number of frames."""
    poses = draw(st.lists(ANGLES, min_size=1, max_size=3))
    degrees = {f"P_{number}": row for number, row in enumerate(poses)}
    steps: list[tuple[int, str, str]] = []
    for cycle in sorted(draw(st.sets(st.integers(1, 30), min_size=1, max_size=6))):
        for part in draw(st.sampled_from([["all"], ["head"], ["legs"], ["legs", "head"]])):
            steps.append((cycle, draw(st.sampled_from(sorted(degrees))), part))
    return steps, steps[-1][0] + draw(st.integers(1, 5)), degrees, draw(st.integers(1, 16))


@given(tables())
@settings(max_examples=40, deadline=None)
def test_any_table_over_any_header_gives_the_frames_of_the_formula(
    tmp_path_factory: pytest.TempPathFactory, drawn: tuple[Steps, int, Degrees, int]
) -> None:
    steps, end, degrees, frames = drawn
    folder = tmp_path_factory.mktemp("ek", numbered=True)
    poses = header(folder / "mine.h", degrees)
    sequences = table(folder / "mine.yaml", {"M": (7, steps, end)}, frames)
    want = expected(steps, end, degrees, frames, HEAD_OF_16)
    got = ran("7", n=len(want) + 3, poses=poses, sequences=sequences)
    np.testing.assert_array_equal(got.rows[: len(want), JOINTS], want)
    np.testing.assert_array_equal(got.rows[len(want) :, JOINTS], [want[-1]] * 3)
    assert got.vectors == end


@pytest.mark.parametrize(
    ("angle", "told"),
    [(200, "what it can do"), (50.2, "what it can do"), (48, "its limits"), (50, "its limits")],
)
def test_a_pose_beyond_what_a_joint_can_do_is_refused_and_one_beyond_its_limits_told(
    tmp_path: Path, angle: float, told: str
) -> None:
    arrays = {"FAR": [0.0] * 16, "EK_POS": [angle, 0, -10, -4, *[0.0] * 12]}
    poses = header(tmp_path / "EKMoves.h", arrays)
    sequences = table(tmp_path / "mine.yaml", {"M": (7, [(1, "EK_POS", "all")], 2)}, 16)
    if angle <= 50:
        said = ran("7", n=20, poses=poses, sequences=sequences).told("syslog", object="EKMotion")
        assert [one["text"] for one in said] == [
            f"{poses}:2: EK_POS: head_tilt at {angle:g} deg is beyond its limits -15 to 45"
        ]
    else:
        with pytest.raises(FormatError) as caught:
            ran("7", poses=poses, sequences=sequences)
        assert str(caught.value) == (
            f"{poses}:2: EK_POS: head_tilt at {angle:g} deg is beyond {told} "
            "(it can do -20 to 50, and should -15 to 45)"
        )


def test_fields_that_do_nothing_are_told_once() -> None:
    said = ran("102 mouth=-20 y_walk=1, 105 mouth=-1@0.1, 102@0.2", n=60).told("syslog")
    assert [one["text"] for one in said] == [
        "y_walk, mouth: fields of a command other than its number are not used here"
    ]


def test_a_command_that_is_none_cannot_be_made() -> None:
    with pytest.raises(InputError, match="EKMotionData with command='102'"):
        EKMotionData("102")  # type: ignore[arg-type]


def test_after_a_move_every_region_is_free() -> None:
    motion = EKMotion()
    played(opened("ekmotion", "102", own={"EKMotion": lambda: motion}).controller(), 450)
    assert all(region.is_free for region in motion.move._regions)


def test_the_automaton_is_sound() -> None:
    assert check_chart(read_chart(CHARTS / "ekmotion.chart.yaml")) == ()
