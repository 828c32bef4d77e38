"""One path through a tick: which inputs are still possible, what holds between them, what was decided."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, reduce
from itertools import islice, product
from typing import TypeVar

from posewright.charts.expression import Binary, Expression, Literal, Name, Operator, Tree
from posewright.charts.model import Chart
from posewright.charts.proof import Prover, SolverBudget
from posewright.charts.reachability.domain import NO, YES, Domain, Spans, count, parted, plainest
from posewright.charts.reachability.limits import MAX_SPANS, MAX_TRIED, WORK_FOR_STEP, WorkBudget
from posewright.charts.types import BoolType, Value
from posewright.errors import MissingExtraError


@dataclass(frozen=True)
class Relation:
    """A condition over several inputs, with all registers put in as numbers, and whether it is to hold."""

    condition: Expression
    holds: bool = True

    @cached_property
    def names(self) -> frozenset[str]:
        """The inputs that it reads."""
        return self.condition.names

    def turned(self) -> Relation:
        """Return the relation that holds where this one does not."""
        return replace(self, holds=not self.holds)


@dataclass(frozen=True)
class Solution:
    """What a solver found.

    Attributes:
        values: of the inputs that the relations read; None: none were found.
        unknown: why it is not known that there are none; empty where it is.
    """

    values: Mapping[str, Value] | None
    unknown: str = ""


Relations = Sequence[Relation]


@dataclass
class RelationSolver:
    """Finds inputs for which relations hold: by trying, else by asking the prover; and remembers."""

    prover: Prover
    known: dict[object, Solution] = field(default_factory=dict)
    tries: int = 0

    @property
    def work(self) -> int:
        """The work that was done so far, by all who share the prover's effort."""
        return self.tries + self.prover.budget.steps * WORK_FOR_STEP

    def find(self, axes: Mapping[str, Domain], sets: Mapping[str, Spans], relations: Relations) -> Solution:
        """Return values of the inputs within the sets for which all relations hold.

        Relations that have no input in common are looked at apart from each other.
        """
        values: dict[str, Value] = {}
        for group in _groups(relations):
            names = sorted(frozenset[str]().union(*(relation.names for relation in group)))
            key = (group, tuple([(name, sets[name]) for name in names]))
            if key not in self.known:
                self.known[key] = self._found({name: axes[name] for name in names}, sets, group)
            found = self.known[key]
            if found.values is None:
                return found
            values |= found.values
        return Solution(values)

    def _found(self, axes: Mapping[str, Domain], sets: Mapping[str, Spans], relations: Relations) -> Solution:
        several = [_some(axes[name], sets[name]) for name in axes]
        for values in islice(product(*several), MAX_TRIED):
            self.tries += 1
            point = dict(zip(axes, values, strict=True))
            if all(bool(one.condition.evaluate(point)) is one.holds for one in relations):
                return Solution(point)
        return decide(self.prover, axes, sets, relations)


def decide(
    prover: Prover, axes: Mapping[str, Domain], sets: Mapping[str, Spans], relations: Relations
) -> Solution:
    """Return values of the inputs within the sets for which all relations hold, as the prover finds them.

    Without the solver the answer is that it is not known.
    """
    bounds = [_bounds(name, axis, sets[name]) for name, axis in axes.items() if sets[name] != axis.whole]
    try:
        answer = prover.satisfiable(
            true=[*bounds, *(one.condition for one in relations if one.holds)],
            false=[one.condition for one in relations if not one.holds],
        )
    except MissingExtraError as error:
        return Solution(None, f"{_texts(relations)}: {error}")
    given: dict[str, Value] = {name: value for name, value in (answer.case or {}).items() if name in axes}
    indices = {name: axes[name].index(value) for name, value in given.items()}
    beside = any(not parted(((index, index),), sets[name])[0] for name, index in indices.items())
    if answer.possible is None or beside:
        return Solution(None, f"{_texts(relations)}: not decided")
    return Solution(None if answer.case is None else given)


def _texts(relations: Relations) -> str:
    return ", ".join(dict.fromkeys(f"`{one.condition}`" for one in relations))


def _groups(relations: Relations) -> list[tuple[Relation, ...]]:
    """Return relations in groups, so that no input is read in two of them."""
    groups: list[tuple[frozenset[str], tuple[Relation, ...]]] = []
    for relation in relations:
        apart = [group for group in groups if not group[0] & relation.names]
        met = [group for group in groups if group[0] & relation.names]
        names = relation.names.union(*(group[0] for group in met))
        groups = [*apart, (names, (*(one for group in met for one in group[1]), relation))]
    return [members for _, members in groups]


def _some(axis: Domain, spans: Spans) -> list[Value]:
    """Return the plainest value of a set, its ends and the middle."""
    low, high = spans[0][0], spans[-1][1]
    middle = sum(spans[len(spans) // 2]) // 2
    values = [plainest(axis, spans), *(axis.value(i) for i in (low, high, middle))]
    return list(dict.fromkeys(values))


def _bounds(name: str, axis: Domain, spans: Spans) -> Expression:
    """Return that an input is in a set, or, where that is in many pieces, between its ends."""
    if len(spans) > MAX_SPANS:
        spans = ((spans[0][0], spans[-1][1]),)
    return Expression(_any(_between(name, axis, low, high) for low, high in spans), BoolType())


def _between(name: str, axis: Domain, low: int, high: int) -> Tree:
    if not axis.is_number:
        values = (axis.value(index) for index in range(low, high + 1))
        return _any(Binary(Operator.EQUAL, Name(name), Literal(value)) for value in values)
    above = Binary(Operator.GREATER_EQUAL, Name(name), Literal(axis.value(low)))
    below = Binary(Operator.LESS_EQUAL, Name(name), Literal(axis.value(high)))
    return Binary(Operator.AND, above, below)


def _any(trees: Iterable[Tree]) -> Tree:
    return reduce(lambda one, other: Binary(Operator.OR, one, other), trees)


@dataclass(frozen=True, eq=False)
class InputSpace:
    """All inputs and events of a chart.

    Attributes:
        axes: the values of each.
        solver: finds inputs that are related in a certain way.
    """

    axes: Mapping[str, Domain]
    solver: RelationSolver

    @classmethod
    def of(cls, chart: Chart, budget: SolverBudget | None = None) -> InputSpace:
        """Return those of a chart; what asks the prover of them shares its effort with others."""
        axes = {name: Domain(kind) for name, kind in chart.inputs.items()}
        axes |= {name: Domain(BoolType()) for name in chart.events}
        types = {name: axis.kind for name, axis in axes.items()}
        return cls(axes, RelationSolver(Prover(types, budget=budget)))

    @cached_property
    def whole(self) -> Mapping[str, Spans]:
        """The set of all values of each."""
        return {name: axis.whole for name, axis in self.axes.items()}

    @cached_property
    def plain(self) -> Mapping[str, Value]:
        """Each as plain as may be: false, zero."""
        return {name: plainest(axis, axis.whole) for name, axis in self.axes.items()}


T = TypeVar("T")

Choices = tuple[int, ...]


class PathCondition:
    """The inputs of one tick, known as far as something asked for them.

    Where an answer is open, the path takes one that its `prefix` prescribes, or else the first, and notes
    the others in `open`: to follow them, the tick is run again with a longer prefix.

    Attributes:
        sets: the values of every input and event that are still possible.
        touched: the inputs of which something is known.
        relations: what holds, beyond that, between several of them.
        open: prefixes of the paths that part from this one.
        doubts: in words, why the paths may not be all there are.
        loose: whether a register was given a value that only stands for the one it would have.
        work: expressions that were computed for it.
    """

    def __init__(self, given: InputSpace, prefix: Choices = ()) -> None:
        self.given = given
        self.axes = given.axes
        self.sets = dict(given.whole)
        self.touched: list[str] = []
        self.solver = given.solver
        self.prefix = prefix
        self.choices: list[int] = []
        self.open: list[Choices] = []
        self.relations: list[Relation] = []
        self.related: frozenset[str] = frozenset()
        self.doubts: list[str] = []
        self.loose = False
        self.work = 1.0

    def holds(self, name: str) -> bool:
        """Return whether a truth value, an input or an event, is true on this path."""
        spans = self.sets[name]
        if spans in (YES, NO):
            return spans == YES
        if name in self.related:
            return self.split(name, YES)
        answer = self.choose(2) == 1
        self.sets[name] = YES if answer else NO
        self.touched.append(name)
        return answer

    def split(self, name: str, yes: Spans) -> bool:
        """Return whether an input has one of these values on this path."""
        inside, outside = parted(self.sets[name], yes)
        if not outside or not inside:
            return not outside
        return self.choose_set(name, (outside, inside)) == 1

    def known(self, name: str) -> bool:
        """Return whether just one value of an input is left."""
        spans = self.sets[name]
        return len(spans) == 1 and spans[0][0] == spans[0][1]

    def value(self, name: str) -> Value:
        """Return the one value that an input has."""
        return self.axes[name].value(self.sets[name][0][0])

    def size(self, name: str) -> int:
        """Return how many values of an input are possible."""
        return count(self.sets[name])

    def pick(self, name: str) -> Value:
        """Return the value of an input, each possible one on a path of its own."""
        spans = self.sets[name]
        if not self.known(name):
            singles = tuple(((i, i),) for low, high in spans for i in range(low, high + 1))
            self.choose_set(name, singles)
        return self.value(name)

    def sample(self, name: str) -> Value:
        """Return the value of an input, a few possible ones on paths of their own."""
        axis, spans = self.axes[name], self.sets[name]
        middle = spans[len(spans) // 2]
        tried = [axis.index(plainest(axis, spans)), spans[0][0], spans[-1][1], sum(middle) // 2]
        singles = tuple(((i, i),) for i in dict.fromkeys(tried))
        if count(spans) > len(singles):
            self.doubts.append(f"{name} was tried at {len(singles)} of its values only")
        self.choose_set(name, singles)
        return self.value(name)

    def relate(self, relation: Relation) -> bool:
        """Return whether something that several inputs have to do with holds on this path."""
        said = next((one for one in self.relations if one.condition == relation.condition), None)
        if said is not None:
            return said.holds
        both = (relation.turned(), relation)
        possible = (i for i in (0, 1) if self.possible(self.sets, (*self.relations, both[i])))
        answer = self.choose(2, possible) == 1
        self.relations.append(both[answer])
        self.related |= relation.names
        return answer

    def choose(self, count: int, possible: Iterable[int] | None = None) -> int:
        """Return one of the answers 0, 1, ... `count` - 1; the other possible ones are left for later.

        What is possible is only looked at where nothing is prescribed: it may take a proof.
        """
        at = len(self.choices)
        if at < len(self.prefix):
            choice = self.prefix[at]
        else:
            answers = list(range(count) if possible is None else possible) or [0]
            choice = answers[0]
            self.open += [(*self.choices, other) for other in reversed(answers[1:])]
        self.choices.append(choice)
        return choice

    def choose_set(self, name: str, sets: tuple[Spans, ...]) -> int:
        """Return which of several sets the value of an input lies in."""
        answers = None
        if name in self.related:
            pairs = enumerate(sets)
            answers = (i for i, one in pairs if self.possible({**self.sets, name: one}, self.relations))
        choice = self.choose(len(sets), answers)
        self.sets[name] = sets[choice]
        self.touched.append(name)
        return choice

    def possible(self, sets: Mapping[str, Spans], relations: Iterable[Relation]) -> bool:
        """Return whether some inputs are as all this says; where that is not known, they are not followed."""
        found = self.solver.find(self.axes, sets, tuple(relations))
        if found.unknown:
            self.doubts.append(found.unknown)
        return found.values is not None

    def inputs(self) -> dict[str, Value]:
        """Return inputs and events that lead along this path, as plain as may be."""
        axes, found = self.axes, dict(self.given.plain)
        for name in self.touched:
            found[name] = plainest(axes[name], self.sets[name])
        if self.relations:
            witness = self.solver.find(axes, self.sets, tuple(self.relations))
            found |= witness.values or {}
            if witness.values is None:
                self.doubts.append(witness.unknown or "no inputs were found that lead along a path")
        return found


def paths(
    inputs: InputSpace,
    take: Callable[[PathCondition], T],
    limit: int,
    budget: WorkBudget | None = None,
) -> Iterator[tuple[PathCondition, T]]:
    """Yield all paths of something, with what came of it; the last one has a doubt if there are too many.

    Args:
        inputs: that it depends on.
        take: does it, and asks the path for all that depends on inputs.
        limit: so many paths are followed at most.
        budget: the work that following them may take, one path in any case; None: any.
    """
    waiting: list[Choices] = [()]
    count = 0
    while waiting:
        path = PathCondition(inputs, waiting.pop())
        before = inputs.solver.work
        result = take(path)
        waiting += path.open
        count += 1
        over = budget.spend(path.work + inputs.solver.work - before) if budget else ""
        if waiting and (over or count >= limit):
            path.doubts.append(over or f"more than {limit} cases")
            waiting.clear()
        yield path, result
