"""Distinguishes a mutant from its chart: by inputs that show a difference, or a proof that there is none."""

from __future__ import annotations

import random
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import cached_property
from typing import NamedTuple

from posewright.charts.machine import Interpreter, Machine, Snapshot, StateNode, lower
from posewright.charts.model import expressions_in
from posewright.charts.mutation.mutant_pair import MutantPair, PairStep
from posewright.charts.mutation.mutation import Mutant
from posewright.charts.product import StatePair, are_equivalent_in_states
from posewright.charts.reachability import Exploration, ExplorationLimits
from posewright.charts.types import BoolType, EnumType, FloatType, Type, Value

InputRow = Mapping[str, Value]
"""Inputs and events of one tick."""


class Continuation(NamedTuple):
    """A run from a state of the chart.

    Attributes:
        start_state: the state.
        rows: the inputs of every tick from there on.
    """

    start_state: Snapshot
    rows: tuple[InputRow, ...]


class DivergedPair(NamedTuple):
    """A pair of states that differ, but not visibly.

    Attributes:
        continuation: the run of both charts that leads to it.
        pair: the states after that run.
    """

    continuation: Continuation
    pair: StatePair


MAX_STEPS = 3_000
"""Steps that are examined where equivalence can no longer be proved."""

MAX_STEPS_WITHOUT_PROOF = 2_000
"""Steps that are examined where equivalence is not to be proved."""

MAX_PAIRS = 600
"""Pairs of states from which all steps are followed."""

MAX_PAIR_STEPS = 6_000
"""Steps from these pairs that are followed in all."""

MAX_REPEAT_PAIRS = 16
"""Pairs of states from which inputs are repeated."""

MAX_REPEAT_INPUTS = 8
"""Inputs that are repeated from each of these pairs."""

REPEAT_TICKS = 120
"""Ticks for which inputs are repeated."""

EQUIVALENCE_LIMITS = ExplorationLimits(max_states=3_000, max_states_if_incomplete=0)
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
    def values_by_input(self) -> Mapping[str, Sequence[Value]]:
        """The values that random runs choose from, for every input."""
        input_types = self.exploration.chart.inputs
        # the inner dictionaries are ordered sets
        explored_values: dict[str, dict[Value, None]] = {name: {} for name in input_types}
        for state in self.exploration.distinct_states:
            for step in self.exploration.steps_from(state):
                for name, values in explored_values.items():
                    values[step.inputs[name]] = None
        return {
            name: [*_boundary_values(input_types[name]), *values][:MAX_INPUT_VALUES]
            for name, values in explored_values.items()
        }

    def generate_runs(self, start_states: Sequence[Snapshot]) -> Iterator[Continuation]:
        """Yield runs with random inputs, each from the next of the start states in turn."""
        if not start_states:
            return
        rng = random.Random(SEED)  # noqa: S311 -- not for secrets
        for i in range(N_RANDOM_RUNS):
            yield Continuation(start_states[i % len(start_states)], tuple(self._generate_rows(rng)))

    def _generate_rows(self, rng: random.Random) -> Iterator[InputRow]:
        """Yield the inputs of one run, tick by tick; most inputs stay as they were."""
        row = {name: rng.choice(values) for name, values in self.values_by_input.items()}
        for _ in range(RANDOM_RUN_TICKS):
            changes = {
                name: rng.choice(values)
                for name, values in self.values_by_input.items()
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
        pair_queue: the pairs from which to search, in the order in which they were added.
        visited_keys: the keys of all pairs that were added.
        is_exhaustive: whether every continuation was followed to its end.
    """

    def __init__(self, exploration: Exploration, pair: MutantPair) -> None:
        """Start without pairs.

        Args:
            exploration: the exploration of the chart.
            pair: the chart and its mutant.
        """
        self.exploration = exploration
        self.mutant_pair = pair
        self.pair_queue: deque[DivergedPair] = deque()
        self.visited_keys: set[object] = set()
        self.is_exhaustive = True

    def add_pair_after(
        self, start_state: Snapshot, step: PairStep, rows_to_pair: tuple[InputRow, ...] = ()
    ) -> None:
        """Add the pair of states that a step leads to, unless a tick failed or the pair was added before.

        Args:
            start_state: a state of the chart, where the run begins.
            step: the last step of the run.
            rows_to_pair: inputs from the start state to the step.
        """
        if step.next_chart_state is None or step.next_mutant_state is None:
            return
        key = step.next_chart_state.key, step.next_mutant_state.key
        if key not in self.visited_keys:
            self.visited_keys.add(key)
            continuation = Continuation(start_state, (*rows_to_pair, step.inputs))
            next_pair = StatePair(step.next_chart_state, step.next_mutant_state)
            self.pair_queue.append(DivergedPair(continuation, next_pair))

    def search_by_repeating_inputs(self) -> Continuation | None:
        """Return a run that shows a difference after repeated inputs, None if none does.

        The inputs that make a difference in the chart's state are tried, each for REPEAT_TICKS ticks.
        """
        no_events = dict.fromkeys(self.exploration.chart.events, False)
        for (start_state, rows_to_pair), pair in list(self.pair_queue)[:MAX_REPEAT_PAIRS]:
            steps = self.exploration.steps_from(pair.first)
            distinct_rows = {tuple(step.inputs.items()): step.inputs for step in steps}
            for row in list(distinct_rows.values())[:MAX_REPEAT_INPUTS]:
                repeated_rows = [{**row, **no_events}] * REPEAT_TICKS  # an event occurs only once
                rows = (*rows_to_pair, row, *repeated_rows)
                distinguishing_rows = self.find_distinguishing_rows(start_state, rows)
                if distinguishing_rows:
                    return Continuation(start_state, distinguishing_rows)
        return None

    def search_by_random_inputs(self, random_inputs: RandomInputs) -> Continuation | None:
        """Return a random run that shows a difference, from a state in which a difference begins."""
        start_states = list(dict.fromkeys(diverged.continuation.start_state for diverged in self.pair_queue))
        for start_state, rows in random_inputs.generate_runs(start_states):
            distinguishing_rows = self.find_distinguishing_rows(start_state, rows)
            if distinguishing_rows:
                return Continuation(start_state, distinguishing_rows)
        return None

    def search_exhaustively(self) -> Continuation | None:
        """Return a run that shows a difference, None if none was found.

        Every step from every pair is followed, within MAX_PAIRS and MAX_PAIR_STEPS. `is_exhaustive` becomes
        False where a step is not followed to its end: beyond these limits, where steps may be missing, or
        where a difference did not show in a run from the start.
        """
        n_pairs = 0
        n_steps = 0
        while self.pair_queue:
            n_pairs += 1
            if n_pairs > MAX_PAIRS or n_steps > MAX_PAIR_STEPS:
                self.is_exhaustive = False
                return None
            (start_state, rows_to_pair), pair = self.pair_queue.popleft()
            for step in self.mutant_pair.iterate_steps(pair):
                n_steps += 1
                self.is_exhaustive = self.is_exhaustive and not step.is_incomplete
                if self.mutant_pair.shows_difference(step.next_chart_state, step.next_mutant_state):
                    distinguishing_rows = self.find_distinguishing_rows(
                        start_state, (*rows_to_pair, step.inputs)
                    )
                    if distinguishing_rows:
                        return Continuation(start_state, distinguishing_rows)
                    self.is_exhaustive = False
                elif not self.mutant_pair.is_same_after(step):
                    self.is_exhaustive = self.is_exhaustive and step.assigns_same_terms
                    self.add_pair_after(start_state, step, rows_to_pair)
        return None

    def find_distinguishing_rows(
        self, start_state: Snapshot, rows: Sequence[InputRow]
    ) -> tuple[InputRow, ...]:
        """Run both charts from their initial states, and return those of `rows` up to a visible difference.

        The result is empty if there is no difference, or a tick of the chart fails. It has at least one row
        if there is a difference, also if that shows before `start_state` is reached.

        Args:
            start_state: a state of the chart, to which the run leads first.
            rows: the inputs from there on.
        """
        pair = StatePair(self.mutant_pair.chart.initial(), self.mutant_pair.mutant.initial())
        rows_to_start_state = self.exploration.trace_to(start_state)
        for tick, row in enumerate((*rows_to_start_state, *rows), start=1):
            chart_state, mutant_state = self.mutant_pair.run_tick(pair, row)
            if chart_state is None:
                return ()
            if mutant_state is None or self.mutant_pair.shows_difference(chart_state, mutant_state):
                n_rows = tick - len(rows_to_start_state)
                return tuple(rows[: max(n_rows, 1)])
            pair = StatePair(chart_state, mutant_state)
        return ()


@dataclass(frozen=True)
class ChangedNodes:
    """The nodes that are not the same in a chart and its mutant.

    Attributes:
        changed_while_active: nodes that differ in what they do while they are active, or when they are left.
        changed_on_entry: nodes that differ in what they do when they are entered.
    """

    changed_while_active: frozenset[int]
    changed_on_entry: frozenset[int]

    @property
    def all_nodes(self) -> frozenset[int]:
        """All of them."""
        return self.changed_while_active | self.changed_on_entry


def find_changed_nodes(chart: Machine, mutant: Machine) -> ChangedNodes:
    """Return the nodes in which the machines of a chart and its mutant differ."""

    def list_behaviour_while_active(node: StateNode) -> tuple[object, ...]:
        """Return all that decides what a node does while it is active or is left, to be compared."""
        transitions = [
            (
                transition.events,
                transition.wait_ticks,
                transition.targets,
                transition.domain,
                transition.since_register,
                transition.guards,
                transition.do,
            )
            for transition in node.transitions
        ]
        return node.during, node.exit, node.counters, node.history_kinds, transitions

    changed_while_active = set[int]()
    changed_on_entry = set[int]()
    for node, mutant_node in zip(chart.nodes, mutant.nodes, strict=True):
        if list_behaviour_while_active(node) != list_behaviour_while_active(mutant_node):
            changed_while_active.add(node.index)
        if (node.initial, node.entry) != (mutant_node.initial, mutant_node.entry):
            changed_on_entry.add(node.index)
    return ChangedNodes(frozenset(changed_while_active), frozenset(changed_on_entry))


class MutantStatus(Enum):
    """How a mutant behaves compared with its chart."""

    DISTINGUISHED = "apart"
    EQUIVALENT = "alike"
    UNKNOWN = "unknown"


@dataclass(frozen=True)
class Distinction:
    """How a mutant behaves compared with its chart, and inputs that show it.

    Attributes:
        start_state: the state of the chart in which the difference begins; None if none is known.
        inputs: rows from there; the difference shows after the last of them.
    """

    status: MutantStatus
    start_state: Snapshot | None = None
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
        """Find the nodes that each explored state touches: those that a tick from it may make active."""
        self.exploration = exploration
        self.touched_nodes_by_state = {
            state: _find_touched_nodes(exploration, state) for state in exploration.distinct_states
        }
        self.random_inputs = RandomInputs(exploration)

    def distinguish(self, mutant: Mutant, *, prove: bool = True) -> Distinction:
        """Return inputs that show a difference of a mutant, or that there are none, or that it is not known.

        Every step of both from every state that may touch the change is examined for a visible difference.
        Steps after which only the states differ are the beginnings of a further search.

        Args:
            mutant: a mutant of the chart.
            prove: whether to go on where likely inputs showed no difference, to prove that there is none.
        """
        mutant_machine = lower(mutant.chart)
        changes = find_changed_nodes(self.exploration.machine, mutant_machine)
        has_same_start = mutant.chart.start_values() == self.exploration.chart.start_values()
        changes_nothing = mutant.change is not None and mutant.change.makes_no_difference
        if changes_nothing or (has_same_start and not changes.all_nodes):
            return Distinction(MutantStatus.EQUIVALENT)
        pair = MutantPair(self.exploration, Interpreter(mutant.chart, mutant_machine))
        search = DivergenceSearch(self.exploration, pair)
        may_be_proved = prove and self.exploration.complete and pair.have_same_start
        max_steps = MAX_STEPS if prove else MAX_STEPS_WITHOUT_PROOF
        n_steps = 0
        for state in self._list_candidates(pair, changes):
            state_pair = StatePair(state, pair.corresponding_mutant_state(state))
            for step in pair.iterate_steps(state_pair):
                n_steps += 1
                may_be_proved = may_be_proved and not step.is_incomplete
                if pair.shows_difference(step.next_chart_state, step.next_mutant_state):
                    if search.find_distinguishing_rows(state, (step.inputs,)):
                        return Distinction(MutantStatus.DISTINGUISHED, state, (step.inputs,))
                    # a run from the start shows no difference, so the mutant never is in that state; if both
                    # have the same counters this should not be, and nothing is proved
                    may_be_proved = may_be_proved and not pair.have_same_counters
                elif not pair.is_same_after(step):
                    may_be_proved = may_be_proved and step.assigns_same_terms
                    search.add_pair_after(state, step)
            if not may_be_proved and n_steps > max_steps:
                break
        return self._search_divergence(pair, search, may_be_proved=may_be_proved)

    def _search_divergence(
        self, pair: MutantPair, search: DivergenceSearch, *, may_be_proved: bool
    ) -> Distinction:
        """Return whether differences between states that are not visible yet lead to a visible one.

        Args:
            pair: the chart and the mutant.
            search: the search, to which all pairs of states that differ have been added.
            may_be_proved: whether every step of one tick from every state was examined, so that the mutant
                is proved to be equivalent if the search follows everything and finds nothing.
        """
        divergence = search.search_by_repeating_inputs()
        needs_proof_from_start = may_be_proved and not pair.have_same_counters
        if (
            divergence is None
            and needs_proof_from_start
            and are_equivalent_in_states(pair.chart, pair.mutant, EQUIVALENCE_LIMITS)
        ):
            return Distinction(MutantStatus.EQUIVALENT)
        if divergence is None:
            divergence = search.search_by_random_inputs(self.random_inputs)
        if divergence is None:
            divergence = search.search_exhaustively()
        if divergence is not None:
            return Distinction(MutantStatus.DISTINGUISHED, divergence.start_state, divergence.rows)
        is_proved = may_be_proved and pair.have_same_counters and search.is_exhaustive
        return Distinction(MutantStatus.EQUIVALENT if is_proved else MutantStatus.UNKNOWN)

    def _list_candidates(self, pair: MutantPair, changes: ChangedNodes) -> list[Snapshot]:
        """Return states in which the fault may make a difference, the most likely first.

        These are the states in a tick from which a changed node may be active. One explored state stands for
        all whose counters the chart compares alike; where the mutant compares them with other numbers, such
        a state is replaced by several.
        """
        states = [
            state
            for state, touched_nodes in self.touched_nodes_by_state.items()
            if touched_nodes & changes.all_nodes or not state.started
        ]
        if not pair.compares_counters_alike:
            state_space = self.exploration.state_space
            untimed_ids = {state_space.split_counters(state).untimed_id for state in states}
            states = list(self._split_by_counters(untimed_ids, pair))
        return self._sort_by_likelihood(states, changes)

    def _sort_by_likelihood(self, states: list[Snapshot], changes: ChangedNodes) -> list[Snapshot]:
        """Return states with those first in which a difference is most likely, alternating between kinds.

        States are of one kind if the same of the changed nodes and of the nodes inside these are active, and
        all that the changed nodes read has the same values.
        """
        machine = self.exploration.machine
        state_space = self.exploration.state_space
        n_variables = state_space.n_variables
        changed_and_inner_nodes = set[int]()
        names_read = set[str]()
        for node_index in changes.all_nodes:
            changed_and_inner_nodes |= {node_index} | machine.nodes[node_index].descendants
            names_read |= _names_read_by(machine.nodes[node_index])
        read_indices = [i for i, name in enumerate(machine.registers) if name in names_read]
        n_states_of_kind: dict[object, int] = {}  # so far

        def sort_key(state: Snapshot) -> tuple[bool, int]:
            """Return whether a difference is unlikely, and how many earlier states are of the same kind."""
            active_nodes = frozenset(state.active_nodes) if state.started else frozenset[int]()
            changed_node_can_act = bool(changes.changed_while_active & active_nodes)
            changed_node_can_be_entered = bool(changes.changed_on_entry - active_nodes)
            is_likely = changed_node_can_act or changed_node_can_be_entered
            counter_classes = state_space.counter_abstraction.classes_of_values(
                state_space.counters_of(state)
            )
            register_values = (*state.values[:n_variables], *counter_classes)
            read_values = tuple([register_values[i] for i in read_indices])
            kind = (is_likely, state.started, active_nodes & changed_and_inner_nodes, read_values)
            n_earlier = n_states_of_kind.get(kind, 0)
            n_states_of_kind[kind] = n_earlier + 1
            return not is_likely, n_earlier

        return sorted(states, key=sort_key)

    def _split_by_counters(self, untimed_ids: set[int], pair: MutantPair) -> Iterator[Snapshot]:
        """Yield explored states, of which one stands for all whose counters act alike in chart and mutant.

        Args:
            untimed_ids: the numbers of the untimed states from which states are taken.
            pair: the chart and the mutant.
        """
        state_space = self.exploration.state_space
        mutant_space = pair.mutant_space
        yielded_keys = set()
        for untimed_id, counter_values in self.exploration.graph.state_keys:
            if untimed_id not in untimed_ids:
                continue
            state = state_space.join_counters(untimed_id, counter_values)
            mutant_counter_values = mutant_space.counters_of(pair.corresponding_mutant_state(state))
            chart_classes = state_space.counter_abstraction.classes_of_values(counter_values)
            mutant_classes = mutant_space.counter_abstraction.classes_of_values(mutant_counter_values)
            key = (untimed_id, chart_classes, mutant_classes)
            if key not in yielded_keys:
                yielded_keys.add(key)
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
    touched_nodes = set(state.active_nodes)
    for step in exploration.steps_from(state):
        if step.next_state is not None:
            touched_nodes.update(step.next_state.active_nodes)
        for goal in {goal.node for transition in step.taken_transitions for goal in transition.targets}:
            # the target is entered with nodes around it and inside it
            touched_nodes.update((goal, *nodes[goal].ancestors, *nodes[goal].descendants))
    return frozenset(touched_nodes)
