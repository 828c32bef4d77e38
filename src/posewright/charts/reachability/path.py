"""Path conditions of symbolic ticks: which inputs are possible on a path, and what holds between them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, reduce
from itertools import islice, product
from typing import NamedTuple, TypeVar

from posewright.charts.expression import Binary, Expression, Literal, Name, Operator, Tree
from posewright.charts.model import Chart
from posewright.charts.proof import Prover, SolverBudget
from posewright.charts.reachability.domain import (
    FALSE_ONLY,
    TRUE_ONLY,
    Domain,
    Spans,
    bounds_of,
    count_values,
    partition,
    simplest_value,
)
from posewright.charts.reachability.limits import (
    MAX_SAMPLES,
    MAX_SPANS,
    WORK_PER_SOLVER_STEP,
    WorkBudget,
)
from posewright.charts.types import BoolType, Value
from posewright.errors import MissingExtraError


@dataclass(frozen=True)
class Relation:
    """A condition over several inputs, with the registers substituted, and whether it is to hold."""

    condition: Expression
    holds: bool = True

    @cached_property
    def names(self) -> frozenset[str]:
        """The inputs that it reads."""
        return self.condition.names

    def negated(self) -> Relation:
        """Return the opposite relation."""
        return replace(self, holds=not self.holds)


@dataclass(frozen=True)
class Solution:
    """Inputs for which some relations hold.

    Attributes:
        values: the values of the inputs that the relations read; None if there are no such inputs, or none
            were found.
        unknown_reason: why it is not known whether there are any; empty if it is known.
    """

    values: Mapping[str, Value] | None
    unknown_reason: str = ""


Relations = Sequence[Relation]


@dataclass
class RelationSolver:
    """Finds inputs for which relations hold, by sampling and then with the prover; caches the solutions.

    Attributes:
        prover: a prover that knows the types of all inputs.
        solutions: the solutions found so far, by the relations and the sets of their inputs.
        n_samples: number of combinations that were tried so far.
    """

    prover: Prover
    solutions: dict[object, Solution] = field(default_factory=dict)
    n_samples: int = 0

    @property
    def work_done(self) -> float:
        """The work done so far by all that share the prover's budget, in evaluated expressions."""
        return self.n_samples + self.prover.budget.steps_taken * WORK_PER_SOLVER_STEP

    def solve(
        self, domains: Mapping[str, Domain], possible_values: Mapping[str, Spans], relations: Relations
    ) -> Solution:
        """Return inputs for which all relations hold, or that there are none.

        Groups of relations that have no input in common are solved separately.

        Args:
            domains: the values of each input.
            possible_values: the values that each input may have, as spans of indices into its domain.
            relations: the relations.
        """
        values: dict[str, Value] = {}
        for group in _group_by_inputs(relations):
            names = sorted(frozenset[str]().union(*(relation.names for relation in group)))
            cache_key = (group, tuple([(name, possible_values[name]) for name in names]))
            if cache_key not in self.solutions:
                group_domains = {name: domains[name] for name in names}
                self.solutions[cache_key] = self._solve_group(group_domains, possible_values, group)
            solution = self.solutions[cache_key]
            if solution.values is None:
                return solution
            values |= solution.values
        return Solution(values)

    def _solve_group(
        self, domains: Mapping[str, Domain], possible_values: Mapping[str, Spans], relations: Relations
    ) -> Solution:
        """Return inputs for which all relations hold: the first of some samples, or what the prover finds."""
        samples_by_input = [_sample_values(domain, possible_values[name]) for name, domain in domains.items()]
        for combination in islice(product(*samples_by_input), MAX_SAMPLES):
            self.n_samples += 1
            inputs = dict(zip(domains, combination, strict=True))
            if all(bool(relation.condition.evaluate(inputs)) is relation.holds for relation in relations):
                return Solution(inputs)
        return solve_with_prover(self.prover, domains, possible_values, relations)


def solve_with_prover(
    prover: Prover,
    domains: Mapping[str, Domain],
    possible_values: Mapping[str, Spans],
    relations: Relations,
) -> Solution:
    """Return possible inputs for which all relations hold, as the prover finds them.

    Without an installed SMT solver the result is unknown.

    Args:
        prover: a prover that knows the types of the inputs.
        domains: the values of each input.
        possible_values: the values that each input may have, as spans of indices into its domain.
        relations: the relations.
    """
    membership_conditions = [
        _build_membership_condition(name, domain, possible_values[name])
        for name, domain in domains.items()
        if possible_values[name] != domain.full_set
    ]
    try:
        answer = prover.satisfiable(
            true=[*membership_conditions, *(relation.condition for relation in relations if relation.holds)],
            false=[relation.condition for relation in relations if not relation.holds],
        )
    except MissingExtraError as error:
        return Solution(values=None, unknown_reason=f"{_format_relations(relations)}: {error}")
    if answer.possible is None:
        return Solution(values=None, unknown_reason=f"{_format_relations(relations)}: not decided")
    if answer.case is None:
        return Solution(values=None)
    values = {name: value for name, value in answer.case.items() if name in domains}
    for name, value in values.items():
        if not _is_in_set(value, domains[name], possible_values[name]):
            # of a set with many spans, the prover knows only the bounds
            return Solution(values=None, unknown_reason=f"{_format_relations(relations)}: not decided")
    return Solution(values)


def _is_in_set(value: Value, domain: Domain, spans: Spans) -> bool:
    """Return whether a value is in a set of values, given as spans of indices into their domain."""
    index = domain.index_of(value)
    inside, _outside = partition(((index, index),), spans)
    return bool(inside)


def _format_relations(relations: Relations) -> str:
    """Return the conditions of relations as text, each once."""
    return ", ".join(dict.fromkeys(f"`{relation.condition}`" for relation in relations))


class _RelationGroup(NamedTuple):
    """Relations that have inputs in common, and the inputs that they read."""

    names: frozenset[str]
    relations: tuple[Relation, ...]


def _group_by_inputs(relations: Relations) -> list[tuple[Relation, ...]]:
    """Return relations in groups, so that no input is read in two groups."""
    groups: list[_RelationGroup] = []
    for relation in relations:
        # the relation joins all groups that read one of its inputs into one
        separate_groups = [group for group in groups if not group.names & relation.names]
        overlapping_groups = [group for group in groups if group.names & relation.names]
        names = relation.names.union(*(group.names for group in overlapping_groups))
        joined_relations = [joined for group in overlapping_groups for joined in group.relations]
        groups = [*separate_groups, _RelationGroup(names, (*joined_relations, relation))]
    return [group.relations for group in groups]


def _sample_values(domain: Domain, spans: Spans) -> list[Value]:
    """Return the simplest value of a set, its bounds and a value in the middle."""
    first_index, last_index = bounds_of(spans)
    values = [
        simplest_value(domain, spans),
        domain.value_at(first_index),
        domain.value_at(last_index),
        domain.value_at(_middle_index(spans)),
    ]
    return list(dict.fromkeys(values))


def _middle_index(spans: Spans) -> int:
    """Return the index in the middle of the middle span of a set."""
    low, high = spans[len(spans) // 2]
    return (low + high) // 2


def _build_membership_condition(name: str, domain: Domain, spans: Spans) -> Expression:
    """Return the condition that an input is in a set; of a set with many spans, between its bounds."""
    if len(spans) > MAX_SPANS:
        spans = (bounds_of(spans),)
    span_conditions = (_build_span_condition(name, domain, low, high) for low, high in spans)
    return Expression(_disjunction(span_conditions), BoolType())


def _build_span_condition(name: str, domain: Domain, low: int, high: int) -> Tree:
    """Return the condition that an input has a value with an index from `low` to `high`."""
    if not domain.is_number:
        values = (domain.value_at(index) for index in range(low, high + 1))
        return _disjunction(Binary(Operator.EQUAL, Name(name), Literal(value)) for value in values)
    at_least_low = Binary(Operator.GREATER_EQUAL, Name(name), Literal(domain.value_at(low)))
    at_most_high = Binary(Operator.LESS_EQUAL, Name(name), Literal(domain.value_at(high)))
    return Binary(Operator.AND, at_least_low, at_most_high)


def _disjunction(trees: Iterable[Tree]) -> Tree:
    """Return conditions joined by `or`."""
    return reduce(lambda left, right: Binary(Operator.OR, left, right), trees)


@dataclass(frozen=True, eq=False)
class InputSpace:
    """All inputs and events of a chart.

    Attributes:
        domains: the values of each input; events are Booleans.
        solver: finds inputs for which relations hold.
    """

    domains: Mapping[str, Domain]
    solver: RelationSolver

    @classmethod
    def of(cls, chart: Chart, solver_budget: SolverBudget | None = None) -> InputSpace:
        """Return the input space of a chart; its prover may share a budget with others."""
        domains = {name: Domain(value_type) for name, value_type in chart.inputs.items()}
        domains |= {name: Domain(BoolType()) for name in chart.events}
        types = {name: domain.value_type for name, domain in domains.items()}
        return cls(domains, RelationSolver(Prover(types, budget=solver_budget)))

    @cached_property
    def full_sets(self) -> Mapping[str, Spans]:
        """The set of all values of each input."""
        return {name: domain.full_set for name, domain in self.domains.items()}

    @cached_property
    def simplest_values(self) -> Mapping[str, Value]:
        """The simplest value of each input: false, zero."""
        return {name: simplest_value(domain, domain.full_set) for name, domain in self.domains.items()}


T = TypeVar("T")

Choices = tuple[int, ...]
"""The choices on a path, in order: which of the possible answers was taken."""


class PathCondition:
    """The inputs of one symbolic tick, restricted as far as the tick depends on them.

    Where a question about the inputs has several possible answers, the path takes the one that `prefix`
    prescribes, or else the first, and adds the others to `unexplored_prefixes`. To follow them, the tick is
    run again with a longer prefix. A method that answers a question therefore restricts the path to the
    inputs with this answer.

    Attributes:
        possible_values: the values of every input and event that are still possible, as indices into its
            domain.
        restricted_inputs: the inputs whose possible values were restricted.
        choices: the answers taken so far, as numbers.
        relations: relations between several inputs that hold on this path.
        names_in_relations: the inputs that these relations read.
        unexplored_prefixes: for each path that branches off from this one, its first choices, up to the one
            in which it differs.
        incomplete_reasons: why the paths may not cover all inputs.
        has_representative_values: whether a register was set to a value that only represents its actual one.
        work: expressions that were evaluated on this path; other work counts as fractions of one.
    """

    def __init__(self, space: InputSpace, prefix: Choices = ()) -> None:
        """Start with all values of all inputs possible.

        Args:
            space: the inputs.
            prefix: the first choices of the path, made where an earlier path branched off.
        """
        self.space = space
        self.domains = space.domains
        self.solver = space.solver
        # how far the inputs are restricted: the possible values of each, and relations between several
        self.possible_values = dict(space.full_sets)
        self.restricted_inputs: list[str] = []
        self.relations: list[Relation] = []
        self.names_in_relations: frozenset[str] = frozenset()  # the inputs that the relations read
        # the answers to questions about the inputs, by number, and the beginnings of paths with other answers
        self.prefix = prefix
        self.choices: list[int] = []
        self.unexplored_prefixes: list[Choices] = []
        self.incomplete_reasons: list[str] = []
        self.has_representative_values = False
        self.work = 1.0  # in evaluated expressions

    def holds(self, name: str) -> bool:
        """Return whether a Boolean input or an event is true on this path, and record that it is.

        Where both values are possible, the path takes one; the exploration tries the other on another path.
        """
        values = self.possible_values[name]
        if values in (TRUE_ONLY, FALSE_ONLY):
            return values == TRUE_ONLY
        if name in self.names_in_relations:  # its relation to other inputs may exclude a value
            return self.decide_membership(name, TRUE_ONLY)
        is_true = self.choose(n_choices=2) == 1  # choice 0 is false, 1 is true
        self.possible_values[name] = TRUE_ONLY if is_true else FALSE_ONLY
        self.restricted_inputs.append(name)
        return is_true

    def decide_membership(self, name: str, spans: Spans) -> bool:
        """Return whether the value of an input is in a set on this path; both possible answers get a path."""
        inside, outside = partition(self.possible_values[name], spans)
        if not outside:
            return True
        if not inside:
            return False
        return self.choose_set(name, (outside, inside)) == 1  # the index of `inside`

    def is_fixed(self, name: str) -> bool:
        """Return whether only one value of an input is possible."""
        first, last = bounds_of(self.possible_values[name])
        return first == last

    def value(self, name: str) -> Value:
        """Return the value of an input that is fixed."""
        first, _ = bounds_of(self.possible_values[name])
        return self.domains[name].value_at(first)

    def n_possible_values(self, name: str) -> int:
        """Return how many values of an input are possible on the path."""
        return count_values(self.possible_values[name])

    def fork_all_values(self, name: str) -> Value:
        """Fix an input, with one path for each possible value, and return its value."""
        if not self.is_fixed(name):
            spans = self.possible_values[name]
            single_value_sets = tuple(((i, i),) for low, high in spans for i in range(low, high + 1))
            self.choose_set(name, single_value_sets)
        return self.value(name)

    def fork_samples(self, name: str) -> Value:
        """Fix an input at a sample of its possible values, with one path for each sample; return the value.

        If it has other values as well, the path gets an incomplete reason.
        """
        domain = self.domains[name]
        spans = self.possible_values[name]
        simplest_index = domain.index_of(simplest_value(domain, spans))
        sample_indices = dict.fromkeys((simplest_index, *bounds_of(spans), _middle_index(spans)))
        single_value_sets = tuple(((i, i),) for i in sample_indices)
        if count_values(spans) > len(single_value_sets):
            self.incomplete_reasons.append(f"{name} was tried at {len(single_value_sets)} of its values only")
        self.choose_set(name, single_value_sets)
        return self.value(name)

    def decide_relation(self, relation: Relation) -> bool:
        """Return whether a relation between several inputs holds on this path; both answers get a path."""
        for known_relation in self.relations:
            if known_relation.condition == relation.condition:
                return known_relation.holds
        alternatives = (relation.negated(), relation)  # choice 0: it does not hold; choice 1: it holds
        possible_choices = (
            choice
            for choice, alternative in enumerate(alternatives)
            if self._is_possible(self.possible_values, (*self.relations, alternative))
        )
        holds = self.choose(n_choices=2, possible_choices=possible_choices) == 1
        self.relations.append(relation if holds else relation.negated())
        self.names_in_relations |= relation.names
        return holds

    def choose(self, n_choices: int, possible_choices: Iterable[int] | None = None) -> int:
        """Return the number of the choice that the path takes; the others are left for paths that branch off.

        Args:
            n_choices: number of choices, which are numbered from 0.
            possible_choices: the numbers of the possible ones; None if all are. It is iterated only where
                `prefix` does not prescribe the choice, since it may take a proof.
        """
        position = len(self.choices)
        if position < len(self.prefix):
            choice = self.prefix[position]
        else:
            candidates = list(range(n_choices) if possible_choices is None else possible_choices)
            # none is known to be possible: the path continues with the first, and reports itself incomplete
            choice, *other_choices = candidates or [0]
            # reversed, as the last of the unexplored prefixes is followed first
            self.unexplored_prefixes += [(*self.choices, other) for other in reversed(other_choices)]
        self.choices.append(choice)
        return choice

    def choose_set(self, name: str, sets: tuple[Spans, ...]) -> int:
        """Restrict an input to one of several sets of values, and return the index of the set.

        Args:
            name: the input.
            sets: the sets, each as spans of indices into the input's domain.
        """
        possible_choices = None  # all, unless relations exclude some
        if name in self.names_in_relations:
            possible_choices = (
                i
                for i, spans in enumerate(sets)
                if self._is_possible({**self.possible_values, name: spans}, self.relations)
            )
        choice = self.choose(len(sets), possible_choices)
        self.possible_values[name] = sets[choice]
        self.restricted_inputs.append(name)
        return choice

    def _is_possible(self, possible_values: Mapping[str, Spans], relations: Iterable[Relation]) -> bool:
        """Return whether some possible inputs fulfil all relations.

        If that is not known, it is False, and the path gets an incomplete reason.
        """
        solution = self.solver.solve(self.domains, possible_values, tuple(relations))
        if solution.unknown_reason:
            self.incomplete_reasons.append(solution.unknown_reason)
        return solution.values is not None

    def inputs(self) -> dict[str, Value]:
        """Return the simplest values of all inputs and events that lead along this path.

        If none are found that fulfil the relations, the path gets an incomplete reason, and the values may
        not fulfil them.
        """
        values = dict(self.space.simplest_values)
        for name in self.restricted_inputs:
            values[name] = simplest_value(self.domains[name], self.possible_values[name])
        if not self.relations:
            return values
        solution = self.solver.solve(self.domains, self.possible_values, tuple(self.relations))
        if solution.values is None:
            reason = solution.unknown_reason or "no inputs were found that lead along a path"
            self.incomplete_reasons.append(reason)
            return values
        return {**values, **solution.values}


def explore_paths(
    space: InputSpace,
    run: Callable[[PathCondition], T],
    max_paths: int,
    budget: WorkBudget | None = None,
) -> Iterator[tuple[PathCondition, T]]:
    """Run a function of the inputs along every path, and yield each path with the result.

    A path is the set of inputs for which the function gets the same answers to its questions about them. Each
    path starts with a prefix: the choices that lead to the point where it branches off an earlier path.

    Args:
        space: the inputs.
        run: a function that reads the inputs only through its path.
        max_paths: maximum number of paths; if there are more, the last path has this as an incomplete reason.
        budget: the work that the paths may take; at least one path is followed. None means no limit.
    """
    unexplored_prefixes: list[Choices] = [()]
    n_paths = 0
    while unexplored_prefixes:
        path = PathCondition(space, unexplored_prefixes.pop())
        solver_work_before = space.solver.work_done
        result = run(path)
        unexplored_prefixes += path.unexplored_prefixes
        n_paths += 1
        solver_work = space.solver.work_done - solver_work_before
        stop_reason = budget.add_work(path.work + solver_work) if budget else ""
        if unexplored_prefixes and (stop_reason or n_paths >= max_paths):
            path.incomplete_reasons.append(stop_reason or f"more than {max_paths} cases")
            unexplored_prefixes.clear()
        yield path, result
