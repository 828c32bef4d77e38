"""What newcomers write: every mistake of a chart is told in one run, each with what would be right."""

from __future__ import annotations

from pathlib import Path

import pytest

from posewright.charts import parse_chart, read_chart
from posewright.charts.formats import parse_transition_table
from posewright.cli.app import run
from posewright.errors import DocumentError, ExpressionError, InputError, PosewrightError, UnknownNameError

HEAD = """\
chart: door
period_s: 0.1
inputs:
  near: bool
  gap: {float: [0, 5], unit: m}
outputs: {bell: bool}
initial: closed
states:
  open: []
  closed:
"""
"""A chart without the transitions of its second state, which begin in line 11."""


def told(text: str) -> str:
    with pytest.raises(PosewrightError) as caught:
        parse_chart(text)
    return str(caught.value)


@pytest.mark.parametrize(
    ("transition", "message"),
    [
        (
            "when: !near && gap > 1, go: open",
            "input:11:21: not valid YAML: did not find expected alphabetic or numeric character"
            " (write `not near and ...`, with the words not, and, or)",
        ),
        (
            "when: !near || gap > 1, go: open",
            "input:11:20: not valid YAML: found character that cannot start any token"
            " (write `not near or ...`, with the words not, and, or)",
        ),
        (
            "when: !near, go: open",
            "input:11: the tag !near is not supported"
            " (write `not near` for a condition; any other text that begins with ! needs quotes)",
        ),
        (
            "when: near && gap > 1, go: open",
            "input:11:19: '&' is not part of the language in `near && gap > 1` (write and)",
        ),
        (
            "when: near, open",
            "input:11: states.closed[0]: `open` is not a key of a transition (write `go: open`)",
        ),
        (
            "when: near, go open",
            "input:11: states.closed[0]: `go open` has no colon (write `go: open`)",
        ),
        (
            "near: open",
            "input:11: states.closed[0]: `near` is not a key of a transition (write {when: near, go: open})",
        ),
        (
            "when: gap < 3 cms, go: open",
            "input:11:22: there is no unit cms in `gap < 3 cms`"
            " (did you mean cm?; two values are joined with an operator, as in 2 * n)",
        ),
        (
            "when: wait(3 s), go: open",
            "input:11:14: there is no function wait in `wait(3 s)`"
            " (the names are after, before, every, held, abs, min, max)",
        ),
        (
            "when: aftr(3 s), go: open",
            "input:11:14: there is no function aftr in `aftr(3 s)` (did you mean after?)",
        ),
        (
            "when: near = 1, go: open",
            "input:11:19: '=' is not part of the language in `near = 1` (write near)",
        ),
        (
            "when: near = 0, go: open",
            "input:11:19: '=' is not part of the language in `near = 0` (write not near)",
        ),
        (
            "when: gap = 1, go: open",
            "input:11:18: '=' is not part of the language in `gap = 1` (write ==)",
        ),
        (
            "when: gap =< 1, go: open",
            "input:11:18: '=' is not part of the language in `gap =< 1` (write <=)",
        ),
        (
            "when: near == 1, go: open",
            "input:11:19: `==` compares a truth value with a number in `near == 1`"
            " (a truth value is a condition already: write near)",
        ),
        (
            "when: near != 1, go: open",
            "input:11:19: `!=` compares a truth value with a number in `near != 1`"
            " (a truth value is a condition already: write not near)",
        ),
    ],
)
def test_a_transition_in_another_notation_is_refused_with_ours(transition: str, message: str) -> None:
    assert told(f"{HEAD}    - {{{transition}}}\n") == message


@pytest.mark.parametrize(
    ("written", "right"),
    [
        ("near -> open", "write {when: near, go: open}"),
        ("near and gap < 1 => open", "write {when: near and gap < 1, go: open}"),
        ("-> open", "write {go: open}"),
    ],
)
def test_an_arrow_is_answered_with_the_mapping_that_is_meant(written: str, right: str) -> None:
    message = f"input:11: states.closed[0]: `{written}` is not a transition ({right})"
    assert told(f"{HEAD}    - '{written}'\n") == message


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("chart door\nperiod_s: 1\n", "1:1: not valid YAML: `chart door` has no colon (write `chart: door`)"),
        (
            "chart: door\nperiod_s 0.1\ninputs: {}\n",
            "2:1: not valid YAML: `period_s 0.1` has no colon (write `period_s: 0.1`)",
        ),
        (
            "chart: door\n\ninputs\n\n  # whether somebody stands there\n  near: bool\n",
            "3:1: not valid YAML: `inputs` has no colon (write `inputs:`)",
        ),
        (
            "inputs:\n  near bool\n  far: bool\n",
            "2:3: not valid YAML: `near bool` has no colon (write `near: bool`)",
        ),
        (
            "states:\n  open\n    - {when: near, go: open}\n",
            "2:3: not valid YAML: `open` has no colon (write `open:`)",
        ),
        (
            "states:\n  open:\n    - when near\n      go: open\n",
            "3:7: not valid YAML: `when near` has no colon (write `when: near`)",
        ),
        (
            "description: a text: with a colon\n",
            "1:20: not valid YAML: mapping values are not allowed in this context"
            " (a text with a colon in it needs quotes; `key: value` needs a line of its own)",
        ),
    ],
)
def test_a_missing_colon_is_told_at_its_own_line(text: str, message: str) -> None:
    assert told(text) == f"input:{message}"


@pytest.mark.parametrize("text", [HEAD, "chart: door", "<scxml/>"])
def test_the_text_of_a_chart_is_no_path(text: str) -> None:
    message = "this is the text of a chart, not the path of one (call pw.chart(text), or parse_chart(text))"
    with pytest.raises(InputError) as caught:
        read_chart(text)
    assert str(caught.value) == message


MANY = """\
chart: door
imputs: {seen: bool}
period_s: 0
inputs:
  near: bool
  gap: {float: [0, 5], unit: cms}
  way: {enum: [left, 2x]}
events: [go_on, go_on]
outputs: {bell: bool, motor: [0, 1]}
constants: {near: 3}
functions:
  steer:
    takes: {a: bool}
    gives: bool
    rows: [[0, 2]]
initial_values: {bel: 1, motor: 1}
initial: closed
junctions:
  fork: [{when: neer, go: open}]
states:
  closed:
    entry: {bel: 1}
    exit: {near: 1}
    transitions:
      - {when: neer, go: open}
      - {when: seen and gap > 1 and way == left, go: open}
      - {when: near, go: opne}
      - {when: else, go: open}
      - {on: go_on, when: steer(near), go: open}
  open:
    mins_s: 1
    initial: inside
    states:
      inside: [{when: near}]
promises:
  - {never: neer}
  - {nevr: near}
"""


def test_everything_that_is_wrong_is_told_at_once_in_the_order_of_its_lines() -> None:
    with pytest.raises(UnknownNameError) as caught:
        parse_chart(MANY)
    error = caught.value
    lines = [one.where.line for one in error.errors if one.where is not None]
    assert lines == [2, 3, 6, 7, 8, 9, 10, 15, 16, 19, 22, 23, 25, 27, 31, 34, 36, 37]
    assert [one.message for one in error.errors[-2:]] == [
        "unknown input, output or constant 'neer' in `neer`",
        "unknown key 'nevr'",
    ]
    assert str(error).split("\n") == [line for one in error.errors for line in [str(one).split("\n")[0]]]


def test_what_follows_from_another_error_is_not_told() -> None:
    """Names whose declarations do not read are unknown everywhere; a transition may have had an `else`."""
    shown = told(MANY)
    assert "seen" not in shown.split("\n", 1)[1]
    assert "motor: 1" not in shown
    assert "else" not in shown


def test_a_key_that_is_misspelt_is_told_once_and_not_that_it_is_missing() -> None:
    assert told(HEAD.replace("initial:", "inital:").replace("inputs", "imputs")).split("\n") == [
        "input:3: unknown key 'imputs' (did you mean inputs or outputs?)",
        "input:7: unknown key 'inital' (did you mean initial or initial_values?)",
    ]


def test_who_goes_to_a_state_whose_name_is_wrong_is_not_told() -> None:
    shown = told(f"{HEAD}    - {{when: near, go: a b}}\n  a b: []\n  2+2: []\n")
    assert [line.split(":")[1] for line in shown.split("\n")] == ["12", "13"]


def test_one_error_alone_is_what_it_was() -> None:
    with pytest.raises(ExpressionError) as caught:
        parse_chart(f"{HEAD}    - {{when: neer, go: open}}\n")
    assert (caught.value.errors, caught.value.other_errors) == ((caught.value,), ())


def test_of_very_many_errors_the_first_are_told() -> None:
    wrong = "".join(f"    - {{when: n{i}, go: open}}\n" for i in range(500))
    with pytest.raises(ExpressionError) as caught:
        parse_chart(HEAD + wrong)
    lines = str(caught.value).split("\n")
    assert len(lines) == 21
    assert lines[0].startswith("input:11:14: ")
    assert lines[-1] == "only the first 20 errors are reported"


def test_the_rows_of_a_transition_table_are_read_each_for_itself() -> None:
    table = "# inputs: {near: bool}\nstate,when,go\na,neer,b\na,not near,c\nb,near,a\n"
    with pytest.raises(PosewrightError) as caught:
        parse_transition_table(table)
    assert [one.where.line for one in caught.value.errors if one.where] == [3, 4]


def test_the_command_prints_a_line_for_each_error(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "bad.chart.yaml"
    path.write_text(f"{HEAD}    - {{when: neer, go: open}}\n    - {{when: near, go: opne}}\n")
    assert run(["chart", "check", str(path)]) == 2
    assert capsys.readouterr().err.splitlines() == [
        f"error: {path}:11:14: unknown input, output or constant 'neer' in `neer` (did you mean near?)",
        f"error: {path}:12: unknown state 'opne' (did you mean open?)",
    ]


def test_errors_of_a_kind_are_caught_as_before() -> None:
    with pytest.raises(DocumentError):
        parse_chart(HEAD.replace("0.1", "-1") + "    - {when: near}\n")


def test_a_time_larger_than_any_float_is_out_of_range() -> None:
    promises = "promises:\n  - {when: near, leads_to: bell, within: 1e308 h}\n"
    message = "input:12: promises[0].within: inf s is out of range (the range is 0..86400 s)"
    assert told(f"{HEAD}{promises}".replace("  closed:\n", "  closed: []\n")) == message
