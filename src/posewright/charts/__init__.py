"""Charts: state machines as pure logic. They do not depend on robots or on a clock.

A chart is read (`read_chart`), checked by proof (`check_chart`), run (`run_chart`, and tick by tick
`Interpreter`), tried (`run_scenarios`, `cover_chart`, `mutate_chart`), compared (`equivalent`), written as a
truth table (`tabulate_chart`), made smaller (`minimise`), drawn (`draw_chart`, `draw_timeline`) and exchanged
(`scxml_text`, `transition_table_text`). What a chart does in a tick stands in docs/chart-semantics.md.

Names load on first use: whoever only runs a chart needs no solver.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from posewright.lazy import lazy

if TYPE_CHECKING:
    from posewright.charts.checks import CheckStatus as CheckStatus
    from posewright.charts.checks import Counterexample as Counterexample
    from posewright.charts.checks import Finding as Finding
    from posewright.charts.checks import Level as Level
    from posewright.charts.checks import PromiseResult as PromiseResult
    from posewright.charts.checks import Report as Report
    from posewright.charts.checks import Rule as Rule
    from posewright.charts.checks import check_chart as check_chart
    from posewright.charts.checks import check_promises as check_promises
    from posewright.charts.checks import inspect_chart as inspect_chart
    from posewright.charts.checks import require_sound as require_sound
    from posewright.charts.coverage import Cover as Cover
    from posewright.charts.coverage import Coverage as Coverage
    from posewright.charts.coverage import cover_chart as cover_chart
    from posewright.charts.coverage import cover_run as cover_run
    from posewright.charts.coverage import coverage_marks as coverage_marks
    from posewright.charts.coverage import coverage_of as coverage_of
    from posewright.charts.drawing import CoverageMark as CoverageMark
    from posewright.charts.drawing import LabelStyle as LabelStyle
    from posewright.charts.drawing import draw_chart as draw_chart
    from posewright.charts.drawing import draw_mermaid as draw_mermaid
    from posewright.charts.drawing import draw_svg as draw_svg
    from posewright.charts.drawing import draw_timeline as draw_timeline
    from posewright.charts.drawing import label_style as label_style
    from posewright.charts.drawing import timeline_svg as timeline_svg
    from posewright.charts.expression import Expression as Expression
    from posewright.charts.expression import Function as Function
    from posewright.charts.expression import FunctionRow as FunctionRow
    from posewright.charts.expression import Scope as Scope
    from posewright.charts.expression import parse_expression as parse_expression
    from posewright.charts.formats import TruthTable as TruthTable
    from posewright.charts.formats import TruthTableRow as TruthTableRow
    from posewright.charts.formats import beyond_scxml as beyond_scxml
    from posewright.charts.formats import chart_data as chart_data
    from posewright.charts.formats import parse_any_chart as parse_any_chart
    from posewright.charts.formats import parse_chart as parse_chart
    from posewright.charts.formats import parse_scxml as parse_scxml
    from posewright.charts.formats import parse_table as parse_table
    from posewright.charts.formats import parse_transition_table as parse_transition_table
    from posewright.charts.formats import read_chart as read_chart
    from posewright.charts.formats import read_scxml_partially as read_scxml_partially
    from posewright.charts.formats import save_chart as save_chart
    from posewright.charts.formats import save_scxml as save_scxml
    from posewright.charts.formats import save_table as save_table
    from posewright.charts.formats import save_transition_table as save_transition_table
    from posewright.charts.formats import scxml_text as scxml_text
    from posewright.charts.formats import table_to_chart as table_to_chart
    from posewright.charts.formats import transition_table_text as transition_table_text
    from posewright.charts.formats import write_chart as write_chart
    from posewright.charts.machine import BrokenPromise as BrokenPromise
    from posewright.charts.machine import Interpreter as Interpreter
    from posewright.charts.machine import Machine as Machine
    from posewright.charts.machine import Monitor as Monitor
    from posewright.charts.machine import Snapshot as Snapshot
    from posewright.charts.machine import TickOutcome as TickOutcome
    from posewright.charts.machine import lower as lower
    from posewright.charts.model import Action as Action
    from posewright.charts.model import Actions as Actions
    from posewright.charts.model import Assign as Assign
    from posewright.charts.model import Branch as Branch
    from posewright.charts.model import Chart as Chart
    from posewright.charts.model import ChartKind as ChartKind
    from posewright.charts.model import HistoryKind as HistoryKind
    from posewright.charts.model import Otherwise as Otherwise
    from posewright.charts.model import Priority as Priority
    from posewright.charts.model import Promise as Promise
    from posewright.charts.model import PromiseKind as PromiseKind
    from posewright.charts.model import Raise as Raise
    from posewright.charts.model import State as State
    from posewright.charts.model import StateTarget as StateTarget
    from posewright.charts.model import StepMode as StepMode
    from posewright.charts.model import TableForm as TableForm
    from posewright.charts.model import Transition as Transition
    from posewright.charts.model import assign as assign
    from posewright.charts.model import to as to
    from posewright.charts.mutation import Mutant as Mutant
    from posewright.charts.mutation import MutationResult as MutationResult
    from posewright.charts.mutation import mutants as mutants
    from posewright.charts.mutation import mutate_chart as mutate_chart
    from posewright.charts.product import Equivalence as Equivalence
    from posewright.charts.product import equivalent as equivalent
    from posewright.charts.reachability import Exploration as Exploration
    from posewright.charts.reachability import explore as explore
    from posewright.charts.running import run_chart as run_chart
    from posewright.charts.running import to_rows as to_rows
    from posewright.charts.scenarios import Row as Row
    from posewright.charts.scenarios import Scenario as Scenario
    from posewright.charts.scenarios import ScenarioResult as ScenarioResult
    from posewright.charts.scenarios import Tick as Tick
    from posewright.charts.scenarios import expand_scenario_paths as expand_scenario_paths
    from posewright.charts.scenarios import find_scenarios as find_scenarios
    from posewright.charts.scenarios import format_tick_table as format_tick_table
    from posewright.charts.scenarios import parse_input_value as parse_input_value
    from posewright.charts.scenarios import read_rows as read_rows
    from posewright.charts.scenarios import read_scenario as read_scenario
    from posewright.charts.scenarios import run_scenario as run_scenario
    from posewright.charts.scenarios import run_scenarios as run_scenarios
    from posewright.charts.scenarios import save_scenario as save_scenario
    from posewright.charts.session import ChartSession as ChartSession
    from posewright.charts.session import LiveChart as LiveChart
    from posewright.charts.session import Picture as Picture
    from posewright.charts.session import chart as chart
    from posewright.charts.tables import Method as Method
    from posewright.charts.tables import best_order as best_order
    from posewright.charts.tables import grouped as grouped
    from posewright.charts.tables import minimise as minimise
    from posewright.charts.tables import minimised_chart as minimised_chart
    from posewright.charts.tables import table_of as table_of
    from posewright.charts.tables import tabulate_chart as tabulate_chart
    from posewright.charts.types import UNITS as UNITS
    from posewright.charts.types import BoolType as BoolType
    from posewright.charts.types import EnumType as EnumType
    from posewright.charts.types import FloatType as FloatType
    from posewright.charts.types import IntType as IntType
    from posewright.charts.types import Type as Type
    from posewright.charts.types import Value as Value
    from posewright.charts.types import conversion_factor as conversion_factor
    from posewright.charts.types import format_value as format_value
else:
    __getattr__, __dir__, __all__ = lazy(__name__)
