"""Checks of data flow: variables read before they are written, left unset, or written by two regions."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import suppress
from itertools import combinations
from typing import Any, NamedTuple

from posewright.charts.checks.analysis import Check
from posewright.charts.checks.arithmetic import list_uses
from posewright.charts.checks.finding import Finding, Level, Rule
from posewright.charts.checks.tick_trace import InputRows, TickTrace, VariableWrite, trace_tick
from posewright.charts.checks.witness_search import ExploredTick
from posewright.charts.expression import Expression, names_in
from posewright.charts.machine import all_actions
from posewright.charts.model import Actions, Assign, ChartKind, iterate_actions, names_set
from posewright.charts.reachability import Exploration, SymbolicStep
from posewright.charts.types import Value, format_value
from posewright.errors import ExpressionError


class VariableUse(NamedTuple):
    """What one tick does with the variables of interest.

    Attributes:
        reads: variables that it reads before it writes them.
        writes: variables that it writes.
        significant_writes: variables set to another value than zero, or by an action of a transition; such
            a write shows that the variable is meant to have a value in the state that follows.
    """

    reads: Collection[str]
    writes: Collection[str]
    significant_writes: Collection[str]


class UnwrittenRuns:
    """Finds runs on which a variable has not been written yet.

    Attributes:
        use_by_step: what each explored step does with the variables.
        graph: the explored graph.
        chart_kind: the kind of the chart.
        start_configuration: the numbers of the innermost states that are active first.
    """

    def __init__(self, exploration: Exploration, uses: Mapping[SymbolicStep, VariableUse]) -> None:
        self.use_by_step = uses
        self.graph = exploration.graph
        self.chart_kind = exploration.chart.kind
        self.start_configuration = self.graph.abstract_states[0].snapshot.configuration

    def find_early_read(self, name: str) -> InputRows | None:
        """Return the shortest rows of inputs to a tick that reads a variable which nothing has written.

        None if there is no such run.
        """
        return self._find_run(
            name, lambda step: step in self.use_by_step and name in self.use_by_step[step].reads
        )

    def find_unset_output(self, name: str) -> InputRows | None:
        """Return the shortest rows of inputs to a configuration in which an output should be set and is not.

        It should be set in every configuration that some tick enters with a significant write of the output.
        In charts of other kinds than a statechart, it should be set in all configurations. None if there are
        no such rows.
        """
        needs_significant_write = self.chart_kind is ChartKind.STATECHART
        configurations_with_write = set[object]()
        for step, use in self.use_by_step.items():
            has_write = name in use.significant_writes or not needs_significant_write
            if step.next_state is not None and has_write:
                configurations_with_write.add(step.next_state.configuration)

        def ends_unset(step: SymbolicStep) -> bool:
            """Return whether a step ends where the output should be set, without setting it."""
            if step.next_state is None or not self._leaves_unwritten(name, step):
                return False
            configuration = step.next_state.configuration
            return configuration != self.start_configuration and configuration in configurations_with_write

        return self._find_run(name, ends_unset)

    def _leaves_unwritten(self, name: str, step: SymbolicStep) -> bool:
        """Return whether a step is known not to write a variable."""
        return step in self.use_by_step and name not in self.use_by_step[step].writes

    def _find_run(self, name: str, may_end_with: Callable[[SymbolicStep], bool]) -> InputRows | None:
        """Return the inputs of the shortest run to a certain step, before which nothing writes a variable.

        Args:
            name: the name of the variable.
            may_end_with: returns whether the run may end with a step.
        """
        return self.graph.find_shortest_run(
            lambda edge: may_end_with(edge.step),
            may_pass=lambda edge: self._leaves_unwritten(name, edge.step),
        )


class UnwrittenReads(Check):
    """Finds locals that are read before they are written, and outputs that are left unset.

    Only variables without a declared initial value are of interest.

    Attributes:
        read_locals: the locals of interest: those that something reads.
        write_only_outputs: the outputs of interest: those that something writes and nothing reads.
        transition_action_ids: the identities of the assignments that are actions of transitions.
        use_by_step: what each observed step does with the variables.
        maybe_unwritten_names: those of these variables that not every first tick writes before it reads them.
    """

    def plan_scan(self) -> None:
        """Find the variables of interest, and observe all ticks if a first tick may leave one unwritten.

        Of interest are, if no initial value is declared, the locals that something reads, and the outputs
        that something writes and nothing reads.
        """
        chart = self.chart
        machine = self.machine
        read_names = frozenset[str]().union(*(expression.names for expression in machine.expressions))
        written_names = frozenset[str]().union(*map(names_set, all_actions(machine)))
        uninitialized = [name for name in chart.variables if name not in chart.initial_values]
        self.read_locals = [name for name in uninitialized if name in chart.locals and name in read_names]
        # an output that the chart itself reads is a memory, which starts at zero by definition
        write_only_names = written_names - read_names
        self.write_only_outputs = [
            name for name in uninitialized if name in chart.outputs and name in write_only_names
        ]
        self.transition_action_ids = {
            id(action)
            for transition in machine.transitions
            for action in iterate_actions(transition.do)
            if isinstance(action, Assign)
        }
        self.use_by_step: dict[SymbolicStep, VariableUse] = {}
        self.maybe_unwritten_names = self._find_unwritten_at_start()
        if self.maybe_unwritten_names:
            self.analysis.observers.append(self._observe)

    def _find_unwritten_at_start(self) -> frozenset[str]:
        """Return the variables of interest that not every first tick writes before it reads them."""
        names = frozenset((*self.read_locals, *self.write_only_outputs))
        abstract_states = self.analysis.exploration.graph.abstract_states
        if not abstract_states:  # the time limit was reached before
            return frozenset()
        start_state = abstract_states[0]
        uses_in_first_ticks = []
        for step in start_state.steps:
            tick = trace_tick(self.analysis.interpreter, start_state.snapshot, step.inputs)
            uses_in_first_ticks.append(self._find_use(tick, names))
        return frozenset(
            name
            for name in names
            if any(name in use.reads or name not in use.writes for use in uses_in_first_ticks)
        )

    def _observe(self, tick: ExploredTick) -> None:
        """Record what an explored tick does with the variables."""
        self.use_by_step[tick.step] = self._find_use(tick.tick_trace, self.maybe_unwritten_names)

    def _find_use(self, tick: TickTrace, names: frozenset[str]) -> VariableUse:
        """Return which of the variables in `names` a tick reads before it writes them, and which it writes.

        A read is an evaluation before the first write. Expressions are counted in the order of evaluation.
        """
        n_evaluated_at_first_write: dict[str, int] = {}
        significant_writes = set[str]()
        for write in tick.writes:
            if write.name not in names:
                continue
            n_evaluated_at_first_write.setdefault(write.name, write.n_evaluated)
            if write.name not in significant_writes and self._is_significant(tick, write):
                significant_writes.add(write.name)
        reads = set[str]()
        for index, evaluation in enumerate(tick.evaluations):
            unwritten_names = {
                name
                for name in evaluation.expression.names & names
                if name not in n_evaluated_at_first_write or index < n_evaluated_at_first_write[name]
            }
            if unwritten_names:
                reads |= find_reads(evaluation.expression, evaluation.env) & unwritten_names
        return VariableUse(
            frozenset(reads),
            writes=frozenset(n_evaluated_at_first_write),
            significant_writes=frozenset(significant_writes),
        )

    def _is_significant(self, tick: TickTrace, write: VariableWrite) -> bool:
        """Return whether a write is an action of a transition, or of a value other than zero."""
        value_type = self.chart.variables[write.name]
        value: Any = tick.evaluations[write.evaluation_index].value  # of the type of the variable
        belongs_to_transition = id(write.action) in self.transition_action_ids
        return belongs_to_transition or value_type.clamp(value) != value_type.default

    def findings(self) -> Iterator[Finding]:
        """Yield a warning for each variable that is read early or left unset, with the shortest run."""
        if not self.maybe_unwritten_names:
            return
        runs = UnwrittenRuns(self.analysis.exploration, self.use_by_step)
        for name in self.read_locals:
            rows = runs.find_early_read(name) if name in self.maybe_unwritten_names else None
            if rows is not None:
                yield self._build_read_finding(name, rows)
        for name in self.write_only_outputs:
            rows = runs.find_unset_output(name) if name in self.maybe_unwritten_names else None
            if rows is not None:
                yield self._build_unset_finding(name, rows)

    def _build_read_finding(self, name: str, rows: InputRows) -> Finding:
        """Return the warning that a local is read before it is written.

        It is attributed to a state that uses the expression which reads it, an active one if possible.

        Args:
            name: the name of the local.
            rows: the inputs of a run; its last tick reads the local.
        """
        state_before, tick = self.analysis.run_to_last_tick(rows)
        evaluation = next(
            evaluation
            for evaluation in tick.evaluations
            if name in find_reads(evaluation.expression, evaluation.env)
        )
        expression = evaluation.expression
        active_nodes = set(state_before.active_nodes)
        if tick.next_state is not None:
            active_nodes.update(tick.next_state.active_nodes)
        uses = [use for use in list_uses(self.machine) if use.expression is expression]
        use = next((use for use in uses if use.node.index in active_nodes), uses[0])
        zero = format_value(self.chart.variables[name].default)
        message = (
            f"{name} is read by `{expression}` before anything sets it: it is {zero} there by default; "
            "give it a value in `initial_values`"
        )
        state_name = use.node.name
        line = expression.source.where.line or use.line
        case = self.analysis.build_counterexample(state_name, rows[-1], evaluation.env, {name})
        return Finding(
            Level.WARNING,
            Rule.READ_BEFORE_WRITE,
            message,
            state=state_name,
            counterexample=case,
            line=line,
            trace=rows,
        )

    def _build_unset_finding(self, name: str, rows: InputRows) -> Finding:
        """Return the warning that an output is not set at the end of a run.

        Args:
            name: the name of the output.
            rows: the inputs of the run.
        """
        state_before, tick = self.analysis.run_to_last_tick(rows)
        active_states = tick.next_state.state if tick.next_state is not None else state_before.state
        zero = format_value(self.chart.outputs[name].default)
        message = (
            f"nothing has set {name} on a path to {active_states}: it is {zero} there by default; "
            "set it on every path, or give it a value in `initial_values`"
        )
        case = self.analysis.build_counterexample(state_before.state, rows[-1], tick.env, {name})
        line = tick.taken_transitions[-1].line if tick.taken_transitions else None
        state = self.analysis.first_state_name(active_states)
        return Finding(
            Level.WARNING, Rule.OUTPUT_UNSET, message, state, counterexample=case, line=line, trace=rows
        )


class _ReadRecorder(dict[str, Value]):
    """An environment that records which names are read.

    Attributes:
        read_names: names that were looked up.
    """

    def __init__(self, env: Mapping[str, Value]) -> None:
        super().__init__(env)
        self.read_names = set[str]()

    def __getitem__(self, name: str) -> Value:
        self.read_names.add(name)
        return super().__getitem__(name)


def find_reads(expression: Expression, env: Mapping[str, Value]) -> set[str]:
    """Return the names that evaluating an expression reads; `and`, `or` and `if` may skip some."""
    recorder = _ReadRecorder(env)
    with suppress(ExpressionError):
        expression.evaluate(recorder)
    return recorder.read_names


class WriteConflict(NamedTuple):
    """Two states that set the same variable in one tick.

    Attributes:
        first_writer: number of the state that sets it first.
        second_writer: number of the state that overwrites it.
        tick: the tick in which they do.
    """

    first_writer: int
    second_writer: int
    tick: ExploredTick


class RegionPair(NamedTuple):
    """Two parallel regions, by their numbers in ascending order."""

    lower: int
    higher: int


class ConflictKey(NamedTuple):
    """A variable, and two regions that set it in one tick."""

    variable: str
    regions: RegionPair


class WriteConflicts(Check):
    """Finds ticks in which two parallel regions set the same variable.

    Attributes:
        nodes: the nodes of the machine, by number.
        writer_by_action_id: the number of the state that an assignment belongs to, by its identity.
        writers_by_name: the numbers of the states that set a variable, by its name.
        contested_variables: variables that states of two parallel regions set.
        conflicts: the first tick of every conflict, by the variable and the two regions.
    """

    def plan_scan(self) -> None:
        """Find which states write which variable; observe all ticks if two regions write the same one."""
        self.nodes = self.machine.nodes
        self.writer_by_action_id: dict[int, int] = {}
        self.writers_by_name: dict[str, set[int]] = {}
        for node in self.nodes:
            for actions in (*node.actions, *(transition.do for transition in node.transitions)):
                self._register_writer(actions, node.index)
        self.contested_variables = set[str]()
        for name, writers in self.writers_by_name.items():
            pairs = combinations(sorted(writers), 2)
            if any(self._find_regions(first, second) for first, second in pairs):
                self.contested_variables.add(name)
        self.conflicts: dict[ConflictKey, WriteConflict] = {}
        if self.contested_variables:
            self.analysis.observers.append(self._observe)

    def _register_writer(self, actions: Actions, writer: int) -> None:
        """Note a state as the writer of all variables that some actions set."""
        for action in iterate_actions(actions):
            if isinstance(action, Assign):
                self.writer_by_action_id[id(action)] = writer
                for name in action.values:
                    self.writers_by_name.setdefault(name, set()).add(writer)

    def _find_regions(self, first: int, second: int) -> RegionPair | None:
        """Return the two parallel regions in which two states are, None if they are not in parallel.

        The states are given by number. They are in parallel regions if these are where the paths from the
        chart to the two states part.
        """
        first_path = (*reversed(self.nodes[first].ancestors), first)
        second_path = (*reversed(self.nodes[second].ancestors), second)
        for first_ancestor, second_ancestor in zip(first_path, second_path, strict=False):
            if first_ancestor != second_ancestor:  # here the two paths part
                lower, higher = sorted((first_ancestor, second_ancestor))
                is_parallel = self.nodes[self.nodes[first_ancestor].parent].parallel
                return RegionPair(lower, higher) if is_parallel else None
        return None  # one state is inside the other

    def _observe(self, tick: ExploredTick) -> None:
        """Record the first tick of every conflict: states of two regions set one variable in a tick."""
        writers_by_name: dict[str, list[int]] = {}  # the states that have set each variable, by number
        for write in tick.tick_trace.writes:
            if write.name not in self.contested_variables:
                continue
            assigned_tree = write.action.values[write.name].tree
            if write.name in names_in(assigned_tree):
                continue  # a new value that follows from the present one keeps what an earlier region set
            writer = self.writer_by_action_id[id(write.action)]
            earlier_writers = writers_by_name.setdefault(write.name, [])
            for earlier in earlier_writers:
                regions = self._find_regions(writer, earlier)
                if regions is not None:
                    conflict_key = ConflictKey(write.name, regions)
                    self.conflicts.setdefault(conflict_key, WriteConflict(earlier, writer, tick))
            earlier_writers.append(writer)

    def findings(self) -> Iterator[Finding]:
        """Yield a warning for each variable that two regions set in one tick."""
        for key, conflict in self.conflicts.items():
            yield self._build_finding(key.variable, conflict)

    def _build_finding(self, name: str, conflict: WriteConflict) -> Finding:
        """Return the warning that two states set one variable in the same tick."""
        earlier = self.nodes[conflict.first_writer].name
        later = self.nodes[conflict.second_writer]
        message = f"{earlier} and {later.name} both set {name} in one tick: the value of {later.name} remains"
        conflict_tick = conflict.tick
        trace_before = self.analysis.exploration.trace_to(conflict_tick.start_state)
        trace = (*trace_before, conflict_tick.step.inputs)
        _, last_tick = self.analysis.run_to_last_tick(trace)
        case = self.analysis.build_counterexample(later.name, trace[-1], last_tick.env, {name})
        return Finding(
            Level.WARNING,
            Rule.WRITE_CONFLICT,
            message,
            state=later.name,
            counterexample=case,
            line=later.line,
            trace=trace,
        )
