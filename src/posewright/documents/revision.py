"""Revision: a document with comments is changed in place, by ruamel.yaml, until it says something new."""

from __future__ import annotations

import difflib
import io
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from ruamel.yaml import YAML
from ruamel.yaml.comments import CommentedMap, CommentedSeq
from ruamel.yaml.error import YAMLError
from ruamel.yaml.nodes import ScalarNode
from ruamel.yaml.representer import RoundTripRepresenter

from posewright.documents.emitting import OneLine, emitted
from posewright.documents.reading import parse_document


def revised(text: str, data: Mapping[str, object], path: Path | None) -> str:
    """Return the document `text` made to say `data`; see `revise_document`."""
    before = parse_document(text, path).value
    if says(before, data):
        return text
    try:
        tree = yaml_1_2().load(text)
    except (YAMLError, ValueError):  # what only libyaml can read
        return emitted(data)
    dumped = _dump(tree)
    merge(tree, data)
    after = _dump(tree)
    for candidate in (_in_the_lines_of(text, dumped, after), after):
        if says(parse_document(candidate, path).value, data):
            return candidate
    return emitted(data)


def _dump(tree: object) -> str:
    stream = io.StringIO()
    yaml_1_2().dump(tree, stream)
    return stream.getvalue()


def _in_the_lines_of(text: str, before: str, after: str) -> str:
    """Return `after`, but every line that stands in `before` too as it stands in `text`.

    `before` is a dump of `text`. A dump puts blanks, `~` and line ends its own way, and a person's lines
    should not change for that.
    """
    lines, dumped, wanted = text.splitlines(keepends=True), before.splitlines(), after.splitlines()
    if [_squeezed(line) for line in lines] != [_squeezed(line) for line in dumped]:
        return after
    indents = {_indent(dump): _indent(line) for dump, line in zip(dumped, lines, strict=True) if dump}
    kept: list[str] = []
    for same, i, j, k, m in difflib.SequenceMatcher(None, dumped, wanted, autojunk=False).get_opcodes():
        if same == "equal":
            kept += [line.rstrip("\r\n") for line in lines[i:j]]
        else:
            kept += [
                " " * indents.get(_indent(line), _indent(line)) + line.lstrip(" ") for line in wanted[k:m]
            ]
    end = "\r\n" if lines and lines[0].endswith("\r\n") else "\n"
    return end.join(kept) + ("" if lines and not lines[-1].endswith("\n") else end)


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip(" "))


def _squeezed(line: str) -> str:
    """Return what a line says, whatever its blanks, quotes and way of saying nothing."""
    return re.sub(r"[\s\"'~]|\bnull\b", "", line)


class _Representer(RoundTripRepresenter):
    """Writes nothing as `~`, as short as a person would."""

    def represent_none(self, data: None) -> ScalarNode:
        del data
        return self.represent_scalar("tag:yaml.org,2002:null", "~")


_Representer.add_representer(type(None), _Representer.represent_none)


def yaml_1_2() -> YAML:
    """Return a reader and writer that keeps comments, quotes and order."""
    yaml = YAML(typ="rt")
    yaml.Representer = _Representer
    yaml.composer.warn_double_anchors = False  # it would be printed, once for each of them
    yaml.preserve_quotes = True
    yaml.width = 4096
    yaml.allow_duplicate_keys = False
    yaml.brace_single_entry_mapping_in_flow_sequence = True  # [{raise: lost}] stays as it is
    yaml.indent(mapping=2, sequence=4, offset=2)
    return yaml


def commented(value: object) -> object:
    """Return `value` as ruamel containers; lists of plain values are written on one line."""
    if isinstance(value, CommentedMap):  # laid out already
        return value
    if isinstance(value, Mapping):
        mapping = CommentedMap()
        for key, element in value.items():
            mapping[key] = commented(element)
        if isinstance(value, OneLine):
            mapping.fa.set_flow_style()
        return mapping
    if isinstance(value, Sequence) and not isinstance(value, str):
        sequence = CommentedSeq([commented(element) for element in value])
        if not any(isinstance(element, Mapping | list | tuple) for element in value):
            sequence.fa.set_flow_style()
        return sequence
    return value


def merge(old: object, new: object) -> bool:
    """Change `old` in place until it equals `new`, both mappings or both lists; return whether it changed."""
    if isinstance(old, dict) and isinstance(new, Mapping):
        return _merge_mapping(old, new)
    if isinstance(old, list) and isinstance(new, list | tuple):
        return _merge_list(old, new)
    return False


def _merge_list(old: list[object], new: Sequence[object]) -> bool:
    changed = len(old) > len(new)
    del old[len(new) :]
    for i, element in enumerate(new):
        if i >= len(old):
            old.append(commented(element))
            changed = True
        elif _mergeable(old[i], element):
            changed |= merge(old[i], element)
        elif not _same(old[i], element):
            old[i] = commented(element)
            changed = True
    return changed


def _merge_mapping(old: dict[object, object], new: Mapping[object, object]) -> bool:
    changed = False
    for key in [key for key in old if key not in new]:
        del old[key]
        changed = True
    for key, element in new.items():
        if key in old and _mergeable(old[key], element):
            changed |= merge(old[key], element)
        elif key not in old or not _same(old[key], element):
            old[key] = commented(element)
            changed = True
    return changed


def _mergeable(old: object, new: object) -> bool:
    both_mappings = isinstance(old, dict) and isinstance(new, Mapping)
    return both_mappings or (isinstance(old, list) and isinstance(new, list | tuple))


def _same(old: object, new: object) -> bool:
    return isinstance(old, bool) == isinstance(new, bool) and bool(old == new)


def says(tree: object, data: object) -> bool:
    """Tell whether a tree means exactly the plain `data`."""
    if isinstance(data, Mapping):
        if not isinstance(tree, dict) or tree.keys() != data.keys():
            return False
        return all(says(tree[key], element) for key, element in data.items())
    if isinstance(data, list | tuple):
        if not isinstance(tree, list) or len(tree) != len(data):
            return False
        return all(says(*pair) for pair in zip(tree, data, strict=True))
    return _same(tree, data)
