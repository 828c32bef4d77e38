"""The document: the pages of a file, with undo and redo.

```python
document = Document(Pages.of(read_motion_file("bow.motion.yaml")))
document.do(SetAngles(page=1, keyframe=2, angles_rad={"right_knee": 0.4}))
document.undo()
```
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from posewright.robots import Robot
from posewright.studio.history import History
from posewright.studio.pages import Pages


class Command(Protocol):
    """A change of the pages: a frozen dataclass of plain values, read from a request."""

    @property
    def label(self) -> str:
        """The text after "Undo" in the menu, such as `turn right_knee`."""

    def apply(self, pages: Pages, robot: Robot) -> Pages:
        """Return the changed pages.

        Raises:
            InputError: the change is not possible.
        """


class Document(History[Pages]):
    """The current pages, and the steps that can be undone and redone.

    Args:
        pages: the first pages, before which nothing can be undone.
        robot: the robot of the motions.
        on_change: called after each change with the pages before and after it.
        saved_pages: the pages in the file; None if they are the first pages.
    """

    def __init__(
        self,
        pages: Pages,
        robot: Robot,
        on_change: Callable[[Pages, Pages], None] | None = None,
        saved_pages: Pages | None = None,
    ) -> None:
        """Begin the history with these pages, so that there is nothing to undo."""
        super().__init__(pages, on_change, saved_pages)
        self.robot = robot

    @property
    def pages(self) -> Pages:
        """The current pages."""
        return self.value

    def do(self, command: Command, gesture: str = "") -> bool:
        """Apply a command; return whether anything changed.

        Args:
            command: the change.
            gesture: identifies a drag; consecutive changes of one gesture are undone together.

        Raises:
            InputError: the change is not possible; nothing has changed.
        """
        return self.change(command.label, command.apply(self.pages, self.robot), gesture)
