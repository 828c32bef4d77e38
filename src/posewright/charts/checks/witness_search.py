"""Searches for witnesses: ticks of explored runs in which the claims of a question hold.

A tick that reaches the point of a question may answer it with other inputs than those that were explored.
The search then collects the path condition, the conditions on the inputs under which a tick takes the same
path to that point, and lets the solver look for such inputs.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from posewright.charts.checks.conditions import any_of, equals, names_equal, substitute
from posewright.charts.checks.question import CheckQuestion, TickPoint
from posewright.charts.checks.solver import CheckSolver, all_hold, build_claims, substitute_in_claim
from posewright.charts.checks.tick_trace import EvaluatedExpression, InputRows, TickTrace, trace_tick
from posewright.charts.expression import Expression
from posewright.charts.machine import Interpreter, Machine, Snapshot
from posewright.charts.model import StepMode
from posewright.charts.reachability import AbstractState, SymbolicStep
from posewright.charts.types import Value


class PathConditions:
    """Extracts from a traced tick the path condition up to one of its points.

    Every evaluation of the tick that reads inputs had some value. With other inputs, a tick takes the same
    path if these evaluations have the same values.

    Args:
        input_names: names of the chart's inputs; all other names are registers.
    """

    def __init__(self, input_names: Collection[str]) -> None:
        self.input_names = frozenset(input_names)

    def _inputs_of(self, expression: Expression) -> frozenset[str]:
        """Return the names of the inputs that an expression reads."""
        return expression.names & self.input_names

    def _registers_of(self, expression: Expression) -> Sequence[str]:
        """Return the names of the registers that an expression reads, sorted."""
        return sorted(expression.names - self.input_names)

    def find_deciding_evaluations(
        self, tick: TickTrace, n_evaluated: int, names: frozenset[str]
    ) -> tuple[EvaluatedExpression, ...]:
        """Return the evaluations whose values decide that a tick reaches a point as it did.

        Evaluations that share no input with `names`, directly or through others, are left out: the inputs of
        the traced tick satisfy them already.

        Args:
            tick: the traced tick.
            n_evaluated: number of expressions it had evaluated when it reached the point.
            names: names that are read there. An assignment matters only if the variable is read afterwards.
        """
        written_name_by_index = {write.evaluation_index: write.name for write in tick.writes}
        relevant_names = set(names)  # names that are read later on the path
        path: list[EvaluatedExpression] = []
        for index in reversed(range(n_evaluated)):
            evaluation = tick.evaluations[index]
            if index in written_name_by_index:
                if written_name_by_index[index] not in relevant_names:
                    continue
                relevant_names.discard(written_name_by_index[index])
            relevant_names.update(self._registers_of(evaluation.expression))
            if self._inputs_of(evaluation.expression):
                path.append(evaluation)
        return tuple(self._connected_to(names, path))

    def _connected_to(
        self, names: frozenset[str], path: Sequence[EvaluatedExpression]
    ) -> list[EvaluatedExpression]:
        """Return the evaluations that share an input with `names`, directly or through others.

        Args:
            names: names of inputs and registers.
            path: the evaluations to choose from.
        """
        connected_names = set(names)
        remaining = list(path)
        connected: list[EvaluatedExpression] = []
        while True:
            neighbours = [
                evaluation
                for evaluation in remaining
                if not self._inputs_of(evaluation.expression).isdisjoint(connected_names)
            ]
            if not neighbours:
                return connected
            connected += neighbours
            remaining = [evaluation for evaluation in remaining if evaluation not in neighbours]
            for evaluation in neighbours:
                connected_names |= self._inputs_of(evaluation.expression)

    def _register_values(self, evaluation: EvaluatedExpression) -> dict[str, Value]:
        """Return the values of the registers that an evaluation read."""
        return {name: evaluation.env[name] for name in self._registers_of(evaluation.expression)}

    def build_path_key(self, path: Sequence[EvaluatedExpression]) -> tuple[object, ...]:
        """Return a hashable key that is equal for paths with equal path conditions.

        It has each evaluated expression, its value, and the values of the registers that it read.
        """
        evaluation_keys: list[tuple[object, ...]] = []
        for evaluation in path:
            register_values = self._register_values(evaluation).values()
            evaluation_keys.append((id(evaluation.expression), evaluation.value, *register_values))
        return tuple(evaluation_keys)

    def build_conditions(self, path: Sequence[EvaluatedExpression]) -> list[Expression]:
        """Return the path condition: conditions on the inputs, with the registers substituted.

        An evaluation that divided by zero, whose value is None, gives no condition.
        """
        conditions = []
        for evaluation in path:
            if evaluation.value is not None:
                register_values = self._register_values(evaluation)
                conditions.append(
                    equals(substitute(evaluation.expression, register_values), evaluation.value)
                )
        return conditions


MAX_SOLVED = 200
"""Open situations of one search that are given to the solver."""

MAX_POINTS_IN_TICK = 100
"""Points of one tick that become open situations; a tick may pass the same point many times."""

SOLVE_TOGETHER_FROM = 4
"""Number of open situations from which on all are first excluded together, with one question."""


class TickSummary(NamedTuple):
    """What the exploration recorded about a tick, before the tick is traced.

    Attributes:
        active_nodes: numbers of the states that are active before or after it.
        may_activate_others: whether other states may be active in between, or the tick fails.
    """

    active_nodes: frozenset[int]
    may_activate_others: bool

    @classmethod
    def of(cls, abstract_state: AbstractState, step: SymbolicStep, machine: Machine) -> TickSummary:
        """Return the summary of a tick that takes an explored step from a state."""
        active_before = machine.planner.active_nodes(abstract_state.snapshot.configuration)
        if step.next_state is None or machine.chart.steps is StepMode.COMPLETION:
            return cls(active_before, may_activate_others=True)
        active_after = machine.planner.active_nodes(step.next_state.configuration)
        # each event, from outside or raised, is processed in a microstep of its own
        has_event = any(step.inputs[event] for event in machine.events) or bool(step.raised)
        return cls(active_before | active_after, may_activate_others=has_event)


class ExploredTick(NamedTuple):
    """One explored tick.

    Attributes:
        start_state: the state before the tick.
        step: its inputs and its result, as explored.
        tick_trace: the trace of the tick with these inputs.
    """

    start_state: Snapshot
    step: SymbolicStep
    tick_trace: TickTrace


@dataclass(frozen=True)
class Witness:
    """A tick in which the claims of a question hold.

    Attributes:
        start_state: the state before the tick.
        inputs: value of every input and event of the tick.
        point: where in the tick the claims hold.
        trace: inputs of every tick from the start up to this one.
    """

    start_state: Snapshot
    inputs: Mapping[str, Value]
    point: TickPoint
    trace: InputRows = ()


class OpenSituation(NamedTuple):
    """A point reached by a tick that may answer the question with inputs that were not explored.

    Attributes:
        start_state: the state before the tick.
        inputs: the inputs of the explored tick.
        env: value of every name at the point.
        path: evaluations that decide whether a tick reaches the point.
    """

    start_state: Snapshot
    inputs: Mapping[str, Value]
    env: Mapping[str, Value]
    path: tuple[EvaluatedExpression, ...]


@dataclass(eq=False)
class WitnessSearch:
    """The search for a tick that answers a question with yes.

    Explored ticks are passed to `examine`; then `solve_open_situations` tries other inputs.

    Attributes:
        question: the question.
        interpreter: the interpreter of the chart.
        solver: solves for inputs.
        path_conditions: extracts the path conditions of ticks.
        exact_variables: variables whose exact values matter. Of others, it matters only how they compare with
            the numbers that the chart compares them with.
        witness: the first tick in which all claims hold.
        n_points_reached: how many times a tick reached a point that the question is about.
        undecided_reason: why the question is undecided; empty if it is decided.
        open_situations: points at which the answer depends on the inputs, by register values and path.
        claim_names: names that the claims of the question read.
        claim_registers: those of them that are registers, sorted.
        relevant_nodes: numbers of the states that the question is about.
    """

    question: CheckQuestion
    interpreter: Interpreter
    solver: CheckSolver
    path_conditions: PathConditions
    exact_variables: frozenset[str] = frozenset()
    witness: Witness | None = None
    n_points_reached: int = 0
    undecided_reason: str = ""
    open_situations: dict[object, OpenSituation] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.claim_names = self.question.names
        self.relevant_nodes = self.question.location.nodes
        self.claim_registers = tuple(sorted(self.claim_names - self.path_conditions.input_names))

    def is_relevant(self, tick: TickSummary) -> bool:
        """Return whether a tick may answer the question, according to its summary.

        It may if a state that the question is about is active in it, and no witness was found before.
        """
        return self.witness is None and (
            tick.may_activate_others or not self.relevant_nodes.isdisjoint(tick.active_nodes)
        )

    def examine(self, tick: ExploredTick) -> None:
        """Set the witness if the claims hold in a tick; else store its points as open situations.

        An open situation is a point at which the claims may hold with other inputs.
        """
        if self.witness is not None:
            return
        reads_inputs = bool(self.claim_names & self.path_conditions.input_names)
        for point_index, point in enumerate(self.question.location.points(tick.tick_trace)):
            self.n_points_reached += 1
            if all_hold(self.question.claims, point.env):
                self.witness = Witness(tick.start_state, tick.step.inputs, point)
                return
            if not reads_inputs:
                continue  # the claims fail here for all inputs
            if point_index < MAX_POINTS_IN_TICK:
                self._add_open_situation(tick, point)
            else:
                self.undecided_reason = f"a tick comes there more than {MAX_POINTS_IN_TICK} times"

    def _add_open_situation(self, tick: ExploredTick, point: TickPoint) -> None:
        """Store a point for the solver, unless one with the same register values and path is stored."""
        path = self.path_conditions.find_deciding_evaluations(
            tick.tick_trace, point.n_evaluated, self.claim_names
        )
        register_values = tuple([point.env[name] for name in self.claim_registers])
        # the types, since True and 1 are equal in Python
        value_types = tuple(map(type, register_values))
        situation_key = (register_values, value_types, self.path_conditions.build_path_key(path))
        if situation_key not in self.open_situations:
            situation = OpenSituation(tick.start_state, tick.step.inputs, point.env, path)
            self.open_situations[situation_key] = situation

    def reset(self) -> None:
        """Drop the open situations, before the ticks of another exploration are examined."""
        self.open_situations.clear()
        self.undecided_reason = ""

    def solve_open_situations(self) -> None:
        """Use the solver to find inputs that make one of the open situations a witness.

        An open situation is a point of an explored tick at which the claims would hold with other inputs, if
        at all. Sets `witness`, a tick in which the claims hold, or the reason why it is undecided. A witness
        that was found before is only simplified.
        """
        if self.witness is not None:
            self.witness = self._simplify(self.witness)
            return
        # of many situations, all are excluded by one question if possible, before each is solved
        if len(self.open_situations) >= SOLVE_TOGETHER_FROM and self._are_all_situations_excluded():
            return
        for n_solved, situation in enumerate(self.open_situations.values()):
            if n_solved == MAX_SOLVED:
                self.undecided_reason = f"more than {MAX_SOLVED} situations to solve"
                return
            witness = self._solve_situation(situation)
            if witness is not None:
                self.witness = self._simplify(witness)
                return

    def _are_all_situations_excluded(self) -> bool:
        """Return whether the claims are proved not to hold in any open situation, for any inputs.

        The proof asks whether the claims can hold while the registers have the values of some situation.
        """
        distinct_register_values: dict[tuple[Value, ...], dict[str, Value]] = {}
        for situation in self.open_situations.values():
            register_values = {name: situation.env[name] for name in self.claim_registers}
            distinct_register_values[tuple(register_values.values())] = register_values
        in_some_situation = any_of([names_equal(values) for values in distinct_register_values.values()])
        return self.solver.excludes((*self.question.claims, *build_claims([in_some_situation])))

    def _solve_situation(self, situation: OpenSituation) -> Witness | None:
        """Return a tick of one situation in which the claims hold, None if there are no inputs for that.

        The inputs are found by the solver. Sets `undecided_reason` if the solver cannot decide.
        """
        register_values = {name: situation.env[name] for name in self.claim_registers}
        path_claims = build_claims(self.path_conditions.build_conditions(situation.path))
        claims = [substitute_in_claim(claim, register_values) for claim in self.question.claims]
        answer = self.solver.solve([*path_claims, *claims])
        if answer.possible is None:
            self.undecided_reason = answer.reason
        if answer.case is None:
            return None
        return self._replay(situation.start_state, {**situation.inputs, **answer.case})

    def _replay(self, state: Snapshot, inputs: Mapping[str, Value]) -> Witness | None:
        """Return the tick with these inputs as a witness, None if the claims do not hold in it."""
        point = self.question.find_point(trace_tick(self.interpreter, state, inputs))
        return None if point is None else Witness(state, inputs, point)

    def _simplify(self, witness: Witness) -> Witness:
        """Return a witness with simpler inputs, zero or numbers of few digits, as far as the claims hold."""
        for name, value_type in self.interpreter.chart.inputs.items():
            for value in _simpler_values(witness.inputs[name], value_type.default):
                if not value_type.contains(value):
                    continue
                simpler_witness = self._replay(witness.start_state, {**witness.inputs, name: value})
                if simpler_witness is not None:
                    witness = simpler_witness
                    break
        return witness


def _simpler_values(value: Value, zero: Value) -> list[Value]:
    """Return values that are simpler than `value`, the simplest first; none for zero itself."""
    if value == zero:
        return []
    candidates: list[Value] = [zero]
    if isinstance(value, float):
        candidates += [float(round(value)), *(round(value, digits) for digits in (1, 2, 3))]
    return [candidate for candidate in candidates if candidate != value]
