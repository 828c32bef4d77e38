"""The peripherals of an emulated STM32F103C8, as far as the board's code (board.c) uses them.

Time is modelled: an instruction takes one cycle of the core, and loops that wait for a serial line or for the
counter do not run: the register they read makes time jump, by a quarter of a millisecond at most, or where a
computer gives the ticks, to its next byte. Instructions of the loops that ask registers all the time are
taken to be `_BETWEEN` for each of them. A program that touches no register for long is looked at every
20 000 instructions only. As on the chip, a peripheral whose clock is off reads as 0 and takes nothing.
Whoever sits at the other end of the line has the speed that the board sends at.

Addresses and bits are those of registers.h, taken from RM0008 by the same author: what is wrong there is
wrong here too, and no test finds it.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Any

from .core import CortexM3
from .elf import ElfImage

LINE_BAUD = 115200
"""Of the serial line before the board has sent anything over it."""

_PERIPHERALS, _PERIPHERALS_BYTES = 0x40000000, 0x24000
_CORE, _CORE_BYTES = 0xE000E000, 0x1000
_RCC_CR, _RCC_CFGR, _RCC_CSR = 0x40021000, 0x40021004, 0x40021024
_AHBENR, _APB2ENR, _APB1ENR = 0x40021014, 0x40021018, 0x4002101C
_USART1, _USART2, _ADC1, _DMA1, _IWDG, _AFIO_MAPR = (
    0x40013800,
    0x40004400,
    0x40012400,
    0x40020000,
    0x40003000,
    0x40010004,
)
_GPIO = {"A": 0x40010800, "B": 0x40010C00, "C": 0x40011000}
_CNDTR6, _CMAR6, _CCR6 = 0x40020070, 0x40020078, 0x4002006C
_CLOCKS = {  # page of a peripheral: where its clock is switched on, and which bit; RM0008 7.3.6 to 7.3.8
    _DMA1: (_AHBENR, 0),
    0x40010000: (_APB2ENR, 0),
    0x40010800: (_APB2ENR, 2),
    0x40010C00: (_APB2ENR, 3),
    0x40011000: (_APB2ENR, 4),
    _ADC1: (_APB2ENR, 9),
    _USART1: (_APB2ENR, 14),
    _USART2: (_APB1ENR, 17),
}
_DIRECTION = 5  # pin of port B, 1 = sending: board.h
_LSI_HZ = 40_000  # RM0008 19.3
_NEVER = float("inf")
_QUIET, _HURRIED = 200_000, 20_000
_LEAST_IDLE_S, _MOST_IDLE_S, _ASKED_IDLE_S = 20e-6, 250e-6, 2e-3
_ASKING = (
    *("main", "board_time", "board_receive", "board_lamp", "board_set_pin", "board_feed_watchdog"),
    *("board_was_hung", "link_is_greeted", "link_take", "link_put", "send", "board_send_bus"),
)
"""Functions of the board's own code that do little but ask registers, over and over."""
_BETWEEN = 20  # instructions from one register to the next in these


class _Sender:
    """What leaves a USART: one byte is shifted out while another waits."""

    def __init__(self) -> None:
        self.sent: list[tuple[float, int]] = []
        self.free_at = 0.0  # when the last bit has left
        self.byte_s = 10 / LINE_BAUD
        self.is_polled = False

    def put(self, now: float, byte: int) -> float:
        self.free_at = max(now, self.free_at) + self.byte_s
        self.is_polled = False
        self.sent.append((self.free_at, byte))
        return self.free_at

    def status(self, now: float) -> tuple[int, float]:
        """Return SR and the time it is read: a second look at a busy line waits until it is ready."""
        if now < self.free_at - self.byte_s:
            now = self.free_at - self.byte_s  # nothing else can be done until a byte fits
        elif self.is_polled and now < self.free_at:
            now = self.free_at
        self.is_polled = True
        return (1 << 7) | ((1 << 6) if now >= self.free_at else 0), now

    def take(self, until: float) -> list[tuple[float, int]]:
        gone = [sent for sent in self.sent if sent[0] <= until]
        self.sent = self.sent[len(gone) :]
        return gone


class Stm32F103:
    """A chip that runs a program.

    Args:
        image: the program.
        has_crystal: whether the crystal of 8 MHz starts.

    Attributes:
        time_s: since it was switched on.
        core_hz: what the core runs at.
        analogue: what the channels of the ADC measure, 0..4095.
        pins: levels outside, by port and pin: `("A", 0)`; what is not there is low.
        lost: bytes that went to the line while nobody received them.
    """

    def __init__(self, image: ElfImage, *, has_crystal: bool = True) -> None:
        self.core = CortexM3(image)
        self.time_s = 0.0
        self.analogue: dict[int, int] = {}
        self.pins: dict[tuple[str, int], bool] = {}
        self.lost = 0
        self._has_crystal = has_crystal
        machine = self.core.machine
        machine.mmio_map(
            _PERIPHERALS, _PERIPHERALS_BYTES, self._read, _PERIPHERALS, self._write, _PERIPHERALS
        )
        machine.mmio_map(_CORE, _CORE_BYTES, self._read, _CORE, self._write, _CORE)
        self._reads: dict[int, Callable[[], int]] = {
            _RCC_CR: self._clock_ready,
            _RCC_CFGR: lambda: self._get(_RCC_CFGR) & ~0xC | (self._get(_RCC_CFGR) & 3) << 2,
            0xE000E018: self._systick,
            _USART1: lambda: self._status(_USART1),
            _USART2: lambda: self._status(_USART2),
            _CNDTR6: self._remaining,
            _ADC1: lambda: 1 << 1,
            _ADC1 + 0x4C: lambda: self.analogue.get(self._get(_ADC1 + 0x34) & 31, 0),
            _ADC1 + 0x08: lambda: self._get(_ADC1 + 0x08) & ~(3 << 2),  # calibration is over at once
            **{base + 0x08: lambda port=port: self._levels(port) for port, base in _GPIO.items()},  # type: ignore[misc]
        }
        self._writes: dict[int, Callable[[int], None]] = {
            _RCC_CFGR: self._set_clock,
            _RCC_CSR: self._clear_causes,
            _USART1 + 4: lambda value: self._put(_USART1, value),
            _USART2 + 4: lambda value: self._put(_USART2, value),
            _IWDG: self._watchdog,
            _CCR6: self._enable_dma,
            **{base + 0x10: lambda value, port=port: self._set(port, value) for port, base in _GPIO.items()},  # type: ignore[misc]
        }
        self._asking = tuple(image.span(name) for name in _ASKING if name in image.symbols)
        self._end_watch = self._watch()
        self._quiet = 0  # instructions since a register was touched
        self._goal_s = self._until_s = 0.0
        self._registers: dict[int, int] = {}
        self._coming: deque[tuple[float, int]] = deque()
        self._power_up(causes=1 << 27)

    def _power_up(self, causes: int) -> None:
        self._registers = {
            _RCC_CR: 1,
            _RCC_CSR: causes,
        }  # RM0008 7.3.10: 27 power, 26 the button, 29 the watchdog
        self._senders = {_USART1: _Sender(), _USART2: _Sender()}
        self._coming.clear()
        self._expires_s = _NEVER
        self.core_hz = 8_000_000
        self._idle_s = _LEAST_IDLE_S
        self._is_asked = False
        self._counter_from_s = self.time_s
        self._remains = self._reload = self._quiet = 0
        self._at = self.core.restart()

    def press_reset(self) -> None:
        """Press the reset button: RAM keeps what it has, as on the chip."""
        self._power_up(causes=1 << 26)

    # Time

    def run(self, until_s: float) -> None:
        """Let time go on.

        Raises:
            BodyError: the program touches memory that is not there.
        """
        while self.time_s < until_s:
            self._goal_s = until_s
            self._until_s = min(until_s, self._expires_s)
            if self._quiet > _QUIET:
                self._hurry()
            else:
                self.core.go(self._at)
                self._at = self.core.program_counter
            if self.time_s >= self._expires_s:
                self._power_up(causes=1 << 29)

    def _watch(self) -> Callable[[], None]:
        return self.core.watch(self._on_block, self._asking)

    def _on_block(self, _address: int, instructions: int) -> None:
        self.time_s += instructions / self.core_hz
        self._quiet += instructions
        if self.time_s >= self._until_s or self._quiet > _QUIET:
            self.core.machine.emu_stop()

    def _hurry(self) -> None:
        """Run a program that calculates for long, or hangs, without a look at each piece of code."""
        self._end_watch()
        while self._quiet and self.time_s < self._until_s:
            self.core.go(self._at, max_instructions=_HURRIED)
            self._at = self.core.program_counter
            self.time_s += _HURRIED / self.core_hz
        self._end_watch = self._watch()

    def _jump(self, time_s: float) -> None:
        self.time_s = max(self.time_s, min(time_s, self._until_s))

    def _set_clock(self, config: int) -> None:
        """Take RCC_CFGR: the PLL runs on the crystal or on half the chip's own oscillator, RM0008 7.3.2."""
        self._registers[_RCC_CFGR] = config
        factor = min(((config >> 18) & 15) + 2, 16) * (2 if config & 1 << 16 else 1)
        self.core_hz = 4_000_000 * (factor if config & 3 == 2 else 2)

    def _watchdog(self, key: int) -> None:
        if key == 0xCCCC or (key == 0xAAAA and self._expires_s < _NEVER):
            divider = 4 << min(self._get(_IWDG + 4) & 7, 6)
            counts = self._registers.get(_IWDG + 8, 0xFFF) + 1
            self._expires_s = self.time_s + counts * divider / _LSI_HZ
            self._until_s = min(self._goal_s, self._expires_s)

    # The serial line and the bus

    def receive(self, data: bytes) -> None:
        """Put bytes on the line to the board: they arrive one after the other from now on."""
        self._is_asked = True
        byte_s = self._senders[_USART2].byte_s
        start = max(self.time_s, self._coming[-1][0] if self._coming else 0.0)
        self._coming.extend((start + (k + 1) * byte_s, byte) for k, byte in enumerate(data))

    def take_line(self) -> bytes:
        """Return what has left the board on the line since it was asked last."""
        return bytes(byte for _, byte in self._senders[_USART2].take(self.time_s))

    def take_bus(self) -> tuple[tuple[float, int], ...]:
        """Return when [s] which byte has left on the Dynamixel bus since it was asked last."""
        return tuple(self._senders[_USART1].take(self.time_s))

    def _status(self, usart: int) -> int:
        status, when = self._senders[usart].status(self.time_s)
        self._jump(when)
        return status

    def _put(self, usart: int, byte: int) -> None:
        sender = self._senders[usart]
        clock = self.core_hz // (2 if usart == _USART2 and self._get(_RCC_CFGR) >> 8 & 7 == 4 else 1)
        sender.byte_s = 10 * max(self._get(usart + 8), 1) / clock
        sender.put(self.time_s, byte & 0xFF)
        self._idle_s = _LEAST_IDLE_S
        is_on = self._get(usart + 0x0C) & 0x2008 == 0x2008  # UE and TE
        is_led_out = usart == _USART2 or (self._get(_AFIO_MAPR) & 4 and self._output("B") >> _DIRECTION & 1)
        if not (is_on and is_led_out):
            sender.sent.pop()

    def _enable_dma(self, value: int) -> None:
        self._registers[_CCR6] = value
        self._remains = self._reload = self._get(_CNDTR6)

    def _remaining(self) -> int:
        while self._coming and self._coming[0][0] <= self.time_s:
            _, byte = self._coming.popleft()
            self._idle_s = _LEAST_IDLE_S
            is_on = self._get(_USART2 + 0x0C) & 0x2004 == 0x2004 and self._get(_USART2 + 0x14) & 1 << 6
            if not (is_on and self._get(_CCR6) & 1 and self._reload):
                self.lost += 1
                continue
            place = self._get(_CMAR6) + self._reload - self._remains
            self.core.machine.mem_write(place, bytes([byte]))
            self._remains = self._remains - 1 or self._reload
        return self._remains

    # Registers

    def _get(self, address: int) -> int:
        return self._registers.get(address, 0)

    def _is_clocked(self, address: int) -> bool:
        switch = _CLOCKS.get(address & ~0x3FF)
        return switch is None or bool(self._get(switch[0]) >> switch[1] & 1)

    def _read(self, _machine: Any, offset: int, _size: int, base: int) -> int:
        address = base + offset
        self._touch()
        if not self._is_clocked(address):
            return 0
        special = self._reads.get(address)
        value = special() if special else self._get(address)
        if self.time_s >= self._until_s:
            self.core.machine.emu_stop()
        return value

    def _write(self, _machine: Any, offset: int, _size: int, value: int, base: int) -> None:
        address = base + offset
        self._touch()
        if self._is_clocked(address):
            special = self._writes.get(address)
            if special:
                special(value)
            else:
                self._registers[address] = value

    def _touch(self) -> None:
        if self._quiet > _QUIET:
            self.core.machine.emu_stop()  # a program that was hurried: from here on each piece counts again
        self._quiet = 0
        self.time_s += _BETWEEN / self.core_hz

    def _clock_ready(self) -> int:
        value = self._get(_RCC_CR) & ~(1 << 1 | 1 << 17 | 1 << 25)
        ready = value << 1 & (1 << 1 | 1 << 25 | ((1 << 17) if self._has_crystal else 0))
        return value | ready

    def _clear_causes(self, value: int) -> None:
        if value & 1 << 24:
            self._registers[_RCC_CSR] = 0

    def _systick(self) -> int:
        """Read the counter; whoever reads it again and again, with nothing else to do, lets time jump."""
        coming = self._coming[0][0] if self._coming else float("inf")
        self._jump(min(self.time_s + self._idle_s, max(coming, self.time_s)))
        self._idle_s = _ASKED_IDLE_S if self._is_asked else min(2 * self._idle_s, _MOST_IDLE_S)
        return -int((self.time_s - self._counter_from_s) * self.core_hz / 8) & 0xFFFFFF

    # Pins

    def _set(self, port: str, bits: int) -> None:
        falls = bits >> 16
        self._registers[_GPIO[port] + 0x0C] = (self._output(port) & ~falls | bits & 0xFFFF) & 0xFFFF
        if port == "B" and falls >> _DIRECTION & 1:  # what is not out yet never gets there
            bus = self._senders[_USART1]
            bus.sent = [sent for sent in bus.sent if sent[0] <= self.time_s]

    def _output(self, port: str) -> int:
        return self._get(_GPIO[port] + 0x0C)

    def output(self, port: str, pin: int) -> bool:
        """Return what the program puts out on a pin."""
        return bool(self._output(port) >> pin & 1)

    def _levels(self, port: str) -> int:
        return sum(1 << pin for (where, pin), level in self.pins.items() if where == port and level)
