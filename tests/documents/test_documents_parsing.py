"""A document says what YAML 1.2 says it does, line by line and column by column; ruamel.yaml reads it too."""

from __future__ import annotations

import contextlib
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from ruamel.yaml.error import YAMLError
from tests.work import Calls

from posewright.documents import parse_document
from posewright.documents.revision import round_trip_yaml
from posewright.documents.yaml_tree import MAX_VALUES
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


ODD = [
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


def same(found: Any, peer: Any, trail: str = "") -> None:
    """Compare values, kinds, order, lines and columns."""
    if isinstance(peer, dict):
        assert list(found) == list(peer), trail
        for key, value in peer.items():
            line, value_line, column = found.positions[key]
            there = peer.lc.data[key]
            assert line == there[0] + 1, (trail, key)
            if value is not None and not isinstance(value, dict | list):
                quoted = type(value).__name__.endswith("QuotedScalarString")
                assert value_line == there[2] + 1, (trail, key)
                assert column in (None, there[3] + 1 + quoted), (trail, key)
            same(found[key], value, f"{trail}.{key}")
    elif isinstance(peer, list):
        assert len(found) == len(peer), trail
        for i, value in enumerate(peer):
            assert value is None or found.positions[i][0] == peer.lc.data[i][0] + 1, (trail, i)
            same(found[i], value, f"{trail}[{i}]")
    elif isinstance(peer, str) != isinstance(found, str):
        word = str(found if isinstance(found, str) else peer)
        assert re.search(r"[0-9.]_|^=$|^0b|^[0-9]{4}-|^[-+]?\.[0-9]+e", word), (
            trail
        )  # YAML 1.1 in ruamel.yaml
    else:
        assert found == peer, trail
        assert isinstance(found, bool) == isinstance(peer, bool), trail
    if isinstance(peer, dict | list) and peer:
        assert found.in_brackets == bool(peer.fa.flow_style()), trail


def test_everything_that_documents_are_written_in_is_read() -> None:
    for text in (PLAIN, PLAIN.replace("\n", "\r\n")):
        same(parse_document(text).value, round_trip_yaml().load(text))


def test_our_own_documents_say_the_same_to_another_reader() -> None:
    paths = sorted(Path("src/posewright").rglob("*.yaml"))
    assert len(paths) > 30
    for path in paths:
        text = path.read_text()
        same(parse_document(text).value, round_trip_yaml().load(text))


@pytest.mark.parametrize(
    ("word", "value"),
    [
        *((word, word) for word in ("yes", "no", "on", "off", "y", "N", "Yes", "1:30", "12:30:45", "=")),
        *(
            (word, word)
            for word in ("2001-12-14", "1_000", "0b11", "+0x1", "1e", "-a", ".", "..", "1.2.3", "36 cm")
        ),
        *((word, None) for word in ("", "~", "null", "Null", "NULL")),
        *((word, True) for word in ("true", "True", "TRUE")),
        *((word, False) for word in ("false", "False", "FALSE")),
        ("0", 0),
        ("012", 12),
        ("-3", -3),
        ("+3", 3),
        ("0o17", 15),
        ("0xFf", 255),
        ("1.", 1.0),
        (".5", 0.5),
        ("-1.25e-3", -0.00125),
        ("1e5", 1e5),
        (".5e3", 500.0),
        (".inf", float("inf")),
        ("-.Inf", float("-inf")),
        ("'1'", "1"),
        ('"true"', "true"),
        ("'<<'", "<<"),
    ],
)
def test_a_word_without_quotes_means_what_the_core_schema_says(word: str, value: object) -> None:
    found = parse_document(f"a: {word}\n").value["a"]
    assert found == value
    assert isinstance(found, type(value))


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("a: 1\nb: *x\n", 2, "undefined alias 'x'"),
        ("a: 1\nb: !t 1\n", 2, "the tag !t is not supported"),
        ("a: 1\nb: !!python/object:os.system\n", 2, "the tag !!python/object"),
        ("a: 1\nb: !!map {}\n", 2, "the tag !!map is not"),
        ("a: 1\nb: 2\na: 3\n", 3, 'duplicate key "a"'),
        ("a: {b: 1,\n b: 2}\n", 2, 'duplicate key "b"'),
        ("a: 1\n---\nb: 1\n", 2, "another document"),
        ("a: &x\n  b: *x\n", 2, "inside the value it refers to"),
        ("a: 1\n? [b]\n: 1\n", 2, "a list or a mapping as a key"),
        ("a: 1\nb: one\u2028two\n", 2, "the line separator"),
        ("a: 1\nb: \x07\n", 2, "special characters"),
        ("é: 1\nb: 'ü\x00'\n", 2, "special characters"),
        ("a: 1\nb: \ud800\n", 2, "half a character"),
        ("a: 1\n<<: 1\n", 2, "after <<"),
        ("a: 1\nb:\n\tc: 1\n", 3, "not with tabs"),
        ("a: [1,\n- {a: 2\n", 1, "never closed"),
        ("a: 1\n b: 2\n", 2, "mapping values are not allowed"),
        ("a: 1\nb: @c\n", 2, "needs quotes"),
        ("a:\n  b: 1\n c: 1\n", 3, "begin in the same column"),
        ("- a\n", 1, "expected a document with named entries, found a list"),
        ("", 1, "found nothing"),
    ],
)
def test_what_is_refused_is_told_with_its_line(text: str, line: int, message: str) -> None:
    with pytest.raises(DocumentError) as caught:
        parse_document(text)
    assert message in str(caught.value)
    assert caught.value.where is not None
    assert caught.value.where.line == line


def test_aliases_and_merged_mappings_are_read() -> None:
    root = parse_document("a: &x {n: 1, m: 2}\nb: *x\nc: {<<: *x, m: 3}\nd: {<<: [*x, {k: 4}]}\n").fields()
    assert root["b"].value == {"n": 1, "m": 2}
    assert root["c"].value == {"n": 1, "m": 3}
    assert root["d"].value == {"n": 1, "m": 2, "k": 4}


BOXES = "boxes:\n" + "  - [1.0, 0.3, 30]\n" * 200_000
MERGES = "a: &a {" + ", ".join(f"k{i}: 1" for i in range(9_000)) + "}\nb:\n" + "  - {<<: *a}\n" * 20_000


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (BOXES, "more than 200000 keys and values"),
        ("a: [" + "&a x, " * 600_000 + "]", "more than 200000 keys and values"),
        (MERGES, "entries after << is expanded"),
        ("? " * 1_000_000, "as a key"),
        ("a: " + "[" * 1_000_000, "nested deeper than 64 levels"),
        ("a:\n " + "- " * 1_000_000, "nested deeper than 64 levels"),
    ],
)
def test_a_bomb_of_millions_of_signs_is_refused_before_it_is_read_to_its_end(text: str, message: str) -> None:
    """Some calls for each value that a document may have: what stands behind them is not looked at."""
    with Calls() as calls, pytest.raises(DocumentError, match=message):
        parse_document(text)
    assert calls.count <= 20 * MAX_VALUES


def peer_of(text: str) -> Any:
    """Return what ruamel.yaml reads, None where it refuses."""
    try:
        return round_trip_yaml().load(text)
    except (YAMLError, ValueError, TypeError):
        return None


@pytest.mark.parametrize("text", ODD)
def test_an_odd_document_is_refused_or_says_what_it_says_to_another_reader(text: str) -> None:
    try:
        found = parse_document(text).value
    except DocumentError as error:
        where = error.where
    else:
        peer = peer_of(text)
        if peer is not None and "<<" not in text:
            same(found, peer)
        return
    assert where is not None
    assert where.line is not None


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


@settings(max_examples=120, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(cut, edits)
def test_a_damaged_document_is_refused_or_says_what_it_says_to_another_reader(
    part: tuple[int, int], changes: list[tuple[int, int, str]]
) -> None:
    lines = PLAIN.splitlines(keepends=True)
    text = "".join(lines[part[0] : part[0] + part[1]])
    for place, gone, sign in changes:
        at = place % (len(text) + 1)
        text = text[:at] + sign + text[at + gone :]
    peer = peer_of(text)
    if isinstance(peer, dict) and "<<" not in text:  # ruamel.yaml does not say where merged entries stand
        with contextlib.suppress(DocumentError):
            same(parse_document(text).value, peer)


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
