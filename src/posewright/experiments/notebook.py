"""How a notebook shows robots, motions, gaits, walks, outcomes and recordings: a picture above a table.

`%load_ext posewright` turns it on, and so does importing posewright inside IPython. What a picture needs is
loaded when one is first shown.
"""

from __future__ import annotations

import importlib
from base64 import b64encode
from collections.abc import Mapping
from html import escape
from types import MappingProxyType
from typing import Any

from posewright.errors import PosewrightError

_FIGURES, _REPLAYING = "posewright.figures", "posewright.experiments.replaying"
SHOWN: Mapping[tuple[str, str], tuple[str, str]] = MappingProxyType(
    {
        ("posewright.robots.card", "Robot"): (_FIGURES, "draw_robot"),
        ("posewright.motions.motion", "Motion"): (_FIGURES, "draw_motion"),
        ("posewright.gaits.quadruped.gait", "Gait"): (_FIGURES, "draw_gait"),
        ("posewright.evaluation.walking.report", "WalkResult"): (_FIGURES, "draw_walk"),
        ("posewright.experiments.outcome", "Outcome"): (_REPLAYING, "draw_outcome"),
        ("posewright.recordings.recording", "Recording"): (_REPLAYING, "draw_outcome"),
    }
)
"""Module and name of the types that are shown as pictures, and of the functions that draw them."""


def register(shell: Any) -> None:
    """Let a running IPython show our types as pictures; none of their modules is imported for that."""
    html = shell.display_formatter.formatters["text/html"]
    for (module, name), (room, function) in SHOWN.items():
        html.for_type_by_name(module, name, lambda one, r=room, f=function: shown(one, r, f))


def shown(one: Any, room: str, function: str) -> str:
    """Return something as HTML: its picture, by a function of a module, and its table; one that can be drawn.

    Of what cannot be drawn, as a motion that takes no time, it is said why.
    """
    from posewright.figures.saving import picture_bytes

    table = one._repr_html_() if hasattr(one, "_repr_html_") else f"<p>{escape(repr(one))}</p>"
    try:
        figure = getattr(importlib.import_module(room), function)(one)
        picture = b64encode(picture_bytes(figure, ".png")).decode()
    except PosewrightError as error:
        return f"<p>{escape(str(error))}</p>{table}"
    alt = escape(str(figure.get_label()), quote=True)
    return f'<img alt="{alt}" style="max-width: 100%" src="data:image/png;base64,{picture}">{table}'
