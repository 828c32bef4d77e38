"""Both styles of a tick do what the interpreter does; the document's machine is small; long chains hold."""

from __future__ import annotations

import ctypes
import subprocess
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.charts.random_charts import charts, values

from posewright.charts import Chart, read_chart
from posewright.charts.expression import Expression, Scope, parse_expression
from posewright.charts.machine import Interpreter
from posewright.charts.model import ChartKind
from posewright.charts.types import BoolType, EnumType
from posewright.codegen.c import ChartUnitSpec, Options
from posewright.codegen.c.guard_pruning import find_terms, prune_guards
from posewright.codegen.c.truth_table import Style
from posewright.errors import InputError

from .conftest import need_tool

DOCUMENT = Path(__file__).parents[2] / "examples/charts/document"
STATES = 4
STRICT = ["-std=c99", "-Wall", "-Wextra", "-Wconversion", "-pedantic", "-Werror"]


def written(unit_spec: ChartUnitSpec, folder: Path) -> list[str]:
    """Write a unit's files and return the paths of its sources."""
    folder.mkdir(parents=True, exist_ok=True)
    for source in unit_spec.sources():
        (folder / source.name).write_text(source.text)
    return [str(folder / source.name) for source in unit_spec.sources() if source.name.endswith(".c")]


def library(unit_spec: ChartUnitSpec, folder: Path) -> ctypes.CDLL:
    """Return a unit, compiled for this machine."""
    gcc = need_tool("gcc")
    target = folder / "unit.so"
    subprocess.run(
        [gcc, *STRICT, "-fPIC", "-shared", *written(unit_spec, folder), "-o", str(target), "-lm"], check=True
    )
    return ctypes.CDLL(str(target))


def built_for_avr(unit_spec: ChartUnitSpec, folder: Path) -> Path:
    """Compile a chart for the ATmega328P and return the object file."""
    target = folder / "chart.o"
    path = next(path for path in written(unit_spec, folder) if not path.endswith("unit.c"))
    command = [need_tool("avr-gcc"), "-mmcu=atmega328p", "-Os", *STRICT, "-c", path, "-o", str(target)]
    subprocess.run(command, check=True)
    return target


def record_of(unit_spec: ChartUnitSpec, row: dict[str, object]) -> bytes:
    """Return a row of inputs and events as a unit takes it."""
    record = np.zeros((), unit_spec.input_dtype)
    for name, value in row.items():
        kind = unit_spec.chart.inputs.get(name, BoolType())
        record[name] = kind.codes[str(value)] if isinstance(kind, EnumType) else value
    return record.tobytes()


def active_in(state: np.void) -> set[int]:
    bits = np.unpackbits(state["active"], bitorder="little")
    return {int(number) for number in np.flatnonzero(bits)}


def assert_agrees(chart: Chart, style: Style, rows: list[dict[str, object]], folder: Path) -> None:
    """Check that a chart in a style does on some rows what the interpreter does."""
    unit_spec = ChartUnitSpec(chart, Options(style=style))
    unit, interpreter = library(unit_spec, folder), Interpreter(chart, unit_spec.lowered)
    unit.unit_reset()
    snapshot = interpreter.initial()
    out = ctypes.create_string_buffer(unit_spec.state_dtype.itemsize)
    for row in rows:
        unit.unit_step(record_of(unit_spec, row), out)
        snapshot = interpreter.step(snapshot, row)
        state = np.frombuffer(out.raw, unit_spec.state_dtype)[0]
        assert active_in(state) == {0, *snapshot.active_nodes}, row
        for name, value in snapshot.registers.items():
            kind = unit_spec.lowered.types[name]
            wanted = kind.codes[str(value)] if isinstance(kind, EnumType) else value
            assert state[unit_spec.format.field_of[name]] == wanted, (name, row)


def flat(kind: ChartKind) -> st.SearchStrategy[Chart]:
    return charts(
        kind=kind, flat=True, timed=False, parallel=False, events=False, history=False, actions=False
    )


@pytest.fixture
def fresh(tmp_path: Path):
    """A folder for every example: a library that is loaded must not be overwritten."""
    numbers = iter(range(10_000))
    return lambda: tmp_path / str(next(numbers))


def has_a_table(chart: Chart) -> bool:
    """Return whether a chart can be a table; all of these can but for the number of rows."""
    try:
        return ChartUnitSpec(chart, Options(style=Style.TABLE)).generator.table is not None
    except InputError as error:
        if "cannot be a table: it would have" not in str(error):
            raise
        return False


@given(st.sampled_from(ChartKind).flatmap(flat), st.data())
@settings(max_examples=8, deadline=None, suppress_health_check=list(HealthCheck))
def test_both_styles_do_what_the_interpreter_does(fresh, chart: Chart, data) -> None:
    row = st.fixed_dictionaries({name: values(kind) for name, kind in chart.inputs.items()})
    rows = data.draw(st.lists(row, min_size=20, max_size=20))
    assert_agrees(chart, Style.SWITCH, rows, fresh())
    if has_a_table(chart):
        assert_agrees(chart, Style.TABLE, rows, fresh())


@pytest.mark.parametrize("name", ["obstacle_mealy", "obstacle_junctions", "obstacle_mealy_table"])
@pytest.mark.parametrize("style", Style)
def test_the_documents_machine_agrees_in_every_style(fresh, name: str, style: Style) -> None:
    chart = read_chart(DOCUMENT / f"{name}.chart.yaml")
    dice = np.random.default_rng(5)
    rows = [{sensor: bool(dice.random() < 0.5) for sensor in chart.inputs} for _ in range(500)]
    assert_agrees(chart, style, rows, fresh())


@pytest.mark.parametrize("name", ["obstacle_mealy", "obstacle_junctions", "obstacle_mealy_table"])
@pytest.mark.parametrize(("style", "most"), [(Style.AUTO, 30), (Style.TABLE, 30), (Style.SWITCH, 41)])
def test_the_documents_machine_takes_few_bytes_a_state(
    tmp_path: Path, name: str, style: Style, most: int
) -> None:
    chart = read_chart(DOCUMENT / f"{name}.chart.yaml")
    target = built_for_avr(ChartUnitSpec(chart, Options(style=style, soft_doubles=True)), tmp_path)
    said = subprocess.run([need_tool("avr-size"), str(target)], check=True, capture_output=True, text=True)
    text, data, bss = map(int, said.stdout.splitlines()[1].split()[:3])
    assert text / STATES <= most
    assert (data, bss) == (0, 0)  # the table stays in flash


def test_every_row_of_a_table_names_its_way() -> None:
    chart = read_chart(DOCUMENT / "obstacle_mealy.chart.yaml")
    source = ChartUnitSpec(chart, Options(style=Style.TABLE)).sources()[1]
    rows = [
        (line, element)
        for line, element in zip(source.lines, source.elements, strict=True)
        if "U, /*" in line
    ]
    assert len(rows) == STATES * 2**3
    assert all(element and element.kind == "transition" and element.name in line for line, element in rows)
    assert {element.name for _, element in rows if element} == {
        f"{chart_state.name} -> {way.go[0].state}"
        for chart_state in chart.states
        for way in chart_state.transitions
    }


def test_a_chart_that_cannot_be_a_table_says_why() -> None:
    folder = DOCUMENT.parent
    reasons = {
        "stairs/stairs": "it remembers states that were left",
        "battery_guard/battery_guard": "it acts during ticks",
        "handshake/handshake": "states are active side by side",
    }
    for name, reason in reasons.items():
        chart = read_chart(folder / f"{name}.chart.yaml")
        with pytest.raises(InputError, match=reason):
            ChartUnitSpec(chart, Options(style=Style.TABLE)).sources()
        ChartUnitSpec(chart, Options(style=Style.AUTO)).sources()


LONG = """\
chart: long
period_s: 0.1
inputs: {{n: {{int: [0, 199]}}, near: bool}}
outputs: {{level: {{int: [-1000, 1000]}}, same: {{int: [-1000, 1000]}}}}
functions:
  pick:
    takes: {{n: {{int: [0, 199]}}}}
    gives: {{int: [-1000, 1000]}}
    rows:
{rows}
initial: on
states:
  on:
    - {{when: near, do: {{level: pick(n), same: pick(n)}}, go: on}}
"""


def test_a_truth_table_of_200_rows_is_one_function_and_agrees(fresh, tmp_path: Path) -> None:
    path = tmp_path / "long.chart.yaml"
    rows = "\n".join(f"      - [{n}, {n * 7 % 1999 - 1000}]" for n in range(200))
    path.write_text(LONG.format(rows=rows))
    chart = read_chart(path)
    assert_agrees(chart, Style.SWITCH, [{"n": n, "near": n % 5 > 0} for n in range(200)], fresh())
    unit_spec = ChartUnitSpec(chart, Options(soft_doubles=True))
    text = unit_spec.sources()[1].text
    assert text.count("static int table_pick(") == 1
    assert text.count("table_pick(in)") == 2
    built_for_avr(unit_spec, tmp_path)


@settings(max_examples=40, deadline=None)
@given(st.data())
def test_what_is_settled_is_not_asked_and_changes_no_answer(data) -> None:
    names = ("a", "b", "c")
    scope = Scope({name: BoolType() for name in names})
    atoms = st.sampled_from([*names, *(f"not {name}" for name in names)])
    texts = st.recursive(
        atoms,
        lambda inner: (
            st.builds("({} {} {})".format, inner, st.sampled_from(["and", "or"]), inner)
            | st.builds("not {}".format, inner)
        ),
        max_leaves=5,
    )
    guards = [
        parse_expression(t, scope, BoolType()) for t in data.draw(st.lists(texts, min_size=1, max_size=5))
    ]
    terms = [[*find_terms(guard.tree)] for guard in guards]
    places = prune_guards(terms)
    for number in range(8):
        env = {name: bool(number >> k & 1) for k, name in enumerate(names)}
        plain = next((k for k, guard in enumerate(guards) if guard.evaluate(env)), None)
        kept = {
            k: [Expression(terms[k][p], BoolType()) for p in at]
            for k, at in enumerate(places)
            if at is not None
        }
        asked = next((k for k, some in kept.items() if all(one.evaluate(env) for one in some)), None)
        assert asked == plain
