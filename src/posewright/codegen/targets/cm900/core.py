"""An emulated Cortex-M3 with the memory of an STM32F103C8: Unicorn runs the instructions."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterable
from typing import Any

from posewright.errors import BodyError, MissingExtraError

from .elf import ElfImage

FLASH, FLASH_BYTES = 0x08000000, 64 * 1024
RAM, RAM_BYTES = 0x20000000, 20 * 1024
PROGRAM = 0x08003000
"""Where the board's bootloader ends and its vector table lies: see cm900.ld."""
OUTSIDE = 0x60000000
"""Memory that no CM-900 has, for what a proof hands in and takes out: RM0008 3.3 has external RAM there."""

_PAINT = 0xA5
_PAGE = 0x1000


class CortexM3:
    """A processor and its memory, with a program loaded; nothing of it runs until it is asked to.

    Instructions are counted, not cycles: Unicorn knows nothing of wait states and pipelines.

    Args:
        image: the program.
        outside: bytes of memory at `OUTSIDE`.

    Raises:
        MissingExtraError: Unicorn is not installed.
    """

    def __init__(self, image: ElfImage, outside: int = 0) -> None:
        try:
            unicorn: Any = importlib.import_module("unicorn")
            self._arm: Any = importlib.import_module("unicorn.arm_const")
        except ImportError as error:
            raise MissingExtraError.for_extra("an emulated Cortex-M3", "boards") from error
        self._unicorn = unicorn
        self.machine: Any = unicorn.Uc(unicorn.UC_ARCH_ARM, unicorn.UC_MODE_THUMB | unicorn.UC_MODE_MCLASS)
        self.machine.ctl_set_cpu_model(self._arm.UC_CPU_ARM_CORTEX_M3)
        self.machine.mem_map(FLASH, FLASH_BYTES, unicorn.UC_PROT_READ | unicorn.UC_PROT_EXEC)
        self.machine.mem_map(RAM, RAM_BYTES)
        if outside:
            self.machine.mem_map(OUTSIDE, -(-outside // _PAGE) * _PAGE)
        for address, data in image.segments.items():
            self.machine.mem_write(address, data)
        self._lengths: dict[tuple[int, int], int] = {}

    def restart(self) -> int:
        """Take the stack from the program's vector table, as the bootloader does; return where it starts."""
        for k in range(13):
            self.machine.reg_write(self._arm.UC_ARM_REG_R0 + k, 0)
        self.machine.reg_write(self._arm.UC_ARM_REG_SP, self._word(PROGRAM))
        return self._word(PROGRAM + 4)

    def _word(self, address: int) -> int:
        return int.from_bytes(self.machine.mem_read(address, 4), "little")

    @property
    def program_counter(self) -> int:
        """Where it stands."""
        return int(self.machine.reg_read(self._arm.UC_ARM_REG_PC))

    @property
    def caller(self) -> int:
        """Where the function that has just begun will return to (the link register)."""
        return int(self.machine.reg_read(self._arm.UC_ARM_REG_LR)) & ~1

    def go(self, start: int, until: int = 0xFFFFFFFE, *, most: int = 0, patience_s: float = 0.0) -> None:
        """Run from `start` to `until`, or until somebody stops the machine.

        Args:
            start: address of the first instruction.
            until: address to stop at.
            most: instructions; without limit where it is 0. Counting them makes it many times slower.
            patience_s: seconds of this computer; without limit where it is 0.

        Raises:
            BodyError: the program touches memory that is not there.
        """
        try:
            self.machine.emu_start(start | 1, until & ~1, timeout=round(patience_s * 1e6), count=most)
        except self._unicorn.UcError as error:
            raise BodyError(
                f"the program fails on the emulated processor, at 0x{self.program_counter:08x}: {error}",
                hint="arm-none-eabi-addr2line -f -e IMAGE ADDRESS says which function that is",
            ) from error

    def finish(self, start: int, until: int, patience_s: float) -> None:
        """Run from `start` to `until`.

        Raises:
            BodyError: as `go`, or it does not get there in so many seconds of this computer.
        """
        self.go(start, until, patience_s=patience_s)
        if self.program_counter != until & ~1:
            raise BodyError(
                f"the program does not come to an end: it is still at 0x{self.program_counter:08x}",
                hint="arm-none-eabi-addr2line -f -e IMAGE ADDRESS says which function hangs",
            )

    def call(self, function: int, *arguments: int, back: int, patience_s: float) -> None:
        """Call a function with up to four words; `back` is any address to return to. Raises as `finish`."""
        for k, word in enumerate(arguments):
            self.machine.reg_write(self._arm.UC_ARM_REG_R0 + k, word)
        self.machine.reg_write(self._arm.UC_ARM_REG_SP, self._word(PROGRAM))
        self.machine.reg_write(self._arm.UC_ARM_REG_LR, back | 1)
        self.finish(function, back, patience_s)

    def watch(
        self, on_block: Callable[[int, int], None], outside: Iterable[tuple[int, int]] = ()
    ) -> Callable[[], None]:
        """Call `on_block(address, instructions)` before each piece of straight code; return what ends it.

        Args:
            on_block: what is called.
            outside: first address and end of the functions whose pieces are not told.
        """
        lengths = self._lengths

        def seen(_machine: Any, address: int, size: int, _data: Any) -> None:
            known = lengths.get((address, size))
            on_block(address, self._instructions(address, size) if known is None else known)

        def end() -> None:
            for hook in hooks:
                self.machine.hook_del(hook)
            self.machine.ctl_flush_tb()

        hooks, begin = [], FLASH
        for first, following in (*sorted(outside), (RAM + RAM_BYTES, 0)):
            if first > begin:
                hooks.append(
                    self.machine.hook_add(self._unicorn.UC_HOOK_BLOCK, seen, begin=begin, end=first - 1)
                )
            begin = following
        self.machine.ctl_flush_tb()  # code that was translated before calls no hook
        return end

    def _instructions(self, address: int, size: int) -> int:
        """Count the instructions of a piece of code: 0b11101 and up begin 32-bit ones, ARMv7-M ARM A5.1."""
        code = self.machine.mem_read(address, size)
        at = count = 0
        while at < size:
            at += 4 if code[at + 1] >> 3 >= 0b11101 else 2
            count += 1
        self._lengths[address, size] = count
        return count

    def paint(self, start: int) -> None:
        """Fill RAM from `start` on, so that `painted` can tell what was used since."""
        self.machine.mem_write(start, bytes([_PAINT]) * (RAM + RAM_BYTES - start))

    def used(self, start: int) -> int:
        """Return how many bytes at the upper end of RAM were used since it was painted: the stack."""
        return len(bytes(self.machine.mem_read(start, RAM + RAM_BYTES - start)).lstrip(bytes([_PAINT])))
