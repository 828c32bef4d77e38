"""A small, safe expression language for guards and actions.

    not front and (left or right)     abs(heading) > 10 deg     count + 1 if near else 0     after(0.5 s)

The text is split into tokens and parsed to a tree of frozen nodes. The tree is type checked against the names
in scope, its units are converted, calls of truth tables are inlined, and the result is compiled to closures.
Python's own evaluator is never used, so no document can run code.
"""

from __future__ import annotations

from posewright.charts.expression.expression import (
    ClampedArgument,
    Env,
    Evaluate,
    Expression,
    compile_tree,
    constant,
)
from posewright.charts.expression.scope import Function, FunctionRow, Scope
from posewright.charts.expression.source import KEYWORDS, SourceText
from posewright.charts.expression.syntax import format_tree, parse, shorten
from posewright.charts.expression.tree import (
    ARITHMETIC,
    COMPARISONS,
    LOGIC,
    Binary,
    Call,
    If,
    InState,
    Literal,
    Name,
    Operator,
    TemporalCondition,
    TemporalOperator,
    Tree,
    Unary,
    children,
    is_timed,
    join_cases,
    names_in,
    nodes_of,
    rewrite,
    split_cases,
    with_children,
)
from posewright.charts.expression.typecheck import FUNCTIONS, TEMPORAL_OPERATORS, parse_expression, typecheck

__all__ = [
    "ARITHMETIC",
    "COMPARISONS",
    "FUNCTIONS",
    "KEYWORDS",
    "LOGIC",
    "TEMPORAL_OPERATORS",
    "Binary",
    "Call",
    "ClampedArgument",
    "Env",
    "Evaluate",
    "Expression",
    "Function",
    "FunctionRow",
    "If",
    "InState",
    "Literal",
    "Name",
    "Operator",
    "Scope",
    "SourceText",
    "TemporalCondition",
    "TemporalOperator",
    "Tree",
    "Unary",
    "children",
    "compile_tree",
    "constant",
    "format_tree",
    "is_timed",
    "join_cases",
    "names_in",
    "nodes_of",
    "parse",
    "parse_expression",
    "rewrite",
    "shorten",
    "split_cases",
    "typecheck",
    "with_children",
]
