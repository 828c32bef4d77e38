"""The bench: a body on its servo bus, on a thread of its own, that a person puts into poses."""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import ExitStack
from typing import TYPE_CHECKING, TypeVar

from posewright.arrays import Floats
from posewright.errors import InputError, PosewrightError
from posewright.robots import Robot
from posewright.studio.session import outcome_of, settle

if TYPE_CHECKING:
    from posewright.buses.dynamixel.fake.bus import FakeBus
    from posewright.buses.dynamixel.teaching import Teacher

DYNAMIXEL = "dynamixel:"
PERIOD_S = 0.1
"""So often it is looked where the joints stand [s]."""

TORQUE_EVERY = 10
"""In so many rounds it is asked once which servos have torque: one may have switched itself off."""

PATIENCE_S, PATIENCE_WITH_FAKES_S = 0.1, 1.0
"""How long an answer may take at least [s]; a fake servo answers late, but always."""

CLOSING_S = 5.0

Result = TypeVar("Result")


class Bench:
    """Opens a body, does jobs on it one after the other, and tells where its joints stand meanwhile.

    All that is told is told on the bench's thread. At the end all torque is off, also where this process is
    killed.

    Args:
        robot: whose servos are on the bus.
        address: `dynamixel:PORT`, or what moves behind a fake bus: `mock`, `sim`.
        on_state: told the angles `(n_joints,)` [rad] and the joints without torque.
        on_trouble: told what did not work; it goes on.
        on_end: told that it is closed, and why where that was not asked for.

    Attributes:
        fake: the bus, where it is a fake one.
    """

    def __init__(
        self,
        robot: Robot,
        address: str,
        on_state: Callable[[Floats, tuple[str, ...]], None],
        on_trouble: Callable[[PosewrightError], None],
        on_end: Callable[[PosewrightError | None], None],
    ) -> None:
        self.robot = robot
        self.fake: FakeBus | None = None
        self._address = address
        self._on_state, self._on_trouble, self._on_end = on_state, on_trouble, on_end
        self._jobs: queue.SimpleQueue[Callable[[Teacher], None]] = queue.SimpleQueue()
        self._is_stopped = False
        self._thread = threading.Thread(target=self._run, name="studio bench", daemon=True)
        self._thread.start()

    def do(self, job: Callable[[Teacher], Result]) -> Future[Result]:
        """Have something done with the body, after what was asked for before."""
        answer: Future[Result] = Future()
        self._jobs.put(lambda teacher: settle(answer, lambda: job(teacher)))
        return answer

    def stop(self) -> None:
        """Ask it to end, after what was asked for before; all torque is taken off."""
        self._jobs.put(lambda _: setattr(self, "_is_stopped", True))

    def join(self) -> None:
        """Wait until it has ended."""
        self._thread.join(timeout=CLOSING_S)

    def _run(self) -> None:
        def serve() -> None:
            with ExitStack() as stack:
                self._serve(self._opened(stack))

        self._on_end(outcome_of(serve))

    def _opened(self, stack: ExitStack) -> Teacher:
        from posewright.buses.dynamixel.bus import BAUD, Bus, joints_of, require_dynamixel_sdk
        from posewright.buses.dynamixel.guard import Guard
        from posewright.buses.dynamixel.link import parse_address
        from posewright.buses.dynamixel.opening import find_servos
        from posewright.buses.dynamixel.teaching import Teacher
        from posewright.buses.serial_port import SerialPort
        from posewright.runs.fake_bus import as_on_a_bus, fake_bus, fake_port, is_on_a_bus

        require_dynamixel_sdk()
        card = self.robot
        if self._address.startswith(DYNAMIXEL):
            if not is_on_a_bus(card):
                hint = "those count 1024 ticks in 300 degrees"
                raise InputError(f"the servos of {card.name} are not AX-12", hint=hint)
            port, card = parse_address(self._address, card)
        else:
            card = as_on_a_bus(card)
            self.fake = fake_bus(card, body=self._address)
            port = SerialPort(stack.enter_context(fake_port(self.fake)).path, BAUD)
        bus = stack.enter_context(Bus(port, joints=joints_of(card)))
        if self.fake is None:
            stack.callback(Guard(port).dismiss)
        bus.patience_s = max(bus.patience_s, PATIENCE_S if self.fake is None else PATIENCE_WITH_FAKES_S)
        find_servos(bus, card)
        return stack.enter_context(Teacher(bus, card, time.monotonic))

    def _serve(self, teacher: Teacher) -> None:
        from posewright.buses.dynamixel.answers import PortGoneError
        from posewright.buses.dynamixel.torque import read_ticks

        rounds, free = 0, teacher.free
        while not self._is_stopped:
            try:
                is_asked = self._do_next(teacher)
                if is_asked or rounds % TORQUE_EVERY == 0:
                    free = teacher.free
                self._on_state(teacher.robot.from_ticks(read_ticks(teacher.bus, teacher.robot)), free)
            except PortGoneError:
                raise
            except PosewrightError as error:
                self._on_trouble(error)
            rounds += 1

    def _do_next(self, teacher: Teacher) -> bool:
        try:
            job = self._jobs.get(timeout=PERIOD_S)
        except queue.Empty:
            return False
        job(teacher)
        return True
