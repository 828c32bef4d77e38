"""The peripherals of an emulated STM32F103C8, as far as the board's code (board.c) uses them.

The model of time:

* An instruction takes one cycle of the core.
* In functions that poll registers (`_POLLING_FUNCTIONS`) instructions are not counted; each access of a
  register takes `_CYCLES_PER_ACCESS` instead.
* A loop that waits for a serial line or the counter is not emulated cycle by cycle: reading the register
  makes time jump, by a quarter of a millisecond at most, or to the next byte if a computer gives the ticks.
* A program that accesses no register for long runs in slices of 20 000 instructions.

As on the chip, a peripheral without a clock reads as 0 and ignores what is written. The other end of the
serial line always has the speed that the board sends at.

Addresses and bits are those of registers.h. Both are taken from RM0008 by the same author, so no test finds
an error that is in both.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

from .core import CortexM3
from .elf import ElfImage

LINE_BAUD = 115200
"""Speed of the serial line before the board has sent anything [bit/s]."""

_PERIPHERALS = 0x40000000
_PERIPHERALS_BYTES = 0x24000
_CORE = 0xE000E000
_CORE_BYTES = 0x1000
_SYSTICK_VALUE = 0xE000E018
_RCC_CR = 0x40021000
_RCC_CFGR = 0x40021004
_RCC_CSR = 0x40021024
_AHBENR = 0x40021014
_APB2ENR = 0x40021018
_APB1ENR = 0x4002101C
_USART1 = 0x40013800
_USART2 = 0x40004400
_ADC1 = 0x40012400
_DMA1 = 0x40020000
_IWDG = 0x40003000
_AFIO_MAPR = 0x40010004
_GPIO = {"A": 0x40010800, "B": 0x40010C00, "C": 0x40011000}
_CNDTR6 = 0x40020070
_CMAR6 = 0x40020078
_CCR6 = 0x4002006C
_CLOCKS = {  # page of a peripheral: register and bit that switch its clock on; RM0008 7.3.6 to 7.3.8
    _DMA1: (_AHBENR, 0),
    0x40010000: (_APB2ENR, 0),
    0x40010800: (_APB2ENR, 2),
    0x40010C00: (_APB2ENR, 3),
    0x40011000: (_APB2ENR, 4),
    _ADC1: (_APB2ENR, 9),
    _USART1: (_APB2ENR, 14),
    _USART2: (_APB1ENR, 17),
}
_USART_DATA = 0x04  # offsets of registers in their peripheral
_USART_BAUD_DIVIDER = 0x08
_USART_CONTROL_1 = 0x0C
_USART_CONTROL_3 = 0x14
_ADC_CONTROL_2 = 0x08
_ADC_SEQUENCE_3 = 0x34
_ADC_DATA = 0x4C
_WATCHDOG_PRESCALER = 0x04
_WATCHDOG_RELOAD = 0x08
_GPIO_INPUT = 0x08
_GPIO_OUTPUT = 0x0C
_GPIO_SET_RESET = 0x10
_TRANSMITTER_ON = 0x2008  # UE and TE of a USART
_RECEIVER_ON = 0x2004  # UE and RE
_DMA_RECEIVES = 1 << 6  # DMAR
_TRANSMIT_EMPTY = 1 << 7  # TXE and TC of its status
_TRANSMIT_COMPLETE = 1 << 6
_START_WATCHDOG = 0xCCCC
_FEED_WATCHDOG = 0xAAAA
_BUS_DIRECTION_PIN = 5  # of port B, high while the board sends: board.h
_LSI_HZ = 40_000  # RM0008 19.3
_POWER_RESET = 1 << 27  # causes of a reset in RCC_CSR: RM0008 7.3.10
_BUTTON_RESET = 1 << 26
_WATCHDOG_RESET = 1 << 29
_CRYSTAL_READY = 1 << 17  # HSERDY in RCC_CR: RM0008 7.3.1
_CLOCKS_READY = 1 << 1 | _CRYSTAL_READY | 1 << 25  # HSIRDY, HSERDY and PLLRDY
_NEVER = float("inf")
_MAX_UNINTERRUPTED = 200_000  # instructions without an access, after which the program runs in slices
_SLICE = 20_000  # instructions
_MIN_JUMP_S = 20e-6
_MAX_JUMP_S = 250e-6
_MAX_JUMP_WITH_COMPUTER_S = 2e-3
_POLLING_FUNCTIONS = (
    *("main", "board_time", "board_receive", "board_lamp", "board_set_pin", "board_feed_watchdog"),
    *("board_was_hung", "link_is_greeted", "link_take", "link_put", "send", "board_send_bus"),
)
"""Functions of the board's own code that do little but poll registers."""

_CYCLES_PER_ACCESS = 20


class TimedByte(NamedTuple):
    """A byte on a serial line, and the time at which its last bit is transmitted [s]."""

    time_s: float
    value: int


class _Transmitter:
    """The transmitter of a USART, which shifts one byte out while another waits.

    Attributes:
        queue: the bytes that were written and not taken yet.
        idle_from_s: when the last bit has left [s].
        byte_s: the duration of a byte [s].
        is_polled: whether the status was read since the last byte was written.
    """

    def __init__(self) -> None:
        self.queue: list[TimedByte] = []
        self.idle_from_s = 0.0
        self.byte_s = 10 / LINE_BAUD
        self.is_polled = False

    def write(self, now_s: float, byte: int) -> None:
        """Send a byte after those before it."""
        self.idle_from_s = max(now_s, self.idle_from_s) + self.byte_s
        self.is_polled = False
        self.queue.append(TimedByte(self.idle_from_s, byte))

    def status(self, now_s: float) -> tuple[int, float]:
        """Return the status register, and the time to which waiting for it has moved the clock [s].

        Reading it waits until another byte can be written; reading it again waits until all bytes have left.
        """
        writable_from_s = self.idle_from_s - self.byte_s  # one byte waits while another is shifted out
        if now_s < writable_from_s:
            now_s = writable_from_s
        elif self.is_polled and now_s < self.idle_from_s:
            now_s = self.idle_from_s
        self.is_polled = True
        is_idle = now_s >= self.idle_from_s
        return _TRANSMIT_EMPTY | (_TRANSMIT_COMPLETE if is_idle else 0), now_s

    def take(self, until_s: float) -> list[TimedByte]:
        """Remove and return the bytes that have left until some time."""
        departed_bytes = [byte for byte in self.queue if byte.time_s <= until_s]
        self.queue = self.queue[len(departed_bytes) :]
        return departed_bytes


class Stm32F103:
    """A chip that runs a program.

    Args:
        image: the program.
        has_crystal: whether the crystal of 8 MHz starts.

    Attributes:
        core: the processor.
        time_s: time since it was switched on [s].
        core_hz: clock frequency of the core [Hz].
        analogue: values that the ADC measures, 0..4095, by channel.
        pins: levels of pins driven from outside, by port and number: `("A", 0)`; others are low.
        lost: number of bytes from the line that the program did not receive.
    """

    def __init__(self, image: ElfImage, *, has_crystal: bool = True) -> None:
        """Load the program, connect the registers that are more than memory, and switch the chip on.

        `_reads` and `_writes` have the functions of these registers, by their addresses.
        """
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
            # the clock in use (bits 2 and 3) is the one that was chosen (bits 0 and 1)
            _RCC_CFGR: lambda: self._get(_RCC_CFGR) & ~0xC | (self._get(_RCC_CFGR) & 3) << 2,
            _SYSTICK_VALUE: self._systick,
            _USART1: lambda: self._status(_USART1),
            _USART2: lambda: self._status(_USART2),
            _CNDTR6: self._remaining_transfers,
            _ADC1: lambda: 1 << 1,  # a conversion is always complete
            _ADC1 + _ADC_DATA: lambda: self.analogue.get(self._get(_ADC1 + _ADC_SEQUENCE_3) & 31, 0),
            # calibration ends at once
            _ADC1 + _ADC_CONTROL_2: lambda: self._get(_ADC1 + _ADC_CONTROL_2) & ~(3 << 2),
        }
        self._writes: dict[int, Callable[[int], None]] = {
            _RCC_CFGR: self._set_clock,
            _RCC_CSR: self._clear_reset_causes,
            _USART1 + _USART_DATA: lambda value: self._transmit(_USART1, value),
            _USART2 + _USART_DATA: lambda value: self._transmit(_USART2, value),
            _IWDG: self._write_watchdog,
            _CCR6: self._enable_dma,
        }
        for port, base in _GPIO.items():
            self._reads[base + _GPIO_INPUT] = partial(self._input_levels, port)
            self._writes[base + _GPIO_SET_RESET] = partial(self._set_output, port)
        self._polling_spans = tuple(image.span(name) for name in _POLLING_FUNCTIONS if name in image.symbols)
        self._stop_watching = self._start_watching()
        self._n_uninterrupted = 0  # instructions since the last access of a register
        self._run_until_s = 0.0  # the end of `run`
        self._stop_s = 0.0  # the end of `run`, or when the watchdog expires before it
        self._registers: dict[int, int] = {}
        self._incoming: deque[TimedByte] = deque()  # bytes on the line that have not been received
        self._power_up(_POWER_RESET)

    def _power_up(self, reset_cause: int) -> None:
        """Set the registers and peripherals to their state after a reset, and start the program."""
        self._registers = {_RCC_CR: 1, _RCC_CSR: reset_cause}
        self._transmitters = {_USART1: _Transmitter(), _USART2: _Transmitter()}
        self._incoming.clear()
        self._watchdog_expires_s = _NEVER
        self.core_hz = 8_000_000
        self._jump_s = _MIN_JUMP_S  # of the next read of the counter
        self._has_computer = False  # whether bytes have come over the line
        self._counter_start_s = self.time_s
        self._dma_remaining = 0
        self._dma_buffer_bytes = 0
        self._n_uninterrupted = 0
        self._next_instruction = self.core.restart()

    def press_reset(self) -> None:
        """Press the reset button: as on the chip, RAM keeps its content."""
        self._power_up(_BUTTON_RESET)

    # Time

    def run(self, until_s: float) -> None:
        """Run the program until some time, with a reset whenever the watchdog expires.

        Raises:
            BodyError: the program accesses memory that does not exist.
        """
        while self.time_s < until_s:
            self._run_until_s = until_s
            self._stop_s = min(until_s, self._watchdog_expires_s)
            if self._n_uninterrupted > _MAX_UNINTERRUPTED:
                self._run_in_slices()
            else:
                self.core.go(self._next_instruction)
                self._next_instruction = self.core.program_counter
            if self.time_s >= self._watchdog_expires_s:
                self._power_up(_WATCHDOG_RESET)

    def _start_watching(self) -> Callable[[], None]:
        """Count the instructions of each block of code; return a function that ends this."""
        return self.core.watch(self._on_block, self._polling_spans)

    def _on_block(self, _address: int, n_instructions: int) -> None:
        """Advance the time by a block of code, and stop the processor if it has run for long enough."""
        self.time_s += n_instructions / self.core_hz
        self._n_uninterrupted += n_instructions
        if self.time_s >= self._stop_s or self._n_uninterrupted > _MAX_UNINTERRUPTED:
            self.core.machine.emu_stop()

    def _run_in_slices(self) -> None:
        """Run a program that calculates for long, or hangs, without counting each block of code."""
        self._stop_watching()
        while self._n_uninterrupted and self.time_s < self._stop_s:
            self.core.go(self._next_instruction, max_instructions=_SLICE)
            self._next_instruction = self.core.program_counter
            self.time_s += _SLICE / self.core_hz
        self._stop_watching = self._start_watching()

    def _jump_to(self, time_s: float) -> None:
        """Advance the time, but not beyond the end of this run."""
        self.time_s = max(self.time_s, min(time_s, self._stop_s))

    def _set_clock(self, config: int) -> None:
        """Set RCC_CFGR: the PLL runs on the crystal or on half the chip's own oscillator, RM0008 7.3.2."""
        self._registers[_RCC_CFGR] = config
        factor = min(((config >> 18) & 15) + 2, 16) * (2 if config & 1 << 16 else 1)
        self.core_hz = 4_000_000 * (factor if config & 3 == 2 else 2)

    def _write_watchdog(self, key: int) -> None:
        """Write a key to the watchdog, which starts it, or restarts its time if it is running."""
        is_running = self._watchdog_expires_s < _NEVER
        if key == _START_WATCHDOG or (key == _FEED_WATCHDOG and is_running):
            divider = 4 << min(self._get(_IWDG + _WATCHDOG_PRESCALER) & 7, 6)
            n_counts = self._registers.get(_IWDG + _WATCHDOG_RELOAD, 0xFFF) + 1
            self._watchdog_expires_s = self.time_s + n_counts * divider / _LSI_HZ
            self._stop_s = min(self._run_until_s, self._watchdog_expires_s)

    # The serial line and the bus

    def receive(self, data: bytes) -> None:
        """Send bytes to the board over the line; they arrive one after the other from now on."""
        self._has_computer = True
        byte_s = self._transmitters[_USART2].byte_s
        start_s = max(self.time_s, self._incoming[-1].time_s if self._incoming else 0.0)
        for number, byte in enumerate(data, 1):
            self._incoming.append(TimedByte(start_s + number * byte_s, byte))

    def take_serial_bytes(self) -> bytes:
        """Return the bytes that the board has sent over the line since the last call."""
        return bytes(byte for _, byte in self._transmitters[_USART2].take(self.time_s))

    def take_bus(self) -> tuple[TimedByte, ...]:
        """Return the times [s] and bytes sent on the Dynamixel bus since the last call."""
        return tuple(self._transmitters[_USART1].take(self.time_s))

    def _status(self, usart: int) -> int:
        """Return the status register of a USART, by its base address; waiting for it moves the clock."""
        status, ready_s = self._transmitters[usart].status(self.time_s)
        self._jump_to(ready_s)
        return status

    def _transmit(self, usart: int, byte: int) -> None:
        """Send a byte; it is lost if the transmitter is off or its pin is not connected."""
        transmitter = self._transmitters[usart]
        has_half_clock = usart == _USART2 and self._get(_RCC_CFGR) >> 8 & 7 == 4
        clock_hz = self.core_hz // (2 if has_half_clock else 1)
        n_bits = 10  # of a byte, with its start and stop bits
        transmitter.byte_s = n_bits * max(self._get(usart + _USART_BAUD_DIVIDER), 1) / clock_hz
        transmitter.write(self.time_s, byte & 0xFF)
        self._jump_s = _MIN_JUMP_S
        is_on = self._get(usart + _USART_CONTROL_1) & _TRANSMITTER_ON == _TRANSMITTER_ON
        drives_bus = self._get(_AFIO_MAPR) & 4 and self._output("B") >> _BUS_DIRECTION_PIN & 1
        is_connected = usart == _USART2 or drives_bus
        if not is_on or not is_connected:
            transmitter.queue.pop()

    def _enable_dma(self, value: int) -> None:
        """Write CCR6, by which the DMA begins at the start of its ring buffer, with the size in CNDTR6."""
        self._registers[_CCR6] = value
        self._dma_buffer_bytes = self._get(_CNDTR6)
        self._dma_remaining = self._dma_buffer_bytes

    def _remaining_transfers(self) -> int:
        """Let the DMA store the bytes that have arrived in its ring buffer; return its CNDTR."""
        while self._incoming and self._incoming[0].time_s <= self.time_s:
            byte = self._incoming.popleft()
            self._jump_s = _MIN_JUMP_S
            is_receiving = self._get(_USART2 + _USART_CONTROL_1) & _RECEIVER_ON == _RECEIVER_ON
            passes_to_dma = is_receiving and self._get(_USART2 + _USART_CONTROL_3) & _DMA_RECEIVES
            is_dma_on = self._get(_CCR6) & 1 and self._dma_buffer_bytes
            if not (passes_to_dma and is_dma_on):
                self.lost += 1
                continue
            address = self._get(_CMAR6) + self._dma_buffer_bytes - self._dma_remaining
            self.core.machine.mem_write(address, bytes([byte.value]))
            self._dma_remaining = self._dma_remaining - 1 or self._dma_buffer_bytes  # begins again at 0
        return self._dma_remaining

    # Registers

    def _get(self, address: int) -> int:
        """Return what was last written to a register, 0 after a reset."""
        return self._registers.get(address, 0)

    def _is_clocked(self, address: int) -> bool:
        """Return whether the peripheral of a register has a clock."""
        clock = _CLOCKS.get(address & ~0x3FF)
        if clock is None:
            return True
        register, bit = clock
        return bool(self._get(register) >> bit & 1)

    def _read(self, _machine: Any, offset: int, _size: int, base: int) -> int:
        """Return the value of a register; Unicorn calls this."""
        address = base + offset
        self._note_access()
        if not self._is_clocked(address):
            return 0
        read_register = self._reads.get(address)
        value = read_register() if read_register else self._get(address)
        if self.time_s >= self._stop_s:
            self.core.machine.emu_stop()
        return value

    def _write(self, _machine: Any, offset: int, _size: int, value: int, base: int) -> None:
        """Set a register; Unicorn calls this."""
        address = base + offset
        self._note_access()
        if self._is_clocked(address):
            write_register = self._writes.get(address)
            if write_register:
                write_register(value)
            else:
                self._registers[address] = value

    def _note_access(self) -> None:
        """Advance the time by an access of a register, which also ends a run in slices."""
        if self._n_uninterrupted > _MAX_UNINTERRUPTED:
            self.core.machine.emu_stop()  # the program ran in slices; from here on blocks are counted again
        self._n_uninterrupted = 0
        self.time_s += _CYCLES_PER_ACCESS / self.core_hz

    def _clock_ready(self) -> int:
        """Return RCC_CR: the bit above that of each clock that is on says that it runs."""
        switches = self._get(_RCC_CR) & ~_CLOCKS_READY
        available = _CLOCKS_READY if self._has_crystal else _CLOCKS_READY & ~_CRYSTAL_READY
        return switches | (switches << 1 & available)

    def _clear_reset_causes(self, value: int) -> None:
        """Write RCC_CSR, of which only the bit 24 has an effect: it clears the causes of the last reset."""
        if value & 1 << 24:
            self._registers[_RCC_CSR] = 0

    def _systick(self) -> int:
        """Return the counter; reading it again and again, as a program without work does, makes time jump."""
        arrival_s = self._incoming[0].time_s if self._incoming else _NEVER
        self._jump_to(min(self.time_s + self._jump_s, max(arrival_s, self.time_s)))
        self._jump_s = _MAX_JUMP_WITH_COMPUTER_S if self._has_computer else min(2 * self._jump_s, _MAX_JUMP_S)
        return -int((self.time_s - self._counter_start_s) * self.core_hz / 8) & 0xFFFFFF

    # Pins

    def _set_output(self, port: str, bits: int) -> None:
        """Write BSRR: the low half has the pins to set, the high half those to reset."""
        set_pins = bits & 0xFFFF
        reset_pins = bits >> 16
        self._registers[_GPIO[port] + _GPIO_OUTPUT] = (self._output(port) & ~reset_pins | set_pins) & 0xFFFF
        if port == "B" and reset_pins >> _BUS_DIRECTION_PIN & 1:  # bytes that have not left are lost
            bus = self._transmitters[_USART1]
            bus.queue = [byte for byte in bus.queue if byte.time_s <= self.time_s]

    def _output(self, port: str) -> int:
        """Return the output register of a port."""
        return self._get(_GPIO[port] + _GPIO_OUTPUT)

    def output(self, port: str, pin: int) -> bool:
        """Return the level that the program sets on a pin."""
        return bool(self._output(port) >> pin & 1)

    def _input_levels(self, port: str) -> int:
        """Return the input register of a port."""
        return sum(1 << pin for (pin_port, pin), level in self.pins.items() if pin_port == port and level)
