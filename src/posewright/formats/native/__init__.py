"""Native motion files, `*.motion.yaml`."""

from __future__ import annotations

from posewright.formats.native.document import read, render, write

__all__ = ["read", "render", "write"]
