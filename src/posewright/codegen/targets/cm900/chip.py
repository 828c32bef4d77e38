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
_BUS_PORT = "B"
_BUS_DIRECTION_PIN = 5  # high while the board sends: board.h
_USART1_REMAPPED = 1 << 2  # in AFIO_MAPR
_PRESCALER_2 = 4  # PPRE1 in RCC_CFGR: half the clock of the core
_LSI_HZ = 40_000  # RM0008 19.3
_POWER_RESET = 1 << 27  # causes of a reset in RCC_CSR: RM0008 7.3.10
_BUTTON_RESET = 1 << 26
_WATCHDOG_RESET = 1 << 29
_CRYSTAL_READY = 1 << 17  # HSERDY in RCC_CR: RM0008 7.3.1
_CLOCKS_READY = 1 << 1 | _CRYSTAL_READY | 1 << 25  # HSIRDY, HSERDY and PLLRDY
_NEVER = float("inf")
_MAX_INSTRUCTIONS_WITHOUT_ACCESS = 200_000  # of a register; after these the program runs in slices
_SLICE_INSTRUCTIONS = 20_000
_MIN_JUMP_S = 20e-6  # by which a reading of the counter advances the time while the program has work
_MAX_JUMP_S = 250e-6  # when it only waits, and no computer has sent anything yet
_MAX_JUMP_WITH_COMPUTER_S = 2e-3  # when it only waits, and a computer sets the pace
_POLLING_FUNCTIONS = (
    *("main", "board_time", "board_receive", "board_lamp", "board_set_pin", "board_feed_watchdog"),
    *("board_was_hung", "link_is_greeted", "link_take", "link_put", "send", "board_send_bus"),
)
"""Functions of the board's own code that do little but poll registers."""

_CYCLES_PER_ACCESS = 20


class TimedByte(NamedTuple):
    """A byte on a serial line, and the time at which its last bit has been transmitted [s]."""

    sent_at_s: float
    value: int


class _Transmitter:
    """The transmitter of a USART, which shifts one byte out while another waits.

    Attributes:
        untaken_bytes: the bytes that the program has written and `take_sent_bytes` has not returned.
        idle_from_s: time at which the last bit has been transmitted [s].
        byte_duration_s: the duration of a byte [s].
        is_polled: whether the status was read since the last byte was written.
    """

    def __init__(self) -> None:
        self.untaken_bytes: list[TimedByte] = []
        self.idle_from_s = 0.0
        self.byte_duration_s = 10 / LINE_BAUD
        self.is_polled = False

    def write(self, now_s: float, byte: int) -> None:
        """Send a byte after those before it."""
        self.idle_from_s = max(now_s, self.idle_from_s) + self.byte_duration_s
        self.is_polled = False
        self.untaken_bytes.append(TimedByte(self.idle_from_s, byte))

    def read_status(self, now_s: float) -> tuple[int, float]:
        """Return the status register, and the time to which waiting for it has moved the clock [s].

        Reading it waits until another byte can be written; reading it again waits until all bytes have left.
        """
        # one byte waits while another is shifted out
        writable_from_s = self.idle_from_s - self.byte_duration_s
        if now_s < writable_from_s:
            now_s = writable_from_s
        elif self.is_polled and now_s < self.idle_from_s:
            now_s = self.idle_from_s
        self.is_polled = True
        is_idle = now_s >= self.idle_from_s
        return _TRANSMIT_EMPTY | (_TRANSMIT_COMPLETE if is_idle else 0), now_s

    def take_sent_bytes(self, until_s: float) -> list[TimedByte]:
        """Remove and return the bytes that have been transmitted until some time."""
        sent_bytes = [byte for byte in self.untaken_bytes if byte.sent_at_s <= until_s]
        self.untaken_bytes = self.untaken_bytes[len(sent_bytes) :]
        return sent_bytes


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
        n_lost_bytes: number of bytes that arrived on the serial line while the program was not receiving.
    """

    def __init__(self, image: ElfImage, *, has_crystal: bool = True) -> None:
        """Load the program, connect the registers that are more than memory, and switch the chip on.

        `_read_functions` and `_write_functions` emulate these registers, by their addresses.
        """
        self.core = CortexM3(image)
        self.time_s = 0.0
        self.analogue: dict[int, int] = {}
        self.pins: dict[tuple[str, int], bool] = {}
        self.n_lost_bytes = 0
        self._has_crystal = has_crystal
        emulator = self.core.emulator
        emulator.mmio_map(
            _PERIPHERALS, _PERIPHERALS_BYTES, self._read, _PERIPHERALS, self._write, _PERIPHERALS
        )
        emulator.mmio_map(_CORE, _CORE_BYTES, self._read, _CORE, self._write, _CORE)
        self._read_functions: dict[int, Callable[[], int]] = {
            _RCC_CR: self._read_clock_control,
            # the clock in use (bits 2 and 3) is the one that was chosen (bits 0 and 1)
            _RCC_CFGR: lambda: (
                self._last_written(_RCC_CFGR) & ~0xC | (self._last_written(_RCC_CFGR) & 3) << 2
            ),
            _SYSTICK_VALUE: self._read_counter,
            _USART1: lambda: self._read_usart_status(_USART1),
            _USART2: lambda: self._read_usart_status(_USART2),
            _CNDTR6: self._store_received_bytes,
            _ADC1: lambda: 1 << 1,  # a conversion is always complete
            _ADC1 + _ADC_DATA: lambda: self.analogue.get(self._last_written(_ADC1 + _ADC_SEQUENCE_3) & 31, 0),
            # calibration ends at once
            _ADC1 + _ADC_CONTROL_2: lambda: self._last_written(_ADC1 + _ADC_CONTROL_2) & ~(3 << 2),
        }
        self._write_functions: dict[int, Callable[[int], None]] = {
            _RCC_CFGR: self._write_clock_config,
            _RCC_CSR: self._clear_reset_causes,
            _USART1 + _USART_DATA: lambda value: self._transmit(_USART1, value),
            _USART2 + _USART_DATA: lambda value: self._transmit(_USART2, value),
            _IWDG: self._write_watchdog,
            _CCR6: self._enable_dma,
        }
        for port, base in _GPIO.items():
            self._read_functions[base + _GPIO_INPUT] = partial(self._input_levels, port)
            self._write_functions[base + _GPIO_SET_RESET] = partial(self._set_output, port)
        self._polling_spans = tuple(image.span(name) for name in _POLLING_FUNCTIONS if name in image.symbols)
        self._stop_counting_instructions = self._start_counting_instructions()
        self._n_instructions_since_access = 0  # of a register
        self._run_until_s = 0.0  # the end of `run`
        # when the emulator stops: the end of `run`, or before it when the watchdog expires
        self._emulation_end_s = 0.0
        self._registers: dict[int, int] = {}
        self._incoming_bytes: deque[TimedByte] = deque()  # bytes on the line that have not been received
        self._reset_chip(_POWER_RESET)

    def _reset_chip(self, reset_cause: int) -> None:
        """Set registers and peripherals to their state after a reset, with its cause; start the program."""
        self._registers = {_RCC_CR: 1, _RCC_CSR: reset_cause}
        self._transmitters = {_USART1: _Transmitter(), _USART2: _Transmitter()}
        self._incoming_bytes.clear()
        self._watchdog_expires_s = _NEVER
        self.core_hz = 8_000_000
        self._counter_jump_s = _MIN_JUMP_S  # by which reading the counter next advances the time
        self._has_computer = False  # whether bytes have come over the line
        self._counter_start_s = self.time_s
        self._dma_remaining = 0
        self._dma_buffer_bytes = 0
        self._n_instructions_since_access = 0
        self._next_instruction = self.core.restart()

    def press_reset(self) -> None:
        """Press the reset button: as on the chip, RAM keeps its content."""
        self._reset_chip(_BUTTON_RESET)

    # Time

    def run(self, until_s: float) -> None:
        """Run the program until some time, with a reset whenever the watchdog expires.

        Raises:
            BodyError: the program accesses memory that does not exist.
        """
        while self.time_s < until_s:
            self._run_until_s = until_s
            self._emulation_end_s = min(until_s, self._watchdog_expires_s)
            if self._n_instructions_since_access > _MAX_INSTRUCTIONS_WITHOUT_ACCESS:
                self._run_in_slices()
            else:
                self.core.run_from(self._next_instruction)
                self._next_instruction = self.core.program_counter
            if self.time_s >= self._watchdog_expires_s:
                self._reset_chip(_WATCHDOG_RESET)

    def _start_counting_instructions(self) -> Callable[[], None]:
        """Let Unicorn call `_count_block` before each block of code; return a function that ends this."""
        return self.core.watch_blocks(self._count_block, self._polling_spans)

    def _count_block(self, _address: int, n_instructions: int) -> None:
        """Advance the time by a block of code, and stop the processor if it has run for long enough."""
        self.time_s += n_instructions / self.core_hz
        self._n_instructions_since_access += n_instructions
        if (
            self.time_s >= self._emulation_end_s
            or self._n_instructions_since_access > _MAX_INSTRUCTIONS_WITHOUT_ACCESS
        ):
            self.core.emulator.emu_stop()

    def _run_in_slices(self) -> None:
        """Run until the program accesses a register, in slices of `_SLICE_INSTRUCTIONS`.

        A program that calculates for long, or hangs, is too slow with a call of Python for each block.
        """
        self._stop_counting_instructions()
        # an access of a register sets the number to 0
        while self._n_instructions_since_access and self.time_s < self._emulation_end_s:
            self.core.run_from(self._next_instruction, max_instructions=_SLICE_INSTRUCTIONS)
            self._next_instruction = self.core.program_counter
            self.time_s += _SLICE_INSTRUCTIONS / self.core_hz
        self._stop_counting_instructions = self._start_counting_instructions()

    def _jump_to(self, time_s: float) -> None:
        """Advance the time, but not beyond the end of this run."""
        self.time_s = max(self.time_s, min(time_s, self._emulation_end_s))

    def _write_clock_config(self, config: int) -> None:
        """Write RCC_CFGR and set `core_hz`, RM0008 7.3.2.

        The core runs on the internal oscillator of 8 MHz, or on the PLL, which multiplies half of it or the
        crystal, also of 8 MHz.
        """
        self._registers[_RCC_CFGR] = config
        runs_on_pll = config & 0b11 == 0b10  # SW
        if not runs_on_pll:
            self.core_hz = 8_000_000
            return
        is_crystal_multiplied = bool(config & 1 << 16)  # PLLSRC
        multiplier_code = config >> 18 & 0b1111  # PLLMUL
        multiplier = min(multiplier_code + 2, 16)
        self.core_hz = multiplier * (8_000_000 if is_crystal_multiplied else 4_000_000)

    def _write_watchdog(self, key: int) -> None:
        """Write the watchdog's key register: one key starts it, another restarts its time if it is running.

        When the time is over, the watchdog resets the chip.
        """
        is_running = self._watchdog_expires_s < _NEVER
        if key == _START_WATCHDOG or (key == _FEED_WATCHDOG and is_running):
            prescaler_code = self._last_written(_IWDG + _WATCHDOG_PRESCALER) & 7
            divider = 4 << min(prescaler_code, 6)  # 4 to 256, RM0008 19.4.2
            n_counts = self._registers.get(_IWDG + _WATCHDOG_RELOAD, 0xFFF) + 1
            self._watchdog_expires_s = self.time_s + n_counts * divider / _LSI_HZ
            self._emulation_end_s = min(self._run_until_s, self._watchdog_expires_s)

    # The serial line and the bus

    def receive(self, data: bytes) -> None:
        """Send bytes to the board over the line; they arrive one after the other from now on."""
        self._has_computer = True
        byte_duration_s = self._transmitters[_USART2].byte_duration_s
        start_s = max(self.time_s, self._incoming_bytes[-1].sent_at_s if self._incoming_bytes else 0.0)
        for number, byte in enumerate(data, 1):
            self._incoming_bytes.append(TimedByte(start_s + number * byte_duration_s, byte))

    def take_serial_bytes(self) -> bytes:
        """Return the bytes that the board has sent over the line since the last call."""
        return bytes(byte for _, byte in self._transmitters[_USART2].take_sent_bytes(self.time_s))

    def take_bus(self) -> tuple[TimedByte, ...]:
        """Return the bytes sent on the Dynamixel bus since the last call, with their times."""
        return tuple(self._transmitters[_USART1].take_sent_bytes(self.time_s))

    def _read_usart_status(self, usart: int) -> int:
        """Return the status register of a USART, by its base address; waiting for it moves the clock."""
        status, ready_s = self._transmitters[usart].read_status(self.time_s)
        self._jump_to(ready_s)
        return status

    def _transmit(self, usart: int, byte: int) -> None:
        """Send a byte over a USART, given by its base address.

        The byte is lost if the transmitter is off or its pin is not connected.
        """
        transmitter = self._transmitters[usart]
        apb1_prescaler = self._last_written(_RCC_CFGR) >> 8 & 7  # of the clock of USART2 only
        is_clock_halved = usart == _USART2 and apb1_prescaler == _PRESCALER_2
        clock_hz = self.core_hz // (2 if is_clock_halved else 1)
        n_bits = 10  # of a byte, with its start and stop bits
        transmitter.byte_duration_s = (
            n_bits * max(self._last_written(usart + _USART_BAUD_DIVIDER), 1) / clock_hz
        )
        transmitter.write(self.time_s, byte & 0xFF)
        self._counter_jump_s = _MIN_JUMP_S
        is_on = self._last_written(usart + _USART_CONTROL_1) & _TRANSMITTER_ON == _TRANSMITTER_ON
        # USART1 reaches the servo bus by its second set of pins, while the board drives the bus
        uses_bus_pins = self._last_written(_AFIO_MAPR) & _USART1_REMAPPED
        is_bus_connected = uses_bus_pins and self.output(_BUS_PORT, _BUS_DIRECTION_PIN)
        is_connected = usart == _USART2 or is_bus_connected
        if not is_on or not is_connected:
            transmitter.untaken_bytes.pop()  # the one written above

    def _enable_dma(self, value: int) -> None:
        """Write CCR6, which starts the DMA at the begin of its ring buffer; CNDTR6 has the buffer's size."""
        self._registers[_CCR6] = value
        self._dma_buffer_bytes = self._last_written(_CNDTR6)
        self._dma_remaining = self._dma_buffer_bytes

    def _store_received_bytes(self) -> int:
        """Store the bytes that have arrived in the ring buffer of the DMA, or count them as lost.

        Returns CNDTR, the number of bytes until the DMA begins at the start of its buffer again.
        """
        while self._incoming_bytes and self._incoming_bytes[0].sent_at_s <= self.time_s:
            byte = self._incoming_bytes.popleft()
            self._counter_jump_s = _MIN_JUMP_S  # the program has work to do
            is_receiving = self._last_written(_USART2 + _USART_CONTROL_1) & _RECEIVER_ON == _RECEIVER_ON
            passes_to_dma = is_receiving and self._last_written(_USART2 + _USART_CONTROL_3) & _DMA_RECEIVES
            is_dma_on = self._last_written(_CCR6) & 1 and self._dma_buffer_bytes
            if not (passes_to_dma and is_dma_on):
                self.n_lost_bytes += 1
                continue
            buffer_address = self._last_written(_CMAR6)
            address = buffer_address + self._dma_buffer_bytes - self._dma_remaining
            self.core.emulator.mem_write(address, bytes([byte.value]))
            self._dma_remaining = self._dma_remaining - 1 or self._dma_buffer_bytes  # begins again at 0
        return self._dma_remaining

    # Registers

    def _last_written(self, address: int) -> int:
        """Return what was last written to a register, 0 after a reset."""
        return self._registers.get(address, 0)

    def _is_clocked(self, address: int) -> bool:
        """Return whether the peripheral of a register has a clock."""
        clock = _CLOCKS.get(address & ~0x3FF)
        if clock is None:
            return True
        register, bit = clock
        return bool(self._last_written(register) >> bit & 1)

    def _read(self, _emulator: Any, offset: int, _size: int, base: int) -> int:
        """Return the value of a register, 0 if its peripheral has no clock; Unicorn calls this.

        It advances the time, and stops the emulator at the end of the run.
        """
        address = base + offset
        self._count_access_time()
        if not self._is_clocked(address):
            return 0
        read_register = self._read_functions.get(address)
        value = read_register() if read_register else self._last_written(address)
        if self.time_s >= self._emulation_end_s:
            self.core.emulator.emu_stop()
        return value

    def _write(self, _emulator: Any, offset: int, _size: int, value: int, base: int) -> None:
        """Set a register, unless its peripheral has no clock, and advance the time; Unicorn calls this."""
        address = base + offset
        self._count_access_time()
        if self._is_clocked(address):
            write_register = self._write_functions.get(address)
            if write_register:
                write_register(value)
            else:
                self._registers[address] = value

    def _count_access_time(self) -> None:
        """Advance the time by an access of a register, and restart the count of instructions without one.

        It also ends a slice of `_run_in_slices`.
        """
        if self._n_instructions_since_access > _MAX_INSTRUCTIONS_WITHOUT_ACCESS:
            self.core.emulator.emu_stop()  # the program ran in slices; from here on blocks are counted again
        self._n_instructions_since_access = 0
        self.time_s += _CYCLES_PER_ACCESS / self.core_hz

    def _read_clock_control(self) -> int:
        """Return RCC_CR: each bit that switches a clock on, and above it the bit that says that it runs."""
        on_bits = self._last_written(_RCC_CR) & ~_CLOCKS_READY
        possible_ready_bits = _CLOCKS_READY if self._has_crystal else _CLOCKS_READY & ~_CRYSTAL_READY
        return on_bits | (on_bits << 1 & possible_ready_bits)

    def _clear_reset_causes(self, value: int) -> None:
        """Write RCC_CSR, of which only the bit 24 has an effect: it clears the causes of the last reset."""
        if value & 1 << 24:
            self._registers[_RCC_CSR] = 0

    def _read_counter(self) -> int:
        """Advance the time by a jump; return SysTick's counter of 24 bits, which counts down core clocks / 8.

        A program that waits reads the counter again and again. Jumps of the simulated time shorten this: they
        grow with each reading until the program has work, but none goes beyond the arrival of the next byte.
        """
        next_arrival_s = self._incoming_bytes[0].sent_at_s if self._incoming_bytes else _NEVER
        jump_end_s = self.time_s + self._counter_jump_s
        self._jump_to(min(jump_end_s, max(next_arrival_s, self.time_s)))
        if self._has_computer:
            self._counter_jump_s = _MAX_JUMP_WITH_COMPUTER_S
        else:
            self._counter_jump_s = min(2 * self._counter_jump_s, _MAX_JUMP_S)
        n_counts = int((self.time_s - self._counter_start_s) * self.core_hz / 8)
        return -n_counts & 0xFFFFFF

    # Pins

    def _set_output(self, port: str, bits: int) -> None:
        """Write BSRR of a port: bits 0 to 15 are the pins to set, bits 16 to 31 those to reset."""
        set_pins = bits & 0xFFFF
        reset_pins = bits >> 16
        self._registers[_GPIO[port] + _GPIO_OUTPUT] = (
            self._output_register(port) & ~reset_pins | set_pins
        ) & 0xFFFF
        turns_bus_to_receiving = port == _BUS_PORT and reset_pins >> _BUS_DIRECTION_PIN & 1
        if turns_bus_to_receiving:  # bytes that have not been sent completely are lost
            bus = self._transmitters[_USART1]
            bus.untaken_bytes = [byte for byte in bus.untaken_bytes if byte.sent_at_s <= self.time_s]

    def _output_register(self, port: str) -> int:
        """Return the output register of a port: a bit for each pin."""
        return self._last_written(_GPIO[port] + _GPIO_OUTPUT)

    def output(self, port: str, pin: int) -> bool:
        """Return the level that the program sets on a pin."""
        return bool(self._output_register(port) >> pin & 1)

    def _input_levels(self, port: str) -> int:
        """Return the input register of a port: a bit for each pin with a high level."""
        return sum(1 << pin for (pin_port, pin), level in self.pins.items() if pin_port == port and level)
