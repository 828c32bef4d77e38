"""Reads the texts of expressions for the reference interpreter: Python's grammar, with two words changed.

Whoever computes hands in an environment that has under "" what is asked of time, of states and of faults.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from posewright.charts.model import Actions, Assign, Branch
from posewright.charts.types import EnumType, FloatType, IntType, Type

if TYPE_CHECKING:
    from .reference import Reference

ROOT = ""
UNIT_S = {"s": 1.0, "ms": 0.001, "min": 60.0}
Env = Mapping[str, Any]
Read = Callable[[Env], Any]


class FaultError(Exception):
    """A tick that cannot end: a division by zero, or an instantaneous cycle."""

    seen: Any


def fit(kind: Type, value: Any) -> Any:
    if isinstance(kind, EnumType):
        return value
    if isinstance(kind, IntType | FloatType):
        value = min(max(value, kind.low), kind.high)
        return int(value) if isinstance(kind, IntType) else float(value)
    return bool(value)


class Text:
    """Reads the text of an expression that stands in a state: Python's grammar, with two words changed."""

    def __init__(self, of: Reference, state: str) -> None:
        self.of, self.state = of, state

    def read(self, text: str) -> Read:
        return self.node(self.parsed(text))

    @staticmethod
    def parsed(text: str) -> ast.expr:
        text = re.sub(r"\bin\s*\(", "inside_(", text.replace("true", "True").replace("false", "False"))
        text = re.sub(r"(?<![\w.])(\d+\.?\d*)\s*(ms|s|min)\b", r"(\1, '\2')", text)
        return ast.parse(text.strip(), mode="eval").body

    @classmethod
    def calls_in(cls, of: Reference, state: str | None) -> Iterator[ast.Call]:
        for name, one in of.states.items():
            if state not in (None, name):
                continue
            texts = [
                str(segment.when) for way in of.ways[name] for segment in way.segments if not segment.is_else
            ]
            texts += [
                t
                for a in (one.entry, one.during, one.exit, *(s.do for w in of.ways[name] for s in w.segments))
                for t in texts_of(a)
            ]
            for text in dict.fromkeys(texts):
                yield from (n for n in ast.walk(cls.parsed(text)) if isinstance(n, ast.Call))

    @classmethod
    def times_in(cls, of: Reference) -> Iterator[tuple[str, float]]:
        for call in cls.calls_in(of, None):
            name = call.func.id if isinstance(call.func, ast.Name) else ""
            if name in ("after", "before", "every", "held"):
                yield name, cls(of, ROOT).seconds(call.args[-1])

    @classmethod
    def held_in(cls, of: Reference, state: str) -> list[tuple[str, int]]:
        key = ("held", state)
        if key not in of.reads:
            found = []
            for call in cls.calls_in(of, state):
                if isinstance(call.func, ast.Name) and call.func.id == "held":
                    ticks = max(of.ticks(cls(of, state).seconds(call.args[1])), 1)
                    found.append((ast.unparse(call.args[0]), ticks))
            of.reads[key] = found  # type: ignore[assignment]  # kept beside the others
        return of.reads[key]  # type: ignore[return-value]

    def seconds(self, node: ast.expr) -> float:
        if isinstance(node, ast.Tuple):
            number, unit = (one.value for one in node.elts if isinstance(one, ast.Constant))
            return float(number) * UNIT_S[str(unit)]
        if isinstance(node, ast.Name):
            unit = self.of.chart.units.get(node.id, "s")
            return float(self.of.chart.constants[node.id]) * UNIT_S[unit]
        assert isinstance(node, ast.Constant)
        return float(node.value)

    def node(self, node: ast.expr) -> Read:  # noqa: PLR0911 -- one for each kind of node
        if isinstance(node, ast.Constant):
            value = node.value
            return lambda _: value
        if isinstance(node, ast.Name):
            return self.name(node.id)
        if isinstance(node, ast.UnaryOp):
            one = self.node(node.operand)
            denies = isinstance(node.op, ast.Not)
            return lambda env: not one(env) if denies else saturate(-one(env), env)
        if isinstance(node, ast.BoolOp):
            parts = [self.node(one) for one in node.values]
            every = isinstance(node.op, ast.And)
            return lambda env: all(p(env) for p in parts) if every else any(p(env) for p in parts)
        if isinstance(node, ast.IfExp):
            test, then, other = self.node(node.test), self.node(node.body), self.node(node.orelse)
            return lambda env: then(env) if test(env) else other(env)
        if isinstance(node, ast.Compare):
            left, right = self.node(node.left), self.node(node.comparators[0])
            compare = COMPARE[type(node.ops[0])]
            return lambda env: compare(left(env), right(env))
        if isinstance(node, ast.BinOp):
            left, right, kind = self.node(node.left), self.node(node.right), type(node.op)
            return lambda env: arithmetic(kind, left(env), right(env), env)
        assert isinstance(node, ast.Call)
        assert isinstance(node.func, ast.Name)
        return self.call(node.func.id, node.args)

    def name(self, name: str) -> Read:
        if name in self.of.chart.constants:
            return lambda _: self.of.chart.constants[name]
        return lambda env: env.get(name, name)  # else it is a value of an enumeration

    def call(self, name: str, arguments: list[ast.expr]) -> Read:
        state = self.state
        if name == "inside_":
            (inner,) = arguments
            assert isinstance(inner, ast.Name)
            return lambda env: env[""].is_inside(inner.id)
        if name in ("after", "before", "every"):
            ticks = max(self.of.ticks(self.seconds(arguments[0])), 1)
            if name == "every":
                return lambda env: env[""].counts.get(state, 0) > 0 and env[""].counts[state] % ticks == 0
            return lambda env: (env[""].counts.get(state, 0) >= ticks) is (name == "after")
        if name == "held":
            ticks = max(self.of.ticks(self.seconds(arguments[1])), 1)
            key = (state, ast.unparse(arguments[0]), ticks)
            return lambda env: env[""].counts.get(key, 0) > ticks
        parts = [self.node(one) for one in arguments]
        if name in ("abs", "min", "max"):
            plain = {"abs": abs, "min": min, "max": max}[name]
            return lambda env: saturate(plain(*(part(env) for part in parts)), env)
        return lambda env: self.function(name, [part(env) for part in parts], env)

    def function(self, name: str, values: list[Any], env: Env) -> Any:
        function = self.of.chart.functions[name]
        fitted = {}
        for (one, kind), value in zip(function.parameters.items(), values, strict=True):
            fitted[one] = fit(kind, value)
            if fitted[one] != value:
                env[""].seen.cut_arguments.add(name)
        scope = {"": env[""], **fitted}
        fits = [row for row in function.rows if self.of.read(str(row.when))(scope)]
        row = fits[0] if fits else function.rows[-1]
        return fit(function.return_type, self.of.read(str(row.value))(scope))


def texts_of(actions: Actions) -> Iterator[str]:
    for action in actions:
        if isinstance(action, Assign):
            yield from map(str, action.values.values())
        elif isinstance(action, Branch):
            yield str(action.when)
            yield from texts_of(action.then)
            yield from texts_of(action.otherwise)


COMPARE: dict[type, Callable[[Any, Any], bool]] = {
    ast.Lt: lambda a, b: a < b,
    ast.LtE: lambda a, b: a <= b,
    ast.Gt: lambda a, b: a > b,
    ast.GtE: lambda a, b: a >= b,
    ast.Eq: lambda a, b: a == b,
    ast.NotEq: lambda a, b: a != b,
}


def arithmetic(kind: type, a: Any, b: Any, env: Env) -> Any:
    if kind in (ast.Div, ast.Mod) and b == 0:
        raise FaultError("division by zero")
    if kind is ast.Div:
        return a / b
    if kind is ast.Mod:
        return a % b
    return saturate(a + b if kind is ast.Add else a - b if kind is ast.Sub else a * b, env)


def saturate(value: Any, env: Env) -> Any:
    if not isinstance(value, int):
        return value
    fitted = min(max(value, -(2**31)), 2**31 - 1)
    if fitted != value:
        env[""].seen.overflows += 1
    return fitted
