"""The speed settings of moves, SPEED with HIGHSPEED, and how a motion's extras store them.

They are stored because a short move takes the same number of pulses at several settings.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

from posewright.motions import Motion
from posewright.runtimes.robobasic.servos import board_parameters

EXTRA = "robobasic_speed"
"""The key in a motion's extras; a setting for each keyframe: `5 5 3h -`, or `5*2 3h -`; h is HIGHSPEED."""

_RUN = re.compile(r"(?:([0-9]{1,2})(h?)|-)(?:\*([0-9]{1,5}))?")


@dataclass(frozen=True, slots=True)
class SpeedSetting:
    """The value of SPEED, and whether HIGHSPEED is on."""

    speed: int
    high_speed: bool = False

    def __str__(self) -> str:
        return f"{self.speed}{'h' * self.high_speed}"

    def rate(self, speed_counts_s: float) -> float:
        """Return the counts a second, given those at SPEED 1."""
        factor = board_parameters().high_speed if self.high_speed else 1.0
        return self.speed * speed_counts_s * factor


def all_speed_settings() -> tuple[SpeedSetting, ...]:
    """Return all settings: slow ones first, those without HIGHSPEED before those with it."""
    low, high = board_parameters().speeds
    return tuple(SpeedSetting(speed, is_high) for is_high in (False, True) for speed in range(low, high + 1))


def encode_speed_settings(settings: Sequence[SpeedSetting | None]) -> dict[str, str]:
    """Return the extras of a motion that store the settings of its keyframes; empty if all are None."""
    if not any(settings):
        return {}
    runs: list[str] = []
    for setting, repetitions in groupby(settings):
        n_repetitions = len(list(repetitions))
        text = str(setting or "-")
        runs.append(text if n_repetitions == 1 else f"{text}*{n_repetitions}")
    return {EXTRA: " ".join(runs)}


def decode_speed_settings(motion: Motion) -> list[SpeedSetting | None]:
    """Return the setting of each keyframe of a motion, as its extras store them; None where there is none.

    The extra is a text such as `5 8h*3 -`: SPEED 5, three times SPEED 8 with HIGHSPEED, and one without a
    setting. All are None if it has another form, or not as many settings as the motion has keyframes.
    """
    unknown: list[SpeedSetting | None] = [None] * len(motion.keyframes)
    settings: list[SpeedSetting | None] = []
    for run in motion.extras.get(EXTRA, "").split():
        match = _RUN.fullmatch(run)
        if match is None or len(settings) > len(unknown):  # more could fill the memory
            return unknown
        speed, high_mark, n_repetitions = match.groups()
        setting = SpeedSetting(int(speed), bool(high_mark)) if speed else None
        if setting not in all_speed_settings():
            setting = None
        settings += [setting] * int(n_repetitions or 1)
    return settings if len(settings) == len(unknown) else unknown
