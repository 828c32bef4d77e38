"""Distinguishes a mutant from its chart: by inputs that show a difference, or a proof that there is none."""

from __future__ import annotations

import random
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import cached_property

from posewright.charts.machine import Interpreter, Machine, Snapshot, StateNode, lower
from posewright.charts.model import expressions_in
from posewright.charts.mutation.mutant_pair import MutantPair, PairStep
from posewright.charts.mutation.mutation import Mutant
from posewright.charts.product import StatePair, are_equivalent_in_states
from posewright.charts.reachability import Exploration, ExplorationLimits
from posewright.charts.types import BoolType, EnumType, FloatType, Type, Value

InputRow = Mapping[str, Value]
"""Inputs and events of one tick."""

Continuation = tuple[Snapshot, tuple[InputRow, ...]]
"""A state of the chart, and inputs from there on."""

MAX_STEPS = 3_000
"""StepMode that are examined where equivalence can no longer be proved."""

MAX_STEPS_WITHOUT_PROOF = 2_000
"""StepMode that are examined where equivalence is not to be proved."""

MAX_PAIRS = 600
"""Pairs of states from which all steps are followed."""

MAX_PAIR_STEPS = 6_000
"""StepMode from these pairs that are followed in all."""

MAX_HOLD_PAIRS = 16
"""Pairs of states from which inputs are repeated."""

MAX_HOLD_INPUTS = 8
"""Inputs that are repeated from each of these pairs."""

HOLD_TICKS = 120
"""Ticks for which inputs are repeated."""

EQUIVALENCE_LIMITS = ExplorationLimits(states=3_000, incomplete_states=0)
"""Limits of exploring a chart and its mutant side by side from the start."""

SEED = 1
"""Seed of the random inputs; they are the same every time."""

N_RANDOM_RUNS = 40
"""Runs with random inputs."""

RANDOM_RUN_TICKS = 60
"""Ticks of each run with random inputs."""

CHANGE_PROBABILITY = 0.25
"""Probability that an input changes in a tick of a random run."""

EVENT_PROBABILITY = 0.05
"""Probability that an event occurs in a tick of a random run."""

MAX_INPUT_VALUES = 24
"""Values of one input that random runs choose from."""


class RandomInputs:
    """Generates inputs that are likely to distinguish two charts.

    They consist of the values that make a difference somewhere in the chart, and the bounds of ranges.
    """

    def __init__(self, exploration: Exploration) -> None:
        self.exploration = exploration

    @cached_property
    def values(self) -> Mapping[str, Sequence[Value]]:
        """The values of every input that runs choose from."""
        kinds = self.exploration.chart.inputs
        explored_values: dict[str, dict[Value, None]] = {name: {} for name in kinds}
        for state in self.exploration.distinct_states:
            for step in self.exploration.steps_from(state):
                for name, values in explored_values.items():
                    values[step.inputs[name]] = None
        return {
            name: [*_boundary_values(kinds[name]), *values][:MAX_INPUT_VALUES]
            for name, values in explored_values.items()
        }

    def generate_runs(self, states: Sequence[Snapshot]) -> Iterator[Continuation]:
        """Yield runs: a state to begin in, in turn, and random inputs from there on."""
        if not states:
            return
        rng = random.Random(SEED)  # noqa: S311 -- not for secrets
        for number in range(N_RANDOM_RUNS):
            yield states[number % len(states)], tuple(self._generate_rows(rng))

    def _generate_rows(self, rng: random.Random) -> Iterator[InputRow]:
        """Yield the inputs of one run, tick by tick; most inputs stay as they were."""
        row = {name: rng.choice(values) for name, values in self.values.items()}
        for _ in range(RANDOM_RUN_TICKS):
            changes = {
                name: rng.choice(values)
                for name, values in self.values.items()
                if rng.random() < CHANGE_PROBABILITY
            }
            row = {**row, **changes}
            events = {name: rng.random() < EVENT_PROBABILITY for name in self.exploration.chart.events}
            yield {**row, **events}


def _boundary_values(value_type: Type) -> list[Value]:
    """Return the bounds and the zero of a number, or all values of another type."""
    if isinstance(value_type, BoolType):
        return [False, True]
    if isinstance(value_type, EnumType):
        return list(value_type.values)
    if isinstance(value_type, FloatType) and value_type.is_unbounded:
        return [0.0]
    return list(dict.fromkeys([value_type.low, value_type.high, value_type.default]))


class DivergenceSearch:
    """Searches runs from pairs of states that differ, but not visibly, for a visible difference.

    Args:
        exploration: the exploration of the chart.
        pair: the chart and its mutant.

    Attributes:
        is_exhaustive: whether every continuation was followed to its end.
    """

    def __init__(self, exploration: Exploration, pair: MutantPair) -> None:
        self.exploration = exploration
        self.pair = pair
        self.queue: deque[tuple[Continuation, StatePair]] = deque()
        self.visited: set[object] = set()
        self.is_exhaustive = True

    def add(self, state: Snapshot, step: PairStep, inputs_before: tuple[InputRow, ...] = ()) -> None:
        """Add the pair that a step leads to.

        Args:
            state: a state of the chart, where the run begins.
            step: the last one of the run.
            inputs_before: inputs from `state` to the step.
        """
        if step.chart_after is None or step.mutant_after is None:
            return
        key = step.chart_after.key, step.mutant_after.key
        if key not in self.visited:
            self.visited.add(key)
            continuation = (state, (*inputs_before, step.inputs))
            self.queue.append((continuation, (step.chart_after, step.mutant_after)))

    def search_by_holding_inputs(self) -> Continuation | None:
        """Return a run that shows a difference after repeated inputs, None if none does.

        Every input that makes a difference in the chart's state is tried.
        """
        for (state, inputs), pair in list(self.queue)[:MAX_HOLD_PAIRS]:
            rows = {tuple(step.inputs.items()): step.inputs for step in self.exploration.steps_from(pair[0])}
            for row in list(rows.values())[:MAX_HOLD_INPUTS]:
                row_without_events = {**row, **dict.fromkeys(self.exploration.chart.events, False)}
                run = (*inputs, row, *[row_without_events] * HOLD_TICKS)
                prefix = self.find_distinguishing_prefix(state, run)
                if prefix:
                    return state, prefix
        return None

    def search_by_random_inputs(self, random_inputs: RandomInputs) -> Continuation | None:
        """Return a random run that shows a difference, from a state in which a difference begins."""
        start_states = list(dict.fromkeys(state for (state, _), _ in self.queue))
        for state, rows in random_inputs.generate_runs(start_states):
            prefix = self.find_distinguishing_prefix(state, rows)
            if prefix:
                return state, prefix
        return None

    def search_exhaustively(self) -> Continuation | None:
        """Return a run that shows a difference, following every step from every pair within limits."""
        n_pairs = 0
        n_steps = 0
        while self.queue:
            n_pairs += 1
            if n_pairs > MAX_PAIRS or n_steps > MAX_PAIR_STEPS:
                self.is_exhaustive = False
                return None
            (state, inputs), pair = self.queue.popleft()
            for step in self.pair.steps(pair):
                n_steps += 1
                self.is_exhaustive = self.is_exhaustive and not step.is_incomplete
                if self.pair.shows_difference(step.chart_after, step.mutant_after):
                    prefix = self.find_distinguishing_prefix(state, (*inputs, step.inputs))
                    if prefix:
                        return state, prefix
                    self.is_exhaustive = False
                elif not self.pair.is_same(step):
                    self.is_exhaustive = self.is_exhaustive and step.has_same_terms
                    self.add(state, step, inputs)
        return None

    def find_distinguishing_prefix(self, state: Snapshot, inputs: Sequence[InputRow]) -> tuple[InputRow, ...]:
        """Return the inputs up to the first difference in a run from the start; empty if there is none.

        Args:
            state: a state of the chart; the run first leads there.
            inputs: the inputs from there on.
        """
        pair = self.pair.chart.initial(), self.pair.mutant.initial()
        rows_before = self.exploration.trace_to(state)
        for count, row in enumerate((*rows_before, *inputs), start=1 - len(rows_before)):
            chart_state, mutant_state = self.pair.step(pair, row)
            if chart_state is None:
                return ()
            if mutant_state is None or self.pair.shows_difference(chart_state, mutant_state):
                return tuple(inputs[: max(count, 1)])
            pair = chart_state, mutant_state
        return ()


@dataclass(frozen=True)
class ChangedNodes:
    """The nodes that are not the same in a chart and its mutant.

    Attributes:
        active: those that differ in what they do while they are active, or when they are left.
        entered: those that differ in what they do when they are entered.
    """

    active: frozenset[int]
    entered: frozenset[int]

    @property
    def nodes(self) -> frozenset[int]:
        """All of them."""
        return self.active | self.entered


def find_changed_nodes(chart: Machine, mutant: Machine) -> ChangedNodes:
    """Return where the machines of a chart and its mutant differ."""

    def behaviour_while_active(node: StateNode) -> tuple[object, ...]:
        transitions = [
            (t.events, t.wait, t.targets, t.domain, t.since_register, t.guards, t.do)
            for t in node.transitions
        ]
        return node.during, node.exit, node.counters, node.history_kinds, transitions

    active = set[int]()
    entered = set[int]()
    for node, mutant_node in zip(chart.nodes, mutant.nodes, strict=True):
        if behaviour_while_active(node) != behaviour_while_active(mutant_node):
            active.add(node.index)
        if (node.initial, node.entry) != (mutant_node.initial, mutant_node.entry):
            entered.add(node.index)
    return ChangedNodes(frozenset(active), frozenset(entered))


class MutantStatus(Enum):
    """How a mutant behaves compared with its chart."""

    DISTINGUISHED = "apart"
    EQUIVALENT = "alike"
    UNKNOWN = "unknown"


@dataclass(frozen=True)
class Distinction:
    """How a mutant behaves compared with its chart, and inputs that show it.

    Attributes:
        before: the state in which the difference begins.
        inputs: rows from there; the difference shows after the last of them.
    """

    status: MutantStatus
    before: Snapshot | None = None
    inputs: tuple[Mapping[str, Value], ...] = ()


class Distinguisher:
    """Distinguishes mutants of one chart from it.

    A mutant is proved to be equivalent if one tick of both, from any state that the chart can reach and for
    all inputs, leaves both in the same state: then so does every further tick. A mutant with other waiting
    times is explored side by side with the chart, from the start.

    Args:
        exploration: the exploration of the chart; the more variables it tracks, the more mutants are decided.
    """

    def __init__(self, exploration: Exploration) -> None:
        self.exploration = exploration
        self.touched_nodes = [
            (state, _find_touched_nodes(exploration, state)) for state in exploration.distinct_states
        ]
        self.random_inputs = RandomInputs(exploration)

    def distinguish(self, mutant: Mutant, *, prove: bool = True) -> Distinction:
        """Return inputs that show a difference of a mutant, or that there are none.

        Args:
            mutant: a mutant of the chart.
            prove: go on where no difference was found by likely inputs, to prove that there is none.
        """
        machine = lower(mutant.chart)
        changes = find_changed_nodes(self.exploration.machine, machine)
        has_same_start = mutant.chart.start_values() == self.exploration.chart.start_values()
        changes_nothing = mutant.change is not None and mutant.change.makes_no_difference
        if changes_nothing or (has_same_start and not changes.nodes):
            return Distinction(MutantStatus.EQUIVALENT)
        pair = MutantPair(self.exploration, Interpreter(mutant.chart, machine))
        search = DivergenceSearch(self.exploration, pair)
        may_be_proved = prove and self.exploration.complete and pair.have_same_start
        max_steps = MAX_STEPS if prove else MAX_STEPS_WITHOUT_PROOF
        n_steps = 0
        for state in self._list_candidates(pair, changes):
            for step in pair.steps((state, pair.mutant_state_of(state))):
                n_steps += 1
                may_be_proved = may_be_proved and not step.is_incomplete
                if pair.shows_difference(step.chart_after, step.mutant_after):
                    if search.find_distinguishing_prefix(state, (step.inputs,)):
                        return Distinction(MutantStatus.DISTINGUISHED, state, (step.inputs,))
                    # the mutant never is in that state; with the same counters this cannot be
                    may_be_proved = may_be_proved and not pair.have_same_counters
                elif not pair.is_same(step):
                    may_be_proved = may_be_proved and step.has_same_terms
                    search.add(state, step)
            if not may_be_proved and n_steps > max_steps:
                break
        # a difference that is not visible at once may lead to one that is
        divergence = search.search_by_holding_inputs()
        if (
            divergence is None
            and may_be_proved
            and not pair.have_same_counters
            and are_equivalent_in_states(pair.chart, pair.mutant, EQUIVALENCE_LIMITS)
        ):
            return Distinction(MutantStatus.EQUIVALENT)
        divergence = (
            divergence or search.search_by_random_inputs(self.random_inputs) or search.search_exhaustively()
        )
        if divergence is not None:
            return Distinction(MutantStatus.DISTINGUISHED, *divergence)
        is_proved = may_be_proved and pair.have_same_counters and search.is_exhaustive
        return Distinction(MutantStatus.EQUIVALENT if is_proved else MutantStatus.UNKNOWN)

    def _list_candidates(self, pair: MutantPair, changes: ChangedNodes) -> list[Snapshot]:
        """Return states in which the fault may make a difference, the most likely first."""
        states = [
            state for state, touched in self.touched_nodes if touched & changes.nodes or not state.started
        ]
        if not pair.compare_same_counts:
            untimed_numbers = {self.exploration.state_space.split(state)[0] for state in states}
            states = list(self._split_by_counters(untimed_numbers, pair))
        return self._sort_by_likelihood(states, changes)

    def _sort_by_likelihood(self, states: list[Snapshot], changes: ChangedNodes) -> list[Snapshot]:
        """Return states with those first in which a difference is most likely, alternating between kinds.

        States are of one kind if they are equal in and below the changed nodes and in all that these read.
        """
        machine = self.exploration.machine
        state_space = self.exploration.state_space
        n_variables = state_space.n_variables
        nodes_below = set[int]()
        names_read = set[str]()
        for number in changes.nodes:
            nodes_below |= {number} | machine.nodes[number].descendants
            names_read |= _names_read_by(machine.nodes[number])
        indices = [i for i, name in enumerate(machine.registers) if name in names_read]
        n_of_kind: dict[object, int] = {}

        def sort_key(state: Snapshot) -> tuple[bool, int]:
            """Return whether a difference is unlikely, and the number of earlier states of the same kind."""
            active = frozenset(state.active_nodes) if state.started else frozenset[int]()
            is_likely = bool(changes.active & active) or bool(changes.entered - active)
            counts = state.values[n_variables:]
            classes = state_space.timers.classify(counts)  # type: ignore[arg-type]  # counters are integers
            values = (*state.values[:n_variables], *classes)
            kind = is_likely, state.started, active & nodes_below, tuple([values[i] for i in indices])
            n_of_kind[kind] = n_of_kind.get(kind, -1) + 1
            return not is_likely, n_of_kind[kind]

        return sorted(states, key=sort_key)

    def _split_by_counters(self, untimed_numbers: set[int], pair: MutantPair) -> Iterator[Snapshot]:
        """Yield states of the given untimed states, one for all whose counters compare the same in both."""
        state_space = self.exploration.state_space
        mutant_timers = pair.mutant_states.timers
        yielded = set()
        for untimed, counts in self.exploration.graph.state_keys:
            if untimed not in untimed_numbers:
                continue
            state = state_space.join(untimed, counts)
            mutant_counts = pair.mutant_state_of(state).values[pair.n_variables :]
            mutant_classes = mutant_timers.classify(mutant_counts)  # type: ignore[arg-type]
            key = untimed, state_space.timers.classify(counts), mutant_classes
            if key not in yielded:
                yielded.add(key)
                yield state


def _names_read_by(node: StateNode) -> frozenset[str]:
    """Return the names that a state's guards and actions read, and its counters."""
    names = {counter.name for counter in node.counters}
    for transition in node.transitions:
        for guard in transition.guards:
            names |= guard.names
    for actions in (*(transition.do for transition in node.transitions), *node.actions):
        for expression in expressions_in(actions):
            names |= expression.names
    return frozenset(names)


def _find_touched_nodes(exploration: Exploration, state: Snapshot) -> frozenset[int]:
    """Return every node that may be active at some time in a tick from a state."""
    nodes = exploration.machine.nodes
    if not state.started:
        return frozenset(range(len(nodes)))
    touched = set(state.active_nodes)
    for step in exploration.steps_from(state):
        if step.after is not None:
            touched.update(step.after.active_nodes)
        for goal in {goal.node for transition in step.taken_transitions for goal in transition.targets}:
            touched.update((goal, *nodes[goal].ancestors, *nodes[goal].descendants))
    return frozenset(touched)
