"""What C on a small processor cannot keep as the interpreter does, and what is done instead.

Everything here is known before a line of C is written: what cannot be done is refused, the rest is said at
the head of the chart's header.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from posewright.charts.expression import Binary, Expression, Operator
from posewright.charts.expression.tree import Tree, nodes_of, range_of
from posewright.charts.machine import MAX_MICROSTEPS, Machine
from posewright.charts.model import expressions_in
from posewright.charts.types import FloatType, IntType, Value
from posewright.codegen.c.chart import ChartGenerator
from posewright.codegen.c.code import MAX_QUEUE, queue_bound
from posewright.codegen.c.writer import comment
from posewright.errors import InputError, Where

MAX_WAYS = 65535
"""Ways between states are numbered with 16 bits, and one number is none; there are fewer states."""

MAX_EVENTS = 256
"""Events that are raised inside, and promises, are numbered with 8 bits."""

MICROSECOND_S = 1e-6
MAX_PERIOD_S = 2**31 * MICROSECOND_S
"""The boards' clocks count microseconds in 32 bits; differences of half as many can surely be told apart."""

SAFE_PERIOD_S = 1e-3
"""From here on a tick and what goes over the serial line surely fit: a step takes some ten microseconds."""

MOST_PLACES = 4
GIVEN_UP = "it is given up and changes nothing, and the status stays"


@dataclass(frozen=True)
class Policy:
    """Something that is not as in the interpreter, or only so under a condition.

    Attributes:
        what: it is about.
        done: what the C does.
        where: in the chart, as far as that can be said: `walking -> turning (line 12)`.
    """

    what: str
    done: str
    where: tuple[str, ...] = ()

    def __str__(self) -> str:
        shown, more = "; ".join(self.where[:MOST_PLACES]), len(self.where) - MOST_PLACES
        rest = f" and {more} more" if more > 0 else ""
        return f"{self.what}: {self.done}" + (f" [{shown}{rest}]" if shown else "")


def policies_of(generator: ChartGenerator) -> tuple[Policy, ...]:
    """Return what is to be known of a chart in C.

    Raises:
        InputError: C cannot keep what the chart promises; the hint says what to change.
    """
    refuse_impossible(generator)
    _ = generator.body  # what it is computed with is known once it is written
    found = [_division(generator), _modulo(generator), _fractions(generator), _soft(generator)]
    found += [_endless(generator), _queue(generator), _period(generator), _names(generator)]
    return tuple(one for one in found if one is not None)


def policy_lines(policies: tuple[Policy, ...]) -> list[str]:
    """Return them as comments, with an empty line after them."""
    lines = [comment(str(one)[0].upper() + str(one)[1:] + ".") for one in policies]
    return [*lines, ""] if lines else []


def refuse_impossible(generator: ChartGenerator) -> None:
    """Refuse a chart that cannot be written as C.

    Raises:
        InputError: it is too large, or its ticks are closer or farther apart than can be counted.
    """
    machine, chart = generator.machine, generator.chart
    sizes = {
        "ways between states": (len(machine.transitions), MAX_WAYS, "let fewer junctions follow one another"),
        "events raised inside": (
            len(machine.handled_events),
            MAX_EVENTS,
            "let a local say which one of many it is",
        ),
        "promises": (
            len(generator.monitors.promises),
            MAX_EVENTS,
            "join some with `and`, or do without monitors",
        ),
    }
    for what, (size, most, hint) in sizes.items():
        if size > most:
            message = f"{chart.name} has {size} {what}, and {most} can be numbered"
            raise InputError(message, where=Where(chart.path), hint=hint)
    if chart.period_s > MAX_PERIOD_S:
        raise InputError(
            f"a tick every {chart.period_s:g} s cannot be timed in microseconds of 32 bits",
            where=Where(chart.path, chart.lines.get("period_s")),
            hint=f"a period of {MAX_PERIOD_S:g} s at most; count longer times in the chart",
        )
    queue = generator.options.queue
    if queue is not None and not 1 <= queue <= MAX_QUEUE:
        raise InputError(f"a queue cannot hold {queue} events", hint=f"from 1 to {MAX_QUEUE}")


def _division(generator: ChartGenerator) -> Policy | None:
    if not generator.code.expressions.divides:
        return None
    done = f"{GIVEN_UP.replace('it', 'the tick', 1)} {generator.names.constant}_DIVISION_BY_ZERO until init"
    return Policy("division by zero", done, _asking(generator, _may_divide_by_zero))


def _modulo(generator: ChartGenerator) -> Policy | None:
    if not {"pw_fmod", "pw_f64_mod"} & generator.code.expressions.used:
        return None
    done = "exact, bit for bit, but slow where the operands are of very different size"
    return Policy("`%` of fractions", done, _asking(generator, _is_fraction_modulo))


def _fractions(generator: ChartGenerator) -> Policy | None:
    kinds = [*generator.chart.inputs.values(), *generator.chart.variables.values()]
    trees = [node for one in generator.machine.expressions for node in nodes_of(one.tree)]
    divides = any(isinstance(node, Binary) and node.operator is Operator.OVER for node in trees)
    if not divides and not any(isinstance(kind, FloatType) for kind in kinds):
        return None
    done = "exact with -ffp-contract=off and without -ffast-math, as `build` compiles"
    return Policy("fractions", done)


def _soft(generator: ChartGenerator) -> Policy | None:
    doubles = [
        name
        for name, kind in {**generator.chart.inputs, **generator.chart.variables}.items()
        if isinstance(kind, FloatType) and not kind.single
    ]
    if not generator.options.soft_doubles or not (
        doubles or any(name.startswith("pw_f64") for name in generator.code.expressions.used)
    ):
        return None
    return Policy(
        "fractions of 64 bits",
        "exact, but slow on the UNO, whose compiler knows 32 bits only; write float32 where that is enough",
        tuple(doubles),
    )


def _endless(generator: ChartGenerator) -> Policy | None:
    if not generator.counts:
        return None
    done = f"after {MAX_MICROSTEPS} microsteps {GIVEN_UP} {generator.names.constant}_NO_END until init"
    return Policy("a tick that may not end", done)


def _queue(generator: ChartGenerator) -> Policy | None:
    if not generator.may_overflow:
        return None
    size = generator.code.queue
    most = queue_bound(generator.machine)
    unlike = f"; in the interpreter {most} may wait" if size < most else ""
    done = f"{size} may wait at once; a tick that raises one more is given up as if without end{unlike}"
    return Policy("events raised inside", done, tuple(sorted(generator.machine.handled_events)))


def _period(generator: ChartGenerator) -> Policy | None:
    period_s = generator.chart.period_s
    whole = round(period_s / MICROSECOND_S) * MICROSECOND_S
    if period_s < SAFE_PERIOD_S:
        return Policy(
            "the period", f"a board may miss ticks every {period_s:g} s, and does not make up for them"
        )
    if abs(whole - period_s) > 1e-9 * period_s:
        return Policy("the period", f"a board keeps whole microseconds: {whole:.6f} s for {period_s!r} s")
    return None


def _names(generator: ChartGenerator) -> Policy | None:
    names = generator.names
    given: Mapping[str, str] = {**names.inputs, **names.fields}
    counters = {counter.name for counter in generator.machine.counters}
    changed = [f"{name} is {text}" for name, text in given.items() if name not in counters and name != text]
    changed += [f"{event} is {text}" for event, text in names.event_inputs.items() if text != f"ev_{event}"]
    if not changed:
        return None
    return Policy("names that C or the chart's own fields have", "another one is used", tuple(changed))


# Where in the chart

Question = Callable[[Tree, Mapping[str, Value]], bool]


def _asking(generator: ChartGenerator, question: Question) -> tuple[str, ...]:
    """Return the places of the chart in which an expression has a part of which a question is true."""
    found = dict[str, None]()
    for place, expression in _expressions(generator):
        if any(question(node, expression.fixed) for node in nodes_of(expression.tree)):
            found[place] = None
    return tuple(found)


def _expressions(generator: ChartGenerator) -> Iterator[tuple[str, Expression]]:
    """Yield every expression of a machine and of the promises that are watched, each with its place."""
    machine: Machine = generator.machine
    for node in machine.nodes:
        for way in node.transitions:
            place = _place(generator.code.way_name(way), way.line)
            yield from ((place, one) for one in (*way.guards, *expressions_in(way.do)))
        for actions in node.actions:
            yield from ((_place(node.name, node.line), one) for one in expressions_in(actions))
        for counter in node.counters:
            if counter.condition is not None:
                yield _place(node.name, node.line), counter.condition
    for promise, asked in zip(generator.monitors.promises, generator.monitors.asked, strict=True):
        yield from ((_place(promise.name, promise.line), one) for one in asked.conditions)


def _place(name: str, line: int | None) -> str:
    return f"{name} (line {line})" if line else name


def _may_divide_by_zero(tree: Tree, fixed: Mapping[str, Value]) -> bool:
    if not isinstance(tree, Binary) or tree.operator not in (Operator.OVER, Operator.MODULO):
        return False
    low, high = range_of(tree.right, fixed)
    return low <= 0 <= high


def _is_fraction_modulo(tree: Tree, _fixed: Mapping[str, Value]) -> bool:
    return (
        isinstance(tree, Binary) and tree.operator is Operator.MODULO and not isinstance(tree.type, IntType)
    )
