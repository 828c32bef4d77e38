"""A simulated code reader: a camera whose images are searched for codes at a fixed rate."""

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

_TIME_TOLERANCE_S = 1e-6
"""An image is due this much before its time, as sums of frame periods are not exact [s]."""


class SimulatedCodeReader:
    """Renders one code reader's camera when an image is due, and reads the code in it.

    Args:
        world: the world to render.
        instance: the robot.
        sensor: the code reader.
    """

    def __init__(self, world: World, instance: ModelInstance, sensor: CodeReader) -> None:
        self._world = world
        self._camera = instance.prefix + sensor.name
        self._sensor = sensor
        self._film: Film | None = None
        self.reset()

    def reset(self) -> None:
        """Forget the last code, and make an image due at once."""
        self._next_image_s = 0.0
        self._text_number = 0

    def close(self) -> None:
        """Release the graphics context; one that is not released breaks later ones."""
        if self._film is not None:
            self._film.close()
            self._film = None

    def read_into(self, readings: dict[str, Reading]) -> None:
        """Store the number of the last text that was read; a new image is rendered and read when one is due.

        Raises:
            InputError: the world was made without its visuals.
            UnavailableError: nothing can be rendered on this machine.
            MissingExtraError: the library that reads codes is not installed.
        """
        now_s = float(self._world.time_s)
        if now_s >= self._next_image_s - _TIME_TOLERANCE_S:
            self._next_image_s = now_s + 1.0 / self._sensor.rate_hz
            self._text_number = find_text_number(read_central_code(self._render()), self._sensor.texts)
        readings[self._sensor.name] = float(self._text_number)

    def _render(self) -> Picture:
        if self._film is None:
            self._film = Film(self._world, self._sensor.width, self._sensor.height, self._camera, quick=True)
        return self._film.now()


def find_text_number(text: str | None, texts: tuple[str, ...]) -> int:
    """Return the number of a text among the sensor's texts, from 1; 0 for None or any other text."""
    return 0 if text not in texts else texts.index(text) + 1


def read_central_code(picture: Picture) -> str | None:
    """Return the text of the code nearest to the vertical centre line of an image; None if there is no code.

    Raises:
        MissingExtraError: the library that reads codes is not installed.
    """
    try:
        import zxingcpp
    except ImportError as error:
        raise MissingExtraError.for_extra("reading codes", "vision") from error
    grey = np.ascontiguousarray(picture.mean(axis=-1).astype(np.uint8))
    formats = zxingcpp.BarcodeFormats(zxingcpp.BarcodeFormat.QRCode)
    codes = zxingcpp.read_barcodes(grey, formats=formats, try_invert=False)
    centre_x = picture.shape[1] / 2.0

    def distance_from_centre(code: zxingcpp.Barcode) -> float:
        """Return how far the middle of a code is from the centre line [pixels]."""
        outline = code.position
        corners = (outline.top_left, outline.top_right, outline.bottom_left, outline.bottom_right)
        return float(abs(sum(corner.x for corner in corners) / len(corners) - centre_x))

    return str(min(codes, key=distance_from_centre).text) if codes else None
