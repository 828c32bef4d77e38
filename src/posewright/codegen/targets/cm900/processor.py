"""Processor in the loop: a unit, compiled for the CM-900, on an emulated Cortex-M3."""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np

from posewright.codegen.targets.target import write_sources
from posewright.codegen.unit import Footprint, Records, Subject, read_package_sources
from posewright.errors import BodyError

from .core import OUTSIDE, CortexM3
from .elf import ElfImage
from .target import Cm900, c_files
from .toolchain import BUILD, compile_sources, link_image

_STEPS_AT_ONCE = 4096
_COUNTED_AT_ONCE = 64
_ALWAYS_COUNTED = 256
"""Steps that are counted before most are not: counting one takes as long as taking a hundred."""
_PATIENCE_S, _PATIENCE_A_STEP_S = 20.0, 0.02
"""Of this computer, before it is taken that the program hangs: it takes some hundred million instructions a
second, and a step some thousand, a million where it takes a thousand microsteps."""
_MOST_COUNTED = 8_000_000
"""Instructions of a step before it is taken that it hangs, where they are counted: 0.1 s on the chip."""


class _StepCounter:
    """Counts the instructions of each call of a function."""

    def __init__(self, core: CortexM3, function: int) -> None:
        self.counts: list[int] = []
        self._core = core
        self._function = function & ~1
        self._back: int | None = None
        self._count = 0

    def begin(self) -> None:
        """Be outside the function: a step before this may have failed."""
        self._back = None

    def on_block(self, address: int, instructions: int) -> None:
        if address == self._back:
            self.counts.append(self._count)
            self._back = None
        elif address == self._function and self._back is None:
            self._back = self._core.caller
            self._count = 0
        self._count += instructions
        if self._back is not None and self._count > _MOST_COUNTED:
            self._core.machine.emu_stop()


def _is_chart(subject: Subject) -> bool:
    """Return whether `unit.c` does nothing but pack the records of a chart."""
    return set(c_files(subject.sources())) == {"unit.c", f"{subject.name}.c"}


class CortexProcessor:
    """A unit on an emulated processor; see `Measured`.

    The image has the same start, memory and compiler's options as the one that is flashed, and `pil_main.c`
    instead of `main.c` and the board's peripherals. Steps are counted in instructions, in a sample: the
    first 256 steps, and then 64 of every 4096. Of a chart those of `<name>_step` are counted, without the
    packing of records around it; likewise the flash of its `unit.c` is told in `parts` only, and its RAM is
    that of the chart's variable. Behaviours count whole.

    Args:
        subject: what to run.

    Raises:
        InputError: the sources do not compile, or the image does not fit the chip.
        UnavailableError: there is no compiler.
        MissingExtraError: Unicorn is not installed.
    """

    def __init__(self, subject: Subject) -> None:
        self._inputs, self._states = subject.inputs, subject.states
        with tempfile.TemporaryDirectory(prefix="posewright-") as folder:
            self._own = self._build(subject, Path(folder))
            image = ElfImage.read(Path(folder) / BUILD / "pil.elf")
        record = self._inputs.itemsize + self._states.itemsize
        self._core = CortexM3(image, outside=_STEPS_AT_ONCE * record)
        self._symbols = image.symbols
        step = image.symbols[f"{subject.name}_step" if _is_chart(subject) else "unit_step"]
        self._counter = _StepCounter(self._core, step)
        self._core.finish(self._core.restart(), self._symbols["main"], _PATIENCE_S)
        self._steps = 0
        self._core.paint(self._symbols["bss_end"])
        self.reset()

    def _build(self, subject: Subject, folder: Path) -> Footprint:
        sources = (*subject.sources(), *Cm900().sources(subject))
        write_sources((*sources, *read_package_sources(__package__, ["pil_main.c"])), folder)
        compile_sources(folder, [*c_files(sources), "pil_main.c"])
        image = link_image(folder, c_files(sources), "image")
        of_unit = [file.name for file in subject.sources() if file.name.endswith(".c")]
        link_image(folder, ["startup.c", "pil_main.c", *of_unit], "pil", keep=["pil_run", "unit_reset"])
        own = [f"{subject.name}.c"] if _is_chart(subject) else of_unit
        return Footprint(
            flash_bytes=sum(image.parts.get(name, (0, 0))[0] for name in own),
            ram_bytes=sum(image.parts.get(name, (0, 0))[1] for name in of_unit),
            image_flash_bytes=image.flash_bytes,
            image_ram_bytes=image.ram_bytes,
            counts="instructions",
            parts=image.parts,
        )

    def reset(self) -> None:
        """Go back to before the first tick."""
        self._call("unit_reset")

    def _call(self, function: str, *arguments: int, steps: int = 0) -> None:
        back, patience_s = self._symbols["main"], _PATIENCE_S + steps * _PATIENCE_A_STEP_S
        self._core.call(self._symbols[function], *arguments, back=back, patience_s=patience_s)

    def run(self, inputs: Records) -> Records:
        """Take one tick for each record of inputs and return the state after each, going on from before.

        Raises:
            BodyError: the unit hangs or touches memory that is not there.
        """
        done = [np.zeros(0, self._states)]
        for start in range(0, len(inputs), _STEPS_AT_ONCE):
            piece = inputs[start : start + _STEPS_AT_ONCE]
            counted = self._to_count()
            done += [self._counted(piece[:counted]), self._batch(piece[counted:])]
            self._steps += len(piece)
        return np.concatenate(done)

    def _to_count(self) -> int:
        """Return how many of the next steps are counted."""
        counted = len(self._counter.counts)
        wanted = counted < _ALWAYS_COUNTED or counted * _STEPS_AT_ONCE <= self._steps * _COUNTED_AT_ONCE
        return _COUNTED_AT_ONCE if wanted else 0

    def _counted(self, inputs: Records) -> Records:
        if not len(inputs):
            return self._batch(inputs)
        self._counter.begin()
        end = self._core.watch(self._counter.on_block)
        try:
            return self._batch(inputs)
        finally:
            end()

    def _batch(self, inputs: Records) -> Records:
        count = len(inputs)
        if not count:
            return np.zeros(0, self._states)
        data = np.ascontiguousarray(inputs).tobytes()
        if len(data) != count * self._inputs.itemsize:
            raise BodyError(f"records of inputs have {self._inputs.itemsize} bytes, not {len(data) // count}")
        memory = self._core.machine
        if data:
            memory.mem_write(OUTSIDE, data)
        results = OUTSIDE + len(data)
        self._call("pil_run", count, OUTSIDE, results, steps=count)
        return np.frombuffer(bytes(memory.mem_read(results, count * self._states.itemsize)), self._states)

    def footprint(self) -> Footprint:
        """Return what it needs, with the steps taken so far."""
        counts = self._counter.counts
        known = {**vars(self._own), "stack_bytes": self._core.used(self._symbols["bss_end"])}
        if counts:
            known |= {"step_cycles_mean": float(np.mean(counts)), "step_cycles_worst": max(counts)}
        return Footprint(**known)

    def close(self) -> None:
        """Let go of it: there is nothing that would stay."""
