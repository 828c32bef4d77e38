"""XML of others: read as elements with lines, or refused where it could do harm."""

from __future__ import annotations

from pathlib import Path

import pytest

from posewright.documents.markup import Element, MarkupRules, parse_markup, read_markup
from posewright.errors import FormatError

VOCABULARIES = MarkupRules(prefixes={"urn:theirs": "", "urn:ours": "pw"})


def test_elements_know_their_lines_their_children_and_their_text() -> None:
    root = parse_markup("<a>\n  one\n  <b x='1'/>\n  <c><b/></c>\n  two\n</a>", Path("a.xml"))
    assert [(element.name, element.line) for element in root.walk()] == [
        ("a", 1),
        ("b", 3),
        ("c", 4),
        ("b", 4),
    ]
    assert root.text.split() == ["one", "two"]
    assert [child.name for child in root.all("b", "c")] == ["b", "c"]
    assert str(root.children[0].where) == "a.xml:3"


def test_the_last_child_of_a_name_counts_where_a_format_says_so() -> None:
    root = parse_markup("<a><b>1</b><b>2</b></a>")
    first, last = root.first("b"), root.last("b")
    assert first is not None
    assert last is not None
    assert (first.text, last.text, root.number("b"), root.number("c")) == ("1", "2", 2.0, None)


def test_names_are_read_as_they_are_written_unless_a_format_has_vocabularies() -> None:
    assert parse_markup('<X:A B="1" xmlns:X="urn:x"/>').name == "X:A"
    assert parse_markup('<A B="1"/>', rules=MarkupRules(lower_case=True)).attributes == {"b": "1"}
    root = parse_markup('<a xmlns="urn:theirs" xmlns:o="urn:ours" xmlns:z="urn:z" o:x="1" z:y="2" w="3">'
                        '<o:b/><z:c/></a>', rules=VOCABULARIES)  # fmt: skip
    assert (root.name, root.attributes) == ("a", {"pw:x": "1", "w": "3"})
    assert [child.name for child in root.children] == ["pw:b", "{urn:z}c"]


@pytest.mark.parametrize("rules", [MarkupRules(), VOCABULARIES], ids=["plain", "with vocabularies"])
@pytest.mark.parametrize(
    ("text", "message", "line"),
    [
        ('<!DOCTYPE a [<!ENTITY b "x">]>\n<a>&b;</a>', "a document type is not allowed", 1),
        ('\n<!DOCTYPE a SYSTEM "file:///etc/passwd"><a/>', "a document type is not allowed", 2),
        ("<a>\n" + "<b>" * 201, "nested too deep", 2),
        ("<a>\n" + "<b/>" * 100_001, "too many elements", 2),
        ("<a>\n<b></a>", "not XML: mismatched tag", 2),
        ("<a>\n&b;</a>", "not XML: undefined entity", 2),
        ("", "not XML: no element found", 1),
        ("<a>\n- <b/></a>", "a minus sign between the tags", 2),
        ("<a x='1' x='2'/>", "not XML: duplicate attribute", 1),
    ],
)
def test_what_is_no_xml_or_could_do_harm_is_refused_with_its_line(
    rules: MarkupRules, text: str, message: str, line: int
) -> None:
    with pytest.raises(FormatError) as caught:
        parse_markup(text, Path("a.xml"), rules)
    assert message in caught.value.message
    assert caught.value.where is not None
    assert caught.value.where.line == line


def test_a_document_has_no_more_bytes_than_its_format_allows(tmp_path: Path) -> None:
    rules = MarkupRules(max_bytes=12)
    (tmp_path / "a.xml").write_text("<a>\u2192\u2192\u2192\u2192</a>")
    with pytest.raises(FormatError, match="larger than 12 bytes"):
        read_markup(tmp_path / "a.xml", rules)
    with pytest.raises(FormatError, match="larger than 12 bytes"):
        parse_markup("<a>\u2192\u2192\u2192\u2192</a>", rules=rules)
    assert parse_markup("<a>1234</a>", rules=rules).text == "1234"


def test_a_minus_in_an_element_of_somebody_elses_vocabulary_is_none_of_ours() -> None:
    assert parse_markup('<a xmlns="urn:theirs"><b xmlns="urn:z">-</b></a>', rules=VOCABULARIES).name == "a"


def test_bytes_say_their_encoding_and_text_needs_none(tmp_path: Path) -> None:
    (tmp_path / "a.xml").write_bytes(
        '<?xml version="1.0" encoding="latin-1"?><a>\u00e9</a>'.encode("latin-1")
    )
    assert read_markup(tmp_path / "a.xml").text == "\u00e9"
    assert parse_markup('\ufeff<?xml version="1.0" encoding="latin-1"?><a>\u00e9</a>').text == "\u00e9"
    (tmp_path / "b.xml").write_bytes(b'<?xml version="1.0" encoding="klingon"?><a/>')
    with pytest.raises(FormatError, match=r"klingon|unknown encoding"):
        read_markup(tmp_path / "b.xml")
    with pytest.raises(FormatError, match="not text"):
        parse_markup("<a>\ud800</a>")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("<a/>", "<a> has no attribute 'x'"),
        ("<a x=' '/>", "<a> has no attribute 'x'"),
        ("<a x='1 b'/>", "x of <a> is '1 b'"),
        ("<a x='1 nan'/>", "x of <a> is not finite"),
        ("<a x='1'/>", "x of <a> has 1 numbers"),
    ],
)
def test_an_attribute_of_numbers_is_refused_by_its_name(text: str, message: str) -> None:
    with pytest.raises(FormatError) as caught:
        parse_markup(text).attribute_numbers("x", 2)
    assert caught.value.message == message


def test_what_is_written_reads_back_the_same() -> None:
    attributes = {"x": 'a "quoted" <b> & more\nlines', "y": "1"}
    root = Element("a", attributes, (Element("b"), Element("c", {}, (Element("d"),))))
    again = parse_markup("\n".join(root.lines()))
    assert [(element.name, element.attributes) for element in again.walk()] == [
        ("a", attributes), ("b", {}), ("c", {}), ("d", {})
    ]  # fmt: skip
