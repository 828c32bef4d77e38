from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from posewright.documents import flow_mapping, parse_document, render_document

SCALARS = st.one_of(
    st.text(max_size=12),
    st.floats(allow_nan=False, allow_infinity=False),
    st.integers(-(10**9), 10**9),
    st.booleans(),
    st.none(),
)
KEYS = st.text(st.characters(codec="utf-8"), min_size=1, max_size=8)
TREES = st.recursive(
    st.one_of(
        SCALARS, st.lists(SCALARS, max_size=4), st.dictionaries(KEYS, SCALARS, max_size=3).map(flow_mapping)
    ),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(KEYS, inner, max_size=3)),
    max_leaves=8,
)


@given(st.dictionaries(KEYS, TREES, min_size=1, max_size=4))
def test_what_is_emitted_says_what_it_was_made_from(data: dict[str, Any]) -> None:
    assert parse_document(render_document(data)).value == data


def test_a_keyframe_stands_on_one_line_and_words_need_no_quotes() -> None:
    keyframes = [flow_mapping({"reach_s": 0.125, "pose_deg": [1.5, None, "free"]})]
    text = render_document({"motion": "walk forward", "repeat": True, "keyframes": keyframes})
    assert text == (
        "motion: walk forward\nrepeat: true\nkeyframes:\n  - {reach_s: 0.125, pose_deg: [1.5, ~, free]}\n"
    )


def test_text_that_looks_like_something_else_is_quoted() -> None:
    for text in (
        "true",
        "12",
        "1e3",
        "~",
        "",
        "a: b",
        "a #b",
        " a",
        "0x1",
        "- a",
        "[a]",
        "é\u2028\U0001f600",
    ):
        assert parse_document(render_document({"motion": text})).value == {"motion": text}
