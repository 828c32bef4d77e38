"""`posewright gait sample`: writes a gait with a constant command as a motion file or as a table."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated

from posewright import formats, gaits, hazards, motions, robots
from posewright.cli.console import print_result, print_warning
from posewright.cli.gait_options import (
    Forward,
    GaitName,
    Left,
    ParameterSettings,
    RobotOption,
    Turn,
    open_gait,
)
from posewright.cli.options import (
    TABLE_ENDINGS,
    AcceptFaults,
    AcceptLoss,
    AsJson,
    option,
    print_accepted_faults,
    report_faults,
    report_losses,
    require_distinct_output,
    write_samples,
)

FRAME_ROUNDING = 1e-9  # tolerance of a number of frames

DURATION_TOLERANCE_S = 1e-6  # durations that differ by less are equal [s]


MotionOrTable = Annotated[
    Path | None,
    option(
        "--output -o FILE",
        "A motion file (.motion.yaml, .mtn, .h, .mot, .motion) or a table (.csv). "
        "Default: the table, to stdout.",
    ),
]
Cycles = Annotated[
    int | None,
    option(
        "--cycles N",
        "How many cycles to write. Default: one, which repeats for ever if the format can express that.",
    ),
]
Every = Annotated[
    int | None,
    option(
        "--every N", "Write a keyframe every N frames. Default: as often as the format's time step allows."
    ),
]
LeadIn = Annotated[bool, option("--lead-in", "Begin standing in the gait's stance, not in mid-walk.")]
From = Annotated[
    str | None, option("--from POSE", "Begin in this pose of the robot: stand, sit, ...; implies --lead-in.")
]
To = Annotated[str | None, option("--to POSE", "Stop at the end, in this pose of the robot.")]


@dataclass(frozen=True)
class SampleOptions:
    """How a gait is sampled.

    Attributes:
        command: velocity command of the gait.
        cycles: number of cycles; None for one that repeats for ever if the format can express that.
        every: frames between keyframes; None for as few as the format's time step allows.
        lead_in: whether the motion begins in the gait's stance.
        from_pose: name of the first pose; None for any.
        to_pose: name of the pose in which the walk stops; None if it does not stop.
    """

    command: gaits.VelocityCommand
    cycles: int | None
    every: int | None
    lead_in: bool
    from_pose: str | None
    to_pose: str | None

    @property
    def has_ends(self) -> bool:
        """Whether the motion begins or ends outside the walk, and so cannot repeat."""
        return self.lead_in or self.from_pose is not None or self.to_pose is not None

    def sample(
        self, gait: gaits.ParametricGait, robot: robots.Robot, *, cycles: int | None, every: int
    ) -> motions.Motion:
        """Return the motion with this many cycles and frames between keyframes."""
        return gaits.sample_gait(
            gait,
            robot,
            command=self.command,
            cycles=cycles,
            every_frames=every,
            lead_in=self.lead_in,
            from_pose=self.from_pose,
            to_pose=self.to_pose,
        )


def sample(
    gait_name: GaitName,
    forward: Forward = 0.0,
    left: Left = 0.0,
    turn: Turn = 0.0,
    output: MotionOrTable = None,
    cycles: Cycles = None,
    every: Every = None,
    lead_in: LeadIn = False,
    from_pose: From = None,
    to_pose: To = None,
    accept_loss: AcceptLoss = False,
    accept_faults: AcceptFaults = False,
    robot_name: RobotOption = None,
    settings: ParameterSettings = None,
    as_json: AsJson = False,
) -> None:
    """Write a gait with a constant command as a motion, for players that know only keyframes, or as a table.

    [bold]Examples[/]
      posewright gait sample trot --forward 0.2 -o ahead.motion.yaml
      posewright gait sample trot --forward 0.1 --cycles 4 --from stand --to stand -o walk.mtn
      posewright gait sample trot --turn 1 --cycles 4 --lead-in -o turn.mtn
      posewright gait sample crawl --left 0.05 --cycles 2 -o EKMoves.h
      posewright gait sample trot --forward 0.1 > cycle.csv
    """
    gait, robot = open_gait(gait_name, robot_name, settings)
    require_distinct_output(output, gait.path)
    command = gaits.VelocityCommand(forward, left, turn)
    options = SampleOptions(command, cycles, every, lead_in, from_pose, to_pose)
    if output is None or output.name.lower().endswith(TABLE_ENDINGS):
        write_samples(_sample_table(gait, robot, options), {"gait": gait.name}, output, as_json=as_json)
        return
    motion = _sample_for_file(gait, robot, options, output)
    faults: tuple[str, ...] = ()
    if formats.format_for(motion, output).is_played_by_robots:
        faults = hazards.find_faults(motion, robot)
    losses_message = f"{output.name} cannot hold the whole walk; nothing is written"
    with report_losses(losses_message), report_faults():
        hazards.require_no_faults(faults, motion.name, accept_faults=accept_faults)
        losses = tuple(formats.write_motion(motion, output, accept_loss=accept_loss))
    for loss in losses:
        print_warning(f"lost: {loss}")
    print_accepted_faults(faults)
    rounding = _describe_rounding(motion, robot, output, gait, has_ends=options.has_ends)
    format_name = formats.format_for(motion, output).name
    data = {
        "gait": gait.name,
        **options.command.by_name,
        "file": str(output),
        "format": format_name,
        "keyframes": len(motion.keyframes),
        "duration_s": round(motion.duration, 9),
        "repeat": motion.repeat,
        "losses": list(losses),
        "faults": list(faults),
        "rounded": rounding,
    }
    size = f"{len(motion.keyframes)} keyframes, {motion.duration:.3f} s"
    lines = [f"{gait.name}: {size} -> {output} ({format_name})"]
    if rounding is not None:
        lines.append(f"  rounded: {rounding}")
    print_result(data, lines, as_json=as_json)


def _describe_rounding(
    motion: motions.Motion, robot: robots.Robot, output: Path, gait: gaits.ParametricGait, *, has_ends: bool
) -> str | None:
    """Return how the file's duration differs from the motion's, and how many cycles would fit exactly.

    None if the durations are equal.
    """
    step_s = formats.format_for(motion, output).quantum.time_s
    if step_s is None:
        return None
    pages = formats.read_motion_file(output, robot=robot).motions  # a long motion continues from page to page
    written_s = sum(page.duration for page in pages)
    if abs(written_s - motion.duration) < DURATION_TOLERANCE_S:
        return None
    change = f"{motion.duration:.3f} s to {written_s:.3f} s, in frames of {1e3 * step_s:g} ms"
    step_frames = step_s / robot.frame_period_s
    if abs(step_frames - round(step_frames)) > FRAME_ROUNDING:  # then no whole cycle may fit
        return change
    cycle_frames = gait.cycle(robot).n_frames
    total_frames = round(motion.duration / robot.frame_period_s)
    n_extra = _count_extra_cycles(total_frames, cycle_frames, round(step_frames))
    if n_extra is None:
        return change
    if not has_ends:
        return f"{change}; --cycles {total_frames // cycle_frames + n_extra} fits exactly"
    return f"{change}; {'1 cycle more fits' if n_extra == 1 else f'{n_extra} cycles more fit'} exactly"


def _count_extra_cycles(total_frames: int, cycle_frames: int, step_frames: int) -> int | None:
    """Return how many more cycles make a motion a multiple of a file's time step; None if no number does.

    Args:
        total_frames: duration of the motion, in frames of the robot.
        cycle_frames: duration of a cycle, in such frames.
        step_frames: the file's time step, in such frames.
    """
    for n_extra in range(1, step_frames + 1):  # then the remainders repeat
        if (total_frames + n_extra * cycle_frames) % step_frames == 0:
            return n_extra
    return None


def _sample_table(
    gait: gaits.ParametricGait, robot: robots.Robot, options: SampleOptions
) -> motions.SampleTable:
    """Return a walk as a table, by default of one cycle with a row for each frame."""
    step_frames = 1 if options.every is None else options.every
    cycles = 1 if options.cycles is None else options.cycles
    motion = options.sample(gait, robot, cycles=cycles, every=step_frames)
    return motions.sample_motion(motion, robot, rate_hz=1.0 / (robot.frame_period_s * step_frames))


def _sample_for_file(
    gait: gaits.ParametricGait, robot: robots.Robot, options: SampleOptions, output: Path
) -> motions.Motion:
    """Return the motion in steps that the file's format can hold, named after the file."""
    file_format = _find_format(gait, robot, output)
    cycles = options.cycles
    can_repeat = file_format.name in {formats.NATIVE, formats.ROBOPLUS_TEXT}
    if cycles is None and (options.has_ends or not can_repeat):
        cycles = 1
    every = options.every
    if every is None:
        step_s = file_format.quantum.time_s or 0.0
        every = max(1, math.ceil(step_s / robot.frame_period_s - FRAME_ROUNDING))
    motion = options.sample(gait, robot, cycles=cycles, every=every)
    return replace(motion, name=output.name.split(".")[0] or gait.name)


def _find_format(gait: gaits.ParametricGait, robot: robots.Robot, output: Path) -> formats.MotionFormat:
    """Return the format of a file, which depends on its name and on the robot."""
    standing_pose = motions.Pose(robot.joint_names, robot.pose(gait.pose))
    standing = motions.Keyframe(standing_pose, reach_s=0.0)
    motion = motions.Motion(
        gait.name, robot=robot.name, joints=robot.joint_names, keyframes=(standing,), card=robot
    )
    return formats.format_for(motion, output)
