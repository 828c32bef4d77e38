"""The steps of a program while they are made, and what stands behind the word of a statement."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from posewright.runtimes.robobasic.expressions import Names, Value
from posewright.runtimes.robobasic.machine import Machine, Step, StopReason
from posewright.runtimes.robobasic.servos import group_of
from posewright.runtimes.robobasic.tree import Command, Expression, Name, Text

AUTO = "AUTO"
"""A label of the controller itself: GOTO AUTO, the first line of templates, goes on below (ours)."""


Target = list[int]
"""A list of one address, which is known at the end."""


@dataclass(frozen=True, slots=True)
class Exits:
    """Where a step leads.

    Attributes:
        to: addresses, or those of routines that it calls.
        falls: whether to the next step, too.
        calls: whether `to` are called, and come back.
        condition: with it, to the next where it holds, and else to `to`.
        returns: whether to wherever its routine was called from.
    """

    to: tuple[Target, ...] = ()
    falls: bool = True
    calls: bool = False
    condition: Expression | None = None
    returns: bool = False


@dataclass(frozen=True, slots=True)
class Mention:
    """A label that is named on a line, counted from 1, and the word that names it."""

    line: int
    label: str
    word: str


class Steps:
    """The steps of one program.

    Attributes:
        names: what its names mean; `names.line` is the line that is being made ready.
        steps: made so far, by address.
        lines: of the source, by address.
        exits: where each leads, by address.
        mentions: of labels, all there are.
        loops: the lines of each FOR and its NEXT.
        labels: where each label is, by name in capitals.
        poses: the POS statements, by their labels in capitals.
        noted: the statements of which it was told that they do nothing here.
    """

    def __init__(self) -> None:
        self.names = Names()
        self.steps: list[Step] = []
        self.lines: list[int] = []
        self.exits: list[Exits] = []
        self.mentions: list[Mention] = []
        self.loops: list[tuple[int, int]] = []
        self.labels: dict[str, Target] = {}
        self.poses: dict[str, Command] = {}
        self.noted: set[str] = set()

    @property
    def at(self) -> int:
        """The address of the step that comes next."""
        return len(self.steps)

    def add(self, step: Step, exits: Exits = Exits()) -> None:
        """Add a step."""
        self.steps.append(step)
        self.exits.append(exits)
        self.lines.append(self.names.line)

    def act(self, action: Callable[[Machine], None]) -> None:
        """Add a step that acts and goes on."""
        following = self.at + 1

        def step(machine: Machine) -> int:
            action(machine)
            return following

        self.add(step)

    def stop(self, reason: StopReason) -> None:
        """Add a step at which the program is over."""
        at = self.at

        def step(machine: Machine) -> int:
            machine.stopped = reason
            return at

        self.add(step, Exits(falls=False))

    def target(self, label: str, word: str = "GOTO") -> Target:
        """Return where a label is that a word names, or take note that there is none."""
        self.mentions.append(Mention(self.names.line, label, word))
        if (found := self.labels.get(label.upper())) is not None:
            return found
        if label.upper() == AUTO:
            return [self.at + 1]
        self.names.find_unknown("label", label, self.labels)
        return [self.at + 1]


class Misused(Exception):  # noqa: N818 -- no error by itself: whoever catches it tells how the statement is used
    """What stands behind the word of a statement is not what belongs there."""


@dataclass(frozen=True, slots=True)
class Word:
    """A statement: how it is written, and what makes it ready, which may raise Misused."""

    usage: str
    add: Callable[[Steps, Command], None]


def as_group(command: Command) -> Command:
    """Return a MOVE that begins with its group: `MOVE24 a, b` and `MOVE a, b` are `MOVE G24, a, b`."""
    first = command.arguments[0] if command.arguments else None
    if sized := re.fullmatch(r"MOVE(12|16|24|32)", command.key):
        name = f"G{sized[1]}"
    elif command.key == "MOVE" and command.arguments and not re.match(r"(?i)G\d", getattr(first, "name", "")):
        name = "G24"
    else:
        return command
    return Command("MOVE", (Name(name), *command.arguments))


def numbers(steps: Steps, command: Command, n: int) -> list[Value]:
    """Return so many numbers of a statement made ready, or raise Misused."""
    if len(command.arguments) != n or any(one is None or isinstance(one, Text) for one in command.arguments):
        raise Misused
    return [steps.names.value(one) for one in command.arguments]


def group(steps: Steps, command: Command) -> range | None:
    """Return the servos of the group that a statement begins with, or take note that there is none."""
    first = command.arguments[0] if command.arguments else None
    found = group_of(first.name) if isinstance(first, Name) and first.bit is None else None
    if found is None:
        what = (
            f"{first.name} is no group of servos"
            if isinstance(first, Name)
            else "it names no group of servos"
        )
        steps.names.find("group", what, "G6A..G6E, G8A..G8D, G12, G16, G24, G32")
    return found


def fields_of(steps: Steps, command: Command, low: int, high: int) -> dict[int, Value] | None:
    """Return the fields behind a group by their servos, those that are empty left out."""
    servos = group(steps, command)
    if servos is None:
        return None
    fields = list(command.arguments[1:])
    if len(fields) == len(servos) + 1 and fields[-1] is None:  # a comma at the end is common
        fields.pop()
    if len(fields) > len(servos):
        steps.names.find("fields", f"{len(fields)} fields for {len(servos)} servos", f"at most {len(servos)}")
        return None
    found: dict[int, Value] = {}
    for servo, one in zip(servos, fields, strict=False):
        if one is None:
            continue
        known, value = steps.names.constant(one), steps.names.value(one)
        if known is not None and not low <= known <= high:
            steps.names.find("range", f"{known} for servo {servo}", f"{low}..{high}")
        found[servo] = value if known is not None else _within(value, servo, low, high, steps.names.line)
    return found


def _within(value: Value, servo: int, low: int, high: int, line: int) -> Value:
    def checked(machine: Machine) -> int:
        found = value(machine)
        if not low <= found <= high:
            raise machine.fail(line, f"{found} for servo {servo}", f"{low}..{high}")
        return found

    return checked
