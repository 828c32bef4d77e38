"""Charts: state machines as pure logic. They know nothing of robots and have no clock of their own.

A chart is read (`read_chart`), checked (`check_chart`), run (`Interpreter`), written as a truth table
(`table_of`), made smaller (`minimise`), compared (`equivalent`) and drawn (`draw_svg`, `draw_mermaid`).
"""

from posewright.charts.chart import Chart, Kind, Otherwise, Priority, State, Transition
from posewright.charts.chart_state import ChartState
from posewright.charts.checks import check_chart, require_sound
from posewright.charts.datatypes import BoolType, EnumType, FloatType, IntType, Type, Value
from posewright.charts.door import read_chart
from posewright.charts.drawing import draw_mermaid, draw_svg
from posewright.charts.equivalence import Equivalence, equivalent
from posewright.charts.expression import Expression, Scope, parse_expression
from posewright.charts.finding import Counterexample, Finding, Level, Rule
from posewright.charts.interpreter import Interpreter
from posewright.charts.minimise import Method, best_order, minimise, minimised_chart
from posewright.charts.reading import parse_chart
from posewright.charts.table_form import TableForm
from posewright.charts.table_reading import parse_table
from posewright.charts.truth_table import TableRow, TruthTable, chart_of, save_table, table_of
from posewright.charts.writing import chart_data, save_chart

__all__ = [
    "BoolType",
    "Chart",
    "ChartState",
    "Counterexample",
    "EnumType",
    "Equivalence",
    "Expression",
    "Finding",
    "FloatType",
    "IntType",
    "Interpreter",
    "Kind",
    "Level",
    "Method",
    "Otherwise",
    "Priority",
    "Rule",
    "Scope",
    "State",
    "TableForm",
    "TableRow",
    "Transition",
    "TruthTable",
    "Type",
    "Value",
    "best_order",
    "chart_data",
    "chart_of",
    "check_chart",
    "draw_mermaid",
    "draw_svg",
    "equivalent",
    "minimise",
    "minimised_chart",
    "parse_chart",
    "parse_expression",
    "parse_table",
    "read_chart",
    "require_sound",
    "save_chart",
    "save_table",
    "table_of",
]
