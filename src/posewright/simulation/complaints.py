"""What MuJoCo complains about while it steps, kept from being written to a file in the working folder."""

from __future__ import annotations

from collections import deque

import mujoco

_KEPT: deque[str] = deque(maxlen=16)
"""MuJoCo has one handler for all worlds of a process, so whoever steps one clears this first."""


def listen() -> None:
    """Take MuJoCo's warnings, which it else appends to `MUJOCO_LOG.TXT`; a program's own handler stays."""
    if mujoco.get_mju_user_warning() is None:
        mujoco.set_mju_user_warning(_KEPT.append)


def forget() -> None:
    """Forget what was complained about until now: it was about another world, or another time."""
    _KEPT.clear()


def last_complaint() -> str:
    """Return what was last complained about since `forget`; empty if nothing was."""
    return " ".join(_KEPT[-1].split()) if _KEPT else ""
