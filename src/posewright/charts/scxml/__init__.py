"""SCXML: the W3C's notation for statecharts, in and out. docs/scxml.md states the subset."""

from posewright.charts.scxml.beyond import beyond_scxml
from posewright.charts.scxml.reading import parse_scxml
from posewright.charts.scxml.writing import save_scxml, scxml_text, tick_of

__all__ = ["beyond_scxml", "parse_scxml", "save_scxml", "scxml_text", "tick_of"]
