"""Programs for random tests, as people write them: any case, any blanks, comments; and damaged ones."""

from __future__ import annotations

import random

from hypothesis import strategies as st

NAMES = ("A", "count", "Side", "왼쪽", "bit_3")
LABELS = ("main", "Walk_On", "한걸음", "l2")
ODD = (
    "(", ")", '"', "'", ",", ", ,", ":", ".", "&", "&H", "-", "=", "<", "<<", "\t", "    ", "\n", "\r",
    "\x0c", "\x1a", "IF ", " THEN ", "ELSE ", "ENDIF", "NEXT", "FOR ", "GOTO ", "MOVE ", "G6A", "REM ",
    "65536", "9" * 12, "\x1b[31m", "é", "\u3000", "\u202e", "ß", "\u017f", "label:", "label: REM x",
    "A.9", "AD(", "\ud7a3", "x" * 70, "END IF",
)  # fmt: skip

numbers = st.one_of(st.integers(0, 300).map(str), st.sampled_from(("&h1f", "&B101", "&o17", "007")))
names = st.sampled_from(NAMES)
labels = st.sampled_from(LABELS)
operands = st.one_of(numbers, names, st.sampled_from(("A.3", "ad(5)", "Remocon( 1 )", "RR", "peek(A)")))
operators = st.sampled_from(("+", "-", "*", "/", " mod ", "%", "=", "<>", "<", ">=", " and ", " OR "))
expressions = st.lists(operands, min_size=1, max_size=4).flatmap(
    lambda ones: st.lists(operators, min_size=len(ones) - 1, max_size=len(ones) - 1).map(
        lambda signs: ones[0] + "".join(sign + one for sign, one in zip(signs, ones[1:], strict=True))
    )
)
fields = st.lists(st.one_of(st.integers(10, 190).map(str), st.just(""), st.just(" "), names), max_size=6)
groups = st.sampled_from(("G6A", "g6b", "G6D", "G24"))


def _moved(word: str) -> st.SearchStrategy[str]:
    return st.builds(lambda group, ones: f"{word} {','.join([group, *ones])}", groups, fields)


_plain: st.SearchStrategy[str] = st.one_of(
    st.builds("{}={}".format, names, expressions),
    _moved("move"),
    _moved("MOVE"),
    st.builds(lambda ones: f"Move24 {','.join(ones)}", fields),
    st.builds("goto {}".format, labels),
    st.builds("GOSUB {}".format, labels),
    st.builds(
        lambda value, ones: f"on {value} goto {','.join(ones)}",
        names,
        st.lists(labels, min_size=1, max_size=4),
    ),
    st.sampled_from(
        ("wait", "RETURN", "End", "stop", "beep", "ptp allon", "HighSpeed SetOn", "nonsense 3, ,4")
    ),
    st.sampled_from(
        (
            "print \"a, 'b'\",A, format(count,dec,2)",
            "erx 4800,A,MAIN",
            "Const TOP=3",
            "dim x as byte ,y as integer",
        )
    ),
    st.builds("speed {}".format, expressions),
)
_branching = st.builds("if {} then {}".format, expressions, _plain)
_lines: st.SearchStrategy[str] = st.one_of(
    _plain,
    _branching,
    st.builds("{} else {}".format, _branching, _plain),
    st.builds("if {} then".format, expressions),
    st.builds("elseif {} then".format, expressions),
    st.builds("for {} = {} to {}".format, names, numbers, expressions),
    st.sampled_from(
        ("else", "else if A=1 then", "endif", "end if", "next", "next A", "", "", "", "(", "A = ")
    ),
    st.builds("{}:".format, labels),
    st.builds("{} : {}".format, labels, _plain),
    st.builds("pose: POS G6A,{}".format, fields.map(",".join)),
    st.sampled_from(("rem a remark", "main: rem x", "' alone", "'")),
)
_blanks = st.sampled_from(("", "", " ", "\t", "      "))
_comments = st.sampled_from(("", "", "", "' so", "'  왼쪽  ", "'\""))


@st.composite
def programs(draw: st.DrawFn) -> str:
    """Draw the text of a program."""
    lines = draw(st.lists(st.tuples(_blanks, _lines, _blanks, _comments), max_size=25))
    return "\n".join("".join(pieces) for pieces in lines) + draw(st.sampled_from(("", "\n", "\n\x1a")))


def damaged(rng: random.Random, text: str) -> str:
    """Return a text with one to four places otherwise."""
    for _ in range(rng.choice((1, 1, 2, 4))):
        at = rng.randrange(len(text) + 1)
        to = min(len(text), at + rng.choice((0, 1, 1, 2, 8, 40)))
        other = rng.randrange(len(text) + 1)
        how = rng.randrange(5)
        if how == 0:
            new = ""
        elif how == 1:
            new = rng.choice(ODD)
        elif how == 2:
            new = text[other : other + rng.randrange(60)]
        elif how == 3:
            new = rng.choice(ODD) * rng.choice((2, 20, 300))
        else:
            new = chr(
                rng.choice(
                    (rng.randrange(32, 127), rng.randrange(0x80, 0x300), rng.randrange(0xAC00, 0xD7A4))
                )
            )
        text = text[:at] + new + text[to:]
    return text
