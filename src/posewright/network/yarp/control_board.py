"""A served robot as a YARP control board: answers to `rpc:i`, commands from `command:i`, states to stream.

Values are in degrees and degrees per second on the wire, in radians inside. The modes position, velocity and
direct position are supported; requests for torque, current, PWM and idle joints are answered as failed.

Source: the protocol 1.9.0 of YARP's remote_controlboard, as observed between the programs of YARP 3.9.1.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence

import numpy as np

from posewright.arrays import Floats
from posewright.bodies import BodyState
from posewright.errors import BodyError, InputError
from posewright.network.transport import RobotService
from posewright.network.yarp.axes import Axes, number, numbers, vector
from posewright.network.yarp.bottle import Bottle, Float32, Value, Vocab
from posewright.network.yarp.moves import DIRECT, POSITION, VELOCITY, AxisMotions
from posewright.network.yarp.port import Envelope
from posewright.units import RAD_PER_DEG

OK, FAIL, NAK, IS, STIFF, REVOLUTE = map(Vocab, ("ok", "fail", "nak", "is", "stif", "atrv"))
PROTOCOL = (Vocab("prot"), 1, 9, 0, OK)
LAYOUTS = (3, 4)
"""Major versions of YARP, whose messages of `stateExt:o` differ."""

OF_ALL = "s"
OF_GROUP = "g"
"""Endings of words that are about all axes, or about several.

A word is a stem of three letters, such as `pos`, and an ending: none for one axis, `s` for all, `g` for a
group.
"""

STEM_LENGTH = 3

MAX_REASONS = 32
"""Most different reasons of rejection that are counted separately."""

MAX_RPC_CLIENTS = 64
"""Most clients of `rpc:i` that are remembered; clients may use any number of names."""

MODE_WORDS = {
    "icmd": {"cmod": "", "cmds": OF_ALL, "cmog": OF_GROUP},
    "intm": {"mode": "", "mods": OF_ALL, "modg": OF_GROUP},
}
"""Words of control modes and of interaction modes, and the ending of the axes they are about."""

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
    """A control board; callable from any thread.

    Args:
        service: the robot.
        layout: the major version of YARP for messages of `stateExt:o`, 3 or 4.

    Attributes:
        axes: the axes of the board.
        rejection_counts: number of rejected messages, by reason.

    Raises:
        InputError: there is no such layout.
    """

    def __init__(self, service: RobotService, *, layout: int = 3) -> None:
        """Begin with the service's present state; tables map the words of requests to what answers them."""
        if layout not in LAYOUTS:
            raise InputError(f"there is no extended state of YARP {layout}", hint="use 3 or 4")
        self._robot = service.robot
        self._layout = layout
        self.axes = Axes.of(service.robot)
        self._moves = moves = AxisMotions(service, self.axes)
        self.rejection_counts: Counter[str] = Counter()
        self._lock = threading.Lock()
        self._rpc_clients: dict[str, None] = {}  # in the order of their first request
        self._state = service.state
        self._n_states = 0  # that were stored
        self._velocities = np.zeros(len(service.robot.joints))
        # by the first three letters of a word, the values of all axes, or what sets them
        self._quantity_getters: Mapping[str, Callable[[], Floats]] = {
            "pos": lambda: moves.targets_deg,
            "dpo": lambda: moves.targets_deg,
            "vmo": lambda: moves.velocities_deg_s,
            "vel": lambda: moves.speeds_deg_s,
            "acc": lambda: moves.accelerations_deg_s2,
            "enc": lambda: self.axes.degrees(self._state.positions),
            "esp": lambda: self.axes.degrees(self._velocities),
        }
        # by word, the answer for an axis
        self._constant_getters: Mapping[str, Callable[[int], Bottle]] = {
            "name": lambda axis: (self.axes.names[axis],),
            "type": lambda _: (REVOLUTE.code,),
            "llim": lambda axis: (float(moves.lower_deg[axis]), float(moves.upper_deg[axis])),
            "vlim": lambda axis: (0.0, float(moves.fastest_deg_s[axis])),
        }
        # by the first three letters, the movement for a client, axes and values
        self._move_methods: Mapping[str, Callable[[str, Sequence[int], Floats], None]] = {
            "pos": moves.move_to, "rel": moves.move_by, "vmo": moves.move_at, "dpo": moves.set_positions,
        }  # fmt: skip
        self._setters = {"vel": moves.set_speeds, "acc": moves.set_accelerations}

    def update(self, state: BodyState) -> None:
        """Store the state after a frame for all later answers."""
        with self._lock:
            elapsed_s = state.time_s - self._state.time_s
            if state.velocities is not None:
                self._velocities = state.velocities
            elif elapsed_s > 0.0:
                self._velocities = (state.positions - self._state.positions) / elapsed_s
            self._state = state
            self._n_states += 1

    def check_connections(self, rpc_senders: Iterable[str], stream_senders: Iterable[str]) -> list[str]:
        """Stop joints whose client has gone while they move at a speed; return the streams of such clients.

        A client that has used `rpc:i` is gone once it is no longer connected there, because a stream over udp
        has no disconnection.

        Args:
            rpc_senders: the senders that are connected to `rpc:i`.
            stream_senders: the senders that are connected to `command:i`.
        """
        connected_clients = set(map(client_of, rpc_senders))
        with self._lock:
            velocity_client = self._moves.velocity_client
            uses_rpc = velocity_client in self._rpc_clients
            present_clients = connected_clients if uses_rpc else set(map(client_of, stream_senders))
            if velocity_client and velocity_client not in present_clients:
                self._moves.stop_for(velocity_client)
            gone_clients = self._rpc_clients.keys() - connected_clients
            for client in gone_clients:
                del self._rpc_clients[client]
            return [sender for sender in stream_senders if client_of(sender) in gone_clients]

    @property
    def refused(self) -> int:
        """Number of rejected messages, for all reasons."""
        return sum(self.rejection_counts.values())

    @property
    def stamp(self) -> Envelope:
        """The number and the time of the present state."""
        return Envelope(self._n_states, self._state.time_s)

    def state(self) -> Bottle:
        """Return the message of `state:o`: the positions [deg]."""
        return vector(self.axes.degrees(self._state.positions))

    def state_ext(self) -> Bottle:
        """Return the message of `stateExt:o`: quantities by axis, each followed by whether it is known.

        They are position, velocity and acceleration of the joints, the same of the motors, torque, PWM,
        current, control mode, interaction mode and, in layout 4 only, temperature.
        """
        n_axes = len(self.axes)
        unknown: Bottle = ((0.0,) * n_axes, FAIL)
        unknown_single: Bottle = ((Float32(0.0),) * n_axes, FAIL)
        efforts = self._state.efforts
        has_efforts = bool(np.isfinite(efforts).all())
        message: list[Value] = []
        message += (self.state(), OK)
        message += (vector(self.axes.degrees(self._velocities)), OK)
        message += unknown * 4  # acceleration, and the three quantities of the motors
        message += (vector(self.axes.spread(np.nan_to_num(efforts))), OK if has_efforts else FAIL)
        message += unknown if self._layout == 3 else unknown_single  # PWM
        message += unknown  # current
        message += (tuple(mode.code for mode in self._moves.modes), OK)
        message += ((STIFF.code,) * n_axes, OK)
        if self._layout != 3:
            message += unknown_single  # temperature
        return tuple(message)

    def answer(self, request: Bottle, sender: str) -> Bottle:
        """Return the answer to a request; a rejected one is answered `[fail]`, and is counted.

        A request that is neither `[get]`, `[set]` nor `[help]` is answered `[nak]`. The client is remembered,
        so that its joints are stopped when it leaves.
        """
        with self._lock:
            self._rpc_clients[client_of(sender)] = None
            if len(self._rpc_clients) > MAX_RPC_CLIENTS:
                del self._rpc_clients[next(iter(self._rpc_clients))]
            try:
                match request:
                    case ("get", str(word), *arguments):
                        return self._answer_get(word, tuple(arguments))
                    case ("set", str(word), *arguments):
                        self._execute_set(client_of(sender), word, tuple(arguments))
                        return (OK,)
                    case ("help",):
                        return Vocab("many"), *HELP
            except (InputError, BodyError) as error:
                self._count_rejection(error.message)
                return (FAIL,)
            self._count_rejection("a request is neither [get] nor [set]")
            return (NAK,)

    def command(self, message: Bottle, envelope: Envelope | None, sender: str) -> None:  # noqa: ARG002
        """Execute a streamed command; a rejected one is counted.

        It is a pair: a head with the word and the axes, such as `[dpog] 2 (0 1)`, and a Vector of the values.
        """
        with self._lock:
            try:
                match message:
                    case ((str(word), *arguments), tuple(values)) if word[:STEM_LENGTH] in {"dpo", "vmo"}:
                        is_for_one_axis = not word[STEM_LENGTH:] and len(values) == 1
                        value: Value = values[0] if is_for_one_axis else values
                        self._move(client_of(sender), word, (*arguments, value))
                    case _:
                        self._count_rejection("a stream of neither positions nor velocities")
            except (InputError, BodyError) as error:
                self._count_rejection(error.message)

    def _count_rejection(self, reason: str) -> None:
        """Count a rejected message by its reason, or under a common one if there are too many reasons."""
        has_counter = reason in self.rejection_counts or len(self.rejection_counts) < MAX_REASONS
        self.rejection_counts[reason if has_counter else "other reasons"] += 1

    def _answer_get(self, word: str, arguments: Bottle) -> Bottle:
        """Return the answer to `[get] [word]` with some arguments; `HELP` lists the words.

        The words `icmd` and `intm` (modes), `pid` and `iimp` (gains) are followed by a word of their own.

        Raises:
            InputError: there is no such word, or its arguments are wrong.
        """
        match word, arguments:
            case "prot", ():
                return PROTOCOL
            case "axes", ():
                return self._answer_is(word, len(self.axes))
            case (("icmd" | "intm"), (str(subcommand), *axis_arguments)) if subcommand in MODE_WORDS[word]:
                return self._get_modes(word, subcommand, tuple(axis_arguments))
            case (("pid" | "iimp"), (str(subcommand), *gain_arguments)):
                return self._get_gains(word, subcommand, tuple(gain_arguments))
        if word in self._constant_getters:
            return self._answer_is(word, *self._constant_getters[word](self._select_axes("", arguments)[0]))
        return self._get_numbers(word[:STEM_LENGTH], word[STEM_LENGTH:], arguments)

    def _get_gains(self, word: str, subcommand: str, arguments: Bottle) -> Bottle:
        """Return the answer to `[get] [pid]`, the PID gains of servos, or `[get] [iimp]`, a stiffness.

        Args:
            word: `pid`; or `iimp` for the stiffness [N m/deg] and damping (0) of one axis.
            subcommand: `pid` for one axis, `pids` for all; `ipr` after `iimp`.
            arguments: after `pid` the word `pos`; then the axis, if they are not all.
        """
        match word, subcommand, arguments:
            case "pid", ("pid" | "pids"), ("pos", *axis_arguments):
                pids = tuple(
                    map(self._pid, self._select_axes(subcommand[STEM_LENGTH:], tuple(axis_arguments)))
                )
                return IS, Vocab(word), pids if subcommand[STEM_LENGTH:] else pids[0], OK
            case "iimp", "ipr", (axis,):
                return IS, Vocab(word), (self._stiffness(self._axis(axis)), 0.0), OK
        raise _not_offered(subcommand)

    def _get_numbers(self, stem: str, ending: str, arguments: Bottle) -> Bottle:
        """Return the answer with a quantity of one, several or all axes; `don` is whether moves are done.

        Args:
            stem: the first three letters of the word, which name the quantity.
            ending: the other letters: none for one axis, `s` for all, `g` for a group.
            arguments: the axes, if they are not all.
        """
        axes = self._select_axes(ending, arguments)
        if stem == "don":
            return self._answer_is(stem + ending, int(self._moves.done[axes].all()))
        if stem not in self._quantity_getters:
            raise _not_offered(stem + ending)
        values = vector(self._quantity_getters[stem]()[axes])
        return self._answer_is(stem + ending, values if ending else values[0])

    def _get_modes(self, word: str, subcommand: str, axis_arguments: Bottle) -> Bottle:
        """Return the answer to `[get] [icmd]` or `[get] [intm]`: the modes of one, several or all axes.

        An answer about one axis holds a value, the others a list. Each ends with a stamp, the number and time
        of the robot's last state.

        Args:
            word: `icmd` for control modes (position, velocity, ...), `intm` for interaction modes, which are
                always stiff.
            subcommand: a key of `MODE_WORDS[word]`; its value there is the ending: empty for one axis,
                `OF_ALL` or `OF_GROUP`.
            axis_arguments: the index of the axis; nothing for all axes; the number of axes and a list of
                their indices for a group.
        """
        ending = MODE_WORDS[word][subcommand]
        axes = self._select_axes(ending, axis_arguments)
        if word == "intm":  # the answer has no words before the value
            stiff_modes = (STIFF,) * len(axes)
            return stiff_modes if ending else STIFF, *self._stamp(), OK
        control_modes = tuple(self._moves.modes[axis] for axis in axes)
        if ending:
            return self._answer_is(subcommand, control_modes)
        return IS, axes[0], control_modes[0], *self._stamp(), OK

    def _execute_set(self, client: str, word: str, arguments: Bottle) -> None:
        """Execute `[set] [word]` for a client: modes, limits, a stop, a setting, or a movement.

        A word is a stem of three letters, which says what to set, and an ending, which says for which axes:
        none for one, `s` for all, `g` for a group. `icmd` and `intm` are followed by a word of their own.

        Args:
            client: the name of the client that commands it.
            word: the word after `set`.
            arguments: what follows it: axes and values.

        Raises:
            InputError: there is no such word, or its arguments are wrong.
            BodyError: the robot rejects the movement.
        """
        stem = word[:STEM_LENGTH]
        ending = word[STEM_LENGTH:]
        match word, arguments:
            case (("icmd" | "intm"), (str(subcommand), *axis_arguments, modes)) if (
                subcommand in MODE_WORDS[word]
            ):
                mode_ending = MODE_WORDS[word][subcommand]
                self._set_modes(client, word, mode_ending, axis_arguments=tuple(axis_arguments), modes=modes)
            case "llim", (axis, lower, upper):
                self._moves.set_limits(self._axis(axis), number(lower), number(upper))
            case (("sto" | "stos" | "stog"), _):
                stopped_axes = self._require_joints(ending, self._select_axes(ending, arguments))
                self._moves.hold(client, stopped_axes)
            case _ if stem in self._setters:
                axes, values = self._select_values(ending, arguments)
                self._setters[stem](axes, values)
            case _ if stem in self._move_methods and stem != "dpo":  # direct positions come by another port
                self._move(client, word, arguments)
            case _:
                raise _not_offered(word)

    def _move(self, client: str, word: str, arguments: Bottle) -> None:
        """Move the axes of a command for a client.

        In a command for all axes, those in another mode stay; otherwise these are an error.

        Raises:
            InputError: the axes or values are wrong, or an axis is in another mode.
            BodyError: the robot rejects the movement.
        """
        stem = word[:STEM_LENGTH]
        ending = word[STEM_LENGTH:]
        axes, values = self._select_values(ending, arguments)
        is_movable = np.array([self._moves.allows(axis, MOVED_IN[stem]) for axis in axes])
        is_accepted = is_movable.any() if ending == OF_ALL else is_movable.all()
        if not is_accepted:
            hint = f"set the mode [{MOVED_IN[stem]}] first"
            raise InputError(f"[{word}] of an axis in another mode", hint=hint)
        movable_axes = [axis for axis, can_move in zip(axes, is_movable, strict=True) if can_move]
        self._move_methods[stem](client, movable_axes, values[is_movable])

    def _set_modes(self, client: str, word: str, ending: str, axis_arguments: Bottle, modes: Value) -> None:
        """Set control modes (`icmd`); interaction modes (`intm`) are only compared with stiff, the only one.

        Args:
            client: the client that commands it.
            word: `icmd` or `intm`.
            ending: the ending that tells which axes it is about.
            axis_arguments: an axis; nothing for all; a number of axes and a list of them for a group.
            modes: one mode, or a list of one for each axis.
        """
        axes = self._select_axes(ending, axis_arguments)
        new_modes = modes if ending else (modes,)
        if not isinstance(new_modes, tuple) or len(new_modes) != len(axes):
            raise InputError("the number of modes is wrong", hint=f"send {len(axes)}, one per axis")
        if word == "intm":
            if set(map(str, new_modes)) != {STIFF}:
                raise _not_offered(word)
            return
        axes_with_joint = self._require_joints(ending, axes)
        modes_of_joints = [new_modes[axes.index(axis)] for axis in axes_with_joint]
        self._moves.set_modes(client, axes_with_joint, modes_of_joints)

    def _axis(self, value: Value) -> int:
        if isinstance(value, int) and 0 <= value < len(self.axes):
            return value
        raise InputError("there is no such axis", hint=f"use 0..{len(self.axes) - 1}")

    def _select_axes(self, ending: str, arguments: Bottle) -> list[int]:
        """Return the axes of a request, by the ending of its word and its arguments.

        The arguments are an axis for one, nothing for all, and a number of axes with a list of them for a
        group.
        """
        match ending, arguments:
            case "", (axis,):
                return [self._axis(axis)]
            case "s", ():
                return list(range(len(self.axes)))
            case "g", (int(n), tuple(members)):
                axes = list(map(self._axis, members))
                if n == len(axes) == len(set(axes)) > 0:
                    return axes
        hint = "send an axis; nothing for all axes; or the number of axes and a list of them"
        raise InputError("the axes are missing or invalid", hint=hint)

    def _select_values(self, ending: str, arguments: Bottle) -> tuple[list[int], Floats]:
        """Return the axes of a request that have a joint, and the value of each, `(k,)`."""
        if not arguments:
            raise InputError("there are no values", hint="send a number for each axis")
        *axis_arguments, last_argument = arguments
        axes = self._select_axes(ending, tuple(axis_arguments))
        values = numbers(last_argument if ending else (last_argument,), len(axes))
        axes_with_joint = self._require_joints(ending, axes)
        return axes_with_joint, values[[axes.index(axis) for axis in axes_with_joint]]

    def _require_joints(self, ending: str, axes: list[int]) -> list[int]:
        """Return the axes with a joint; one without is an error, unless the request is about all axes."""
        axes_with_joint = [axis for axis in axes if self.axes.columns[axis] is not None]
        if len(axes_with_joint) < len(axes) and ending != OF_ALL:
            unused = next(axis for axis in axes if axis not in axes_with_joint)
            raise InputError(f"axis {unused} has no joint", hint="its number is unused in this robot")
        return axes_with_joint

    def _answer_is(self, word: str, *values: Value) -> Bottle:
        """Return the answer `[is] [word] values`, with the stamp of the present state and `[ok]`."""
        return IS, Vocab(word), *values, *self._stamp(), OK

    def _stamp(self) -> Bottle:
        """Return the stamp of an answer: `[tsta]`, the number of the last state, and its time [s]."""
        return Vocab("tsta"), self._n_states, self._state.time_s

    def _stiffness(self, axis: int) -> float:
        """Return the stiffness of an axis' servo [N m/deg]; 0 without a joint."""
        column = self.axes.columns[axis]
        return 0.0 if column is None else self._robot.servos[column].stiffness * RAD_PER_DEG

    def _pid(self, axis: int) -> Bottle:
        """Return the ten numbers of YARP's `Pid` for a servo; the gain is in % of its torque per degree.

        They are kp, kd, ki, limit of the integral, limit of the output [%], offset, scale, two stictions and
        kff.
        """
        column = self.axes.columns[axis]
        percent_per_nm = 0.0 if column is None else 100.0 / self._robot.servos[column].stall_torque_nm
        proportional_gain = percent_per_nm * self._stiffness(axis)
        max_output_percent = 100.0
        scale = 1.0
        return proportional_gain, 0.0, 0.0, 0.0, max_output_percent, 0.0, scale, 0.0, 0.0, 0.0


def client_of(sender: str) -> str:
    """Return the name of a sender's client: the ports of one remote_controlboard have a common prefix."""
    return sender.removesuffix("/rpc:o").removesuffix("/command:o")


def _not_offered(word: str) -> InputError:
    hint = "positions, velocities and direct positions are supported"
    return InputError(f"[{word[:8]!r:.10}] is not supported", hint=hint)
