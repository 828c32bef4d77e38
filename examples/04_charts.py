"""A state machine.  Twin of `posewright chart check`, `table`, `minimise`, `draw` and `run`."""

import sys
from pathlib import Path

import posewright as pw
from posewright.charts import Interpreter, check_chart, draw_svg, equivalent, minimise, save_table, table_of

out = Path(sys.argv[1] if len(sys.argv) > 1 else "out")
out.mkdir(parents=True, exist_ok=True)
behaviours = pw.robot("robotis_bioloid").folder / "behaviours"

chart = pw.read_chart(behaviours / "obstacle_mealy.chart.yaml")  # or a truth table's .csv
print(f"{chart.name}: {len(chart.state_names)} states; findings: {check_chart(chart)}")

save_table(table_of(chart), out / "table.csv")
again = pw.read_chart(out / "table.csv")
print(f"{len(table_of(chart).rows)} rows, minimised: {len(minimise(again).rows)}")
for row in minimise(again).rows_of("10"):  # w v u / s1 s0, X = either
    print("  10", row)

other = pw.read_chart(behaviours / "obstacle_mealy_table.chart.yaml")
print("both shipped forms are the same machine:", bool(equivalent(chart, other, every_state=True)))

machine = Interpreter(chart)
state = machine.initial()
for inputs in ({"front": False}, {"front": True}, {"left": True}):
    state = machine.step(state, {"front": False, "left": False, "right": False, **inputs})
    print(f"  {inputs} -> {state.state}")
(out / "chart.svg").write_text(draw_svg(chart, active=state.state), encoding="utf-8")
