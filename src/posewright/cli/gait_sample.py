"""`posewright gait sample`: a gait at one command as a motion file, or as a table."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated

from posewright import formats, gaits, motions, robots
from posewright.cli.console import print_result, print_warning
from posewright.cli.gait_options import (
    Forward,
    GaitName,
    Left,
    RobotOption,
    Sets,
    Turn,
    open_gait,
)
from posewright.cli.options import (
    AcceptLoss,
    AsJson,
    option,
    report_losses,
    require_distinct_output,
    write_samples,
)

TABLE = ".csv"

EQUAL_S = 1e-6  # lengths that differ by less are the same [s]


MotionOrTable = Annotated[
    Path | None,
    option(
        "--output -o FILE",
        "A motion, as the name says: .motion.yaml, .mtn, .h, .mot, .motion; or a table: .csv. "
        "Default: the table to stdout.",
    ),
]
Cycles = Annotated[
    int | None,
    option(
        "--cycles N",
        "Write so many cycles one after the other; default one, which repeats for ever where the "
        "format can say so.",
    ),
]
Every = Annotated[
    int | None,
    option(
        "--every N", "A keyframe every so many frames; default every frame that the format can tell apart."
    ),
]
LeadIn = Annotated[bool, option("--lead-in", "Begin in the gait's stance, not amid the walk.")]
From = Annotated[
    str | None, option("--from POSE", "Begin in this pose of the robot: stand, sit, ...; with the lead-in.")
]
To = Annotated[str | None, option("--to POSE", "Come to a stand, and end in this pose of the robot.")]


@dataclass(frozen=True)
class SampleOptions:
    """How a gait is sampled.

    Attributes:
        command: what it is asked for.
        cycles: how many, one after the other; None for one, for ever where the format can say so.
        every: a keyframe every so many frames; None for as many as the format can tell apart.
        lead_in: whether it begins in the gait's stance.
        from_pose: the pose it begins in; None for none in particular.
        to_pose: the pose it comes to a stand and ends in; None for none.
    """

    command: gaits.VelocityCommand
    cycles: int | None
    every: int | None
    lead_in: bool
    from_pose: str | None
    to_pose: str | None

    @property
    def has_ends(self) -> bool:
        """Whether it begins or ends otherwise than amid the walk, and so is no walk for ever."""
        return self.lead_in or self.from_pose is not None or self.to_pose is not None

    def sampled(
        self, gait: gaits.Gait, robot: robots.Robot, *, cycles: int | None, every: int
    ) -> motions.Motion:
        """Return the motion of so many cycles, every so many frames."""
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
    gait: GaitName,
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
    robot: RobotOption = None,
    sets: Sets = None,
    as_json: AsJson = False,
) -> None:
    """Sample a gait at one command: a motion for files and players that know only keyframes, or a table.

    [bold]Examples[/]
      posewright gait sample trot --forward 0.2 -o ahead.motion.yaml
      posewright gait sample trot --forward 0.1 --cycles 4 --from stand --to stand -o walk.mtn
      posewright gait sample trot --turn 1 --cycles 4 --lead-in -o turn.mtn
      posewright gait sample crawl --left 0.05 --cycles 2 -o EKMoves.h
      posewright gait sample trot --forward 0.1 > cycle.csv
    """
    opened, card = open_gait(gait, robot, sets)
    require_distinct_output(output, opened.path)
    command = gaits.VelocityCommand(forward, left, turn)
    options = SampleOptions(command, cycles, every, lead_in, from_pose, to_pose)
    if output is None or output.name.lower().endswith(TABLE):
        write_samples(_samples(opened, card, options), {"gait": opened.name}, output, as_json=as_json)
        return
    motion = _motion(opened, card, options, output)
    losses = _write(motion, output, accept_loss=accept_loss)
    rounded = _rounded(motion, card, output, opened, has_ends=options.has_ends)
    format_name = formats.format_for(motion, output).name
    data = {
        "gait": opened.name,
        **options.command.by_name,
        "file": str(output),
        "format": format_name,
        "keyframes": len(motion.keyframes),
        "duration_s": round(motion.duration, 9),
        "repeat": motion.repeat,
        "losses": list(losses),
        "rounded": rounded,
    }
    size = f"{len(motion.keyframes)} keyframes, {motion.duration:.3f} s"
    lines = [f"{opened.name}: {size} -> {output} ({format_name})"]
    lines += [] if rounded is None else [f"  rounded: {rounded}"]
    print_result(data, lines, as_json=as_json)


def _rounded(
    motion: motions.Motion, robot: robots.Robot, output: Path, gait: gaits.Gait, *, has_ends: bool
) -> str | None:
    """Return how the file's length differs from the walk's, and how many cycles fit; None if it does not."""
    step_s = formats.format_for(motion, output).quantum.time_s
    if step_s is None:
        return None
    written_s = formats.read_motion(output, robot=robot).duration
    if abs(written_s - motion.duration) < EQUAL_S:
        return None
    told = f"{motion.duration:.3f} s to {written_s:.3f} s, in frames of {1e3 * step_s:g} ms"
    frames = gaits.timing_of(gait.parameters, robot.frame_period_s).frames
    every = round(step_s / robot.frame_period_s)
    total = round(motion.duration / robot.frame_period_s)
    more = next((n for n in range(1, every + 1) if (total + n * frames) % every == 0), None)
    if more is None:
        return told
    if has_ends:
        return f"{told}; {'1 cycle more fits' if more == 1 else f'{more} cycles more fit'} exactly"
    return f"{told}; --cycles {total // frames + more} fits exactly"


def _samples(gait: gaits.Gait, robot: robots.Robot, options: SampleOptions) -> motions.SampleTable:
    step = 1 if options.every is None else options.every
    cycles = 1 if options.cycles is None else options.cycles
    motion = options.sampled(gait, robot, cycles=cycles, every=step)
    return motions.sample_motion(motion, robot, rate_hz=1.0 / (robot.frame_period_s * step))


def _motion(gait: gaits.Gait, robot: robots.Robot, options: SampleOptions, output: Path) -> motions.Motion:
    """Return the motion as the format of the file can hold it, called after the file."""
    cycles = options.cycles
    every = options.every
    known = _format(gait, robot, output)
    if cycles is None and (options.has_ends or known.name != formats.NATIVE):
        cycles = 1
    if every is None:
        step_s = known.quantum.time_s or 0.0
        every = max(1, math.ceil(step_s / robot.frame_period_s - 1e-9))
    motion = options.sampled(gait, robot, cycles=cycles, every=every)
    return replace(motion, name=output.name.split(".")[0] or gait.name)


def _format(gait: gaits.Gait, robot: robots.Robot, output: Path) -> formats.MotionFormat:
    """Return the format of the file, which the file's name and the robot tell: standing still is enough."""
    standing = motions.Keyframe(motions.Pose(robot.joint_names, robot.pose(gait.pose)), 0.0)
    return formats.format_for(motions.Motion(gait.name, robot.name, robot.joint_names, (standing,)), output)


def _write(motion: motions.Motion, output: Path, *, accept_loss: bool) -> tuple[str, ...]:
    """Write a motion, and return what of it the format lost, which is said too."""
    with report_losses(f"the walk cannot be said wholly in {output.name}: nothing is written"):
        losses = tuple(formats.write_motion(motion, output, accept_loss=accept_loss))
    for loss in losses:
        print_warning(f"lost: {loss}")
    return losses
