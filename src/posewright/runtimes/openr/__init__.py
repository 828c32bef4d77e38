"""OPEN-R: the objects of an AIBO's programs on any body, message by message.

`OObject` is their base class, `System` delivers their messages, `OVirtualRobotComm` moves the joints,
`OpenRController` runs them as a controller.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from posewright.lazy import lazy

if TYPE_CHECKING:
    from posewright.runtimes.openr.connections import ConnectConfig as ConnectConfig
    from posewright.runtimes.openr.connections import read_connect as read_connect
    from posewright.runtimes.openr.connections import read_connect_file as read_connect_file
    from posewright.runtimes.openr.controller import EVENT as EVENT
    from posewright.runtimes.openr.controller import OpenRController as OpenRController
    from posewright.runtimes.openr.controller import log_entry_of as log_entry_of
    from posewright.runtimes.openr.flow import entries_of as entries_of
    from posewright.runtimes.openr.flow import sequence_diagram as sequence_diagram
    from posewright.runtimes.openr.kernel import OpenR as OpenR
    from posewright.runtimes.openr.programs import OpenRProgram as OpenRProgram
    from posewright.runtimes.openr.regions import DataType as DataType
    from posewright.runtimes.openr.regions import OCommandInfo as OCommandInfo
    from posewright.runtimes.openr.regions import OCommandVectorData as OCommandVectorData
    from posewright.runtimes.openr.regions import RCRegion as RCRegion
    from posewright.runtimes.openr.regions import find_free_region as find_free_region
    from posewright.runtimes.openr.regions import interpolate as interpolate
    from posewright.runtimes.openr.run_report import format_run_report as format_run_report
    from posewright.runtimes.openr.run_report import message_line as message_line
    from posewright.runtimes.openr.services import ONotifyEvent as ONotifyEvent
    from posewright.runtimes.openr.services import OObject as OObject
    from posewright.runtimes.openr.services import OObserver as OObserver
    from posewright.runtimes.openr.services import OReadyEvent as OReadyEvent
    from posewright.runtimes.openr.services import OSubject as OSubject
    from posewright.runtimes.openr.setup import OpenRKind as OpenRKind
    from posewright.runtimes.openr.setup import openr_programs as openr_programs
    from posewright.runtimes.openr.setup import set_up_openr as set_up_openr
    from posewright.runtimes.openr.system import System as System
    from posewright.runtimes.openr.vectors import CommandVectorSubject as CommandVectorSubject
    from posewright.runtimes.openr.virtual_robot import OSensorFrameVectorData as OSensorFrameVectorData
    from posewright.runtimes.openr.virtual_robot import OVirtualRobotComm as OVirtualRobotComm
else:
    __getattr__, __dir__, __all__ = lazy(__name__)
