"""Dynamixel servos of protocol 1.0 (AX-12): their bus, a body on it, and a fake bus that speaks alike."""

from __future__ import annotations

from typing import TYPE_CHECKING

from posewright.lazy import lazy

if TYPE_CHECKING:
    from posewright.links.dynamixel.answers import BusCounts as BusCounts
    from posewright.links.dynamixel.answers import Ping as Ping
    from posewright.links.dynamixel.bus import Bus as Bus
    from posewright.links.dynamixel.bus import open_bus as open_bus
    from posewright.links.dynamixel.calibration import Calibration as Calibration
    from posewright.links.dynamixel.calibration import apply as apply
    from posewright.links.dynamixel.calibration import measure_offsets as measure_offsets
    from posewright.links.dynamixel.calibration import read_calibration as read_calibration
    from posewright.links.dynamixel.calibration import write_calibration as write_calibration
    from posewright.links.dynamixel.control_table import control_table as control_table
    from posewright.links.dynamixel.diagnosis import Diagnosis as Diagnosis
    from posewright.links.dynamixel.diagnosis import diagnose as diagnose
    from posewright.links.dynamixel.direction_wizard import DirectionWizard as DirectionWizard
    from posewright.links.dynamixel.monitoring import watch as watch
    from posewright.links.dynamixel.scanning import Scan as Scan
    from posewright.links.dynamixel.scanning import scan as scan
    from posewright.links.dynamixel.scanning import set_id as set_id
    from posewright.links.dynamixel.scanning import set_rate as set_rate
    from posewright.links.dynamixel.sensors import BusSensors as BusSensors
    from posewright.links.dynamixel.teaching import Teacher as Teacher
else:
    __getattr__, __dir__, __all__ = lazy(__name__)
