"""The stairs: what the referee does, what the judge finds, and what neither takes."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import numpy as np
import pytest
from tests.contests.conftest import block_of
from tests.contests.stories import recording_of

import posewright as pw
from posewright.arenas import Arena, Role
from posewright.bodies import GroundTruth, JointStates
from posewright.contests import HALT, NEW_TRY, Stairs, contest, judge
from posewright.errors import InputError
from posewright.recordings import Event, Recording

CASES = Path(__file__).parent / "cases" / "stairs"


def edges(field: Arena) -> np.ndarray:
    return np.array([shape.x - shape.size_m[0] / 2 for shape in field.shapes if shape.role is Role.STEP])


def test_the_stairs_stand_a_centimetre_nearer_or_farther_at_most_and_keep_their_treads():
    stairs = Stairs()
    first = edges(stairs.field("", 0))
    edges_by_seed = np.array([edges(stairs.field("", seed)) for seed in range(50)])
    assert np.ptp(edges_by_seed - first, axis=1) == pytest.approx(0.0, abs=1e-9)
    assert np.abs(edges_by_seed[:, 0] - 0.7).max() <= stairs.rules.edge_m
    assert np.ptp(edges_by_seed[:, 0]) > 0.015
    assert edges(stairs.field("random", 7)) == pytest.approx(edges_by_seed[7])


def test_the_stairs_are_a_centimetre_wider_in_2017():
    widths = [
        {shape.size_m[1] for shape in contest(name).field("", 0).shapes if shape.role is Role.STEP}
        for name in ("stairs", "stairs-2017")
    ]
    assert widths == [{0.99}, {1.0}]


def test_what_cannot_be_drawn_is_refused():
    with pytest.raises(InputError, match="no layout"):
        Stairs().field("example_1", 0)
    with pytest.raises(InputError, match="negative"):
        Stairs().field("", -1)


@pytest.fixture(scope="module")
def fallen(tmp_path_factory: pytest.TempPathFactory) -> pw.Outcome:
    """A robot that knows no stairs walks into them, for 30 s: it falls, again and again."""
    folder = tmp_path_factory.mktemp("stairs")
    text = Stairs().rules_text.replace("limit_s: 300", "limit_s: 30").replace("rise_s: 10", "rise_s: 2")
    (folder / "short.rules.yaml").write_text(text)
    (folder / "short.trial.yaml").write_text(
        "trial: short\nrobot: robotis_bioloid\nbehaviour: obstacle_race\n"
        "contest: {name: stairs, rules: short.rules.yaml}\n"
    )
    return pw.run_trial(folder / "short.trial.yaml")


def test_who_does_not_get_up_is_halted_and_then_put_back_for_a_further_try(fallen):
    events = fallen.recording.events
    kinds = [event.kind for event in events if event.kind in {"fall", HALT, "touch", NEW_TRY}]
    assert kinds[:4] == ["fall", HALT, "touch", NEW_TRY]
    at = {event.kind: event.time_s for event in reversed(events)}
    assert at[HALT] - at["fall"] == pytest.approx(1.5, abs=0.15)
    assert at["touch"] - at[HALT] == pytest.approx(1.5, abs=0.15)
    placed = next(event for event in events if event.kind == NEW_TRY)
    row = int(np.searchsorted(fallen.recording.times, placed.time_s + 0.05))
    base = fallen.recording.robot().base[row]
    assert base[:2] == pytest.approx([placed.data["x_m"], placed.data["y_m"]], abs=0.01)


def test_the_judge_counts_what_the_referee_did(fallen):
    touches = [event.time_s for event in fallen.recording.events_of("touch")]
    penalties_s = [penalty.time_s for penalty in fallen.score.penalties if penalty.reason == "fall"]
    assert touches
    assert penalties_s[: len(touches)] == touches
    assert not fallen.score.arrived
    assert fallen.score.reason == "time out"


class Hands:
    """A person beside the stairs who puts a robot somewhere; here nobody, for the story goes on as told."""

    def __init__(self) -> None:
        self.put: list[tuple[float, float, float]] = []

    def place_robot(self, x_m: float, y_m: float, yaw_rad: float) -> None:
        self.put.append((x_m, y_m, yaw_rad))


def refereed(case: str) -> tuple[Recording, list[Event], Hands]:
    """Let a referee watch a story as it is told, until it says that the run is over."""
    recording = recording_of(CASES / case)
    hands = Hands()
    events = []
    record = recording.robot()
    stairs = Stairs()
    referee = stairs.referee(stairs.field("", 0), {"soles": hands}, events.append)
    for begin in range(0, len(recording.times), 4):
        rows = slice(begin, begin + 4)
        names = ("base", "footprints", "foot_contacts", "box_contacts")
        truth = GroundTruth(
            **{name: getattr(record, name)[rows] for name in names}, boxes=recording.boxes[rows]
        )
        angles = record.positions[rows]
        if referee.watch(block_of(JointStates(recording.times[rows], angles, angles, truth), angles)):
            break
    return recording, events, hands


def test_a_referee_who_stops_at_the_arrival_agrees_with_the_judge():
    """It looks at the ends of blocks, and waits whether the robot stays on its feet."""
    recording, events, hands = refereed("all_six_steps")
    arrived_s = judge(recording).to_dict()["ended_at_s"]
    assert [(event.kind, event.data["reason"]) for event in events] == [("stop", "arrived")]
    assert 0.5 <= events[0].time_s - arrived_s <= 0.8
    assert hands.put == []


def test_who_lies_on_the_second_step_is_put_there_again():
    _, events, hands = refereed("lies_to_the_end")
    first = next(event for event in events if event.kind == "touch")
    assert first.data["step"] == 2
    x_m, y_m, yaw_rad = hands.put[0]
    assert (x_m, y_m, yaw_rad) == pytest.approx((1.0277, 0.0, 0.0), abs=1e-6)


def test_nobody_is_put_back_who_gets_up_by_itself():
    _, events, hands = refereed("falls_and_gets_up_by_itself")
    assert [event.kind for event in events] == ["fall", "stop"]
    assert hands.put == []


def test_the_picture_shows_steps_and_penalties():
    recording = recording_of(CASES / "hand_on_a_step")
    picture = Stairs().picture(recording)
    assert [mark.label for mark in picture.marks] == [
        "step 1", "hand", *(f"step {step}" for step in range(2, 7))
    ]  # fmt: skip
    assert picture.headline == "6 steps, 1 penalties, 20.5 s"


def test_a_recording_without_contacts_is_judged_by_what_people_noted():
    recording = recording_of(CASES / "hand_told_by_a_person")
    robots = {name: dataclasses.replace(record, contacts=None) for name, record in recording.robots.items()}
    score = judge(dataclasses.replace(recording, robots=robots))
    assert [penalty.reason for penalty in score.penalties] == ["hand"]
    assert score.warnings == ("no contacts were recorded: touches of hands count only as events `hand`",)


def without_a_step(shapes):
    return [shape for shape in shapes if shape["name"] != "step_3"]


def farther_off(shapes):
    return [{**shape, "x": shape["x"] + 0.05} for shape in shapes]


def narrower(shapes):
    return [{**shape, "size_m": [shape["size_m"][0], 0.5, shape["size_m"][2]]} for shape in shapes]


def of_walls(shapes):
    return [shape for shape in shapes if shape["role"] == "wall"]


@pytest.mark.parametrize(
    ("change", "message"),
    [(without_a_step, "5 edges"), (farther_off, "edges"), (narrower, "wide"), (of_walls, "no stairs")],
)
def test_other_stairs_are_refused(change, message):
    recording = recording_of(CASES / "all_six_steps")
    field = dict(recording.header.arena)
    header = dataclasses.replace(recording.header, arena={**field, "shapes": change(field["shapes"])})
    with pytest.raises(InputError, match=message):
        Stairs().judge(dataclasses.replace(recording, header=header))


def test_who_nobody_saw_cannot_be_judged():
    recording = recording_of(CASES / "all_six_steps")
    record = recording.robot()
    lost = record.base.copy()
    lost[100:200] = np.nan
    robots = {"robot": dataclasses.replace(record, base=lost)}
    with pytest.raises(InputError, match="where the robot's base"):
        judge(dataclasses.replace(recording, robots=robots))
