"""What a robot's sensors can be asked for, by the names a behaviour uses."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping

from posewright.behaviours.wiring.quantity import Quantity
from posewright.behaviours.wiring.scan_source import Scanner
from posewright.behaviours.wiring.source import ChannelSource
from posewright.documents import Node
from posewright.errors import UnknownNameError
from posewright.robots import Channel, RangeScan, RangeSensor, SensorSpec

_QUANTITIES: Mapping[str, Quantity] = {
    "m": Quantity.LENGTH,
    "rad": Quantity.ANGLE,
    "rad/s": Quantity.TURN_RATE,
    "m/s^2": Quantity.ACCELERATION,
    "": Quantity.FLAG,
}

_PARTS: Mapping[Quantity, tuple[str, ...]] = {Quantity.ANGLE: ("roll", "pitch", "yaw")}
"""What the three numbers of an IMU's channel are called, where it is not x, y, z."""


class SensorChannels:
    """Sources and scanners by name: `laser_front`, `imu.orientation.yaw`, `ring`."""

    def __init__(self, sensors: Iterable[SensorSpec]) -> None:
        sensors = tuple(sensors)
        self._sources = {name: source for sensor in sensors for name, source in _sources_of(sensor)}
        self._scanners = {s.name: Scanner.of(s) for s in sensors if isinstance(s, RangeScan)}
        self._silent = {s.name for s in sensors if not s.channels}

    def source(self, node: Node) -> ChannelSource:
        """Return the source a node names.

        Raises:
            DocumentError: the sensor gives no single number.
            UnknownNameError: there is no such sensor.
        """
        name = node.text()
        if name in self._sources:
            return self._sources[name]
        parts = [known for known in self._sources if known.startswith(f"{name}.")]
        if parts:
            node.fail(f"{name} has several readings", hint=f"say which: {', '.join(parts)}")
        if name in self._scanners:
            node.fail(f"{name} has many beams", hint="add corridor, free_course or farthest_along")
        if name in self._silent:
            node.fail(f"{name} gives nothing that a chart could use")
        raise UnknownNameError.among("sensor", name, {*self._sources, *self._scanners}, where=node.where)

    def scanner(self, node: Node) -> Scanner:
        """Return the scanner a node names.

        Raises:
            DocumentError: the sensor is none with many beams.
            UnknownNameError: there is no such sensor.
        """
        name = node.text()
        if name in self._sources:
            node.fail(f"{name} is no scanner", hint="this needs a sensor of the kind range_scan")
        return self._scanners[node.choice("scanner", self._scanners)]

    def heading(self, node: Node) -> tuple[str, int | None]:
        """Return the channel and index of the heading a node names.

        Raises:
            DocumentError: what it names is no angle.
            UnknownNameError: there is no such sensor.
        """
        source = self.source(node)
        if source.quantity is not Quantity.ANGLE:
            node.fail(f"{node.text()} reads {source.quantity.value}", hint="a compass reads an angle")
        return source.channel, source.index


def _sources_of(sensor: SensorSpec) -> Iterator[tuple[str, ChannelSource]]:
    """Yield what a sensor gives as single numbers or flags, by name."""
    if isinstance(sensor, RangeScan):
        return
    nothing = sensor.max_range_m if isinstance(sensor, RangeSensor) else math.nan
    for channel in sensor.channels:
        quantity = _QUANTITIES[channel.unit]
        if channel.shape == (3,):
            yield from _parts_of(channel, quantity)
        else:
            yield channel.name, ChannelSource(channel.name, quantity, nothing=nothing)


def _parts_of(channel: Channel, quantity: Quantity) -> Iterator[tuple[str, ChannelSource]]:
    for index, part in enumerate(_PARTS.get(quantity, ("x", "y", "z"))):
        yield f"{channel.name}.{part}", ChannelSource(channel.name, quantity, index)
