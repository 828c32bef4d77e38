"""A served robot as a YARP control board: what it answers on `rpc:i`, takes on `command:i`, and tells.

Degrees and degrees a second on the wire, radians inside. Positions, velocities and direct positions are
offered; torque, current, PWM and servos without torque are answered as not offered.

Source: the protocol 1.9.0 of YARP's remote_controlboard, as observed between the programs of YARP 3.9.1.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence

import numpy as np

from posewright.arrays import Floats
from posewright.bodies import BodyState
from posewright.errors import BodyError, InputError, PosewrightError
from posewright.network.transport import RobotService
from posewright.network.yarp.axes import Axes, number, numbers, vector
from posewright.network.yarp.bottle import Bottle, Float32, Value, Vocab
from posewright.network.yarp.moves import DIRECT, POSITION, VELOCITY, AxisMotions
from posewright.network.yarp.port import Envelope
from posewright.units import RAD_PER_DEG

OK, FAIL, NAK, IS, STIFF, REVOLUTE = map(Vocab, ("ok", "fail", "nak", "is", "stif", "atrv"))
PROTOCOL = (Vocab("prot"), 1, 9, 0, OK)
LAYOUTS = (3, 4)
"""YARP's great versions that differ in what `stateExt:o` tells."""

OF_ALL = "s"
OF_GROUP = "g"
"""What a word ends in that is about all axes, or about some."""

MOST_KINDS = 32
"""So many kinds of refusals are told apart."""

MOST_ASKERS = 64
"""So many who asked are remembered; strangers may come under any number of names."""

MODE_WORDS = {
    "icmd": {"cmod": "", "cmds": OF_ALL, "cmog": OF_GROUP},
    "intm": {"mode": "", "mods": OF_ALL, "modg": OF_GROUP},
}
"""Words of control modes and of interaction modes, and whom each is about."""

MOVED_IN = {"pos": POSITION, "rel": POSITION, "vmo": VELOCITY, "dpo": DIRECT}
"""The mode that each word moves an axis in."""

HELP = (
    "get axes | name J | type J | llim J | vlim J | encs | enc J | esps | esp J | prot",
    "get poss | pos J | dons | don J | vels | vel J | accs | acc J | pid pid pos J | iimp ipr J",
    "get vmos | vmo J | dpos | dpo J | icmd cmds | icmd cmod J | intm mode J",
    "set pos J DEG | poss (DEG ...) | posg N (J ...) (DEG ...) | rel J DEG | rels | relg | sto J | stos",
    "set vmo J DEG_S | vel J DEG_S | vels | velg | acc J DEG_S2 | accs | accg | llim J MIN MAX",
    "set icmd cmod J pos|posd|vel | icmd cmds (MODE ...) | icmd cmog N (J ...) (MODE ...)",
)


class ControlBoard:
    """What a control board answers and does; callable from any thread.

    Args:
        layout: the version of YARP whose `stateExt:o` is told, 3 or 4.

    Raises:
        InputError: there is no such layout.
    """

    def __init__(self, service: RobotService, *, layout: int = 3) -> None:
        if layout not in LAYOUTS:
            raise InputError(f"the extended state of YARP {layout}", hint="of 3 or of 4")
        self._robot = service.robot
        self._layout = layout
        self.axes = Axes.of(service.robot)
        self._moves = moves = AxisMotions(service, self.axes)
        self.refusals: Counter[str] = Counter()
        self._lock = threading.Lock()
        self._askers: dict[str, None] = {}
        self._state = service.state
        self._count = 0
        self._velocities = np.zeros(len(service.robot.joints))
        self._numbers: Mapping[str, Callable[[], Floats]] = {
            "pos": lambda: moves.targets_deg,
            "dpo": lambda: moves.targets_deg,
            "vmo": lambda: moves.velocities_deg_s,
            "vel": lambda: moves.speeds_deg_s,
            "acc": lambda: moves.accelerations_deg_s2,
            "enc": lambda: self.axes.degrees(self._state.positions),
            "esp": lambda: self.axes.degrees(self._velocities),
        }
        self._facts: Mapping[str, Callable[[int], Bottle]] = {
            "name": lambda axis: (self.axes.names[axis],),
            "type": lambda _: (REVOLUTE.code,),
            "llim": lambda axis: (float(moves.lower_deg[axis]), float(moves.upper_deg[axis])),
            "vlim": lambda axis: (0.0, float(moves.fastest_deg_s[axis])),
        }
        self._moving: Mapping[str, Callable[[str, Sequence[int], Floats], None]] = {
            "pos": moves.move_to, "rel": moves.move_by, "vmo": moves.move_at, "dpo": moves.put,
        }  # fmt: skip
        self._setting = {"vel": moves.set_speeds, "acc": moves.set_accelerations}

    def see(self, state: BodyState) -> None:
        """Take the state after a frame: it is told from now on."""
        with self._lock:
            passed_s = state.time_s - self._state.time_s
            if state.velocities is not None:
                self._velocities = state.velocities
            elif passed_s > 0.0:
                self._velocities = (state.positions - self._state.positions) / passed_s
            self._state = state
            self._count = self._count + 1

    def look(self, asking: Iterable[str], streaming: Iterable[str]) -> list[str]:
        """Stop what moves at a speed if who wanted it has hung up; return which streams are of such.

        Args:
            asking: the senders that are connected to `rpc:i`.
            streaming: those that are connected to `command:i`; one that also asked and is gone there is gone,
                for over udp nobody hears that it is.
        """
        asking = set(map(client_of, asking))
        with self._lock:
            runner = self._moves.runner
            connected = asking if runner in self._askers else streaming
            if runner and runner not in set(map(client_of, connected)):
                self._moves.stop_for(runner)
            gone = self._askers.keys() - asking
            for client in gone:
                del self._askers[client]
            return [sender for sender in streaming if client_of(sender) in gone]

    @property
    def refused(self) -> int:
        """How much was refused, of all kinds."""
        return sum(self.refusals.values())

    @property
    def stamp(self) -> Envelope:
        """The number and the time of what is told now."""
        return Envelope(self._count, self._state.time_s)

    def state(self) -> Bottle:
        """Return what `state:o` tells: the positions [deg]."""
        return vector(self.axes.degrees(self._state.positions))

    def state_ext(self) -> Bottle:
        """Return what `stateExt:o` tells: eleven lists by axis, or twelve, each with whether it is known."""
        n = len(self.axes)
        unknown: Bottle = ((0.0,) * n, FAIL)
        single: Bottle = ((Float32(0.0),) * n, FAIL)
        pwm, *temperature = (unknown,) if self._layout == 3 else (single, single)
        efforts = self._state.efforts
        torque = vector(self.axes.spread(np.nan_to_num(efforts))), OK if np.isfinite(efforts).all() else FAIL
        moving = (self.state(), OK, vector(self.axes.degrees(self._velocities)), OK, *unknown)
        modes = (tuple(mode.code for mode in self._moves.modes), OK, (STIFF.code,) * n, OK)
        return (
            *moving,
            *unknown * 3,
            *torque,
            *pwm,
            *unknown,
            *modes,
            *(one for t in temperature for one in t),
        )

    def answer(self, request: Bottle, sender: str) -> Bottle:
        """Return the answer to a request; one that cannot be done is answered `[fail]`, and is counted."""
        with self._lock:
            self._askers[client_of(sender)] = None
            if len(self._askers) > MOST_ASKERS:
                del self._askers[next(iter(self._askers))]
            try:
                match request:
                    case ("get", str(word), *arguments):
                        return self._get(word, tuple(arguments))
                    case ("set", str(word), *arguments):
                        self._set(client_of(sender), word, tuple(arguments))
                        return (OK,)
                    case ("help",):
                        return Vocab("many"), *HELP
            except (InputError, BodyError) as error:
                self._refuse(error)
                return (FAIL,)
            self._refuse("what is neither [get] nor [set]")
            return (NAK,)

    def command(self, message: Bottle, envelope: Envelope | None, sender: str) -> None:  # noqa: ARG002
        """Do what is streamed: a pair of a head and a Vector; what cannot be done is counted as refused."""
        with self._lock:
            try:
                match message:
                    case ((str(word), *arguments), tuple(values)) if word[:3] in {"dpo", "vmo"}:
                        last: Value = values if word[3:] or len(values) != 1 else values[0]
                        self._move(client_of(sender), word, (*arguments, last))
                    case _:
                        self._refuse("a stream of neither positions nor velocities")
            except (InputError, BodyError) as error:
                self._refuse(error)

    def _refuse(self, reason: PosewrightError | str) -> None:
        """Count a rejected message by its reason; beyond a number of reasons, under a common one."""
        text = reason if isinstance(reason, str) else reason.message
        has_counter = text in self.refusals or len(self.refusals) < MOST_KINDS
        self.refusals[text if has_counter else "what else there is"] += 1

    def _get(self, word: str, arguments: Bottle) -> Bottle:
        match word, arguments:
            case "prot", ():
                return PROTOCOL
            case "axes", ():
                return self._answer_is(word, len(self.axes))
            case (("icmd" | "intm"), (str(subcommand), *which)) if subcommand in MODE_WORDS[word]:
                return self._get_modes(word, subcommand, tuple(which))
            case (("pid" | "iimp"), (str(subcommand), *which)):
                return self._get_gains(word, subcommand, tuple(which))
        if word in self._facts:
            return self._answer_is(word, *self._facts[word](self._select_axes("", arguments)[0]))
        return self._get_numbers(word[:3], word[3:], arguments)

    def _get_gains(self, word: str, subcommand: str, arguments: Bottle) -> Bottle:
        """Answer with the gains of a servo, or with its stiffness [N m/deg] and no damping."""
        match word, subcommand, arguments:
            case "pid", ("pid" | "pids"), ("pos", *which):
                pids = tuple(map(self._pid, self._select_axes(subcommand[3:], tuple(which))))
                return IS, Vocab(word), pids if subcommand[3:] else pids[0], OK
            case "iimp", "ipr", (axis,):
                return IS, Vocab(word), (self._stiffness(self._axis(axis)), 0.0), OK
        raise _not_offered(subcommand)

    def _get_numbers(self, stem: str, ending: str, arguments: Bottle) -> Bottle:
        """Answer with a quantity of one axis, some or all; for `don`, whether all of them are done."""
        axes = self._select_axes(ending, arguments)
        if stem == "don":
            return self._answer_is(stem + ending, int(self._moves.done[axes].all()))
        if stem not in self._numbers:
            raise _not_offered(stem + ending)
        values = vector(self._numbers[stem]()[axes])
        return self._answer_is(stem + ending, values if ending else values[0])

    def _get_modes(self, word: str, subcommand: str, which: Bottle) -> Bottle:
        ending = MODE_WORDS[word][subcommand]
        axes = self._select_axes(ending, which)
        if word == "intm":  # the answer has no words before the value
            return (STIFF,) * len(axes) if ending else STIFF, *self._stamp(), OK
        modes = tuple(self._moves.modes[axis] for axis in axes)
        return self._answer_is(subcommand, modes) if ending else (IS, axes[0], modes[0], *self._stamp(), OK)

    def _set(self, client: str, word: str, arguments: Bottle) -> None:
        stem = word[:3]
        ending = word[3:]
        match word, arguments:
            case (("icmd" | "intm"), (str(subcommand), *which, modes)) if subcommand in MODE_WORDS[word]:
                self._set_modes(client, word, MODE_WORDS[word][subcommand], tuple(which), modes)
            case "llim", (axis, lower, upper):
                self._moves.set_limits(self._axis(axis), number(lower), number(upper))
            case (("sto" | "stos" | "stog"), _):
                self._moves.hold(client, self._require_joints(ending, self._select_axes(ending, arguments)))
            case _ if stem in self._setting:
                self._setting[stem](*self._select_values(ending, arguments))
            case _ if stem in self._moving and stem != "dpo":
                self._move(client, word, arguments)
            case _:
                raise _not_offered(word)

    def _move(self, client: str, word: str, arguments: Bottle) -> None:
        """Move axes; of all axes, those in another mode stay; naming one of them is an error."""
        stem = word[:3]
        ending = word[3:]
        axes, values = self._select_values(ending, arguments)
        movable = np.array([self._moves.allows(axis, MOVED_IN[stem]) for axis in axes])
        if not (movable.any() if ending == OF_ALL else movable.all()):
            raise InputError(f"[{word}] of an axis in another mode", hint=f"[{MOVED_IN[stem]}] first")
        driven = [axis for axis, moves in zip(axes, movable, strict=True) if moves]
        self._moving[stem](client, driven, values[movable])

    def _set_modes(self, client: str, word: str, ending: str, which: Bottle, modes: Value) -> None:
        axes = self._select_axes(ending, which)
        new_modes = modes if ending else (modes,)
        if not isinstance(new_modes, tuple) or len(new_modes) != len(axes):
            raise InputError("there is not one mode per axis", hint=f"{len(axes)} modes are needed")
        if word == "intm":
            if set(map(str, new_modes)) != {STIFF}:
                raise _not_offered(word)
            return
        driven = self._require_joints(ending, axes)
        self._moves.set_modes(client, driven, [new_modes[axes.index(axis)] for axis in driven])

    def _axis(self, value: Value) -> int:
        if isinstance(value, int) and 0 <= value < len(self.axes):
            return value
        raise InputError("there is no such axis", hint=f"0..{len(self.axes) - 1}")

    def _select_axes(self, ending: str, arguments: Bottle) -> list[int]:
        """Return the axes of a request, by the ending of its word and its arguments."""
        match ending, arguments:
            case "", (axis,):
                return [self._axis(axis)]
            case "s", ():
                return list(range(len(self.axes)))
            case "g", (int(n), tuple(members)):
                axes = list(map(self._axis, members))
                if n == len(axes) == len(set(axes)) > 0:
                    return axes
        raise InputError(
            "no axis, or more than one", hint="an axis; nothing, for all; or how many, and a list of them"
        )

    def _select_values(self, ending: str, arguments: Bottle) -> tuple[list[int], Floats]:
        """Return axes, and a value for each, `(k,)`."""
        if not arguments:
            raise InputError("there are no values", hint="a number for each axis")
        *which, values = arguments
        axes = self._select_axes(ending, tuple(which))
        chosen = numbers(values if ending else (values,), len(axes))
        driven = self._require_joints(ending, axes)
        return driven, chosen[[axes.index(axis) for axis in driven]]

    def _require_joints(self, ending: str, axes: list[int]) -> list[int]:
        """Return the axes with a joint; one without is an error, unless all axes are meant."""
        driven = [axis for axis in axes if self.axes.columns[axis] is not None]
        if len(driven) < len(axes) and ending != OF_ALL:
            unused = next(axis for axis in axes if axis not in driven)
            raise InputError(f"axis {unused}, which has no joint", hint="its number is unused in this robot")
        return driven

    def _answer_is(self, word: str, *values: Value) -> Bottle:
        return IS, Vocab(word), *values, *self._stamp(), OK

    def _stamp(self) -> Bottle:
        return Vocab("tsta"), self._count, self._state.time_s

    def _stiffness(self, axis: int) -> float:
        """Return the stiffness of an axis' servo [N m/deg]; 0 without a joint."""
        column = self.axes.columns[axis]
        return 0.0 if column is None else self._robot.servos[column].stiffness * RAD_PER_DEG

    def _pid(self, axis: int) -> Bottle:
        """Return the ten PID numbers of a servo, a proportional controller [% of its torque / deg]."""
        column = self.axes.columns[axis]
        full = 0.0 if column is None else 100.0 / self._robot.servos[column].stall_torque_nm
        return full * self._stiffness(axis), 0.0, 0.0, 0.0, 100.0, 0.0, 1.0, 0.0, 0.0, 0.0


def client_of(sender: str) -> str:
    """Return the client of a port: the ports of one remote_controlboard have a common prefix."""
    return sender.removesuffix("/rpc:o").removesuffix("/command:o")


def _not_offered(word: str) -> InputError:
    return InputError(f"[{word[:8]!r:.10}] is not offered", hint="positions, velocities, direct positions")
