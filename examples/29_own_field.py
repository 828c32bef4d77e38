"""Import a field from another program as an arena, and run a race on an own arena.

As `posewright arena list | show | import | plot | export`, and of a trial with `arena: {kind: FILE}`.
"""

import sys
from dataclasses import replace
from pathlib import Path

import posewright as pw
from posewright.runs import read_trial

out = Path(sys.argv[1] if len(sys.argv) > 1 else "out")
out.mkdir(parents=True, exist_ok=True)

print("arenas:", *pw.all_arena_names())
walls = [shape.size_m for shape in pw.find_arena("ceabot_obstacles").shapes]
print("shapes of the race's field:", len(walls))

# As written by Blender: a floor, a wall and a post.
scene = """#VRML V2.0 utf8
DEF Floor Transform { translation 1 0 -0.05 children Shape { geometry Box { size 2 1.5 0.1 } } }
DEF Wall Transform { translation -0.01 0 0.25 children Shape { geometry Box { size 0.02 1.5 0.5 } } }
DEF Post Transform { translation 1 0.3 0.2 rotation 1 0 0 1.5708
  children Shape { geometry Cylinder { radius 0.1 height 0.4 } } }
"""
(out / "drawn.wrl").write_text(scene)
imported = pw.import_arena(out / "drawn.wrl")
print(imported.arena, *imported.notes, sep="\n")
pw.write_arena(out / "drawn.arena.yaml", imported.arena)
pw.save_figure(pw.draw_arena(imported.arena), out / "drawn.png")
pw.export_arena(imported.arena, out / "drawn.xml")

pw.write_arena(out / "mine.arena.yaml", replace(pw.find_arena("ceabot_obstacles"), name="mine"))
trial = replace(read_trial("obstacle-race"), arena=str(out / "mine.arena.yaml"), layout="example_2")
print(f"{pw.run_trial(trial).score.total_points:.2f} points")
