"""Regions that set the same variable in the same tick: only their order says what it then holds."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from typing import NamedTuple

from posewright.charts.checks.finding import Finding, Level, Rule
from posewright.charts.checks.inspection import Inspection
from posewright.charts.checks.search import Step
from posewright.charts.model import Actions, Assign, every_action


class Conflict(NamedTuple):
    """Two states that set one variable in the same tick."""

    earlier: int
    later: int
    step: Step


class Conflicts:
    """Looks for ticks in which two regions set one variable."""

    def __init__(self, inspection: Inspection) -> None:
        self.inspection = inspection
        self.nodes = inspection.machine.nodes
        self.owners: dict[int, int] = {}
        self.writers: dict[str, set[int]] = {}
        for node in self.nodes:
            for actions in (*node.actions, *(way.do for way in node.ways)):
                self.note(actions, node.index)
        pairs = {name: combinations(sorted(found), 2) for name, found in self.writers.items()}
        self.names = {name for name, both in pairs.items() if any(self.regions(a, b) for a, b in both)}
        self.first: dict[tuple[str, tuple[int, int]], Conflict] = {}
        if self.names:
            inspection.watchers.append(self.see)

    def note(self, actions: Actions, owner: int) -> None:
        """Keep note of who sets what."""
        for action in every_action(actions):
            if isinstance(action, Assign):
                self.owners[id(action)] = owner
                for name in action.values:
                    self.writers.setdefault(name, set()).add(owner)

    def regions(self, one: int, other: int) -> tuple[int, int] | None:
        """Return the regions in which two states are active side by side; None where they are not."""
        ways = [(*reversed(self.nodes[number].around), number) for number in (one, other)]
        for a, b in zip(*ways, strict=False):
            if a != b:
                return (min(a, b), max(a, b)) if self.nodes[self.nodes[a].parent].parallel else None
        return None

    def see(self, step: Step) -> None:
        """Keep note of the first tick of every conflict."""
        writers: dict[str, list[int]] = {}
        for write in step.tick.writes:
            if write.name in self.names:
                owner = self.owners[id(write.action)]
                earlier = writers.setdefault(write.name, [])
                for other in earlier:
                    regions = self.regions(owner, other)
                    if regions is not None:
                        self.first.setdefault((write.name, regions), Conflict(other, owner, step))
                earlier.append(owner)

    def findings(self) -> Iterator[Finding]:
        """Yield what was found."""
        for (name, _), conflict in self.first.items():
            yield self.found(name, conflict)

    def found(self, name: str, conflict: Conflict) -> Finding:
        """Return what to say of a conflict."""
        one, other = self.nodes[conflict.earlier], self.nodes[conflict.later]
        message = f"{one.name} and {other.name} both set {name} in one tick: it holds what {other.name} says"
        trace = (*self.inspection.exploration.trace_to(conflict.step.state), conflict.step.case.inputs)
        _, tick = self.inspection.last_tick(trace)
        case = self.inspection.counterexample(other.name, trace[-1], tick.env, {name})
        line = other.state.line if other.state is not None else None
        return Finding(Level.WARNING, Rule.WRITE_CONFLICT, message, other.name, case, line, trace)
