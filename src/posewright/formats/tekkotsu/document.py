"""A motion sequence (`#MSq`) or posture (`#POS`) as a document: its bytes, and what they set."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from posewright.formats.tekkotsu.settings import Setting


@dataclass(frozen=True)
class SettingsDocument:
    """A sequence or a posture.

    Attributes:
        raw: the file's bytes.
        settings: all it sets, in the order of the lines; what other files set through it, too.
        loads: the files it loads, as it names them.
        remarks: what is odd about it, in words.
    """

    raw: bytes
    settings: tuple[Setting, ...]
    loads: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()

    def render(self) -> bytes:
        """Return the bytes it was read from."""
        return self.raw

    def with_words(self, words: Mapping[int, bytes]) -> bytes:
        """Return the bytes with other values in them.

        Args:
            words: what is to stand in place of a setting's word, by place in `settings`.
        """
        found = {place: self.settings[place].word for place in words}
        spans = {word.at: (word.end, words[place]) for place, word in found.items() if word is not None}
        return _spliced(self.raw, [(at, *rest) for at, rest in sorted(spans.items())])


def _spliced(raw: bytes, pieces: Sequence[tuple[int, int, bytes]]) -> bytes:
    kept, last = [], 0
    for at, end, word in pieces:
        kept += [raw[last:at], word]
        last = end
    return b"".join([*kept, raw[last:]])
