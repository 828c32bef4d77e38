"""Reader of behaviours: `*.behaviour.yaml` with its robot, chart, sensors, motions and gaits."""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path

from posewright.charts import Chart, Interpreter, Otherwise, State, parse_any_chart, require_sound
from posewright.charts.model import names_set
from posewright.control import require_known_options
from posewright.controllers.behaviours.behaviour import Behaviour
from posewright.controllers.behaviours.inputs import read_inputs
from posewright.controllers.behaviours.motion_library import (
    DocumentTexts,
    MotionEntry,
    load_motions,
    read_motion_entries,
)
from posewright.controllers.behaviours.outputs import ActionNames, read_output_rules
from posewright.controllers.behaviours.source_reading import NamesInScope, SensorChannels
from posewright.documents import Catalogue, Node, parse_document, read_text
from posewright.errors import InputError, UnknownNameError
from posewright.gaits import ParametricGait, gait_names, read_gait
from posewright.motions import Motion
from posewright.robots import Robot, SensorSpec, is_path, parse_sensor, robot, robot_names

REQUIRED = ("behaviour", "robot", "chart", "start_pose", "inputs", "outputs")
OPTIONAL = ("description", "source", "sensors", "wait_s", "motions", "gaits")

PACKAGE_FOLDER = Path(__file__).resolve().parents[2]
"""The folder of the package `posewright`."""

LONGEST_WAIT_S = 600.0
"""Longest accepted `wait_s`: no contest lets a robot stand longer before it begins."""


def _folders() -> Iterator[Path]:
    """Yield the folders of the catalogue of behaviours."""
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
        robot: a card that replaces the one named in the document; the name of the robot must be the same.
        motions_from: motions that replace those of the document, by name, with those they lead to.
        vendor_file: a file of the robot's maker with the motions that have a `vendor_page`.

    Raises:
        DocumentError: the document is not valid, its chart is not sound, or it is for another robot than
            `robot`.
        UnknownNameError: there is no such behaviour, robot, sensor, motion, input, ...
        FormatError: a motion's file is damaged.
    """
    path = _BEHAVIOURS.find(name)
    reader = _BehaviourReader(path, read_text(path), robot)
    return reader.read(motions_from or {}, None if vendor_file is None else Path(vendor_file))


class BehaviourKind:
    """Behaviours as programs: shipped ones by name, others by the path of a `*.behaviour.yaml`."""

    name = "behaviour"
    option_names = ("motions",)
    """`motions`: a file of the robot's maker with the motions that have a `vendor_page`."""

    def names(self, robot: Robot | None) -> tuple[str, ...]:  # noqa: ARG002 -- each names its own robot
        """Return the names of all behaviours that ship."""
        return behaviour_names()

    def recognises(self, name: str) -> bool:
        """Return whether a path has the suffix of a YAML file."""
        return name.endswith((".yaml", ".yml"))

    def read(self, name: str, robot: Robot | None, options: Mapping[str, str]) -> Behaviour:
        """Read a behaviour; raises as `read_behaviour` does."""
        require_known_options(options, self.option_names, self.name)
        return read_behaviour(name, robot=robot, vendor_file=options.get("motions"))


_SOUND_CHARTS: deque[Chart] = deque(maxlen=16)
"""Charts checked last: a check of a large chart takes seconds, and a batch reads the same one often."""


def _require_sound_chart(chart: Chart) -> None:
    """Raise what `require_sound` raises for a chart with errors, unless it was found sound lately."""
    if chart not in _SOUND_CHARTS:
        require_sound(chart)
        _SOUND_CHARTS.append(chart)


def _comes_with_posewright(path: Path) -> bool:
    """Return whether a chart comes with Posewright: those are checked when Posewright is tested."""
    return path.resolve().is_relative_to(PACKAGE_FOLDER)


def _outputs_without_first_value(chart: Chart) -> tuple[str, ...]:
    """Return the outputs that have no initial value and that the first tick may leave unset."""
    active = [chart.state(name) for name in Interpreter(chart).initial().active]
    initialized = {*chart.initial_values}.union(*(_set_in_first_tick(state, chart) for state in active))
    return tuple(name for name in chart.outputs if name not in initialized)


def _set_in_first_tick(state: State, chart: Chart) -> set[str]:
    """Return the outputs that a state sets in its first tick whatever the inputs.

    These are set by the state itself, or by each of its transitions where it must take one of them.
    """
    names = {*state.do, *names_set(state.entry), *names_set(state.during)}
    must_leave = (state.otherwise or chart.otherwise) is Otherwise.REFUSE
    set_by_transitions = [names_set(transition.do) for transition in state.transitions if not transition.on]
    if set_by_transitions and must_leave:
        names |= frozenset.intersection(*set_by_transitions)
    return names


class _BehaviourReader:
    """Reads one document."""

    def __init__(self, path: Path, text: str, card: Robot | None) -> None:
        """Read the robot, the chart and the sensors of the document, which the other blocks refer to.

        Args:
            path: the path of the document; the files it names are relative to its folder.
            text: the text of the document.
            card: the robot, in place of the one that the document names; None to read that one.
        """
        self.path = path
        self.fields = parse_document(text, path).fields(required=REQUIRED, optional=OPTIONAL)
        self.texts = DocumentTexts(path.parent)
        self.texts.add(self.texts.name_of(path), text)
        self.robot = self._read_robot(self.fields["robot"], card)
        self.chart = self._read_chart(self.fields["chart"])
        self.sensors = self._read_sensors()

    def read(self, overrides: Mapping[str, Motion], vendor_file: Path | None) -> Behaviour:
        """Read the behaviour, with motions that replace those of the document."""
        fields = self.fields
        entries: tuple[MotionEntry, ...] = ()
        if "motions" in fields:
            entries = read_motion_entries(fields["motions"], self.robot, vendor_file)
        motion_names = [entry.name for entry in entries]
        if vendor_file is not None and not any(entry.path == vendor_file for entry in entries):
            fields["behaviour"].fail(
                f"the behaviour uses nothing of {vendor_file}: no motion has a `vendor_page`",
                hint=f"it plays its own {', '.join(motion_names) or 'gaits'}",
            )
        self._require_fitting_overrides(overrides, motion_names)
        motions = load_motions(entries, self.robot, self.texts, overrides)
        gaits = self._read_gaits(motion_names)
        names = NamesInScope(
            self.robot,
            sensors=SensorChannels(self.sensors),
            motions=[*motion_names, *gaits],
            chart=self.chart,
        )
        action_names = ActionNames(self.robot, motion_names, gaits)
        return Behaviour(
            name=fields["behaviour"].text(),
            robot=self.robot,
            chart=self.chart,
            sensors=self.sensors,
            inputs=read_inputs(fields["inputs"], names),
            outputs=read_output_rules(fields["outputs"], self.chart, action_names),
            motions=motions,
            gaits=gaits,
            start_pose=self.robot.pose(fields["start_pose"].choice("pose", self.robot.poses)),
            wait_s=fields["wait_s"].number(low=0.0, high=LONGEST_WAIT_S) if "wait_s" in fields else 0.0,
            documents=dict(self.texts.texts),
            path=self.path,
            warnings=self._warnings(),
        )

    def _warnings(self) -> tuple[str, ...]:
        """Return a warning if the chart gives an output no first value."""
        outputs = _outputs_without_first_value(self.chart)
        if not outputs:
            return ()
        return (
            f"the chart {self.chart.name} gives no first value to {', '.join(outputs)}: 0, false or the "
            "first name holds until the chart sets one; write it in `initial_values`",
        )

    def _read_gaits(self, motions: Collection[str]) -> dict[str, ParametricGait]:
        """Read the `gaits:` block: each gait by its name in the robot's catalogue, or from a file."""
        gaits: dict[str, ParametricGait] = {}
        if "gaits" not in self.fields:
            return gaits
        for name, node in self.fields["gaits"].fields().items():
            if name in motions:
                node.fail(f"a motion has the name {name} already", hint="choose another name")
            entry = node.fields(optional=("gait", "file"))
            if len(entry) != 1:
                node.fail(
                    "a gait needs either `gait` or `file`",
                    hint="`gait:` a name of the catalogue, or `file:` a path",
                )
            if "gait" in entry:
                source: str | Path = entry["gait"].choice("gait", gait_names(self.robot))
            else:
                source = self.path.parent / entry["file"].text()
            gaits[name] = read_gait(source, robot=self.robot)
            path = gaits[name].path
            if path is not None:
                self.texts.add(self.texts.name_of(path), read_text(path))
        return gaits

    def _read_robot(self, node: Node, card: Robot | None) -> Robot:
        """Return the card named in the document, or that of the caller, which must be of the same robot."""
        named_card = self._read_named_card(node, card)
        if card is None:
            return named_card
        if named_card.name != card.name:
            node.fail(
                f"this behaviour is for {named_card.name}, not for {card.name}",
                hint="change the robot or the behaviour",
            )
        named_folder = None if named_card.folder is None else named_card.folder.resolve()
        folder = None if card.folder is None else card.folder.resolve()
        if named_folder != folder:
            node.fail(
                f"this behaviour is for a different card of {card.name}", hint="name the same card in both"
            )
        return card

    def _read_named_card(self, node: Node, card: Robot | None) -> Robot:
        """Return the card named by `robot:`, which is a name, or a path relative to the behaviour."""
        name = node.text()
        if is_path(name):
            return robot(self.path.parent / name)
        if card is not None and name == card.name:
            return card
        return robot(node.choice("robot", robot_names()))

    def _read_chart(self, node: Node) -> Chart:
        """Return the chart that the document names, checked for errors, and remember its text.

        The behaviour holds the text of every file it needs, so that a recording of it can be replayed.
        """
        path = self.path.parent / node.text()
        text = read_text(path)
        self.texts.add(self.texts.name_of(path), text)
        chart = parse_any_chart(text, path)
        if not _comes_with_posewright(path):
            _require_sound_chart(chart)
        if chart.period_s < self.robot.frame_period_s:
            node.fail(
                f"the chart's period is {chart.period_s:g} s, shorter than a frame of the robot",
                hint=f"a frame is {self.robot.frame_period_s:g} s",
            )
        return chart

    def _read_sensors(self) -> tuple[SensorSpec, ...]:
        """Return the sensors of the card and those of the `sensors:` block."""
        if "sensors" not in self.fields:
            return self.robot.sensors
        card_names = {sensor.name for sensor in self.robot.sensors}
        sensors = list(self.robot.sensors)
        for name, node in self.fields["sensors"].fields().items():
            if name in card_names:
                node.fail(f"the robot's card has a sensor {name} already", hint="choose another name")
            sensors.append(parse_sensor(name, node))
        return tuple(sensors)

    def _require_fitting_overrides(
        self, overrides: Mapping[str, Motion], motion_names: Collection[str]
    ) -> None:
        """Raise unless each override is for this robot and can be played.

        It can if it replaces a motion of the document, or another override names it as `next` or `exit`.
        """
        where = self.fields["motions"].where if "motions" in self.fields else None
        linked_names = {link for motion in overrides.values() for link in (motion.next, motion.exit)}
        for name, motion in overrides.items():
            if name not in motion_names and name not in linked_names:
                raise UnknownNameError.among("motion", name, motion_names, where=where)
            if motion.robot != self.robot.name:
                raise InputError(
                    f"the motion given for {name} is made for {motion.robot}",
                    hint=f"the robot is {self.robot.name}",
                )
