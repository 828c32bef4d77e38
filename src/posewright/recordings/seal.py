"""The seal of a recording: a checksum of each of its parts, so that a change can be named.

It is no signature: who forges a file can seal it anew, but then its digest is another one.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any

from posewright.errors import InputError
from posewright.recordings.header import RULES_SUFFIX
from posewright.recordings.plain import check, to_json

SEALED = ("header", "arena", "columns")
"""The entries of a recording's metadata that are sealed one by one."""

_ATTACHED, _HAPPENED = "attachment ", "what happened"


def seal(about: Mapping[str, str], documents: Mapping[str, str], happened: str) -> dict[str, str]:
    """Return a SHA-256, in hex, of each part, by what the part is called.

    The digest enters each of them: parts of two recordings do not fit together.

    Args:
        about: the metadata, its `digest` with it.
        documents: the attached texts by name.
        happened: `Recording.happened`.
    """
    parts = {name: about[name] for name in SEALED}
    parts |= {_ATTACHED + name: text for name, text in documents.items()}
    parts[_HAPPENED] = happened
    told = {name: to_json([about.get("digest"), name, text]).encode() for name, text in parts.items()}
    return {name: hashlib.sha256(raw).hexdigest() for name, raw in told.items()}


def check_texts(told: Any, right: Mapping[str, str], *, trust_attached_rules: bool) -> bool:
    """Check the seals of all texts; return whether those of attached rules fit too.

    Raises:
        InputError: a text was changed, added or taken out; of rules too, unless these are trusted.
    """
    check("its seal", told, {str: str})
    broken = [name for name in {**right, **told} if name != _HAPPENED and told.get(name) != right.get(name)]
    if set(SEALED) <= set(broken):
        raise _changed("another digest")
    for name in broken:
        how = "added" if name not in told else "taken out" if name not in right else "changed"
        attached = name.removeprefix(_ATTACHED)
        if not name.startswith(_ATTACHED):
            raise _changed(f"the {name} {how}")
        if not attached.endswith(RULES_SUFFIX):
            raise _changed(f"the attachment {attached!r:.80} {how}")
        if not trust_attached_rules:
            advice = "; --trust-attached-rules judges by the rules it has now"
            raise _changed(f"the rules {attached!r:.80} {how}", advice)
    return not broken


def check_happened(told: Mapping[str, str], right: Mapping[str, str], digests: set[str | None]) -> None:
    """Check the seal of everything that is no text, and that the digests, written and worked out, are one."""
    if told.get(_HAPPENED) != right[_HAPPENED]:
        raise _changed("other rows, decisions, contacts or events")
    if len(digests) > 1:
        raise _changed("another digest")


def _changed(what: str, advice: str = "") -> InputError:
    message = f"the recording was changed after it was made: {what}"
    return InputError(message, hint=f"its seal no longer fits{advice}")
