"""What expressions ask of a running chart: time that has passed, and states that are active."""

from __future__ import annotations

import contextlib
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from posewright.charts import BoolType, FloatType, IntType, Scope, parse_expression
from posewright.charts.expression import InState, TemporalCondition, TemporalOperator, format_tree, nodes_of
from posewright.errors import ExpressionError

SCOPE = Scope(
    {"near": BoolType(), "n": IntType(0, 9), "x": FloatType(unit="m")},
    {"wait": 5.05, "pause": 300, "width": 2},
    units={"pause": "ms", "width": "m"},
    states=frozenset({"walking", "waiting", "00", "2nd"}),
)


@pytest.mark.parametrize(
    ("text", "timing", "seconds"),
    [
        ("after(0.5 s)", TemporalOperator.AFTER, 0.5),
        ("after(2)", TemporalOperator.AFTER, 2.0),
        ("before(500 ms)", TemporalOperator.BEFORE, 0.5),
        ("every(2 min)", TemporalOperator.EVERY, 120.0),
        ("after(wait)", TemporalOperator.AFTER, 5.05),
        ("after(pause)", TemporalOperator.AFTER, 0.3),
        ("after(2 * wait)", TemporalOperator.AFTER, 10.1),
        ("held(near and n > 2, pause)", TemporalOperator.HELD, 0.3),
    ],
)
def test_a_time_is_seconds_a_quantity_or_a_constant(
    text: str, timing: TemporalOperator, seconds: float
) -> None:
    expression = parse_expression(text, SCOPE, BoolType())
    assert isinstance(expression.tree, TemporalCondition)
    assert (expression.tree.operator, expression.tree.seconds) == (timing, seconds)
    assert expression.constant is None


@pytest.mark.parametrize("state", ["walking", "00", "2nd"])
def test_states_may_be_asked_for_whatever_they_are_called(state: str) -> None:
    expression = parse_expression(f"near and in( {state} )", SCOPE)
    assert InState(state) in nodes_of(expression.tree)
    assert expression.names == {"near"}
    assert expression.constant is None
    assert parse_expression(f"in({state})", SCOPE).names == frozenset()


def test_questions_print_as_text_that_parses_to_them_again() -> None:
    text = "in(walking) and after(0.5 s) or held(near or n > 2, 0.3 s) and not every(2.0 s)"
    expression = parse_expression(text, SCOPE)
    assert format_tree(expression.tree) == text
    assert parse_expression("1 if after(2) else 0", SCOPE, BoolType()).type == BoolType()


@pytest.mark.parametrize(
    ("text", "column", "message"),
    [
        ("after()", 1, "after takes one time"),
        ("after", 1, "`after` needs a time"),
        ("near and before > 3", 10, "as in before(2 s)"),
        ("after(0)", 7, "`after` cannot wait 0 s"),
        ("after(-1 s)", 7, "`after` cannot wait -1 s"),
        ("after(25 h)", 7, "86400 s at most"),
        ("after(1e308)", 7, "cannot wait"),
        ("after(n)", 7, "needs a constant time"),
        ("after(1 if in(walking) else 2)", 9, "needs a constant time"),
        ("after(3 m)", 7, "`after` needs a time, not a number in m"),
        ("after(width)", 7, "`after` needs a time, not a number in m"),
        ("after(near)", 7, "`after` needs a number"),
        ("after(1 s, 2 s)", 1, "after takes one time"),
        ("held(near)", 1, "a condition and a time"),
        ("held(n, 1 s)", 6, "`held` needs a truth value, not a number"),
        ("held(1 s, near)", 6, "`held` needs a truth value"),
        ("in(wlking)", 4, "did you mean walking"),
        ("in()", 1, "`in` needs the name of one state"),
        ("in(walking, waiting)", 1, "`in` needs the name of one state"),
        ("in", 1, "write it like in(walking)"),
        ("walking", 1, "write in(walking)"),
        ("after(1 s) > 2", 1, "`>` needs a number, not a truth value"),
    ],
)
def test_a_wrong_question_is_refused_where_it_stands(text: str, column: int, message: str) -> None:
    with pytest.raises(ExpressionError) as caught:
        parse_expression(text, SCOPE)
    assert message in str(caught.value)
    assert caught.value.where is not None
    assert caught.value.where.column == column


WORDS = (
    "near n x wait pause width 0 2 0.5 1e38 s m cm deg ( ) , + - * / % < == and or not if else in(walking)"
)
CALLS = "after( before( every( held( abs( max( single("


@settings(max_examples=400, deadline=None)
@given(
    st.lists(st.sampled_from([*WORDS.split(), *CALLS.split()]), max_size=12), st.sampled_from([None, 1, 2])
)
def test_no_words_do_anything_but_parse_or_be_refused(words: list[str], wanted: Any) -> None:
    kind = {1: BoolType(), 2: FloatType(0, 5)}.get(wanted)
    with contextlib.suppress(ExpressionError):
        tree = parse_expression(" ".join(words), SCOPE, kind).tree
        assert parse_expression(format_tree(tree), SCOPE, kind).tree == tree


def test_where_there_are_no_states_there_is_no_time() -> None:
    with pytest.raises(ExpressionError, match="allowed only in the states of a chart"):
        parse_expression("after(1 s)", Scope({"near": BoolType()}))
    with pytest.raises(ExpressionError, match="unknown state 'walking'"):
        parse_expression("in(walking)", Scope({"near": BoolType()}))


@pytest.mark.parametrize("text", ["near and after(1 s)", "in(walking)"])
def test_questions_have_no_value_before_a_machine_answers_them(text: str) -> None:
    expression = parse_expression(text, SCOPE)
    with pytest.raises(ExpressionError, match="has no value outside a running chart"):
        expression.evaluate({"near": True})
