"""What recordings carry so that runs can be repeated: versions, origins of programs, models of robots."""

from __future__ import annotations

import base64
import platform
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from functools import cache
from pathlib import Path
from typing import Self

from posewright.documents.plain import PlainData, PlainMapping
from posewright.recordings.attached_robot import BASE64, MODEL_FOLDER
from posewright.recordings.exact_json import Shape, require_shape
from posewright.robots import Robot
from posewright.runs.batch import versions

VERSIONS = "versions"
"""Entry of a recording's extras: versions that the result of a simulation depends on, by name."""

PROGRAMS = "programs"
"""Entry of a recording's extras: `ProgramOrigin` of each robot's program, by the robot's name."""

BODY = "body"
"""Entry of a recording's extras: what the run was made on, such as `sim` or `dynamixel`."""

MAX_MODEL_BYTES = 4_000_000
"""Models with larger files are not carried."""

_REFERENCES = re.compile(r"""\b(?:file|fileright|fileback)\s*=\s*["']([^"']+)["']""")
_FOLDERS = re.compile(r"""\b(?:meshdir|texturedir|assetdir)\s*=\s*["']([^"']+)["']""")


_SHAPE: Shape = {"program": str, "options": {str: str}, "controller": str}


@dataclass(frozen=True)
class ProgramOrigin:
    """Where a program came from; of paths only the file's name.

    Attributes:
        program: its name in the catalogue, or of its file.
        options: the options of the program's kind.
        controller: what replaced the program's controller, such as `mine.py:Mine` or a board; else empty.
    """

    program: str
    options: Mapping[str, str] = field(default_factory=dict)
    controller: str = ""

    def to_dict(self) -> dict[str, PlainData]:
        """Return plain data for a recording."""
        return asdict(self)

    @classmethod
    def from_dict(cls, data: PlainMapping) -> Self:
        """Return the `ProgramOrigin` that `to_dict` turned into this data.

        Raises:
            InputError: the data have another shape.
        """
        require_shape("the origin of a program", data, _SHAPE)
        return cls(data["program"], data["options"], data["controller"])


def without_folder(text: str) -> str:
    """Return the last part of a path, `mine.py:Mine` of `home/mine.py:Mine`; other texts are unchanged."""
    return text.replace("\\", "/").rsplit("/", 1)[-1]


@cache
def versions_here() -> Mapping[str, str]:
    """Return the versions of packages and the kind of machine that the result of a simulation depends on."""
    return {**versions(), "machine": f"{platform.system()} {platform.machine()}"}


def model_documents(card: Robot) -> dict[str, str]:
    """Return the files of a robot's model by document name; none if they are too large or elsewhere.

    Args:
        card: the robot's card. Its model, and all files that this names, must lie in the card's folder.
    """
    if card.folder is None or card.model_path is None:
        return {}
    folder = card.folder.resolve()
    contents: dict[str, bytes] = {}
    pending = [card.model_path.resolve()]
    while pending:
        path = pending.pop()
        if not path.is_relative_to(folder) or not path.is_file():
            return {}
        name = path.relative_to(folder).as_posix()
        if name in contents:
            continue
        contents[name] = path.read_bytes()
        if sum(map(len, contents.values())) > MAX_MODEL_BYTES:
            return {}
        if path.suffix == ".xml":
            pending += _find_references(path, contents[name].decode(errors="replace"))
    return dict(_to_document(f"{card.name}{MODEL_FOLDER}{name}", raw) for name, raw in contents.items())


def _find_references(model_path: Path, text: str) -> list[Path]:
    """Return the files that a model names, each in the first folder where it exists."""
    folders = [model_path.parent, *(model_path.parent / name for name in _FOLDERS.findall(text))]
    paths = []
    for name in dict.fromkeys(_REFERENCES.findall(text)):
        candidates = [(folder / name).resolve() for folder in folders]
        paths.append(next((path for path in candidates if path.is_file()), candidates[0]))
    return paths


def _to_document(name: str, raw: bytes) -> tuple[str, str]:
    """Return the name and the text of a document with a file's content."""
    try:
        return name, raw.decode()
    except UnicodeDecodeError:
        return name + BASE64, base64.b64encode(raw).decode()
