"""Symbolic evaluation of comparisons: one answer, or one path for each answer.

A comparison that reads one number splits the values of that number; where, is found by bisection, and where
bisection only guesses, the guess is corrected by proof. A comparison of several numbers becomes a relation.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from posewright.charts.expression import Expression, Literal, Name, Tree, compile_tree, names_in, rewrite
from posewright.charts.proof import Prover
from posewright.charts.reachability.abstraction import may_be_undefined
from posewright.charts.reachability.domain import (
    CompileAtIndex,
    Domain,
    IndexFunction,
    Spans,
    find_spans,
    merge_spans,
    partition,
)
from posewright.charts.reachability.limits import (
    MAX_BRANCHED_VALUES,
    MAX_CORRECTIONS,
    MAX_NEIGHBOURS,
    WORK_PER_VALUE,
)
from posewright.charts.reachability.path import PathCondition, Relation, solve_with_prover
from posewright.charts.types import BoolType, Value
from posewright.errors import ExpressionError

Registers = dict[str, Value]
"""The value of every register, by name."""

SymbolicFunction = Callable[[Registers, PathCondition], Value]
"""Evaluates an expression on a path; the path is then restricted to inputs that give this value."""


class SymbolicComparison:
    """A comparison without `and`, `or` or `if` inside, as a `SymbolicFunction`.

    Args:
        expression: the expression it is a part of.
        tree: the tree of the comparison.
        domains: the values of every input and event.
    """

    def __init__(self, expression: Expression, tree: Tree, domains: Mapping[str, Domain]) -> None:
        """Compile the comparison, and separate the inputs that it reads from the registers."""
        self.expression = expression
        self.tree = tree
        self.domains = domains
        names = sorted(names_in(tree) - expression.constant_values.keys())
        self.input_names = tuple(name for name in names if name in domains)
        self.register_names = tuple(name for name in names if name not in domains)
        self._evaluate = compile_tree(tree, expression.constant_values, expression.source)
        self._sets: dict[object, tuple[Spans, bool]] = {}

    def __call__(self, registers: Registers, path: PathCondition) -> bool:
        """Return whether the comparison holds on a path."""
        known_values = {name: registers[name] for name in self.register_names}
        if len(self.input_names) == 1:
            return self._split_input(self.input_names[0], known_values, path)
        while True:
            open_inputs = [name for name in self.input_names if not path.is_fixed(name)]
            if len(open_inputs) <= 1:
                break
            smallest = min(open_inputs, key=path.size)
            if path.size(smallest) > MAX_BRANCHED_VALUES and self.domains[smallest].is_number:
                return path.relate(self._relation(known_values, path))
            path.fork_all_values(smallest)
        known_values |= {name: path.value(name) for name in self.input_names if path.is_fixed(name)}
        return (
            self._split_input(open_inputs[0], known_values, path)
            if open_inputs
            else bool(self._evaluate(known_values))
        )

    def _split_input(self, name: str, known_values: dict[str, Value], path: PathCondition) -> bool:
        """Return whether the comparison holds, where `name` is the only input that is not known."""
        key = (name, tuple(known_values.values()))
        if key not in self._sets:
            self._sets[key] = self._find_set(name, known_values, path)
        spans, exact = self._sets[key]
        return path.split(name, spans) if exact else path.relate(self._relation(known_values, path))

    def _find_set(
        self, name: str, known_values: Mapping[str, Value], path: PathCondition
    ) -> tuple[Spans, bool]:
        """Return the values of one input for which the comparison holds, and whether that is exact."""
        domain = self.domains[name]
        compile_at_index = self._index_compiler(name, known_values, path)
        relation = self._substitute(known_values)
        spans, exact = find_spans(self.tree, name, domain, compile_at_index)
        if exact and not may_be_undefined(relation.condition, {name: domain.value_type}):
            return spans, True
        compute = compile_at_index(self.tree)

        def holds(index: int) -> bool:
            return bool(compute(index))

        return _correct_spans(spans, name, domain, relation, prover=path.solver.prover, holds=holds)

    def _index_compiler(
        self, name: str, known_values: Mapping[str, Value], path: PathCondition
    ) -> CompileAtIndex:
        """Return a function that compiles a term to a function of the index of one input's value."""
        value_of = self.domains[name].value
        expression = self.expression

        def compile_at_index(tree: Tree) -> IndexFunction:
            """Return a term as a function of the index; each call counts as work of the path."""
            evaluate = compile_tree(tree, expression.constant_values, expression.source)
            values = dict(known_values)

            def compute(index: int) -> Value:
                """Return the value of the term where the input has the value with this index."""
                path.work += WORK_PER_VALUE
                values[name] = value_of(index)
                try:
                    value: Value = evaluate(values)
                except ExpressionError:
                    value = False  # a path on which a divisor is zero ends before the comparison
                return value

            return compute

        return compile_at_index

    def _relation(self, known_values: Mapping[str, Value], path: PathCondition) -> Relation:
        """Return the comparison as a relation between the inputs that are not fixed."""
        fixed_inputs = {name: path.value(name) for name in self.input_names if path.is_fixed(name)}
        return self._substitute({**known_values, **fixed_inputs})

    def _substitute(self, known_values: Mapping[str, Value]) -> Relation:
        """Return the comparison as a relation, with the known names replaced by their values."""

        def substitute(node: Tree) -> Tree | None:
            return (
                Literal(known_values[node.name])
                if isinstance(node, Name) and node.name in known_values
                else None
            )

        tree = rewrite(self.tree, substitute)
        return Relation(replace(self.expression, tree=tree, type=BoolType()))


def _correct_spans(
    spans: Spans,
    name: str,
    domain: Domain,
    relation: Relation,
    *,
    prover: Prover,
    holds: Callable[[int], bool],
) -> tuple[Spans, bool]:
    """Return the values of one input for which a relation holds, and whether that is proved.

    Args:
        spans: a first guess. The prover names values for which it is wrong; these are corrected, with their
            neighbours, a few times.
        name: the name of the input.
        domain: the domain of the input.
        relation: a relation that reads only that input.
        prover: a prover that knows the type of the input.
        holds: a function that evaluates the relation at an index.
    """

    def find_in(subset: Spans, claim: Relation) -> tuple[bool, int | None]:
        """Return whether it is known if a relation can hold in a set, and an index at which it does."""
        if not subset:
            return True, None
        solution = solve_with_prover(prover, domains={name: domain}, sets={name: subset}, relations=[claim])
        value = None if solution.values is None else solution.values.get(name)
        return not solution.unknown_reason, None if value is None else domain.index(value)

    for _ in range(MAX_CORRECTIONS):
        is_known, wrong_index = find_in(spans, relation.negated())
        if is_known and wrong_index is None:
            outside = partition(domain.full, spans)[1]
            is_known, wrong_index = find_in(outside, relation)
        if not is_known or wrong_index is None:
            return spans, is_known
        wrong_span = _find_equal_neighbours(wrong_index, domain, holds)
        if holds(wrong_index):
            spans = merge_spans((*spans, wrong_span))
        else:
            spans = partition(spans, (wrong_span,))[1]
    return spans, False


def _find_equal_neighbours(index: int, domain: Domain, holds: Callable[[int], bool]) -> tuple[int, int]:
    """Return the span around an index in which a condition is the same, within `MAX_NEIGHBOURS`."""
    ((low, high),) = domain.full
    answer = holds(index)
    first = index
    while first > max(low, index - MAX_NEIGHBOURS) and holds(first - 1) is answer:
        first -= 1
    last = index
    while last < min(high, index + MAX_NEIGHBOURS) and holds(last + 1) is answer:
        last += 1
    return first, last
