"""Numbers that go wrong: out of their range, out of 32 bits, divided by zero."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from posewright.charts.checks.conditions import all_of, condition
from posewright.charts.checks.finding import Finding, Level, Rule, not_proved
from posewright.charts.checks.inspection import Check
from posewright.charts.checks.question import AtEvaluation, CheckQuestion
from posewright.charts.checks.search import Witness, WitnessSearch
from posewright.charts.checks.solver import CheckClaim
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
from posewright.charts.proof import DividesByZero, Holds, Outside, Saturates, places_in
from posewright.charts.reachability import is_defined, may_be_undefined
from posewright.charts.types import BoolType, EnumType, FloatType, IntType, Type, format_value


@dataclass(frozen=True, eq=False)
class ExpressionUse:
    """An expression where it stands.

    Attributes:
        variable: that its value is given to; None where it is a condition.
    """

    expression: Expression
    node: StateNode
    line: int | None
    variable: str | None = None


def uses_in(machine: Machine) -> Iterator[ExpressionUse]:
    """Yield all that a step may compute; what several states share, once for each."""
    for node in machine.nodes:
        for counter in node.counters:
            if counter.condition is not None:
                yield ExpressionUse(counter.condition, node, node.line)
        for way in node.transitions:
            for guard, segment in zip(way.guards, way.segments, strict=True):
                yield ExpressionUse(guard, node, segment.line)
            yield from _of_actions(way.do, node, way.line)
        for actions in node.actions:
            yield from _of_actions(actions, node, node.line)


def _of_actions(actions: Actions, node: StateNode, line: int | None) -> Iterator[ExpressionUse]:
    for action in iterate_actions(actions):
        at = action.line or line
        if isinstance(action, Assign):
            for name, value in action.values.items():
                yield ExpressionUse(value, node, value.source.where.line or at, name)
        elif isinstance(action, Branch):  # what is inside comes by itself
            yield ExpressionUse(action.when, node, action.when.source.where.line or at)


MAX_KEPT = 1000
"""Values of all together up to which variables are followed for the sake of their ranges alone."""

WRONG = {
    Rule.RANGE: "leaves its range",
    Rule.OVERFLOW: "leaves 32 bits",
    Rule.DIVISION: "divides by zero",
}


@dataclass(frozen=True, eq=False)
class ArithmeticSuspect:
    """Something that may go wrong, as far as types tell."""

    use: ExpressionUse
    rule: Rule
    search: WitnessSearch
    argument: ClampedArgument | None = None

    @property
    def told(self) -> tuple[object, ...]:
        """What is told once only."""
        argument = self.argument
        return id(self.use.expression), self.rule, argument and (argument.function, argument.parameter)


class ArithmeticFaults(Check):
    """Looks for values and arguments out of range, results out of 32 bits or undefined, divisions by zero."""

    def ask(self) -> None:
        """Ask what may go wrong, have runs searched for in which it does, and variables followed for that."""
        self.suspects: list[ArithmeticSuspect] = []
        self.kept = 1
        uses: dict[tuple[int, str | None], list[ExpressionUse]] = {}
        for use in uses_in(self.machine):
            uses.setdefault((id(use.expression), use.variable), []).append(use)
        for same in uses.values():
            self.suspects += self.of_uses(same)

    def of_uses(self, uses: Sequence[ExpressionUse]) -> Iterator[ArithmeticSuspect]:
        """Yield what may go wrong with one expression, over the whole domain of what it reads."""
        use, nodes = uses[0], frozenset(use.node.index for use in uses)
        for rule, claim, argument in claims_of(use, self.machine):
            if not self.inspection.solver.excludes([claim]):
                self._keep(claim)
                question = CheckQuestion(AtEvaluation(nodes, use.expression), (claim,))
                search = self.inspection.search(question, exact=claim.names)
                yield ArithmeticSuspect(use, rule, search, argument)

    def _keep(self, claim: CheckClaim) -> None:
        """Have the variables followed that it is about, where they have few values, all together."""
        for name, kind in self.chart.variables.items():
            size = size_of(kind)
            if name in claim.names - self.inspection.kept and size * self.kept <= MAX_KEPT:
                self.kept *= size
                self.inspection.kept.add(name)

    def findings(self) -> Iterator[Finding]:
        """Yield the numbers that go wrong, and those of which it is not known."""
        told = set[object]()
        for suspect in self.suspects:
            if suspect.search.witness is not None and suspect.told not in told:
                told.add(suspect.told)
                yield self._found(suspect, suspect.search.witness)
        for suspect in self.suspects:
            use, search, met = suspect.use, suspect.search, suspect.search.met > 0
            is_error = suspect.rule is not Rule.UNDEFINED
            if suspect.told not in told and is_error and met and self.inspection.is_open(search, use.node):
                told.add(suspect.told)
                text = (
                    f"whether `{use.expression}` ever {WRONG[suspect.rule]} in {use.node.name} is not known"
                )
                yield not_proved(
                    f"{text}: {search.undecided or self.inspection.why}", use.node.name, use.line
                )

    def _found(self, suspect: ArithmeticSuspect, witness: Witness) -> Finding:
        use, name = suspect.use, self._place(suspect.use.node, witness)
        case, told = self.inspection.case(name, witness, use.expression.names)
        level = Level.ERROR
        if suspect.rule is Rule.RANGE:
            message = f"{self._range_text(suspect, witness)} {told}"
        elif suspect.rule is Rule.UNDEFINED:
            level = Level.WARNING
            what = "a term of " if isinstance(use.expression.type, BoolType) else ""
            message = f"{what}`{use.expression}` overflows and is not a number {told}: no comparison with it"
            message += " holds, and a variable that is set to it is zero; declare smaller ranges"
        elif suspect.rule is Rule.OVERFLOW:
            message = f"`{use.expression}` leaves 32 bits and is cut off there {told}"
        else:
            message = f"division by zero in `{use.expression}` {told}"
        return Finding(level, suspect.rule, message, name, case, use.line, witness.trace)

    def _place(self, node: StateNode, witness: Witness) -> str:
        """Return the state in which it goes wrong: of several that share a junction, the active one."""
        after = self.inspection.last_tick(witness.trace)[1].after if witness.trace else None
        states = (witness.state, after) if after is not None else (witness.state,)
        if any(node.name in state.active for state in states):
            return node.name
        return witness.state.active[-1]

    def _range_text(self, suspect: ArithmeticSuspect, witness: Witness) -> str:
        use, argument, held = suspect.use, suspect.argument, witness.standing.held
        if argument is None:
            low, high = ends_of(self.chart.variables[use.variable or ""]) or (0, 0)
            value = format_value(use.expression.evaluate(held))
            return f"{use.variable} leaves its range {low:g}..{high:g}: `{use.expression}` is {value}"
        low, high = ends_of(argument.type) or (0, 0)
        value = format_value(use.expression.with_tree(argument.tree).evaluate(held))
        text = f"the parameter {argument.parameter} of {argument.function} leaves its range {low:g}..{high:g}"
        return f"{text} in `{use.expression}`: it is {value}"


Suspected = tuple[Rule, CheckClaim, ClampedArgument | None]


def claims_of(use: ExpressionUse, machine: Machine) -> Iterator[Suspected]:
    """Yield what would be wrong with an expression, and the argument that it would be wrong of."""
    expression = use.expression
    for place in places_in(expression.tree):
        if place.divides:
            yield Rule.DIVISION, DividesByZero(expression, place), None
        else:
            yield Rule.OVERFLOW, Saturates(expression, place), None
    ends = ends_of(machine.chart.variables[use.variable]) if use.variable is not None else None
    if ends is not None and not isinstance(expression.type, BoolType | EnumType):
        yield Rule.RANGE, Outside(expression, *ends), None
    for argument in expression.arguments:
        ends = ends_of(argument.type)
        if ends is not None:
            below = Binary(Operator.LESS, argument.tree, Literal(ends[0]))
            above = Binary(Operator.GREATER, argument.tree, Literal(ends[1]))
            outside = Binary(Operator.AND, argument.when, Binary(Operator.OR, below, above))
            yield Rule.RANGE, Holds(condition(outside, [expression])), argument
    if may_be_undefined(expression, machine.types):
        for when, term in terms_in(expression.tree, ()):
            undefined = Unary(Operator.NOT, is_defined(term))
            asked = all_of([condition(one, [expression]) for one in (*when, undefined)])
            yield Rule.UNDEFINED, Holds(asked), None


def terms_in(tree: Tree, when: tuple[Tree, ...]) -> Iterator[tuple[tuple[Tree, ...], Tree]]:
    """Yield the terms that a value or condition is made of, and the conditions on which each is computed."""
    if isinstance(tree, Unary) and tree.operator is Operator.NOT:
        yield from terms_in(tree.operand, when)
    elif isinstance(tree, If):
        cases, rest = split_cases(tree)
        for one, then in cases:
            yield from terms_in(one, when)
            yield from terms_in(then, (*when, one))
            when = (*when, Unary(Operator.NOT, one))
        yield from terms_in(rest, when)
    elif isinstance(tree, Binary) and tree.operator in LOGIC:
        yield from terms_in(tree.left, when)
        left = tree.left if tree.operator is Operator.AND else Unary(Operator.NOT, tree.left)
        yield from terms_in(tree.right, (*when, left))
    elif isinstance(tree, Binary) and tree.operator in COMPARISONS:
        yield from terms_in(tree.left, when)
        yield from terms_in(tree.right, when)
    elif isinstance(tree, Binary | Call):
        yield when, tree


def ends_of(kind: Type) -> tuple[float, float] | None:
    """Return the declared range of a number, None where there is none."""
    if isinstance(kind, IntType):
        return kind.low, kind.high
    if not isinstance(kind, FloatType) or kind.is_unbounded:
        return None
    # of 32 bits, what was written rounds to what holds: both are inside
    return min(kind.low, kind.written_range[0]), max(kind.high, kind.written_range[1])


def size_of(kind: Type) -> int:
    """Return how many values a type has; of fractions, more than can be followed."""
    if isinstance(kind, IntType):
        return kind.high - kind.low + 1
    if isinstance(kind, FloatType):
        return MAX_KEPT + 1
    return len(kind.values) if isinstance(kind, EnumType) else 2
