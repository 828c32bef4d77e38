"""Symbolic evaluation of comparisons: one answer, or one path for each answer.

A comparison that reads one number splits the values of that number; where, is found by bisection, and where
bisection only guesses, the guess is corrected by proof. A comparison of several numbers becomes a relation.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import NamedTuple

from posewright.charts.expression import (
    Evaluate,
    Expression,
    Literal,
    Name,
    Tree,
    compile_tree,
    names_in,
    rewrite,
)
from posewright.charts.proof import Prover
from posewright.charts.reachability.abstraction import may_be_undefined
from posewright.charts.reachability.domain import (
    Domain,
    IndexFunction,
    Spans,
    TruthSet,
    find_spans,
    merge_spans,
    partition,
)
from posewright.charts.reachability.limits import (
    MAX_BRANCHED_VALUES,
    MAX_CORRECTED_NEIGHBOURS,
    MAX_CORRECTIONS,
    WORK_PER_VALUE,
)
from posewright.charts.reachability.path import PathCondition, Relation, solve_with_prover
from posewright.charts.types import BoolType, Value
from posewright.errors import ExpressionError

Registers = dict[str, Value]
"""The value of every register, by name."""

SymbolicFunction = Callable[[Registers, PathCondition], Value]
"""Evaluates an expression on a path; the path is then restricted to inputs that give this value."""


class _TermAtIndex:
    """The value of a term as a function of the index of one input's value; an `IndexFunction`.

    Each call counts as work of the path, since the work of a tick is limited.

    Attributes:
        evaluate: computes the term from the values of all names in it, by name.
        input_name: the input that varies.
        value_at: returns the value of the input with an index.
        value_by_name: the values of the other names; the value of the input is added by each call.
        path: the path whose work each call adds to.
    """

    def __init__(
        self,
        evaluate: Evaluate,
        input_name: str,
        domain: Domain,
        known_values: Mapping[str, Value],
        path: PathCondition,
    ) -> None:
        """Prepare the evaluation of a term.

        Args:
            evaluate: computes the term from the values of all names in it, by name.
            input_name: the input that varies.
            domain: the values of that input.
            known_values: the values of the other names.
            path: the path whose work each call adds to.
        """
        self.evaluate = evaluate
        self.input_name = input_name
        self.value_at = domain.value_at
        self.value_by_name = dict(known_values)
        self.path = path

    def __call__(self, index: int) -> Value:
        """Return the value of the term where the input has the value with this index.

        Where the term divides by zero it is False, so that every comparison has some result; a path on which
        a divisor is zero ends before the comparison is made.
        """
        self.path.work += WORK_PER_VALUE
        self.value_by_name[self.input_name] = self.value_at(index)
        try:
            value: Value = self.evaluate(self.value_by_name)
        except ExpressionError:
            value = False
        return value


class SymbolicComparison:
    """A comparison without `and`, `or` or `if` inside, as a `SymbolicFunction`.

    Args:
        expression: the expression it is a part of.
        tree: the tree of the comparison.
        domains: the values of every input and event.

    Attributes:
        input_names: the inputs and events that it reads, sorted.
        register_names: the other names that it reads, sorted.
        _evaluate: computes the comparison from the values of all names in it.
        _truth_sets: a cache of `_find_truth_set`, by the name of the input and the values of the other names.
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
        self._truth_sets: dict[object, TruthSet] = {}

    def __call__(self, registers: Registers, path: PathCondition) -> bool:
        """Return whether the comparison holds on a path, which is restricted to inputs with this answer.

        An input is fixed if it has only one value on the path, else it is open. Inputs of few values are
        fixed, with a path for each value, until one open input remains. Where two or more inputs of many
        values remain open, the comparison becomes a relation between them.
        """
        known_values = {name: registers[name] for name in self.register_names}
        if len(self.input_names) == 1:
            return self._decide_by_input(self.input_names[0], known_values, path)
        while True:
            open_inputs = [name for name in self.input_names if not path.is_fixed(name)]
            if len(open_inputs) <= 1:
                break
            smallest_input = min(open_inputs, key=path.n_possible_values)
            has_many_values = path.n_possible_values(smallest_input) > MAX_BRANCHED_VALUES
            if has_many_values and self.domains[smallest_input].is_number:
                return path.decide_relation(self._build_relation(known_values, path))
            path.fork_all_values(smallest_input)
        known_values |= {name: path.value(name) for name in self.input_names if path.is_fixed(name)}
        if open_inputs:
            return self._decide_by_input(open_inputs[0], known_values, path)
        return bool(self._evaluate(known_values))

    def _decide_by_input(self, name: str, known_values: dict[str, Value], path: PathCondition) -> bool:
        """Return whether the comparison holds on a path, where all names but one input have known values.

        Args:
            name: that input. Its values are split into those for which the comparison holds and the others.
            known_values: the values of all other names in the comparison.
            path: the path; it is restricted to the inputs with this answer.
        """
        cache_key = (name, tuple(known_values.values()))
        if cache_key not in self._truth_sets:
            self._truth_sets[cache_key] = self._find_truth_set(name, known_values, path)
        spans, is_exact = self._truth_sets[cache_key]
        if is_exact:
            return path.decide_membership(name, spans)
        # the set is only a guess, so the prover decides
        return path.decide_relation(self._build_relation(known_values, path))

    def _find_truth_set(self, name: str, known_values: Mapping[str, Value], path: PathCondition) -> TruthSet:
        """Return the values of one input for which the comparison holds, and whether the set is exact.

        A set that bisection only guesses is corrected with the prover.

        Args:
            name: the input.
            known_values: the values of all other names in the comparison.
            path: the path, whose work counts.
        """
        domain = self.domains[name]

        def compile_at_index(tree: Tree) -> IndexFunction:
            """Return a part of the comparison as a function of the index of the input's value."""
            evaluate = compile_tree(tree, self.expression.constant_values, self.expression.source)
            return _TermAtIndex(evaluate, name, domain, known_values, path)

        relation = self._substitute(known_values)
        spans, is_exact = find_spans(self.tree, name, domain, compile_at_index)
        if is_exact and not may_be_undefined(relation.condition, {name: domain.value_type}):
            return TruthSet(spans, is_exact=True)
        evaluate_comparison = compile_at_index(self.tree)

        def holds(index: int) -> bool:
            """Return whether the comparison holds for the input's value with an index."""
            return bool(evaluate_comparison(index))

        return _correct_spans(spans, name, domain, relation, prover=path.solver.prover, holds=holds)

    def _build_relation(self, known_values: Mapping[str, Value], path: PathCondition) -> Relation:
        """Return the comparison as a relation between the inputs that are not fixed."""
        fixed_inputs = {name: path.value(name) for name in self.input_names if path.is_fixed(name)}
        return self._substitute({**known_values, **fixed_inputs})

    def _substitute(self, known_values: Mapping[str, Value]) -> Relation:
        """Return the comparison as a relation, with the known names replaced by their values."""

        def substitute(node: Tree) -> Tree | None:
            """Return a known value in place of a name; None for other nodes, which stay as they are."""
            if isinstance(node, Name) and node.name in known_values:
                return Literal(known_values[node.name])
            return None

        tree = rewrite(self.tree, substitute)
        return Relation(replace(self.expression, tree=tree, type=BoolType()))


class _FoundIndex(NamedTuple):
    """The result of a search for a value for which a relation holds.

    Attributes:
        domain_index: the index of the value in its domain; None if there is none, or none was found.
        is_known: whether it is known that there is one or none.
    """

    domain_index: int | None
    is_known: bool


def _correct_spans(
    spans: Spans,
    name: str,
    domain: Domain,
    relation: Relation,
    *,
    prover: Prover,
    holds: Callable[[int], bool],
) -> TruthSet:
    """Return the values of one input for which a relation holds, and whether that is proved.

    The prover searches for a value inside the guessed set for which the relation does not hold, and for one
    outside for which it does. Each error is corrected together with its neighbours; after a few, the set is
    given up as unproved.

    Args:
        spans: the guessed set.
        name: the name of the input.
        domain: the domain of the input.
        relation: a relation that reads only that input.
        prover: a prover that knows the type of the input.
        holds: a function that evaluates the relation at an index.
    """

    def find_index_in(subset: Spans, searched_relation: Relation) -> _FoundIndex:
        """Return the index of a value in a set for which a relation holds, if there is one.

        Args:
            subset: the set, as spans of indices into the domain of the input.
            searched_relation: the relation, which reads only the input.
        """
        if not subset:
            return _FoundIndex(None, is_known=True)
        solution = solve_with_prover(
            prover, domains={name: domain}, possible_values={name: subset}, relations=[searched_relation]
        )
        value = None if solution.values is None else solution.values.get(name)
        index = None if value is None else domain.index_of(value)
        return _FoundIndex(index, is_known=not solution.unknown_reason)

    for _ in range(MAX_CORRECTIONS):
        wrong_index, is_known = find_index_in(spans, relation.negated())
        if is_known and wrong_index is None:
            _inside, outside = partition(domain.full_set, spans)
            wrong_index, is_known = find_index_in(outside, relation)
        if not is_known or wrong_index is None:
            return TruthSet(spans, is_exact=is_known)
        wrong_span = _find_equal_neighbours(wrong_index, domain, holds)
        if holds(wrong_index):
            spans = merge_spans((*spans, wrong_span))
        else:
            _wrong, spans = partition(spans, (wrong_span,))
    return TruthSet(spans, is_exact=False)


def _find_equal_neighbours(index: int, domain: Domain, holds: Callable[[int], bool]) -> tuple[int, int]:
    """Return the span around an index in which a condition is the same, within `MAX_CORRECTED_NEIGHBOURS`.

    Args:
        index: the index.
        domain: the domain of the input.
        holds: evaluates the condition at an index.
    """
    low, high = domain.index_bounds
    lowest = max(low, index - MAX_CORRECTED_NEIGHBOURS)
    highest = min(high, index + MAX_CORRECTED_NEIGHBOURS)
    holds_at_index = holds(index)
    first = index
    while first > lowest and holds(first - 1) is holds_at_index:
        first -= 1
    last = index
    while last < highest and holds(last + 1) is holds_at_index:
        last += 1
    return first, last
