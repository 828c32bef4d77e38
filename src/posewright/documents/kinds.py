"""The kinds of native documents, recognized by their keys."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass


@dataclass(frozen=True)
class DocumentKind:
    """A kind of native document.

    Attributes:
        name: its name in programs.
        key: the key at the root by which it is recognized.
        title: its name in messages, with an article.
        commands: what reads it: commands, verbs of commands, options of commands: `run --layout`,
            or options of all commands that have them: `--robot`.
        usage: what to do with it, for messages.
    """

    name: str
    key: str
    title: str
    commands: tuple[str, ...]
    usage: str


DOCUMENT_KINDS = (
    DocumentKind("trial", "trial", "a Posewright trial", ("run",), "`posewright run FILE` runs it"),
    DocumentKind("tune", "tune", "a Posewright tuning", ("tune",), "`posewright tune FILE` runs it"),
    DocumentKind(
        "behaviour",
        "behaviour",
        "a Posewright behaviour",
        ("run --behaviour", "board"),
        "`posewright run obstacle-race --behaviour FILE` runs it",
    ),
    DocumentKind(
        "chart", "chart", "a Posewright chart", ("chart", "board"), "`posewright chart check FILE` checks it"
    ),
    DocumentKind("motion", "motion", "a Posewright motion", (), "`posewright motion info FILE` shows it"),
    DocumentKind(
        "gait",
        "gait",
        "a Posewright gait",
        ("gait", "run --behaviour", "tune --gait", "studio"),
        "`posewright gait show FILE` shows it",
    ),
    DocumentKind(
        "bodies",
        "bodies",
        "a Posewright table of domain parameters",
        ("gait", "run --body", "tune --body"),
        "`posewright gait run trot --body FILE` walks with such bodies",
    ),
    DocumentKind(
        "arena",
        "arena",
        "a Posewright arena",
        ("arena show", "arena plot", "arena edit", "arena export", "run --arena", "studio"),
        "`posewright arena show FILE` shows it",
    ),
    DocumentKind(
        "calibration",
        "calibration",
        "a calibration of servos",
        ("bus", "motion play"),
        "`posewright bus teach --calibration FILE` applies it",
    ),
    DocumentKind(
        "layout",
        "boxes",
        "a Posewright layout",
        ("arena show", "arena plot", "arena edit", "run --layout", "studio"),
        "`posewright arena show FILE` shows it",
    ),
    DocumentKind(
        "robot",
        "servos",
        "a Posewright robot card",
        ("robots show", "robots export", "inspect", "--robot"),
        "`posewright robots show FILE` shows it",
    ),
)
"""In the order in which they are tested: a trial also has the keys of a behaviour and of an arena.

A robot card is recognized by its servos: other kinds name their robot under `robot`, a motion has joints."""

_KINDS_BY_KEY = {kind.key: kind for kind in DOCUMENT_KINDS}


def find_document_kind(keys: Collection[str]) -> DocumentKind | None:
    """Return the kind of a document with the given keys at its root; None for an unknown one."""
    return next((kind for kind in DOCUMENT_KINDS if kind.key in keys), None)


def document_kind_with(key: str) -> DocumentKind | None:
    """Return the kind of document that is recognized by a key; None if there is none."""
    return _KINDS_BY_KEY.get(key)
