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

from .playing import DOG, STAND, make_program

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
class RunLog:
    """The commands of a run, `(n, 20)` [micro-radians], and the events of its objects."""

    rows: NDArray[np.int64]
    events: list[Mapping[str, Any]]

    def events_of(self, what: str, **details: Any) -> list[Mapping[str, Any]]:
        return [event for event in self.events if event["what"] == what and details.items() <= event.items()]

    @property
    def states(self) -> list[str]:
        return [event["state"] for event in self.events_of("state", object="EKMotion")]

    @property
    def loads(self) -> list[tuple[int, str]]:
        return [(event["cycle"], event["pose"]) for event in self.events_of("load")]

    @property
    def refusals(self) -> list[Mapping[str, Any]]:
        return self.events_of("refused")

    @property
    def n_vectors(self) -> int:
        return len(self.events_of("notify", **{"from": "EKMotion.Move"}))


def run_script(
    script: str, *, n: int = 450, poses: Path | None = None, sequences: Path | None = None
) -> RunLog:
    """Run a script for `n` frames on a dog that reaches each command at once."""
    return run_controller(make_program("ekmotion", script, poses=poses, sequences=sequences).controller(), n)


def run_controller(controller: OpenRController, n: int) -> RunLog:
    """Run a controller for `n` frames on a dog that reaches each command at once."""
    rows, events, positions, time_s = [], [], STAND, 0.0
    while n > 0:
        commands = controller.next(BodyState(time_s, positions, np.zeros(len(positions))), n)
        rows.append(np.rint(commands.angles * 1e6).astype(np.int64))
        events += [data for _, data in commands.decision.events] if commands.decision else []
        n, positions, time_s = n - len(commands), commands.angles[-1], time_s + len(commands) * 0.008
    return RunLog(np.concatenate(rows), events)


def to_microradians(degrees: float) -> int:
    """Return an angle in whole micro-radians, truncated as by `int(1e6 * rad)` in C."""
    return math.trunc(1e6 * (degrees * math.pi / 180.0))


def compute_rows(
    steps: Steps, end: int, degrees: Degrees, frames: int, first: Sequence[int]
) -> list[list[int]]:
    """Return the 16 joints in each frame of a move [micro-radians] from `first` on, by the formula of A4."""
    current = list(first)
    rows = []
    for cycle in range(1, end + 1):
        target: dict[int, int] = {}
        for at, name, part in steps:
            if at == cycle:
                indices = {"all": range(16), "head": range(4), "legs": range(4, 16)}[part]
                target |= {index: to_microradians(degrees[name][index]) for index in indices}
        for j in range(frames if target else 1):
            row = list(current)
            for index, value in target.items():
                step = Fraction((j + 1) * (value - current[index]), frames)  # C truncates towards zero
                row[index] = current[index] + math.trunc(step)
            rows.append(row)
        for index, value in target.items():
            current[index] = value
    return rows


def own_degrees() -> Degrees:
    return {array.name: array.degrees for array in read_header(POSES.read_bytes(), POSES).arrays}


HEAD_OF_16 = [START[joint] for joint in JOINTS]


def test_kickb_loads_its_poses_at_the_cycles_of_the_document_and_finishes_at_310() -> None:
    kick = run_script("102")
    assert kick.loads == KICKB
    (result,) = kick.events_of("result")
    assert (result["cycle"], result["result"]) == (310, "MOVING_FINISH")
    assert kick.states == ["IDLE", "MNT_SPECIAL_MOVE", "IDLE"]
    assert kick.n_vectors == 310


def test_the_frames_of_kickb_are_those_of_the_integer_formula() -> None:
    kick = run_script("102")
    expected_rows = compute_rows([(*step, "all") for step in KICKB], 310, own_degrees(), 16, HEAD_OF_16)
    assert len(expected_rows) == 7 * 16 + 303
    np.testing.assert_array_equal(kick.rows[: len(expected_rows), JOINTS], expected_rows)
    np.testing.assert_array_equal(
        kick.rows[len(expected_rows) :, JOINTS], [expected_rows[-1]] * (450 - len(expected_rows))
    )


def test_ears_and_tail_stay_where_they_are() -> None:
    others = [joint for joint in range(20) if joint not in JOINTS]
    np.testing.assert_array_equal(
        run_script("102").rows[:, others], np.tile(np.array(START)[others], (450, 1))
    )


def test_a_second_move_begins_where_the_first_ended() -> None:
    kicks = run_script("102, 105@3.6", n=700)
    steps = [(cycle, pose, "all") for cycle, pose in kicks.loads[len(KICKB) :]]
    end = open_moves().moves_by_command[105].end
    begin = round(3.6 / 0.008)
    expected_rows = compute_rows(
        steps, end, own_degrees(), 16, [to_microradians(angle) for angle in own_degrees()["EK_POS"]]
    )
    np.testing.assert_array_equal(kicks.rows[begin : begin + len(expected_rows), JOINTS], expected_rows)


@pytest.mark.parametrize("number", [101, 102, 777, *RESERVED])
def test_a_command_during_a_move_is_ignored_and_acknowledged_and_changes_no_frame(number: int) -> None:
    disturbed, alone = run_script(f"102, {number}@1.0"), run_script("102")
    np.testing.assert_array_equal(disturbed.rows, alone.rows)
    (refusal,) = disturbed.refusals
    assert "102 Kickb is under way: MNT_SPECIAL_MOVE" in refusal["why"]
    acknowledged = {"from": "EKMotion.ReceiveAction", "to": "Commander.SendAction"}
    assert (
        len(disturbed.events_of("ready", **acknowledged)) == len(alone.events_of("ready", **acknowledged)) + 1
    )
    assert disturbed.states == alone.states


@pytest.mark.parametrize("number", RESERVED)
def test_a_reserved_command_moves_nothing_and_the_log_says_so(number: int) -> None:
    still = run_script(str(number))
    assert still.n_vectors == 0
    assert "reserved" in still.refusals[0]["why"]
    assert still.states == ["IDLE"]
    assert (still.rows == START).all()


@given(st.integers(-(2**31), 2**31 - 1).filter(lambda number: number not in NAMES and number not in RESERVED))
@settings(max_examples=25)
def test_an_unknown_number_sends_nothing_is_acknowledged_and_leaves_it_idle(number: int) -> None:
    still = run_script(str(number), n=20)
    assert still.n_vectors == 0
    assert "102 Kickb" in still.refusals[0]["why"], "the refusal names those that are known"
    assert still.states == ["IDLE", "MNT_SPECIAL_MOVE", "IDLE"]
    assert len(still.events_of("ready", **{"from": "EKMotion.ReceiveAction"})) == 2, (
        "at the start, and for the command"
    )


def test_after_an_unknown_number_a_known_one_is_done() -> None:
    np.testing.assert_array_equal(run_script("777, 102").rows, run_script("102").rows)


def test_a_command_is_acknowledged_once() -> None:
    ready = run_script("102").events_of("ready", **{"from": "EKMotion.ReceiveAction"})
    assert len(ready) == 2, "at the start, and after the command"


def test_a_receiver_that_never_answers_holds_the_move_up_and_nothing_else() -> None:
    class Deaf(OObject):
        def __init__(self) -> None:
            super().__init__()
            self.observer("Effector", "OCommandVectorData", self.hear)

        def hear(self, event: ONotifyEvent) -> None:
            """Never announce that it is ready again."""

    text = str(program("ekmotion").config.path and program("ekmotion").config.path.read_text())
    line = "EKMotion.Move.OCommandVectorData.S Deaf.Effector.OCommandVectorData.O"
    deaf = make_program(read_connect(f"{text}{line}\n"), "102, 101@0.1", user_objects={"Deaf": Deaf})
    log = run_controller(deaf.controller(), 450)
    assert log.loads == KICKB[:1]
    assert "under way" in log.refusals[0]["why"], "it still answers"
    (silent,) = log.events_of("silent")
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
        run_script("kickb@1")


# The table and its poses


def write_header(path: Path, arrays: Degrees) -> Path:
    lines = [f"const double {name}[16] = {{{', '.join(map(str, row))}}};" for name, row in arrays.items()]
    path.write_text("\n".join(lines) + "\n")
    return path


def write_table(path: Path, moves: Mapping[str, tuple[int, Steps, int]], frames: int) -> Path:
    lines = ["ekmotion: mine", f"frames: {frames}", "moves:"]
    for name, (command, steps, end) in moves.items():
        lines += [f"  {name}:", f"    command: {command}", "    steps:"]
        lines += [f"      - [{', '.join(map(str, step))}]" for step in steps]
        lines += [f"    end: {end}"]
    path.write_text("\n".join(lines) + "\n")
    return path


def test_all_fifteen_numbers_have_the_names_of_the_document() -> None:
    assert {command: move.name for command, move in open_moves().moves_by_command.items()} == NAMES


def test_every_move_of_ours_begins_near_the_walk_pose_and_ends_at_it() -> None:
    poses = own_degrees()
    for move in open_moves().moves_by_command.values():
        near = np.abs(np.subtract(poses[move.steps[0].pose], poses["EK_POS"]))
        assert near.max() <= 10.0, move.name
        assert move.steps[-1].pose == "EK_POS", move.name


def test_no_joint_of_ours_is_asked_for_more_than_its_servo_can_do_or_its_limits_allow() -> None:
    poses = {name: np.radians(row) for name, row in own_degrees().items()}
    low, high = (limits[JOINTS] for limits in DOG.limits)
    for move in open_moves().moves_by_command.values():
        rows = np.array([STAND[JOINTS], *(poses[step.pose] for step in move.steps)])
        speeds = np.abs(np.diff(rows, axis=0)) / (16 * 0.008)
        assert (speeds <= DOG.max_speeds[JOINTS]).all(), move.name
        assert ((low <= rows[1:]) & (rows[1:] <= high)).all(), move.name


@pytest.mark.parametrize(("left", "right"), [(201, 301), (402, 403)])
def test_left_and_right_are_mirrored(left: int, right: int) -> None:
    moves, poses = open_moves().moves_by_command, own_degrees()
    for left_step, right_step in zip(moves[left].steps, moves[right].steps, strict=True):
        rows = np.zeros((2, 20))
        rows[0, JOINTS], rows[1, JOINTS] = poses[left_step.pose], poses[right_step.pose]
        assert left_step.cycle == right_step.cycle
        np.testing.assert_array_equal(DOG.mirror(rows[0]), rows[1])


def test_the_simulated_dog_stays_up_in_all_fifteen_one_after_the_other_and_no_way_is_too_fast() -> None:
    script = ", ".join(f"{number}@{1 + 4 * at}" for at, number in enumerate(NAMES))
    controller = make_program("ekmotion", script).controller()
    until = Until(lambda: controller.is_idle, 1.0)
    recording = perform(controller, DOG, name="ekmotion", until_s=65, watchers=[until])
    base = recording.robots[DOG.name].base
    results = [event.data["move"] for event in recording.events if event.data.get("what") == "result"]
    assert results == [f"{number} {name}" for number, name in NAMES.items()]
    assert uprightness(base[:, 3:]).min() > math.cos(math.radians(30))
    assert base[:, 2].min() > 0.10
    held_back = [event.time_s for event in recording.events if event.kind != "openr"]
    starts = [1 + 4 * at for at in range(len(NAMES))]
    late = [time_s for time_s in held_back if not any(0 < time_s - start < 0.01 for start in starts)]
    assert late == [], "only where a command first takes over where the joint really is"


def test_a_header_of_ones_own_is_played_by_our_table_as_far_as_it_goes(tmp_path: Path) -> None:
    some = {
        name: row for name, row in own_degrees().items() if name.startswith("KICK_101") or name == "EK_POS"
    }
    path = write_header(tmp_path / "EKMoves.h", {**some, "KICK_101_03": [-9.0] * 16})
    kick = run_script("102, 105@3.6", poses=path, n=600)
    assert kick.loads == KICKB
    expected_rows = compute_rows(
        [(*step, "all") for step in KICKB], 310, {**some, "KICK_101_03": [-9.0] * 16}, 16, HEAD_OF_16
    )
    np.testing.assert_array_equal(kick.rows[: len(expected_rows), JOINTS], expected_rows)
    texts = [event["text"] for event in kick.events_of("syslog", object="EKMotion")]
    (missing,) = [text for text in texts if "--sequences FILE" in text]
    assert missing.startswith("14 moves have no poses in this header (110 Kickc, ")
    assert len(texts) == 1, "a pose within the limits is not reported"
    (refusal,) = kick.refusals
    assert refusal["why"].startswith("the header has no KICK_01, KICK_02 for 105 Kick: --sequences FILE")
    assert refusal["why"].endswith("known: 102 Kickb")


def test_kickb_over_a_header_whose_arrays_are_called_otherwise(tmp_path: Path) -> None:
    other = {f"PATADA_{number:02d}": [-number - index / 2 for index in range(16)] for number in range(7)}
    path = write_header(tmp_path / "mine.h", other)
    steps = [(cycle, f"PATADA_{number:02d}", "all") for number, (cycle, _) in enumerate(KICKB)]
    sequences = write_table(tmp_path / "mine.yaml", {"Kickb": (102, steps, 310)}, 9)
    kick = run_script("102", poses=path, sequences=sequences)
    expected_rows = compute_rows(steps, 310, other, 9, HEAD_OF_16)
    assert kick.loads == [step[:2] for step in steps]
    np.testing.assert_array_equal(kick.rows[: len(expected_rows), JOINTS], expected_rows)


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
    ("old", "new", "line", "words"),
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
    tmp_path: Path, old: str, new: str, line: int, words: str
) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text(TABLE)
    assert sorted(open_moves(None, path).moves_by_command) == [105, 106]
    path.write_text(TABLE.replace(old, new))
    with pytest.raises(InputError) as caught:
        open_moves(None, path)
    assert caught.value.where is not None
    assert (caught.value.where.path, caught.value.where.line) == (path, line)
    assert words in str(caught.value)


def test_a_header_that_is_damaged_is_told_with_its_line(tmp_path: Path) -> None:
    path = write_header(tmp_path / "short.h", {"EK_POS": [0.0] * 16, "KICK_01": [1.0] * 15})
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
    poses = write_header(folder / "mine.h", degrees)
    sequences = write_table(folder / "mine.yaml", {"M": (7, steps, end)}, frames)
    expected_rows = compute_rows(steps, end, degrees, frames, HEAD_OF_16)
    log = run_script("7", n=len(expected_rows) + 3, poses=poses, sequences=sequences)
    np.testing.assert_array_equal(log.rows[: len(expected_rows), JOINTS], expected_rows)
    np.testing.assert_array_equal(log.rows[len(expected_rows) :, JOINTS], [expected_rows[-1]] * 3)
    assert log.n_vectors == end


@pytest.mark.parametrize(
    ("angle", "words"),
    [(200, "what it can do"), (50.2, "what it can do"), (48, "its limits"), (50, "its limits")],
)
def test_a_pose_beyond_what_a_joint_can_do_is_refused_and_one_beyond_its_limits_told(
    tmp_path: Path, angle: float, words: str
) -> None:
    arrays = {"FAR": [0.0] * 16, "EK_POS": [angle, 0, -10, -4, *[0.0] * 12]}
    poses = write_header(tmp_path / "EKMoves.h", arrays)
    sequences = write_table(tmp_path / "mine.yaml", {"M": (7, [(1, "EK_POS", "all")], 2)}, 16)
    if angle <= 50:
        logged = run_script("7", n=20, poses=poses, sequences=sequences).events_of(
            "syslog", object="EKMotion"
        )
        assert [event["text"] for event in logged] == [
            f"{poses}:2: EK_POS: head_tilt at {angle:g} deg is beyond its limits -15 to 45"
        ]
    else:
        with pytest.raises(FormatError) as caught:
            run_script("7", poses=poses, sequences=sequences)
        assert str(caught.value) == (
            f"{poses}:2: EK_POS: head_tilt at {angle:g} deg is beyond {words} "
            "(it can do -20 to 50, and should -15 to 45)"
        )


def test_fields_that_do_nothing_are_told_once() -> None:
    logged = run_script("102 mouth=-20 y_walk=1, 105 mouth=-1@0.1, 102@0.2", n=60).events_of("syslog")
    assert [event["text"] for event in logged] == [
        "y_walk, mouth: fields of a command other than its number are not used here"
    ]


def test_a_command_that_is_none_cannot_be_made() -> None:
    with pytest.raises(InputError, match="EKMotionData with command='102'"):
        EKMotionData("102")  # type: ignore[arg-type]


def test_after_a_move_every_region_is_free() -> None:
    motion = EKMotion()
    run_controller(
        make_program("ekmotion", "102", user_objects={"EKMotion": lambda: motion}).controller(), 450
    )
    assert all(region.is_free for region in motion.move._regions)


def test_the_automaton_is_sound() -> None:
    assert check_chart(read_chart(CHARTS / "ekmotion.chart.yaml")) == ()
