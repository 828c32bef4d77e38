"""MoNet: plays commands by their ID, after the motions that lead to the posture in which they begin.

Source: MoNet.cc of Sony's OPEN-R SDK; formats.md 1.3. MoNet assumes the posture `nt` at the start, and
afterwards the one in the name of the last motion. All agents of a command are notified at once, and begin in
the same frame; on the robot only a sync key guarantees that.

Additions of ours: nothing is played if a motion on the route is missing or damaged, or is the second of a
command; a result has a reason; and an item that could not be played changes no posture.
"""

from __future__ import annotations

import math
import re
from collections import deque
from dataclasses import replace
from typing import NamedTuple

from posewright.errors import FormatError, InputError, Where, escape_unprintable
from posewright.motions import Level
from posewright.robots import Robot
from posewright.runtimes.openr.kernel import OpenR
from posewright.runtimes.openr.monet.frames import Frames, motion_frames, require_playable_transition
from posewright.runtimes.openr.monet.messages import (
    MoNetAgentCommand,
    MoNetAgentResult,
    MoNetCommand,
    MoNetResult,
    MoNetStatus,
)
from posewright.runtimes.openr.regions import MICRO_PER_UNIT
from posewright.runtimes.openr.services import ONotifyEvent, OObject
from posewright.runtimes.openr.stick import MonetFinding, MonetSetup
from posewright.runtimes.openr.stick.check import (
    MAX_FINDINGS,
    PostureGraph,
    PostureTransition,
    check_setup,
    command_postures,
    transition_of,
)
from posewright.runtimes.openr.stick.limits import (
    AGENTS,
    ANY,
    ANY_TO_ANY,
    FIRST_POSTURE,
    MOTION_ENTRY,
    NAME_BYTES,
    POSTURES,
    SOUND_AGENT,
    is_null,
)
from posewright.runtimes.openr.stick.lookup import find_entry_index
from posewright.runtimes.openr.stick.posture_transitions import FARTHEST_DEG, JUMP, LEGS
from posewright.runtimes.openr.stick.text import AgentLine, MonetCommands, MonetTransitions

ERRORS_IN_RESULT = frozenset({"fault", "graph", "id", "index", "jump", "kind", "motion", "sound"})
"""Rules whose errors concern a single command, which reports them in its result; MoNet runs all the same."""

_COMMAND = re.compile(r"(?:MoNetExecute\s*\(\s*(\d{1,7})\s*\)|(\d{1,7}))")


class _RequestKey(NamedTuple):
    """By what MoNet recognises the result of a request: the agent, and the index of what it plays."""

    agent: str
    index_in_archive: int


class MoNet(OObject):
    """Plays commands by their ID.

    Args:
        setup: the MONET files of the robot.

    Raises:
        FormatError: MoNet would crash on these files, or misinterpret them.
    """

    def __init__(self, setup: MonetSetup) -> None:
        super().__init__()
        self._findings = _require_safe(setup)
        self._setup = setup
        self._command_file = setup.commands or MonetCommands(())
        transitions = setup.transitions or MonetTransitions(())
        self._posture_graph = PostureGraph.of(
            transitions, setup.commands, is_older_monet=setup.is_older_monet
        )
        self._client_commands = self.observer(
            "ClientCommand",
            data_type="MoNetCommand",
            notify=self._receive,
            from_text=self._parse,
            data=MoNetCommand,
        )
        self._agent_results = self.observer(
            "AgentResult", "MoNetAgentResult", self._receive_results, data=MoNetAgentResult
        )
        self._client_results = self.subject("ClientResult", "MoNetResult")
        self._motion_requests = self.subject("MotionAgentCommand", "MoNetAgentCommand")
        self._sound_requests = self.subject("SoundAgentCommand", "MoNetAgentCommand")
        self.posture = FIRST_POSTURE
        self._active_command_id = 0  # of the command that is being played
        self._route: deque[PostureTransition] = deque()  # the transition that is being played, then the next
        self._outstanding_requests: list[_RequestKey] = []  # those whose result has not arrived
        self._failure: MoNetAgentResult | None = None  # the first failed result of the current transition

    def do_start(self) -> None:
        """Log the findings of the check of the files."""
        super().do_start()
        for finding in self._findings:
            self.syslog(str(finding))
        self.enter_state(self.posture)

    def _parse(self, text: str) -> MoNetCommand:
        """Return the command of a word of a script: `MoNetExecute(60)`, or `60`."""
        match = _COMMAND.fullmatch(text.strip())
        if match is None:
            hint = f"MoNetExecute(ID), or the ID alone: {self._format_ids()}"
            raise InputError(f"{text!r} is not a command of MoNet", hint=hint)
        return MoNetCommand(int(match[1] or match[2]))

    def _format_ids(self) -> str:
        """Return the IDs of the commands, separated by commas."""
        ids = dict.fromkeys(
            str(command.id) for command in self._command_file.commands if command.id is not None
        )
        return ", ".join(ids) or "none, as no MONETCMD.CFG defines any"

    def _receive(self, event: ONotifyEvent) -> None:
        for command in event.data:
            self._execute(command)
        self._client_commands.assert_ready(event.sender)

    def _execute(self, command: MoNetCommand) -> None:
        """Start a command, or report at once why it cannot be played."""
        if self._route:
            self._reply(command.id, MoNetStatus.BUSY, f"command {self._active_command_id} is being played")
            return
        try:
            self._route = deque(self._plan_route(command.id))
        except InputError as error:
            self._reply(command.id, MoNetStatus.INVALID_ARG, str(error))
            return
        self._active_command_id = command.id
        self._play_next()

    def _plan_route(self, command_id: int) -> list[PostureTransition]:
        """Return what is to be played for a command, in order; the last is the command itself.

        Logs the transitions before the command, and advice on a motion whose name states no postures.

        Raises:
            InputError: there is no such command, no route to its start posture, or a motion cannot be played.
        """
        commands = self._command_file.commands_with_id(command_id)
        if not commands:
            raise InputError(f"there is no command {command_id}", hint=f"ids are {self._format_ids()}")
        requested = transition_of(commands[-1])  # of several commands with one ID, MoNet uses the last
        has_postures = requested.postures.has_start_and_end
        if not has_postures:
            requested = replace(requested, postures=ANY_TO_ANY)
        route = [*self._route_to(requested.postures.start), requested]
        for transition in route:
            require_playable_transition(transition, self._setup, self.openr)
        if not has_postures:
            name = _played_name(requested)
            self.syslog(
                f"the name {name} states no postures: it is played from the present posture; "
                "Sony's MoNet may crash"
            )
            for line in requested.agent_lines:
                if advice := advise_postures(
                    line, self._setup, self._posture_graph, self.posture, self.openr
                ):
                    self.syslog(advice)
        for transition in route[:-1]:
            name = _played_name(transition)
            self.syslog(f"on the way to {requested.postures.start}: {name} ({_format_place(transition)})")
        return route

    def _route_to(self, goal: str) -> tuple[PostureTransition, ...]:
        """Return the transitions to a goal posture; raise an InputError if there are none."""
        if goal in {ANY, self.posture}:
            return ()
        route = self._posture_graph.find_route(self.posture, goal)
        if route is None:
            routes = "; ".join(
                f"from {start} to {', '.join(ends)}"
                for start, ends in self._posture_graph.end_postures.items()
            )
            message = f"no transitions lead from posture {self.posture} to {goal}"
            hint = f"there are transitions {routes}" if routes else "there are no transitions at all"
            raise InputError(message, hint=hint)
        return route

    def _play_next(self) -> None:
        """Send the requests of the next transition of the route to the agents, which play motion and sound.

        An agent is the OPEN-R object that plays motions or sounds; a transition has a line for each that has
        something to play. A request names the line's entry and holds the index of it, and is outstanding
        until the agent's result arrives.
        """
        transition = self._route[0]
        self.enter_state(_played_name(transition))
        self._log_jumps(transition)
        self._failure = None
        commands = [
            MoNetAgentCommand(line.agent, escape_unprintable(line.name), find_entry_index(line, self._setup))
            for line in transition.agent_lines
        ]
        self._outstanding_requests = [_RequestKey(command.agent, command.index) for command in commands]
        for command in commands:
            # a subject is the sending end of an OPEN-R connection
            agent_subject = self._sound_requests if command.agent == SOUND_AGENT else self._motion_requests
            agent_subject.send(command)

    def _log_jumps(self, transition: PostureTransition) -> None:
        """Log motions that begin or end in another posture than their line states."""
        lines = {(line.text_line.path, line.text_line.number) for line in transition.agent_lines}
        for finding in self._findings:
            if finding.rule == JUMP and (finding.path, finding.line) in lines:
                self.syslog(f"MoNet believes the name in the line all the same: {finding.message}")

    def _receive_results(self, event: ONotifyEvent) -> None:
        """Process results of agents; those of requests that are not being played are ignored."""
        for result in event.data:
            key = _RequestKey(result.agent, result.index)
            if key in self._outstanding_requests:
                self._outstanding_requests.remove(key)
                self._process_result(result)
        self._agent_results.assert_ready(event.sender)  # it may send its next results

    def _process_result(self, result: MoNetAgentResult) -> None:
        """Process a result; after the last one of a transition, play the next one or reply to the client.

        A motion that was played changes the posture. After a failure the remaining transitions are dropped.
        """
        end_posture = self._route[0].postures.end
        if result.status is not MoNetStatus.COMPLETION:
            self._failure = self._failure or result
        elif result.agent != SOUND_AGENT and end_posture not in {ANY, ""}:  # "": the name states no posture
            self.posture = end_posture
        if self._outstanding_requests:
            return
        self._route.popleft()
        if self._failure is not None:
            self._route.clear()
            self._reply(self._active_command_id, self._failure.status, self._failure.reason)
        elif self._route:
            self._play_next()
        else:
            self._reply(self._active_command_id, MoNetStatus.COMPLETION)

    def _reply(self, command_id: int, status: MoNetStatus, reason: str = "") -> None:
        """Send the result of the command with an ID to the client; a reason is also logged."""
        if not self._route:  # nothing else is being played
            self.enter_state(self.posture)
        if reason:
            self.report_refusal(f"MoNetExecute({command_id})", reason)
        self._client_results.send(MoNetResult(command_id, status, self.posture, reason))


def _require_safe(setup: MonetSetup) -> list[MonetFinding]:
    """Check files before MoNet runs on them; return the findings to be logged.

    Raises:
        FormatError: MoNet would crash on them, or misinterpret them.
    """
    findings = [
        finding
        for finding in check_setup(setup, max_findings=MAX_FINDINGS)
        if finding.level is not Level.NOTE
    ]
    errors = [
        FormatError(
            finding.message, where=Where(path=finding.path, line=finding.line), hint=finding.hint or None
        )
        for finding in findings
        if finding.level is Level.ERROR and finding.rule not in ERRORS_IN_RESULT
    ]
    if errors:
        errors[0].other_errors = tuple(errors[1:])
        raise errors[0]
    return findings


def _played_name(transition: PostureTransition) -> str:
    """Return the name of the motion that a transition plays, otherwise of its sound."""
    lines = sorted(transition.agent_lines, key=lambda line: line.agent == SOUND_AGENT)
    return escape_unprintable(lines[0].name) if lines else "nothing"


def _format_place(transition: PostureTransition) -> str:
    """Return file name and line number of a transition: `MONET.CFG:2`."""
    path = transition.line.path
    return f"{path.name if path else 'input'}:{transition.line.number}"


def advise_postures(
    line: AgentLine, setup: MonetSetup, graph: PostureGraph, posture: str, openr: OpenR
) -> str:
    """Return how a motion whose name has no postures can be played without a jump.

    The text names a command that leads to the posture in which the motion begins, and a name for the motion
    that states its postures. No command is named if MoNet assumes that posture already, or knows no route to
    it.

    Args:
        line: plays the motion.
        setup: the MONET files.
        graph: the graph of the postures.
        posture: the posture that MoNet assumes now.
        openr: the OpenR object of the robot.

    Returns:
        The text; empty if the line plays no motion, or one that begins or ends near no posture.
    """
    if line.agent not in AGENTS or AGENTS[line.agent].entry_type != MOTION_ENTRY:
        return ""
    frames = motion_frames(find_entry_index(line, setup), setup, openr, exact=True)
    start = _nearest_posture(frames, frame=0, robot=openr.robot)
    end = _nearest_posture(frames, frame=-1, robot=openr.robot)
    if not (start and end):
        return ""
    advice = ""
    if posture != start and graph.find_route(posture, start) is not None:
        candidates = [
            command
            for command in graph.commands_by_start.get(start, ())
            if command_postures(command).end == start
        ]
        if candidates:
            # preferably one that plays nothing itself
            command = min(candidates, key=lambda candidate: not is_null(candidate.agent_lines[0].name))
            advice = f"MoNetExecute({command.id}) goes there first; or "
    title = line.name.replace("#", "_").rpartition("_")[2]
    name = escape_unprintable(f"a_{start}#{end}_{title}"[:NAME_BYTES])
    return f"{escape_unprintable(line.name)} begins near {start}: {advice}call it {name}"


def _nearest_posture(frames: Frames, frame: int, robot: Robot) -> str:
    """Return the posture that is nearest to the legs in a frame; empty if all are too far.

    The distance of a posture is that of the leg joint which differs most.

    Args:
        frames: the angles of the joints by primitive.
        frame: index of the frame; -1 for the last.
        robot: its poses are compared.
    """
    legs = robot.groups.get(LEGS, ())
    angles = {
        robot.joint_names[primitive]: values[frame] / MICRO_PER_UNIT
        for primitive, values in frames.items()
        if robot.joint_names[primitive] in legs
    }
    if not angles:
        return ""
    distances = [
        (max(abs(angle - pose[joint]) for joint, angle in angles.items()), posture)
        for posture, pose in robot.poses.items()
        if posture in POSTURES
    ]
    distance, posture = min(distances, default=(math.inf, ""))
    return posture if math.degrees(distance) <= FARTHEST_DEG else ""
