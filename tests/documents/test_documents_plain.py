"""Plain YAML read quickly says what the whole of YAML says, line by line and column by column."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from posewright.documents import parse_document, parse_quickly
from posewright.documents.plain import parse_plain
from posewright.documents.plain_tree import NotPlainError, PlainMap
from posewright.errors import DocumentError

PLAIN = """\
# what plain YAML has
chart: gate_1          # a comment
description: >
  Two lines folded
  into one.

  And a second paragraph.
source: |-
  as it
  stands
"quoted": 'it''s'
texts: ["a, b", 'c: d', "tab\\tand\\nline", x y, 36 cm, 2..4, -a, < 5, a-b]
numbers: [0, -3, 12, 0.5, -1.25, 1e5, 2.5e-3, 1.]
others: [true, False, ~, null, no, off, 0 X]
nothing:
inside:
  - {when: a and b == c, go: there}
  - when: not (a or b)
    do: {x: 1, y: -2}
  - - 1
    - [2, 3]
  -
    deep: [
      {a: 1},   # over lines
      {b: 2,
       c: }
    ]
same_column:
- 1
- two: 2
  three: 3
below:
  {x: 1}
url: http://example.org/a#b
"""

NOT_PLAIN = [
    "a: &x 1",
    "a: *x",
    "a: !t 1",
    "a: one\n  two",
    'a: "one\n  two"',
    "? a\n: b",
    "a: 0x10",
    "a: 1_000",
    "a: .5",
    "a: 2001-12-14",
    "a: '",
    "a: [1, 2",
    "a: {b: 1]",
    "a: [b: 1]",
    "a: [,]",
    "a: b: c",
    "a:\n  b: 1\n c: 2",
    "a: 1\na: 2",
    "{a: 1}",
    "- a",
    "a",
    "",
    "a:\t1",
    "a: \x07",
    "--- \na: 1",
    "a: 1\n...\n",
    "1: a",
    "a: |\n    deeper\n  than",
    "true: 1",
    "<<: {a: 1}",
    "a: @b",
    "a: %b",
    "a: [b]c",
]


def same(quick: Any, whole: Any, trail: str = "") -> None:
    """Compare values, kinds, order, lines and columns."""
    if isinstance(whole, dict):
        assert list(quick) == list(whole), trail
        for key, value in whole.items():
            places = quick.lc.data[key], tuple(whole.lc.data[key])
            several = value is None or isinstance(value, dict | list)
            assert places[0][:2] == places[1][:2], (trail, key)
            assert several or places[0] == places[1], (trail, key)
            same(quick[key], value, f"{trail}.{key}")
    elif isinstance(whole, list):
        assert len(quick) == len(whole), trail
        for i, value in enumerate(whole):
            assert value is None or quick.lc.data[i] == tuple(whole.lc.data[i]), (trail, i)
            same(quick[i], value, f"{trail}[{i}]")
    else:
        assert quick == whole, trail
        assert isinstance(whole, type(quick)), trail
        assert ("Scalar" in type(quick).__name__) == (
            "String" in type(whole).__name__ and "Plain" not in type(whole).__name__
        )
    if isinstance(whole, dict | list) and whole:
        assert quick.fa.flow_style() == bool(whole.fa.flow_style()), trail


def agrees(text: str) -> bool:
    """Return whether a text is plain, after making sure that it then says the same."""
    try:
        quick = parse_plain(text)
    except NotPlainError:
        return False
    same(quick, parse_document(text).value)
    return True


def test_everything_that_plain_yaml_has_is_read() -> None:
    assert agrees(PLAIN)
    assert agrees(PLAIN.replace("\n", "\r\n"))


def test_our_own_charts_are_plain() -> None:
    paths = sorted(Path("src/posewright").rglob("*.chart.yaml"))
    assert paths
    assert all(agrees(path.read_text()) for path in paths)


@pytest.mark.parametrize("text", NOT_PLAIN)
def test_what_is_not_plain_is_handed_back(text: str) -> None:
    assert not agrees(text)


edits = st.lists(
    st.tuples(
        st.integers(0, len(PLAIN)),
        st.integers(0, 3),
        st.sampled_from(
            [*" \n:-,[]{}#'\"&*!|>?=~.019eE_a\\", "\n  ", "- ", ": ", " #", "''", "null", ".5", "<<: "]
        ),
    ),
    min_size=1,
    max_size=4,
)
cut = st.tuples(st.integers(0, 30), st.integers(1, 12))


@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(cut, edits)
def test_a_damaged_document_is_handed_back_or_says_the_same(
    part: tuple[int, int], changes: list[tuple[int, int, str]]
) -> None:
    lines = PLAIN.splitlines(keepends=True)
    text = "".join(lines[part[0] : part[0] + part[1]])
    for place, gone, sign in changes:
        at = place % (len(text) + 1)
        text = text[:at] + sign + text[at + gone :]
    agrees(text)


def test_a_small_document_that_is_not_plain_is_read_all_the_same() -> None:
    root = parse_quickly("a: &x [1, 2]\nb: *x\nc: one\n  two\n")
    assert not isinstance(root.value, PlainMap)
    assert root.fields()["b"].items()[1].integer() == 2
    assert root.fields()["c"].text() == "one two"


def test_a_large_document_has_to_be_plain_and_is_told_where_it_is_not() -> None:
    many = "".join(f"k{i}: [1, 2, 3]\n" for i in range(2000))
    assert isinstance(parse_quickly(many).value, PlainMap)
    with pytest.raises(DocumentError, match="is read as plain YAML") as caught:
        parse_quickly(many + "a: &x 1\n", Path("many.yaml"))
    assert caught.value.where is not None
    assert caught.value.where.line == 2001


def test_brackets_in_texts_and_comments_are_no_levels() -> None:
    text = "a: 'it is " + "[" * 70 + "'\n# " + "{" * 70 + '\nb: "' + "[" * 70 + '"\n'
    assert parse_document(text).fields()["a"].text().count("[") == 70


@pytest.mark.parametrize("level", [64, 65])
def test_there_are_at_most_64_levels(level: int) -> None:
    flow = "a: " + "[" * level + "]" * level + "\n"
    block = "".join(" " * i + "a:\n" for i in range(level - 1)) + " " * (level - 1) + "a: 1\n"
    for text in (flow, block):
        if level == 64:
            parse_document(text)
        else:
            with pytest.raises(DocumentError, match="deeper than 64 levels"):
                parse_document(text)
