"""The Arduino UNO: sketches of charts, and an emulated board and processor for proof."""

from __future__ import annotations

from posewright.codegen.targets.arduino_uno.board import Edge, EmulatedUno
from posewright.codegen.targets.arduino_uno.processor import UnoProcessor, with_avr_options
from posewright.codegen.targets.arduino_uno.uno import ArduinoUno

__all__ = ["ArduinoUno", "Edge", "EmulatedUno", "UnoProcessor", "with_avr_options"]
