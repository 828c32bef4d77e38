"""Dynamixel servos of protocol 1.0 (AX-12): their bus, a body on it, and a fake bus that speaks alike."""

from __future__ import annotations

from typing import TYPE_CHECKING

from posewright.lazy import lazy

if TYPE_CHECKING:
    from posewright.buses.dynamixel.answers import BusCounts as BusCounts
    from posewright.buses.dynamixel.answers import Ping as Ping
    from posewright.buses.dynamixel.answers import PortGoneError as PortGoneError
    from posewright.buses.dynamixel.bus import Bus as Bus
    from posewright.buses.dynamixel.bus import open_bus as open_bus
    from posewright.buses.dynamixel.calibration import Calibration as Calibration
    from posewright.buses.dynamixel.calibration import apply_calibration as apply_calibration
    from posewright.buses.dynamixel.calibration import measure_offsets as measure_offsets
    from posewright.buses.dynamixel.calibration import read_calibration as read_calibration
    from posewright.buses.dynamixel.calibration import write_calibration as write_calibration
    from posewright.buses.dynamixel.control_table import control_table as control_table
    from posewright.buses.dynamixel.diagnosis import Diagnosis as Diagnosis
    from posewright.buses.dynamixel.diagnosis import diagnose as diagnose
    from posewright.buses.dynamixel.direction_wizard import NO as NO
    from posewright.buses.dynamixel.direction_wizard import YES as YES
    from posewright.buses.dynamixel.direction_wizard import DirectionWizard as DirectionWizard
    from posewright.buses.dynamixel.direction_wizard import ObservedDirection as ObservedDirection
    from posewright.buses.dynamixel.direction_wizard import WizardQuestion as WizardQuestion
    from posewright.buses.dynamixel.monitoring import MonitoringRound as MonitoringRound
    from posewright.buses.dynamixel.monitoring import sample_data as sample_data
    from posewright.buses.dynamixel.monitoring import watch as watch
    from posewright.buses.dynamixel.scanning import BusScan as BusScan
    from posewright.buses.dynamixel.scanning import scan as scan
    from posewright.buses.dynamixel.scanning import set_id as set_id
    from posewright.buses.dynamixel.scanning import set_rate as set_rate
    from posewright.buses.dynamixel.sensors import BusSensors as BusSensors
    from posewright.buses.dynamixel.teaching import ALL as ALL
    from posewright.buses.dynamixel.teaching import Teacher as Teacher
else:
    __getattr__, __dir__, __all__ = lazy(__name__)
