"""Merging: a tree with comments is changed in place until it equals plain data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ruamel.yaml.comments import CommentedMap, CommentedSeq


class OneLine(dict[str, Any]):
    """A mapping that is written on one line: `{reach_s: 0.125, ...}`."""


def commented(value: Any) -> Any:
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


def merge(old: Any, new: Any) -> bool:
    """Change `old` in place until it equals `new`; return whether anything changed."""
    if isinstance(old, dict) and isinstance(new, Mapping):
        return _merge_mapping(old, new)
    changed = False
    for i, element in enumerate(new):
        if i >= len(old):
            old.append(commented(element))
            changed = True
        elif _mergeable(old[i], element):
            changed |= merge(old[i], element)
        elif not _same(old[i], element):
            old[i] = commented(element)
            changed = True
    changed |= len(old) > len(new)
    del old[len(new) :]
    return changed


def _merge_mapping(old: Any, new: Mapping[str, Any]) -> bool:
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


def _mergeable(old: Any, new: Any) -> bool:
    both_mappings = isinstance(old, dict) and isinstance(new, Mapping)
    return both_mappings or (isinstance(old, list) and isinstance(new, list | tuple))


def _same(old: Any, new: Any) -> bool:
    return isinstance(old, bool) == isinstance(new, bool) and bool(old == new)


def says(tree: Any, data: Any) -> bool:
    """Tell whether a tree means exactly the plain `data`."""
    if isinstance(data, Mapping):
        if not isinstance(tree, dict) or tree.keys() != data.keys():
            return False
        return all(says(tree[key], element) for key, element in data.items())
    if isinstance(data, list | tuple):
        is_list = isinstance(tree, list) and len(tree) == len(data)
        return is_list and all(says(*pair) for pair in zip(tree, data, strict=True))
    return _same(tree, data)
