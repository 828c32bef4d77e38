"""The names of the two vocabularies: the W3C's, and what we add for all that SCXML has no word for."""

from __future__ import annotations

SCXML = "http://www.w3.org/2005/07/scxml"
OWN = "urn:posewright:chart"

PREFIX = "pw"
"""What our vocabulary is called in the documents that we write."""


def own(name: str) -> str:
    """Return the key of one of our attributes, as `Element.attributes` has it.

    None is called like an attribute that SCXML gives the same element: there are readers that take off
    prefixes before they look.
    """
    return f"{PREFIX}:{name}"
