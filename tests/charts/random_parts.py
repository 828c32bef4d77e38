"""What random charts are made of: declarations, conditions, actions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from hypothesis import strategies as st

from posewright.charts.expression import Expression, Function, FunctionRow, Scope, parse_expression
from posewright.charts.model import Action, Actions, Assign, Branch, ChartKind, Raise, scope_of
from posewright.charts.types import BoolType, EnumType, FloatType, IntType, Type

PERIOD_S = 0.1
INPUTS: dict[str, Type] = {
    "near": BoolType(),
    "left": BoolType(),
    "n": IntType(0, 3),
    "mode": EnumType(("slow", "fast")),
}
OUTPUTS: dict[str, Type] = {
    "lamp": BoolType(),
    "level": IntType(0, 5),
    "motion": EnumType(("nothing", "walk", "kick")),
}
LOCALS: dict[str, Type] = {"tries": IntType(0, 3), "seen": BoolType()}
CONSTANTS = {"limit": 2, "wait": 0.2}
UNITS = {"wait": "s"}
EVENTS, LOCAL_EVENTS = ("start", "stop"), ("lost",)
TIMES = ("0.1", "0.2 s", "250 ms", "wait", "0.35")


@dataclass(frozen=True)
class Features:
    """What may be in a chart that is drawn."""

    kind: ChartKind = ChartKind.STATECHART
    flat: bool = False
    timed: bool = True
    parallel: bool = True
    regions_at_top: bool = False
    events: bool = True
    history: bool = True
    junctions: bool = True
    functions: bool = True
    actions: bool = True
    final: bool = True
    locals: bool = True
    floats: bool = False
    completion: bool = False
    promises: bool = False
    faults: bool = False
    max_states: int = 8

    @property
    def classic(self) -> bool:
        """Whether it is a flat Mealy or Moore chart."""
        return self.kind is not ChartKind.STATECHART


class Parts:
    """Draws conditions and actions over what is declared.

    Attributes:
        names: of the states, for `in(...)`.
    """

    def __init__(self, draw: st.DrawFn, features: Features) -> None:
        self.draw = draw
        self.has = features
        self.inputs = {**INPUTS, **({"wall": FloatType(0.0, 2.0)} if features.floats else {})}
        self.locals = LOCALS if features.locals and not features.classic else {}
        self.events = EVENTS if features.events and not features.classic else ()
        self.local_events = LOCAL_EVENTS if self.events else ()
        self.functions = {"pick": _pick()} if features.functions else {}
        self.names: list[str] = []
        self.scope = Scope()

    def name_states(self, names: list[str]) -> None:
        """Note the names of all states; from then on there are conditions and actions."""
        self.names = names
        self.scope = self.scope_with({**self.inputs, **OUTPUTS, **self.locals})

    def scope_with(self, variables: Mapping[str, Type]) -> Scope:
        return scope_of(
            variables, CONSTANTS, units=UNITS, functions=self.functions, states=frozenset(self.names)
        )

    def chance(self, one_in: int) -> bool:
        return self.draw(st.integers(1, one_in)) == one_in

    def pick(self, options: Any) -> Any:
        return self.draw(st.sampled_from(list(options)))

    # -- actions

    def actions(self, *, raises: bool = False, level: int = 0) -> Actions:
        if not self.has.actions or self.chance(2):
            return ()
        return tuple(self.action(raises, level) for _ in range(self.draw(st.integers(1, 2))))

    def action(self, raises: bool, level: int) -> Action:
        sort = self.draw(st.integers(0, 5))
        if sort == 0 and raises and self.local_events:
            return Raise(self.pick(self.local_events))
        if sort == 1 and level < 2:
            return Branch(
                self.condition(1, timed=False),
                self.actions(raises=raises, level=level + 1),
                self.actions(raises=raises, level=level + 1),
            )
        return Assign(self.settings() or {"lamp": parse_expression("true", self.scope, BoolType())})

    def settings(self, *, fixed: bool = False) -> dict[str, Expression]:
        variables = {**OUTPUTS, **self.locals}
        names = self.draw(st.lists(st.sampled_from(list(variables)), max_size=2, unique=True))
        scope = (
            Scope(constants=CONSTANTS, enum_of_value=self.scope.enum_of_value, units=UNITS)
            if fixed
            else self.scope
        )
        return {
            name: parse_expression(self.value(variables[name], fixed), scope, variables[name])
            for name in names
        }

    def value(self, kind: Type, fixed: bool) -> str:
        if isinstance(kind, BoolType):
            return self.pick(("0", "1")) if fixed else self.pick(("0", "true", "near", "not lamp", "n > 1"))
        if isinstance(kind, EnumType):
            return self.pick((*kind.values, *(() if fixed else ("walk if near else kick", "motion"))))
        moving = ("level + 1", "n", "tries - 1" if self.locals else "level - 1", "min(n, limit)")
        return self.pick(("0", "2", "limit", *(() if fixed else moving)))

    # -- conditions

    def condition(self, depth: int, *, timed: bool) -> Expression:
        return parse_expression(self.text(depth, timed), self.scope, BoolType())

    def text(self, depth: int, timed: bool) -> str:
        form = self.draw(st.integers(0, 6)) if depth else 0
        if form <= 3:
            return str(self.pick(self.atoms(timed)))
        one, other = self.text(depth - 1, timed), self.text(depth - 1, timed)
        return (f"not ({one})", f"({one}) and ({other})", f"({one}) or ({other})")[form - 4]

    def atoms(self, timed: bool) -> list[str]:
        found = ["near", "left", "lamp", "n > 1", "n == level", "mode == fast", "motion != walk"]
        found += ["level + n < limit", "level % 2 == 0", "near if left else lamp"]
        if self.locals:
            found += ["tries < 3", "seen"]
        if self.functions:
            found += ["pick(near, n)", "pick(not left, level)"]
        if self.has.faults:
            found += ["4 / n > limit", "1000000000 * n > level", "pick(near, n * 3)", "level % n == 1"]
        if self.has.floats:
            found += ["wall < 0.5", "wall + 0.1 > n"]
        if not self.has.classic:
            found += [f"in({name})" for name in self.names[-2:]]
        if timed and self.has.timed and not self.has.classic:
            time = self.pick(TIMES)
            found += [f"after({time})", f"before({time})", f"every({time})", f"held(near, {time})"]
        return found


def _pick() -> Function:
    """Return a truth table of a truth value and a number."""
    takes: dict[str, Type] = {"p": BoolType(), "q": IntType(0, 5)}
    scope = scope_of(takes, CONSTANTS, units=UNITS)

    def row(when: str, give: str, *cells: str) -> FunctionRow:
        return FunctionRow(
            parse_expression(when, scope, BoolType()), parse_expression(give, scope, BoolType()), cells
        )

    return Function(
        "pick",
        takes,
        BoolType(),
        (
            row("p and q < limit", "1", "1", "< limit"),
            row("p and q >= 2 and q <= 3", "q == 3", "1", "2..3"),
            row("p and q > 3", "0", "1", "> 3"),
            row("not p", "0", "0", "X"),
        ),
    )
