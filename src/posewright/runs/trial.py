"""A trial as it is asked for: robot, behaviour, contest, layout and seed, by their names."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from posewright.contests import Entry, contest, contest_names
from posewright.documents import Catalogue, Node, is_file, read_document
from posewright.robots import is_path
from posewright.search.plan import MAX_SEED

_TRIALS = Catalogue("trial", ".trial.yaml", lambda: (Path(__file__).parent / "catalogue",))
_RACE = "obstacle-race"
STILL_S = 30.0
"""A trial is ended when nothing has moved for so long, unless it says otherwise [s]."""


@dataclass(frozen=True, slots=True)
class Trial:
    """What is to be tried: robot, behaviour and layout by name or path, a contest by name.

    Attributes:
        rules: path of a document of rules, where they are not the contest's own; else empty.
        arena: name of the arena it is meant for, or path of an arena document on which the contest is to be
            held instead; empty for whichever the contest is held on.
        layout: may be `random`; empty for what the contest would choose.
        seed: of everything drawn by chance.
        opponents: who takes roles besides the first, where it is not whom the contest would take.
        still_s: the trial is ended when nothing has moved for so long; 0 for never [s].
    """

    name: str
    robot: str
    behaviour: str
    contest: str
    rules: str = ""
    arena: str = ""
    layout: str = ""
    seed: int = 0
    still_s: float = STILL_S
    opponents: Mapping[str, Entry] = field(default_factory=dict)


def trial_names() -> tuple[str, ...]:
    """Return the names of the trials that ship."""
    return _TRIALS.names()


def read_trial(name_or_path: str | Path) -> Trial:
    """Read a trial by the name it ships under, or from a document; a contest's name gives its own trial.

    Raises:
        UnknownNameError: neither a trial, nor a contest, nor a file.
        DocumentError: it is not a trial document.
        InputError: the contest's package is broken.
    """
    name = str(name_or_path)
    if name not in trial_names() and name in contest_names():
        entry = next(iter(contest(name).entries.values()))
        return Trial(name, entry.robot, entry.behaviour, name)
    path = _TRIALS.find(name_or_path, also=contest_names())
    return _parse(read_document(path), beside=None if name in trial_names() else path.parent)


def _parse(root: Node, *, beside: Path | None) -> Trial:
    required = ("trial", "robot", "behaviour", "contest")
    parts = root.fields(required=required, optional=("arena", "seed", "still_s", "opponents"))
    arena = parts["arena"].fields(required=("kind",), optional=("layout",)) if "arena" in parts else {}
    named, rules = _contest(parts["contest"], beside)
    return Trial(
        name=parts["trial"].text(),
        robot=_card(parts["robot"].text(), beside),
        behaviour=_resolved(parts["behaviour"].text(), beside),
        contest=named,
        rules=rules,
        arena=_resolved(arena["kind"].text(), beside) if arena else "",
        layout=_resolved(arena["layout"].text(), beside) if "layout" in arena else "",
        seed=parts["seed"].integer(low=0, high=MAX_SEED) if "seed" in parts else 0,
        still_s=parts["still_s"].number(low=0.0, high=3600.0) if "still_s" in parts else STILL_S,
        opponents=_opponents(parts["opponents"], beside) if "opponents" in parts else {},
    )


def _opponents(node: Node, beside: Path | None) -> dict[str, Entry]:
    found = {}
    for role, entry in node.fields().items():
        parts = entry.fields(required=("robot", "behaviour"), optional=())
        card, behaviour = parts["robot"].text(), parts["behaviour"].text()
        found[role] = Entry(_card(card, beside), _resolved(behaviour, beside))
    return found


def _contest(node: Node, beside: Path | None) -> tuple[str, str]:
    """Return a contest's name, and the path of its rules where others than its own are to count."""
    if isinstance(node.value, str):
        text = _resolved(node.text(), beside)
        return (_RACE, text) if text.endswith((".yaml", ".yml")) else (text, "")
    parts = node.fields(required=("name", "rules"), optional=())
    return parts["name"].text(), _resolved(parts["rules"].text(), beside)


def _card(name: str, beside: Path | None) -> str:
    """Return a card's path relative to the document as one relative to here; a name stays as it is."""
    return name if beside is None or not is_path(name) or Path(name).is_absolute() else f"{beside}/{name}"


def _resolved(name: str, beside: Path | None) -> str:
    """Return a path relative to the document as one relative to here; names stay as they are."""
    if beside is not None and is_file(beside / name) and not Path(name).is_absolute():
        return f"{beside}/{name}"  # never without a slash, which tells it from a name
    return name
