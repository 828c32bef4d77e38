"""Reads a posture (`#POS`), and a motion sequence (`#MSq`) with the files it loads.

Source: formats.md 1.5, and for details Tekkotsu's PostureEngine.cc and MotionSequenceEngine.cc. Tekkotsu
itself differs in two points: its clock is at 1 ms, not 0, before the first `advanceTime`; and it warns about
an invalid value or time and skips it, where this reader raises an error.
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
    ALL_OUTPUTS,
    OUTPUTS,
    Setting,
    SettingsDocument,
    Word,
    lines_of,
    parse_decimal,
    parse_milliseconds,
    strip_padding,
    words_of,
)
from posewright.formats.text_lines import Remarks, TextLine, quote_bytes
from posewright.units import RAD_PER_DEG

POSTURE_MARK = b"#POS"
END = b"#END"
_MAX_POSTURE_WORDS = 256
_OUTPUTS_SECTION = b"outputs"
_SECTIONS = (b"meta-info", _OUTPUTS_SECTION, b"buttons", b"sensors", b"pidduties")
_TAG = re.compile(rb"<(/?)([\w-]{1,32})>")
_MAX_PATTERN_LENGTH = 64
_SIMPLE_MODEL_PATTERN = re.compile(r"(?:[\w -]|\[[\w -]{1,32}\]|\.(?![*+?]))+(?:\.\*)?|\.\*")


def read_posture(data: bytes, path: Path | None = None) -> SettingsDocument:
    """Read the bytes of a posture; all its settings are at time 0.

    Raises:
        FormatError: it is no posture, or a number, output or section is invalid.
    """
    if not data.removeprefix(BOM).startswith(POSTURE_MARK):
        hint = f"a posture begins with {POSTURE_MARK.decode()}"
        raise FormatError("no posture", where=Where(path, 1), hint=hint)
    return _PostureReader().read(data, path)


class _PostureReader:
    """Reads a posture line by line and keeps track of its section, model pattern and condensed model."""

    def __init__(self) -> None:
        self._settings: list[Setting] = []
        self._remarks = Remarks()
        self._section = _OUTPUTS_SECTION  # outputs need no tags around them
        self._model_pattern = ""  # of the models that the following settings are for; empty for all
        self._condensed_model = ""  # whose outputs a line without names has; empty if none is stated

    def read(self, data: bytes, path: Path | None) -> SettingsDocument:
        """Read the settings of a posture file: its lines from the second up to `#END`."""
        for start, line in lines_of(data, path):
            content, hash_sign, comment = line.raw.partition(b"#")
            words = words_of(
                start, TextLine(content, line.number, path), separators=b"=", limit=_MAX_POSTURE_WORDS
            )
            is_header = line.number == 1
            if words and not is_header:
                self._read_line(words, line)
            if (hash_sign + comment).rstrip() == END:
                break
        else:
            self._remarks.add(f"no {END.decode()} at the end")
        return SettingsDocument(data, tuple(self._settings), remarks=self._remarks.all)

    def _read_line(self, words: list[Word], line: TextLine) -> None:
        """Read a line with a statement, or with an output and its value.

        The statements are:
        `specialize PATTERN`: the settings that follow are for robot models that match the pattern;
        `condensed MODEL`: lines without names, which follow, have the outputs of this model in their order;
        `outputs VALUES...`, `weights WEIGHTS...`: such a line;
        `verbose`: has no effect;
        `<SECTION>`, `</SECTION>`: tags around lines; only those in the section of the outputs are settings.
        """
        first_word = words[0].text
        if first_word == b"specialize":
            self._model_pattern = _read_model_pattern(words[1].text, line) if len(words) > 1 else ""
        elif first_word == b"condensed":
            self._condensed_model = _read_model(words, line)
        elif first_word == b"verbose":
            pass
        elif first_word.startswith(b"<") and first_word.endswith(b">"):
            self._read_section_tags(first_word, line)
        elif first_word == b"weights":
            self._read_condensed_weights(words[1:], line)
        elif first_word == _OUTPUTS_SECTION:
            self._read_condensed_values(words[1:], line)
        elif first_word not in _SECTIONS and self._section == _OUTPUTS_SECTION:
            self._read_setting(words, line)

    def _read_section_tags(self, text: bytes, line: TextLine) -> None:
        """Read one or more section tags; Tekkotsu itself writes two in a row, and then cannot read them.

        A tag opens a section, one with a slash closes it. Outside of all sections are outputs, so `_section`
        is then the section of the outputs.
        """
        tags = _TAG.findall(text)
        has_only_tags = b"".join(b"<%s%s>" % tag for tag in tags) == text
        if not has_only_tags or any(name not in _SECTIONS for _, name in tags):
            names = ", ".join(name.decode() for name in _SECTIONS)
            line.fail("unknown section", hint=f"choose from {names}")
        for slash, name in tags:
            if slash:
                is_matching = self._section == name
                next_section = _OUTPUTS_SECTION
            else:
                is_matching = self._section == _OUTPUTS_SECTION
                next_section = name
            if not is_matching:
                self._remarks.add("sections are not opened and closed in pairs", line)
            self._section = next_section

    def _read_setting(self, words: list[Word], line: TextLine) -> None:
        """Read a line with an output, its value and perhaps a weight."""
        name = strip_padding(words[0].text.decode("latin-1"))
        if len(words) < 2 or not name:
            line.fail("an output without a value", hint="write <output> <value> [weight]")
        quoted_name = quote_bytes(words[0].text)
        weight = 1.0
        if len(words) > 2:
            weight = parse_decimal(words[2].text, line, f"the weight of {quoted_name}")
        value = parse_decimal(words[1].text, line, f"the value of {quoted_name}")
        setting = Setting(
            0, name, value, weight, line=line.number, value_word=words[1], model=self._model_pattern
        )
        self._settings.append(setting)

    def _read_condensed_values(self, values: list[Word], line: TextLine) -> None:
        """Read a line with the values of all outputs of a model, without their names."""
        for name, word in zip(self._condensed_outputs(values, line), values, strict=True):
            value = parse_decimal(word.text, line, name)
            setting = Setting(
                0, name, value, weight=1.0, line=line.number, value_word=word, model=self._model_pattern
            )
            self._settings.append(setting)

    def _read_condensed_weights(self, weights: list[Word], line: TextLine) -> None:
        """Read a line with the weights of all outputs; their values remain."""
        latest = {setting.name: setting for setting in self._settings}
        for name, word in zip(self._condensed_outputs(weights, line), weights, strict=True):
            setting = latest.get(name, Setting(0, name, value=0.0, line=line.number))
            weight = parse_decimal(word.text, line, f"the weight of {name}")
            self._settings.append(setting._replace(weight=weight, model=self._model_pattern))

    def _condensed_outputs(self, values: list[Word], line: TextLine) -> tuple[str, ...]:
        """Return the names of the outputs that the values of a condensed line, which has none, are for.

        They are all outputs of the stated model of AIBO, or of the first model with as many outputs.

        Raises:
            FormatError: the number of values is not that of the model's outputs.
        """
        model = self._condensed_model
        if not model:
            model = next((name for name in OUTPUTS if len(OUTPUTS[name]) == len(values)), "")
        if not model or len(OUTPUTS[model]) != len(values):
            counts = ", ".join(f"{len(outputs)} for the {name}" for name, outputs in OUTPUTS.items())
            line.fail(f"{len(values)} values", hint=f"write one for each output: {counts}")
        return OUTPUTS[model]


def _read_model(words: list[Word], line: TextLine) -> str:
    """Return the model that a line `condensed` names; it must be known."""
    name = words[1].text.decode("latin-1") if len(words) > 1 else ""
    if name not in OUTPUTS:
        line.fail(f"condensed for an unknown model {name!r}", hint=f"the models are {', '.join(OUTPUTS)}")
    return name


def _read_model_pattern(word: bytes, line: TextLine) -> str:
    """Return a pattern of model names: names, dots and sets separated by |, each perhaps with .* at its end.

    Other regular expressions are an error, because some take for ever to match.
    """
    pattern = word.decode("latin-1")
    is_short = len(pattern) <= _MAX_PATTERN_LENGTH
    is_simple = is_short and all(_SIMPLE_MODEL_PATTERN.fullmatch(part) for part in pattern.split("|"))
    # a pattern with simple parts alone may still be invalid, such as one with the range 9-0
    if not is_simple or not _is_valid_pattern(pattern):
        hint = "write one like ERS-7, ERS-2.0, ERS-2.* or ERS-210|ERS-220"
        line.fail("a pattern of models that is invalid or too complex", hint=hint)
    return pattern


def _is_valid_pattern(pattern: str) -> bool:
    """Return whether a regular expression can be compiled."""
    try:
        re.compile(pattern)
    except re.error:
        return False
    return True


MAX_DEPTH = 8
"""Largest number of files that load each other in a chain."""

MAX_SETTINGS = 200_000
"""Most settings of all files together; a single file of `MAX_LINES` lines has at most 50,000."""


@dataclass
class RemainingSettings:
    """The number of settings that may still be read, in all files together."""

    n_remaining: int = MAX_SETTINGS

    def subtract_settings(self, n_settings: int, line: TextLine) -> None:
        """Subtract settings; raise FormatError at the line if there are too many."""
        self.n_remaining -= n_settings
        if self.n_remaining < 0:
            line.fail(f"more than {MAX_SETTINGS:,} values", hint="loaded files count, too")


@dataclass(frozen=True)
class LoadChain:
    """The files that are being read now.

    Attributes:
        paths: each of them is loaded by the one before it.
        remaining_settings: the number of settings that all files together may still have.
    """

    paths: tuple[Path, ...]
    remaining_settings: RemainingSettings = field(default_factory=RemainingSettings)

    def open_file(self, word: bytes, line: TextLine) -> tuple[bytes, Path, LoadChain]:
        """Return the bytes and path of a file that a line loads, and the chain with this file.

        Raises:
            FormatError: the file is outside the folder of the first one, cannot be read, or loads itself.
        """
        folder = self.paths[-1].parent if self.paths else Path()
        top_folder = self.paths[0].parent if self.paths else Path()
        path = folder / os.fsdecode(word)
        if not _is_below(path, top_folder):
            hint = "a file can only load files in its own folder or below"
            line.fail(f"{quote_bytes(word)} is in another folder", hint=hint)
        if len(self.paths) > MAX_DEPTH:
            line.fail(f"files load files more than {MAX_DEPTH} deep", hint=f"at most {MAX_DEPTH} are read")
        is_loading_itself = path.absolute() in (loading.absolute() for loading in self.paths)
        if is_loading_itself or _is_same_file(path, self.paths):
            line.fail(f"{quote_bytes(word)} is being read already", hint="a file cannot load itself")
        try:
            data = read_file_bytes(path)
        except FormatError as error:
            hint = "it is looked for beside the file that loads it"
            line.fail(f"{quote_bytes(word)} cannot be loaded: {error}", hint=hint)
        return data, path, LoadChain((*self.paths, path), self.remaining_settings)


def _is_below(path: Path, folder: Path) -> bool:
    """Return whether a path leads into a folder, so that a file cannot make us read files elsewhere."""
    try:
        return path.resolve().is_relative_to(folder.resolve())
    except (OSError, ValueError):  # such as a NUL in it, which is reported when it is read
        return True


def _is_same_file(path: Path, paths: tuple[Path, ...]) -> bool:
    """Return whether a path leads to one of some files by another name."""
    try:
        return any(path.samefile(existing) for existing in paths)
    except (OSError, ValueError):
        return False  # a file is missing, which is reported when it is read


SEQUENCE_MARK = b"#MSq"
MAX_TIME_MS = 86_400_000  # a day, which is also the longest segment of a motion
_MAX_JOINTS = 32  # number of settings that a line counts for that sets all outputs


_MAX_STATEMENT_WORDS = 4  # three of a statement, and one that begins a comment


class _Statement(NamedTuple):
    """A line of a sequence: a command or output, and up to two words after it."""

    line: TextLine
    name: Word
    first_argument: Word | None
    second_argument: Word | None


def read_sequence(data: bytes, path: Path | None = None, chain: LoadChain | None = None) -> SettingsDocument:
    """Read the bytes of a motion sequence, and the files it loads.

    Raises:
        FormatError: it is no sequence, a number is invalid, or a file it loads is missing or loads it.
    """
    if not data.removeprefix(BOM).startswith(SEQUENCE_MARK):
        hint = f"a sequence begins with {SEQUENCE_MARK.decode()}"
        raise FormatError("no motion sequence", where=Where(path, 1), hint=hint)
    return _SequenceReader(chain or LoadChain(() if path is None else (path,))).read(data, path)


class _SequenceReader:
    """Reads a sequence line by line and keeps track of the time and the unit of values."""

    def __init__(self, chain: LoadChain) -> None:
        """Begin at time 0 with values in radians."""
        self._chain = chain
        self._settings: list[Setting] = []
        self._loaded_names: list[str] = []  # of files, as written, those that they load included
        self._remarks = Remarks()
        self._time_ms = 0
        self._rad_per_unit = 1.0
        self._commands: dict[bytes, Callable[[_Statement], None]] = {
            b"advancetime": self._advance_time,
            b"delay": self._advance_time,
            b"settime": self._set_time,
            b"load": self._load,
            b"overlay": self._load,
            b"loadexplicit": self._load_explicit,
            b"radians": self._use_radians,
            b"degrees": self._use_degrees,
        }

    def read(self, data: bytes, path: Path | None) -> SettingsDocument:
        """Read the settings of a motion sequence up to its end mark."""
        for start, line in lines_of(data, path):
            if line.raw.startswith(b"#"):
                if line.raw.rstrip() == END:
                    break
                continue
            if line.number > 1:  # the first line is the mark, perhaps after a byte order mark
                self._read_line(start, line)
        else:
            self._remarks.add(f"no {END.decode()} at the end")
        return SettingsDocument(
            data, settings=tuple(self._settings), loads=tuple(self._loaded_names), remarks=self._remarks.all
        )

    def _read_line(self, start: int, line: TextLine) -> None:
        """Execute the statement of a line."""
        words = words_of(start, line, limit=_MAX_STATEMENT_WORDS)
        comment_index = next((i for i, word in enumerate(words) if i and word.text.startswith(b"#")), None)
        if comment_index is not None:
            self._remarks.add_once("Tekkotsu reads a comment after a value as part of the line", line)
            words = words[:comment_index]
        if not words:
            return
        first_argument = words[1] if len(words) > 1 else None
        second_argument = words[2] if len(words) > 2 else None
        execute = self._commands.get(words[0].text.lower(), self._set_output)
        execute(_Statement(line, words[0], first_argument, second_argument))

    def _set_output(self, statement: _Statement) -> None:
        """Add a setting of an output at the present time."""
        line, name_word, value_word, weight_word = statement
        name = strip_padding(name_word.text.decode("latin-1"))
        if not name or value_word is None:
            message = "neither a command nor an output with its value"
            line.fail(message, hint="write <output> <value> [weight], advanceTime <ms>, load <file>, ...")
        self._chain.remaining_settings.subtract_settings(1, line)
        quoted_name = quote_bytes(name_word.text)
        value = parse_decimal(value_word.text, line, f"the value of {quoted_name}") * self._rad_per_unit
        weight = 1.0
        if weight_word is not None:
            weight = parse_decimal(weight_word.text, line, f"the weight of {quoted_name}")
        setting = Setting(
            self._time_ms,
            name,
            value,
            weight,
            line=line.number,
            value_word=value_word,
            unit=self._rad_per_unit,
        )
        self._settings.append(setting)

    def _advance_time(self, statement: _Statement) -> None:
        self._go_to(statement, self._time_ms + _read_time(statement))

    def _set_time(self, statement: _Statement) -> None:
        self._go_to(statement, _read_time(statement))

    def _go_to(self, statement: _Statement, time_ms: int) -> None:
        """Continue at another time; raise FormatError if it is out of bounds."""
        if not 0 <= time_ms <= MAX_TIME_MS:
            hint = f"times are from 0 to {MAX_TIME_MS} ms"
            statement.line.fail(f"the time comes to {time_ms} ms", hint=hint)
        self._time_ms = time_ms

    def _use_radians(self, statement: _Statement) -> None:
        del statement
        self._rad_per_unit = 1.0

    def _use_degrees(self, statement: _Statement) -> None:
        message = "`degrees` is deprecated: it multiplies every value after it, of LEDs too"
        self._remarks.add_once(message, statement.line)
        self._rad_per_unit = RAD_PER_DEG

    def _load(self, statement: _Statement) -> None:
        """Add the settings of a posture or another sequence, and continue at the end of the sequence."""
        document, is_posture = self._read_loaded_file(statement)
        settings = [setting for setting in document.settings if setting.weight > 0.0]
        self._add_loaded_settings(settings, statement)
        if not is_posture:
            end_ms = max((setting.time_ms for setting in document.settings), default=0)
            self._go_to(statement, self._time_ms + end_ms)

    def _load_explicit(self, statement: _Statement) -> None:
        """Add the settings of a posture, and release all outputs that it does not set."""
        document, is_posture = self._read_loaded_file(statement)
        if not is_posture:
            hint = f"only a posture ({POSTURE_MARK.decode()}) can be loaded so"
            statement.line.fail("loadExplicit of a sequence", hint=hint)
        self._add_loaded_settings(
            [Setting(0, name=ALL_OUTPUTS, value=0.0, weight=0.0), *document.settings], statement
        )

    def _read_loaded_file(self, statement: _Statement) -> tuple[SettingsDocument, bool]:
        """Return the document of the file that a statement loads, and whether it is a posture."""
        line = statement.line
        word = statement.first_argument
        if word is None:
            line.fail("no file name", hint="write load <file>")
        data, path, chain = self._chain.open_file(word.text, line)
        self._loaded_names.append(word.text.decode("latin-1"))
        content = data.removeprefix(BOM)
        is_posture = content.startswith(POSTURE_MARK)
        if is_posture:
            document = read_posture(data, path)
        elif content.startswith(SEQUENCE_MARK):
            document = read_sequence(data, path, chain)
        else:
            line.fail(f"{quote_bytes(word.text)} is neither a posture nor a sequence")
        self._loaded_names += [f"{path.parent / name}" for name in document.loads]
        for remark in document.remarks:
            self._remarks.add(f"{quote_bytes(word.text)}, {remark}", line)
        return document, is_posture

    def _add_loaded_settings(self, settings: list[Setting], statement: _Statement) -> None:
        """Add the settings of another file from the current time on."""
        line = statement.line
        count = sum(_MAX_JOINTS if setting.name == ALL_OUTPUTS else 1 for setting in settings)
        self._chain.remaining_settings.subtract_settings(count, line)
        for setting in settings:
            time_ms = self._time_ms + setting.time_ms
            self._settings.append(setting._replace(time_ms=time_ms, line=line.number, value_word=None))


def _read_time(statement: _Statement) -> int:
    """Return the first word of a statement as a time [ms]."""
    word = b"" if statement.first_argument is None else statement.first_argument.text
    return parse_milliseconds(word, statement.line)
