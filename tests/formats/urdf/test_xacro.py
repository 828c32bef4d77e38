"""Expansion of xacro. Expected expansions are those of xacro 2.1.1, which is not needed here."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("simpleeval", reason="it comes with the extra `xacro`")

from posewright.documents.markup import Element, parse_markup, read_markup
from posewright.errors import FormatError, PosewrightError
from posewright.formats.urdf.packages import PackageFiles
from posewright.formats.urdf.reading import read_urdf
from posewright.formats.urdf.xacro import ExpandedRobot, expand_xacro

HEAD = '<robot name="r" xmlns:xacro="http://www.ros.org/wiki/xacro">'


def write(path: Path, inside: str, head: str = HEAD) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"{head}\n{inside}</robot>", encoding="utf-8")
    return path


def expand(path: Path) -> ExpandedRobot:
    return expand_xacro(read_markup(path), path, PackageFiles(path))


def expand_text(inside: str, head: str = HEAD) -> Element:
    path = Path("here.xacro")
    return expand_xacro(parse_markup(f"{head}\n{inside}</robot>", path), path, PackageFiles(path)).root


def as_xml(element: Element) -> str:
    """Return an element on one line, with its text first."""
    attributes = "".join(f' {name}="{value}"' for name, value in element.attributes.items())
    inside = " ".join(element.text.split()) + "".join(map(as_xml, element.children))
    return f"<{element.name}{attributes}>{inside}</>" if inside else f"<{element.name}{attributes}/>"


def inside_of(root: Element) -> str:
    return "".join(map(as_xml, root.children))


def refusal(inside: str) -> FormatError:
    with pytest.raises(FormatError) as caught:
        expand_text(inside)
    return caught.value


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("1/3", "0.3333333333333333"),
        ("-2**2", "-4"),
        ("7//2 + 7%3", "4"),
        ("radians(90)", "1.5707963267948966"),
        ("sin(pi/6)", "0.49999999999999994"),
        ("math.sqrt(2)", "1.4142135623730951"),
        ("max(1, 2.5, 'abc'.count('a'))", "2.5"),
        ("[i*2 for i in range(3)][1:]", "[2, 4]"),
        ("dict(l=1, r=-1)['r']", "-1"),
        ("1 if not (2 &lt; 1) else 0", "1"),
        ("'%.3f' % pi", "3.142"),
        ("' '.join([str(x) for x in (0, 1)])", "0 1"),
        ("xacro.tokenize('a, b;c')", "['a', 'b', 'c']"),
        ("'a_b'.replace('_', '-').upper()", "A-B"),
        ("True", "True"),
        ("1e22", "1e+22"),
        (" 1\n + 2 ", "3"),
    ],
)
def test_an_expression_has_the_value_and_the_text_that_python_gives_it(expression: str, value: str) -> None:
    assert inside_of(expand_text(f'<a v="${{{expression}}}"/>')) == f'<a v="{value}"/>'


def test_dollars_are_escaped_by_doubling_them() -> None:
    root = expand_text('<a x="$${x}" y="$$${x}" z="$$(arg y)" w="5 $ x"/><t>$${1} ${1} &lt;</t>')
    assert inside_of(root) == '<a x="${x}" y="$${x}" z="$(arg y)" w="5 $ x"/><t>${1} 1 <</>'


def test_properties_are_evaluated_when_they_are_first_used_unless_they_say_otherwise() -> None:
    root = expand_text("""<xacro:property name="lazy" value="${later*2}"/>
    <xacro:property name="later" value="4"/>
    <xacro:property name="eager" value="${later+1}" lazy_eval="false"/>
    <a v="${lazy}"/><xacro:property name="later" value="5"/><a v="${lazy} ${later} ${eager}"/>
    <xacro:property name="d" default="1"/><xacro:property name="d" default="2"/><a v="${d}"/>
    <xacro:property name="d" remove="true"/><xacro:property name="d" default="3"/><a v="${d}"/>
    <xacro:property name="n" value="0.10"/><xacro:property name="q" value="'two words'"/>
    <a v="${n} ${q}"/>""")
    values = [child.attributes["v"] for child in root.children]
    assert values == ["8", "8 5 5", "1", "3", "0.1 two words"]


def test_properties_set_inside_a_macro_stay_there_unless_their_scope_says_otherwise() -> None:
    root = expand_text("""<xacro:property name="k" value="1"/>
    <xacro:macro name="inner"><xacro:property name="k" value="${k+1}" scope="parent"/></xacro:macro>
    <xacro:macro name="outer"><xacro:property name="k" value="10"/><xacro:inner/><o k="${k}"/>
      <xacro:property name="all" value="${k*2}" scope="global"/></xacro:macro>
    <xacro:outer/><g k="${k}" all="${all}"/><xacro:inner/><g k="${k}"/>""")
    assert inside_of(root) == '<o k="11"/><g k="1" all="22"/><g k="2"/>'


def test_the_parent_of_an_included_file_is_where_it_is_included_and_that_of_its_macro_no_namespace(
    tmp_path: Path,
) -> None:
    write(
        tmp_path / "leg.xacro",
        """<xacro:macro name="count"><xacro:property name="n" value="${n+1}" scope="parent"/></xacro:macro>
        <xacro:property name="n" value="10"/><xacro:count/><leg n="${n}"/>
        <xacro:property name="n" value="30" scope="parent"/>""",
    )
    write(
        tmp_path / "body.xacro",
        """<xacro:property name="n" value="20"/><xacro:include filename="leg.xacro" ns="leg"/>
        <xacro:property name="length" value="3" scope="parent"/><body n="${n}"/>""",
    )
    path = write(
        tmp_path / "robot.xacro",
        """<xacro:property name="n" value="1"/><xacro:include filename="body.xacro" ns="body"/>
        <robot n="${n}" length="${length}" body="${body.n}" leg="${body.leg.n}"/>""",
    )
    assert inside_of(expand(path).root) == (
        '<leg n="10"/><body n="30"/><robot n="11" length="3" body="30" leg="10"/>'
    )


def test_parameters_have_defaults_and_take_properties_of_the_caller() -> None:
    root = expand_text("""<xacro:property name="a" value="1"/>
    <xacro:macro name="m" params="a:=^ b:=^|none c:='x y' d:=${2+3} e=q  f := 4"><v a="${a}" b="${b}" c="${c}"
      d="${d}" e="${e}" f="${f}"/></xacro:macro><xacro:m/><xacro:m a="5" c="1.50" b=""/>""")
    assert inside_of(root) == (
        '<v a="1" b="none" c="x y" d="5" e="q" f="4"/><v a="5" b="" c="1.5" d="5" e="q" f="4"/>'
    )


def test_blocks_are_inserted_whole_or_without_their_tag_and_so_are_properties_of_elements() -> None:
    root = expand_text("""<xacro:property name="size" value="2"/>
    <xacro:property name="place"><origin z="${size}"/><extra/></xacro:property>
    <xacro:macro name="two" params="*first **rest"><w><xacro:insert_block name="rest"/></w>
      <u><xacro:insert_block name="first"/></u></xacro:macro>
    <xacro:two><xacro:if value="1"><one k="${size+1}"/></xacro:if><all><x/><y/></all></xacro:two>
    <j><xacro:insert_block name="place"/></j>""")
    assert inside_of(root) == '<w><x/><y/></><u><one k="3"/></><j><origin z="2"/><extra/></>'


def test_macros_call_themselves_and_others_and_are_called_by_a_name_that_is_computed() -> None:
    root = expand_text("""<xacro:macro name="chain" params="n"><xacro:if value="${n > 0}"><l n="${n}"/>
      <xacro:chain n="${n-1}"/></xacro:if></xacro:macro>
    <xacro:property name="which" value="chain"/><xacro:call macro="${which}" n="3"/>
    <xacro:macro name="outer" params="n">
      <xacro:macro name="nested" params="m:=2"><b n="${n}" m="${m}"/></xacro:macro>
      <xacro:nested/></xacro:macro>
    <xacro:outer n="7"/>
    <xacro:element xacro:name="t_${1+1}"><xacro:attribute name="k" value="${'v'}"/></xacro:element>""")
    assert inside_of(root) == '<l n="3"/><l n="2"/><l n="1"/><b n="7" m="2"/><t_2 k="v"/>'


def test_the_namespace_may_have_another_prefix() -> None:
    head = '<robot name="r" xmlns:x="http://ros.org/wiki/xacro">'
    root = expand_text('<x:property name="a" value="1"/><x:if value="${a}"><b v="${a}"/></x:if>', head)
    assert inside_of(root) == '<b v="1"/>'


def test_included_files_are_found_in_packages_beside_and_by_pattern(tmp_path: Path) -> None:
    (tmp_path / "common").mkdir()
    (tmp_path / "common/package.xml").write_text("<package><name>common_pkg</name></package>")
    write(tmp_path / "common/urdf/a.xacro", '<xacro:include filename="../parts/b.xacro"/>')
    write(
        tmp_path / "common/parts/b.xacro", '<xacro:macro name="box" params="n"><box n="${n}"/></xacro:macro>'
    )
    write(tmp_path / "bot/urdf/size.xacro", '<xacro:property name="s" value="7"/>')
    (tmp_path / "bot/limits.yaml").write_text("hip: {upper: 1.5, sides: [l, r]}")
    main = write(
        tmp_path / "bot/urdf/main.xacro",
        """<xacro:arg name="file" default="size"/>
        <xacro:include filename="$(find common_pkg)/urdf/a.xacro"/>
        <xacro:include filename="$(arg file).xacro" ns="ns"/>
        <xacro:box n="${ns.s}"/><xacro:include filename="$(dirname)/s*.xacro"/><a v="${s}"/>
        <xacro:property name="c" value="${xacro.load_yaml('../limits.yaml')}"/>
        <a v="${c['hip']['upper'] + 1} ${c.hip.sides[1]}"/><t>$(find common_pkg)/x.yaml</t>""",
    )
    expanded = expand(main)
    assert inside_of(expanded.root) == (
        '<box n="7"/><a v="7"/><a v="2.5 r"/><t>package://common_pkg/x.yaml</>'
    )
    assert [str(remark) for remark in expanded.remarks] == [
        "line 2: the argument file has its default, 'size'"
    ]


def test_files_that_are_missing_and_the_macros_in_them_are_listed(tmp_path: Path) -> None:
    main = write(
        tmp_path / "main.xacro",
        """<xacro:include filename="$(find gone)/a.xacro"/><xacro:include filename="/etc/passwd"/>
        <xacro:include filename="b.xacro" optional="true"/><xacro:wheel/>
        <xacro:macro name="old_macro"><a/></xacro:macro><old_macro/><include filename="c.xacro"/>""",
    )
    assert [str(remark) for remark in expand(main).remarks] == [
        "line 2: the included file 'package://gone/a.xacro' is missing, or outside of its package: left out",
        "line 2: the included file '/etc/passwd' is missing, or outside of its package: left out",
        "line 3: <xacro:wheel> is left out: its macro is in a file that is missing",
        "line 4: <old_macro> is left out: xacro's tags are read as <xacro:old_macro>",
        "line 4: <include> is left out: xacro's tags are read as <xacro:include>",
    ]
    write(
        main,
        '<xacro:include filename="inertia.xacro"/><link name="a"><inertial><xacro:mass/></inertial></link>',
    )
    with pytest.raises(FormatError, match="<inertial> has no <mass>") as caught:
        read_urdf(main)
    assert caught.value.hint == "included files are missing: inertia.xacro"


def test_a_package_that_was_renamed_is_that_of_the_file(tmp_path: Path) -> None:
    write(tmp_path / "bot_description/urdf/body.xacro", '<link name="body"/>')
    main = write(
        tmp_path / "bot_description/urdf/main.xacro",
        '<xacro:include filename="$(find old_bot_description)/urdf/body.xacro"/>',
    )
    mechanism, remarks = read_urdf(main)
    assert [link.name for link in mechanism.links] == ["body"]
    assert [str(remark) for remark in remarks] == [
        "the package old_bot_description is not found: its files are read from the folder of this one"
    ]


@pytest.mark.parametrize(
    ("inside", "words"),
    [
        ('<a v="${b + 1}"/>', r"cannot evaluate \${b \+ 1}: .*'b' is not defined"),
        ('<a v="${1/0}"/>', "ZeroDivisionError"),
        ("<a v=\"${open('x')}\"/>", "'open' not defined"),
        ('<a v="${().__class__}"/>', "no '__class__' in it"),
        ('<a v="${lambda: 1}"/>', "Lambda is not available"),
        ("<a v=\"${__import__('os')}\"/>", "'__import__' not defined"),
        ('<a v="${1 +}"/>', "not an expression of Python"),
        ('<a v="${pi"/>', "an expression without an end"),
        ('<a v="$(arg missing)"/>', "the argument 'missing' has no value"),
        ('<a v="$(env HOME)"/>', r"cannot replace \$\(env HOME\)"),
        ("<xacro:nothing/>", "there is no macro 'nothing'"),
        ('<xacro:if value="perhaps"/>', "value is 'perhaps'"),
        ('<xacro:insert_block name="x"/>', "there is no block 'x'"),
        ('<xacro:property name="a b" value="1"/>', "no property can be called 'a b'"),
        ('<xacro:macro name="m" params="a"/><xacro:m/>', "the parameter 'a' of <xacro:m> has no value"),
        ('<xacro:macro name="m" params="a"/><xacro:m b="1"/>', "no parameter 'b'"),
        ('<xacro:macro name="m"/><xacro:m><o/></xacro:m>', "1 elements inside <xacro:m>"),
        ("<a v=\"${xacro.load_yaml('none.yaml')}\"/>", "none.yaml is missing"),
        ("<a v=\"${xacro.fatal('no legs')}\"/>", "no legs"),
        ('<xacro:property name="a" value="${a}"/><a v="${a}"/>', "defined by itself"),
    ],
)
def test_what_cannot_be_expanded_is_an_error_with_its_line(inside: str, words: str) -> None:
    with pytest.raises(FormatError, match=words) as caught:
        expand_text(inside)
    assert caught.value.where is not None
    assert caught.value.where.line == 2


def test_an_error_in_a_macro_names_the_call(tmp_path: Path) -> None:
    write(tmp_path / "m.xacro", '<xacro:macro name="m" params="x">\n<a v="${x/0}"/></xacro:macro>')
    main = write(tmp_path / "main.xacro", '<xacro:include filename="m.xacro"/>\n<xacro:m x="1"/>')
    with pytest.raises(FormatError, match="ZeroDivisionError") as caught:
        expand(main)
    assert str(caught.value.where) == f"{tmp_path / 'm.xacro'}:3"
    assert caught.value.hint == f"expanded for <xacro:m> at {main}:3"


def doubling(definition: str, first: str, last: str) -> str:
    """Return 40 definitions, each of which uses the one before twice."""
    lines = [definition.format(i=i, before=i - 1) for i in range(1, 40)]
    return first + "".join(lines) + last


@pytest.mark.parametrize(
    ("inside", "words"),
    [
        ('<xacro:macro name="a"><xacro:a/></xacro:macro><xacro:a/>', "nested too deep"),
        (
            doubling(
                '<xacro:macro name="m{i}"><xacro:m{before}/><xacro:m{before}/></xacro:macro>',
                '<xacro:macro name="m0"><x/></xacro:macro>',
                "<xacro:m39/>",
            ),
            "too many elements",
        ),
        (
            doubling(
                '<xacro:property name="p{i}" value="${{[p{before}, p{before}]}}" lazy_eval="false"/>',
                '<xacro:property name="p0" value="1"/>',
                "",
            ),
            "more than 20,000 parts",
        ),
        (
            doubling(
                '<xacro:property name="p{i}" value="${{p{before}+1}}"/>',
                '<xacro:property name="p0" value="1"/>',
                '<a v="${p39}"/>',
            ),
            "more than 20 properties",
        ),
        ('<a v="${9**9**9}"/>', "more than 4,096 bits"),
        ("<a v=\"${'%999999999d' % 1}\"/>", "a format that is not supported"),
        ('<a v="${[sorted(list(range(9000))) for i in range(9000)]}"/>', "take too long"),
        ('<a v="${' + "-" * 3000 + '1}"/>', "nested too deep"),
        (
            '<xacro:property name="p"><xacro:insert_block name="p"/></xacro:property>'
            '<xacro:insert_block name="p"/>',
            "deep",
        ),
    ],
)
def test_what_would_grow_without_end_is_refused(inside: str, words: str) -> None:
    assert words in refusal(inside).message


def test_files_that_include_themselves_or_each_other_twice_are_refused(tmp_path: Path) -> None:
    twice = '<xacro:include filename="{0}.xacro"/><xacro:include filename="{0}.xacro"/>'
    for number in range(15):
        write(tmp_path / f"{number}.xacro", twice.format(number + 1))
    write(tmp_path / "15.xacro", "")
    with pytest.raises(FormatError, match="too many included files"):
        expand(tmp_path / "0.xacro")
    with pytest.raises(FormatError, match="includes itself"):
        expand(write(tmp_path / "loop.xacro", '<xacro:include filename="loop.xacro"/>'))


numbers = st.one_of(st.integers(-50, 50), st.floats(-50, 50).map(lambda value: round(value, 3))).map(str)
arithmetic = st.recursive(
    numbers.map(lambda text: f"({text})"),
    lambda inner: st.tuples(inner, st.sampled_from("+-*/"), inner).map(lambda parts: f"({''.join(parts)})"),
    max_leaves=8,
)


@given(arithmetic)
def test_arithmetic_is_that_of_python(expression: str) -> None:
    try:
        value = str(eval(expression))  # noqa: S307 -- it is made of numbers, signs and parentheses
    except ZeroDivisionError:
        with pytest.raises(FormatError, match="ZeroDivisionError"):
            expand_text(f'<a v="${{{expression}}}"/>')
        return
    assert expand_text(f'<a v="${{{expression}}}"/>').children[0].attributes == {"v": value}


@given(st.text("${}()[]'\"ab1+*., \n:=^|", max_size=40))
def test_any_text_is_evaluated_or_refused(text: str) -> None:
    path = Path("here.xacro")
    element = Element("robot", {"name": "r", "v": text}, line=1, path=path)
    macro = Element("xacro:macro", {"name": "m", "params": text}, line=1, path=path)
    for root in (element, Element("robot", {"name": "r"}, (macro,), line=1, path=path)):
        with suppress(PosewrightError):
            expand_xacro(root, path, PackageFiles(path))
