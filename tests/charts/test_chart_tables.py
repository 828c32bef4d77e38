"""Truth tables: the UC3M thesis's machine in all its forms, and the law behind each."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import posewright
from posewright.charts import (
    Chart,
    Interpreter,
    Level,
    Method,
    Rule,
    TableForm,
    TruthTable,
    TruthTableRow,
    best_order,
    check_chart,
    equivalent,
    minimise,
    minimised_chart,
    parse_chart,
    parse_table,
    read_chart,
    require_sound,
    save_chart,
    save_table,
    table_of,
    table_to_chart,
)
from posewright.charts.formats import guard_cube
from posewright.charts.tables import grouped, points
from posewright.errors import FormatError, InputError

BEHAVIOURS = Path(posewright.__file__).parent / "robots/catalogue/robotis_bioloid/behaviours"
ROWS = read_chart(BEHAVIOURS / "obstacle_mealy_table.chart.yaml")
MINIMISED = read_chart(BEHAVIOURS / "obstacle_mealy.chart.yaml")
THE_DOCUMENTS_ROWS = {
    ("stopped", "turning_left"): ["000/11", "001/01", "01X/10", "1XX/01"],
    ("turning_right",): ["000/11", "001/10", "01X/10", "10X/01", "11X/10"],
    ("walking",): ["000/11", "001/01", "01X/10", "10X/01", "11X/10"],
}

Tables = Callable[[str], Path]


def covers(cube: Sequence[bool | None], point: Sequence[bool]) -> bool:
    return all(sign is None or sign == value for sign, value in zip(cube, point, strict=True))


def shown(table: TruthTable) -> dict[tuple[str, ...], list[str]]:
    return {states: [str(row) for row in rows] for states, rows in grouped(table).items()}


@pytest.mark.parametrize("chart", [ROWS, MINIMISED], ids=["rows", "minimised"])
def test_a_shipped_form_is_sound_and_gives_the_source_table_byte_for_byte(
    chart: Chart, source_tables: Tables
) -> None:
    assert check_chart(chart) == ()
    source = source_tables("mealy_table_6_5.csv").read_bytes().replace(b"\r\n", b"\n")
    assert table_of(chart).csv().encode() == source


def test_the_two_shipped_forms_are_equal_on_all_32_rows() -> None:
    assert table_of(ROWS).rows == table_of(MINIMISED).rows
    assert len(table_of(ROWS).rows) == 32
    same = equivalent(ROWS, MINIMISED, every_state=True)
    assert same
    assert same.proved
    assert same.cases >= 32


def test_the_table_minimises_to_the_documents_rows(source_tables: Tables) -> None:
    assert shown(minimise(ROWS)) == THE_DOCUMENTS_ROWS
    assert shown(minimise(MINIMISED)) == THE_DOCUMENTS_ROWS
    codes = {"stopped": "00", "turning_left": "01", "turning_right": "10", "walking": "11"}
    raw = minimise(read_chart(source_tables("mealy_table_6_5.csv")))
    assert shown(raw) == {
        tuple(codes[s] for s in states): rows for states, rows in THE_DOCUMENTS_ROWS.items()
    }


def test_the_shipped_transitions_are_the_minimised_rows() -> None:
    columns = tuple(MINIMISED.table_form.input_of_column.values())
    written = [guard_cube(t.when, columns) for state in MINIMISED.states for t in state.transitions]
    assert written == [row.cube for row in minimise(ROWS).rows]


def test_the_documents_order_of_questions_is_the_best_there_is() -> None:
    assert best_order(ROWS) == ("w", "v", "u")
    assert len(minimise(ROWS, order=("u", "v", "w")).rows) > len(minimise(ROWS).rows)


def test_one_altered_row_of_32_is_found() -> None:
    table = table_of(ROWS)
    for i, row in enumerate(table.rows):
        rows = list(table.rows)
        rows[i] = TruthTableRow(row.state, row.cube, row.next_state, (not row.outputs[0], row.outputs[1]))
        altered = table_to_chart(replace(table, rows=tuple(rows)), like=ROWS)
        told = equivalent(altered, ROWS, every_state=True)
        assert not told
        assert len(told.counterexample) == 1
        assert (
            tuple(told.counterexample[0][name] for name in table.table_form.input_of_column.values())
            == row.cube
        )


def test_a_table_read_and_written_is_the_same_bytes(source_tables: Tables, tmp_path: Path) -> None:
    source = source_tables("mealy_table_6_5.csv")
    save_table(table_of(read_chart(source)), tmp_path / "again.csv")
    assert (tmp_path / "again.csv").read_bytes() == source.read_bytes()


def test_a_table_with_names_of_states_is_read(tmp_path: Path) -> None:
    text = "state,key,next,light\ndark,0,dark,0\ndark,1,bright,1\nbright,X,dark,0\n"
    chart = table_to_chart(parse_table(text))
    assert check_chart(chart) == ()
    save_chart(chart, tmp_path / "lamp.chart.yaml")
    again = read_chart(tmp_path / "lamp.chart.yaml")
    assert table_of(again).csv() == text.replace("bright,X,dark,0", "bright,0,dark,0\nbright,1,dark,0")


def test_minimised_rows_are_read_back_as_the_same_machine() -> None:
    small = minimise(ROWS)
    assert "X" in small.csv()
    again = table_of(table_to_chart(parse_table(small.csv())))
    assert again.csv() == table_of(ROWS).csv()


def test_a_missing_row_is_a_gap_and_a_contradiction_an_overlap(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    lines = table_of(ROWS).csv().splitlines()
    path.write_text("\n".join(lines[:5] + lines[6:]))
    with pytest.raises(InputError, match=r"t\.csv:2: .*no transition in 00 with w=1, v=0, u=0"):
        require_sound(read_chart(path))
    path.write_text("\n".join([*lines, "0,0,0,1,0,0,1,0,1"]))
    with pytest.raises(InputError, match=r"t\.csv:34: .*two guards hold in 00 with w=0, v=1, u=0"):
        require_sound(read_chart(path))
    findings = check_chart(read_chart(path))
    assert [f.rule for f in findings if f.level is Level.ERROR] == [Rule.OVERLAP]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("q,w,q_next,s\n0,2,0,0\n", "t.csv:2: column w: '2' is not binary"),
        ("q,w,q_next,s\n0,0,X,0\n", "t.csv:2: column q_next: 'X' is not binary"),
        ("q,w,q_next,s\n0,0,0\n", "t.csv:2: 3 cells in 4 columns"),
        ("q,w,s\n0,0,0\n", "t.csv:1: no columns for the state"),
        ("q,w,r_next,q_next,s\n", "t.csv:1: the column 'r_next' has no column 'r'"),
        ("w,q,q_next,s\n", "t.csv:1: the column 'w' is in the place of 'q'"),
        ("q,w,q_next,w\n", "t.csv:1: the column 'w' occurs twice"),
        ("q,w,q_next,W\n", "t.csv:1: the column 'W' differs from 'w' only in case"),
        ("q,w x,q_next,s\n", "t.csv:1: the column 'w x' is not a valid name"),
        ("q,w,q_next,s\n", "t.csv:1: the table has no rows"),
        ("\n\n", "t.csv: the table is empty"),
        ("state,w,next,s\na b,0,a,0\n", "t.csv:2: 'a b' is not a valid name for a state"),
    ],
)
def test_a_wrong_table_is_refused_with_its_line(text: str, message: str) -> None:
    with pytest.raises(FormatError) as caught:
        parse_table(text, Path("t.csv"))
    assert message in str(caught.value)


def test_a_chart_that_is_no_table_says_why() -> None:
    head = """\
chart: c
kind: mealy
period_s: 0.1
inputs: {a: bool}
outputs: {x: bool}
otherwise: stay
initial: one
states:
"""
    with pytest.raises(InputError, match="the output x keeps its old value"):
        table_of(parse_chart(head + "  one: [{when: a, do: {x: 1}, go: one}]\n"))
    with pytest.raises(InputError, match="the output x is read"):
        table_of(parse_chart(head + "  one: [{when: x, do: {x: 1}, go: one}]\n"))
    with pytest.raises(InputError, match="a is int8"):
        table_of(parse_chart(head.replace("a: bool", "a: int8") + "  one: []\n"))


def test_a_moore_chart_has_a_table_of_what_its_next_state_shows() -> None:
    text = """\
chart: lamp
kind: moore
period_s: 1
inputs: {key: bool}
outputs: {light: bool}
otherwise: stay
initial: dark
states:
  dark: [{when: key, go: bright}]
  bright: {do: {light: 1}, transitions: [{when: key, go: dark}]}
"""
    assert [str(row) for row in table_of(parse_chart(text)).rows] == ["0/0", "1/1", "0/1", "1/0"]


@st.composite
def tables(draw: st.DrawFn) -> Chart:
    """Draw a whole truth table in which every state can be reached."""
    n_inputs, n_bits = draw(st.integers(1, 4)), draw(st.integers(1, 2))
    inputs, bits = [f"i{k}" for k in range(n_inputs)], tuple(f"q{k}" for k in range(n_bits))
    states = ["".join("01"[bit] for bit in code) for code in points(n_bits)]
    goals = st.sampled_from(states)
    rows = []
    for number, state in enumerate(states):
        for cube in points(n_inputs):
            go = states[(number + 1) % len(states)] if not any(cube) else draw(goals)
            rows.append(TruthTableRow(state, cube, go, (draw(st.booleans()),)))
    form = TableForm({name: name for name in inputs}, {"s": "s"}, bits, {name: name for name in states})
    return table_to_chart(TruthTable("drawn", form, states[0], tuple(states), tuple(rows)))


@settings(max_examples=40, deadline=None)
@given(tables())
def test_junction_rows_of_any_table_are_the_same_machine_and_never_overlap(chart: Chart) -> None:
    small = minimise(chart)
    assert len(small.rows) <= len(table_of(chart).rows)
    assert equivalent(minimised_chart(chart), chart, every_state=True)
    for state in small.states:
        rows = small.rows_of(state)
        for point in points(len(chart.inputs)):
            assert sum(covers(row.cube, point) for row in rows) <= 1


@pytest.mark.parametrize("chart", [ROWS, MINIMISED], ids=["rows", "minimised"])
def test_two_levels_give_few_products_and_the_same_machine(chart: Chart) -> None:
    small = minimise(chart, Method.TWO_LEVEL)
    assert shown(small)["turning_right",] == ["000/11", "0X1/10", "X1X/10", "10X/01"]
    assert equivalent(minimised_chart(chart, Method.TWO_LEVEL), ROWS, every_state=True)


@settings(max_examples=12, deadline=None)
@given(tables())
def test_two_level_rows_of_any_table_are_the_same_machine(chart: Chart) -> None:
    small = minimise(chart, Method.TWO_LEVEL)
    for row in table_of(chart).rows:
        point = tuple(bool(sign) for sign in row.cube)
        effects = {other.effect for other in small.rows_of(row.state) if covers(other.cube, point)}
        assert effects == {row.effect}


@settings(max_examples=30, deadline=None)
@given(tables())
def test_a_table_becomes_a_chart_and_a_table_again(chart: Chart) -> None:
    text = table_of(chart).csv()
    again = table_to_chart(parse_table(text))
    assert table_of(again).csv() == text
    assert equivalent(again, chart, every_state=True)


def test_an_order_that_forgets_an_input_is_refused() -> None:
    with pytest.raises(InputError, match="does not name every input once"):
        minimise(ROWS, order=("w", "v"))


def test_the_document_machine_walks_stops_for_nothing_and_turns_away() -> None:
    run = Interpreter(MINIMISED)
    rows = [(0, 0, 0), (1, 0, 0), (1, 0, 0), (0, 1, 0), (1, 0, 0), (0, 0, 0)]
    inputs = [{"front": bool(f), "left": bool(le), "right": bool(r)} for f, le, r in rows]
    states = [state.state for state in run.run(inputs)]
    assert states == ["walking", "turning_left", "turning_left", "turning_right", "turning_right", "walking"]
