"""Made-up sensors: records for proving a behaviour."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from posewright.arrays import Floats
from posewright.codegen.behaviour.wires import Slot, slots_of
from posewright.codegen.unit import Records
from posewright.controllers.behaviours import Behaviour
from posewright.controllers.behaviours.sources import ChannelSource, JointSource
from posewright.robots import RangeScan, RangeSensor

STAYS = 40
"""So many frames a reading stays on the average."""

ODD = 0.02
"""So much of what is read is no number, or infinite: what real sensors say of themselves now and then."""


def drawn(behaviour: Behaviour, inputs: np.dtype[np.void], n: int, seed: int) -> Records:
    """Return records as sensors might read them, `(n,)`."""
    chance = np.random.default_rng(seed)
    found = np.zeros(n, inputs)
    levels, scans = _levels(behaviour), _farthest(behaviour)
    moves = chance.random(n) < 1.0 / STAYS  # a scan moves as a whole
    for slot, name in slots_of(behaviour).items():
        if slot.name in scans and slot.index is not None:
            found[name] = _beam(chance, moves, scans[slot.name])
        elif slot.kind == "chance":
            found[name] = chance.random(n)
        else:
            found[name] = _wandering(chance, n, levels.get(slot, ()))
    return found


def _levels(behaviour: Behaviour) -> Mapping[Slot, tuple[float, float]]:
    """Return the two edges of each number's threshold."""
    found = {}
    for wire in behaviour.inputs:
        limit = wire.threshold
        if limit is None:
            continue
        edges = (limit.limit, limit.limit + (-limit.hysteresis if limit.above else limit.hysteresis))
        if isinstance(wire.source, ChannelSource):
            found[Slot("channel", wire.source.channel, wire.source.index)] = edges
        elif isinstance(wire.source, JointSource):
            kind = "load" if wire.source.load else "joint"
            found[Slot(kind, behaviour.robot.joint_names[wire.source.joint])] = edges
    return found


def _farthest(behaviour: Behaviour) -> Mapping[str, float]:
    kinds = (RangeScan, RangeSensor)
    return {sensor.name: sensor.max_range_m for sensor in behaviour.sensors if isinstance(sensor, kinds)}


def _held(changes: Floats, moves: np.ndarray[tuple[int], np.dtype[np.bool_]]) -> Floats:
    """Return numbers that stay as they are until one moves."""
    last = np.maximum.accumulate(np.where(moves, np.arange(len(changes)), 0))
    held: Floats = changes[last]
    return held


def _wandering(chance: np.random.Generator, n: int, edges: tuple[float, ...]) -> Floats:
    """Return numbers that jump and then wander a little, often right onto an edge."""
    around = np.array(edges or (0.0,))
    wide = np.ptp(around) + 0.05 if edges else math.pi
    jumps = chance.choice(around, n) + chance.choice((0.0, 0.25, 1.0), n) * chance.normal(0.0, wide, n)
    values = _held(jumps, chance.random(n) < 1.0 / STAYS)
    odd = _held(chance.random(n), chance.random(n) < 0.1) < ODD
    values[odd] = chance.choice((math.nan, math.inf, -math.inf), int(odd.sum()))
    values[0] = around[0]  # what begins must begin with a number
    return values


def _beam(
    chance: np.random.Generator, moves: np.ndarray[tuple[int], np.dtype[np.bool_]], far: float
) -> Floats:
    """Return what one beam reads: often nothing, else something near or far."""
    n = len(moves)
    size = chance.choice((0.3, 0.6, far), n)
    ranges = np.where(chance.random(n) < 0.7, far, chance.random(n) * size)
    ranges[chance.random(n) < ODD] = math.nan
    return _held(ranges, moves)
