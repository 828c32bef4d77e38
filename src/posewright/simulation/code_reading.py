"""Reads codes off what a simulated camera sees, so many times a second."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from posewright.bodies import Reading
from posewright.errors import MissingExtraError
from posewright.robots import CodeReader
from posewright.simulation.film import Film, Picture

if TYPE_CHECKING:
    from posewright.simulation.instance import ModelInstance
    from posewright.simulation.world import World

_EARLY_S = 1e-6
"""A picture is due a little before its time: sums of frames are no exact numbers."""


class CodeReading:
    """One code reader of a robot: a camera, and the library that finds codes in its pictures."""

    def __init__(self, world: World, one: ModelInstance, sensor: CodeReader) -> None:
        self._world, self._camera, self._sensor = world, one.prefix + sensor.name, sensor
        self._film: Film | None = None
        self.reset()

    def reset(self) -> None:
        """Forget what was seen."""
        self._due_s, self._number = 0.0, 0

    def close(self) -> None:
        """Give back what the graphics driver holds: a context that is forgotten breaks those that come."""
        if self._film is not None:
            self._film.close()
            self._film = None

    def read_into(self, readings: dict[str, Reading]) -> None:
        """Put down the number of the text that is read, from a new picture where one is due.

        Raises:
            InputError: the world was made without its visuals.
            UnavailableError: nothing can be drawn on this machine.
            MissingExtraError: what reads codes is not installed.
        """
        now_s = float(self._world.time_s)
        if now_s >= self._due_s - _EARLY_S:
            self._due_s = now_s + 1.0 / self._sensor.rate_hz
            self._number = number_of(nearest_text(self._picture()), self._sensor.texts)
        readings[self._sensor.name] = float(self._number)

    def _picture(self) -> Picture:
        if self._film is None:
            size = self._sensor.width, self._sensor.height
            self._film = Film(self._world, *size, self._camera, quick=True)
        return self._film.now()


def number_of(text: str | None, texts: tuple[str, ...]) -> int:
    """Return which of the texts it is, the first being 1; 0 for none of them."""
    return 0 if text not in texts else texts.index(text) + 1


def nearest_text(picture: Picture) -> str | None:
    """Return what the code nearest to the middle line of a picture says; None where there is no code.

    Raises:
        MissingExtraError: what reads codes is not installed.
    """
    try:
        import zxingcpp
    except ImportError as error:
        raise MissingExtraError.for_extra("reading codes", "vision") from error
    grey = np.ascontiguousarray(picture.mean(axis=-1).astype(np.uint8))
    only = zxingcpp.BarcodeFormats(zxingcpp.BarcodeFormat.QRCode)
    found = zxingcpp.read_barcodes(grey, formats=only, try_invert=False)
    middle = picture.shape[1] / 2.0

    def aside(code: zxingcpp.Barcode) -> float:
        place = code.position
        corners = (place.top_left, place.top_right, place.bottom_left, place.bottom_right)
        return float(abs(sum(corner.x for corner in corners) / 4.0 - middle))

    return str(min(found, key=aside).text) if found else None
