"""The studio: design motions in the browser, and try them under gravity.

A `Document` holds the pages of one file; every change of it is a `Command`, which can be undone. A `Panel` is
one part of the studio: it has actions that a window can request, and publishes topics. The `Session` runs all
of this on one thread, one request at a time. The `Server` connects it to the browser.

    window --request--> Server --> Session --> Panel --> Document --change--> panels --topic--> all windows
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from posewright.lazy import lazy

if TYPE_CHECKING:
    from posewright.studio.document import Command as Command
    from posewright.studio.document import Document as Document
    from posewright.studio.motion_view import open_view as open_view
    from posewright.studio.pages import Pages as Pages
    from posewright.studio.session import Panel as Panel
    from posewright.studio.session import Session as Session
    from posewright.studio.studio import Studio as Studio
    from posewright.studio.studio import open_arena_editor as open_arena_editor
    from posewright.studio.studio import open_studio as open_studio
else:
    __getattr__, __dir__, __all__ = lazy(__name__)
