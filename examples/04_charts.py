"""A state machine.  As `posewright chart check`, `table`, `minimise`, `draw` and `run`."""

import sys
from pathlib import Path

import posewright as pw
from posewright.charts import equivalent, save_table

out = Path(sys.argv[1] if len(sys.argv) > 1 else "out")
out.mkdir(parents=True, exist_ok=True)
behaviours = pw.robot("robotis_bioloid").folder / "behaviours"

chart = pw.read_chart(behaviours / "obstacle_mealy.chart.yaml")  # or a truth table's .csv
print(f"{chart.name}: {len(chart.state_names)} states; findings: {pw.check_chart(chart)}")

save_table(pw.tabulate_chart(chart), out / "table.csv")
copy = pw.read_chart(out / "table.csv")
minimal = pw.minimise_chart(copy)
print(f"{len(pw.tabulate_chart(copy).rows)} rows, {len(minimal.rows)} minimised; of state 10, w v u / s1 s0:")
print("  ", *minimal.rows_of("10"), "  (X = either)")

table_chart = pw.read_chart(behaviours / "obstacle_mealy_table.chart.yaml")
print("both shipped forms are the same machine:", bool(equivalent(chart, table_chart, every_state=True)))

for tick in pw.run_chart(chart, ["front=0", "front=1", "left=1"]):
    print(f"  {tick.before} -> {tick.after.state}, outputs {tick.after.outputs}")
pw.draw_chart(chart, out / "chart.svg", active="turning_right")
