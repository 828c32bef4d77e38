"""What other tools keep in an SCXML document, such as the places of states in an editor's drawing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class ForeignMarkup:
    """The elements and attributes of other namespaces that an SCXML element holds, to be written back.

    Attributes:
        elements: the elements, each as its text in the document.
        attributes: values by name with its prefix, such as `viz:x`.
    """

    elements: tuple[str, ...] = ()
    attributes: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class DocumentMarkup:
    """What an SCXML document holds of other namespaces as a whole.

    Attributes:
        of_root: what is directly inside its root.
        namespaces: the URI of each prefix that its foreign markup uses.
        n_kept: the number of elements and attributes that are written back.
        losses: descriptions of the others, whose place has no counterpart in a chart, with their lines.
    """

    of_root: ForeignMarkup
    namespaces: Mapping[str, str]
    n_kept: int
    losses: tuple[str, ...] = ()
