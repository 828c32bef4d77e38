"""The studio without a browser: create a motion, change it, undo the change.

As `posewright studio`, `posewright arena edit`, `posewright motion new` and `motion view`. Every action in a
window is a command that Python can execute, too.
"""

import tempfile
from pathlib import Path

import posewright as pw
from posewright.studio.commands.pose import SetAngles

file = Path(tempfile.mkdtemp()) / "look_up.motion.yaml"
pw.write_motion(pw.create_motion("look_up", pw.robot("sony_ers7"), pose="sit"), file)

studio = pw.open_studio(file)
print("a browser would open", studio.url.partition("?")[0][:16])

session = studio.session
document = session.document
look_up = SetAngles(page=1, keyframe=0, angles_rad={"head_tilt": 0.3})
session.do_and_wait(lambda: session.do(look_up))
print("to be undone:", document.undo_label)
print("head tilt:", document.pages.motion(1).keyframes[0].pose.angle("head_tilt"))

session.do_and_wait(session.undo)
print("as in the file:", not document.is_dirty)
studio.close()

editor = pw.open_arena_editor("ceabot_obstacles")
print("a browser would open the arena editor:", editor.url.partition("?")[0][:16])
editor.close()

view = pw.open_view(file)
print("a read-only view of", view.session.topics["motion"]["name"])
view.close()
