"""The document: pages, and every step that led to them.

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
    """A change of the pages, as plain values: a frozen dataclass that a request is read into."""

    @property
    def label(self) -> str:
        """The words behind "Undo" in the menu: `turn right_knee`."""

    def apply(self, pages: Pages, robot: Robot) -> Pages:
        """Return the pages with the change made; an `InputError` where it makes no sense."""


class Document(History[Pages]):
    """The pages as they are now, and the steps that can be undone and done again.

    Args:
        pages: as they were read.
        robot: whose motions they are.
        on_change: called after each change with the pages before and after it.
    """

    def __init__(
        self, pages: Pages, robot: Robot, on_change: Callable[[Pages, Pages], None] | None = None
    ) -> None:
        super().__init__(pages, on_change)
        self.robot = robot

    @property
    def pages(self) -> Pages:
        """The pages as they are now."""
        return self.now

    def do(self, command: Command, gesture: str = "") -> bool:
        """Make a change; return whether anything is different now.

        Args:
            command: the change.
            gesture: changes of one gesture that follow each other are undone as one.

        Raises:
            InputError: the command makes no sense; nothing has changed.
        """
        return self.change(command.label, command.apply(self.pages, self.robot), gesture)
