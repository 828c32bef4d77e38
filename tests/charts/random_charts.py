"""Random charts of every feature, for laws that hold of all of them.

`charts()` draws a chart, `rows(chart, n)` up to n rows of inputs and events for it. No chart that is drawn
divides by zero unless `faults` are asked for, and none goes round for ever within a tick unless `completion`
is asked for: local events are raised by `during` and by transitions that no local event sets off, a `done`
leads to no final state.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

from hypothesis import strategies as st

from posewright.charts.expression import parse_expression
from posewright.charts.model import (
    ALWAYS,
    DONE_PREFIX,
    Actions,
    Assign,
    Chart,
    ChartKind,
    HistoryKind,
    Otherwise,
    Priority,
    Promise,
    PromiseKind,
    State,
    StateTarget,
    StepMode,
    Transition,
    else_guard,
    has_alternatives,
)
from posewright.charts.types import BoolType, EnumType, IntType, Type

from .random_parts import CONSTANTS, EVENTS, LOCAL_EVENTS, OUTPUTS, PERIOD_S, UNITS, Features, Parts


@dataclass
class _Plan:
    """States before they have transitions: names are known, so that all of them can be gone to."""

    name: str
    inside: list[_Plan] = field(default_factory=list)
    parallel: bool = False
    final: bool = False

    def all(self) -> list[_Plan]:
        return [self, *(plan for child in self.inside for plan in child.all())]

    @property
    def can_be_done(self) -> bool:
        return self.parallel or any(child.final for child in self.inside)


def charts(
    *,
    kind: ChartKind = ChartKind.STATECHART,
    flat: bool = False,
    timed: bool = True,
    parallel: bool = True,
    events: bool = True,
    **more: Any,
) -> st.SearchStrategy[Chart]:
    """Return the strategy of charts with these features; `more` are further fields of `Features`."""
    return _charts(Features(kind=kind, flat=flat, timed=timed, parallel=parallel, events=events, **more))


def rows(chart: Chart, n: int) -> st.SearchStrategy[list[dict[str, Any]]]:
    """Return the strategy of 1 to `n` rows: every input, and for each event whether it comes."""
    cells = {name: values(kind) for name, kind in chart.inputs.items()}
    cells |= {event: st.booleans() for event in chart.events}
    return st.lists(st.fixed_dictionaries(cells), min_size=1, max_size=n)


def values(kind: Type) -> st.SearchStrategy[Any]:
    """Return the strategy of values of a type."""
    if isinstance(kind, BoolType):
        return st.booleans()
    if isinstance(kind, EnumType):
        return st.sampled_from(kind.values)
    if isinstance(kind, IntType):
        return st.integers(kind.low, kind.high)
    return st.floats(kind.low, kind.high, width=32 if kind.single else 64)


@st.composite
def _charts(draw: st.DrawFn, features: Features) -> Chart:
    return _Builder(draw, features).chart()


class _Builder(Parts):
    def __init__(self, draw: st.DrawFn, features: Features) -> None:
        super().__init__(draw, features)
        self.left = features.max_states
        self.plans = self.plan_level(1)
        self.everyone = [plan for top in self.plans for plan in top.all()]
        self.name_states([plan.name for plan in self.everyone])
        self.junction_names: list[str] = []

    # -- the plan of states

    def plan_level(self, level: int) -> list[_Plan]:
        count = self.draw(st.integers(1 if level > 1 else 2, 3))
        plans = [self.plan(level) for _ in range(count) if self.left > 0]
        if level > 1 and self.has.final and len(plans) > 1 and self.chance(3):
            plans[-1] = _Plan(plans[-1].name, final=True)
        return plans

    def plan(self, level: int) -> _Plan:
        self.left -= 1
        plan = _Plan(f"s{self.has.max_states - self.left}")
        nested = not (self.has.flat or self.has.classic) and level < 4 and self.left >= 2
        if nested and self.chance(3):
            plan.parallel = self.has.parallel and self.left >= 4 and self.chance(2)
            plan.inside = (
                [self.plan(level + 1) for _ in range(2)] if plan.parallel else self.plan_level(level + 1)
            )
        return plan

    # -- the chart

    def chart(self) -> Chart:
        junctions = self.junctions()
        usual = Otherwise.REFUSE if self.has.classic else Otherwise.STAY
        return Chart(
            name="drawn",
            kind=self.has.kind,
            period_s=PERIOD_S,
            inputs=self.inputs,
            outputs=OUTPUTS,
            initial=() if self.has.regions_at_top else self.initial_of(self.plans),
            states=tuple(self.state(plan) for plan in self.plans),
            parallel=self.has.regions_at_top,
            events=self.events,
            local_events=self.local_events,
            locals=self.locals,
            constants=CONSTANTS,
            units=UNITS,
            functions=self.functions,
            initial_values={"level": 1, "motion": "walk"} if self.chance(2) else {},
            junctions=junctions,
            steps=StepMode.COMPLETION if self.has.completion and self.chance(2) else StepMode.ONE,
            priority=Priority.ORDERED,
            otherwise=usual if self.chance(2) else Otherwise.STAY,
            promises=self.promises() if self.has.promises else (),
            resources=("lamp",) if self.chance(4) else (),
        )

    def initial_of(self, plans: list[_Plan]) -> tuple[StateTarget, ...]:
        return (StateTarget(self.pick(plan.name for plan in plans if not plan.final)),)

    def junctions(self) -> dict[str, tuple[Transition, ...]]:
        """Draw named junctions; each leads only to those drawn before, so that there is no circle."""
        found: dict[str, tuple[Transition, ...]] = {}
        if self.has.junctions and self.chance(2):
            for name in ("ask", "ask_again")[: self.draw(st.integers(1, 2))]:
                found[name] = self.segments(quiet=True, timed=False)
                self.junction_names.append(name)
        return found

    def promises(self) -> tuple[Promise, ...]:
        asked = dict.fromkeys((*self.events, *self.local_events), BoolType())
        scope = self.scope_with({**self.scope.variables, **asked})
        texts = [*asked, "not lamp", f"in({self.names[0]})", "level < 5"]
        when, goal = (parse_expression(self.pick(texts), scope, BoolType()) for _ in range(2))
        return (
            Promise("never 1", PromiseKind.NEVER, when),
            Promise("kept", PromiseKind.ALWAYS, goal),
            Promise("leads_to 3", PromiseKind.LEADS_TO, when, goal, self.pick((0.3, 2.0))),
        )

    def state(self, plan: _Plan) -> State:
        if plan.final:
            return State(plan.name, final=True, entry=self.actions())
        busy = not self.has.classic and self.has.actions
        initial = () if not plan.inside or (plan.parallel and self.chance(2)) else self.initial(plan)
        return State(
            plan.name,
            self.transitions(plan),
            do=self.settings(fixed=True) if self.has.kind is ChartKind.MOORE else {},
            min_s=self.pick((0.1, 0.25)) if self.has.timed and self.chance(5) else 0.0,
            priority=Priority.EXCLUSIVE if self.chance(6) else None,
            otherwise=Otherwise.STAY if self.chance(6) else None,
            entry=self.actions() if busy else (),
            during=self.actions(raises=True) if busy else (),
            exit=self.actions() if busy else (),
            states=tuple(self.state(child) for child in plan.inside),
            initial=initial,
            parallel=plan.parallel,
        )

    def initial(self, plan: _Plan) -> tuple[StateTarget, ...]:
        if self.has.history and not any(child.final for child in plan.all()) and self.chance(4):
            default = self.pick(child.name for child in plan.inside)
            return (StateTarget(plan.name, HistoryKind.SHALLOW, (default,)),)
        inside = [child for top in plan.inside for child in top.all() if not child.final]
        return (StateTarget(self.pick(child.name for child in inside)),)

    # -- transitions

    def transitions(self, plan: _Plan) -> tuple[Transition, ...]:
        found: list[Transition] = []
        for _ in range(self.draw(st.integers(0, 3))):
            found.append(self.transition(plan, found))
        return tuple(found)

    def transition(self, plan: _Plan, elders: list[Transition]) -> Transition:
        on = self.on(plan)
        quiet = bool({*on} - {*EVENTS})
        end = self.draw(st.integers(0, 9))
        if end == 9 and self.has.junctions:
            way = Transition(then=self.segments(quiet=quiet, timed=True))
        elif end == 8 and self.junction_names:
            way = Transition(junction=self.pick(self.junction_names))
        elif end == 7:
            way = Transition()
        else:
            way = Transition(go=self.targets(quiet=quiet), local=bool(plan.inside) and self.chance(3))
        after_s = self.pick((0.1, 0.3)) if self.has.timed and self.chance(6) else 0.0
        return replace(
            self.guarded(way, elders, on, timed=True), do=self.do(quiet=quiet), on=on, after_s=after_s
        )

    def guarded(
        self, way: Transition, elders: list[Transition], on: tuple[str, ...] = (), *, timed: bool
    ) -> Transition:
        once = not any(elder.is_else and has_alternatives([elder], on) for elder in elders)
        if once and has_alternatives(elders, on) and self.chance(5):
            return replace(way, when=else_guard(elders, on), is_else=True)
        return replace(way, when=ALWAYS if self.chance(6) else self.condition(2, timed=timed))

    def on(self, plan: _Plan) -> tuple[str, ...]:
        if not self.events or self.chance(2):
            return ()
        if self.has.final and plan.can_be_done and self.chance(2):
            return (DONE_PREFIX + plan.name,)
        return tuple(
            self.draw(
                st.lists(st.sampled_from((*EVENTS, *LOCAL_EVENTS)), min_size=1, max_size=2, unique=True)
            )
        )

    def segments(self, *, quiet: bool, timed: bool, level: int = 0) -> tuple[Transition, ...]:
        found: list[Transition] = []
        for _ in range(self.draw(st.integers(1, 3))):
            if self.junction_names and self.chance(5):
                way = Transition(junction=self.pick(self.junction_names))
            elif level < 2 and self.chance(5):
                way = Transition(then=self.segments(quiet=quiet, timed=timed, level=level + 1))
            else:
                way = Transition(go=self.targets(quiet=quiet))
            found.append(replace(self.guarded(way, found, timed=timed), do=self.do(quiet=quiet)))
        return tuple(found)

    def targets(self, *, quiet: bool) -> tuple[StateTarget, ...]:
        sides = [plan for plan in self.everyone if plan.parallel]
        if sides and self.chance(4):  # one state in each of two regions
            regions = self.pick(sides).inside
            return tuple(
                StateTarget(self.pick(child.name for child in region.all() if not child.final))
                for region in regions
            )
        nested = [plan for plan in self.everyone if plan.inside]
        if nested and self.has.history and not quiet and self.chance(4):
            plan = self.pick(nested)
            default = self.pick(child.name for child in plan.inside if not child.final or not quiet)
            return (StateTarget(plan.name, self.pick(HistoryKind), (default,) if self.chance(2) else ()),)
        return (StateTarget(self.pick(plan.name for plan in self.everyone if not (quiet and plan.final))),)

    def do(self, *, quiet: bool) -> Actions:
        if self.has.kind is ChartKind.MOORE:
            return ()
        if self.has.classic:
            settings = self.settings()
            return (Assign(settings),) if settings else ()
        return self.actions(raises=not quiet)
