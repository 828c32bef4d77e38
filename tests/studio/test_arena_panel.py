"""The arena editor without a browser: edits, undo, rules, files, drafts, races, and two windows."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from posewright import arenas
from posewright.arenas import Box, read_arena, read_layout
from posewright.errors import InputError
from posewright.studio import open_arena_editor
from posewright.studio.studio import Studio

Editor = Callable[..., Studio]


@pytest.fixture
def editor(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Editor]:
    """Open the editor in a folder of its own, and close it after the test."""
    monkeypatch.chdir(tmp_path)
    opened: list[Studio] = []

    def open_editor(name: str | None = None) -> Studio:
        opened.append(open_arena_editor(name))
        return opened[-1]

    yield open_editor
    for studio in opened:
        studio.close()


def edit(window: Any, command: str, gesture: str = "", **arguments: Any) -> Any:
    return window.ask("arena.edit", command=command, arguments=arguments, gesture=gesture)


def faults(window: Any) -> list[str]:
    window.settle()
    return [fault["message"] for fault in window.topics["arena_rules"]["faults"]]


def test_a_new_field_is_drawn_judged_and_saved(editor: Editor, window_of: Any, tmp_path: Path) -> None:
    window = window_of(editor())
    assert window.topics["mode"] == "arena"
    assert "its lines are at none" in faults(window)
    edit(window, "add_shape", role="line", x=0.5, y=0, size_m=[0.02, 2, 0])
    edit(window, "add_shape", role="line", x=2.0, y=0, size_m=[0.02, 2, 0])
    assert faults(window) == []
    assert edit(window, "add_box", x=1.0, y=0.2) == ["box:1"]
    edit(window, "add_box", x=1.2, y=-0.2)
    assert "the gap between box 1 and box 2 is" in faults(window)[0]
    assert window.topics["arena_rules"]["faults"][0]["parts"] == ["box:1", "box:2"]
    window.ask("session.undo")
    assert faults(window) == []
    assert window.ask("arena.save", name="club.arena.yaml") == {"saved": "club.arena.yaml"}
    saved = read_arena(tmp_path / "club.arena.yaml")
    assert saved.boxes == (Box(1.0, 0.2),)
    assert [line.x for line in saved.lines] == [0.5, 2.0]
    assert window.ask("arena.save", name="club.layout.yaml") == {"saved": "club.layout.yaml"}
    assert read_layout(tmp_path / "club.layout.yaml") == saved.boxes


def test_a_drag_is_one_step_of_undo_in_all_windows(editor: Editor, window_of: Any) -> None:
    studio = editor("example_1")
    first, second = window_of(studio), window_of(studio)
    before = first.topics["arena"]["boxes"][0]["x"]
    for _ in range(5):
        edit(first, "move_parts", gesture="drag", parts=["box:1"], x_m=0.01, y_m=0.0)
    second.settle()
    assert second.topics["arena"]["boxes"][0]["x"] == pytest.approx(before + 0.05)
    assert second.topics["history"]["undo"] == "move box 1"
    second.ask("session.undo")
    first.settle()
    assert first.topics["arena"]["boxes"][0]["x"] == before
    assert first.topics["history"]["undo"] is None


def test_a_document_saved_over_keeps_its_comments_and_a_conflict_is_asked_about(
    editor: Editor, window_of: Any, tmp_path: Path
) -> None:
    path = tmp_path / "mine.arena.yaml"
    shutil.copy(Path(arenas.__file__).parent / "ceabot_obstacles.arena.yaml", path)
    window = window_of(editor("mine.arena.yaml"))
    edit(window, "add_box", x=1.0, y=0.2)
    assert window.ask("arena.save") == {"saved": "mine.arena.yaml"}
    text = path.read_text()
    assert text.startswith("# The field of the CEABOT obstacle race.")
    assert "lines_x_m: [0.5, 2.0]" in text
    path.write_text(text + "# by somebody else\n")
    edit(window, "add_box", x=1.6, y=-0.5)
    assert window.ask("arena.save") == {"conflict": "mine.arena.yaml was changed by somebody else"}
    assert window.ask("arena.save", over=True) == {"saved": "mine.arena.yaml"}
    assert path.read_text().endswith("# by somebody else\n")


def test_unsaved_edits_of_a_killed_editor_are_offered_and_recovered(
    editor: Editor, window_of: Any, tmp_path: Path
) -> None:
    studio = editor()
    window = window_of(studio)
    edit(window, "add_box", x=1.0, y=0.2)
    window.until(lambda _: list(tmp_path.glob(".*.arena-draft")))
    studio.close()  # a draft of unsaved edits stays
    again = window_of(editor())
    (draft,) = again.topics["arena_drafts"]
    assert draft["file"] == "field.arena.yaml"
    again.ask("arena.recover", draft=draft["id"])
    again.settle()
    assert len(again.topics["arena"]["boxes"]) == 1
    again.ask("session.undo")
    again.settle()
    assert again.topics["arena"]["boxes"] == []


def test_another_contest_says_what_it_needs(editor: Editor, window_of: Any) -> None:
    window = window_of(editor("ceabot_obstacles"))
    assert faults(window) == []
    window.ask("arena.judge_by", name="sumo")
    assert "it has no ring" in faults(window)
    assert window.answer("arena.race")["error"]["message"].startswith("sumo cannot be held here")
    window.ask("arena.judge_by", name="")
    assert faults(window) == []


def test_random_boxes_stand_by_the_rules(editor: Editor, window_of: Any) -> None:
    window = window_of(editor("ceabot_obstacles"))
    window.ask("arena.place_layout", name="random", seed=7)
    window.settle()
    assert len(window.topics["arena"]["boxes"]) >= 3
    assert faults(window) == []
    assert window.topics["history"]["undo"] == "place random"


def test_a_race_runs_on_the_field_as_it_is_drawn(editor: Editor, window_of: Any, tmp_path: Path) -> None:
    window = window_of(editor("example_1"))
    edit(window, "set_field", name="drawn")
    window.ask("arena.race")
    window.until(lambda topics: topics.get("trial_track"))
    assert window.topics["mode"] == "trial"
    studio = window.studio
    track = studio.session.panels["trial"]._track
    assert track.recording.header.arena["name"] == "drawn"
    assert len(track.recording.header.boxes) == 3
    window.ask("trial.stop")
    assert not list(tmp_path.glob("*.yaml"))  # nothing is saved unasked


def test_another_field_is_opened_only_after_unsaved_edits_are_asked_about(
    editor: Editor, window_of: Any
) -> None:
    window = window_of(editor())
    edit(window, "add_box", x=1.0, y=0.2)
    assert window.ask("arena.open", name="stairs") == {"unsaved": True}
    assert window.ask("arena.open", name="stairs", anyway=True) == {"opened": "stairs"}
    window.settle()
    assert window.topics["arena"]["name"] == "my_stairs"
    assert len(window.topics["arena_drafts"]) <= 1


@pytest.mark.parametrize("name", ["nowhere", "nowhere.arena.yaml", "motion.yaml"])
def test_what_is_no_field_is_an_error_before_anything_is_started(editor: Editor, name: str) -> None:
    with pytest.raises(InputError):
        editor(name)


def test_a_wrong_ending_and_a_path_outside_the_folder_are_errors(editor: Editor, window_of: Any) -> None:
    window = window_of(editor())
    assert (
        "is not the ending of an arena" in window.answer("arena.save", name="club.yaml")["error"]["message"]
    )
    assert "outside" in window.answer("arena.save", name="../club.arena.yaml")["error"]["message"]
