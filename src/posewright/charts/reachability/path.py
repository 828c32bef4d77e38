"""Path conditions of symbolic ticks: which inputs are possible on a path, and what holds between them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, reduce
from itertools import islice, product
from typing import TypeVar

from posewright.charts.expression import Binary, Expression, Literal, Name, Operator, Tree
from posewright.charts.model import Chart
from posewright.charts.proof import Prover, SolverBudget
from posewright.charts.reachability.domain import (
    FALSE_ONLY,
    TRUE_ONLY,
    Domain,
    Spans,
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
        values: the values of the inputs that the relations read; None if there are none or none were found.
        unknown_reason: why it is not known whether there are any; empty if it is known.
    """

    values: Mapping[str, Value] | None
    unknown_reason: str = ""


Relations = Sequence[Relation]


@dataclass
class RelationSolver:
    """Finds inputs for which relations hold, by sampling and then with the prover; caches the solutions."""

    prover: Prover
    solutions: dict[object, Solution] = field(default_factory=dict)
    n_samples: int = 0

    @property
    def work(self) -> float:
        """The work done so far by all that share the prover's budget, in evaluated expressions."""
        return self.n_samples + self.prover.budget.steps * WORK_PER_SOLVER_STEP

    def solve(
        self, domains: Mapping[str, Domain], sets: Mapping[str, Spans], relations: Relations
    ) -> Solution:
        """Return inputs within `sets` for which all relations hold.

        Groups of relations that have no input in common are solved separately.
        """
        values: dict[str, Value] = {}
        for group in _group_by_inputs(relations):
            names = sorted(frozenset[str]().union(*(relation.names for relation in group)))
            key = (group, tuple([(name, sets[name]) for name in names]))
            if key not in self.solutions:
                self.solutions[key] = self._solve_group({name: domains[name] for name in names}, sets, group)
            solution = self.solutions[key]
            if solution.values is None:
                return solution
            values |= solution.values
        return Solution(values)

    def _solve_group(
        self, domains: Mapping[str, Domain], sets: Mapping[str, Spans], relations: Relations
    ) -> Solution:
        """Return inputs for which all relations hold, the first of some samples or what the prover finds."""
        samples = [_sample_set(domains[name], sets[name]) for name in domains]
        for combination in islice(product(*samples), MAX_SAMPLES):
            self.n_samples += 1
            inputs = dict(zip(domains, combination, strict=True))
            if all(bool(relation.condition.evaluate(inputs)) is relation.holds for relation in relations):
                return Solution(inputs)
        return solve_with_prover(self.prover, domains, sets, relations)


def solve_with_prover(
    prover: Prover, domains: Mapping[str, Domain], sets: Mapping[str, Spans], relations: Relations
) -> Solution:
    """Return inputs within `sets` for which all relations hold, as the prover finds them.

    Without an installed SMT solver the result is unknown.
    """
    bounds = [
        _set_condition(name, domain, sets[name])
        for name, domain in domains.items()
        if sets[name] != domain.full
    ]
    try:
        answer = prover.satisfiable(
            true=[*bounds, *(relation.condition for relation in relations if relation.holds)],
            false=[relation.condition for relation in relations if not relation.holds],
        )
    except MissingExtraError as error:
        return Solution(values=None, unknown_reason=f"{_format_relations(relations)}: {error}")
    case = answer.case or {}
    values: dict[str, Value] = {name: value for name, value in case.items() if name in domains}
    is_outside = False  # where a set has many spans, the prover knows only its bounds
    for name, value in values.items():
        index = domains[name].index(value)
        inside, _ = partition(((index, index),), sets[name])
        is_outside = is_outside or not inside
    if answer.possible is None or is_outside:
        return Solution(values=None, unknown_reason=f"{_format_relations(relations)}: not decided")
    return Solution(None if answer.case is None else values)


def _format_relations(relations: Relations) -> str:
    return ", ".join(dict.fromkeys(f"`{relation.condition}`" for relation in relations))


def _group_by_inputs(relations: Relations) -> list[tuple[Relation, ...]]:
    """Return relations in groups, so that no input is read in two groups."""
    groups: list[tuple[frozenset[str], tuple[Relation, ...]]] = []
    for relation in relations:
        separate = [group for group in groups if not group[0] & relation.names]
        overlapping = [group for group in groups if group[0] & relation.names]
        names = relation.names.union(*(group[0] for group in overlapping))
        members = [member for group in overlapping for member in group[1]]
        groups = [*separate, (names, (*members, relation))]
    return [members for _, members in groups]


def _sample_set(domain: Domain, spans: Spans) -> list[Value]:
    """Return the simplest value of a set, its bounds and a value in the middle."""
    low = spans[0][0]
    high = spans[-1][1]
    middle = sum(spans[len(spans) // 2]) // 2
    values = [simplest_value(domain, spans), *(domain.value(i) for i in (low, high, middle))]
    return list(dict.fromkeys(values))


def _set_condition(name: str, domain: Domain, spans: Spans) -> Expression:
    """Return the condition that an input is in a set; of a set with many spans, between its bounds."""
    if len(spans) > MAX_SPANS:
        spans = ((spans[0][0], spans[-1][1]),)
    return Expression(
        _disjunction(_span_condition(name, domain, low, high) for low, high in spans), BoolType()
    )


def _span_condition(name: str, domain: Domain, low: int, high: int) -> Tree:
    """Return the condition that an input has a value with an index from `low` to `high`."""
    if not domain.is_number:
        values = (domain.value(index) for index in range(low, high + 1))
        return _disjunction(Binary(Operator.EQUAL, Name(name), Literal(value)) for value in values)
    at_least_low = Binary(Operator.GREATER_EQUAL, Name(name), Literal(domain.value(low)))
    at_most_high = Binary(Operator.LESS_EQUAL, Name(name), Literal(domain.value(high)))
    return Binary(Operator.AND, at_least_low, at_most_high)


def _disjunction(trees: Iterable[Tree]) -> Tree:
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
        return {name: domain.full for name, domain in self.domains.items()}

    @cached_property
    def simplest_values(self) -> Mapping[str, Value]:
        """The simplest value of each input: false, zero."""
        return {name: simplest_value(domain, domain.full) for name, domain in self.domains.items()}


T = TypeVar("T")

Choices = tuple[int, ...]
"""The choices on a path, in order: which of the possible answers was taken."""


class PathCondition:
    """The inputs of one symbolic tick, restricted as far as the tick depends on them.

    Where several answers are possible, the path takes the one that `prefix` prescribes, or else the first,
    and adds the others to `open_prefixes`. To follow them, the tick is run again with a longer prefix.

    Attributes:
        sets: the values of every input and event that are still possible.
        restricted: the inputs whose set was restricted.
        relations: relations between several inputs that hold on this path.
        open_prefixes: prefixes of the paths that branch off from this one.
        incomplete_reasons: why the paths may not cover all inputs.
        is_approximate: whether a register was set to a value that only represents its actual one.
        work: expressions that were evaluated on this path.
    """

    def __init__(self, space: InputSpace, prefix: Choices = ()) -> None:
        """Start with all inputs possible; `prefix` prescribes the first choices of the path."""
        self.space = space
        self.domains = space.domains
        self.sets = dict(space.full_sets)
        self.restricted: list[str] = []
        self.solver = space.solver
        self.prefix = prefix
        self.choices: list[int] = []
        self.open_prefixes: list[Choices] = []
        self.relations: list[Relation] = []
        self.related_names: frozenset[str] = frozenset()
        self.incomplete_reasons: list[str] = []
        self.is_approximate = False
        self.work = 1.0

    def holds(self, name: str) -> bool:
        """Return whether a Boolean input or an event is true on this path."""
        spans = self.sets[name]
        if spans in (TRUE_ONLY, FALSE_ONLY):
            return spans == TRUE_ONLY
        if name in self.related_names:
            return self.split(name, TRUE_ONLY)
        answer = self.choose(2) == 1
        self.sets[name] = TRUE_ONLY if answer else FALSE_ONLY
        self.restricted.append(name)
        return answer

    def split(self, name: str, spans: Spans) -> bool:
        """Return whether the value of an input is in a set on this path."""
        inside, outside = partition(self.sets[name], spans)
        if not outside or not inside:
            return not outside
        return self.choose_set(name, (outside, inside)) == 1

    def is_fixed(self, name: str) -> bool:
        """Return whether only one value of an input is possible."""
        spans = self.sets[name]
        return len(spans) == 1 and spans[0][0] == spans[0][1]

    def value(self, name: str) -> Value:
        """Return the value of an input that is fixed."""
        return self.domains[name].value(self.sets[name][0][0])

    def size(self, name: str) -> int:
        """Return how many values of an input are possible."""
        return count_values(self.sets[name])

    def fork_all_values(self, name: str) -> Value:
        """Fix an input, with one path for each possible value, and return its value."""
        if not self.is_fixed(name):
            spans = self.sets[name]
            single_value_sets = tuple(((i, i),) for low, high in spans for i in range(low, high + 1))
            self.choose_set(name, single_value_sets)
        return self.value(name)

    def fork_samples(self, name: str) -> Value:
        """Fix an input, with one path for each of a few samples, and return its value."""
        domain = self.domains[name]
        spans = self.sets[name]
        middle_span = spans[len(spans) // 2]
        simplest = domain.index(simplest_value(domain, spans))
        samples = [simplest, spans[0][0], spans[-1][1], sum(middle_span) // 2]
        single_value_sets = tuple(((i, i),) for i in dict.fromkeys(samples))
        if count_values(spans) > len(single_value_sets):
            self.incomplete_reasons.append(f"{name} was tried at {len(single_value_sets)} of its values only")
        self.choose_set(name, single_value_sets)
        return self.value(name)

    def relate(self, relation: Relation) -> bool:
        """Return whether a relation between several inputs holds on this path."""
        for known_relation in self.relations:
            if known_relation.condition == relation.condition:
                return known_relation.holds
        alternatives = (relation.negated(), relation)
        possible = (i for i in (0, 1) if self._is_possible(self.sets, (*self.relations, alternatives[i])))
        answer = self.choose(2, possible) == 1
        self.relations.append(alternatives[answer])
        self.related_names |= relation.names
        return answer

    def choose(self, count: int, possible: Iterable[int] | None = None) -> int:
        """Return one of the choices 0 to `count` - 1; the other possible ones become open prefixes.

        Args:
            count: number of choices.
            possible: the possible choices; iterated only beyond the prefix, since it may take a proof.
        """
        position = len(self.choices)
        if position < len(self.prefix):
            choice = self.prefix[position]
        else:
            possible_choices = list(range(count) if possible is None else possible) or [0]
            choice = possible_choices[0]
            self.open_prefixes += [
                (*self.choices, alternative) for alternative in reversed(possible_choices[1:])
            ]
        self.choices.append(choice)
        return choice

    def choose_set(self, name: str, sets: tuple[Spans, ...]) -> int:
        """Restrict an input to one of several sets, and return the index of the set."""
        possible = None
        if name in self.related_names:
            possible = (
                i
                for i, spans in enumerate(sets)
                if self._is_possible({**self.sets, name: spans}, self.relations)
            )
        choice = self.choose(len(sets), possible)
        self.sets[name] = sets[choice]
        self.restricted.append(name)
        return choice

    def _is_possible(self, sets: Mapping[str, Spans], relations: Iterable[Relation]) -> bool:
        """Return whether inputs within the sets fulfil all relations; False, with a reason, if unknown."""
        solution = self.solver.solve(self.domains, sets, tuple(relations))
        if solution.unknown_reason:
            self.incomplete_reasons.append(solution.unknown_reason)
        return solution.values is not None

    def inputs(self) -> dict[str, Value]:
        """Return the simplest values of all inputs and events that lead along this path."""
        values = dict(self.space.simplest_values)
        for name in self.restricted:
            values[name] = simplest_value(self.domains[name], self.sets[name])
        if self.relations:
            solution = self.solver.solve(self.domains, self.sets, tuple(self.relations))
            values |= solution.values or {}
            if solution.values is None:
                self.incomplete_reasons.append(
                    solution.unknown_reason or "no inputs were found that lead along a path"
                )
        return values


def explore_paths(
    space: InputSpace,
    run: Callable[[PathCondition], T],
    limit: int,
    budget: WorkBudget | None = None,
) -> Iterator[tuple[PathCondition, T]]:
    """Run a function of the inputs along every path, and yield each path with the result.

    Args:
        space: the inputs.
        run: a function that reads the inputs only through its path.
        limit: maximum number of paths; if there are more, the last path has this as an incomplete reason.
        budget: the work that the paths may take; at least one path is followed. None means no limit.
    """
    prefixes: list[Choices] = [()]
    count = 0
    while prefixes:
        path = PathCondition(space, prefixes.pop())
        work_before = space.solver.work
        result = run(path)
        prefixes += path.open_prefixes
        count += 1
        stop_reason = budget.spend(path.work + space.solver.work - work_before) if budget else ""
        if prefixes and (stop_reason or count >= limit):
            path.incomplete_reasons.append(stop_reason or f"more than {limit} cases")
            prefixes.clear()
        yield path, result
