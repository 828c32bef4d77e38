"""Promises: what must hold at every tick of every run, proved before and watched while a chart runs.

for result in prove_promises(chart): result.verdict, result.message, result.trace
watch = Watch(chart); broken = watch.see(inputs, state)          # after every tick
"""

from posewright.charts.promises.proving import check_promises, prove_promises, watched_by
from posewright.charts.promises.result import PromiseResult, Verdict
from posewright.charts.promises.watch import Broken, Watch

__all__ = ["Broken", "PromiseResult", "Verdict", "Watch", "check_promises", "prove_promises", "watched_by"]
