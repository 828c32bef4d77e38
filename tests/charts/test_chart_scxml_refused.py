"""What is outside the subset of SCXML is refused by name, with its line; hostile documents at once."""

from __future__ import annotations

import re
import time
from pathlib import Path

import pytest

from posewright.charts.formats import parse_scxml
from posewright.errors import ExpressionError, FormatError, InputError

from .scxml_documents import document

DATA = '<datamodel><data id="n" expr="0"/><data id="on" expr="true"/><data id="t" expr="\'x\'"/></datamodel>'
STATE = '<state id="a">{}</state>'
REFUSED = {
    '<state id="a"><invoke type="scxml"/></state>': "<invoke> is outside the subset of SCXML",
    "<script>x = 1</script>": "<script> is outside the subset of SCXML",
    '<state id="a"><onentry><script/></onentry></state>': "<script> is outside the subset of SCXML",
    '<state id="a" intial="b"/>': (
        "'intial' of <state> is outside the subset of SCXML (did you mean 'initial'?)"
    ),
    '<state id="a"/><state id="a"/>': "the id 'a' is there twice (first in line 2)",
    '<state id="a"><transition target="b"/></state>': "no state is called 'b'",
    '<state id="a"><transition event="" target="a"/></state>': "empty 'event'",
    '<state id="a"><transition type="inner" target="a"/></state>': "a transition is not 'inner'",
    '<state id="a"><initial/><state id="b"/></state>': "an <initial> needs one <transition>",
    '<state id="a"><history id="h"/><state id="b"/></state><state id="c"><transition target="h"/></state>': (
        "a <history> needs one <transition>"
    ),
    '<state id="a"><onentry><final/></onentry></state>': "<final> does not belong in <onentry>",
    "": "there is no state",
    '<datamodel><data id="n"/></datamodel><state id="a"/>': "nothing says what n holds",
    '<datamodel><data id="n" src="x"/></datamodel><state id="a"/>': "'src' of <data> is outside",
    STATE.format('<transition cond="m == 1" target="a"/>'): "no <data> is called 'm'",
    STATE.format('<transition cond="_event.data == 1" target="a"/>'): "the system variable _event.data",
    STATE.format('<transition cond="In(\'b\')" target="a"/>'): "no state is called 'b'",
    STATE.format('<transition cond="a.b" target="a"/>'): "a.b in `a.b` is outside",
    STATE.format('<transition cond="sqrt(4) == 2" target="a"/>'): "the function sqrt in",
    STATE.format('<transition cond="1 = 1" target="a"/>'): "'=' in `1 = 1` is outside",
    STATE.format('<onentry><assign location="m" expr="1"/></onentry>'): "no <data> 'm' to assign to",
    STATE.format('<onentry><send event="x" target="http://a"/></onentry>'): "<send> to 'http://a' is outside",
    STATE.format('<onentry><send event="x" delay="soon"/></onentry>'): "the delay 'soon' is no time",
    STATE.format('<onentry><send event="x"><param name="p"/></send></onentry>'): "<param> is outside",
    STATE.format('<onentry><cancel sendid="x"/></onentry>'): "nothing is sent with the id 'x'",
    STATE.format('<onentry><foreach array="x"/></onentry>'): "<foreach> over 'x' is outside",
    STATE.format("<onentry><raise/></onentry>"): "<raise> without 'event'",
    STATE.format("<onentry><if><log/></if></onentry>"): "<if> without 'cond'",
    STATE.format('<onentry><mine:act xmlns:mine="urn:x"/></onentry>'): "act> is outside the subset",
    '<state id="a"><onexit><if cond="In(\'q\')"/></onexit></state><state id="q"/>': "In('q') here",
}


@pytest.mark.parametrize("inside", REFUSED, ids=range(len(REFUSED)))
def test_what_is_outside_the_subset_is_refused_by_name_and_line(inside: str) -> None:
    with pytest.raises(FormatError, match=re.escape(REFUSED[inside])) as caught:
        parse_scxml(document(inside), Path("a.scxml"))
    assert caught.value.where is not None
    assert caught.value.where.line in (1, 2)
    assert caught.value.hint


def test_a_condition_of_the_wrong_type_is_refused_with_its_line() -> None:
    state = '<state id="a"><transition cond="n and on" target="a"/></state>'
    with pytest.raises(ExpressionError, match=r"a\.scxml:3: .*needs a truth value"):
        parse_scxml(document(f"{DATA}\n{state}"), Path("a.scxml"))


NATIVE = {
    '<datamodel><data id="k" expr="36" pw:role="constant" pw:unit="ccm"/></datamodel><state id="a"/>': (
        "there is no unit 'ccm' (did you mean cm?)"
    ),
    '<state id="a" pw:min_s="-1"/>': "-1.0 is out of range",
    '<state id="a" pw:priority="loud"/>': "no priority is called 'loud'",
    '<pw:junction id="j"/><state id="a"/>': "a junction without a way on",
}


@pytest.mark.parametrize("inside", NATIVE)
def test_what_a_native_document_may_not_say_an_scxml_document_may_not_say_either(inside: str) -> None:
    text = document(inside).replace("<scxml", '<scxml xmlns:pw="urn:posewright:chart"')
    with pytest.raises(InputError, match=re.escape(NATIVE[inside])) as caught:
        parse_scxml(text, Path("a.scxml"))
    assert str(caught.value).startswith("a.scxml:2: ")


def test_a_data_that_holds_a_truth_value_and_a_number_is_refused() -> None:
    state = '<state id="a"><onentry><assign location="on" expr="2"/></onentry></state>'
    with pytest.raises(FormatError, match="on holds a truth value in one place and a number in another"):
        parse_scxml(document(DATA + state))


@pytest.mark.parametrize(
    ("attribute", "value"),
    [("binding", "late"), ("version", "2.0"), ("datamodel", "xpath"), ("exmode", "lax")],
)
def test_a_document_of_another_kind_is_refused(attribute: str, value: str) -> None:
    text = document('<state id="a"/>').replace('datamodel="ecmascript"', "").replace('version="1.0"', "")
    with pytest.raises(FormatError, match="outside the subset of SCXML"):
        parse_scxml(text.replace("<scxml", f'<scxml {attribute}="{value}"'))


def test_signs_that_ecmascript_rounds_otherwise_are_refused() -> None:
    inside = f'{DATA}<state id="a"><transition cond="n % 2 == 1" target="a"/></state>'
    with pytest.raises(FormatError, match="'%', which ecmascript rounds otherwise,"):
        parse_scxml(document(inside))
    assert parse_scxml(document(inside).replace("ecmascript", "python"))


HOSTILE = {
    "ten megabytes": "<scxml>" + " " * 10_000_000 + "</scxml>",
    "nested ten thousand deep": "<scxml>" + "<state>" * 10_000 + "</state>" * 10_000 + "</scxml>",
    "a hundred thousand states": "<scxml>" + "<state/>" * 100_000 + "</scxml>",
    "an entity bomb": '<!DOCTYPE s [<!ENTITY a "x"><!ENTITY b "&a;&a;">]><scxml><state id="&b;"/></scxml>',
    "a file from elsewhere": '<!DOCTYPE s [<!ENTITY a SYSTEM "file:///etc/passwd">]><scxml name="&a;"/>',
    "brackets": f'<scxml><state id="a"><transition cond="{"(" * 5000}" target="a"/></state></scxml>',
    "negations": f'<scxml><state id="a"><transition cond="{"!" * 5000}a" target="a"/></state></scxml>',
    "code": "<scxml><datamodel><data id='a' expr='__import__(1)'/></datamodel><state id='b'/></scxml>",
    "no markup": "chart: x",
    "nothing": "",
    "another document": "<html/>",
    "a zero": "<scxml>\0</scxml>",
}


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_a_hostile_document_is_refused_at_once(text: str) -> None:
    began = time.process_time()
    with pytest.raises(InputError):
        parse_scxml(text, Path("a.scxml"))
    assert time.process_time() - began < 1
