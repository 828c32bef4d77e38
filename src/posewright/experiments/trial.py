"""A trial as it is asked for: robot, behaviour, arena with its layout, contest and seed."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from posewright.documents import Node, read_document
from posewright.errors import UnknownNameError
from posewright.robots import is_path
from posewright.search.plan import MAX_SEED

_FOLDER = Path(__file__).parent / "catalogue"
_SUFFIX = ".trial.yaml"


@dataclass(frozen=True, slots=True)
class Trial:
    """What is to be tried.

    Attributes:
        name: what the trial is called.
        robot: name of a robot, or path of its card.
        arena: name of an arena.
        layout: name of a layout, path of one, or `random`.
        behaviour: name of a behaviour, or path of one.
        contest: name of the rules, or path of a document of them.
        seed: of everything drawn by chance.
    """

    name: str
    robot: str
    arena: str
    layout: str
    behaviour: str
    contest: str
    seed: int = 0


def trial_names() -> tuple[str, ...]:
    """Return the names of the trials that ship."""
    return tuple(sorted(path.name.removesuffix(_SUFFIX) for path in _FOLDER.glob("*" + _SUFFIX)))


def read_trial(name_or_path: str | Path) -> Trial:
    """Read a trial by the name it ships under, or from a document.

    Raises:
        UnknownNameError: neither a trial that ships nor a file.
        DocumentError: it is not a trial document.
    """
    name = str(name_or_path)
    if name in trial_names():
        return _parse(read_document(_FOLDER / (name + _SUFFIX)), beside=None)
    path = Path(name)
    if not path.is_file() and not name.endswith((".yaml", ".yml")):
        raise UnknownNameError.among("trial", name, trial_names())
    return _parse(read_document(path), beside=path.parent)


def _parse(root: Node, *, beside: Path | None) -> Trial:
    parts = root.fields(required=("trial", "robot", "arena", "behaviour", "contest"), optional=("seed",))
    arena = parts["arena"].fields(required=("kind",), optional=("layout",))
    return Trial(
        name=parts["trial"].text(),
        robot=_card(parts["robot"].text(), beside),
        arena=arena["kind"].text(),
        layout=_resolved(arena["layout"].text(), beside) if "layout" in arena else "random",
        behaviour=_resolved(parts["behaviour"].text(), beside),
        contest=_resolved(parts["contest"].text(), beside),
        seed=parts["seed"].integer(low=0, high=MAX_SEED) if "seed" in parts else 0,
    )


def _card(name: str, beside: Path | None) -> str:
    """Return a card's path relative to the document as one relative to here; a name stays as it is."""
    return name if beside is None or not is_path(name) else f"{beside}/{name}"


def _resolved(name: str, beside: Path | None) -> str:
    """Return a path relative to the document as one relative to here; names stay as they are."""
    if beside is not None and (beside / name).is_file():
        return f"{beside}/{name}"  # never without a slash, which tells it from a name
    return name
