"""Situations in which no guard holds, where staying was not said to be meant."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from typing import NamedTuple

from posewright.charts.checks.finding import Finding, Level, Rule
from posewright.charts.checks.inspection import Inspection
from posewright.charts.checks.question import Microstep, Question, When
from posewright.charts.checks.search import Search, Witness
from posewright.charts.checks.solver import claims, shows
from posewright.charts.checks.undecided import suspected
from posewright.charts.checks.ways import asked_for
from posewright.charts.machine import CompoundTransition, Node
from posewright.charts.model import Otherwise
from posewright.charts.types import BoolType

MAX_COUNTED = 10
"""Truth values over which the cases of a gap are counted."""


class Suspect(NamedTuple):
    """A state in which it may be that no guard holds, as far as types tell."""

    node: Node
    ways: Sequence[CompoundTransition]
    search: Search


class Gaps:
    """Looks for states in which no transition can be taken; a wait counts as over, events do not count."""

    def __init__(self, inspection: Inspection) -> None:
        self.inspection = inspection
        self.suspects: list[Suspect] = []
        nodes = inspection.machine.nodes
        for node in nodes[1:]:
            if not self.refuses(node):
                continue
            ways = asked_for(node, nodes)
            asked = claims(false=[way.guard for way in ways])
            if not inspection.solver.excludes(asked):
                question = Question(Microstep(node.index, frozenset({None}), When.FIRST), asked)
                self.suspects.append(Suspect(node, ways, inspection.search(question)))

    def refuses(self, node: Node) -> bool:
        """Return whether a gap in a state is a mistake: of what is around others, only where that is said."""
        if node.state is None or node.final:
            return False
        if not node.is_leaf:
            return node.state.otherwise is Otherwise.REFUSE
        return self.inspection.chart.otherwise_in(node.state) is Otherwise.REFUSE

    def findings(self) -> Iterator[Finding]:
        """Yield what was found."""
        for suspect in self.suspects:
            if suspect.search.witness is not None:
                yield self.found(suspect, suspect.search.witness)
            elif self.inspection.is_open(suspect.search, suspect.node):
                claim = f"there is no transition in {suspect.node.name}"
                yield suspected(self.inspection, suspect.search, Rule.GAP, claim, suspect.node)

    def found(self, suspect: Suspect, witness: Witness) -> Finding:
        """Return what to say of a gap."""
        node = suspect.node
        case, told = self.inspection.case(node.name, witness, suspect.search.names)
        message = f"no transition {told}{self.share(suspect, witness)}: add one, or say `otherwise: stay`"
        line = node.state.line if node.state is not None else None
        return Finding(Level.ERROR, Rule.GAP, message, node.name, case, line, witness.trace)

    def share(self, suspect: Suspect, witness: Witness) -> str:
        """Return in how many cases no guard holds, where only truth values are asked."""
        inputs = self.inspection.chart.inputs
        names = [name for name in inputs if name in suspect.search.names]
        if not names or len(names) > MAX_COUNTED:
            return ""
        if not all(isinstance(inputs[name], BoolType) for name in names):
            return ""
        count = 0
        for values in product((False, True), repeat=len(names)):
            held = {**witness.standing.held, **dict(zip(names, values, strict=True))}
            count += shows(suspect.search.question.claims, held)
        return f" ({count} of {2 ** len(names)} cases)"
