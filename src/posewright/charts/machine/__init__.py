"""The machine of a chart: what runs it, proves things of it and generates code from it works on."""

from posewright.charts.machine.lowering import lower
from posewright.charts.machine.machine import Machine
from posewright.charts.machine.node import ROOT, Counter, Goal, Node, Way

__all__ = ["ROOT", "Counter", "Goal", "Machine", "Node", "Way", "lower"]
