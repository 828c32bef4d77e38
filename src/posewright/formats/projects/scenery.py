"""The pieces of an arena in a project of OpenHRP3 or Choreonoid: the shapes of bodies that are no robots."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path, PurePosixPath

import numpy as np

from posewright.arenas import Piece
from posewright.documents import is_file, read_bounded
from posewright.errors import FormatError, InputError
from posewright.formats.projects.project import Project, ProjectBody
from posewright.formats.scenes.mesh import MAX_SCENE_BYTES, Up
from posewright.formats.scenes.reading import pieces_of
from posewright.formats.scenes.vrml import ModelOfProject, parse_model

_PROJECT_FOLDER = re.compile(r"\$[({](?:PROJECT_DIR|CURRENT_DIR|PROJECT_FILE_DIR|PROGRAM_TOP_PROJECT)[)}]/?")
"""A variable that stands for the folder of the project."""

_VARIABLE = re.compile(r"\$[({]\w+[)}]")
_MAX_LEVELS_ABOVE = 3
"""Models lie at most so many folders above that of the project, or below such a folder."""

_MIN_COUNTED_BYTES = 20_000
"""Smaller models count as this large, which limits their number to about a thousand."""

_VRML_SUFFIXES = (".wrl", ".vrml")
_FLOOR_NAMES = re.compile(r"floor|ground", re.IGNORECASE)
_MIN_ROBOT_JOINTS = {True: 1, None: 2, False: math.inf}
"""With how many moving joints a body is a robot, by whether the project calls it one."""


def pieces_of_project(project: Project) -> tuple[tuple[Piece, ...], tuple[str, ...]]:
    """Return the pieces of the bodies that are not robots, z up [m], and descriptions of what was left out.

    Raises:
        FormatError: the models are too large.
        InputError: no body with a shape is left.
    """
    pieces: list[Piece] = []
    notes: list[str] = []
    n_bytes = 0
    for body in project.bodies:
        if body.is_controlled:
            _omit(body, project, kind="robot", reason="an arena has no robots")
            continue
        path = _find_model(body.model, project.path)
        if path is None:
            kind = "robot" if body.is_called_robot else "model"
            _omit(body, project, kind=kind, reason=f"there is no file {body.model!r:.200}")
            continue
        if path.suffix.lower() not in _VRML_SUFFIXES:
            _omit(body, project, kind="model", reason=f"{body.model!r:.200} is not VRML; export it as .wrl")
            continue
        n_bytes += max(path.stat().st_size, _MIN_COUNTED_BYTES)
        if n_bytes > MAX_SCENE_BYTES:
            hint = f"at most {MAX_SCENE_BYTES:,} bytes together are read"
            raise FormatError("too many or too large models", where=body.where, hint=hint)
        try:
            text = read_bounded(path, MAX_SCENE_BYTES).decode(errors="replace")
            model = parse_model(text, path, body.name, body.poses)
        except FormatError as error:
            _omit(body, project, kind="model", reason=str(error))
            continue
        if model.n_moving_joints >= _MIN_ROBOT_JOINTS[body.is_called_robot]:
            _omit(body, project, kind="robot", reason="an arena has no robots")
            continue
        notes += model.scene.notes
        if not model.scene.meshes:
            _omit(body, project, kind="model", reason="it has no shapes")
            continue
        pieces += _pieces_of_model(model, body.name, notes)
    all_notes = (*project.omissions.notes(), *dict.fromkeys(notes))
    if not pieces:
        hint = "; ".join(all_notes)[:500] or "add a model with shapes"
        raise InputError("the project has no bodies with shapes besides robots", hint=hint)
    if project.frictions:
        frictions = ", ".join(f"{friction:g}" for friction in sorted(project.frictions)[:5])
        all_notes = (*all_notes, f"the file has a friction of {frictions}; write it into the document")
    return tuple(pieces), all_notes


def _omit(body: ProjectBody, project: Project, *, kind: str, reason: str) -> None:
    project.omissions.add(f"the {kind} {body.name:.80} is left out: {reason}", body.where)


def _pieces_of_model(model: ModelOfProject, body_name: str, notes: list[str]) -> Iterator[Piece]:
    """Yield the pieces of a body that is scenery.

    The name of a floor stands for its widest piece; models of floors also have obstacles in them.

    Args:
        model: the body.
        body_name: its name.
        notes: a list to which descriptions of what was left out are added.
    """
    model_pieces, piece_notes = pieces_of(replace(model.scene, notes=()), ".wrl", up=Up.Z)
    notes += piece_notes
    mass_kg = sum(model.segment_masses) or None
    widest_piece = max(model_pieces, key=lambda piece: float(np.ptp(piece.points[:, :2], axis=0).prod()))
    for piece in model_pieces:
        has_name_of_body = piece is widest_piece or not _FLOOR_NAMES.search(body_name)
        if piece.name == body_name and not has_name_of_body:
            named_piece = replace(piece, name="", group_names=())
        else:
            named_piece = piece
        has_mass_of_all = model.can_be_pushed and len(model_pieces) == 1
        yield replace(named_piece, can_move=model.can_be_pushed, mass_kg=mass_kg if has_mass_of_all else None)


def _find_model(name: str, project_path: Path) -> Path | None:
    """Return the path of a model as a project names it; None if it is missing.

    A path in the folder of an installation is looked for below the project's folder and those above it, by
    as much of its end as is there: `sample/model/floor.wrl` of `$(OPENHRPHOME)/sample/model/floor.wrl`.

    Args:
        name: a path or a URL, which may begin with a variable.
        project_path: the file of the project.
    """
    folder = project_path.resolve().parent
    folders = [folder, *folder.parents[:_MAX_LEVELS_ABOVE]]
    plain_name = name.replace("\\", "/").removeprefix("file:")
    if "\0" in plain_name or not plain_name:
        return None
    in_project, n_variables = _PROJECT_FOLDER.subn("", plain_name, count=1)
    path = (folder / in_project).resolve()
    if path.is_relative_to(folders[-1]) and is_file(path):
        return path
    if n_variables or not (plain_name.startswith("/") or _VARIABLE.match(plain_name)):
        return None
    parts = [
        part for part in PurePosixPath(_VARIABLE.sub("", plain_name)).parts if part not in ("/", "//", "..")
    ]
    for number in range(len(parts)):
        for candidate_folder in folders:
            candidate = candidate_folder.joinpath(*parts[number:]).resolve()
            if candidate.is_relative_to(folders[-1]) and is_file(candidate):
                return candidate
    return None
