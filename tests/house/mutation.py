"""Mutates the structure of files: trees of documents, elements of XML, brackets, lines, binary fields.

`damage.py` changes words and bytes without regard to structure; a file mutated here still parses, so that the
checks behind the parser are reached.
"""

from __future__ import annotations

import copy
import json
import random
import re
import struct
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any
from xml.etree import ElementTree

import yaml

from posewright.documents.yaml_tree import parse_tree
from posewright.errors import PosewrightError

Mutate = Callable[[random.Random, bytes], bytes]

ODD_NUMBERS = (
    *(0, -1, 1, 2, 7, 255, 256, 65536, -(2**31), 2**31, 2**63, -(2**63), 10**19, 10**400),
    *(0.0, -0.0, 0.5, -1.5, 1e-9, 5e-324, 1e6, 1e15, 1e16, 1e22, 1e155, 1e308, -1e308),
    *(float("nan"), float("inf"), float("-inf")),
)
ODD_VALUES: tuple[Any, ...] = (
    *(
        *ODD_NUMBERS,
        None,
        True,
        False,
        "",
        " ",
        "x",
        "x" * 3000,
        "\x1b[31m\x00",
        "a/b",
        "..",
        "~",
        "é" * 40,
        "\u202e",
    ),
    *("1", "-1", "nan", "-inf", "1e308", "1 s", "true", "null", "[]", "stand", "walk", "robotis_bioloid"),
    *([], {}, [[]], [1.0], [0.0] * 7, ["a", "a"], {"a": 1}, {"": {}}),
)
MANY = (2, 2, 3, 50, 2000)
DEPTHS = (1, 2, 30, 150, 5000)
MAX_TREE_DEPTH = 150
"""Deeper trees are made when they are written: what walks trees here is recursive."""

ENCODINGS = ("utf-16", "utf-16-le", "utf-32", "utf-8-sig", "latin-1", "cp1252", "cp949", "shift_jis")


def mutate_tree(rng: random.Random, root: Any) -> Any:
    """Return a copy of plain data with one to three changes of its structure or values."""
    holder = [_copied(root)]
    for _ in range(rng.choice((1, 1, 2, 3))):
        places = list(_places(holder))
        container, key = rng.choice(places)
        old_value = container[key]
        change = rng.randrange(12)
        if change == 0 and container is not holder:
            del container[key]
        elif change == 1 and isinstance(container, list) and container is not holder:
            container[key:key] = [_copied(old_value) for _ in range(rng.choice(MANY))]
        elif change == 2:
            other_container, other_key = rng.choice(places)
            container[key] = _copied(other_container[other_key])
        elif change == 3 and isinstance(container, dict):
            names = [name for _, name in places if isinstance(name, str)]
            new_name = rng.choice((*names, "", "x", "name", "1", "\ud800", "\x1b", "x" * 3000))
            container[new_name] = container.pop(key)
        elif change == 4:
            container[key] = _nested(rng, old_value, rng.choice(DEPTHS))
        elif change == 5 and isinstance(old_value, dict):
            container[key] = list(old_value.values())
        elif change == 5 and isinstance(old_value, list):
            container[key] = {str(index): value for index, value in enumerate(old_value)}
        elif change == 6 and isinstance(old_value, str):
            container[key] = rng.choice(
                (old_value * rng.choice(MANY), old_value[::-1], old_value.upper(), old_value[:-1])
            )
        elif change < 10 and isinstance(old_value, int | float):
            container[key] = _bent_number(rng, old_value)
        else:
            container[key] = _copied(rng.choice(ODD_VALUES))
    return holder[0]


def _places(container: Any) -> Iterator[tuple[Any, Any]]:
    """Yield each container within a value with the key of each of its elements."""
    waiting = [container]
    while waiting:
        value = waiting.pop()
        keys = list(value) if isinstance(value, dict) else range(len(value))
        for key in keys:
            yield value, key
            if isinstance(value[key], dict | list):
                waiting.append(value[key])


@dataclass(frozen=True)
class Deep:
    """A value that is written inside so many lists."""

    value: Any
    depth: int


def _nested(rng: random.Random, value: Any, depth: int) -> Any:
    if depth > MAX_TREE_DEPTH:
        return Deep(value, depth)
    name = rng.choice(("a", "", None))
    for _ in range(depth):
        value = [value] if name is None else {name: value}
    return value


def _copied(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _copied(item) for key, item in value.items()}
    return [_copied(item) for item in value] if isinstance(value, list) else value


def _bent_number(rng: random.Random, number: float) -> float:
    if rng.random() < 0.4:
        return rng.choice((-number, number + 1, number - 1, number * 2, number * 1000, number // 1000))
    return rng.choice(ODD_NUMBERS)


def _plain(value: Any) -> Any:
    """Return a document's tree without its lines: dictionaries, lists, and plain scalars."""
    if isinstance(value, dict):
        return {_plain(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_plain(item) for item in value]
    scalar_types = (bool, str, int, float)
    return next((kind(value) for kind in scalar_types if isinstance(value, kind)), None)


@cache
def _plain_document(data: bytes) -> Any:
    return _plain(parse_tree(data.decode(), None))


def _written(value: Any, *, nan: str, infinity: str) -> str:
    """Return a value in JSON or in YAML's flow style, without recursion."""
    parts: list[str] = []
    waiting: list[Any] = [(value,)]
    while waiting:
        item = waiting.pop()
        if isinstance(item, str):
            parts.append(item)
            continue
        (plain,) = item
        if isinstance(plain, dict | list):
            is_dict = isinstance(plain, dict)
            pieces: list[Any] = ["{" if is_dict else "["]
            for number, entry in enumerate(plain.items() if is_dict else plain):
                pieces.append(", " if number else "")
                if is_dict:
                    pieces += [f"{json.dumps(str(entry[0]))}: ", (entry[1],)]
                else:
                    pieces.append((entry,))
            waiting += reversed([*pieces, "}" if is_dict else "]"])
        elif isinstance(plain, Deep):
            waiting += ["]" * plain.depth, (plain.value,), "[" * plain.depth]
        elif isinstance(plain, float) and plain != plain:  # noqa: PLR0124 -- NaN
            parts.append(nan)
        elif isinstance(plain, float) and abs(plain) == float("inf"):
            parts.append(infinity if plain > 0 else f"-{infinity}")
        else:
            parts.append(json.dumps(plain))
    return "".join(parts)


def to_json(value: Any) -> str:
    return _written(value, nan="NaN", infinity="Infinity")


def to_yaml(value: Any) -> str:
    return _written(value, nan=".nan", infinity=".inf")


def mutate_yaml(rng: random.Random, data: bytes) -> bytes:
    """Return a document of YAML with other structure, in flow or block style."""
    tree = mutate_tree(rng, _plain_document(data))
    if rng.random() < 0.4:
        try:
            return yaml.dump(tree, Dumper=yaml.CSafeDumper, sort_keys=False, allow_unicode=True).encode()
        except (yaml.YAMLError, RecursionError, UnicodeEncodeError, ValueError):
            pass
    return to_yaml(tree).encode()


def mutate_json(rng: random.Random, data: bytes) -> bytes:
    try:
        tree = json.loads(data)
    except RecursionError:  # it was made so deep by an earlier change
        return data
    return to_json(mutate_tree(rng, tree)).encode()


def mutate_json_lines(rng: random.Random, data: bytes) -> bytes:
    """Return a file of JSON lines with other structure in one, or with lines dropped, doubled or swapped."""
    lines = data.splitlines()
    index = rng.randrange(len(lines))
    change = rng.randrange(6)
    if change == 0:
        del lines[index]
    elif change == 1:
        lines[index:index] = [lines[index]] * rng.choice(MANY)
    elif change == 2:
        other_index = rng.randrange(len(lines))
        lines[index], lines[other_index] = lines[other_index], lines[index]
    else:
        lines[index] = mutate_json(rng, lines[index])
    return b"\n".join(lines) + b"\n"


def mutate_xml(rng: random.Random, data: bytes) -> bytes:
    """Return a document of XML with other elements, attributes or texts."""
    root = ElementTree.fromstring(data)  # noqa: S314 -- our own seeds
    for _ in range(rng.choice((1, 1, 2, 3))):
        parents = [element for element in root.iter() if len(element)] or [root]
        elements = list(root.iter())
        parent, element = rng.choice(parents), rng.choice(elements)
        index = rng.randrange(max(1, len(parent)))
        change = rng.randrange(10)
        if change == 0 and len(parent):
            parent.remove(parent[index])
        elif change == 1 and len(parent):
            for _ in range(rng.choice(MANY)):
                parent.insert(index, parent[index])
        elif change == 2:
            parent.insert(
                index,
                copy.deepcopy(
                    rng.choice([each for each in elements if each is not root] or [ElementTree.Element("x")])
                ),
            )
        elif change == 3 and len(parent):
            wrapped = parent[index]
            parent.remove(wrapped)
            for _ in range(rng.choice(DEPTHS[:-1])):
                outer = ElementTree.Element(rng.choice((wrapped.tag, parent.tag)), wrapped.attrib)
                outer.append(wrapped)
                wrapped = outer
            parent.insert(index, wrapped)
        elif change == 4:
            element.tag = rng.choice(elements).tag
        elif change == 5 and element.attrib:
            name = rng.choice(list(element.attrib))
            value = element.attrib.pop(name)
            if rng.random() < 0.5:
                element.attrib[rng.choice([key for each in elements for key in each.attrib] or ["x"])] = value
        else:
            texts = [(each, key) for each in elements for key in (*each.attrib, None)]
            texts = [(each, key) for each, key in texts if key is not None or (each.text or "").strip()]
            if texts:
                _bend_text(rng, *rng.choice(texts))
    return ElementTree.tostring(root, "utf-8", xml_declaration=True)


def _bend_text(rng: random.Random, element: ElementTree.Element, key: str | None) -> None:
    """Change an attribute, or the text of an element if `key` is None: one of its words, or all."""
    text = element.text or "" if key is None else element.attrib[key]
    new_text = mutate_words(rng, text)
    if key is None:
        element.text = new_text
    else:
        element.attrib[key] = new_text


WORD = re.compile(r"[^\s,;:=()\[\]{}<>\"]+")
NUMBER = re.compile(r"[-+]?\d+(?:\.\d*)?(?:[eE][-+]?\d+)?")


def mutate_words(rng: random.Random, text: str) -> str:
    """Return a text with one of its words bent, dropped, doubled, or swapped for another."""
    spans = [match.span() for match in WORD.finditer(text)] or [(0, len(text))]
    start, end = rng.choice(spans)
    word = text[start:end]
    change = rng.randrange(5)
    if change == 0:
        new_word = ""
    elif change == 1:
        new_word = f"{word} " * rng.choice(MANY)
    elif change == 2:
        new_word = text[slice(*rng.choice(spans))]
    elif NUMBER.fullmatch(word):
        new_word = _bent_word(rng, word)
    else:
        odd_value = rng.choice(ODD_VALUES)
        new_word = odd_value if isinstance(odd_value, str) else _bent_word(rng, "1")
        new_word = "".join(sign for sign in new_word if sign.isprintable())
    return text[:start] + new_word + text[end:]


def _bent_word(rng: random.Random, word: str) -> str:
    number = _bent_number(rng, float(word) if len(word) < 300 else 1.0)
    try:
        return rng.choice((str(number), repr(float(number)), str(int(number))))
    except (ValueError, OverflowError):
        return rng.choice(("nan", "inf", "-inf", "1e999", "9" * 400))


def mutate_lines(rng: random.Random, data: bytes) -> bytes:
    """Return a text of lines with lines, columns or words changed, or in another encoding."""
    text = data.decode("utf-8", "surrogateescape")
    for _ in range(rng.choice((1, 1, 2, 3))):
        lines = text.splitlines(keepends=True) or [""]
        begin = rng.randrange(len(lines))
        end = min(len(lines), begin + rng.choice((1, 1, 2, 5, 50)))
        change = rng.randrange(12)
        if change == 0:
            del lines[begin:end]
        elif change == 1:
            lines[begin:end] = lines[begin:end] * rng.choice(MANY)
        elif change == 2:
            target = rng.randrange(len(lines))
            moved = lines[begin:end]
            del lines[begin:end]
            lines[target:target] = moved
        elif change == 3:
            separator = rng.choice((",", ";", "\t", " "))
            lines = [_without_column(line, separator, begin % 20) for line in lines]
        elif change == 4:
            lines = [line.rstrip("\r\n") + rng.choice(("\r", "\r\n", "\n\n", "")) for line in lines]
        else:
            lines[begin] = mutate_words(rng, lines[begin])
        text = "".join(lines)
    if rng.random() < 0.05:
        return text.encode(rng.choice(ENCODINGS), "replace")
    return text.encode("utf-8", "surrogateescape" if text.isascii() or "\ud800" not in text else "replace")


def _without_column(line: str, separator: str, index: int) -> str:
    cells = line.split(separator)
    return separator.join(cells[:index] + cells[index + 1 :])


BRACKETS = {"{": "}", "[": "]", "(": ")"}


def mutate_brackets(rng: random.Random, data: bytes) -> bytes:
    """Return a text of nested brackets (VRML, C) with a block dropped, repeated, nested or moved."""
    text = data.decode("utf-8", "replace")
    blocks = list(_blocks(text))
    if not blocks or rng.random() < 0.5:
        return mutate_lines(rng, data)
    start, end = rng.choice(blocks)
    block = text[start:end]
    change = rng.randrange(5)
    if change == 0:
        block = ""
    elif change == 1:
        block *= rng.choice(MANY)
    elif change == 2:
        block = text[slice(*rng.choice(blocks))]
    elif change == 3:
        depth = rng.choice(DEPTHS)
        line_start = max(text.rfind("\n", 0, start), text.rfind("children", 0, start), 0)
        head = text[line_start:start] if start - line_start < 80 else ""
        block = (block[0] + head) * depth + block + block[-1] * depth
    else:
        block = block[:1] + block[-1:]
    return (text[:start] + block + text[end:]).encode()


def _blocks(text: str) -> Iterator[tuple[int, int]]:
    open_brackets: list[tuple[int, str]] = []
    for index, sign in enumerate(text):
        if sign in BRACKETS:
            open_brackets.append((index, BRACKETS[sign]))
        elif open_brackets and sign == open_brackets[-1][1]:
            yield open_brackets.pop()[0], index + 1


FIELD_VALUES = (
    0,
    1,
    2,
    3,
    0x7F,
    0x80,
    0xFF,
    0x7FFF,
    0xFFFF,
    0x7FFFFFFF,
    0x80000000,
    0xFFFFFFFF,
    2**63,
    2**64 - 1,
)
ODD_FLOATS = tuple(
    struct.pack(layout, number)
    for layout in ("<f", "<d")
    for number in (float("nan"), float("inf"), -1.0, 1e30)
)


def mutate_fields(rng: random.Random, data: bytes) -> bytes:
    """Return a binary file with one to three of its fields otherwise: mostly those at its beginning."""
    bent = bytearray(data)
    for _ in range(rng.choice((1, 1, 2, 3))):
        width = rng.choice((1, 2, 4, 4, 8))
        n_fields = max(1, (len(bent) - width) // min(width, 4))
        index = rng.randrange(min(n_fields, 64) if rng.random() < 0.6 else n_fields)
        start = index * min(width, 4)
        old_value = int.from_bytes(bent[start : start + width], "little")
        steps = (old_value + 1, old_value - 1, old_value * 2, old_value // 2, old_value + 256, -old_value)
        change = rng.randrange(8)
        if change < 3:
            bent[start : start + width] = (rng.choice(steps) % 256**width).to_bytes(width, "little")
        elif change < 6:
            bent[start : start + width] = (rng.choice(FIELD_VALUES) % 256**width).to_bytes(width, "little")
        elif change == 6:
            odd_float = rng.choice(ODD_FLOATS)
            bent[start : start + len(odd_float)] = odd_float
        else:
            piece = bent[start : start + rng.choice((4, 16, 144, 1000))]
            target = rng.randrange(max(1, len(bent)))
            bent[target : target + rng.choice((0, len(piece)))] = piece * rng.choice((1, 2, 50))
    return bytes(bent)


def mutate_glb(rng: random.Random, data: bytes) -> bytes:
    """Return a binary glTF with other structure in its JSON, or other fields, and lengths that fit."""
    (length,) = struct.unpack_from("<I", data, 12)
    if rng.random() < 0.4:
        return mutate_fields(rng, data)
    head = mutate_json(rng, data[20 : 20 + length])
    head += b" " * (-len(head) % 4)
    body = struct.pack("<I4s", len(head), b"JSON") + head + data[20 + length :]
    return data[:8] + struct.pack("<I", 12 + len(body)) + body


def mutate_after_line(rng: random.Random, data: bytes) -> bytes:
    """Return a file with other structure in the JSON after its first line."""
    first_line, newline, body = data.partition(b"\n")
    return first_line + newline + mutate_json(rng, body)


def mutate_wire_message(rng: random.Random, data: bytes) -> bytes:
    """Return a message to a served robot with other structure in its head, or other bytes in its arrays."""
    (length,) = struct.unpack_from("<I", data, 8)
    head, arrays = data[12 : 12 + length], data[12 + length :]
    if arrays and rng.random() < 0.2:
        arrays = mutate_fields(rng, arrays)
    else:
        head = mutate_json(rng, head)
    return data[:8] + struct.pack("<I", len(head)) + head + arrays


def mutate_text_in(key: str, rng: random.Random, data: bytes) -> bytes:
    """Return a JSON file with other structure in the JSON that is the text of one of its entries."""
    text = mutate_json(rng, json.loads(data)[key].encode()).decode("utf-8", "replace")
    return json.dumps({**json.loads(data), key: text}).encode()


STRUCTURES: dict[str, Mutate] = {
    ".yaml": mutate_yaml,
    ".cnoid": mutate_yaml,
    ".json": mutate_json,
    ".jsonl": mutate_json_lines,
    ".xml": mutate_xml,
    ".urdf": mutate_xml,
    ".xacro": mutate_xml,
    ".scxml": mutate_xml,
    ".dae": mutate_xml,
    ".wrl": mutate_brackets,
    ".h": mutate_brackets,
    ".glb": mutate_glb,
}


def mutate_file(rng: random.Random, name: str, data: bytes) -> bytes:
    """Return a file mutated after the suffix of its name, or after what it looks like."""
    mutate = STRUCTURES.get(name[name.rfind(".") :].lower())
    if mutate is None:
        is_binary = b"\0" in data[:4000] or data[:2] == b"\x1f\x8b"
        mutate = mutate_fields if is_binary else mutate_json if data[:1] == b"{" else mutate_lines
    try:
        return mutate(rng, data)
    except (ValueError, ElementTree.ParseError, PosewrightError):  # a real file of another kind
        return mutate_lines(rng, data)
