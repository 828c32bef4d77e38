"""Forgeries of a recording, as a cheat with our own writer would make them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from posewright.arrays import Array
from posewright.recordings import Decisions, Event, Recording, RobotRecord
from posewright.rotation import quaternion_product

Forge = Callable[[Recording], Recording]
ROW_ARRAYS = ("positions", "commands", "efforts", "base", "footprints", "foot_contacts", "box_contacts")
OPTIONAL_ROW_ARRAYS = ("requests", "free", "slips")


def with_record(recording: Recording, **changes: Any) -> Recording:
    """Return a recording with other arrays of its first robot."""
    name, record = next(iter(recording.robots.items()))
    return replace(recording, robots={**recording.robots, name: replace(record, **changes)})


def with_header(recording: Recording, **changes: Any) -> Recording:
    return replace(recording, header=replace(recording.header, **changes))


def with_event(recording: Recording, time_s: float, kind: str, **data: Any) -> Recording:
    events = sorted((*recording.events, Event(time_s, kind, data)), key=lambda event: event.time_s)
    return replace(recording, events=tuple(events))


def without_events(recording: Recording, kind: str) -> Recording:
    return replace(recording, events=tuple(event for event in recording.events if event.kind != kind))


def select_rows(recording: Recording, rows: Array) -> Recording:
    """Return a recording with some of its rows, and all decisions and events."""
    robots = {}
    for name, record in recording.robots.items():
        names = [name for name in OPTIONAL_ROW_ARRAYS if getattr(record, name) is not None]
        arrays: dict[str, Any] = {name: getattr(record, name)[rows] for name in (*ROW_ARRAYS, *names)}
        robots[name] = replace(record, **arrays, contacts=None, lights=None)
    return replace(recording, times=recording.times[rows], boxes=recording.boxes[rows], robots=robots)


def select_decisions(decisions: Decisions, kept: list[int]) -> Decisions:
    texts: dict[str, Any] = {
        name: tuple(getattr(decisions, name)[i] for i in kept)
        for name in ("states", "inputs", "outputs", "playing")
    }
    sensors = {name: values[kept] for name, values in decisions.sensors.items()}
    return replace(decisions, times=decisions.times[kept], sensors=sensors, **texts)


def compress_time(recording: Recording, factor: int) -> Recording:
    """Return a recording whose clock runs faster, in rows, decisions and events."""
    robots = {
        name: replace(record, decisions=replace(record.decisions, times=record.decisions.times / factor))
        for name, record in recording.robots.items()
    }
    events = []
    for event in recording.events:
        data = {key: value / factor if key == "since_s" else value for key, value in event.data.items()}
        events.append(replace(event, time_s=event.time_s / factor, data=data))
    return replace(recording, times=recording.times / factor, robots=robots, events=tuple(events))


def compress_and_raise_rate(recording: Recording) -> Recording:
    return with_header(compress_time(recording, 4), rate_hz=4.0 * recording.header.rate_hz)


def compress_and_drop_rows(recording: Recording) -> Recording:
    return select_rows(compress_time(recording, 4), np.arange(3, recording.n_rows, 4))


def move(record: RobotRecord, offsets: Array, *, from_start: bool = False) -> dict[str, Any]:
    """Return base, soles, and perhaps the start of a robot moved by offsets `(n, 3)` or `(3,)` [m]."""
    offsets = np.broadcast_to(offsets, (len(record), 3))
    base = record.base.copy()
    base[:, :3] += offsets
    changes: dict[str, Any] = {"base": base, "footprints": record.footprints + offsets[:, None, None]}
    if from_start:
        start_base = record.start_base.copy()
        start_base[:3] += offsets[0]
        changes["start_base"] = start_base
    return changes


def teleport(recording: Recording) -> Recording:
    offsets = np.zeros((recording.n_rows, 3))
    offsets[recording.n_rows // 2 :, 0] = -0.4
    return with_record(recording, **move(recording.robot(), offsets))


def teleport_base_only(recording: Recording) -> Recording:
    base = recording.robot().base.copy()
    base[-40:, 0] += 0.05
    return with_record(recording, base=base)


def lift(recording: Recording) -> Recording:
    up = np.array((0.0, 0.0, 5.0))
    return with_record(recording, **move(recording.robot(), up, from_start=True))


def lift_without_contacts(recording: Recording) -> Recording:
    contacts = np.zeros_like(recording.robot().foot_contacts)
    return with_record(lift(recording), foot_contacts=contacts)


def start_nearer(recording: Recording) -> Recording:
    ahead = np.array((0.1, 0.0, 0.0))
    return with_record(recording, **move(recording.robot(), ahead, from_start=True))


def pass_through_wall(recording: Recording) -> Recording:
    offsets = np.zeros((recording.n_rows, 3))
    offsets[:, 1] = np.linspace(0.0, 4.0, recording.n_rows)
    return with_record(recording, **move(recording.robot(), offsets))


def glide(recording: Recording) -> Recording:
    offsets = np.zeros((recording.n_rows, 3))
    offsets[:, 1] = np.linspace(0.0, 0.6, recording.n_rows)
    return with_record(recording, **move(recording.robot(), offsets))


def remove_rows(recording: Recording) -> Recording:
    third = recording.n_rows // 3
    return select_rows(recording, np.r_[0:third, third + 40 : recording.n_rows])


def remove_first_rows(recording: Recording) -> Recording:
    return select_rows(recording, np.arange(40, recording.n_rows))


def move_header_boxes(recording: Recording) -> Recording:
    boxes = tuple((x + 0.4, y, yaw) for x, y, yaw in recording.header.boxes)
    return with_header(recording, boxes=boxes)


def move_row_boxes(recording: Recording) -> Recording:
    boxes = recording.boxes.copy()
    boxes[..., 1] += 0.4
    return replace(recording, boxes=boxes)


def move_all_boxes(recording: Recording) -> Recording:
    moved = move_row_boxes(recording)
    arena = dict(recording.header.arena)
    arena["boxes"] = [{**box, "y": box["y"] + 0.4} for box in arena["boxes"]]
    boxes = tuple((x, y + 0.4, yaw) for x, y, yaw in recording.header.boxes)
    return with_header(moved, arena=arena, boxes=boxes)


def remove_header_boxes(recording: Recording) -> Recording:
    contacts = recording.robot().box_contacts[:, :0]
    header = replace(recording.header, boxes=())
    robots = {name: replace(record, box_contacts=contacts) for name, record in recording.robots.items()}
    return replace(recording, header=header, boxes=recording.boxes[:, :0], robots=robots)


def remove_all_boxes(recording: Recording) -> Recording:
    bare = remove_header_boxes(recording)
    return with_header(bare, arena={**bare.header.arena, "boxes": []})


def jump_box(recording: Recording) -> Recording:
    boxes = recording.boxes.copy()
    boxes[recording.n_rows // 2 :, 0, 0] += 0.5
    return replace(recording, boxes=boxes)


def glide_box(recording: Recording) -> Recording:
    boxes = recording.boxes.copy()
    boxes[:, -1, 1] += np.minimum(np.arange(recording.n_rows) * 0.01, 0.4)
    return replace(recording, boxes=boxes)


def touch_far_box(recording: Recording) -> Recording:
    contacts = recording.robot().box_contacts.copy()
    contacts[10:20, -1] = True
    return with_record(recording, box_contacts=contacts)


def put_box_on_path(recording: Recording) -> Recording:
    boxes = recording.boxes.copy()
    boxes[:, 0, :2] = recording.robot().base[-1, :2]
    return replace(recording, boxes=boxes)


def turn_robot(recording: Recording) -> Recording:
    base = recording.robot().base.copy()
    half = recording.n_rows // 2
    quarter = np.array([[np.cos(0.3), 0.0, 0.0, np.sin(0.3)]])
    base[half:, 3:] = quaternion_product(np.repeat(quarter, len(base) - half, axis=0), base[half:, 3:])
    return with_record(recording, base=base)


def bend_joint(recording: Recording) -> Recording:
    positions = recording.robot().positions.copy()
    positions[recording.n_rows // 2, 6] += 0.5
    return with_record(recording, positions=positions)


def command_too_fast(recording: Recording) -> Recording:
    commands = recording.robot().commands.copy()
    commands[recording.n_rows // 2, 6] += 0.5
    return with_record(recording, commands=commands)


def change_requests(recording: Recording) -> Recording:
    return with_record(recording, requests=recording.robot().commands + 0.01)


def forget_decisions(recording: Recording) -> Recording:
    decisions = recording.robot().decisions
    half = len(decisions) // 2
    kept = [*range(half), *range(half + 12, len(decisions))]
    return with_record(recording, decisions=select_decisions(decisions, kept))


def rename_states(recording: Recording) -> Recording:
    decisions = recording.robot().decisions
    return with_record(recording, decisions=replace(decisions, states=("winning",) * len(decisions)))


def move_lines(recording: Recording) -> Recording:
    shapes = [
        {**shape, "x": shape["x"] - 0.3} if shape["role"] == "line" else shape
        for shape in recording.header.arena["shapes"]
    ]
    return with_header(recording, arena={**recording.header.arena, "shapes": shapes})


def change_stop(recording: Recording) -> Recording:
    stop = recording.events_of("stop")[0]
    reason = "time out" if stop.data["reason"] in {"finished", "touched"} else "finished"
    return with_event(without_events(recording, "stop"), stop.time_s, "stop", reason=reason)


def cut_out_middle(recording: Recording) -> Recording:
    """Return a recording without ten seconds in its middle, whose clock shows no gap."""
    begin_s, end_s = 20.0, 30.0
    (record,) = recording.robots.values()
    decisions = record.decisions
    kept = [i for i, time_s in enumerate(decisions.times.tolist()) if not begin_s < time_s <= end_s]
    decisions = select_decisions(decisions, kept)

    def shift(times: Array) -> Array:
        return np.where(times > end_s, times - (end_s - begin_s), times)

    cut = select_rows(recording, np.flatnonzero(~((recording.times > begin_s) & (recording.times <= end_s))))
    cut = with_record(cut, decisions=replace(decisions, times=shift(decisions.times)))
    events = tuple(replace(event, time_s=float(shift(np.array(event.time_s)))) for event in recording.events)
    return replace(cut, times=shift(cut.times), events=events)


def lengthen_strides(recording: Recording) -> Recording:
    (record,) = recording.robots.values()
    offsets = np.zeros((recording.n_rows, 3))
    offsets[:, 0] = 0.1 * (record.base[:, 0] - record.base[0, 0])
    return with_record(recording, **move(record, offsets))


def mirror(recording: Recording) -> Recording:
    (record,) = recording.robots.values()
    sides = np.array([1.0, -1.0, 1.0])
    base = record.base.copy()
    base[:, :3] *= sides
    return with_record(recording, base=base, footprints=record.footprints * sides)


def hold_sensors(recording: Recording) -> Recording:
    (record,) = recording.robots.values()
    sensors = {
        name: np.full_like(values, np.nanmax(values)) for name, values in record.decisions.sensors.items()
    }
    return with_record(recording, decisions=replace(record.decisions, sensors=sensors))


def rename(recording: Recording, **changes: str) -> Recording:
    """Return a recording whose robot's header says something else."""
    ((name, header),) = recording.header.robots.items()
    renamed = replace(header, **changes)
    changed = with_record(recording, header=renamed)
    return with_header(changed, robots={name: renamed})


def reverse_joints(recording: Recording) -> Recording:
    (record,) = recording.robots.values()
    return with_record(recording, positions=record.positions[::-1].copy())


def obey_exactly(recording: Recording) -> Recording:
    (record,) = recording.robots.values()
    return with_record(recording, commands=record.positions.copy(), requests=None)


def forget_weight(recording: Recording) -> Recording:
    (record,) = recording.robots.values()
    return with_record(recording, efforts=np.zeros_like(record.efforts))


def keep_feet_down(recording: Recording) -> Recording:
    (record,) = recording.robots.values()
    return with_record(recording, foot_contacts=np.ones_like(record.foot_contacts))


FORGERIES: dict[str, tuple[Forge, str]] = {
    "the clock runs four times as fast": (lambda race: compress_time(race, 4), "row-rate"),
    "the clock and the rate are four times as fast": (compress_and_raise_rate, "frame-clock"),
    "the clock is faster and rows are dropped": (compress_and_drop_rows, "decision-rate"),
    "the robot is teleported": (teleport, "base-jump"),
    "the base leaves its soles": (teleport_base_only, "sole-pose"),
    "rows are missing": (remove_rows, "row-gap"),
    "the first rows are missing": (remove_first_rows, "row-gap"),
    "the robot is 5 m up with its feet on the ground": (lift, "foot-contact"),
    "the robot is 5 m up and touches nothing": (lift_without_contacts, "floating"),
    "the boxes of the header are elsewhere": (move_header_boxes, "box-place"),
    "the boxes of the rows are elsewhere": (move_row_boxes, "box-place"),
    "all boxes are elsewhere": (move_all_boxes, "layout"),
    "the header has no boxes": (remove_header_boxes, "box-count"),
    "there are no boxes": (remove_all_boxes, "layout"),
    "the rate is 1000": (lambda race: with_header(race, rate_hz=1000.0), "row-rate"),
    "a far box is touched": (touch_far_box, "box-contact"),
    "no start": (lambda race: without_events(race, "start"), "start"),
    "no stop": (lambda race: without_events(race, "stop"), "stop"),
    "two starts": (lambda race: with_event(race, 0.0, "start"), "start"),
    "two stops": (lambda race: with_event(race, 3.0, "stop", reason="finished"), "stop"),
    "a fall of nobody": (lambda race: with_event(race, 3.0, "fall", since_s=2.5), "fall-event"),
    "a fall of a stranger": (lambda race: with_event(race, 3.0, "fall", robot="ghost"), "event-robot"),
    "a touch that moves nobody": (
        lambda race: with_event(race, 3.0, "touch", reason="fall", x_m=2.0, y_m=0.3),
        "event-place",
    ),
    "a box moved that stands still": (lambda race: with_event(race, 3.0, "box_moved", box=1), "box-event"),
    "the robot starts nearer": (start_nearer, "start-place"),
    "the robot passes through a wall": (pass_through_wall, "wall"),
    "the robot glides a little in every row": (glide, "standing"),
    "a box jumps": (jump_box, "box-jump"),
    "a box moves by itself": (glide_box, "box-moved"),
    "a box stands where the robot is": (put_box_on_path, "inside-box"),
    "the robot is turned": (turn_robot, "sensor-orientation"),
    "a joint is faster than its servo": (bend_joint, "joint-speed"),
    "a command is faster than safety allows": (command_too_fast, "command-speed"),
    "servos are three times as strong": (
        lambda race: with_record(race, efforts=race.robot().efforts * 3.0),
        "joint-torque",
    ),
    "requests differ without an event": (change_requests, "safety-event"),
    "feet never touch the ground": (
        lambda race: with_record(race, foot_contacts=np.zeros_like(race.robot().foot_contacts)),
        "sensor-contact",
    ),
    "decisions are missing": (forget_decisions, "decision-gap"),
    "decisions in an unknown state": (rename_states, "decision-state"),
    "the lines are nearer": (move_lines, "field"),
    "another seed": (lambda race: with_header(race, seed=race.header.seed + 1), "layout"),
    "the referee says something else": (change_stop, "stop-reason"),
    "ten seconds are cut out, and the clock goes on": (cut_out_middle, "joint-speed"),
    "strides are a tenth longer": (lengthen_strides, "stop-reason"),
    "left is right": (mirror, "sole-pose"),
    "sensors read the same all the time": (hold_sensors, "sensor-orientation"),
    "it is said to be another robot": (lambda r: rename(r, robot="hitec_robonova1"), "robot"),
    "it is said to be another behaviour": (
        lambda r: rename(r, controller="behaviour document_mealy"),
        "behaviour",
    ),
    "it is said to be another layout": (lambda r: with_header(r, layout="example_1"), "layout"),
    "joints move backwards in time": (reverse_joints, "sole-pose"),
    "joints obey exactly": (obey_exactly, "joint-lag"),
    "no servo has a torque": (forget_weight, "joint-torque"),
    "feet are always down": (keep_feet_down, "sensor-contact"),
}
"""By name: how a recording is forged, and the rule that the forgery breaks."""
