"""One path through a tick: which inputs are still possible, and what was decided on the way."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TypeVar

from posewright.charts.reachability.axis import NO, YES, Spans, count, parted, plainest
from posewright.charts.reachability.inputs import InputSpace
from posewright.charts.reachability.relation import Relation
from posewright.charts.types import Value

T = TypeVar("T")

Choices = tuple[int, ...]

SAMPLES = 5
"""Values that stand for too many to be followed one by one."""


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
        if len(self.choices) < len(self.prefix):
            answer = self.choose(2) == 1
        else:
            answer = (
                self.choose(2, [i for i in (0, 1) if self.possible(self.sets, (*self.relations, both[i]))])
                == 1
            )
        self.relations.append(both[answer])
        self.related |= relation.names
        return answer

    def choose(self, count: int, possible: Iterable[int] | None = None) -> int:
        """Return one of the answers 0, 1, ... `count` - 1; the other possible ones are left for later."""
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
        if name in self.related and len(self.choices) >= len(self.prefix):
            answers = [
                i for i, one in enumerate(sets) if self.possible({**self.sets, name: one}, self.relations)
            ]
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
            spans = self.sets[name]
            found[name] = spans == YES if axes[name].is_truth else plainest(axes[name], spans)
        if self.relations:
            witness = self.solver.find(axes, self.sets, tuple(self.relations))
            found |= witness.values or {}
        return found


def paths(
    inputs: InputSpace, take: Callable[[PathCondition], T], limit: int
) -> Iterator[tuple[PathCondition, T]]:
    """Yield all paths of something, with what came of it; the last one has a doubt if there are too many.

    Args:
        inputs: that it depends on.
        take: does it, and asks the path for all that depends on inputs.
        limit: so many paths are followed at most.
    """
    waiting: list[Choices] = [()]
    count = 0
    while waiting:
        path = PathCondition(inputs, waiting.pop())
        result = take(path)
        waiting += path.open
        count += 1
        if count >= limit and waiting:
            path.doubts.append(f"more than {limit} cases")
            waiting.clear()
        yield path, result
