"""`posewright motion view`: a motion in the browser, read again whenever its file changes."""

from __future__ import annotations

from posewright.cli import console
from posewright.cli.motion_options import MotionPath, Page, RobotName
from posewright.cli.options import AsJson
from posewright.cli.studio import Browser, Host, Port, serve_until_ended


def view(
    file: MotionPath,
    page: Page = None,
    robot: RobotName = None,
    host: Host = "127.0.0.1",
    port: Port = 0,
    browser: Browser = True,
    as_json: AsJson = False,
) -> None:
    """Play a motion in the browser, without physics; it is shown anew whenever the file changes.

    The file is only read. Ctrl-C ends it.

    [bold]Examples[/]
      posewright motion view walk.motion.yaml
      posewright motion view humanoid.mtn --page Bow --port 8080 --no-browser
    """
    from posewright.studio.motion_view import open_view

    with console.working("view: starting", quiet=as_json):
        opened = open_view(file, robot, page=page, host=host, port=port)
    serve_until_ended(opened, "the motion", browser=browser, as_json=as_json)
