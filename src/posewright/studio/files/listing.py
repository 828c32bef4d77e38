"""Lists the files in a folder that can be opened, with pictures of motions, and drafts."""

from __future__ import annotations

import base64
import datetime
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from posewright.errors import FormatError, InputError
from posewright.figures import draw_motion_summary
from posewright.figures.saving import screen_png
from posewright.formats import FORMATS, detect_kind, motion_file_in, read_file_bytes
from posewright.runtimes.openr.stick import StickMotion
from posewright.studio.files.drafts import read_draft
from posewright.studio.files.load import require_catalogue_robot, shipped_motions, stick_motions
from posewright.studio.requests import View
from posewright.studio.workspace import Workspace


def list_files(workspace: Workspace, stick: Path | None) -> list[View]:
    """Return what can be opened, as plain data: first the motions of a memory stick, then all files.

    Args:
        workspace: the folder with the files.
        stick: path of the memory stick; None if none is open.
    """
    motions = () if stick is None else stick_motions(stick)
    return [
        *(_stick_view(motion, workspace) for motion in motions),
        *_file_views(workspace),
    ]


def list_shipped() -> Iterator[View]:
    """Yield an entry for each shipped motion."""
    for full_name in shipped_motions():
        robot_name, _, motion_name = full_name.partition("/")
        yield {
            "file": full_name,
            "page": None,
            "title": motion_name,
            "detail": f"shipped, for {robot_name}",
            "kind": "shipped",
        }


def picture(path: Path, page: str | None) -> str:
    """Return a picture of a motion as a data URL.

    Raises:
        FormatError: the motion cannot be read.
        InputError: there is no such page, or its robot has no model.
    """
    data = read_file_bytes(path)
    require_catalogue_robot(data, path)
    png = screen_png(draw_motion_summary(motion_file_in(data, path).motion(page)))
    return f"data:image/png;base64,{base64.b64encode(png).decode()}"


@dataclass(frozen=True)
class DraftView:
    """A draft as sent to windows.

    Attributes:
        id: name of the draft's file.
        when: time at which it was written; empty for the current draft.
        file: name of the edited file; empty for a damaged draft.
        damage: description of the damage; empty if the draft can be recovered.
    """

    id: str
    when: str
    file: str
    damage: str = ""


def draft_view(path: Path) -> DraftView:
    """Return a draft as sent to windows; a damaged one is renamed, so that it is not offered again."""
    when = datetime.datetime.fromtimestamp(path.stat().st_mtime).astimezone().isoformat(timespec="seconds")
    try:
        return DraftView(path.name, when, read_draft(path).file)
    except FormatError as error:
        new_path = path.with_name(f"{path.name}.damaged")
        path.rename(new_path)
        damage = f"{error.message}; it is renamed to {new_path.name}, and the edited file is unchanged"
        return DraftView(path.name, when, file="", damage=damage)


def _file_views(workspace: Workspace) -> Iterator[View]:
    """Yield an entry for each recording, gait and motion file of the folder."""
    suffixes = tuple({suffix for motion_format in FORMATS.values() for suffix in motion_format.suffixes})
    for name in workspace.files():
        if name.lower().endswith(".mcap"):
            yield {"file": name, "page": None, "title": name, "detail": "a recording", "kind": "recording"}
        elif name.lower().endswith(".gait.yaml"):
            yield {"file": name, "page": None, "title": name, "detail": "a Posewright gait", "kind": "gait"}
        elif name.endswith((".arena.yaml", ".layout.yaml")):
            detail = "a layout of boxes" if name.endswith(".layout.yaml") else "an arena"
            yield {"file": name, "page": None, "title": name, "detail": detail, "kind": "arena"}
        elif name.lower().endswith(suffixes):
            format_title = _motion_format_title(workspace.root / name)
            if format_title:
                yield {"file": name, "page": None, "title": name, "detail": format_title, "kind": "motion"}


def _motion_format_title(path: Path) -> str:
    """Return the title of a motion file's format; an empty text for other and unreadable files."""
    try:
        kind = detect_kind(read_file_bytes(path), path)
    except InputError:
        return ""
    return kind.title if kind.is_motion else ""


def _stick_view(motion: StickMotion, workspace: Workspace) -> View:
    """Return the entry of a motion on a memory stick."""
    data = motion.data()
    length = "damaged" if data["fault"] else f"{data['duration_s']:.2f} s"
    command = f"MoNetExecute({motion.ids[0]})" if motion.ids else ""
    return {
        "file": workspace.name_of(motion.archive.path),
        "page": str(motion.index + 1),
        "title": motion.name,
        "detail": ", ".join(filter(None, (length, motion.postures, command))),
        "kind": "stick",
    }
