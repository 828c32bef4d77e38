"""Reading a posture (`#POS`), and a motion sequence (`#MSq`) with the files it loads.

Source: formats.md 1.5, and Tekkotsu's PostureEngine.cc and MotionSequenceEngine.cc for what that leaves open.
Two things are taken otherwise. Tekkotsu's own clock stands at 1 ms, not 0, before the first `advanceTime`.
And a value or time that is no number is an error here, where Tekkotsu warns and leaves it out.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from posewright.errors import FormatError, Where
from posewright.formats.file_kind import BOM, read_file_bytes
from posewright.formats.tekkotsu.document import (
    EVERY,
    OUTPUTS,
    Setting,
    SettingsDocument,
    Word,
    decimal,
    lines_of,
    plain,
    whole,
    words_of,
)
from posewright.formats.text_lines import Remarks, TextLine, quote_bytes
from posewright.units import RAD_PER_DEG

POSTURE_MARK = b"#POS"
END = b"#END"
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
    return _PostureReader().read(data, path)


class _PostureReader:
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
            words = words_of(begin, TextLine(said, line.number, path), b"=", most=_MOST_WORDS)
            if words and line.number > 1:
                self._take(words, line)
            if (hash_sign + comment).rstrip() == END:
                break
        else:
            self._remarks.add(f"no {END.decode()} at the end")
        return SettingsDocument(data, tuple(self._settings), remarks=self._remarks.all)

    def _take(self, words: list[Word], line: TextLine) -> None:
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

    def _enter(self, tags: bytes, line: TextLine) -> None:
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

    def _set(self, words: list[Word], line: TextLine) -> None:
        name = plain(words[0].text.decode("latin-1"))
        if len(words) < 2 or not name:
            line.fail("an output without a value", hint="a line reads <output> <value> [weight]")
        shown = quote_bytes(words[0].text)
        weight = decimal(words[2].text, line, f"the weight of {shown}") if len(words) > 2 else 1.0
        value = decimal(words[1].text, line, f"the value of {shown}")
        self._settings.append(Setting(0, name, value, weight, line.number, words[1], model=self._model))

    def _set_all(self, values: list[Word], line: TextLine) -> None:
        names = self._names(values, line)
        self._settings += [
            Setting(0, name, decimal(word.text, line, name), 1.0, line.number, word, model=self._model)
            for name, word in zip(names, values, strict=True)
        ]

    def _weigh(self, weights: list[Word], line: TextLine) -> None:
        """Give the outputs of a condensed posture other weights than 1."""
        latest = {setting.name: setting for setting in self._settings}
        for name, word in zip(self._names(weights, line), weights, strict=True):
            setting = latest.get(name, Setting(0, name, 0.0, line=line.number))
            weight = decimal(word.text, line, f"the weight of {name}")
            self._settings.append(setting._replace(weight=weight, model=self._model))

    def _names(self, values: list[Word], line: TextLine) -> tuple[str, ...]:
        """Return the outputs that a line of one value each stands for."""
        counts = {model: len(names) for model, names in OUTPUTS.items()}
        model = self._condensed or next((m for m, count in counts.items() if count == len(values)), "")
        if counts.get(model) != len(values):
            wanted = ", ".join(f"{count} of the {name}" for name, count in counts.items())
            line.fail(f"{len(values)} values", hint=f"one for each output: {wanted}")
        return OUTPUTS[model]


def _model(words: list[Word], line: TextLine) -> str:
    name = words[1].text.decode("latin-1") if len(words) > 1 else ""
    if name not in OUTPUTS:
        line.fail(f"condensed for {name!r}", hint=f"known models are {', '.join(OUTPUTS)}")
    return name


def _model_pattern(word: bytes, line: TextLine) -> str:
    """Return a pattern of model names: names, dots and sets joined by |, with .* at an end.

    A free regular expression could be written so that it never ends.
    """
    text = word.decode("latin-1")
    is_plain = len(text) <= 64 and all(_MODEL.fullmatch(part) for part in text.split("|"))
    try:
        re.compile(text if is_plain else "[")
    except re.error:
        what = "a pattern of models that is too odd"
        line.fail(what, hint="like ERS-7, ERS-2.0, ERS-2.* or ERS-210|ERS-220")
    return text


MAX_DEPTH = 8  # files that load files that load files
MAX_SETTINGS = 200_000
"""What all files together may set; a full line by line file of `MAX_LINES` lines sets 50,000."""


@dataclass
class Budget:
    """How many more settings may be read, over all files."""

    left: int = MAX_SETTINGS

    def spend(self, count: int, line: TextLine) -> None:
        """Count settings, or fail at the line that sets one too many."""
        self.left -= count
        if self.left < 0:
            what = f"more than {MAX_SETTINGS:,} values"
            line.fail(what, hint="no honest motion has as many, loads included")


@dataclass(frozen=True)
class Loading:
    """The files being read at the moment, each loaded by the one before it."""

    chain: tuple[Path, ...] = ()
    budget: Budget = field(default_factory=Budget)

    def open(self, word: bytes, line: TextLine) -> tuple[bytes, Path, Loading]:
        """Return the bytes and the path of a file that a line loads, and the loading to read it with."""
        path = (self.chain[-1].parent if self.chain else Path()) / os.fsdecode(word)
        if not _is_below(path, self.chain[0].parent if self.chain else Path()):
            line.fail(f"{quote_bytes(word)} lies elsewhere", hint="a file loads what lies beside it or below")
        if len(self.chain) > MAX_DEPTH:
            line.fail(f"files load files {MAX_DEPTH} deep", hint="no honest motion does")
        if path.absolute() in (known.absolute() for known in self.chain) or _same(path, self.chain):
            line.fail(f"{quote_bytes(word)} is being read already", hint="a file does not load itself")
        try:
            data = read_file_bytes(path)
        except FormatError as error:
            line.fail(
                f"{quote_bytes(word)} cannot be loaded: {error}", hint="it is looked for beside the file"
            )
        return data, path, Loading((*self.chain, path), self.budget)


def _is_below(path: Path, folder: Path) -> bool:
    """Tell whether a path leads to something in a folder: whose file it is decides what is read with it."""
    try:
        return path.resolve().is_relative_to(folder.resolve())
    except (OSError, ValueError):  # a NUL in it: reading says so
        return True


def _same(path: Path, chain: tuple[Path, ...]) -> bool:
    """Tell whether a path leads to one of the files of a chain by another name."""
    try:
        return any(path.samefile(known) for known in chain)
    except (OSError, ValueError):
        return False  # one of them is not there: reading says so


SEQUENCE_MARK = b"#MSq"
MAX_TIME_MS = 86_400_000  # a day, which is also the longest way of a motion
_JOINTS_AT_MOST = 32  # what a line that sets every output counts for


class _Statement(NamedTuple):
    line: TextLine
    name: Word
    first: Word | None
    second: Word | None


def read_sequence(data: bytes, path: Path | None = None, loading: Loading | None = None) -> SettingsDocument:
    """Read the bytes of a motion sequence, and the files it loads.

    Raises:
        FormatError: it is no sequence, a number is none, or a file it loads is missing or leads back to it;
            with the line, what stands there and what would be right.
    """
    if not data.removeprefix(BOM).startswith(SEQUENCE_MARK):
        where = Where(path, 1)
        raise FormatError("no motion sequence", where=where, hint=f"it begins {SEQUENCE_MARK.decode()}")
    return _SequenceReader(loading or Loading(() if path is None else (path,))).read(data, path)


class _SequenceReader:
    """Goes through the lines with a clock in hand, as Tekkotsu does."""

    def __init__(self, loading: Loading) -> None:
        self._loading = loading
        self._settings: list[Setting] = []
        self._loads: list[str] = []
        self._remarks = Remarks()
        self._time_ms = 0
        self._unit = 1.0
        self._commands: dict[bytes, Callable[[_Statement], None]] = {
            b"advancetime": self._advance,
            b"delay": self._advance,
            b"settime": self._set_time,
            b"load": self._load,
            b"overlay": self._load,
            b"loadexplicit": self._load_explicit,
            b"radians": self._radians,
            b"degrees": self._degrees,
        }

    def read(self, data: bytes, path: Path | None) -> SettingsDocument:
        for begin, line in lines_of(data, path):
            if line.raw.startswith(b"#"):
                if line.raw.rstrip() == END:
                    break
                continue
            if line.number > 1:  # the first line is the mark, behind a byte order mark perhaps
                self._take(begin, line)
        else:
            self._remarks.add(f"no {END.decode()} at the end")
        return SettingsDocument(data, tuple(self._settings), tuple(self._loads), self._remarks.all)

    def _take(self, begin: int, line: TextLine) -> None:
        words = words_of(begin, line, most=4)
        comment = next((i for i, word in enumerate(words) if i and word.text.startswith(b"#")), None)
        if comment is not None:
            self._remarks.add_once("Tekkotsu reads a comment behind a value as a word of the line", line)
            words = words[:comment]
        if not words:
            return
        first, second = (*words[1:3], None, None)[:2]
        statement = _Statement(line, words[0], first, second)
        self._commands.get(words[0].text.lower(), self._set)(statement)

    def _set(self, statement: _Statement) -> None:
        line, name, value, weight = statement
        shown = plain(name.text.decode("latin-1"))
        if not shown or value is None:
            what = "neither a command nor an output with its value"
            line.fail(what, hint="a line reads <output> <value> [weight], advanceTime <ms>, load <file>, ...")
        self._loading.budget.spend(1, line)
        self._settings.append(
            Setting(
                self._time_ms,
                shown,
                decimal(value.text, line, f"the value of {quote_bytes(name.text)}") * self._unit,
                1.0
                if weight is None
                else decimal(weight.text, line, f"the weight of {quote_bytes(name.text)}"),
                line.number,
                value,
                self._unit,
            )
        )

    def _advance(self, statement: _Statement) -> None:
        self._go(statement, self._time_ms + self._milliseconds(statement))

    def _set_time(self, statement: _Statement) -> None:
        self._go(statement, self._milliseconds(statement))

    def _milliseconds(self, statement: _Statement) -> int:
        word = b"" if statement.first is None else statement.first.text
        return whole(word, statement.line, "the time")

    def _go(self, statement: _Statement, time_ms: int) -> None:
        if not 0 <= time_ms <= MAX_TIME_MS:
            statement.line.fail(f"the time comes to {time_ms} ms", hint=f"a motion is in 0..{MAX_TIME_MS} ms")
        self._time_ms = time_ms

    def _radians(self, statement: _Statement) -> None:
        del statement
        self._unit = 1.0

    def _degrees(self, statement: _Statement) -> None:
        what = "`degrees` is deprecated: it multiplies every value after it, of LEDs too"
        self._remarks.add_once(what, statement.line)
        self._unit = RAD_PER_DEG

    def _load(self, statement: _Statement) -> None:
        """Take over what a posture or another sequence sets; after a sequence its end is the time."""
        document, is_posture = self._document(statement)
        keys = [setting for setting in document.settings if setting.weight > 0.0]
        self._take_over(keys, statement)
        if not is_posture:
            end_ms = max((setting.time_ms for setting in document.settings), default=0)
            self._go(statement, self._time_ms + end_ms)

    def _load_explicit(self, statement: _Statement) -> None:
        """Take over a posture with all it does not set: that is released."""
        document, is_posture = self._document(statement)
        if not is_posture:
            what = "loadExplicit of a sequence"
            statement.line.fail(what, hint=f"only a posture ({POSTURE_MARK.decode()})")
        self._take_over([Setting(0, EVERY, 0.0, 0.0), *document.settings], statement)

    def _document(self, statement: _Statement) -> tuple[SettingsDocument, bool]:
        line, _, word, _ = statement
        if word is None:
            line.fail("no file is named", hint="load <file>")
        data, path, loading = self._loading.open(word.text, line)
        self._loads.append(word.text.decode("latin-1"))
        head = data.removeprefix(BOM)
        if head.startswith(POSTURE_MARK):
            document = read_posture(data, path)
        elif head.startswith(SEQUENCE_MARK):
            document = read_sequence(data, path, loading)
        else:
            line.fail(f"{quote_bytes(word.text)} is neither a posture nor a sequence")
        self._loads += [f"{path.parent / name}" for name in document.loads]
        for remark in document.remarks:
            self._remarks.add(f"{quote_bytes(word.text)}, {remark}", line)
        return document, head.startswith(POSTURE_MARK)

    def _take_over(self, settings: list[Setting], statement: _Statement) -> None:
        count = sum(_JOINTS_AT_MOST if setting.name == EVERY else 1 for setting in settings)
        self._loading.budget.spend(count, statement.line)
        self._settings += [
            setting._replace(time_ms=self._time_ms + setting.time_ms, line=statement.line.number, word=None)
            for setting in settings
        ]
