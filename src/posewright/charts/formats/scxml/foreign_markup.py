"""Elements and attributes of other tools, attached to the states and transitions they stand in."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from posewright.charts.formats.scxml.vocabulary import EXTENSION_PREFIX
from posewright.charts.model import Chart, DocumentMarkup, ForeignMarkup, State
from posewright.documents.markup import Element


def attach_foreign_markup(
    chart: Chart,
    root: Element,
    element_of_state: Mapping[str, Element],
    transition_elements: Mapping[str, list[Element]],
) -> Chart:
    """Return a chart that carries the foreign markup of its document.

    The markup of the root, of states, and of their transitions is kept. All other is listed as lost.

    Args:
        chart: the chart of the document.
        root: the <scxml> element.
        element_of_state: the element of each state of the document, by its name in the chart.
        transition_elements: the elements of the transitions of each of these states, in order.
    """
    hosts = [root, *element_of_state.values()]
    for elements in transition_elements.values():
        hosts += elements
    host_ids = {id(host) for host in hosts}
    namespaces: dict[str, str] = {}
    losses = []
    markup_by_host: dict[int, ForeignMarkup] = {}
    n_kept = 0
    for host in _walk_known_elements(root):
        foreign_elements = [child for child in host.children if child.name.startswith("{")]
        if not foreign_elements and not host.foreign_attributes:
            continue
        kept_elements = []
        for element in foreign_elements:
            if id(host) in host_ids and _declare(element.namespaces, namespaces):
                kept_elements.append(element.source)
            else:
                losses.append(f"{_describe(element)} in <{host.name}>, line {element.line}")
        attributes = dict(host.foreign_attributes)
        if attributes and not (id(host) in host_ids and _declare(host.namespaces, namespaces)):
            losses += [f"{name} of <{host.name}>, line {host.line}" for name in attributes]
            attributes.clear()
        n_kept += len(kept_elements) + len(attributes)
        markup_by_host[id(host)] = ForeignMarkup(tuple(kept_elements), attributes)
    if not markup_by_host:
        return chart

    def attach_to_state(state: State) -> State:
        """Return a state with the markup of its element, its transitions and the states inside."""
        transitions = state.transitions
        elements = transition_elements.get(state.name, [])
        if elements:
            transitions = tuple(
                replace(transition, foreign_markup=markup_by_host.get(id(element)))
                for transition, element in zip(transitions, elements, strict=True)
            )
        return replace(
            state,
            transitions=transitions,
            states=tuple(map(attach_to_state, state.states)),
            foreign_markup=markup_by_host.get(id(element_of_state.get(state.name))),
        )

    of_root = markup_by_host.get(id(root), ForeignMarkup())
    return replace(
        chart,
        states=tuple(map(attach_to_state, chart.states)),
        document_markup=DocumentMarkup(of_root, namespaces, n_kept, tuple(losses)),
    )


def _walk_known_elements(root: Element) -> Iterator[Element]:
    """Yield the elements of the document that are not foreign nor inside a foreign one, in order."""
    pending = [root]
    while pending:
        element = pending.pop()
        yield element
        pending += [child for child in reversed(element.children) if not child.name.startswith("{")]


def _declare(required_namespaces: Mapping[str, str], namespaces: dict[str, str]) -> bool:
    """Add the declarations that a part requires to those of the written root, and return whether they fit.

    The root of a written document declares each prefix once; the default prefix and our own are SCXML's and
    ours.
    """
    for prefix, uri in required_namespaces.items():
        if prefix in ("", EXTENSION_PREFIX) or namespaces.get(prefix, uri) != uri:
            return False
    namespaces.update(required_namespaces)
    return True


def _describe(element: Element) -> str:
    """Return the start of an element's tag as it is written."""
    return f"{element.source.split(maxsplit=1)[0].rstrip('/>')}>"
