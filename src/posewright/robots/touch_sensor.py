"""Sensors of touch."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from posewright.robots.channel import Channel


@dataclass(frozen=True)
class FootContact:
    """Tells whether a foot touches the floor."""

    kind: ClassVar[str] = "foot_contact"
    name: str
    foot: str

    @property
    def channels(self) -> tuple[Channel, ...]:
        """True while the foot touches."""
        return (Channel(self.name, ""),)


@dataclass(frozen=True)
class TouchSwitch:
    """Tells whether a hand presses it; a simulated body has nobody to press it, so it gives no reading."""

    kind: ClassVar[str] = "touch_switch"
    name: str
    place: str

    @property
    def channels(self) -> tuple[Channel, ...]:
        """None."""
        return ()


@dataclass(frozen=True)
class AnalogTouch:
    """Measures how hard a hand presses, in units of its own; like a switch, it gives no reading.

    Attributes:
        name: the sensor's name.
        place: where on the robot, in words.
        on_above: above this it counts as pressed.
        off_below: below this it counts as let go.
    """

    kind: ClassVar[str] = "analog_touch"
    name: str
    place: str
    on_above: float
    off_below: float

    @property
    def channels(self) -> tuple[Channel, ...]:
        """None."""
        return ()


@dataclass(frozen=True)
class VibrationSensor:
    """Tells that the robot was knocked; nobody knocks a simulated body, so it gives no reading."""

    kind: ClassVar[str] = "vibration"
    name: str
    place: str

    @property
    def channels(self) -> tuple[Channel, ...]:
        """None."""
        return ()
