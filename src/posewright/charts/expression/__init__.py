"""A small, safe expression language for guards and actions.

    not front and (left or right)        abs(heading_deg) > 10        count + 1

Text becomes tokens, tokens a tree of frozen nodes, the tree is typed against the names in scope and
compiled to closures. Nothing is ever handed to Python's own evaluator, so no document can run code.
"""

from posewright.charts.expression.expression import Expression, constant, parse_expression
from posewright.charts.expression.scope import Scope
from posewright.charts.expression.source import Source
from posewright.charts.expression.tree import Binary, Call, Literal, Name, Operator, Tree, Unary, names_in

__all__ = [
    "Binary",
    "Call",
    "Expression",
    "Literal",
    "Name",
    "Operator",
    "Scope",
    "Source",
    "Tree",
    "Unary",
    "constant",
    "names_in",
    "parse_expression",
]
