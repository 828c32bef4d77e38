"""Listing: what can be opened in a folder, and what it looks like."""

from __future__ import annotations

import base64
import datetime
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from posewright.errors import FormatError, InputError
from posewright.figures import draw_glance
from posewright.figures.saving import screen_png
from posewright.formats import FORMATS, detect_kind, motion_file_in, read_file_bytes
from posewright.runtimes.openr.stick import StickMotion
from posewright.studio.files.drafts import Draft, read_draft
from posewright.studio.files.reading import refuse_strangers, stick_motions
from posewright.studio.workspace import Workspace

Told = dict[str, Any]


def listed(workspace: Workspace, stick: Path | None) -> list[Told]:
    """Return what can be opened, as plain data: of a memory stick its motions first, then all files."""
    on_stick = [] if stick is None else [_stick_view(one, workspace) for one in stick_motions(stick)]
    return [*on_stick, *_files(workspace)]


def picture(path: Path, page: str | None) -> str:
    """Return a picture of a motion as an address that holds it.

    Raises:
        FormatError: the motion cannot be read.
        InputError: there is no such page, or its robot has no model.
    """
    data = read_file_bytes(path)
    refuse_strangers(data, path)
    drawn = screen_png(draw_glance(motion_file_in(data, path).motion(page)))
    return f"data:image/png;base64,{base64.b64encode(drawn).decode()}"


def draft_view(path: Path) -> Told:
    """Return what a window is told of a draft; one that is damaged is put aside, where nobody removes it."""
    when = datetime.datetime.fromtimestamp(path.stat().st_mtime).astimezone().isoformat(timespec="seconds")
    told = {"id": path.name, "when": when, "file": "", "damage": ""}
    try:
        draft: Draft = read_draft(path)
    except FormatError as error:
        aside = path.with_name(f"{path.name}.damaged")
        path.rename(aside)
        return {
            **told,
            "damage": f"{error.message}: it is kept as {aside.name}, the file itself is untouched",
        }
    return {**told, "file": draft.file}


def _files(workspace: Workspace) -> Iterator[Told]:
    suffixes = tuple({suffix for known in FORMATS.values() for suffix in known.suffixes})
    for name in workspace.files():
        if name.lower().endswith(".mcap"):
            yield {"file": name, "page": None, "title": name, "detail": "a recording", "kind": "recording"}
        elif name.lower().endswith(".gait.yaml"):
            yield {"file": name, "page": None, "title": name, "detail": "a Posewright gait", "kind": "gait"}
        elif name.lower().endswith(suffixes) and (title := _title(workspace.root / name)):
            yield {"file": name, "page": None, "title": name, "detail": title, "kind": "motion"}


def _title(path: Path) -> str:
    """Return of what kind a motion file is; nothing for a file that is none, or cannot be read."""
    try:
        kind = detect_kind(read_file_bytes(path), path)
    except InputError:
        return ""
    return kind.title if kind.is_motion else ""


def _stick_view(one: StickMotion, workspace: Workspace) -> Told:
    told = one.data()
    length = "damaged" if told["fault"] else f"{told['duration_s']:.2f} s"
    asked = f"MoNetExecute({one.ids[0]})" if one.ids else ""
    return {
        "file": workspace.name_of(one.archive.path),
        "page": str(one.place + 1),
        "title": one.name,
        "detail": ", ".join(filter(None, (length, one.postures, asked))),
        "kind": "stick",
    }
