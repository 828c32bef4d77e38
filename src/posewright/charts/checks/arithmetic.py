"""Checks of arithmetic: values out of range, overflow of 32 bits, division by zero, undefined results."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from posewright.charts.checks.analysis import Check
from posewright.charts.checks.conditions import all_of, build_condition
from posewright.charts.checks.finding import Finding, Level, Rule, not_proved
from posewright.charts.checks.question import CheckQuestion, ExpressionEvaluation
from posewright.charts.checks.solver import CheckClaim
from posewright.charts.checks.witness_search import Witness, WitnessSearch
from posewright.charts.expression import (
    COMPARISONS,
    LOGIC,
    Binary,
    Call,
    ClampedArgument,
    Expression,
    If,
    Literal,
    Operator,
    Tree,
    Unary,
    split_cases,
)
from posewright.charts.machine import Machine, StateNode
from posewright.charts.model import Actions, Assign, Branch, iterate_actions
from posewright.charts.proof import DividesByZero, Holds, OutOfRange, Saturates, operations_in
from posewright.charts.reachability import is_defined, may_be_undefined
from posewright.charts.types import BoolType, EnumType, FloatType, IntType, Type, format_value


@dataclass(frozen=True, eq=False)
class ExpressionUse:
    """An occurrence of an expression in the chart, where a tick may evaluate it.

    Attributes:
        expression: the expression, as the machine evaluates it.
        node: the state it belongs to.
        line: the line in the chart's document, if known.
        variable: name of the variable its value is assigned to; None for a condition.
    """

    expression: Expression
    node: StateNode
    line: int | None
    variable: str | None = None


def list_uses(machine: Machine) -> Iterator[ExpressionUse]:
    """Yield every occurrence of an expression; one that states share, once for each state."""
    for node in machine.nodes:
        for counter in node.counters:
            if counter.condition is not None:
                yield ExpressionUse(counter.condition, node, node.line)
        for transition in node.transitions:
            for guard, segment in zip(transition.guards, transition.segments, strict=True):
                yield ExpressionUse(guard, node, segment.line)
            yield from _list_uses_in_actions(transition.do, node, transition.line)
        for actions in node.actions:
            yield from _list_uses_in_actions(actions, node, node.line)


def _list_uses_in_actions(actions: Actions, node: StateNode, line: int | None) -> Iterator[ExpressionUse]:
    """Yield the expressions in actions: assigned values, and conditions of branches."""
    for action in iterate_actions(actions):
        action_line = action.line or line
        if isinstance(action, Assign):
            for name, value in action.values.items():
                yield ExpressionUse(value, node, line=value.source.where.line or action_line, variable=name)
        elif isinstance(action, Branch):  # `iterate_actions` yields the actions in its branches as well
            yield ExpressionUse(action.when, node, action.when.source.where.line or action_line)


MAX_TRACKED_VALUES = 1000
"""Combinations of values up to which variables are tracked for these checks alone."""

FAULT_VERBS = {
    Rule.RANGE: "leaves its range",
    Rule.OVERFLOW: "leaves 32 bits",
    Rule.DIVISION: "divides by zero",
}


@dataclass(frozen=True, eq=False)
class ArithmeticSuspect:
    """A fault of an expression that types do not exclude.

    Attributes:
        use: where the expression is evaluated.
        rule: the rule of the finding.
        search: the search for a tick in which the fault occurs.
        argument: the argument of a function call that may be out of range; None for other faults.
        allowed_range: for a value or argument that may be out of range, the lowest and highest value allowed.
    """

    use: ExpressionUse
    rule: Rule
    search: WitnessSearch
    argument: ClampedArgument | None = None
    allowed_range: tuple[float, float] | None = None

    @property
    def report_key(self) -> tuple[object, ...]:
        """A key that suspects share of which only one is reported: expression, rule, and parameter."""
        parameter = (self.argument.function, self.argument.parameter) if self.argument else None
        return id(self.use.expression), self.rule, parameter


class ArithmeticFaults(Check):
    """Finds values and arguments out of range, overflows, divisions by zero and undefined results.

    Attributes:
        suspects: the faults that types do not exclude.
        n_tracked_combinations: product of the numbers of values of all variables that are tracked for them.
    """

    def prepare(self) -> None:
        """Add a search for every fault that types do not exclude, and track the variables it reads."""
        self.suspects: list[ArithmeticSuspect] = []
        self.n_tracked_combinations = 1
        # by the identity of the expression, which states may share, and the variable it is assigned to
        uses_by_expression: dict[tuple[int, str | None], list[ExpressionUse]] = {}
        for use in list_uses(self.machine):
            uses_by_expression.setdefault((id(use.expression), use.variable), []).append(use)
        for uses in uses_by_expression.values():
            self.suspects += self._find_suspects(uses)

    def _find_suspects(self, uses: Sequence[ExpressionUse]) -> Iterator[ArithmeticSuspect]:
        """Yield the faults that are possible for some values of the names that an expression reads.

        Adds a search for each of them, and tracks the variables that it needs.

        Args:
            uses: all uses of one expression, for the same variable; findings refer to the first.
        """
        first_use = uses[0]
        nodes = frozenset(use.node.index for use in uses)
        for fault in _list_faults(first_use, self.machine):
            if self.analysis.solver.excludes([fault.claim]):
                continue
            self._track_variables(fault.claim)
            question = CheckQuestion(ExpressionEvaluation(nodes, first_use.expression), (fault.claim,))
            search = self.analysis.add_search(question, exact_variables=fault.claim.names)
            yield ArithmeticSuspect(first_use, fault.rule, search, fault.argument, fault.allowed_range)

    def _track_variables(self, claim: CheckClaim) -> None:
        """Let the exploration track the exact values of the variables that a claim reads, if they are few.

        The combinations of values of all variables tracked for this check may be MAX_TRACKED_VALUES at most;
        a variable that would make them more is not tracked.
        """
        for name, value_type in self.chart.variables.items():
            is_new = name in claim.names and name not in self.analysis.tracked_variables
            n_combinations = self.n_tracked_combinations * _count_values(value_type)
            if is_new and n_combinations <= MAX_TRACKED_VALUES:
                self.n_tracked_combinations = n_combinations
                self.analysis.tracked_variables.add(name)

    def findings(self) -> Iterator[Finding]:
        """Yield the faults that a run shows, then notes on those that are undecided."""
        reported_keys = set[object]()
        for suspect in self.suspects:
            if suspect.search.witness is not None and suspect.report_key not in reported_keys:
                reported_keys.add(suspect.report_key)
                yield self._build_finding(suspect, suspect.search.witness)
        for suspect in self.suspects:
            use = suspect.use
            search = suspect.search
            # a result that is not a number is only a warning, so there is no note that it may occur
            if suspect.report_key in reported_keys or suspect.rule is Rule.UNDEFINED:
                continue
            is_ever_evaluated = search.n_points_reached > 0
            if is_ever_evaluated and self.analysis.is_undecided(search, use.node):
                reported_keys.add(suspect.report_key)
                question = f"whether `{use.expression}` ever {FAULT_VERBS[suspect.rule]} in {use.node.name}"
                reason = search.undecided_reason or self.analysis.incomplete_reason
                yield not_proved(f"it is not known {question}: {reason}", use.node.name, use.line)

    def _build_finding(self, suspect: ArithmeticSuspect, witness: Witness) -> Finding:
        """Return the finding for an arithmetic fault that a witness shows.

        It is an error; a result that is not a number is only a warning.
        """
        use = suspect.use
        expression = use.expression
        state = self._find_active_state(use.node, witness)
        case, relevant_case = self.analysis.describe_witness(state, witness, expression.names)
        level = Level.ERROR
        if suspect.allowed_range is not None:
            description = self._describe_range_fault(suspect, suspect.allowed_range, witness)
            message = f"{description} {relevant_case}"
        elif suspect.rule is Rule.UNDEFINED:
            level = Level.WARNING
            subject = "a term of " if isinstance(expression.type, BoolType) else ""
            message = (
                f"{subject}`{expression}` overflows and is not a number {relevant_case}: "
                "no comparison with it holds, and a variable set to it becomes zero; declare smaller ranges"
            )
        elif suspect.rule is Rule.OVERFLOW:
            message = f"`{expression}` leaves 32 bits and saturates {relevant_case}"
        else:
            message = f"division by zero in `{expression}` {relevant_case}"
        return Finding(
            level, suspect.rule, message, state, counterexample=case, line=use.line, trace=witness.trace
        )

    def _find_active_state(self, node: StateNode, witness: Witness) -> str:
        """Return the name of the state to which a fault is attributed.

        It is `node` if that state is active before or after the faulty tick. Else the expression was
        evaluated in a transition of another state that leads through the same junction; the result is then
        the innermost state that was active before the tick.

        Args:
            node: the state that the expression belongs to.
            witness: a tick in which the fault occurs, with the state of the chart before it, and with its
                trace: the inputs of all ticks from the start of the chart up to this one.
        """
        state_before = witness.start_state
        is_active = node.name in state_before.active
        if not is_active and witness.trace:
            _, faulty_tick = self.analysis.run_to_last_tick(witness.trace)
            state_after = faulty_tick.next_state  # None if the tick fails
            is_active = state_after is not None and node.name in state_after.active
        return node.name if is_active else state_before.active[-1]

    def _describe_range_fault(
        self, suspect: ArithmeticSuspect, allowed_range: tuple[float, float], witness: Witness
    ) -> str:
        """Return which variable or parameter leaves which range, with the value it would have.

        Args:
            suspect: the fault: of an argument of a call, or of a value assigned to a variable.
            allowed_range: the lowest and the highest value that the variable or parameter may have.
            witness: a tick in which it occurs.
        """
        use = suspect.use
        argument = suspect.argument
        env = witness.point.env
        low, high = allowed_range
        if argument is not None:
            value = format_value(use.expression.with_tree(argument.tree).evaluate(env))
            subject = f"the parameter {argument.parameter} of {argument.function}"
            return f"{subject} leaves its range {low:g}..{high:g} in `{use.expression}`: it is {value}"
        value = format_value(use.expression.evaluate(env))
        return f"{use.variable} leaves its range {low:g}..{high:g}: `{use.expression}` is {value}"


class _PossibleFault(NamedTuple):
    """A fault that an expression may have.

    Attributes:
        rule: the rule of the fault.
        claim: the claim that the fault occurs.
        argument: the argument of a function call that is out of range; None for other faults.
        allowed_range: for a value or argument that is out of range, the lowest and highest value allowed.
    """

    rule: Rule
    claim: CheckClaim
    argument: ClampedArgument | None = None
    allowed_range: tuple[float, float] | None = None


def _list_faults(use: ExpressionUse, machine: Machine) -> Iterator[_PossibleFault]:
    """Yield the faults that an expression of its form may have, each with the claim that it occurs.

    Every operation may divide by zero or overflow. The value may be out of the range of the variable that it
    is assigned to, an argument of a call out of that of the parameter. Every term may be not a number.
    """
    expression = use.expression
    for operation in operations_in(expression.tree):
        if operation.is_division:
            yield _PossibleFault(Rule.DIVISION, DividesByZero(expression, operation))
        else:
            yield _PossibleFault(Rule.OVERFLOW, Saturates(expression, operation))
    value_range = _range_of(machine.chart.variables[use.variable]) if use.variable is not None else None
    if value_range is not None and not isinstance(expression.type, BoolType | EnumType):
        claim = OutOfRange(expression, *value_range)
        yield _PossibleFault(Rule.RANGE, claim, allowed_range=value_range)
    for argument in expression.clamped_arguments:
        argument_range = _range_of(argument.type)
        if argument_range is not None:
            low, high = argument_range
            is_below = Binary(Operator.LESS, argument.tree, Literal(low))
            is_above = Binary(Operator.GREATER, argument.tree, Literal(high))
            is_outside = Binary(Operator.OR, is_below, is_above)
            is_passed_outside = Binary(Operator.AND, argument.when, is_outside)  # the call is evaluated
            argument_claim = Holds(build_condition(is_passed_outside, [expression]))
            yield _PossibleFault(Rule.RANGE, argument_claim, argument, argument_range)
    if may_be_undefined(expression, machine.types):
        for conditions, term in _list_terms(expression.tree, conditions=()):
            is_undefined = Unary(Operator.NOT, is_defined(term))
            parts = [build_condition(condition, [expression]) for condition in (*conditions, is_undefined)]
            yield _PossibleFault(Rule.UNDEFINED, Holds(all_of(parts)))


class _EvaluatedTerm(NamedTuple):
    """A term of an expression, and the conditions under which it is evaluated."""

    conditions: tuple[Tree, ...]
    term: Tree


def _list_terms(tree: Tree, conditions: tuple[Tree, ...]) -> Iterator[_EvaluatedTerm]:
    """Yield the arithmetic terms of an expression.

    A term is an operation on numbers as a whole, with all operations in it: of `a + b < c`, it is `a + b`.

    Args:
        tree: the tree of the expression.
        conditions: the conditions under which the tree itself is evaluated.
    """
    if isinstance(tree, Unary) and tree.operator is Operator.NOT:
        yield from _list_terms(tree.operand, conditions)
    elif isinstance(tree, If):
        cases, default = split_cases(tree)
        conditions_so_far = conditions  # also that no earlier case holds
        for condition, value in cases:
            yield from _list_terms(condition, conditions_so_far)
            yield from _list_terms(value, (*conditions_so_far, condition))
            conditions_so_far = (*conditions_so_far, Unary(Operator.NOT, condition))
        yield from _list_terms(default, conditions_so_far)
    elif isinstance(tree, Binary) and tree.operator in LOGIC:
        yield from _list_terms(tree.left, conditions)
        # the right side is evaluated where the left one does not decide
        undecided = tree.left if tree.operator is Operator.AND else Unary(Operator.NOT, tree.left)
        yield from _list_terms(tree.right, (*conditions, undecided))
    elif isinstance(tree, Binary) and tree.operator in COMPARISONS:
        yield from _list_terms(tree.left, conditions)
        yield from _list_terms(tree.right, conditions)
    elif isinstance(tree, Binary | Call):
        yield _EvaluatedTerm(conditions, tree)
    # else a literal, a name or a minus sign: none of them has an operation that may be undefined


def _range_of(value_type: Type) -> tuple[float, float] | None:
    """Return the declared range of a number, None for other types and for unbounded numbers."""
    if isinstance(value_type, IntType):
        return value_type.low, value_type.high
    if not isinstance(value_type, FloatType) or value_type.is_unbounded:
        return None
    # a bound as written and its value rounded to 32 bits are both inside
    written_low, written_high = value_type.written_range
    return min(value_type.low, written_low), max(value_type.high, written_high)


def _count_values(value_type: Type) -> int:
    """Return how many values a type has; for fractions, more than can be tracked."""
    if isinstance(value_type, IntType):
        return value_type.high - value_type.low + 1
    if isinstance(value_type, FloatType):
        return MAX_TRACKED_VALUES + 1
    return len(value_type.values) if isinstance(value_type, EnumType) else 2
