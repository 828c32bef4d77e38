"""Which states a way enters, wherever the chart stands when it is taken."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from functools import cached_property

from posewright.charts.checks.arithmetic import ExpressionUse, uses_in
from posewright.charts.checks.finding import Counterexample, Finding, Level, Rule
from posewright.charts.checks.journey import Journeys
from posewright.charts.checks.promises import watched_by
from posewright.charts.checks.question import CheckQuestion, Rows, TickTrace
from posewright.charts.checks.search import PathInputs, Witness, WitnessSearch
from posewright.charts.checks.solver import OTHER, CheckSolver, SolverAnswer
from posewright.charts.checks.survey import Watcher, aim_at_cases, last_tick, look_deeper, look_through
from posewright.charts.expression import Expression
from posewright.charts.machine import (
    JOINT,
    CompoundTransition,
    Entering,
    Interpreter,
    Machine,
    Node,
    Snapshot,
)
from posewright.charts.model import Chart
from posewright.charts.proof import SolverBudget
from posewright.charts.reachability import USUAL, Exploration, Limits, explore
from posewright.charts.types import Value


def entered_by(machine: Machine, way: CompoundTransition, *, remembered: bool = False) -> set[int]:
    """Return the numbers of the states that a way enters.

    Args:
        machine: whose way it is.
        way: one with goals, or without.
        remembered: with all that a history may lead back to; else as if nothing was remembered.
    """
    entering = Entering(machine.nodes, dict.fromkeys(machine.history, ()))
    entering.goals(way.goals, way.domain or 0)
    if not remembered:
        return entering.found
    back = (machine.nodes[goal.node].within for goal in way.goals if goal.memory is not None)
    return entering.found.union(*back)


SHORT = replace(USUAL, states=20_000, cases=20_000)
"""How far a chart is explored once more where variables are followed that it does not read itself."""


class Inspection:
    """A chart under inspection.

    First whoever has a question asks the solver about the whole typed domain. What that does not settle is
    searched for in the explored ticks, all in one pass.

    Attributes:
        pool: effort of proving, for all who ask about the chart.
        kept: registers that the exploration has to keep, though nothing in the chart reads them.
        watchers: what looks at every explored tick.
    """

    def __init__(self, chart: Chart, limits: Limits = USUAL) -> None:
        self.chart = chart
        self.limits = limits
        self.interpreter = Interpreter(chart)
        self.machine: Machine = self.interpreter.machine
        others = {OTHER + name: kind for name, kind in chart.inputs.items()}
        self.pool = SolverBudget()
        self.solver = CheckSolver({**self.machine.types, **others}, self.pool)
        self.inputs = PathInputs(chart.inputs)
        self.kept: set[str] = set(chart.resources)
        self.watchers: list[Watcher] = []
        self.searches: list[WitnessSearch] = []

    @cached_property
    def uses(self) -> Mapping[int, list[ExpressionUse]]:
        """Where each expression stands, by its id; the machine keeps them alive."""
        found: dict[int, list[ExpressionUse]] = {}
        for use in uses_in(self.machine):
            found.setdefault(id(use.expression), []).append(use)
        return found

    def search(self, question: CheckQuestion, *, exact: frozenset[str] = frozenset()) -> WitnessSearch:
        """Return a search that will be through when the survey is; as `Search`."""
        search = WitnessSearch(question, self.interpreter, self.solver, self.inputs, exact)
        self.searches.append(search)
        return search

    @cached_property
    def exploration(self) -> Exploration:
        """What was explored; from here on nothing more is kept."""
        watching = watched_by(*self.chart.promises)
        explored = self.explored(watching)
        # what promises ask parts states that are one to all else; if these are too many, each goes by itself
        return explored if explored.complete or not watching else self.explored()

    def explored(self, watching: Sequence[Expression] = ()) -> Exploration:
        """Return what comes of exploring the chart."""
        return explore(
            self.chart,
            keep=self.kept,
            watching=watching,
            limits=self.limits,
            interpreter=self.interpreter,
            pool=self.pool,
        )

    @cached_property
    def journeys(self) -> Journeys:
        """The explored ticks one after the other."""
        return Journeys(self.exploration)

    def survey(self) -> None:
        """Look at every explored tick that somebody still wants to see, and settle the searches."""
        keeps = self.exploration.looked.keeps
        missed = {search: search.missed(keeps) for search in self.searches}
        look_through(self.journeys, [search for search, names in missed.items() if not names], self.watchers)
        deeper = {search: names for search, names in missed.items() if names}
        if deeper:
            look_deeper(deeper, frozenset(self.kept), self.explored_deeper)
        if not self.complete:
            aim_at_cases(self.searches, self.explored_aiming)

    def explored_deeper(self, keep: Collection[str]) -> Exploration:
        """Return what comes of exploring the chart while more variables are told apart."""
        keep = {*keep, *self.chart.resources}
        return explore(self.chart, keep=keep, limits=SHORT, interpreter=self.interpreter, pool=self.pool)

    def explored_aiming(self, marks: Mapping[str, Collection[Value]]) -> Exploration:
        """Return what comes of exploring the chart while it tries to give variables some values."""
        return explore(
            self.chart,
            keep=self.kept | marks.keys(),
            marks=marks,
            limits=SHORT,
            interpreter=self.interpreter,
            pool=self.pool,
        )

    def last_tick(self, trace: Rows) -> tuple[Snapshot, TickTrace]:
        """Return where the chart stands before the last tick of a trace, and that tick."""
        return last_tick(self.interpreter, trace)

    @property
    def complete(self) -> bool:
        """Whether everything that can happen was explored."""
        return self.exploration.complete

    def is_open(self, search: WitnessSearch, node: Node) -> bool:
        """Return whether a search without a witness leaves it open what the answer is."""
        if node.index not in self.entered or search.witness is not None:
            return False
        return bool(search.undecided) or not self.complete

    @cached_property
    def entered(self) -> frozenset[int]:
        """The numbers of all states that were active, were it for a moment only."""
        found = {number for situation in self.journeys.situations for number in situation.state.numbers}
        return frozenset(found.union(*(entered_by(self.machine, way) for way in self.exploration.taken())))

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
        return state.split(JOINT, maxsplit=1)[0]

    def node_of(self, way: CompoundTransition) -> Node:
        """Return the state that a way leads out of."""
        return self.machine.nodes[way.source]


def suspected(inspection: Inspection, search: WitnessSearch, rule: Rule, claim: str, node: Node) -> Finding:
    """Return what to say of a question that no run answered, though not all runs were looked at.

    Args:
        inspection: of the chart.
        search: for a run.
        rule: what was looked for.
        claim: what would be so, after "whether".
        node: the state it is about.
    """
    line = node.state.line if node.state is not None else None
    answer = inspection.solver.ask(search.question.claims)
    reason = search.undecided or why(inspection)
    if answer.possible is None or answer.case is None:
        return not_proved(f"whether {claim} is not known: {answer.reason or reason}", node.name, line)
    case = _case(inspection, node, answer)
    what = f"{claim} {replace(case, state='')}".strip()  # the claim says where
    message = f"{what}; no run that comes there is known, yet none could be excluded: {reason}"
    return Finding(Level.ERROR, rule, message, node.name, case, line, proved=False)


def _case(inspection: Inspection, node: Node, answer: SolverAnswer) -> Counterexample:
    case, chart = answer.case or {}, inspection.chart
    inputs = {name: case[name] for name in chart.inputs if name in case}
    return Counterexample(node.name, inputs, {name: case[name] for name in chart.variables if name in case})


def not_proved(message: str, state: str | None = None, line: int | None = None) -> Finding:
    """Return the note that something was not decided."""
    return Finding(Level.NOTE, Rule.NOT_PROVED, message, state, None, line, proved=False)


def why(inspection: Inspection) -> str:
    """Return why not everything that can happen was explored."""
    return "; ".join(inspection.exploration.reasons) or "not everything that can happen was tried"
