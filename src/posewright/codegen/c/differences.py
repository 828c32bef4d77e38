"""Differences between the C of a chart and the interpreter.

They are found before C is written: what C cannot do is an error, other differences are listed at the top of
the chart's header.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from posewright.charts.expression import Binary, Expression, Operator
from posewright.charts.expression.tree import Tree, nodes_of, range_of
from posewright.charts.machine import MAX_MICROSTEPS, Machine
from posewright.charts.model import expressions_in
from posewright.charts.types import FloatType, IntType, Value
from posewright.codegen.c.chart import ChartGenerator
from posewright.codegen.c.code import MAX_QUEUE, queue_bound
from posewright.codegen.c.writer import comment
from posewright.errors import InputError, Where

MAX_TRANSITIONS = 65535
"""Transitions are numbered with 16 bits, and one number means none; there are fewer states."""

MAX_EVENTS = 256
"""Events that are raised inside, and promises, are numbered with 8 bits."""

MICROSECOND_S = 1e-6
MAX_PERIOD_S = 2**31 * MICROSECOND_S
"""Longest period: the boards' clocks count microseconds in 32 bits, half of which can be compared."""

SAFE_PERIOD_S = 1e-3
"""Period in which a tick and the traffic on the serial line fit: a step takes some ten microseconds."""

MAX_LISTED_PLACES = 4
ABANDONED_TICK_TEXT = "it is given up and changes nothing, and the status stays"


class _CountLimit(NamedTuple):
    """The number of some elements of a chart, the greatest that C can number, and a hint to lower it."""

    name: str
    n: int
    limit: int
    hint: str


@dataclass(frozen=True)
class CodeDifference:
    """A difference from the interpreter, or a condition under which there is none.

    Attributes:
        feature: feature of the chart that it concerns.
        effect: what the C does.
        where: places in the chart, where known: `walking -> turning (line 12)`.
    """

    feature: str
    effect: str
    where: tuple[str, ...] = ()

    def __str__(self) -> str:
        text = f"{self.feature}: {self.effect}"
        if not self.where:
            return text
        places = "; ".join(self.where[:MAX_LISTED_PLACES])
        n_more = len(self.where) - MAX_LISTED_PLACES
        return f"{text} [{places}{f' and {n_more} more' if n_more > 0 else ''}]"


def find_differences(generator: ChartGenerator) -> tuple[CodeDifference, ...]:
    """Return the differences of a chart's C from the interpreter.

    Raises:
        InputError: C cannot do what the chart requires; the hint says what to change.
    """
    require_expressible(generator)
    _ = generator.body  # writing it collects the support functions used
    finders = (
        _find_division_difference,
        _find_modulo_difference,
        _find_float_difference,
        _find_nan_difference,
        _find_soft_double_difference,
        _find_endless_tick_difference,
        _find_queue_difference,
        _find_period_difference,
        _find_name_difference,
    )
    differences = [find(generator) for find in finders]
    return tuple(difference for difference in differences if difference is not None)


def format_differences(differences: tuple[CodeDifference, ...]) -> list[str]:
    """Return the differences as comments, with an empty line after them."""
    lines = [comment(str(difference)[0].upper() + str(difference)[1:] + ".") for difference in differences]
    return [*lines, ""] if lines else []


def require_expressible(generator: ChartGenerator) -> None:
    """Raise unless a chart can be written as C.

    Raises:
        InputError: it is too large, or its period cannot be timed.
    """
    machine = generator.machine
    chart = generator.chart
    counts = (
        _CountLimit(
            "ways between states",
            len(machine.transitions),
            MAX_TRANSITIONS,
            hint="let fewer junctions follow one another",
        ),
        _CountLimit(
            "events raised inside",
            len(machine.handled_events),
            MAX_EVENTS,
            hint="let a local say which one of many it is",
        ),
        _CountLimit(
            "promises",
            len(generator.monitors.promises),
            MAX_EVENTS,
            hint="join some with `and`, or do without monitors",
        ),
    )
    for count in counts:
        if count.n > count.limit:
            message = f"{chart.name} has {count.n} {count.name}, and {count.limit} can be numbered"
            raise InputError(message, where=Where(chart.path), hint=count.hint)
    if chart.period_s > MAX_PERIOD_S:
        raise InputError(
            f"a tick every {chart.period_s:g} s cannot be timed in microseconds of 32 bits",
            where=Where(chart.path, chart.lines.get("period_s")),
            hint=f"a period of {MAX_PERIOD_S:g} s at most; count longer times in the chart",
        )
    max_queued_events = generator.options.max_queued_events
    if max_queued_events is not None and not 1 <= max_queued_events <= MAX_QUEUE:
        raise InputError(f"a queue cannot hold {max_queued_events} events", hint=f"from 1 to {MAX_QUEUE}")


def _find_division_difference(generator: ChartGenerator) -> CodeDifference | None:
    """Return what happens at a division by zero, and where; None if no divisor can be 0."""
    if not generator.code.expressions.checks_divisor:
        return None
    abandoned = ABANDONED_TICK_TEXT.replace("it", "the tick", 1)
    effect = f"{abandoned} {generator.names.constant}_DIVISION_BY_ZERO until init"
    return CodeDifference("division by zero", effect, _find_places(generator, _may_divide_by_zero))


def _find_modulo_difference(generator: ChartGenerator) -> CodeDifference | None:
    """Return that remainders of floats may be slow, and where; None without them."""
    if not {"pw_fmod", "pw_f64_mod"} & generator.code.expressions.support_functions:
        return None
    effect = "exact, bit for bit, but slow where the operands are of very different size"
    return CodeDifference("`%` of fractions", effect, _find_places(generator, _is_fraction_modulo))


def _find_float_difference(generator: ChartGenerator) -> CodeDifference | None:
    """Return under which compiler options floats have the same results; None for a chart without floats."""
    types = [*generator.chart.inputs.values(), *generator.chart.variables.values()]
    has_float = any(isinstance(value_type, FloatType) for value_type in types)
    nodes = [node for expression in generator.machine.expressions for node in nodes_of(expression.tree)]
    divides = any(isinstance(node, Binary) and node.operator is Operator.OVER for node in nodes)
    if not divides and not has_float:
        return None
    return CodeDifference(
        "fractions", "exact with -ffp-contract=off and without -ffast-math, as `build` compiles"
    )


def _find_nan_difference(generator: ChartGenerator) -> CodeDifference | None:
    """Return what the C does with an input that is no number; None without inputs that can be."""
    names = tuple(name for name, kind in generator.chart.inputs.items() if isinstance(kind, FloatType))
    if not names:
        return None
    effect = "comparisons with it fail, and stored it becomes the default; the interpreter rejects it"
    return CodeDifference("an input that is NaN", effect, names)


def _find_soft_double_difference(generator: ChartGenerator) -> CodeDifference | None:
    """Return that 64-bit floats are slow on the UNO; None if the chart has none or has another target."""
    doubles = [
        name
        for name, value_type in {**generator.chart.inputs, **generator.chart.variables}.items()
        if isinstance(value_type, FloatType) and not value_type.single
    ]
    support_functions = generator.code.expressions.support_functions
    computes_doubles = any(name.startswith("pw_f64") for name in support_functions)
    if not generator.options.soft_doubles or not (doubles or computes_doubles):
        return None
    return CodeDifference(
        "fractions of 64 bits",
        "exact, but slow on the UNO, whose compiler knows 32 bits only; write float32 where that is enough",
        tuple(doubles),
    )


def _find_endless_tick_difference(generator: ChartGenerator) -> CodeDifference | None:
    """Return what happens in a tick with too many microsteps; None if every tick ends."""
    if not generator.counts_microsteps:
        return None
    status = f"{generator.names.constant}_NO_END"
    effect = f"after {MAX_MICROSTEPS} microsteps {ABANDONED_TICK_TEXT} {status} until init"
    return CodeDifference("a tick that may not end", effect)


def _find_queue_difference(generator: ChartGenerator) -> CodeDifference | None:
    """Return the difference that the event queue of C has a fixed size; None if it cannot overflow."""
    if not generator.may_overflow:
        return None
    size = generator.code.queue_size
    bound = queue_bound(generator.machine)
    difference = f"; in the interpreter {bound} may wait" if size < bound else ""
    effect = f"{size} may wait at once; a tick that raises one more is given up as if without end{difference}"
    return CodeDifference("events raised inside", effect, tuple(sorted(generator.machine.handled_events)))


def _find_period_difference(generator: ChartGenerator) -> CodeDifference | None:
    """Return that a board misses ticks of a short period or rounds it to microseconds; None if neither."""
    period_s = generator.chart.period_s
    rounded_s = round(period_s / MICROSECOND_S) * MICROSECOND_S
    if period_s < SAFE_PERIOD_S:
        return CodeDifference(
            "the period", f"a board may miss ticks every {period_s:g} s, and does not make up for them"
        )
    if abs(rounded_s - period_s) > 1e-9 * period_s:
        effect = f"a board keeps whole microseconds: {rounded_s:.6f} s for {period_s!r} s"
        return CodeDifference("the period", effect)
    return None


def _find_name_difference(generator: ChartGenerator) -> CodeDifference | None:
    """Return the difference that some names of the chart are other ones in C; None if all are the same."""
    names = generator.names
    field_names: Mapping[str, str] = {**names.inputs, **names.fields}
    counters = {counter.name for counter in generator.machine.counters}
    changed = [
        f"{name} is {text}" for name, text in field_names.items() if name not in counters and name != text
    ]
    changed += [f"{event} is {text}" for event, text in names.event_inputs.items() if text != f"ev_{event}"]
    if not changed:
        return None
    return CodeDifference(
        "names that C or the chart's own fields have", "another one is used", tuple(changed)
    )


# Where in the chart

NodePredicate = Callable[[Tree, Mapping[str, Value]], bool]
"""Returns whether a node of an expression has a property, given the values of constant names."""


def _find_places(generator: ChartGenerator, predicate: NodePredicate) -> tuple[str, ...]:
    """Return the places of the chart with an expression that has a node with a property."""
    places = dict[str, None]()
    for place, expression in _located_expressions(generator):
        if any(predicate(node, expression.constant_values) for node in nodes_of(expression.tree)):
            places[place] = None
    return tuple(places)


def _located_expressions(generator: ChartGenerator) -> Iterator[tuple[str, Expression]]:
    """Yield all expressions of a machine and of its monitored promises, each after its place.

    They are guards, terms of actions, the conditions whose durations are counted, and those of promises, all
    as the generated code evaluates them.
    """
    machine: Machine = generator.machine
    for node in machine.nodes:
        for transition in node.transitions:
            place = _format_place(generator.code.transition_name(transition), transition.line)
            for expression in (*transition.guards, *expressions_in(transition.do)):
                yield place, expression
        for actions in node.actions:
            for expression in expressions_in(actions):
                yield _format_place(node.name, node.line), expression
        for counter in node.counters:
            if counter.condition is not None:
                yield _format_place(node.name, node.line), counter.condition
    for promise, conditions in zip(generator.monitors.promises, generator.monitors.conditions, strict=True):
        for expression in conditions.lowered_conditions:
            yield _format_place(promise.name, promise.line), expression


def _format_place(name: str, line: int | None) -> str:
    """Return a place in the chart as text: `walking -> turning (line 12)`."""
    return f"{name} (line {line})" if line else name


def _may_divide_by_zero(tree: Tree, constant_values: Mapping[str, Value]) -> bool:
    """Return whether a tree is a division or remainder whose divisor may be 0."""
    if not isinstance(tree, Binary) or tree.operator not in (Operator.OVER, Operator.MODULO):
        return False
    low, high = range_of(tree.right, constant_values)
    return low <= 0 <= high


def _is_fraction_modulo(tree: Tree, _constant_values: Mapping[str, Value]) -> bool:
    return (
        isinstance(tree, Binary) and tree.operator is Operator.MODULO and not isinstance(tree.type, IntType)
    )
