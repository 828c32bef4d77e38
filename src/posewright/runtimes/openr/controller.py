"""OPEN-R objects as a controller of any body."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from posewright.arrays import Floats
from posewright.bodies import BodyState, Decision, JointCommands
from posewright.control import Controller
from posewright.robots import Robot
from posewright.runtimes.openr.commander import CommandPrompt, CommandSender
from posewright.runtimes.openr.connections import ConnectConfig
from posewright.runtimes.openr.kernel import LogEntry
from posewright.runtimes.openr.regions import MICRO_PER_UNIT
from posewright.runtimes.openr.services import OObject
from posewright.runtimes.openr.system import ANSWER_WITHIN_S, System
from posewright.runtimes.openr.virtual_robot import OVirtualRobotComm

EVENT = "openr"
"""The kind of events of OPEN-R objects in a recording; their field `what` is the kind of a log entry."""


class OpenRController(Controller):
    """Drives a robot by OPEN-R objects.

    Each call returns the frames up to the next one at which an object can receive a message. The messages are
    in the decisions, and so in a recording, as events `openr`.

    Args:
        robot: the robot whose joints they move.
        make_objects: creates all objects but `OVirtualRobotComm`, which is created here and starts first;
            called again at each restart.
        config: their connections.
        pose: initial angles of the joints, `(n_joints,)` [rad].
        prompt: reads further commands for Commander from the user when the objects are idle; the robot's time
            does not advance meanwhile.
        answer_within_s: an observer that does not answer for so long is reported [s].

    Attributes:
        is_over: whether the prompt returned the end of input.

    Raises:
        FormatError: the connections do not fit the objects, or no object knows a command of the script.
        InputError: two objects have one name, or the robot is not an OPEN-R robot.
    """

    def __init__(
        self,
        robot: Robot,
        make_objects: Callable[[], Sequence[OObject]],
        config: ConnectConfig,
        pose: Floats,
        *,
        prompt: CommandPrompt | None = None,
        answer_within_s: float = ANSWER_WITHIN_S,
    ) -> None:
        self._robot = robot
        self._make_objects = make_objects
        self._config = config
        self._pose = pose
        self._prompt = prompt
        self._answer_within_s = answer_within_s
        self.restart()

    def restart(self) -> None:
        """Restart the program: all objects are created again, and start when the next frame begins."""
        objects = tuple(self._make_objects())
        self._virtual_robot = OVirtualRobotComm(self._robot, self._pose)
        self.system = System(
            self._robot, (self._virtual_robot, *objects), self._config, answer_within_s=self._answer_within_s
        )
        self._commander = next((item for item in objects if isinstance(item, CommandSender)), None)
        if self._commander is not None:
            self._commander.check()
        self.is_over = False
        self._has_started = False

    @property
    def is_idle(self) -> bool:
        """Whether no joint is being moved, no call is scheduled, and no answer is missing."""
        return not self._virtual_robot.is_moving and self.system.n_frames_until_event is None

    def next(self, state: BodyState, n: int) -> JointCommands:
        """Return the frames up to the next one at which an object can receive a message.

        In order: start the objects at the first call, or prompt for commands if all are idle; deliver
        messages; then return as many frames as no vector, alarm or prompt ends.
        """
        openr = self.system.openr
        openr.update(state)
        if not self._has_started:
            self._has_started = True
            self.system.start()
            self._log_unconnected_subjects()
        elif self._commander is not None and self._prompt is not None and self.is_idle and not self.is_over:
            self.is_over = not self._commander.read_commands(self._prompt)
        self._virtual_robot.update(state)
        self.system.run()
        max_frames = [n]
        if self._virtual_robot.n_frames_left is not None:
            max_frames.append(self._virtual_robot.n_frames_left)
        if self.system.n_frames_until_event is not None:
            max_frames.append(self.system.n_frames_until_event)
        if self._prompt is not None and self.is_idle:
            max_frames.append(1)  # a viewer shows the last frame before the next prompt
        rows = self._virtual_robot.play_frames(max(1, min(max_frames)))
        openr.frame += len(rows)
        return JointCommands(np.asarray(rows / MICRO_PER_UNIT), decision=self._decision())

    def _log_unconnected_subjects(self) -> None:
        """Log a message for each subject of an object that no line of CONNECT.CFG connects."""
        _virtual_robot, *own_objects = self.system.objects
        for openr_object in own_objects:
            for subject in openr_object.subjects.values():
                if not subject.connections:
                    openr_object.syslog(
                        f"{subject.name.short_name} leads nowhere: no line of CONNECT.CFG begins with it"
                    )

    def _decision(self) -> Decision | None:
        """Return the states of the objects and the log's new entries as a decision; None without new ones."""
        entries = self.system.openr.log_entries
        if not entries:
            return None
        self.system.openr.log_entries = []
        states = {item.name: item.state for item in self.system.objects if item.state}
        if len(states) == 1:
            text = " ".join(states.values())
        else:
            text = " ".join(f"{name}:{state}" for name, state in states.items())
        events = tuple((EVENT, {**entry.data, "what": entry.kind}) for entry in entries)
        return Decision(text, outputs=states, events=events)


def log_entry_of(time_s: float, data: Mapping[str, object]) -> LogEntry:
    """Return the log entry in the data of a recorded event of the kind `EVENT`."""
    fields = {name: value for name, value in data.items() if name != "what"}
    return LogEntry(time_s, str(data.get("what", "")), fields)
