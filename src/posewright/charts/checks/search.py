"""What a tick had to be given to come to a certain place: conditions on its inputs alone."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from posewright.charts.checks.conditions import any_of, equals, names_equal, with_values
from posewright.charts.checks.question import CheckQuestion, Evaluation, Rows, Standing, TickTrace, record
from posewright.charts.checks.solver import CheckSolver, all_hold, claim_with_values, claims
from posewright.charts.expression import Expression
from posewright.charts.machine import Interpreter, Machine, Snapshot
from posewright.charts.model import StepMode
from posewright.charts.reachability import Abstraction, AbstractState, SymbolicStep
from posewright.charts.types import Value


class PathInputs:
    """The inputs of a chart, and which of them and of the registers an expression reads.

    Args:
        names: of the inputs.
    """

    def __init__(self, names: Collection[str]) -> None:
        self.names = frozenset(names)

    def of(self, expression: Expression) -> tuple[frozenset[str], Sequence[str]]:
        """Return the inputs and the registers that an expression reads."""
        return expression.names & self.names, sorted(expression.names - self.names)

    def path_to(self, tick: TickTrace, passed: int, names: frozenset[str]) -> tuple[Evaluation, ...]:
        """Return what had to come out as it did for a tick to go the same way up to a place.

        Args:
            tick: that was taken.
            passed: how many expressions it had computed when it came to the place.
            names: what is read there: what a variable was set to matters where it is read afterwards.

        What has to do with other inputs only than those of `names` is left out: the tick has met it.
        """
        written = {write.passed: write.name for write in tick.writes if write.passed < passed}
        relevant, found = set(names), list[Evaluation]()
        for place in range(passed - 1, -1, -1):
            asked = tick.asked[place]
            if place in written:
                if written[place] not in relevant:
                    continue
                relevant.discard(written[place])
            inputs, registers = self.of(asked.expression)
            relevant.update(registers)
            if inputs:
                found.append(asked)
        return tuple(self._connected(found, names)) if found else ()

    def _connected(self, path: Sequence[Evaluation], names: frozenset[str]) -> list[Evaluation]:
        """Return what shares an input with `names`, or with something else that does."""
        reached, rest, kept = set(names), list(path), list[Evaluation]()
        while True:
            near = [one for one in rest if not self.of(one.expression)[0].isdisjoint(reached)]
            if not near:
                return kept
            kept += near
            rest = [one for one in rest if one not in near]
            reached = reached.union(*(self.of(one.expression)[0] for one in near))

    def known(self, asked: Evaluation) -> dict[str, Value]:
        """Return what the registers stood at that an expression reads."""
        return {name: asked.held[name] for name in self.of(asked.expression)[1]}

    def key(self, path: Sequence[Evaluation]) -> tuple[object, ...]:
        """Return what tells a path from others."""
        return tuple([(id(one.expression), one.value, *self.known(one).values()) for one in path])

    def conditions(self, path: Sequence[Evaluation]) -> list[Expression]:
        """Return a path as conditions on inputs."""
        return [
            equals(with_values(one.expression, self.known(one)), one.value)
            for one in path
            if one.value is not None
        ]


MAX_ASKED = 200
"""Situations in which one question is asked of the prover."""

MAX_IN_TICK = 100
"""Times that one tick comes by the place of a question and is noted; it may go round in a circle."""

MANY = 4
"""Situations from which on they are asked about all at once before each is on its own."""


class Stage(NamedTuple):
    """What is known of a tick that was explored before it is looked at.

    Attributes:
        active: the states that are active before or after it.
        is_long: others may be active in between, or something goes wrong.
    """

    active: frozenset[int]
    is_long: bool

    @classmethod
    def of(cls, situation: AbstractState, case: SymbolicStep, machine: Machine) -> Stage:
        """Return what is known of a case."""
        active = machine.planner.active_nodes(situation.state.configuration)
        if case.after is None or machine.chart.steps is StepMode.COMPLETION:
            return cls(active, True)
        came = any(case.inputs[event] for event in machine.events)
        return cls(active | machine.planner.active_nodes(case.after.configuration), came or bool(case.raised))


class ExploredTick(NamedTuple):
    """One tick that was explored.

    Attributes:
        state: before it.
        case: what it was given, and what came of it.
        tick: what was seen of it.
    """

    state: Snapshot
    case: SymbolicStep
    tick: TickTrace


@dataclass(frozen=True)
class Witness:
    """A tick that answers a question with yes.

    Attributes:
        state: before the tick.
        inputs: of the tick, every one, and every event.
        standing: where in the tick.
        trace: inputs of every tick from the very start to this one.
    """

    state: Snapshot
    inputs: Mapping[str, Value]
    standing: Standing
    trace: Rows = ()


class OpenSituation(NamedTuple):
    """A situation in which the answer depends on inputs that were not tried."""

    state: Snapshot
    inputs: Mapping[str, Value]
    held: Mapping[str, Value]
    path: tuple[Evaluation, ...]


@dataclass(eq=False)
class WitnessSearch:
    """A question, and what was found out about it.

    Attributes:
        exact: variables whose very values matter, not only how they compare with what the chart asks.
        witness: the first tick that answers it with yes.
        met: how many times a tick came by the place.
        undecided: why it is not known; empty where it is.
    """

    question: CheckQuestion
    interpreter: Interpreter
    solver: CheckSolver
    inputs: PathInputs
    exact: frozenset[str] = frozenset()
    witness: Witness | None = None
    met: int = 0
    undecided: str = ""
    waiting: dict[object, OpenSituation] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.names = self.question.names
        self.nodes = self.question.place.nodes
        self.registers = tuple(sorted(self.names - self.inputs.names))

    def missed(self, keeps: Mapping[str, Abstraction]) -> frozenset[str]:
        """Return the variables that an exploration does not follow as it would have to for the search."""
        coarse = (name for name, keep in keeps.items() if keep.drops or not keep.single)
        return self.exact.intersection(coarse)

    def wants(self, step: Stage) -> bool:
        """Return whether a tick may tell something, as far as is known before it is looked at."""
        return self.witness is None and (step.is_long or not self.nodes.isdisjoint(step.active))

    def see(self, step: ExploredTick) -> None:
        """Look at a tick: does it show the answer, or might it with other inputs?"""
        if self.witness is not None:
            return
        for count, place in enumerate(self.question.place.standings(step.tick)):
            self.met += 1
            if all_hold(self.question.claims, place.held):
                self.witness = Witness(step.state, step.case.inputs, place)
                return
            if count < MAX_IN_TICK and self.names & self.inputs.names:
                self._note(step, place)
            elif self.names & self.inputs.names:
                self.undecided = f"a tick comes there more than {MAX_IN_TICK} times"

    def _note(self, step: ExploredTick, place: Standing) -> None:
        path = self.inputs.path_to(step.tick, place.passed, self.names) if place.passed else ()
        at = tuple([place.held[name] for name in self.registers])
        key = (at, tuple(map(type, at)), self.inputs.key(path))
        if key not in self.waiting:
            self.waiting[key] = OpenSituation(step.state, step.case.inputs, place.held, path)

    def begin_again(self) -> None:
        """Forget what was not decided, before other ticks are looked at."""
        self.waiting.clear()
        self.undecided = ""

    def settle(self) -> None:
        """Ask the prover about the situations that were kept, until one answers with yes."""
        if self.witness is not None:
            self.witness = self.plainer(self.witness)
        if self.witness is None and len(self.waiting) >= MANY and not self.possible_at_all():
            return
        for count, situation in enumerate(self.waiting.values()):
            if self.witness is not None:
                return
            if count == MAX_ASKED:
                self.undecided = f"more than {MAX_ASKED} situations to ask about"
                return
            self.ask(situation)

    def possible_at_all(self) -> bool:
        """Return whether any of the situations may answer with yes, or whether that cannot be told."""
        registers = [{name: one.held[name] for name in self.registers} for one in self.waiting.values()]
        distinct = {tuple(values.values()): values for values in registers}
        somewhere = any_of([names_equal(values) for values in distinct.values()])
        return not self.solver.excludes((*self.question.claims, *claims([somewhere])))

    def ask(self, situation: OpenSituation) -> None:
        """Ask the prover about one situation, and see whether its answer runs."""
        held = {name: situation.held[name] for name in self.registers}
        asked = [claim_with_values(claim, held) for claim in self.question.claims]
        answer = self.solver.ask([*claims(self.inputs.conditions(situation.path)), *asked])
        if answer.possible is None:
            self.undecided = answer.reason
        if answer.case is None:
            return
        inputs = {**situation.inputs, **answer.case}
        found = self._replay(situation.state, inputs)
        if found is not None:
            self.witness = self.plainer(found)

    def _replay(self, state: Snapshot, inputs: Mapping[str, Value]) -> Witness | None:
        place = self.question.shown_by(record(self.interpreter, state, inputs))
        return None if place is None else Witness(state, inputs, place)

    def plainer(self, found: Witness) -> Witness:
        """Return a witness of which as many inputs as can be are zero, or short numbers."""
        for name, kind in self.interpreter.chart.inputs.items():
            value = found.inputs[name]
            for other in plainer_values(value, kind.default):
                if kind.contains(other):
                    tried = self._replay(found.state, {**found.inputs, name: other})
                    if tried is not None:
                        found = tried
                        break
        return found


def plainer_values(value: Value, zero: Value) -> list[Value]:
    """Return values that say less than `value` does, the plainest first."""
    found: list[Value] = [zero]
    if isinstance(value, float):
        found += [float(round(value)), *(round(value, digits) for digits in (1, 2, 3))]
    return [other for other in found if other != value][: 0 if value == zero else None]
