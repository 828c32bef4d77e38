"""What all checks share: the chart's machine, the solver, what was explored, and the searches through it."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property

from posewright.charts.checks.finding import Counterexample, Finding, Level, Rule, not_proved
from posewright.charts.checks.question import CheckQuestion, Rows, TickTrace
from posewright.charts.checks.search import PathInputs, Witness, WitnessSearch
from posewright.charts.checks.solver import OTHER, CheckSolver
from posewright.charts.checks.witness_scan import Watcher, aim_at_cases, last_tick, look_deeper, look_through
from posewright.charts.expression import Expression
from posewright.charts.machine import (
    STATE_SEPARATOR,
    CompoundTransition,
    EntrySet,
    Interpreter,
    Machine,
    Snapshot,
    StateNode,
)
from posewright.charts.model import Chart, Promise
from posewright.charts.proof import SolverBudget
from posewright.charts.reachability import USUAL, Exploration, Limits, WorkBudget, explore
from posewright.charts.types import Value


def entered_by(machine: Machine, way: CompoundTransition, *, remembered: bool = False) -> set[int]:
    """Return the numbers of the states that a way enters.

    Args:
        machine: whose way it is.
        way: one with goals, or without.
        remembered: with all that a history may lead back to; else as if nothing was remembered.
    """
    entering = EntrySet(machine.nodes, dict.fromkeys(machine.history, ()))
    entering.add_targets(way.targets, way.domain or 0)
    if not remembered:
        return entering.entered
    back = (machine.nodes[goal.node].descendants for goal in way.targets if goal.history is not None)
    return entering.entered.union(*back)


FEWER = 20_000
"""States and cases up to which a chart is explored again, to follow what it does not read itself."""


class Inspection:
    """A chart under inspection, in four steps; each `Check` has its turn in each of them.

    1. `Check.ask`: what can go wrong, as far as types tell? The solver is asked about all that values may be;
       what it does not exclude is a `search`, and names the variables that have to be followed for it.
    2. `explore`: the chart is explored, once.
    3. `Check.watch`: what is there to look at in the explored ticks, now that it is known which there are?
       Then `survey` looks at all of them, in one pass.
    4. `Check.findings`.

    Attributes:
        pool: effort of proving, for all who ask about the chart.
        budget: work of exploring and of looking through what was explored.
        kept: registers that the exploration has to keep, though nothing in the chart reads them.
        watchers: what looks at every explored tick.
        exploration: what was explored; there is none before step 2.
    """

    exploration: Exploration

    def __init__(self, chart: Chart, limits: Limits = USUAL) -> None:
        self.chart = chart
        self.limits = limits
        self.interpreter = Interpreter(chart)
        self.machine: Machine = self.interpreter.machine
        others = {OTHER + name: kind for name, kind in chart.inputs.items()}
        self.pool = SolverBudget()
        self.budget = WorkBudget(limits)
        self.solver = CheckSolver({**self.machine.types, **others}, self.pool, limits.is_over)
        self.inputs = PathInputs(chart.inputs)
        self.kept: set[str] = set(chart.resources)
        self.watchers: list[Watcher] = []
        self.searches: list[WitnessSearch] = []
        self.cut = ""

    def search(self, question: CheckQuestion, *, exact: frozenset[str] = frozenset()) -> WitnessSearch:
        """Return a search that will be through when the survey is; as `WitnessSearch`."""
        search = WitnessSearch(question, self.interpreter, self.solver, self.inputs, exact)
        self.searches.append(search)
        return search

    def explore(self) -> None:
        """Explore the chart.

        What promises ask parts states that are one to all else; if these are too many, each goes by itself.
        """
        watching = watched_by(*self.chart.promises)
        if watching:
            half = WorkBudget(replace(self.limits, work=self.limits.work // 2))
            self.exploration = self.explored(self.kept, watching=watching, budget=half)
        if not watching or not self.exploration.complete:
            self.exploration = self.explored(self.kept)

    def explored(
        self,
        keep: Collection[str],
        *,
        watching: Sequence[Expression] = (),
        marks: Mapping[str, Collection[Value]] | None = None,
        limits: Limits | None = None,
        budget: WorkBudget | None = None,
    ) -> Exploration:
        """Return what comes of exploring the chart while some variables are told apart; as `explore`."""
        return explore(
            self.chart,
            keep=keep,
            watching=watching,
            marks=marks,
            limits=limits or self.limits,
            interpreter=self.interpreter,
            pool=self.pool,
            budget=budget or self.budget,
        )

    def survey(self) -> None:
        """Look at every explored tick that somebody still wants to see, and settle the searches."""
        keeps, limits = self.exploration.looked.keeps, replace(self.limits, states=FEWER, cases=FEWER)
        missed = {search: search.missed(keeps) for search in self.searches}
        known = [search for search, names in missed.items() if not names]
        look_through(self.exploration, known, self.budget, self.watchers)
        self.cut = self.budget.over
        deeper = {search: names for search, names in missed.items() if names}
        if deeper:
            kept = frozenset(self.kept)
            look_deeper(
                deeper,
                kept,
                lambda keep: self.explored(
                    kept.intersection(self.chart.resources).union(keep), limits=limits
                ),
                self.budget,
            )
        if not self.complete:
            aim_at_cases(
                self.searches,
                lambda marks: self.explored(self.kept | marks.keys(), marks=marks, limits=limits),
                self.budget,
            )

    def last_tick(self, trace: Rows) -> tuple[Snapshot, TickTrace]:
        """Return where the chart stands before the last tick of a trace, and that tick."""
        return last_tick(self.interpreter, trace)

    @property
    def complete(self) -> bool:
        """Whether everything that can happen was explored, and looked at."""
        return self.exploration.complete and not self.cut

    @property
    def why(self) -> str:
        """Why not everything that can happen was looked at."""
        reasons = dict.fromkeys((*self.exploration.reasons, *([self.cut] if self.cut else ())))
        return "; ".join(reasons) or "not everything that can happen was tried"

    def is_open(self, search: WitnessSearch, node: StateNode) -> bool:
        """Return whether a search without a witness leaves it open what the answer is."""
        if node.index not in self.entered or search.witness is not None:
            return False
        return bool(search.undecided) or not self.complete

    @cached_property
    def entered(self) -> frozenset[int]:
        """The numbers of all states that were active, were it for a moment only."""
        found = {number for state in self.exploration.graph.distinct for number in state.state.active_nodes}
        return frozenset(found.union(*(entered_by(self.machine, way) for way in self.exploration.taken)))

    def case(
        self, place: str, witness: Witness, names: Collection[str]
    ) -> tuple[Counterexample, Counterexample]:
        """Return the whole case, and as much of it as matters to what reads `names`."""
        held = witness.standing.held
        read = {name: value for name, value in witness.inputs.items() if name in names}
        return (
            self.counterexample(place, witness.inputs, held, names),
            self.counterexample(place, read, held, names),
        )

    def counterexample(
        self, place: str, inputs: Mapping[str, Value], held: Mapping[str, Value], names: Collection[str]
    ) -> Counterexample:
        """Return a case: the inputs with the events that come, and the variables that are read."""
        events = self.chart.events
        given = {name: value for name, value in inputs.items() if name not in events or value}
        return Counterexample(place, given, {k: held[k] for k in self.chart.variables if k in names})

    def one_of(self, state: str) -> str:
        """Return the first of the states that are active side by side."""
        return state.split(STATE_SEPARATOR, maxsplit=1)[0]

    def node_of(self, way: CompoundTransition) -> StateNode:
        """Return the state that a way leads out of."""
        return self.machine.nodes[way.source]


class Check:
    """One family of rules; an `Inspection` says what happens between its steps."""

    def __init__(self, inspection: Inspection) -> None:
        self.inspection = inspection
        self.chart = inspection.chart
        self.machine = inspection.machine

    def ask(self) -> None:
        """Ask what types tell, and have searched for what they leave open; nothing is explored yet."""

    def watch(self) -> None:
        """Tell what to look at in the ticks that were explored."""

    def findings(self) -> Iterator[Finding]:
        """Yield what was found."""
        yield from ()


def watched_by(*promises: Promise) -> tuple[Expression, ...]:
    """Return the conditions of promises, which an exploration that is to check them has to watch."""
    conditions = (one for promise in promises for one in (promise.when, promise.goal))
    return tuple(dict.fromkeys(one for one in conditions if one is not None))


def suspected(
    inspection: Inspection, search: WitnessSearch, rule: Rule, claim: str, node: StateNode
) -> Finding:
    """Return what to say of a question that no run answered, though not all runs were looked at.

    Args:
        inspection: of the chart.
        search: for a run.
        rule: what was looked for.
        claim: what would be so, after "whether".
        node: the state it is about.
    """
    chart, line = inspection.chart, node.line
    answer = inspection.solver.ask(search.question.claims)
    reason = search.undecided or inspection.why
    if answer.possible is None or answer.case is None:
        return not_proved(f"whether {claim} is not known: {answer.reason or reason}", node.name, line)
    inputs, held = (
        {k: answer.case[k] for k in names if k in answer.case} for names in (chart.inputs, chart.variables)
    )
    case = Counterexample(node.name, inputs, held)
    what = f"{claim} {replace(case, state='')}".strip()  # the claim says where
    message = f"{what}; no run that comes there is known, yet none could be excluded: {reason}"
    return Finding(Level.ERROR, rule, message, node.name, case, line, proved=False)
