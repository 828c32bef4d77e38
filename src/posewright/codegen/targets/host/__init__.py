"""This computer as a target: units as shared libraries, compiled once and cached."""

from __future__ import annotations

from posewright.codegen.targets.host.library import Host, HostLibrary

__all__ = ["Host", "HostLibrary"]
