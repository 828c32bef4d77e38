"""Revision of documents: ruamel.yaml changes values in place and leaves comments and layout."""

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

from posewright.documents.reading import parse_document
from posewright.documents.yaml_writer import FlowMapping, format_yaml
from posewright.errors import DocumentError


def revise_text(text: str, data: Mapping[str, object], path: Path | None) -> str:
    """Return the text of a document changed so that it holds `data`; comments, order and layout are kept.

    Each candidate is parsed again before it is returned: the original layout, then ruamel.yaml's; if neither
    is valid and holds the data, as with some anchors, the document is written anew.
    """
    if holds_data(parse_document(text, path).value, data):
        return text
    try:
        tree = round_trip_yaml().load(text)
    except (YAMLError, ValueError):  # YAML that only libyaml reads
        return format_yaml(data)
    dump_before = _dump(tree)
    merge(tree, data)
    dump_after = _dump(tree)
    for candidate in (_keep_unchanged_lines(text, dump_before, dump_after), dump_after):
        try:
            if holds_data(parse_document(candidate, path).value, data):
                return candidate
        except DocumentError:  # ruamel.yaml leaves some characters in a text as they are, such as U+0085
            continue
    return format_yaml(data)


def _dump(tree: object) -> str:
    stream = io.StringIO()
    round_trip_yaml().dump(tree, stream)
    return stream.getvalue()


def _keep_unchanged_lines(text: str, dump_before: str, dump_after: str) -> str:
    """Return the new dump with every unchanged line as it is in the original text.

    A dump has its own spaces, nulls and line ends; without this, lines would change that hold the same.

    Args:
        text: the original text.
        dump_before: the dump of the original tree.
        dump_after: the dump of the changed tree.
    """
    lines = text.splitlines(keepends=True)
    lines_before = dump_before.splitlines()
    lines_after = dump_after.splitlines()
    if [_normalize(line) for line in lines] != [_normalize(line) for line in lines_before]:
        return dump_after  # the lines of the dump do not correspond to those of the text
    # by the width of an indent in the dumps, its width in the original
    original_indents = {
        _indent(dumped): _indent(line) for dumped, line in zip(lines_before, lines, strict=True) if dumped
    }
    revised_lines: list[str] = []
    matcher = difflib.SequenceMatcher(None, lines_before, lines_after, autojunk=False)
    for operation, start_before, end_before, start_after, end_after in matcher.get_opcodes():
        if operation == "equal":
            revised_lines += [line.rstrip("\r\n") for line in lines[start_before:end_before]]
            continue
        for line in lines_after[start_after:end_after]:
            indent = original_indents.get(_indent(line), _indent(line))
            revised_lines.append(" " * indent + line.lstrip(" "))
    line_end = "\r\n" if lines and lines[0].endswith("\r\n") else "\n"
    has_final_line_end = not lines or lines[-1].endswith("\n")
    return line_end.join(revised_lines) + (line_end if has_final_line_end else "")


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip(" "))


def _normalize(line: str) -> str:
    """Return a line without its spaces, quotes and spelling of null."""
    return re.sub(r"[\s\"'~]|\bnull\b", "", line)


class _NullAsTilde(RoundTripRepresenter):
    """Writes None as `~`."""

    def represent_none(self, data: None) -> ScalarNode:
        del data
        return self.represent_scalar("tag:yaml.org,2002:null", "~")


_NullAsTilde.add_representer(type(None), _NullAsTilde.represent_none)


def round_trip_yaml() -> YAML:
    """Return a YAML 1.2 reader and writer that keeps comments, quotes and order."""
    yaml = YAML(typ="rt")
    yaml.Representer = _NullAsTilde
    yaml.composer.warn_double_anchors = False  # ruamel.yaml would print each of them
    yaml.preserve_quotes = True
    yaml.width = 4096  # long lines are not broken
    yaml.allow_duplicate_keys = False
    yaml.brace_single_entry_mapping_in_flow_sequence = True  # else [{raise: lost}] loses its braces
    yaml.indent(mapping=2, sequence=4, offset=2)
    return yaml


def to_ruamel(value: object) -> object:
    """Return `value` as ruamel.yaml's containers; lists of scalars are written on one line."""
    if isinstance(value, CommentedMap):  # converted already
        return value
    if isinstance(value, Mapping):
        mapping = CommentedMap()
        for key, element in value.items():
            mapping[key] = to_ruamel(element)
        if isinstance(value, FlowMapping):
            mapping.fa.set_flow_style()  # fa: ruamel.yaml's format attributes
        return mapping
    if isinstance(value, Sequence) and not isinstance(value, str):
        sequence = CommentedSeq([to_ruamel(element) for element in value])
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
    """Change a list so that it equals another; return whether anything changed."""
    has_changed = len(old) > len(new)
    del old[len(new) :]
    for i, element in enumerate(new):
        if i >= len(old):
            old.append(to_ruamel(element))
            has_changed = True
        elif _can_merge(old[i], element):
            has_changed |= merge(old[i], element)
        elif not _is_same_scalar(old[i], element):
            old[i] = to_ruamel(element)
            has_changed = True
    return has_changed


def _merge_mapping(old: dict[object, object], new: Mapping[object, object]) -> bool:
    """Change a mapping so that it equals another; return whether anything changed."""
    removed_keys = [key for key in old if key not in new]
    for key in removed_keys:
        del old[key]
    has_changed = bool(removed_keys)
    for key, element in new.items():
        if key in old and _can_merge(old[key], element):
            has_changed |= merge(old[key], element)
        elif key not in old or not _is_same_scalar(old[key], element):
            old[key] = to_ruamel(element)
            has_changed = True
    return has_changed


def _can_merge(old: object, new: object) -> bool:
    are_mappings = isinstance(old, dict) and isinstance(new, Mapping)
    are_lists = isinstance(old, list) and isinstance(new, list | tuple)
    return are_mappings or are_lists


def _is_same_scalar(old: object, new: object) -> bool:
    return isinstance(old, bool) == isinstance(new, bool) and bool(old == new)


def holds_data(tree: object, data: object) -> bool:
    """Return whether a tree equals plain data; unlike `==`, it distinguishes True from 1."""
    if isinstance(data, Mapping):
        if not isinstance(tree, dict) or tree.keys() != data.keys():
            return False
        return all(holds_data(tree[key], element) for key, element in data.items())
    if isinstance(data, list | tuple):
        if not isinstance(tree, list) or len(tree) != len(data):
            return False
        return all(holds_data(*pair) for pair in zip(tree, data, strict=True))
    return _is_same_scalar(tree, data)
