"""What other tools keep in an SCXML document, such as the places of states in an editor's drawing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple


@dataclass(frozen=True)
class ForeignMarkup:
    """The elements and attributes of other namespaces that an SCXML element holds, to be written back.

    Attributes:
        elements: the elements, each as its text in the document.
        attributes: values by name with its prefix, such as `viz:x`.
    """

    elements: tuple[str, ...] = ()
    attributes: Mapping[str, str] = field(default_factory=dict)


class IgnoredTransition(NamedTuple):
    """A transition that is not in the chart, as its event never occurs there: its line and its event."""

    line: int | None
    event: str

    def __str__(self) -> str:
        return f'line {self.line}: <transition event="{self.event}"> is left out: its event never occurs'


@dataclass(frozen=True)
class DocumentMarkup:
    """What an SCXML document holds besides its chart: markup of other namespaces, events of a platform.

    Attributes:
        of_root: what is directly inside its root.
        namespaces: the URI of each prefix that its foreign markup uses.
        n_kept: the number of elements and attributes that are written back.
        losses: descriptions of the others, whose place has no counterpart in a chart, with their lines.
        ignored_transitions: transitions on events such as `error.*`, which only another platform raises.
    """

    of_root: ForeignMarkup = field(default_factory=ForeignMarkup)
    namespaces: Mapping[str, str] = field(default_factory=dict)
    n_kept: int = 0
    losses: tuple[str, ...] = ()
    ignored_transitions: tuple[IgnoredTransition, ...] = ()
