"""MoNet: plays commands by their id, and first whatever leads to the posture they begin in.

Source: MoNet.cc of Sony's OPEN-R SDK; formats.md 1.3. MoNet believes the robot to be in posture `nt` when it
starts, and afterwards where the name of what was played says. All agents of a command are told at once, and
begin in the same frame; on the robot only a sync key makes sure of that.

Ours goes beyond it in that nothing is begun where a motion on the way is missing or damaged, or is the second
of a command, that a result says why, and that what could not be played changes no posture.
"""

from __future__ import annotations

import re
from collections import deque
from dataclasses import replace

from posewright.errors import FormatError, InputError, Where, escape_unprintable
from posewright.motions import Level
from posewright.runtimes.openr.monet.frames import refuse_way
from posewright.runtimes.openr.monet.messages import (
    MoNetAgentCommand,
    MoNetAgentResult,
    MoNetCommand,
    MoNetResult,
    MoNetStatus,
)
from posewright.runtimes.openr.monet.way_out import way_out
from posewright.runtimes.openr.services import ONotifyEvent, OObject
from posewright.runtimes.openr.stick import MonetFinding, MonetSetup
from posewright.runtimes.openr.stick.check import MOST_FINDINGS, PostureGraph, Way, check_setup, way_of
from posewright.runtimes.openr.stick.jumps import JUMP
from posewright.runtimes.openr.stick.limits import ANY, FIRST_POSTURE, NOWHERE, SOUND_AGENT
from posewright.runtimes.openr.stick.lookup import index_of
from posewright.runtimes.openr.stick.text import MonetCommands, MonetTransitions

ANSWERED = frozenset({"graph", "id", "index", "jump", "kind", "motion", "sound"})
"""Rules whose errors keep one command from being played, which its result says; MoNet runs all the same."""

_COMMAND = re.compile(r"(?:MoNetExecute\s*\(\s*(\d{1,7})\s*\)|(\d{1,7}))")


class MoNet(OObject):
    """Plays commands by their id.

    Args:
        setup: the MONET files of the robot.

    Raises:
        FormatError: MoNet would crash on these files, or take them for something else than was meant.
    """

    def __init__(self, setup: MonetSetup) -> None:
        super().__init__()
        self._findings = _checked(setup)
        self._setup = setup
        self._commands = setup.commands or MonetCommands(())
        transitions = setup.transitions or MonetTransitions(())
        self._graph = PostureGraph.of(transitions, setup.commands, older=setup.older)
        self._client = self.observer(
            "ClientCommand", "MoNetCommand", self._take, self._from_text, MoNetCommand
        )
        self._agents = self.observer("AgentResult", "MoNetAgentResult", self._hear, data=MoNetAgentResult)
        self._result = self.subject("ClientResult", "MoNetResult")
        self._motion = self.subject("MotionAgentCommand", "MoNetAgentCommand")
        self._sound = self.subject("SoundAgentCommand", "MoNetAgentCommand")
        self.posture = FIRST_POSTURE
        self._id = 0
        self._route: deque[Way] = deque()  # what is still to be played, the first of it under way
        self._pending: list[tuple[str, int]] = []  # whose results are awaited
        self._failed: MoNetAgentResult | None = None

    def do_start(self) -> None:
        """Say what the check of the files has found."""
        super().do_start()
        for finding in self._findings:
            self.say(str(finding))
        self.enter(self.posture)

    def _from_text(self, word: str) -> MoNetCommand:
        match = _COMMAND.fullmatch(word.strip())
        if match is None:
            hint = f"MoNetExecute(ID), or the id alone: {self._ids}"
            raise InputError(f"{word!r} is no command of MoNet", hint=hint)
        return MoNetCommand(int(match[1] or match[2]))

    @property
    def _ids(self) -> str:
        ids = dict.fromkeys(str(one.id) for one in self._commands.commands if one.id is not None)
        return ", ".join(ids) or "none, as there is no MONETCMD.CFG that says any"

    def _take(self, event: ONotifyEvent) -> None:
        for command in event.data:
            self._execute(command)
        self._client.assert_ready(event.sender)

    def _execute(self, command: MoNetCommand) -> None:
        """Begin a command, or say at once why not."""
        if self._route:
            self._reply(command.id, MoNetStatus.BUSY, f"command {self._id} is being played")
            return
        try:
            self._route = deque(self._way_to(command.id))
        except InputError as error:
            self._reply(command.id, MoNetStatus.INVALID_ARG, str(error))
            return
        self._id = command.id
        self._play()

    def _way_to(self, number: int) -> list[Way]:
        """Return what is to be played for a command, one after the other.

        Raises:
            InputError: there is no such command, no way to where it begins, or a motion cannot be played.
        """
        found = self._commands.with_id(number)
        if not found:
            raise InputError(f"there is no command {number}", hint=f"ids are {self._ids}")
        last = way_of(found[-1])
        says_postures = last.postures.said
        if not says_postures:
            last = replace(last, postures=NOWHERE)
        route = [*self._ways_to(last.postures.start), last]
        for way in route:
            refuse_way(way, self._setup, self.openr)
        if not says_postures:
            self.say(f"{_name(last)} says no postures: it is played as the robot is; Sony's MoNet may crash")
            here = self.posture
            ways_out = (way_out(line, self._setup, self._graph, here, self.openr) for line in last.agents)
            for said in filter(None, ways_out):
                self.say(said)
        for way in route[:-1]:
            self.say(f"on the way to {last.postures.start}: {_name(way)} ({_place(way)})")
        return route

    def _ways_to(self, goal: str) -> tuple[Way, ...]:
        route = () if goal in {ANY, self.posture} else self._graph.route(self.posture, goal)
        if route is None:
            ends = self._graph.ends.items()
            ways = "; ".join(f"from {start} to {', '.join(found)}" for start, found in ends)
            what = f"no way leads from {self.posture} to {goal}"
            raise InputError(what, hint=f"ways lead {ways}" if ways else "there is no way at all")
        return route

    def _play(self) -> None:
        """Tell the agents of what is first now."""
        way = self._route[0]
        self.enter(_name(way))
        self._tell_of_jumps(way)
        self._failed = None
        commands = [
            MoNetAgentCommand(line.agent, escape_unprintable(line.name), index_of(line, self._setup))
            for line in way.agents
        ]
        self._pending = [(one.agent, one.index) for one in commands]
        for one in commands:
            (self._sound if one.agent == SOUND_AGENT else self._motion).send(one)

    def _tell_of_jumps(self, way: Way) -> None:
        """Say that what is played begins or ends elsewhere than its line says."""
        played = {(line.line.path, line.line.number) for line in way.agents}
        for finding in self._findings:
            if finding.rule == JUMP and (finding.path, finding.line) in played:
                self.say(f"MoNet goes by the line all the same: {finding.message}")

    def _hear(self, event: ONotifyEvent) -> None:
        for result in event.data:
            told = (result.agent, result.index)
            if told in self._pending:
                self._pending.remove(told)
                self._note(result)
        self._agents.assert_ready(event.sender)

    def _note(self, result: MoNetAgentResult) -> None:
        """Take a result; when all have come, go on with what is next, or tell the client."""
        end = self._route[0].postures.end
        if result.status is not MoNetStatus.COMPLETION:
            self._failed = self._failed or result
        elif result.agent != SOUND_AGENT and end not in {ANY, ""}:
            self.posture = end
        if self._pending:
            return
        self._route.popleft()
        if self._failed is not None:
            self._route.clear()
            self._reply(self._id, self._failed.status, self._failed.why)
        elif self._route:
            self._play()
        else:
            self._reply(self._id, MoNetStatus.COMPLETION)

    def _reply(self, number: int, status: MoNetStatus, why: str = "") -> None:
        if not self._route:
            self.enter(self.posture)
        if why:
            self.refuse(f"MoNetExecute({number})", why)
        self._result.send(MoNetResult(number, status, self.posture, why))


def _checked(setup: MonetSetup) -> list[MonetFinding]:
    """Return what is to be said of files before MoNet runs on them.

    Raises:
        FormatError: MoNet would crash on them, or take them for something else than was meant.
    """
    found = [one for one in check_setup(setup, most=MOST_FINDINGS) if one.level is not Level.NOTE]
    errors = [
        FormatError(one.message, where=Where(path=one.path, line=one.line), hint=one.hint or None)
        for one in found
        if one.level is Level.ERROR and one.rule not in ANSWERED
    ]
    if errors:
        errors[0].other_errors = tuple(errors[1:])
        raise errors[0]
    return found


def _name(way: Way) -> str:
    """Return what is played on a way: its motion, or else its sound."""
    lines = sorted(way.agents, key=lambda line: line.agent == SOUND_AGENT)
    return escape_unprintable(lines[0].name) if lines else "nothing"


def _place(way: Way) -> str:
    path = way.line.path
    return f"{path.name if path else 'input'}:{way.line.number}"
