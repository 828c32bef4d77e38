"""Recorder of coverage: runs a chart and records how every decision was made, and by which conditions.

For each evaluation of a decision it records the outcome, the conditions that were evaluated, and those that
decided: the conditions that no other condition masks. A condition that `and` or `or` did not evaluate masks
nothing. The condition of an `if` decides only where the other branch would have had the other value.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import count
from typing import NamedTuple

from posewright.charts.coverage.coverage import Coverage
from posewright.charts.coverage.obligation import (
    Fact,
    TestObligations,
    condition_fact,
    decision_fact,
    effect_fact,
    has_choice,
    segment_fact,
    state_fact,
    transition_fact,
)
from posewright.charts.expression import (
    LOGIC,
    Binary,
    Env,
    Evaluate,
    Expression,
    If,
    Operator,
    Tree,
    Unary,
    children,
    compile_tree,
    split_cases,
)
from posewright.charts.machine import ROOT, Interpreter, Snapshot, TickOutcome
from posewright.charts.model import Chart
from posewright.charts.scenarios import Row
from posewright.charts.types import Value
from posewright.errors import ExpressionError

ConditionValues = frozenset[tuple[int, bool]]
"""Conditions of a decision, by number, with their values."""


class DecisionRecord(NamedTuple):
    """One evaluation of a decision.

    Attributes:
        decision_number: number of the decision.
        outcome: whether it was true.
        evaluated: the conditions that were evaluated.
        deciding: the conditions that decided.
    """

    decision_number: int
    outcome: bool
    evaluated: ConditionValues
    deciding: ConditionValues


class PartResult(NamedTuple):
    """The result of evaluating a part of a decision.

    Attributes:
        value: the value of the part.
        evaluated: its conditions that were evaluated.
        deciding: its conditions that decided its value.
    """

    value: bool
    evaluated: ConditionValues
    deciding: ConditionValues


EvaluatePart = Callable[[Env], PartResult]
"""Evaluates a part of a decision."""


class _DecisionCompiler:
    """Compiles an expression so that every evaluation of its decisions is recorded.

    Args:
        expression: an expression of a machine.
        first_decision: number of its first decision; they are numbered in the order of `decisions_in`.
        record: receives every evaluation.
    """

    def __init__(
        self, expression: Expression, first_decision: int, record: Callable[[DecisionRecord], object]
    ) -> None:
        """Prepare the compilation of one expression; arguments as in the class."""
        self.expression = expression
        self.decision_numbers = count(first_decision)
        self.record = record

    def compile_value(self) -> Evaluate:
        """Return a function that computes an expression, and records the decisions in it.

        The expression is an assigned value, which is not a decision itself.
        """
        record_inner = self._compile_inner_decisions(self.expression.tree)
        compute = self.expression.evaluate

        def evaluate(env: Env) -> Value:
            record_inner(env)
            value: Value = compute(env)
            return value

        return evaluate

    def compile_decision(self, tree: Tree) -> Evaluate:
        """Return a function that makes a decision and records it, with its number and its conditions."""
        decision_number = next(self.decision_numbers)
        record = self.record
        evaluate_part = self._compile_part(tree, condition_numbers=count())

        def decide(env: Env) -> bool:
            result = evaluate_part(env)
            record(DecisionRecord(decision_number, result.value, result.evaluated, result.deciding))
            return result.value

        return decide

    def _compile_part(self, tree: Tree, condition_numbers: count[int]) -> EvaluatePart:
        """Return a function that evaluates a part of a decision.

        Args:
            tree: the part.
            condition_numbers: numbers the conditions in the order in which they are written.
        """
        if isinstance(tree, Binary) and tree.operator in LOGIC:
            left = self._compile_part(tree.left, condition_numbers)
            right = self._compile_part(tree.right, condition_numbers)
            return _combine_logic(left, right, decisive_value=tree.operator is Operator.OR)
        if isinstance(tree, Unary) and tree.operator is Operator.NOT:
            return _negate(self._compile_part(tree.operand, condition_numbers))
        if isinstance(tree, If):
            return self._compile_choice(tree, condition_numbers)
        return self._compile_condition(tree, next(condition_numbers))

    def _compile_choice(self, tree: If, condition_numbers: count[int]) -> EvaluatePart:
        """Return a function that evaluates a chain of `if`s in a decision.

        Args:
            tree: the chain: `a if c else b if d else e`.
            condition_numbers: numbers the conditions in the order in which they are written.
        """
        cases, default = split_cases(tree)
        case_parts = []
        for condition, value in cases:
            condition_part = self._compile_part(condition, condition_numbers)
            value_part = self._compile_part(value, condition_numbers)
            case_parts.append((condition_part, value_part))
        default_part = self._compile_part(default, condition_numbers)
        unrecorded_cases = [
            (self._compile_unrecorded(condition), self._compile_unrecorded(value))
            for condition, value in cases
        ]
        return _combine_choice(
            case_parts,
            default_part,
            unrecorded_cases,
            unrecorded_default=self._compile_unrecorded(default),
        )

    def _compile_unrecorded(self, tree: Tree) -> Evaluate:
        """Return a function that evaluates a tree without recording its decisions."""
        return compile_tree(tree, self.expression.constant_values, self.expression.source)

    def _compile_condition(self, tree: Tree, condition_number: int) -> EvaluatePart:
        """Return a function that evaluates a single condition, and records the decisions inside it.

        A condition decides its own value.
        """
        record_inner = self._compile_inner_decisions(tree)
        compute = self._compile_unrecorded(tree)
        is_true = frozenset({(condition_number, True)})
        is_false = frozenset({(condition_number, False)})
        result_if_true = PartResult(value=True, evaluated=is_true, deciding=is_true)
        result_if_false = PartResult(value=False, evaluated=is_false, deciding=is_false)

        def evaluate(env: Env) -> PartResult:
            record_inner(env)
            return result_if_true if compute(env) else result_if_false

        return evaluate

    def _compile_inner_decisions(self, tree: Tree) -> Evaluate:
        """Return a function that makes and records the decisions inside a tree that is not one itself.

        These are the conditions of `if`s. Only the value of the branch that is taken is looked into.
        """
        if isinstance(tree, If):
            cases, default = split_cases(tree)
            case_functions = [
                (self.compile_decision(condition), self._compile_inner_decisions(value))
                for condition, value in cases
            ]
            return _compile_first_true(case_functions, self._compile_inner_decisions(default))
        record_parts = [self._compile_inner_decisions(part) for part in children(tree) if has_choice(part)]

        def record_all(env: Env) -> None:
            for record_part in record_parts:
                record_part(env)

        return record_all


def _compile_first_true(cases: list[tuple[Evaluate, Evaluate]], default: Evaluate) -> Evaluate:
    """Return a function that evaluates the chain `a if c else b if d else e`.

    Args:
        cases: functions that evaluate the condition and the value of each `if`: c and a, then d and b.
        default: evaluates the value of the last `else`: e.
    """

    def evaluate(env: Env) -> Value:
        """Return the value of the first branch whose condition is true, else that of the last `else`."""
        evaluate_branch = default
        for evaluate_condition, evaluate_case_value in cases:
            if evaluate_condition(env):
                evaluate_branch = evaluate_case_value
                break
        value: Value = evaluate_branch(env)
        return value

    return evaluate


def _combine_logic(left: EvaluatePart, right: EvaluatePart, *, decisive_value: bool) -> EvaluatePart:
    """Return a function that evaluates `and` or `or` in a decision.

    If one side has the decisive value, its conditions decide alone; else those of both sides do.

    Args:
        left: evaluates the left side.
        right: evaluates the right side.
        decisive_value: True for `or`, which a true side decides; False for `and`.
    """

    def evaluate(env: Env) -> PartResult:
        """Return the result of both sides, or of the left one if it has the decisive value."""
        left_result = left(env)
        if left_result.value is decisive_value:
            return left_result
        right_result = right(env)
        evaluated = left_result.evaluated | right_result.evaluated
        if right_result.value is decisive_value:
            return PartResult(right_result.value, evaluated, deciding=right_result.deciding)
        return PartResult(
            right_result.value, evaluated, deciding=left_result.deciding | right_result.deciding
        )

    return evaluate


def _negate(operand: EvaluatePart) -> EvaluatePart:
    """Return a function that evaluates `not` in a decision; the same conditions decide as in its operand."""

    def evaluate(env: Env) -> PartResult:
        result = operand(env)
        return result._replace(value=not result.value)

    return evaluate


def _combine_choice(
    cases: list[tuple[EvaluatePart, EvaluatePart]],
    default: EvaluatePart,
    unrecorded_cases: list[tuple[Evaluate, Evaluate]],
    unrecorded_default: Evaluate,
) -> EvaluatePart:
    """Return a function that evaluates a chain of `if`s in a decision.

    The conditions of the branch that is taken decide, as in the branch alone. The condition of an `if`
    decides as well if the chain would have the other value, had the condition had the other value.

    Args:
        cases: evaluate the condition and the value of each `if`.
        default: evaluates the value of the last `else`.
        unrecorded_cases: the same as `cases`, without recording.
        unrecorded_default: the same as `default`, without recording.
    """

    def evaluate_with_negated_condition(case_index: int, env: Env, *, was_true: bool) -> bool | None:
        """Return the value that the chain would have if the condition of one `if` had the other value.

        None if that value cannot be computed, as of a division by zero.
        """
        if was_true:  # the chain would go on with the next `if`
            evaluate_branch = _compile_first_true(unrecorded_cases[case_index + 1 :], unrecorded_default)
        else:
            _, evaluate_branch = unrecorded_cases[case_index]
        try:
            return bool(evaluate_branch(env))
        except ExpressionError:
            return None

    def evaluate(env: Env) -> PartResult:
        """Return the result of the branch that is taken, with the conditions that chose it."""
        condition_results: list[PartResult] = []
        evaluate_branch = default
        for evaluate_condition, evaluate_case_value in cases:
            condition_result = evaluate_condition(env)
            condition_results.append(condition_result)
            if condition_result.value:
                evaluate_branch = evaluate_case_value
                break
        value, evaluated, deciding = evaluate_branch(env)
        for case_index, condition_result in enumerate(condition_results):
            evaluated |= condition_result.evaluated
            negated_value = evaluate_with_negated_condition(case_index, env, was_true=condition_result.value)
            makes_difference = negated_value is (not value)
            if makes_difference:
                deciding |= condition_result.deciding
        return PartResult(value, evaluated, deciding)

    return evaluate


class CoverageRecorder:
    """Runs ticks of a chart like an interpreter, and records what each of them covers.

    Attributes:
        facts: all facts recorded so far.
        interpreter: runs the ticks.
        obligations: the items to be covered.
        decision_records: evaluations of decisions in the last tick, in order.
    """

    def __init__(self, interpreter: Interpreter, obligations: TestObligations | None = None) -> None:
        """Replace every expression that contains decisions by a function that records them.

        Args:
            interpreter: runs the ticks.
            obligations: the items to be covered; None for all of the chart.
        """
        self.interpreter = interpreter
        self.obligations = obligations or TestObligations(interpreter.machine)
        self.facts: set[Fact] = set()
        self.decision_records: list[DecisionRecord] = []
        self._recording_functions: dict[int, Evaluate] = {}
        for site in self.obligations.decision_sites:
            for expression in site.lowered_expressions:
                compiler = _DecisionCompiler(expression, site.first_decision, self.decision_records.append)
                if site.is_decision:
                    function = compiler.compile_decision(expression.tree)
                else:
                    function = compiler.compile_value()
                self._recording_functions[id(expression)] = function

    @property
    def coverage(self) -> Coverage:
        """The coverage recorded so far."""
        return Coverage(self.obligations, frozenset(self.facts))

    def run_tick(self, state: Snapshot, inputs: Mapping[str, object]) -> TickOutcome:
        """Run one tick, add what it covers to `facts`, and return its outcome.

        What a failing tick covers before its error counts as well.
        """
        self.decision_records.clear()
        outcome = None
        try:
            outcome = self.interpreter.outcome(state, inputs, self._compute)
        finally:
            self.facts |= self.tick_facts(outcome)
        self.facts.update(self._passing_facts(outcome))
        return outcome

    def run(self, rows: Iterable[Row]) -> None:
        """Run one tick a row, from the start."""
        state = self.interpreter.initial()
        for row in rows:
            if row.start is not None:
                state = self.interpreter.snapshot_in(row.start)
            state = self.run_tick(state, row.inputs).after

    def tick_facts(self, outcome: TickOutcome | None) -> frozenset[Fact]:
        """Return what the last tick covered: decisions, the transitions taken, the states active after it.

        Args:
            outcome: the outcome of the tick; None if it failed, which covers only decisions.
        """
        facts: set[Fact] = set()
        for record in self.decision_records:
            decision_number = record.decision_number
            facts.add(decision_fact(decision_number, outcome=record.outcome))
            for condition_number, value in record.evaluated:
                facts.add(condition_fact(decision_number, condition_number, value=value))
            for condition_number, value in record.deciding:
                facts.add(effect_fact(decision_number, condition_number, value=value, outcome=record.outcome))
        if outcome is not None:
            facts.update(map(transition_fact, outcome.taken_transitions))
            facts.update(map(state_fact, outcome.after.active_nodes))
        return frozenset(facts)

    def _compute(self, expression: Expression, env: Env) -> Value:
        """Return the value of an expression, and record the decisions in it."""
        compute = self._recording_functions.get(id(expression), expression.evaluate)
        value: Value = compute(env)
        return value

    def _passing_facts(self, outcome: TickOutcome) -> Iterator[Fact]:
        """Yield the facts about segments and states that a tick passes.

        These are the segments of the transitions that were taken, and the states that they leave and enter,
        active after the tick or not.
        """
        nodes = self.interpreter.machine.nodes
        for transition in outcome.taken_transitions:
            segments_behind_junctions = transition.segments[1:]
            for segment in segments_behind_junctions:
                yield segment_fact(self.obligations.segment_numbers[id(segment)])
            entered_indices = [target.node for target in transition.targets if target.history is None]
            for passed_index in (transition.source, *entered_indices):
                for node_index in (passed_index, *nodes[passed_index].ancestors):
                    if node_index != ROOT:
                        yield state_fact(node_index)


def cover_run(chart: Chart, rows: Iterable[Row]) -> Coverage:
    """Run a chart over rows of inputs, and return the coverage of the run.

    Raises:
        ExpressionError: a guard or an action divides by zero.
        UnknownNameError: a row starts in a state that does not exist.
    """
    recorder = CoverageRecorder(Interpreter(chart))
    recorder.run(rows)
    return recorder.coverage
