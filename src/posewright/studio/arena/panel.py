"""The arena editor: a field with undo, drafts, the rules of a contest, and a race on it."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Annotated

from posewright.arenas import Arena, layout_names, write_arena
from posewright.contests import Contest, all_arena_names, check_own_field, contest, contest_names
from posewright.contests.contest import with_layout
from posewright.contests.own_fields import FieldFault, OwnFieldContest, find_name_fault
from posewright.documents import Bounds
from posewright.errors import InputError, PosewrightError
from posewright.runs import Trial
from posewright.search.plan import MAX_SEED
from posewright.studio.arena import files
from posewright.studio.arena.commands import (
    ArenaCommand,
    ReplaceArena,
    added_parts,
    read_arena_command,
)
from posewright.studio.arena.files import ARENA_SUFFIX, LAYOUT_SUFFIX, OpenedArena
from posewright.studio.arena.view import arena_view, fault_view, start_views
from posewright.studio.context import StudioContext
from posewright.studio.files.drafts import DraftWriter, draft_path
from posewright.studio.files.load import SaveTarget
from posewright.studio.history import History
from posewright.studio.pages import Pages
from posewright.studio.requests import AnyData, View, action
from posewright.studio.session import Panel
from posewright.studio.trial_panel import TrialPanel

MODE = "arena"
DEFAULT_CONTEST = "obstacle-race"
NO_CONTEST = ""


class ArenaPanel(Panel):
    """Edits the field of an arena document, or the boxes of a layout.

    Publishes `arena` (the field), `arena_file`, `arena_rules` (the contest, and what its rules say about the
    field) and `arena_drafts`, which can be recovered.
    """

    name = MODE

    def __init__(self, context: StudioContext, trial_panel: TrialPanel) -> None:
        """Begin without an open field, judged by the default contest."""
        self._session = context.session
        self._workspace = context.workspace
        self._trial_panel = trial_panel
        self._history: History[Arena] | None = None
        self._target = files.create_arena(self._workspace.root).target
        self._draft_writer: DraftWriter | None = None
        self._unsaved_arena: Arena | None = None
        self._draft_path: Path | None = None
        # drafts by file name; one whose `damage` is not empty cannot be read, and so not be recovered
        self._drafts: dict[str, View] = {}
        self._draft_error = ""
        self._is_changed_on_disk = False
        self._choose_contest(DEFAULT_CONTEST)
        self._race_folder = tempfile.TemporaryDirectory(prefix="posewright-arena-")
        self._session.publish("arena", None)

    def update(self, before: Pages, after: Pages) -> None:
        """Begin a new field when the mode is chosen for the first time."""
        if self._session.mode == MODE and self._history is None:
            self._show_opened_field(files.create_arena(self._workspace.root))

    def close(self) -> None:
        """Finish writing the draft, and remove the fields of races."""
        if self._draft_writer is not None:
            self._draft_writer.close()
        self._race_folder.cleanup()

    @action
    def edit(
        self, *, command: str, arguments: Mapping[str, AnyData] | None = None, gesture: str = ""
    ) -> list[str]:
        """Change the field by a command of `studio.arena.commands`; return the parts that were added.

        Args:
            command: name of the command.
            arguments: its arguments.
            gesture: identifies a drag, whose changes are undone together.
        """
        return self.do(read_arena_command(command, arguments or {}), gesture)

    def do(self, command: ArenaCommand, gesture: str = "") -> list[str]:
        """Apply a command to the field, on the session's thread; return the parts that were added."""
        history = self._require_history()
        before = history.value
        history.change(command.label, command.apply(before), gesture)
        self._session.publish_history()
        return added_parts(before, history.value)

    @action
    def choices(self) -> dict[str, list[str]]:
        """Return what can be opened, the contests, and the programs that can race."""
        trial_choices = self._trial_panel.choices()
        file_names = list(self._workspace.files())
        return {
            "arenas": list(all_arena_names()),
            "layouts": list(layout_names()),
            "files": [name for name in file_names if name.endswith((ARENA_SUFFIX, LAYOUT_SUFFIX))],
            "contests": list(contest_names()),
            "behaviours": trial_choices["behaviours"],
        }

    @action
    def open(self, *, name: str, anyway: bool = False) -> View:
        """Open an arena or a layout: one that ships, or a file of the folder.

        Args:
            name: its name, or the name of the file.
            anyway: whether to leave unsaved changes, which stay in a draft; without it the answer asks.
        """
        if self._is_dirty and not anyway:
            return {"unsaved": True}
        if name.endswith((".yaml", ".yml")):
            opened = files.open_arena(self._workspace.path(name))
        else:
            opened = files.open_shipped(name, self._workspace.root)
        self._session.choose(mode=MODE)
        self._show_opened_field(opened)
        return {"opened": name}

    @action
    def new(self, *, name: str = "field", anyway: bool = False) -> View:
        """Begin a new field.

        Args:
            name: name of the field.
            anyway: whether to leave unsaved changes, which stay in a draft; without it the answer asks.
        """
        if self._is_dirty and not anyway:
            return {"unsaved": True}
        self._show_opened_field(files.create_arena(self._workspace.root, name))
        return {"opened": self._workspace.name_of(self._target.path)}

    @action
    def save(self, *, name: str | None = None, over: bool = False) -> View:
        """Save the field as an arena, or its boxes as a layout, by the suffix of the file.

        If the file has changed on disk, or another file of the name exists, nothing is written and the answer
        has the `conflict`.

        Args:
            name: name of the file; None for the present one.
            over: whether to overwrite a file that exists or was changed meanwhile.
        """
        arena = self._require_arena()
        target = self._target
        if name is not None:
            path = self._workspace.writable(name)
            target = target if path == target.path else SaveTarget(path, digest=None)
        self._workspace.path(str(target.path))  # it may now be a link that leads outside
        written_target, answer = files.save_arena(arena, target, overwrite=over)
        if written_target is not None:
            self._target = written_target
            self._is_changed_on_disk = False
            if self._draft_writer is not None:
                self._draft_writer.set_target(written_target)
            self._require_history().mark_saved(arena)
            self._update_draft()
            self._session.publish_history()
            self._publish_file()
        return answer

    @action
    def place_layout(self, *, name: str, seed: Annotated[int, Bounds(0, MAX_SEED)] = 0) -> None:
        """Replace the boxes by those of a layout: one that ships, a file of the folder, or a random one.

        Args:
            name: name of the layout or of its file, or `random`.
            seed: the seed of a random layout.
        """
        is_file = name.endswith((".yaml", ".yml"))
        source = str(self._workspace.path(name)) if is_file else name
        arena = self._require_arena()
        # with the contest's limits; a layout that breaks the rules is shown, too
        prepared_arena = self._with_contest_limits(arena)
        boxes = with_layout(prepared_arena, source, seed, legal=False).boxes
        self.do(ReplaceArena(arena.with_boxes(boxes), f"place {name}"))

    @action
    def judge_by(self, *, name: str) -> None:
        """Choose the contest whose rules are shown; an empty name for none."""
        self._choose_contest(name)
        self._publish_rules()

    def _choose_contest(self, name: str) -> None:
        """Set the contest, its name, and its own field; an empty name for none."""
        self._contest: Contest | None = contest(name) if name else None
        self._contest_name = name
        self._own_field: Arena | None = None if self._contest is None else self._contest.field("", seed=0)

    @action
    def race(
        self,
        *,
        behaviour: str | None = None,
        seed: Annotated[int, Bounds(0, MAX_SEED)] | None = None,
    ) -> None:
        """Run the chosen contest on the field as it is drawn, saved or not, and show it in the trial mode.

        Args:
            behaviour: the robot's program; None for the contest's default.
            seed: the seed of everything random; None for 0.
        """
        if self._contest is None:
            raise InputError("no contest is chosen", hint="choose one at Rules")
        arena = self._with_contest_limits(self._require_arena())
        faults = [fault for fault in check_own_field(self._contest, arena) if fault.prevents_run]
        if faults:
            raise InputError(
                f"{self._contest_name} cannot be held here: {faults[0].message}", hint=faults[0].hint
            )
        stem = self._target.path.name.partition(".")[0]
        path = Path(self._race_folder.name) / f"{stem}{ARENA_SUFFIX}"
        path.unlink(missing_ok=True)
        # the boxes of a layout stand on the contest's own field, which has its name for itself
        has_shipped_name = self._own_field is not None and arena.name == self._own_field.name
        name = stem if has_shipped_name else arena.name
        write_arena(path, replace(self._require_arena(), name=name))
        entry = next(iter(self._contest.entries.values()))
        trial = Trial(
            self._contest_name,
            entry.robot,
            entry.behaviour,
            contest=self._contest_name,
            arena=str(path),
            seed=seed or 0,
        )
        self._trial_panel.start_run(trial, f"{self._contest_name} on {name}", behaviour=behaviour)

    @action
    def recover(self, *, draft: str, anyway: bool = False) -> View:
        """Open the file of a draft, which holds the unsaved edits of an earlier session, and apply the edits.

        Args:
            draft: name of the draft's file.
            anyway: whether to leave unsaved changes, which stay in a draft; without it the answer asks.
        """
        if self._is_dirty and not anyway:
            return {"unsaved": True}
        draft_file = self._require_draft(draft)
        recovered = files.read_draft(draft_file)
        self._show_opened_field(self._open_or_create(recovered.target))
        self.do(ReplaceArena(recovered.arena, "recover unsaved edits"))
        self._remove_draft(draft_file)
        return {"opened": self._workspace.name_of(recovered.target.path)}

    def _open_or_create(self, target: SaveTarget) -> OpenedArena:
        """Open the field in a file; a new field to be saved there, if the file is missing or unreadable."""
        try:
            return files.open_arena(target.path)
        except PosewrightError:
            new_field = files.create_arena(self._workspace.root)
            return OpenedArena(new_field.arena, target)

    @action
    def discard(self, *, draft: str) -> None:
        """Remove a draft."""
        self._remove_draft(self._require_draft(draft))

    def _require_draft(self, name: str) -> Path:
        """Return the path of a draft that can be recovered, or raise InputError."""
        if name not in self._drafts or self._drafts[name]["damage"]:
            raise InputError("there is no such draft")
        return self._workspace.root / name

    def _remove_draft(self, path: Path) -> None:
        """Delete the file of a draft, and take the draft off the list in the windows."""
        path.unlink(missing_ok=True)
        self._drafts.pop(path.name, None)
        self._publish_drafts()

    @property
    def _is_dirty(self) -> bool:
        """Whether the open field has unsaved edits."""
        return self._history is not None and self._history.is_dirty

    def _require_history(self) -> History[Arena]:
        """Return the undo history of the open field; raise InputError if no field is open."""
        if self._history is None:
            raise InputError("no field is open", hint="choose the mode Arena")
        return self._history

    def _require_arena(self) -> Arena:
        """Return the open field as it is drawn; raise InputError if no field is open."""
        return self._require_history().value

    def _show_opened_field(self, opened: OpenedArena) -> None:
        """Show an opened field with a new undo history.

        Unsaved edits of the previous field stay in its draft. The first call also starts the writer of
        drafts, and finds the drafts of earlier sessions.
        """
        if self._draft_writer is None:
            self._draft_writer = DraftWriter(self._on_draft_error, self._on_file_changed)
            self._drafts = {str(view["id"]): view for view in files.find_drafts(self._workspace.root)}
        has_unsaved_edits = self._is_dirty
        if has_unsaved_edits and self._draft_path is not None:
            draft_id = self._draft_path.name
            file_name = self._workspace.name_of(self._target.path)
            self._drafts[draft_id] = {"id": draft_id, "file": file_name, "damage": ""}
        self._target = opened.target
        self._unsaved_arena = None
        self._is_changed_on_disk = False
        history = History(opened.arena)
        history.on_change = lambda _before, _after: self._on_change()
        self._history = history
        self._session.histories[MODE] = history
        self._draft_path = draft_path(self._workspace.root / opened.target.path.name, files.DRAFT_SUFFIX)
        self._draft_writer.begin(opened.target, self._draft_path)
        self._session.publish_history()
        self._publish_arena()
        self._publish_file()
        self._publish_drafts()

    def _on_change(self) -> None:
        """Store the edited field in its draft, and publish it."""
        self._update_draft()
        self._publish_arena()
        self._publish_file()

    def _update_draft(self) -> None:
        """Write a draft of the unsaved field, or remove it."""
        history = self._require_history()
        arena = history.value if history.is_dirty else None
        if self._draft_writer is None or arena is self._unsaved_arena:
            return
        self._unsaved_arena = arena
        if arena is None:
            self._draft_writer.schedule(None)
            return
        file = self._workspace.name_of(self._target.path)
        self._draft_writer.schedule(lambda: files.render_draft(arena, file))

    def _publish_arena(self) -> None:
        self._session.publish("arena", arena_view(self._require_arena()))
        self._publish_rules()

    def _publish_file(self) -> None:
        view = {
            "name": self._workspace.name_of(self._target.path),
            "folder": str(self._workspace.root),
            "isNew": self._target.digest is None,
            "isLayout": self._target.path.name.endswith(LAYOUT_SUFFIX),
            "dirty": self._is_dirty,
            "changed": self._is_changed_on_disk,
            "failure": self._draft_error,
        }
        self._session.publish("arena_file", view)

    def _publish_rules(self) -> None:
        """Publish the contest, and what its rules say about the field."""
        if self._history is None:
            return
        try:
            arena = self._with_contest_limits(self._require_arena())
            faults = [fault_view(fault) for fault in self._find_faults(arena)]
            low_m, high_m = arena.box_zone
        except PosewrightError as error:  # such as a kind of boxes that was removed
            arena = self._require_arena()
            hint = error.hint or ""
            faults = [{"message": error.message, "hint": hint, "parts": [], "prevents_run": True}]
            low_m, high_m = 0.0, arena.size_x
        view = {
            "contest": self._contest_name,
            "title": "" if self._contest is None else self._contest.title,
            "faults": faults,
            "starts": start_views(self._contest, arena),
            "zone": [low_m, high_m],
            "max_boxes": arena.max_boxes,
            "gap_m": arena.gap_m,
            "spots": arena_view(arena)["spots"],
        }
        self._session.publish("arena_rules", view)

    def _find_faults(self, arena: Arena) -> list[FieldFault]:
        """Return what is wrong with a prepared field for the contest, and with its name."""
        faults = list(check_own_field(self._contest, arena))
        is_layout = self._target.path.name.endswith(LAYOUT_SUFFIX)
        if self._own_field is not None and not is_layout:
            name_fault = find_name_fault(self._own_field, self._require_arena())
            if name_fault is not None:
                faults.append(replace(name_fault, prevents_run=False))  # a race here has a name of its own
        return faults

    def _with_contest_limits(self, arena: Arena) -> Arena:
        """Return a field with the limits of the chosen contest."""
        if self._contest is None or not isinstance(self._contest, OwnFieldContest):
            return arena
        return self._contest.prepare_field(arena, "", seed=0)

    def _publish_drafts(self) -> None:
        """Publish the topic `arena_drafts`: the drafts of earlier sessions and files."""
        self._session.publish("arena_drafts", list(self._drafts.values()))

    def _on_draft_error(self, message: str) -> None:
        def publish_error() -> None:
            self._draft_error = message
            self._publish_file()

        self._session.post(publish_error)

    def _on_file_changed(self, target: SaveTarget, is_changed: bool) -> None:
        """Publish that the file has changed on disk, or is as before; called on the drafts' thread."""

        def publish_if_current() -> None:
            if target is self._target:
                self._is_changed_on_disk = is_changed
                self._publish_file()

        self._session.post(publish_if_current)
