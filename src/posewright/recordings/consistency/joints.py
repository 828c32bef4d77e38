"""Checks of joints: commands within the safety filter's limits, and what servos can do."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from posewright.arrays import Flags, Floats
from posewright.recordings.consistency.inconsistency import Inconsistency
from posewright.recordings.consistency.recorded_robot import RecordedRobot
from posewright.robots import Robot

_ANGLE_TOLERANCE_RAD = 1e-4
_COMMAND_SPEED_TOLERANCE = 1.02
_SIMULATED_SPEED_TOLERANCE = 1.3
_MEASURED_SPEED_TOLERANCE = 2.0
"""How much faster than its servo without load a joint may be pushed; measurements are noisy."""

_RANGE_TOLERANCE_RAD = 0.15
"""How far a joint may be pushed beyond the stops of its mechanism [rad]."""

_TORQUE_TOLERANCE = 1.1
_MIN_ROWS = 10
"""Of fewer rows, nothing is concluded from what never happens in them."""

_JOINT_LIMIT = "joint limit"


def check_robot(robot: RecordedRobot) -> Iterator[Inconsistency]:
    """Yield an inconsistency if the rows of a simulated robot cannot be those of the header's robot."""
    if not robot.is_simulated or not len(robot.times):
        return
    record = robot.record
    if robot.has_other_joints:
        message = f"{robot.name} is {record.header.robot!r:.60} by the header, but has other joints"
        yield Inconsistency("robot", message)
    if len(robot.times) < _MIN_ROWS or (record.free is not None and record.free.all()):
        return
    if not np.nan_to_num(record.efforts).any():
        message = f"no servo of {robot.name} ever has a torque, but a robot has a weight"
        yield Inconsistency("joint-torque", message)
    if np.ptp(record.positions, axis=0).any() and np.array_equal(record.commands, record.positions):
        message = f"the joints of {robot.name} are exactly where they are commanded, in every row"
        yield Inconsistency("joint-lag", message)


def check_commands(robot: RecordedRobot) -> Iterator[Inconsistency]:
    """Yield an inconsistency if commands of a contest exceed the limits that the safety filter enforces."""
    if robot.card is None or not robot.recording.header.contest or not len(robot.times):
        return
    record = robot.record
    names = record.header.joints
    lower, upper = robot.card.limits
    is_free = np.zeros(record.commands.shape, dtype=np.bool_) if record.free is None else record.free
    excess = np.maximum(lower - record.commands, record.commands - upper)
    excess[is_free] = 0.0
    if (worst := _find_worst(excess, _ANGLE_TOLERANCE_RAD)) is not None:
        row, joint = worst
        message = f"{robot.name} commands {names[joint]} beyond its limit, which the safety filter prevents"
        yield Inconsistency("command-limit", message, float(robot.times[row]))
    commands_from_start = np.concatenate([record.start_positions[None], record.commands])
    row_durations_s = np.diff(robot.times, prepend=0.0)
    commanded_speeds = np.abs(np.diff(commands_from_start, axis=0)) / row_durations_s[:, None]
    speed_ratios = commanded_speeds / robot.card.max_speeds
    speed_ratios[_is_free_around(is_free)] = 0.0
    if (worst := _find_worst(speed_ratios, _COMMAND_SPEED_TOLERANCE)) is not None:
        row, joint = worst
        message = (
            f"{robot.name} commands {names[joint]} {speed_ratios[worst]:.1f} times as fast as "
            "its servo turns, which the safety filter prevents"
        )
        yield Inconsistency("command-speed", message, float(robot.times[row]))


def _is_free_around(is_free: Flags) -> Flags:
    """Return where a joint is free in a row or in the one before, `(n, n_joints)`."""
    was_free_before = np.concatenate([is_free[:1], is_free[:-1]])
    return np.asarray(is_free | was_free_before)


def _find_worst(values: Floats, limit: float) -> tuple[int, int] | None:
    """Return row and joint of the greatest value `(n, n_joints)`; None if none exceeds the limit."""
    values = np.nan_to_num(values)
    if not values.size or values.max() <= limit:
        return None
    row, joint = np.unravel_index(int(values.argmax()), values.shape)
    return int(row), int(joint)


def check_movement(robot: RecordedRobot) -> Iterator[Inconsistency]:
    """Yield an inconsistency for joints that move faster, farther or with more torque than they can."""
    card = robot.card
    if card is None or len(robot.times) < 2:
        return
    yield from _check_speeds(robot, card)
    if not robot.is_simulated:
        return
    record = robot.record
    names = record.header.joints
    lower, upper = card.hardware_limits
    excess = np.maximum(lower - record.positions, record.positions - upper)
    if (worst := _find_worst(excess, _RANGE_TOLERANCE_RAD)) is not None:
        row, joint = worst
        excess_deg = np.degrees(excess[worst])
        message = f"{names[joint]} of {robot.name} is {excess_deg:.0f} degrees beyond its stop"
        yield Inconsistency("joint-range", message, float(robot.times[row]))
    stall_torques_nm = np.array([servo.stall_torque_nm for servo in card.servos])
    torque_ratios = np.abs(record.efforts) / stall_torques_nm
    if (worst := _find_worst(torque_ratios, _TORQUE_TOLERANCE)) is not None:
        row, joint = worst
        ratio = torque_ratios[worst]
        message = f"{names[joint]} of {robot.name} has {ratio:.1f} times the torque that its servo has"
        yield Inconsistency("joint-torque", message, float(robot.times[row]))


def _check_speeds(robot: RecordedRobot, card: Robot) -> Iterator[Inconsistency]:
    """Yield an inconsistency for the joint that exceeds its servo's speed most.

    In such a recording the times may have been compressed.
    """
    record = robot.record
    paths = np.concatenate([record.start_positions[None], record.positions])
    steps_s = np.diff(robot.times, prepend=0.0)
    speeds = np.abs(np.diff(paths, axis=0)) / steps_s[:, None] / card.max_speeds
    speeds[1:][~robot.is_continuous] = 0.0  # a robot that was put elsewhere did not turn its joints itself
    tolerance = _SIMULATED_SPEED_TOLERANCE if robot.is_simulated else _MEASURED_SPEED_TOLERANCE
    if (worst := _find_worst(speeds, tolerance)) is not None:
        row, joint = worst
        name = robot.record.header.joints[joint]
        message = f"{name} of {robot.name} turns {speeds[worst]:.1f} times as fast as its servo can"
        yield Inconsistency("joint-speed", message, float(robot.times[row]))


def check_safety(robot: RecordedRobot) -> Iterator[Inconsistency]:
    """Yield an inconsistency if a command differs from its request without an event of the safety filter."""
    record = robot.record
    if record.requests is None or not len(robot.times):
        return
    names = record.header.joints
    is_free = np.zeros(record.commands.shape, dtype=np.bool_) if record.free is None else record.free
    differs = np.abs(record.requests - record.commands) > _ANGLE_TOLERANCE_RAD
    differs &= ~is_free
    reported = {
        event.data.get("joint")
        for event in robot.recording.events_of("safety")
        if event.data.get("robot") in {None, robot.name}
    }
    for joint, name in enumerate(names):
        if name not in reported and differs[:, joint].any():
            row = int(differs[:, joint].argmax())
            message = (
                f"the command of {name} of {robot.name} is not the requested one, but no safety event says so"
            )
            yield Inconsistency("safety-event", message, float(robot.times[row]))
            return
