"""Test a chart.  As `posewright chart test`, `coverage`, `cover`, `mutate`, `diff` and `convert`."""

import sys
from pathlib import Path

import posewright as pw

out = Path(sys.argv[1] if len(sys.argv) > 1 else "out")
out.mkdir(parents=True, exist_ok=True)
folder = Path(__file__).parent / "charts" / "traffic"

chart = pw.read_chart(folder / "crossing.chart.yaml")
print(f"{chart.name}: {len(chart.state_names)} states; findings: {pw.check_chart(chart)}")

scenarios = sorted((folder / "scenarios").glob("*.scenario.yaml"))
for result in pw.run_scenarios(chart, scenarios):
    print(f"  {result.scenario.name}: {'passed' if result.passed else result.failures}")
for row in pw.coverage_of(chart, scenarios).rows:
    print(f"  {row.measure.value}: {row.covered} of {row.total}")
pw.draw_timeline(chart, pw.run_chart(chart, scenarios[0]), out / "timeline.svg")

cover = pw.cover_chart(chart)  # scenarios that take every reachable transition
faults = pw.mutate_chart(chart, cover.scenarios)
print(f"{len(cover.scenarios)} scenarios find {faults.score:.0%} of {faults.total} single faults")

pw.write_chart(chart, out / "crossing.scxml")
print("equivalent after SCXML:", bool(pw.compare_charts(chart, pw.read_chart(out / "crossing.scxml"))))
