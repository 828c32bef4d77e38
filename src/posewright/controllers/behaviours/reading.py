"""Read a behaviour: `*.behaviour.yaml` and everything it names."""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path

from posewright.charts import Chart, Interpreter, Otherwise, State, parse_any_chart, require_sound
from posewright.charts.model import names_set
from posewright.control import check_options
from posewright.controllers.behaviours.behaviour import Behaviour
from posewright.controllers.behaviours.inputs import read_inputs
from posewright.controllers.behaviours.motion_library import CarriedTexts, load, read_entries
from posewright.controllers.behaviours.outputs import Doable, read_outputs
from posewright.controllers.behaviours.source_reading import SensorChannels, Surroundings
from posewright.documents import Catalogue, Node, parse_document, read_text
from posewright.errors import InputError, UnknownNameError
from posewright.gaits import Gait, gait_names, read_gait
from posewright.motions import Motion
from posewright.robots import Robot, SensorSpec, is_path, parse_sensor, robot, robot_names

REQUIRED = ("behaviour", "robot", "chart", "start_pose", "inputs", "outputs")
OPTIONAL = ("description", "source", "sensors", "wait_s", "motions", "gaits")

LONGEST_WAIT_S = 600.0  # no contest lets a robot stand longer before it begins [s]


def _folders() -> Iterator[Path]:
    for name in robot_names():
        folder = robot(name).folder
        if folder is not None:
            yield folder / "behaviours"


_BEHAVIOURS = Catalogue("behaviour", ".behaviour.yaml", _folders)


def behaviour_names() -> tuple[str, ...]:
    """Return the names of all behaviours that ship, of all robots, in alphabetical order."""
    return _BEHAVIOURS.names()


def read_behaviour(
    name: str | Path,
    *,
    robot: Robot | None = None,
    motions_from: Mapping[str, Motion] | None = None,
    vendor_file: str | Path | None = None,
) -> Behaviour:
    """Read a behaviour, with its chart and its motions.

    Args:
        name: one of `behaviour_names()`, or the path of a `*.behaviour.yaml`.
        robot: the card to take instead of the one the document names; it must be of a robot called so.
        motions_from: motions to take instead of those the document names, by their names there; what
            they lead to goes with them.
        vendor_file: a file of the robot's maker to take those motions from that name a `vendor_page`.

    Raises:
        DocumentError: the document is not what it should be, its chart is not sound, or it is for another
            robot than `robot`.
        UnknownNameError: there is no such behaviour, robot, sensor, motion, input, ...
        FormatError: a motion's file is damaged.
    """
    path = _BEHAVIOURS.find(name)
    reader = _Reader(path, read_text(path), robot)
    return reader.behaviour(motions_from or {}, None if vendor_file is None else Path(vendor_file))


class BehaviourKind:
    """Behaviours as programs: shipped ones by name, others by their `*.behaviour.yaml`."""

    name = "behaviour"
    option_names = ("motions",)
    """`motions`: a file of the robot's maker to take those motions from that name a `vendor_page`."""

    def names(self, robot: Robot | None) -> tuple[str, ...]:  # noqa: ARG002 -- each names its own robot
        """Return the names of all that ship."""
        return behaviour_names()

    def recognises(self, name: str) -> bool:
        """Tell whether a path ends as behaviours do."""
        return name.endswith((".yaml", ".yml"))

    def read(self, name: str, robot: Robot | None, options: Mapping[str, str]) -> Behaviour:
        """Read a behaviour; errors as of `read_behaviour`."""
        check_options(options, self.option_names, self.name)
        return read_behaviour(name, robot=robot, vendor_file=options.get("motions"))


_SOUND: deque[Chart] = deque(maxlen=16)
"""Charts that were found sound last: to check a large one takes seconds, and a batch reads it often."""


def _require_sound(chart: Chart) -> None:
    if chart not in _SOUND:
        require_sound(chart)
        _SOUND.append(chart)


def _place(card: Robot) -> Path | None:
    return None if card.folder is None else card.folder.resolve()


def _unset_at_first(chart: Chart) -> tuple[str, ...]:
    """Return the outputs that no first value is given, and that the first tick need not set."""
    active = [chart.state(name) for name in Interpreter(chart).initial().active]
    known = {*chart.initial_values}.union(*(_set_at_once(state, chart) for state in active))
    return tuple(name for name in chart.outputs if name not in known)


def _set_at_once(state: State, chart: Chart) -> set[str]:
    """Return what a state surely sets in its first tick: itself, or on every way out if it must take one."""
    found = {*state.do, *names_set(state.entry), *names_set(state.during)}
    must_go = (state.otherwise or chart.otherwise) is Otherwise.REFUSE
    ways = [names_set(way.do) for way in state.transitions if not way.on]
    return found | (set(frozenset.intersection(*ways)) if ways and must_go else set())


class _Reader:
    """Reads one document."""

    def __init__(self, path: Path, text: str, card: Robot | None) -> None:
        self.path = path
        self.fields = parse_document(text, path).fields(required=REQUIRED, optional=OPTIONAL)
        self.carried = CarriedTexts(path.parent)
        self.carried.keep(self.carried.name_of(path), text)
        self.robot = self._robot(self.fields["robot"], card)
        self.chart = self._chart(self.fields["chart"])
        self.sensors = self._sensors()

    def behaviour(self, motions_from: Mapping[str, Motion], vendor_file: Path | None) -> Behaviour:
        fields = self.fields
        entries = read_entries(fields["motions"], self.robot, vendor_file) if "motions" in fields else ()
        names = [entry.name for entry in entries]
        if vendor_file is not None and not any(entry.path == vendor_file for entry in entries):
            what = f"nothing here is taken from {vendor_file}: no motion has a `vendor_page`"
            fields["behaviour"].fail(what, hint=f"it plays its own {', '.join(names) or 'gaits'}")
        self._check_given(motions_from, names)
        motions = load(entries, self.robot, self.carried, motions_from)
        gaits = self._gaits(names)
        around = Surroundings(self.robot, SensorChannels(self.sensors), [*names, *gaits], self.chart)
        return Behaviour(
            name=fields["behaviour"].text(),
            robot=self.robot,
            chart=self.chart,
            sensors=self.sensors,
            inputs=read_inputs(fields["inputs"], around),
            outputs=read_outputs(fields["outputs"], self.chart, Doable(self.robot, names, gaits)),
            motions=motions,
            gaits=gaits,
            start_pose=self.robot.pose(fields["start_pose"].choice("pose", self.robot.poses)),
            wait_s=fields["wait_s"].number(low=0.0, high=LONGEST_WAIT_S) if "wait_s" in fields else 0.0,
            documents=dict(self.carried.texts),
            path=self.path,
            warnings=tuple(self._warnings()),
        )

    def _warnings(self) -> Iterator[str]:
        if unset := _unset_at_first(self.chart):
            yield (
                f"the chart {self.chart.name} gives no first value to {', '.join(unset)}: 0, false or the "
                "first name holds until the chart sets one; write it in `initial_values`"
            )

    def _gaits(self, motions: Collection[str]) -> dict[str, Gait]:
        """Read the `gaits:` block: each by its name in the robot's catalogue, or from a file."""
        gaits = {}
        for name, node in self.fields["gaits"].fields().items() if "gaits" in self.fields else ():
            if name in motions:
                node.fail(f"there is a motion {name}, too", hint="choose another name")
            entry = node.fields(optional=("gait", "file"))
            if len(entry) != 1:
                what = "a gait comes from one place"
                node.fail(what, hint="`gait:` a name of the catalogue, or `file:` a path")
            if "gait" in entry:
                where: str | Path = entry["gait"].choice("gait of the catalogue", gait_names(self.robot))
            else:
                where = self.path.parent / entry["file"].text()
            gaits[name] = read_gait(where, robot=self.robot)
            path = gaits[name].path
            if path is not None:
                self.carried.keep(self.carried.name_of(path), read_text(path))
        return gaits

    def _robot(self, node: Node, card: Robot | None) -> Robot:
        named = self._card_named(node, card)
        if card is None:
            return named
        if named.name != card.name:
            node.fail(f"this behaviour is for {named.name}", hint=f"it is to be run with {card.name}")
        if _place(named) != _place(card):
            node.fail(f"this behaviour is for another card of {card.name}", hint="name the same card in both")
        return card

    def _card_named(self, node: Node, card: Robot | None) -> Robot:
        """Return the card that `robot:` tells of: a name, or a path relative to the behaviour."""
        name = node.text()
        if is_path(name):
            return robot(self.path.parent / name)
        if card is not None and name == card.name:
            return card
        return robot(node.choice("robot", robot_names()))

    def _chart(self, node: Node) -> Chart:
        path = self.path.parent / node.text()
        text = read_text(path)
        self.carried.keep(self.carried.name_of(path), text)
        chart = parse_any_chart(text, path)
        _require_sound(chart)
        if chart.period_s < self.robot.frame_period_s:
            what = f"the chart's period is {chart.period_s:g} s, shorter than a frame of the robot"
            node.fail(what, hint=f"a frame is {self.robot.frame_period_s:g} s")
        return chart

    def _sensors(self) -> tuple[SensorSpec, ...]:
        known = {sensor.name for sensor in self.robot.sensors}
        further = []
        for name, node in self.fields["sensors"].fields().items() if "sensors" in self.fields else ():
            if name in known:
                node.fail(f"the robot's card has a sensor {name} already", hint="choose another name")
            further.append(parse_sensor(name, node))
        return (*self.robot.sensors, *further)

    def _check_given(self, motions_from: Mapping[str, Motion], names: Collection[str]) -> None:
        """Refuse a motion given for none of the behaviour's, or made for another robot."""
        where = self.fields["motions"].where if "motions" in self.fields else None
        led_to = {link for motion in motions_from.values() for link in (motion.next, motion.exit)}
        for name, motion in motions_from.items():
            if name not in names and name not in led_to:
                raise UnknownNameError.among("motion of the behaviour", name, names, where=where)
            if motion.robot != self.robot.name:
                hint = f"the robot is {self.robot.name}"
                raise InputError(f"the motion given for {name} is made for {motion.robot}", hint=hint)
