"""A compiled chart answers as the interpreter does, in all that it is asked."""

from __future__ import annotations

import sys
import threading
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from posewright.charts import Interpreter, Snapshot, parse_chart, read_chart
from posewright.charts.machine import native
from posewright.codegen import toolchains
from posewright.codegen.native import CompiledMachine
from posewright.codegen.targets.host import library
from posewright.errors import ExpressionError, InputError, PosewrightError, UnknownNameError

from ..charts import random_charts
from .conftest import need_tool

EXAMPLES = sorted((Path(__file__).parents[2] / "examples" / "charts").glob("*/*.chart.yaml"))

DIVIDES = """
chart: divides
period_s: 0.1
inputs: {wall: {float: [0.0, 5.0]}, n: int8}
outputs: {speed: float, count: uint8}
otherwise: stay
initial: on
states:
  on:
    during: [{speed: wall / n, count: count + 1}]
"""


@pytest.fixture(autouse=True)
def _offered(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> None:
    """Let the door be open also where this checkout was not installed, and the cache be nobody's."""
    need_tool("cc")
    monkeypatch.setattr(native, "plugins", lambda _group: {"c": CompiledMachine})
    cache = tmp_path_factory.getbasetemp() / "cache"
    monkeypatch.setenv("XDG_CACHE_HOME", str(cache))


def outcome(interpreter: Interpreter, state: Snapshot, row: Any) -> Any:
    try:
        return interpreter.step(state, row)
    except PosewrightError as error:
        return type(error), str(error)


@settings(max_examples=8, phases=(Phase.explicit, Phase.generate))
@given(st.data())
def test_random_charts_do_the_same_step_by_step_in_rows_and_in_columns(data: st.DataObject) -> None:
    chart = data.draw(random_charts.charts(faults=True))
    rows = data.draw(random_charts.rows(chart, 12))
    plain, compiled = Interpreter(chart, remember=False), Interpreter(chart, remember=False, native=True)
    assert compiled.is_native
    state = plain.initial()
    states: list[Any] = []
    for row in rows:
        after = outcome(plain, state, row)
        assert outcome(compiled, state, row) == after
        states.append(after)
        if not isinstance(after, Snapshot):
            break
        state = after
    run: list[Any] = []
    try:
        run.extend(compiled.run(rows))
    except PosewrightError as error:
        run.append((type(error), str(error)))
    assert run == states
    columns = {name: np.array([row[name] for row in rows]) for name in rows[0]} if rows[0] else {}
    if isinstance(states[-1], Snapshot) and columns:
        ours, theirs = compiled.run_columns(columns), plain.run_columns(columns)
        assert list(ours) == list(theirs)
        for name, column in ours.items():
            assert column.dtype == theirs[name].dtype
            np.testing.assert_array_equal(column, theirs[name])


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.name.partition(".")[0])
def test_every_example_runs_compiled_from_any_state(path: Path) -> None:
    chart = read_chart(path)
    plain, compiled = Interpreter(chart), Interpreter(chart, native=True)
    zero = {name: kind.default for name, kind in chart.inputs.items()}
    for name in chart.state_names:
        start = plain.snapshot_in(name)
        assert outcome(compiled, start, zero) == outcome(plain, start, zero)
        assert outcome(compiled, start, {}) == outcome(plain, start, {})


def test_what_goes_wrong_is_told_in_the_same_words_and_the_run_can_go_on() -> None:
    plain, compiled = (Interpreter(parse_chart(DIVIDES), native=native) for native in (False, True))
    rows = [{"wall": 1.0, "n": 2}, {"wall": 1.0, "n": 0}]
    said = []
    for interpreter in (plain, compiled):
        with pytest.raises(ExpressionError) as error:
            list(interpreter.run(rows))
        said.append(str(error.value))
    assert said[0] == said[1]
    state = compiled.step(compiled.initial(), rows[0])
    with pytest.raises(ExpressionError):
        compiled.step(state, rows[1])
    assert compiled.step(state, rows[0]).outputs == {"speed": 0.5, "count": 2}
    with pytest.raises(ExpressionError, match="zero"):
        compiled.run_columns({"wall": np.ones(2), "n": np.array([1, 0])})


def test_a_lazy_run_reads_no_row_before_it_is_asked_for() -> None:
    compiled = Interpreter(parse_chart(DIVIDES), native=True)
    asked: list[int] = []
    run = compiled.run(asked.append(n) or {"wall": 1.0, "n": n} for n in range(1, 9))  # type: ignore[func-returns-value]
    next(run)
    assert asked == [1]


@pytest.mark.parametrize(
    "columns",
    [
        {"wall": np.array([1.0, np.nan]), "n": np.ones(2, np.int8)},
        {"wall": np.array([1.0, 2.0]), "n": np.ones(3, np.int8)},
        {"wall": np.array([1.0, 2.0]), "n": np.ones(2)},
        {"wall": np.array([1.0, 2.0])},
        {"wall": np.array([1.0, 2.0]), "n": np.ones(2, np.int8), "m": np.ones(2)},
    ],
    ids=["not a number", "lengths", "type", "missing", "unknown"],
)
def test_columns_that_do_not_fit_are_refused(columns: dict[str, Any]) -> None:
    for compiled in (False, True):
        with pytest.raises(InputError):
            Interpreter(parse_chart(DIVIDES), native=compiled).run_columns(columns)


def test_numbers_in_columns_are_cut_to_their_range() -> None:
    columns = {"wall": np.array([9.0, -1.0]), "n": np.array([2**63 + 5, 1], np.uint64)}
    for compiled in (False, True):
        found = Interpreter(parse_chart(DIVIDES), native=compiled).run_columns(columns)
        assert found["speed"].tolist() == [5.0 / 127, 0.0]


def test_a_chart_without_inputs_runs_compiled() -> None:
    blinks = "chart: blinks\nperiod_s: 0.1\noutputs: {led: bool}\notherwise: stay\ninitial: a\nstates:\n"
    blinks += "  a: [{when: after(0.3 s), go: b, do: {led: true}}]\n"
    blinks += "  b: [{when: true, go: a, do: {led: false}}]\n"
    plain, compiled = (Interpreter(parse_chart(blinks), native=native) for native in (False, True))
    assert list(compiled.run([{}] * 20)) == list(plain.run([{}] * 20))


def test_two_of_one_chart_do_not_share_where_they_stand() -> None:
    chart = parse_chart(DIVIDES)
    one, two = Interpreter(chart, native=True), Interpreter(chart, native=True)
    row = {"wall": 1.0, "n": 1}
    state = one.step(one.step(one.initial(), row), row)
    assert two.step(two.initial(), row).outputs["count"] == 1
    assert one.step(state, row).outputs["count"] == 3


def test_a_damaged_library_in_the_cache_is_made_again(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    chart, row = parse_chart(DIVIDES), {"wall": 1.0, "n": 1}
    Interpreter(chart, native=True)
    [kept] = library.cache_folder("host").glob("*.so")
    kept.write_bytes(kept.read_bytes()[:1000])
    again = Interpreter(chart, native=True)
    assert again.step(again.initial(), row).outputs["count"] == 1
    assert len(kept.read_bytes()) > 1000
    monkeypatch.setattr(library, "compile_sources", None)  # nothing is compiled a second time
    assert Interpreter(chart, native=True).is_native


def test_without_a_compiler_charts_run_in_python_and_that_is_said_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(toolchains.shutil, "which", lambda _name: None)
    toolchains.find_compiler.cache_clear()
    native._warn_once.cache_clear()
    chart = parse_chart(DIVIDES)
    with pytest.warns(UserWarning, match="apt install gcc"):
        interpreter = Interpreter(chart, native=True)
    assert not interpreter.is_native
    assert interpreter.step(interpreter.initial(), {"wall": 1.0, "n": 1}).outputs["count"] == 1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        Interpreter(chart, native=True)


def test_threads_that_share_one_get_the_answers_that_one_alone_gets() -> None:
    chart = parse_chart(DIVIDES)
    rows = [{"wall": 1.0, "n": 1 + k % 7} for k in range(300)]
    columns = {name: np.array([row[name] for row in rows]) for name in rows[0]}
    shared = Interpreter(chart, native=True)
    expected, table = list(Interpreter(chart).run(rows)), Interpreter(chart).run_columns(columns)
    wrong: list[str] = []

    def in_steps() -> None:
        state = shared.initial()
        for row, wanted in zip(rows, expected, strict=True):
            state = shared.step(state, row)
            if state != wanted:
                wrong.append(repr(state))

    def at_once() -> None:
        for _ in range(20):
            found = shared.run_columns(columns)
            wrong.extend(name for name in table if (found[name] != table[name]).any())

    threads = [threading.Thread(target=act) for act in (in_steps, in_steps, at_once, at_once)]
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(interval)
    assert not wrong


@pytest.mark.parametrize("compiled", [False, True])
def test_what_does_not_fit_is_an_input_error_compiled_and_not(compiled: bool) -> None:
    interpreter = Interpreter(parse_chart(DIVIDES), native=compiled)
    for value in ("a", None, True, 1.5, [1]):
        with pytest.raises(InputError, match=r"count = .* does not fit"):
            interpreter.snapshot_in("on", values={"count": value})  # type: ignore[dict-item]
    with pytest.raises(UnknownNameError, match="'nope'"):
        interpreter.snapshot_in("on", values={"nope": 1})
    assert interpreter.snapshot_in("on", values={"count": 1000}).outputs["count"] == 255
    for wall in (1.0, np.ones((4, 2)), np.float64(1), None):
        with pytest.raises(InputError, match="the column 'wall' is not an array"):
            interpreter.run_columns({"wall": wall, "n": np.ones(4, int)})
    with pytest.raises(InputError, match=r"wall = .* does not fit"):
        interpreter.step(interpreter.initial(), {"wall": np.ones(2), "n": 1})
    after = interpreter.step(interpreter.initial(), {"wall": 10**400, "n": 1})
    assert after.outputs["speed"] == 5.0
