"""A small, safe expression language for guards and actions.

    not front and (left or right)     abs(heading) > 10 deg     count + 1 if near else 0     after(0.5 s)

Text becomes tokens, tokens a tree of frozen nodes, the tree is typed against the names in scope, units are
converted and calls of truth tables put in as conditions; what is left is compiled to closures. Nothing is
ever handed to Python's own evaluator, so no document can run code.
"""

from __future__ import annotations

from posewright.charts.expression.expression import (
    Argument,
    Env,
    Evaluate,
    Expression,
    compile_tree,
    constant,
)
from posewright.charts.expression.scope import Function, FunctionRow, Scope
from posewright.charts.expression.source import WORDS, Source
from posewright.charts.expression.syntax import parse, shortened, text_of
from posewright.charts.expression.tree import (
    ARITHMETIC,
    COMPARISONS,
    LOGIC,
    Binary,
    Call,
    If,
    Inside,
    Literal,
    Name,
    Operator,
    Timed,
    Timing,
    Tree,
    Unary,
    cases_of,
    chain_of,
    children,
    is_timed,
    names_in,
    nodes_of,
    rewritten,
    with_children,
)
from posewright.charts.expression.typecheck import FUNCTIONS, TIMINGS, parse_expression, typecheck

__all__ = [
    "ARITHMETIC",
    "COMPARISONS",
    "FUNCTIONS",
    "LOGIC",
    "TIMINGS",
    "WORDS",
    "Argument",
    "Binary",
    "Call",
    "Env",
    "Evaluate",
    "Expression",
    "Function",
    "FunctionRow",
    "If",
    "Inside",
    "Literal",
    "Name",
    "Operator",
    "Scope",
    "Source",
    "Timed",
    "Timing",
    "Tree",
    "Unary",
    "cases_of",
    "chain_of",
    "children",
    "compile_tree",
    "constant",
    "is_timed",
    "names_in",
    "nodes_of",
    "parse",
    "parse_expression",
    "rewritten",
    "shortened",
    "text_of",
    "typecheck",
    "with_children",
]
