"""Reading a posture (`#POS`).

Source: formats.md 1.5, and Tekkotsu's PostureEngine.cc for what that leaves open.
"""

from __future__ import annotations

import re
from pathlib import Path

from posewright.errors import FormatError, Where
from posewright.formats.file_bytes import BOM
from posewright.formats.tekkotsu.document import (
    OUTPUTS,
    Setting,
    SettingsDocument,
    Word,
    decimal,
    lines_of,
    plain,
    words_of,
)
from posewright.formats.text_lines import Line, Remarks, show

POSTURE_MARK = b"#POS"
_END = b"#END"
_MOST_WORDS = 256
_OUTPUTS = b"outputs"
_SECTIONS = (b"meta-info", _OUTPUTS, b"buttons", b"sensors", b"pidduties")
_TAG = re.compile(rb"<(/?)([\w-]{1,32})>")
_MODEL = re.compile(r"(?:[\w -]|\[[\w -]{1,32}\]|\.(?![*+?]))+(?:\.\*)?|\.\*")


def read_posture(data: bytes, path: Path | None = None) -> SettingsDocument:
    """Read the bytes of a posture; everything in it is set at time 0.

    Raises:
        FormatError: it is no posture, a number is none, or a line is of no known kind; with the line, what
            stands there and what would be right.
    """
    if not data.removeprefix(BOM).startswith(POSTURE_MARK):
        raise FormatError("no posture", where=Where(path, 1), hint=f"it begins {POSTURE_MARK.decode()}")
    return _Reader().read(data, path)


class _Reader:
    """Goes through the lines, in one section after another."""

    def __init__(self) -> None:
        self._settings: list[Setting] = []
        self._remarks = Remarks()
        self._section = _OUTPUTS
        self._model = ""
        self._condensed = ""

    def read(self, data: bytes, path: Path | None) -> SettingsDocument:
        for begin, line in lines_of(data, path):
            said, hash_sign, comment = line.raw.partition(b"#")
            words = words_of(begin, Line(said, line.number, path), b"=", most=_MOST_WORDS)
            if words and line.number > 1:
                self._take(words, line)
            if (hash_sign + comment).rstrip() == _END:
                break
        else:
            self._remarks.add(f"no {_END.decode()} at the end")
        return SettingsDocument(data, tuple(self._settings), remarks=self._remarks.all)

    def _take(self, words: list[Word], line: Line) -> None:
        first = words[0].text
        if first == b"specialize":
            self._model = _model_pattern(words[1].text, line) if len(words) > 1 else ""
        elif first == b"condensed":
            self._condensed = _model(words, line)
        elif first == b"verbose":
            pass
        elif first.startswith(b"<") and first.endswith(b">"):
            self._enter(first, line)
        elif first == b"weights":
            self._weigh(words[1:], line)
        elif first == _OUTPUTS:
            self._set_all(words[1:], line)
        elif first not in _SECTIONS and self._section == _OUTPUTS:
            self._set(words, line)

    def _enter(self, tags: bytes, line: Line) -> None:
        """Take section tags; Tekkotsu itself writes two in a row, and then cannot read them."""
        found = _TAG.findall(tags)
        if b"".join(b"<%s%s>" % tag for tag in found) != tags or any(
            name not in _SECTIONS for _, name in found
        ):
            known = ", ".join(name.decode() for name in _SECTIONS)
            line.fail("a section of no known name", hint=f"there is {known}")
        for slash, name in found:
            if (slash and self._section != name) or (not slash and self._section != _OUTPUTS):
                self._remarks.add("sections do not open and close in turn", line)
            self._section = _OUTPUTS if slash else name

    def _set(self, words: list[Word], line: Line) -> None:
        name = plain(words[0].text.decode("latin-1"))
        if len(words) < 2 or not name:
            line.fail("an output without a value", hint="a line reads <output> <value> [weight]")
        shown = show(words[0].text)
        weight = decimal(words[2].text, line, f"the weight of {shown}") if len(words) > 2 else 1.0
        value = decimal(words[1].text, line, f"the value of {shown}")
        self._settings.append(Setting(0, name, value, weight, line.number, words[1], model=self._model))

    def _set_all(self, values: list[Word], line: Line) -> None:
        names = self._names(values, line)
        self._settings += [
            Setting(0, name, decimal(word.text, line, name), 1.0, line.number, word, model=self._model)
            for name, word in zip(names, values, strict=True)
        ]

    def _weigh(self, weights: list[Word], line: Line) -> None:
        """Give the outputs of a condensed posture other weights than 1."""
        latest = {setting.name: setting for setting in self._settings}
        for name, word in zip(self._names(weights, line), weights, strict=True):
            setting = latest.get(name, Setting(0, name, 0.0, line=line.number))
            weight = decimal(word.text, line, f"the weight of {name}")
            self._settings.append(setting._replace(weight=weight, model=self._model))

    def _names(self, values: list[Word], line: Line) -> tuple[str, ...]:
        """Return the outputs that a line of one value each stands for."""
        counts = {model: len(names) for model, names in OUTPUTS.items()}
        model = self._condensed or next((m for m, count in counts.items() if count == len(values)), "")
        if counts.get(model) != len(values):
            wanted = ", ".join(f"{count} of the {name}" for name, count in counts.items())
            line.fail(f"{len(values)} values", hint=f"one for each output: {wanted}")
        return OUTPUTS[model]


def _model(words: list[Word], line: Line) -> str:
    name = words[1].text.decode("latin-1") if len(words) > 1 else ""
    if name not in OUTPUTS:
        line.fail(f"condensed for {name!r}", hint=f"known models are {', '.join(OUTPUTS)}")
    return name


def _model_pattern(word: bytes, line: Line) -> str:
    """Return a pattern of model names: names, dots and sets joined by |, with .* at an end.

    A free regular expression could be written so that it never ends.
    """
    text = word.decode("latin-1")
    is_plain = len(text) <= 64 and all(_MODEL.fullmatch(part) for part in text.split("|"))
    try:
        re.compile(text if is_plain else "[")
    except re.error:
        line.fail(
            "a pattern of models that is too odd", hint="like ERS-7, ERS-2.0, ERS-2.* or ERS-210|ERS-220"
        )
    return text
