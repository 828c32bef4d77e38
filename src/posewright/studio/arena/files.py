"""Opens and saves the fields and layouts of the arena editor, and reads and writes its drafts."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from posewright.arenas import (
    Arena,
    format_arena,
    layout_names,
    parse_arena,
    read_arena,
    read_layout,
    write_arena,
    write_layout,
)
from posewright.arenas import arena as shipped_arena
from posewright.arenas import layout as shipped_layout
from posewright.contests import all_arena_names, find_arena
from posewright.documents import build_ending_error, decode_document, is_file, path_exists, read_bounded
from posewright.errors import InputError, PosewrightError
from posewright.motions import file_stem
from posewright.studio.arena.new_field import new_field
from posewright.studio.files.drafts import abandoned_drafts
from posewright.studio.files.load import SaveTarget, file_digest
from posewright.studio.requests import View

ARENA_SUFFIX = ".arena.yaml"
LAYOUT_SUFFIX = ".layout.yaml"
DRAFT_SUFFIX = ".arena-draft"
DRAFT_HEADER = "# unsaved edits of "
"""Begin of a draft's first line, which the name of the edited file follows."""

MAX_DRAFT_BYTES = 16_000_000


@dataclass(frozen=True)
class OpenedArena:
    """An opened field.

    Attributes:
        arena: the field.
        target: the file to save it to.
    """

    arena: Arena
    target: SaveTarget


def is_arena_file(path: Path) -> bool:
    """Return whether a path has the name of an arena or a layout."""
    return path.name.endswith((ARENA_SUFFIX, LAYOUT_SUFFIX))


def create_arena(folder: Path, name: str = "field") -> OpenedArena:
    """Return a new field, to be saved to the first free name in a folder."""
    path = _free_path(folder, file_stem(name), ARENA_SUFFIX)
    return OpenedArena(new_field(path.name.removesuffix(ARENA_SUFFIX)), SaveTarget(path, digest=None))


def _free_path(folder: Path, stem: str, suffix: str) -> Path:
    """Return the first path in a folder that is free: `field.arena.yaml`, `field_2.arena.yaml`, ..."""
    path = folder / f"{stem}{suffix}"
    number = 2
    while path_exists(path):
        path = folder / f"{stem}_{number}{suffix}"
        number += 1
    return path


def open_arena(path: Path) -> OpenedArena:
    """Open an arena document, or a layout on the CEABOT obstacle field.

    A layout that breaks the rules can be opened, since the editor shows what is wrong.

    Raises:
        DocumentError: the file is not a document of an arena or a layout.
        InputError: its content is not valid.
    """
    target = SaveTarget(path.resolve(), file_digest(path))
    if path.name.endswith(LAYOUT_SUFFIX):
        field = shipped_arena()
        return OpenedArena(field.with_boxes(read_layout(path, field, legal=False)), target)
    return OpenedArena(read_arena(path), target)


def open_shipped(name: str, folder: Path) -> OpenedArena:
    """Open an arena or a layout that ships with Posewright, to be saved to a new file in a folder.

    A name that both have is that of the arena.

    The arena is named after that file, since a shipped name belongs to the shipped field.

    Raises:
        UnknownNameError: there is none of this name.
    """
    if name in layout_names() and name not in all_arena_names():
        path = _free_path(folder, f"my_{name}", LAYOUT_SUFFIX)
        return OpenedArena(shipped_arena().with_boxes(shipped_layout(name)), SaveTarget(path, digest=None))
    path = _free_path(folder, f"my_{name}", ARENA_SUFFIX)
    renamed = replace(find_arena(name), name=path.name.removesuffix(ARENA_SUFFIX))
    return OpenedArena(renamed, SaveTarget(path, digest=None))


def save_arena(arena: Arena, target: SaveTarget, *, overwrite: bool) -> tuple[SaveTarget | None, View]:
    """Write a field as an arena, or its boxes as a layout, by the suffix of the file.

    Nothing is written if the file has changed on disk, or exists and is not the one that was opened; the
    answer then describes the `conflict`.

    Args:
        arena: the field.
        target: the file to write, with its digest as read or written last.
        overwrite: whether a file with other content may be replaced.

    Returns:
        The target with its new digest, None if nothing is written; and the answer to the window.

    Raises:
        InputError: the field cannot be read back from a document.
        OutputError: the file cannot be written.
    """
    path = target.path
    if not overwrite and path_exists(path) and file_digest(path) != target.digest:
        reason = "exists already" if target.digest is None else "was changed by somebody else"
        return None, {"conflict": f"{path.name} {reason}"}
    if path.name.endswith(LAYOUT_SUFFIX):
        write_layout(path, arena.boxes)
    elif path.name.endswith(ARENA_SUFFIX):
        write_arena(path, arena)
    else:
        raise build_ending_error(Path(path.name), (ARENA_SUFFIX, LAYOUT_SUFFIX), "an arena or its layout")
    return SaveTarget(path, file_digest(path)), {"saved": path.name}


def render_draft(arena: Arena, file: str) -> bytes:
    """Return the content of a draft: the edited file's path in the folder, then the field as an arena."""
    return f"{DRAFT_HEADER}{file}\n{format_arena(arena)}".encode()


def read_draft(path: Path) -> OpenedArena:
    """Return the field of a draft, to be saved to the file that was edited.

    Raises:
        InputError: the draft is damaged.
    """
    text = decode_document(read_bounded(path, MAX_DRAFT_BYTES), path)
    first_line = text.partition("\n")[0]
    file = first_line.removeprefix(DRAFT_HEADER)
    if file == first_line or not file or Path(file).is_absolute() or ".." in Path(file).parts:
        raise InputError(f"the draft {path.name} is damaged", hint="its first line names the edited file")
    edited = path.parent / file
    digest = file_digest(edited) if is_file(edited) else None
    return OpenedArena(parse_arena(text), SaveTarget(edited, digest))


def _edited_file(draft: Path) -> str:
    """Return the path of the file that a draft edits, relative to the draft's folder."""
    return read_draft(draft).target.path.relative_to(draft.parent).as_posix()


def find_drafts(folder: Path) -> Iterator[View]:
    """Yield the drafts in a folder that no running studio edits, newest first, as plain data."""
    for path in abandoned_drafts(folder, DRAFT_SUFFIX):
        try:
            yield {"id": path.name, "file": _edited_file(path), "damage": ""}
        except PosewrightError as error:
            yield {"id": path.name, "file": "", "damage": str(error)}
