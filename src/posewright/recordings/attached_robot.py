"""The card and the model of a robot that a recording carries, as files again."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from pathlib import Path

from posewright.documents import write_atomically
from posewright.errors import InputError
from posewright.recordings.header import card_document

MODEL_FOLDER = ".model/"
"""Follows the robot's name in the names of documents that are files of its model."""

BASE64 = ".base64"
"""Suffix of the names of documents with the content of binary files."""


def write_attached_robot(documents: Mapping[str, str], robot: str, card_path: Path, *, root: Path) -> None:
    """Write the card of a robot to a path, and the files of its model beside it.

    Args:
        documents: the documents of a recording, by name.
        robot: the name of the robot.
        card_path: where its card is written.
        root: the folder that all files must be in.

    Raises:
        InputError: the recording does not carry the card and the model, or a name leads out of the folder.
    """
    card_text = documents.get(card_document(robot))
    prefix = f"{robot}{MODEL_FOLDER}"
    model = {name.removeprefix(prefix): text for name, text in documents.items() if name.startswith(prefix)}
    if card_text is None or not model:
        missing = "card" if card_text is None else "model"
        raise InputError(f"the recording does not carry the {missing} of {robot!r:.60}")
    write_inside(root, card_path, card_text.encode())
    for name, text in model.items():
        file_name, content = _file_of_document(name, text)
        write_inside(root, card_path.parent / file_name, content)


def write_inside(root: Path, path: Path, content: bytes) -> None:
    """Write a file of a recording, and create its folder.

    Raises:
        InputError: the path is not in the folder `root`.
    """
    if not path.resolve().is_relative_to(root.resolve()):
        raise InputError(f"the document {path.name!r:.80} has a path outside the recording")
    path.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(path, content, durable=False)


def _file_of_document(name: str, text: str) -> tuple[str, bytes]:
    """Return the name and the content of the file that a document was made of.

    Raises:
        InputError: the text of a binary file is not base64.
    """
    if not name.endswith(BASE64):
        return name, text.encode()
    try:
        return name.removesuffix(BASE64), base64.b64decode(text, validate=True)
    except ValueError as error:
        raise InputError(f"the document {name!r:.80} is not base64: {error}") from error
