"""Processor in the loop: a unit, compiled for the CM-900, on an emulated Cortex-M3."""

from __future__ import annotations

import tempfile
from dataclasses import replace
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
_PATIENCE_S = 20.0
_PATIENCE_A_STEP_S = 0.02
"""Time limits of this computer, which runs some hundred million instructions a second; a step takes some
thousand, or a million with a thousand microsteps."""
_MOST_COUNTED = 8_000_000
"""Limit of the instructions of a step, where they are counted: 0.1 s on the chip."""


class _StepCounter:
    """Counts the instructions of each call of a function."""

    def __init__(self, core: CortexM3, function: int) -> None:
        self.counts: list[int] = []
        self._core = core
        self._function = function & ~1
        self._back: int | None = None
        self._count = 0

    def begin(self) -> None:
        """Start outside the function, since the step before may have failed."""
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
    """Return whether `unit.c` only packs the records of a chart."""
    return set(c_files(subject.sources())) == {"unit.c", f"{subject.name}.c"}


class CortexProcessor:
    """A unit on an emulated processor; see `Measured`.

    The image has the start code, memory and compiler options of the one that is flashed, and `pil_main.c`
    instead of `main.c` and the board's peripherals. Instructions are counted in a sample of the steps: the
    first 256, then 64 of every 4096. For a chart they are those of `<name>_step`, without the packing of
    records around it; the flash of its `unit.c` is in `parts` only, and its RAM is that of the chart's
    variable. Behaviours count with all their files.

    Args:
        subject: the subject to run.

    Raises:
        InputError: the sources do not compile, or the image does not fit the chip.
        UnavailableError: there is no compiler.
        MissingExtraError: Unicorn is not installed.
    """

    def __init__(self, subject: Subject) -> None:
        self._inputs = subject.inputs
        self._states = subject.states
        with tempfile.TemporaryDirectory(prefix="posewright-") as folder:
            self._sizes = self._build(subject, Path(folder))
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
        """Return to the state before the first tick."""
        self._call("unit_reset")

    def _call(self, function: str, *arguments: int, steps: int = 0) -> None:
        patience_s = _PATIENCE_S + steps * _PATIENCE_A_STEP_S
        back = self._symbols["main"]
        self._core.call(self._symbols[function], *arguments, back=back, patience_s=patience_s)

    def run(self, inputs: Records) -> Records:
        """Take one tick for each record of inputs, from the present state, and return the states.

        Raises:
            BodyError: the unit hangs or accesses memory that does not exist.
        """
        states = [np.zeros(0, self._states)]
        for start in range(0, len(inputs), _STEPS_AT_ONCE):
            batch = inputs[start : start + _STEPS_AT_ONCE]
            n_counted = self._steps_to_count()
            states += [self._run_counted(batch[:n_counted]), self._run_batch(batch[n_counted:])]
            self._steps += len(batch)
        return np.concatenate(states)

    def _steps_to_count(self) -> int:
        """Return how many of the next steps are counted."""
        n_counted = len(self._counter.counts)
        is_behind = n_counted * _STEPS_AT_ONCE <= self._steps * _COUNTED_AT_ONCE
        return _COUNTED_AT_ONCE if n_counted < _ALWAYS_COUNTED or is_behind else 0

    def _run_counted(self, inputs: Records) -> Records:
        """Run records with the instructions of each step counted."""
        if not len(inputs):
            return self._run_batch(inputs)
        self._counter.begin()
        end = self._core.watch(self._counter.on_block)
        try:
            return self._run_batch(inputs)
        finally:
            end()

    def _run_batch(self, inputs: Records) -> Records:
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
        """Return the footprint, with the instructions of the steps counted so far."""
        counts = self._counter.counts
        return replace(
            self._sizes,
            stack_bytes=self._core.used(self._symbols["bss_end"]),
            step_cycles_mean=float(np.mean(counts)) if counts else None,
            step_cycles_worst=max(counts) if counts else None,
        )

    def close(self) -> None:
        """Do nothing: there is nothing to release."""
