"""Documents that no honest person writes: refused in one line that says where, and at once."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from posewright.charts import parse_chart, read_chart
from posewright.charts.formats import CHART_KEYS, STATE_KEYS, TRANSITION_KEYS
from posewright.documents import render_document
from posewright.errors import PosewrightError

from .work import counted

HEAD = """\
chart: gate
period_s: 0.1
inputs: {near: bool, n: int8}
outputs: {o: int8}
initial: s0
states:
"""
GOOD = HEAD + "  s0:\n    - {when: near, go: s0}\n"
GUARD = "when: near"

KEYS = [
    *CHART_KEYS,
    *STATE_KEYS,
    *TRANSITION_KEYS,
    "s0",
    "near",
    "rows",
    "takes",
    "never",
    "if",
    "raise",
    "int",
]

BOMB = "a: &a [x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"{new}: &{new} [{', '.join([f'*{old}'] * 9)}]\n" for old, new in zip("abcdefgh", "bcdefghi", strict=True)
)
TWICE_AND_TWICE = (
    HEAD
    + "  s0:\n    - {when: near, do: &a0 [{o: 1}, {o: 2}]}\n"
    + "".join(
        f"    - {{when: near, do: &a{i} [{{if: near, do: *a{i - 1}, else: *a{i - 1}}}]}}\n"
        for i in range(1, 40)
    )
)
CALLS = HEAD.replace(
    "states:",
    "functions:\n  f:\n    takes: {x: int8}\n    gives: int8\n    rows:\n"
    + "".join(f"      - [{i}, x + {i}]\n" for i in range(50))
    + "states:",
)
HOSTILE = {
    "ten_megabytes_of_comment": "# " + "x" * 10_000_000,
    "ten_megabytes_of_states": HEAD + "".join(f"  s{i}: [{{when: near, go: s0}}]\n" for i in range(310_000)),
    "a_hundred_thousand_states": HEAD + "".join(f"  s{i}: []\n" for i in range(100_000)),
    "alias_bomb": BOMB + GOOD,
    "alias_bomb_of_actions": TWICE_AND_TWICE,
    "alias_of_itself": GOOD.replace("chart: gate", "chart: gate\ndescription: &a {x: *a}"),
    "alias_of_nothing": GOOD.replace(GUARD, "when: *a"),
    "anchors_without_end": HEAD.replace("chart: gate", "chart: gate\nx: [" + "&a x, " * 10_000 + "]"),
    "nested_lists": "x: " + "[" * 10_000 + "]" * 10_000,
    "nested_mappings": "x: " + "{a: " * 10_000 + "}" * 10_000,
    "nested_over_lines": "x:\n" + "[\n" * 10_000,
    "nested_over_lines_and_closed": "x:\n" + " [\n" * 5000 + " ]\n" * 5000,
    "nested_by_indentation": "\n".join(" " * i + "a:" for i in range(300)),
    "nested_by_dashes": "a:\n  " + "- " * 10_000 + "x",
    "nested_by_dashes_over_lines": "a:\n" + "".join(" " * i + "-\n" for i in range(1, 250)),
    "nested_states": HEAD + "".join("  " * i + f"s{i}:\n" + "  " * i + " states:\n" for i in range(1, 64)),
    "nested_keys": "? " * 10_000 + "a",
    "expression_of_100000_characters": GOOD.replace(GUARD, "when: " + "near and " * 11_000 + "near"),
    "name_of_100000_characters": GOOD.replace(GUARD, "when: " + "x" * 100_000),
    "expression_of_brackets": GOOD.replace(GUARD, "when: " + "(" * 900 + "near" + ")" * 900),
    "expression_of_nots": GOOD.replace(GUARD, "when: " + "not " * 400 + "near"),
    "functions_in_functions": CALLS
    + '  s0:\n    - {when: "'
    + "f(" * 90
    + "n"
    + ")" * 90
    + ' > 0", go: s0}\n',
    "junctions_without_end": HEAD.replace("states:", "junctions:")
    + "".join(f"  j{i}: [{{junction: j{i + 1}}}]\n" for i in range(1500))
    + "  j1500: [{go: s0}]\nstates:\n  s0: [{junction: j0}]\n",
    "else_after_else": HEAD + "  s0:\n" + "    - {when: near, go: s0}\n    - {when: else, go: s0}\n" * 900,
    "number_of_5000_digits": GOOD.replace("0.1", "9" * 5000),
    "number_without_end": GOOD.replace("0.1", "1e999"),
    "no_number": GOOD.replace("0.1", ".nan"),
    "a_date": GOOD.replace("0.1", "2001-12-14"),
    "python_object": GOOD.replace(GUARD, "when: !!python/object/apply:os.system ['true']"),
    "tagged_states": GOOD.replace("states:", "states: !!python/object:os.system"),
    "python_call": GOOD.replace(GUARD, "when: __import__('os').system('true')"),
    "python_attribute": GOOD.replace(GUARD, "when: near.__class__"),
    "twice_the_key": GOOD + "  s0: []\n",
    "twice_the_document": GOOD + "---\n" + GOOD,
    "merge_of_nothing": GOOD.replace("- {", "- {<<: *x, "),
    "list_as_a_key": GOOD + "  ? [a, b]\n  : []\n",
    "number_as_a_key": GOOD + "  7: []\n",
    "tab": "chart:\n\tkind: mealy",
    "nul": GOOD.replace("gate", "ga\0te"),
    "bell": GOOD.replace("gate", "ga\x07te"),
    "nothing": "",
    "a_list": "- a\n- b",
    "a_word": "gate",
    "noise": "\x00\x01\x02",
    "open_bracket": GOOD.replace("near: bool, n: int8}", "near: bool, n: int8"),
    "open_quote": GOOD.replace("chart: gate", 'chart: "gate'),
    "wrong_indentation": GOOD.replace("  s0:", "   s1: []\n  s0:"),
    "comma_in_brackets": GOOD.replace(GUARD, "when: min(n, 3) > 1"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_document_is_refused_with_its_line_and_little_work(name: str, tmp_path: Path) -> None:
    path = tmp_path / "hostile.chart.yaml"
    path.write_text(HOSTILE[name])
    with counted() as work, pytest.raises(PosewrightError) as caught:
        read_chart(path)
    assert work.calls < 300_000
    assert caught.value.where is not None
    assert caught.value.where.line is not None
    assert len(str(caught.value)) < 500


@pytest.mark.parametrize(
    ("name", "line", "message"),
    [
        ("alias_bomb", 2, "after its aliases are expanded"),
        ("nested_over_lines_and_closed", 66, "nested deeper than 64 levels"),
        ("nested_by_indentation", 65, "nested deeper than 64 levels"),
        ("expression_of_100000_characters", 8, "longer than 2000 characters"),
        ("tagged_states", 6, "the tag"),
        ("twice_the_key", 9, 'duplicate key "s0"'),
        ("nul", 1, "special characters are not allowed"),
        ("comma_in_brackets", 8, "put an expression with a comma in quotes"),
        ("functions_in_functions", 63, "parts once f is inlined"),
        ("anchors_without_end", 2, "unknown key 'x'"),
        ("open_bracket", 3, "the { is never closed"),
        ("number_of_5000_digits", 2, "a number too large"),
        ("else_after_else", 11, "comes before this one"),
        ("junctions_without_end", 6, "1501 junctions"),
    ],
)
def test_what_is_hostile_is_said(name: str, line: int, message: str, tmp_path: Path) -> None:
    path = tmp_path / "hostile.chart.yaml"
    path.write_text(HOSTILE[name])
    with pytest.raises(PosewrightError) as caught:
        read_chart(path)
    assert message in str(caught.value)
    assert caught.value.where is not None
    assert caught.value.where.line == line


def refusal(text: str) -> PosewrightError | None:
    try:
        parse_chart(text)
    except PosewrightError as error:
        return error
    return None


anything: st.SearchStrategy[Any] = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.sampled_from(["", "near", "s0", "else", "start", "1 s", "< 5"]),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=2),
    max_leaves=4,
)


@settings(max_examples=70, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.dictionaries(st.sampled_from(KEYS), anything, max_size=6))
def test_whatever_stands_at_a_key_is_read_or_refused_with_its_line(entries: dict[str, Any]) -> None:
    text = render_document({"chart": "x", "period_s": 1, "initial": "s0", "states": {"s0": []}, **entries})
    refused = refusal(text)
    assert refused is None or (refused.where is not None and refused.where.line is not None)


@pytest.mark.parametrize("raw", [bytes(range(256)) * 9, "é".encode("utf-16"), b"chart: x\n\xe9"])
def test_what_is_no_text_is_refused_with_its_line(raw: bytes, tmp_path: Path) -> None:
    path = tmp_path / "noise.chart.yaml"
    path.write_bytes(raw)
    with pytest.raises(PosewrightError, match=r"chart.yaml:\d: not a text file"):
        read_chart(path)


def test_the_largest_chart_with_a_mistake_in_its_last_line_is_refused_after_one_pass(tmp_path: Path) -> None:
    lines = (
        f"  s{i}:\n    - {{when: near and n > 3, do: {{o: n}}, go: s{i * 7 % 1500}}}\n" for i in range(1500)
    )
    path = tmp_path / "large.chart.yaml"
    path.write_text(HEAD + "".join(lines) + "  last:\n    - {when: near, go: s1501}\n")
    with counted() as work, pytest.raises(PosewrightError, match=r":3008: unknown state 's1501'"):
        read_chart(path)
    assert work.calls < 1_500_000


def test_honest_aliases_and_merged_keys_are_read(tmp_path: Path) -> None:
    path = tmp_path / "honest.chart.yaml"
    path.write_text(GOOD + "  s1: &ways\n    - {when: near, go: s0}\n  s2: *ways\n")
    chart = read_chart(path)
    assert chart.state("s1").transitions == chart.state("s2").transitions
