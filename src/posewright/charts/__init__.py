"""Charts: state machines as pure logic. They know nothing of robots and have no clock of their own.

A chart is read (`read_chart`), checked (`check_chart`), run (`run_chart`, and tick by tick `Interpreter`),
written as a truth table (`tabulate_chart`), made smaller (`minimise`), compared (`equivalent`) and drawn
(`draw_chart`).
"""

from posewright.charts.chart import Chart, Kind, Otherwise, Priority, State, Transition
from posewright.charts.chart_state import ChartState
from posewright.charts.checks import check_chart, require_sound
from posewright.charts.datatypes import BoolType, EnumType, FloatType, IntType, Type, Value
from posewright.charts.door import chart_in, read_chart
from posewright.charts.drawing import draw_chart, draw_mermaid, draw_svg, style_called
from posewright.charts.equivalence import Equivalence, equivalent
from posewright.charts.expression import Expression, Scope, parse_expression
from posewright.charts.finding import Counterexample, Finding, Level, Rule
from posewright.charts.interpreter import Interpreter
from posewright.charts.minimise import Method, best_order, minimise, minimised_chart
from posewright.charts.reading import parse_chart
from posewright.charts.rows import Row, Tick, read_rows
from posewright.charts.running import run_chart
from posewright.charts.table_form import TableForm
from posewright.charts.table_reading import parse_table
from posewright.charts.truth_table import TableRow, TruthTable, chart_of, save_table, table_of, tabulate_chart
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
    "Row",
    "Rule",
    "Scope",
    "State",
    "TableForm",
    "TableRow",
    "Tick",
    "Transition",
    "TruthTable",
    "Type",
    "Value",
    "best_order",
    "chart_data",
    "chart_in",
    "chart_of",
    "check_chart",
    "draw_chart",
    "draw_mermaid",
    "draw_svg",
    "equivalent",
    "minimise",
    "minimised_chart",
    "parse_chart",
    "parse_expression",
    "parse_table",
    "read_chart",
    "read_rows",
    "require_sound",
    "run_chart",
    "save_chart",
    "save_table",
    "style_called",
    "table_of",
    "tabulate_chart",
]
