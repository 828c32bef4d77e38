"""What people write: names, numbers with units, brackets and quotes; faults are told where they stand."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from posewright.charts import check_chart, parse_chart, parse_scxml, read_chart, read_rows
from posewright.charts.formats import ChartFormat, detect_format, read_csv_rows
from posewright.charts.model import chart_name_of_file, to_chart_name
from posewright.charts.scenarios import parse_row, parse_scenario
from posewright.charts.types import (
    UNITS,
    BoolType,
    EnumType,
    FloatType,
    IntType,
    conversion_factor,
    parse_value,
)
from posewright.cli.chart_run import parse_line
from posewright.documents import parse_document
from posewright.documents.yaml_errors import find_open_bracket
from posewright.errors import FormatError, InputError, PosewrightError

CHART = """\
chart: ruler
period_s: 0.1
inputs:
  dist: {float: [0, 5], unit: m}
  steps: {type: uint8, unit: mm}
  bare: float
outputs: {mode: {enum: [slow, fast]}, near: {float: [0, 500], unit: cm}}
events: [stop]
initial: here
states:
  here:
    - {on: stop, when: dist > 1 m, do: {mode: fast, near: 20 cm}, go: there}
  there: []
"""


def refusal(text: str, path: Path | None = None) -> str:
    with pytest.raises(PosewrightError) as caught:
        parse_chart(text, path)
    return str(caught.value)


# Names


@pytest.mark.parametrize("name", ["a", "Sentry 2", "obstacle-race_13.5", "sumo: 18.5", "Füße", "13"])
def test_a_chart_may_be_called_as_people_call_things(name: str) -> None:
    assert parse_chart(CHART.replace("chart: ruler", f'chart: "{name}"')).name == name


@pytest.mark.parametrize("name", ["", " ", "a\\nb", "a\\x1b[2J", "<script>", "a/b", "a\\0", "-rf", "a" * 81])
def test_what_no_chart_may_be_called_is_refused_with_its_line(name: str) -> None:
    said = refusal(CHART.replace("chart: ruler", f'chart: "{name}"'))
    assert said.startswith("input:1: chart: ")
    assert "is not a valid name for a chart (use letters, digits, spaces" in said


@pytest.mark.parametrize("escape", ["\\ud800", "\\uDFFF", "\\U0000d800"])
@pytest.mark.parametrize("line", ['description: "{}"', 'source: ["{}"]', '"{}": 1'])
def test_half_a_character_is_refused_wherever_it_stands(escape: str, line: str) -> None:
    with pytest.raises(InputError, match="is half a character") as caught:
        parse_document(f"chart: a\n{line.format(escape)}\n")
    assert caught.value.where is not None
    assert caught.value.where.line == 2
    assert parse_document(f"# {escape}\nsaid: '{escape}'\n").fields()["said"].text() == escape


@given(st.text(max_size=100))
@settings(max_examples=50)
def test_whatever_a_file_is_called_makes_a_name_that_reads(text: str) -> None:
    name = to_chart_name(text)
    assert parse_chart(CHART.replace("ruler", f'"{name}"')).name == name
    assert to_chart_name(name) == name
    assert chart_name_of_file(Path("walk.chart.yaml"), "table") == "walk"


def test_names_of_promises_and_scenarios_are_one_line() -> None:
    chart = CHART.replace("initial:", 'promises: [{never: stop, name: "a\\nb"}]\ninitial:')
    assert refusal(chart).startswith("input:9: promises[0].name: 'a\\nb' is not a valid name")
    with pytest.raises(InputError, match="is not a valid name"):
        parse_scenario('scenario: "a\\x07"\nsteps: [{}]\n', parse_chart(CHART))


def test_a_name_from_scxml_reads_back_from_a_native_document() -> None:
    head = 'xmlns="http://www.w3.org/2005/07/scxml" version="1.0"'
    scxml = f'<scxml {head} name="a&lt;b&#10;c"><state id="s"/></scxml>'
    assert parse_scxml(scxml).name == "a_b_c"


# Transitions


def test_a_state_that_does_not_exist_is_told_before_what_the_transition_lacks() -> None:
    said = refusal(CHART.replace("there: []", "there: [{go: hree}]"))
    assert "unknown state 'hree' (did you mean here or there?)" in said
    said = refusal(CHART.replace("there: []", "there: [{go: here}]"))
    assert "a transition needs `when`, `on` or `after_s` (" in said
    assert "`when: true` for always" in said


def test_a_text_in_quotes_has_a_hint_that_leads_nowhere_wrong() -> None:
    said = refusal(CHART.replace("when: dist > 1 m", """when: '__import__("os").system("x")'"""))
    assert "there are no strings" in said


# Values with units


@pytest.mark.parametrize(
    ("text", "value"),
    [("20 cm", 0.2), ("20cm", 0.2), ("0.3", 0.3), ("1e2 cm", 1.0), ("3.5 m", 3.5), ("0.005km", 5.0)],
)
def test_a_number_with_a_unit_is_converted_wherever_values_are_given(text: str, value: float) -> None:
    chart = parse_chart(CHART)
    assert parse_row(chart, f"dist={text}").inputs["dist"] == value
    assert parse_line(chart, f"dist={text} 3") == ({"dist": value}, [], 3)
    scenario = parse_scenario(f"scenario: a\nsteps: [{{set: {{dist: {text}}}}}]\n", chart)
    assert scenario.steps[0].set == {"dist": value}


def test_cells_of_a_table_of_inputs_may_have_units(tmp_path: Path) -> None:
    path = tmp_path / "ticks.csv"
    path.write_text("dist,steps,bare,near\n20 cm,1 cm,5,0.2 m\n")
    (row,) = read_rows(parse_chart(CHART), path)
    assert row.inputs == {"dist": 0.2, "steps": 10, "bare": 5.0}
    assert row.expected == {"near": 20.0}


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ("dist=4 s", "dist: 4 s does not convert into m: time is not length"),
        ("dist=4 cmm", "there is no unit 'cmm' (did you mean"),
        ("dist=6000 mm", "6 is out of range"),
        ("bare=4 s", "bare: 4 s where no unit is declared (write 4)"),
        ("steps=0.5 mm", "0.5 mm is 0.5 mm, not a whole number"),
        ("steps=1 m", "1000 is out of range"),
        ("steps=" + "9" * 5000, "the number is too large (the range is uint8 [mm])"),
        ("dist=" + "9" * 5000, "the number is too large (the range is float 0..5 [m])"),
    ],
)
def test_a_unit_that_does_not_fit_is_refused_with_both_named(typed: str, said: str) -> None:
    with pytest.raises(InputError) as caught:
        parse_row(parse_chart(CHART), typed)
    assert said in str(caught.value)


@given(st.fractions(min_value=0, max_value=1000, max_denominator=1000), st.sampled_from(sorted(UNITS)))
@settings(max_examples=50)
def test_a_value_in_its_own_unit_is_that_value(number: object, unit: str) -> None:
    text = repr(float(number))  # type: ignore[arg-type]
    kind = FloatType(unit=unit)
    assert parse_value(kind, f"{text} {unit}") == float(text) == parse_value(kind, text)
    for other in UNITS:
        if conversion_factor(unit, other) is None:
            with pytest.raises(InputError, match="does not convert into"):
                parse_value(FloatType(unit=other), f"{text} {unit}")


def test_truths_and_names_have_no_units() -> None:
    assert parse_value(BoolType(), "1") is True
    assert parse_value(EnumType(("slow", "fast")), "fast") == "fast"
    assert parse_value(IntType(), "-3") == -3
    assert parse_value(FloatType(), "1e3") == 1000.0
    with pytest.raises(InputError, match="out of range"):
        parse_value(FloatType(), "inf")


# Numbers, brackets, endings, quotes


@pytest.mark.parametrize("number", ["9" * 5000, "0x" + "f" * 5000, "-" + "9" * 400])
def test_a_number_too_large_is_said_in_our_own_words(number: str) -> None:
    said = refusal(CHART.replace("period_s: 0.1", f"period_s: {number}"))
    assert said.startswith("input:2: ")
    assert "set_int_max_str_digits" not in said
    assert len(said) < 200
    for key in ("constants: {a: %s}", "initial_values: {near: %s}"):
        assert "a number too large" in refusal(
            CHART.replace("events:", f"{key % ('0x' + 'f' * 5000)}\nevents:")
        )


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("a: [{b: 1}]\n", None),
        ("a: [{b: 1]\n", (1, 5)),
        ("a: {b: 1\nc: [2]\n", (1, 4)),
        ("- [1,\n- {a: 2\n", (1, 3)),
        ("a: it was ( [ and {\nb: {c: 1\n", (2, 4)),
        ("a: '{'\nb: \"[\" # {\n", None),
        ("]}\n", None),
        ("a:\n  [\n", (2, 3)),
    ],
)
def test_the_bracket_that_is_never_closed_is_found(text: str, place: tuple[int, int] | None) -> None:
    assert find_open_bracket(text) == place


def test_the_bracket_that_is_never_closed_is_told() -> None:
    said = refusal(CHART.replace("go: there}", "go: there"))
    assert said == "input:12:7: not valid YAML: the { is never closed (close it with })"


@pytest.mark.parametrize(
    ("text", "name", "holder"),
    [
        ("[1,2]\n", "a.chart.yaml", ChartFormat.DOCUMENT),
        ("[1,2]\n", "a.yml", ChartFormat.DOCUMENT),
        ("state,near,next\n", "a.csv", ChartFormat.TRUTH_TABLE),
        ("q0,near,q0_next\n", "a.CSV", ChartFormat.TRUTH_TABLE),
        ("# period_s: 1\nstate,when,gooo\n", "a.csv", ChartFormat.TRANSITION_TABLE),
        ('state,"when,go\n', "a.csv", ChartFormat.TRANSITION_TABLE),
    ],
)
def test_the_ending_says_what_a_file_is(text: str, name: str, holder: ChartFormat) -> None:
    assert detect_format(text, Path(name)) is holder


@pytest.mark.parametrize(
    ("text", "line", "said"),
    [
        ('# inputs: {near: bool}\nstate,when,go\na,"near,b\nb,near,a\n', 3, "the quote is not closed"),
        ('# inputs: {near: bool}\nstate,"when,go\na,near,b\n', 2, "the quote is not closed"),
        ('state,near,next\na,1,b\nb,"1,b\n', 3, "the quote is not closed"),
        ("# inputs: {near: bool}\nstate,when,gooo\na,near,b\n", 2, "did you mean 'go'?"),
    ],
)
def test_what_is_wrong_in_a_table_is_said_of_the_table(
    text: str, line: int, said: str, tmp_path: Path
) -> None:
    path = tmp_path / "gate.csv"
    path.write_text(text)
    with pytest.raises(FormatError, match=said) as caught:
        read_chart(path)
    assert caught.value.where is not None
    assert caught.value.where.line == line


CELL = st.text(st.sampled_from('ab ",\n'), max_size=6)


@given(st.lists(st.lists(CELL, min_size=2, max_size=3), min_size=1, max_size=4))
@settings(max_examples=60)
def test_quotes_that_are_closed_are_never_refused(rows: list[list[str]]) -> None:
    quoted = [["x" + cell for cell in row] for row in rows]
    text = "\n".join(",".join('"' + cell.replace('"', '""') + '"' for cell in row) for row in quoted)
    assert [cells for cells, _ in read_csv_rows(text, None)] == [[c.strip() for c in row] for row in quoted]
    with pytest.raises(FormatError, match="not closed"):
        list(read_csv_rows(text[:-1], None))


# Lines of declarations


def test_findings_about_names_say_where_they_are_declared() -> None:
    chart = parse_chart(CHART)
    assert chart.lines["steps"] == 5
    assert chart.lines["fast"] == 7
    lines = {
        one.message.split()[2]: one.line for one in check_chart(chart) if one.rule.value == "unused_input"
    }
    assert lines == {"steps": 5, "bare": 6}
