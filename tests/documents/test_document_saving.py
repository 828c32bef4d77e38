from __future__ import annotations

from pathlib import Path

import pytest

from posewright.documents import (
    flow_mapping,
    parse_document,
    read_document,
    render_document,
    revise_document,
    save_document,
)
from posewright.errors import DocumentError

WRITTEN = """\
# a walk, by hand
motion: walk   # its name

joints: [a,   b]
keyframes:  # two
    - {reach_s: 0.10,  pose_deg: [ 1.50,   ~ ]}   # up
    # and
    - {reach_s: 0.10,  pose_deg: [-1.50, free]}
"""


def data(*angles: object) -> dict[str, object]:
    poses = [list(angles[:2]), list(angles[2:])]
    keyframes = [{"reach_s": 0.1, "pose_deg": pose} for pose in poses]
    return {"motion": "walk", "joints": ["a", "b"], "keyframes": keyframes}


def changed_lines(old: str, new: str) -> list[str]:
    assert len(old.splitlines()) == len(new.splitlines())
    return [b for a, b in zip(old.splitlines(), new.splitlines(), strict=True) if a != b]


def test_what_says_the_same_stays_to_the_byte() -> None:
    assert revise_document(WRITTEN, data(1.5, None, -1.5, "free")) == WRITTEN


def test_one_changed_value_changes_one_line_and_keeps_its_comment() -> None:
    (line,) = changed_lines(WRITTEN, revise_document(WRITTEN, data(2.0, None, -1.5, "free")))
    assert " ".join(line.split()) == "- {reach_s: 0.10, pose_deg: [2.0, ~]} # up"


@pytest.mark.parametrize("end", ["\r\n", "\n"])
def test_line_ends_byte_order_mark_and_a_missing_last_line_end_survive(tmp_path: Path, end: str) -> None:
    path = tmp_path / "walk.yaml"
    before = b"\xef\xbb\xbf" + WRITTEN.rstrip("\n").replace("\n", end).encode()
    path.write_bytes(before)
    save_document(path, data(1.5, None, -1.5, "free"))
    assert path.read_bytes() == before
    save_document(path, data(1.5, None, -1.5, 3.0))
    assert path.read_bytes() == before.replace(
        b"{reach_s: 0.10,  pose_deg: [-1.50, free]}", b"{reach_s: 0.10, pose_deg: [-1.50, 3.0]}"
    )


def test_an_anchor_never_changes_what_was_not_asked_for() -> None:
    written = "a: &one [1, 2]\nb: *one\n"
    revised = revise_document(written, {"a": [1, 5], "b": [1, 2]})
    assert parse_document(revised).value == {"a": [1, 5], "b": [1, 2]}


def test_keys_come_and_go() -> None:
    revised = revise_document("a: 1 # one\nb: 2\n", {"a": 1, "c": [1, None]})
    assert revised == "a: 1 # one\nc: [1, ~]\n"


def test_a_mapping_may_be_asked_for_on_one_line() -> None:
    assert (
        render_document({"k": [flow_mapping({"a": 1, "b": [None, "free"]})]})
        == "k:\n  - {a: 1, b: [~, free]}\n"
    )


def test_saving_over_something_that_is_no_document_says_so_and_leaves_it(tmp_path: Path) -> None:
    path = tmp_path / "picture.yaml"
    path.write_bytes(b"\x89PNG\xff\xfe")
    with pytest.raises(DocumentError, match="not a text file"):
        save_document(path, {"a": 1})
    assert path.read_bytes() == b"\x89PNG\xff\xfe"
    with pytest.raises(DocumentError, match="not a text file"):
        read_document(path)


@pytest.mark.parametrize("text", ["? [a, b]\n: 1\n", "a: {[1]: 2}\n", "? {a: 1}\n: 1\n"])
def test_a_key_that_is_a_list_or_a_mapping_is_refused(text: str) -> None:
    with pytest.raises(DocumentError):
        parse_document(text).fields()["a"].fields()
