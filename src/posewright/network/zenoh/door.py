"""A robot's door to a Zenoh network: questions answered, topics published, trajectories taken.

Under the robot's name there are the topics of `ros.topics`, `joint_trajectory`, by which a commander moves
the robot, `plant`, at which `served.asking` questions are answered, and `status`, a `std_msgs/String` of JSON
that says who commands, whose trajectories are refused and why, the body's latest faults, and counts; it comes
every second of the robot's time, and at once when somebody is refused who was not before.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import suppress
from threading import Lock, Thread
from typing import Any

from posewright.bodies import BodyState, JointCommands
from posewright.errors import BodyError, FormatError
from posewright.network.served.door import Served
from posewright.network.zenoh import ros
from posewright.network.zenoh.session import SessionConfig, zenoh_library
from posewright.network.zenoh.wire import robot_name
from posewright.recordings.messages import IMAGE, JOINT_TRAJECTORY, STRING
from posewright.robots import Camera

STATUS_S, PICTURE_S = 1.0, 0.2
"""Time between two messages of status, and between two pictures of a camera whose rate is not known."""

MOST_WAITING = 256
"""So many trajectories wait to be read; of a flood the oldest are dropped."""

MOST_REFUSED = 16
"""So many senders that are refused are told by name."""


_COUNTS = ("answered", "accepted", "refused", "damaged", "missed")
"""Questions; trajectories; frames that a door had no time for."""


class ZenohDoor:
    """A `served.door.Door`.

    A sender is told from another by the Zenoh session that its trajectory names as its source, and by the
    header's `frame_id`: behind one bridge all are of one session, and a plain `put` names none. That keeps
    two from commanding by mistake; `SessionConfig.commanders` keeps out whoever means to.

    Args:
        config: where it listens.
        name: what others call the robot.
        pictures: whether somebody will `show` what its cameras see.
    """

    def __init__(self, config: SessionConfig, name: str, pictures: bool = False) -> None:
        self._config, self.name, self.pictures = config, robot_name(name), pictures
        self._lock, self._counts = Lock(), dict.fromkeys(_COUNTS, 0)
        self._refused = dict[str, str]()
        self._session: Any = None
        self._kept: list[Any] = []
        self._told: list[tuple[ros.Topic, Any]] = []
        self._cameras: dict[str, tuple[Camera, Any]] = {}
        self._status: Any = None
        self._next_s: dict[str, float] = {}

    def open(self, served: Served) -> None:
        """Begin to listen.

        Raises:
            BodyError: it cannot listen there, or another robot of that name is on the network.
            InputError: it was asked to listen where strangers can reach it, without what would keep them out.
        """
        zenoh = zenoh_library()
        self._served, self._zenoh = served, zenoh
        self._joints = served.robot.joint_names
        self._session = self._config.open(self.name)
        try:
            self._enter_the_network()
            self._declare()
        except zenoh.ZError as error:
            self.close()
            raise BodyError(f"{self.name} cannot be served", hint=str(error)) from error
        except BodyError:
            self.close()
            raise

    def _enter_the_network(self) -> None:
        key, liveliness = f"{self.name}/plant", self._session.liveliness()
        if any(reply.ok is not None for reply in liveliness.get(key, timeout=2.0)):
            raise BodyError(
                f"another robot on the network is called {self.name}", hint="serve this one --name OTHER"
            )
        self._kept.append(liveliness.declare_token(key))

    def _declare(self) -> None:
        session, served, name = self._session, self._served, self.name
        self._kept.append(session.declare_queryable(f"{name}/plant", self._answer, complete=True))
        latest = self._zenoh.handlers.RingChannel(MOST_WAITING)
        commands = session.declare_subscriber(f"{name}/joint_trajectory", latest)
        Thread(target=self._listen, args=(commands,), name="commands", daemon=True).start()
        self._kept.append(commands)
        self._announce("MS", "joint_trajectory", JOINT_TRAJECTORY.name)
        for topic in ros.topics(name, self._joints, served.sensors):
            self._told.append((topic, self._publisher(topic.path, topic.type_name)))
        self._status = self._publisher("status", STRING.name)
        if self.pictures:
            cameras = [sensor for sensor in served.sensors if isinstance(sensor, Camera)]
            self._cameras = {
                one.name: (one, self._publisher(f"{one.name}/image_raw", IMAGE.name)) for one in cameras
            }

    def _publisher(self, path: str, type_name: str) -> Any:
        self._announce("MP", path, type_name)
        return self._session.declare_publisher(
            f"{self.name}/{path}",
            encoding=self._zenoh.Encoding.APPLICATION_CDR,
            congestion_control=self._zenoh.CongestionControl.DROP,
        )

    def _announce(self, kind: str, path: str, type_name: str) -> None:
        token = ros.bridge_token(str(self._session.zid()), kind, f"{self.name}/{path}", type_name)
        self._kept.append(self._session.liveliness().declare_token(token))

    def publish(self, state: BodyState, commands: JointCommands) -> None:
        """Tell all observers of a frame, and wait for none: what a line cannot take at once it misses."""
        status = self._status
        if status is None:
            return
        try:
            for topic, publisher in self._told:
                watched = publisher.matching_status.matching
                if watched and (message := topic.pack(state, commands)) is not None:
                    publisher.put(message)
            if self._due("", state.time_s, STATUS_S):
                status.put(ros.text(json.dumps(self._standing())))
        except self._zenoh.ZError:
            self._count("missed")  # it is being closed

    def wanted(self, time_s: float) -> list[str]:
        """Return the cameras whose next picture somebody waits for."""
        watched = [camera for camera, line in self._cameras.values() if line.matching_status.matching]
        return [camera.name for camera in watched if self._due(camera.name, time_s, _period_s(camera))]

    def show(self, camera: str, time_s: float, pixels: Any) -> None:
        """Tell whoever watches what a camera sees, `(height, width, 3)` bytes."""
        _, publisher = self._cameras[camera]
        publisher.put(ros.picture(f"{self.name}/sensors/{camera}", time_s, pixels))

    def _due(self, what: str, time_s: float, period_s: float) -> bool:
        # a time that went back is that of a robot that began again
        due_s = self._next_s.get(what, time_s)
        if due_s - period_s <= time_s < due_s:
            return False
        self._next_s[what] = time_s + period_s
        return True

    def _answer(self, query: Any) -> None:
        """Answer a question, in a thread of Zenoh's."""
        answer = self._served.ask(b"" if query.payload is None else query.payload.to_bytes())
        self._count("answered")
        with suppress(self._zenoh.ZError):  # who asked is gone
            query.reply(query.key_expr, answer, express=True)

    def _listen(self, commands: Any) -> None:
        """Take trajectories, in a thread of its own, until the session is closed."""
        with suppress(self._zenoh.ZError):
            for sample in commands:
                self._take(sample)

    def _take(self, sample: Any) -> None:
        """Take a trajectory; nothing in it may end the thread."""
        raw = sample.payload.to_bytes()
        try:
            message = ros.read_trajectory(raw, self._joints)
        except FormatError as error:
            self._count("damaged")
            self._refuse(_sender(sample, ros.frame_id_of(raw)), str(error))
            return
        sender = _sender(sample, message.frame_id)
        wanted = message.trajectory
        why = self._served.stop(sender) if wanted is None else self._served.command(sender, wanted)
        if why:
            self._count("refused")
            self._refuse(sender, why)
            return
        self._count("accepted")
        with self._lock:
            self._refused.pop(sender, None)

    def _count(self, what: str) -> None:
        with self._lock:
            self._counts[what] += 1

    def _refuse(self, sender: str, why: str) -> None:
        with self._lock:
            new = sender not in self._refused
            self._refused[sender] = why
            while len(self._refused) > MOST_REFUSED:
                del self._refused[next(iter(self._refused))]
        if new:
            self._next_s.pop("", None)

    def _standing(self) -> dict[str, Any]:
        with self._lock:
            refused, counts = dict(self._refused), dict(self._counts)
        faults = [
            {"time_s": one.time_s, "kind": one.kind.value, "joint": one.joint, "message": one.message}
            for one in self._served.faults
        ]
        return {
            "commander": self._served.commanded_by,
            "refused": refused,
            "counts": counts,
            "faults": faults,
        }

    def facts(self) -> Mapping[str, float]:
        """Return its counters: questions, trajectories, and sessions that are connected."""
        observers = 0
        if (session := self._session) is not None:
            observers = sum(1 for _ in session.info.transports())
        with self._lock:
            return {**self._counts, "observers": observers}

    def close(self) -> None:
        """Let go of everybody; must not raise."""
        session, self._session = self._session, None
        self._told, self._cameras, self._kept, self._status = [], {}, [], None
        if session is not None:
            session.close()


def _sender(sample: Any, frame_id: str) -> str:
    source = sample.source_info
    session = str(source.source_id.zid) if source is not None else ""
    return " ".join(filter(None, (session, frame_id))) or "somebody"


def _period_s(camera: Camera) -> float:
    return max(PICTURE_S, 1.0 / camera.frame_rate_hz) if camera.frame_rate_hz else PICTURE_S
