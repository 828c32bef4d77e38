"""Actions and guards to executable content."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from posewright.charts.expression import Expression, Scope, parse_expression
from posewright.charts.formats.scxml.acting import AT_ONCE
from posewright.charts.formats.scxml.expressions import Words, translated
from posewright.charts.formats.scxml.markup import Element
from posewright.charts.formats.scxml.namespaces import own
from posewright.charts.formats.scxml.python_text import python_assigned, python_text
from posewright.charts.formats.scxml.tags import Tag, yes
from posewright.charts.model import Action, Actions, Assign, Branch, Chart, Raise
from posewright.charts.types import BoolType, Type
from posewright.errors import InputError

_HERE = Element("scxml")


@dataclass(frozen=True)
class ActWriter:
    """Writes what a chart does and asks.

    Attributes:
        words: the names of the chart, which the document has unchanged.
    """

    variables: Mapping[str, Type]
    scope: Scope
    words: Words

    def actions(self, actions: Actions) -> Iterator[Tag]:
        """Yield what actions are in SCXML."""
        for action in actions:
            yield from self.action(action)

    def action(self, action: Action) -> Iterator[Tag]:
        """Yield what one action is in SCXML: an <assign> for each value that it sets."""
        if isinstance(action, Raise):
            yield Tag("raise", {"event": action.event})
        elif isinstance(action, Assign):
            yield from self.assign(action)
        else:
            yield self.branch(action)

    def assign(self, action: Assign) -> Iterator[Tag]:
        """Yield an <assign> for each value, such that none reads what one before it has set, if possible."""
        for i, name in enumerate(in_order(action.values)):
            yield Tag("assign", {"location": name, **self.value(name, action), AT_ONCE: yes(i > 0)})

    def value(self, name: str, action: Assign) -> dict[str, str | None]:
        """Return the attributes that say what a variable is set to."""
        value, kind = action.values[name], self.variables[name]
        text = python_assigned(value, kind, self.scope.values)
        return {"expr": text, own("value"): None if self.reads_back(text, value, kind) else str(value)}

    def reads_back(self, text: str, expression: Expression, kind: Type) -> bool:
        """Return whether Python's text, read as that of any document, is this very expression."""
        try:
            return parse_expression(translated(text, self.words, _HERE), self.scope, kind) == expression
        except InputError:
            return False

    def condition(self, when: Expression) -> dict[str, str | None]:
        """Return the attributes of a condition."""
        text = python_text(when.tree, self.scope.values)
        return {"cond": text, own("when"): None if self.reads_back(text, when, BoolType()) else str(when)}

    def branch(self, action: Branch) -> Tag:
        """Return the <if> that a branch is; where all that is left over is a branch, it becomes <elseif>."""
        inside = list(self.actions(action.then))
        rest = action.otherwise
        while len(rest) == 1 and isinstance(rest[0], Branch):
            inside += [Tag("elseif", self.condition(rest[0].when)), *self.actions(rest[0].then)]
            rest = rest[0].otherwise
        if rest:
            inside += [Tag("else"), *self.actions(rest)]
        return Tag("if", self.condition(action.when), tuple(inside))


def act_writer(chart: Chart) -> ActWriter:
    """Return the writer of a chart's actions."""
    scope = chart.scope
    variables = [*chart.inputs, *chart.variables, *chart.constants]
    words = Words(
        {name: name for name in variables},
        {value: value for value in scope.values},
        {name: name for name in chart.state_names},
    )
    return ActWriter(chart.variables, scope, words)


def in_order(values: Mapping[str, Expression]) -> list[str]:
    """Return names in an order in which each is set after all that read it, as far as there is one."""
    waiting, found = list(values), list[str]()
    while waiting:
        free = [name for name in waiting if not _read_by(name, waiting, values)]
        taken = free[0] if free else waiting[0]
        waiting.remove(taken)
        found.append(taken)
    return found


def _read_by(name: str, waiting: Iterable[str], values: Mapping[str, Expression]) -> bool:
    return any(name in values[other].names for other in waiting if other != name)


def is_tangled(values: Mapping[str, Expression]) -> bool:
    """Return whether values set at once read each other in a circle, so that no order would do."""
    order = in_order(values)
    return any(name in values[later].names for i, name in enumerate(order) for later in order[i + 1 :])
