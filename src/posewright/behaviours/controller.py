"""A behaviour as a controller: at each tick the chart decides, in between its motion is played."""

from __future__ import annotations

from posewright.behaviours.behaviour import Behaviour
from posewright.behaviours.performer import Performer
from posewright.behaviours.runner import BehaviourRunner, Tick
from posewright.bodies import BodyState, Decision, JointCommands
from posewright.control import Schedule
from posewright.gaits import QuadrupedGait


class BehaviourController:
    """Lets a robot do what a behaviour says.

    The chart's tick k falls due at the first frame at or after k periods from the beginning.

    Args:
        behaviour: what to do; the robot stands in its start pose.
        seed: of inputs that are drawn by chance.
    """

    def __init__(self, behaviour: Behaviour, seed: int = 0) -> None:
        robot = behaviour.robot
        self.behaviour = behaviour
        self._runner = BehaviourRunner(behaviour, seed)
        gaits = {name: QuadrupedGait(gait, robot) for name, gait in behaviour.gaits.items()}
        self._performer = Performer(robot, behaviour.motions, gaits, behaviour.start_pose)
        self._schedule = Schedule(behaviour.chart.period_s, robot.frame_period_s)
        self._frame = self._ticks = self._due = 0

    def next(self, state: BodyState, n: int) -> JointCommands:
        """Return the frames up to the chart's next tick, or to where torque or stiffness change."""
        decision = None
        if self._frame == self._due:
            tick = self._runner.step(state, self._performer.playing)
            self._performer.request(tick.action)
            self._ticks += 1
            self._due = self._schedule.frame_of(self._ticks)
            decision = decision_of(tick)
        rows = self._performer.next(state, min(n, self._due - self._frame))
        self._frame += len(rows)
        return rows if decision is None else JointCommands(rows.angles, rows.free, rows.stiffness, decision)


def decision_of(tick: Tick) -> Decision:
    """Return what is recorded of a tick."""
    broken = tuple(("promise", {"promise": one.promise.name, "message": one.message}) for one in tick.broken)
    return Decision(tick.chart.state, tick.inputs, tick.outputs, tick.action.name, broken)
