"""Targets of generated C: this computer, an Arduino UNO, a CM-900."""

from __future__ import annotations

import importlib

from posewright.codegen.targets.target import BuildResult, Target, build_unit, write_sources
from posewright.errors import UnknownNameError

_TARGETS = {
    "host": ("posewright.codegen.targets.host", "Host"),
    "arduino-uno": ("posewright.codegen.targets.arduino_uno.uno", "ArduinoUno"),
    "cm900": ("posewright.codegen.targets.cm900.target", "Cm900"),
}

__all__ = ["BuildResult", "Target", "build_unit", "target_named", "target_names", "write_sources"]


def target_names() -> tuple[str, ...]:
    """Return the names of all targets."""
    return tuple(_TARGETS)


def target_named(name: str) -> Target:
    """Return the target of a name.

    Raises:
        UnknownNameError: there is no such target.
    """
    if name not in _TARGETS:
        raise UnknownNameError.among("target", name, _TARGETS)
    module, class_name = _TARGETS[name]
    target: Target = getattr(importlib.import_module(module), class_name)()
    return target
