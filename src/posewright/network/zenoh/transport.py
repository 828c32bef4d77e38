"""A served robot on a Zenoh network: requests answered, topics published, trajectories taken.

Under the robot's name there are

* the topics of `ros.topics`;
* `joint_trajectory`, by which a commander moves the robot;
* `plant`, at which requests in the form of `wire_messages` are answered;
* `status`, a `std_msgs/String` of JSON: who commands, whose trajectories are refused and why, the body's
  latest faults, and counts; every second of the robot's time, and at once when a new sender is refused.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import suppress
from threading import Lock, Thread

import numpy as np
from numpy.typing import NDArray

from posewright.bodies import BodyState, JointCommands
from posewright.errors import BodyError, FormatError
from posewright.network.transport import RobotService
from posewright.network.zenoh import ros
from posewright.network.zenoh.session import SessionConfig, ZenohObject, parse_robot_name, zenoh_library
from posewright.recordings.messages import IMAGE, JOINT_TRAJECTORY, STRING
from posewright.robots import Camera

STATUS_S = 1.0
"""Time between two messages of status [s]."""

PICTURE_S = 0.2
"""Time between two pictures of a camera whose rate is not known [s]."""

MOST_WAITING = 256
"""So many trajectories wait to be read; of a flood the oldest are dropped."""

MOST_REFUSED = 16
"""So many senders that are refused are named in the status."""

_COUNTS = ("answered", "accepted", "refused", "damaged", "missed")
"""Requests; trajectories; frames that the transport had no time for."""


class ZenohTransport:
    """A `Transport`.

    A sender is told from another by the Zenoh session that its trajectory names as its source, and by the
    header's `frame_id`: behind one bridge all are of one session, and a plain `put` names none. That keeps
    two from commanding by mistake; `SessionConfig.commanders` keeps out whoever means to.

    Args:
        config: where it listens.
        name: what others call the robot.
        pictures: whether somebody will `show` what its cameras see.
    """

    def __init__(self, config: SessionConfig, name: str, pictures: bool = False) -> None:
        self._config = config
        self.name = parse_robot_name(name)
        self.pictures = pictures
        self._lock = Lock()
        self._counts = dict.fromkeys(_COUNTS, 0)
        self._refused = dict[str, str]()
        self._session: ZenohObject = None
        self._declarations = list[ZenohObject]()
        self._topics = list[tuple[ros.RosTopic, ZenohObject]]()
        self._cameras = dict[str, tuple[Camera, ZenohObject]]()
        self._status: ZenohObject = None
        self._next_s = dict[str, float]()

    def open(self, service: RobotService) -> None:
        """Begin to listen.

        Raises:
            BodyError: it cannot listen there, or another robot of that name is on the network.
            InputError: it was asked to listen where strangers can reach it, without what would keep them out.
        """
        zenoh = zenoh_library()
        self._service = service
        self._zenoh = zenoh
        self._joints = service.robot.joint_names
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
        key = f"{self.name}/plant"
        liveliness = self._session.liveliness()
        if any(reply.ok is not None for reply in liveliness.get(key, timeout=2.0)):
            raise BodyError(
                f"another robot on the network is called {self.name}", hint="serve this one --name OTHER"
            )
        self._declarations.append(liveliness.declare_token(key))

    def _declare(self) -> None:
        session = self._session
        sensors = self._service.sensors
        self._declarations.append(
            session.declare_queryable(f"{self.name}/plant", self._answer, complete=True)
        )
        latest = self._zenoh.handlers.RingChannel(MOST_WAITING)
        commands = session.declare_subscriber(f"{self.name}/joint_trajectory", latest)
        Thread(target=self._listen, args=(commands,), name="commands", daemon=True).start()
        self._declarations.append(commands)
        self._announce("MS", "joint_trajectory", JOINT_TRAJECTORY.name)
        for topic in ros.topics(self.name, self._joints, sensors):
            self._topics.append((topic, self._publisher(topic.path, topic.type_name)))
        self._status = self._publisher("status", STRING.name)
        if self.pictures:
            self._cameras = {
                camera.name: (camera, self._publisher(f"{camera.name}/image_raw", IMAGE.name))
                for camera in sensors
                if isinstance(camera, Camera)
            }

    def _publisher(self, path: str, type_name: str) -> ZenohObject:
        self._announce("MP", path, type_name)
        return self._session.declare_publisher(
            f"{self.name}/{path}",
            encoding=self._zenoh.Encoding.APPLICATION_CDR,
            congestion_control=self._zenoh.CongestionControl.DROP,
        )

    def _announce(self, kind: str, path: str, type_name: str) -> None:
        token = ros.bridge_token(str(self._session.zid()), kind, f"{self.name}/{path}", type_name)
        self._declarations.append(self._session.liveliness().declare_token(token))

    def publish(self, state: BodyState, commands: JointCommands) -> None:
        """Send a frame to all observers, and wait for none: a slow connection misses it."""
        status = self._status
        if status is None:
            return
        try:
            for topic, publisher in self._topics:
                if not publisher.matching_status.matching:
                    continue
                message = topic.pack(state, commands)
                if message is not None:
                    publisher.put(message)
            if self._is_due("", state.time_s, STATUS_S):
                status.put(ros.text(json.dumps(self._status_message())))
        except self._zenoh.ZError:
            self._count("missed")  # it is being closed

    def cameras_due(self, time_s: float) -> list[str]:
        """Return the cameras whose next picture an observer waits for."""
        watched = [
            camera for camera, publisher in self._cameras.values() if publisher.matching_status.matching
        ]
        return [camera.name for camera in watched if self._is_due(camera.name, time_s, _period_s(camera))]

    def show(self, camera: str, time_s: float, pixels: NDArray[np.uint8]) -> None:
        """Send observers what a camera sees, `(height, width, 3)` bytes."""
        _, publisher = self._cameras[camera]
        publisher.put(ros.picture(f"{self.name}/sensors/{camera}", time_s, pixels))

    def _is_due(self, topic: str, time_s: float, period_s: float) -> bool:
        # a time that went back is that of a robot that began again
        due_s = self._next_s.get(topic, time_s)
        if due_s - period_s <= time_s < due_s:
            return False
        self._next_s[topic] = time_s + period_s
        return True

    def _answer(self, query: ZenohObject) -> None:
        """Answer a request, in a thread of Zenoh's."""
        answer = self._service.answer_request(b"" if query.payload is None else query.payload.to_bytes())
        self._count("answered")
        with suppress(self._zenoh.ZError):  # the client is gone
            query.reply(query.key_expr, answer, express=True)

    def _listen(self, commands: ZenohObject) -> None:
        """Take trajectories, in a thread of its own, until the session is closed."""
        with suppress(self._zenoh.ZError):
            for sample in commands:
                self._take(sample)

    def _take(self, sample: ZenohObject) -> None:
        """Take a trajectory; nothing in it may end the thread."""
        raw = sample.payload.to_bytes()
        try:
            message = ros.read_trajectory(raw, self._joints)
        except FormatError as error:
            self._count("damaged")
            self._refuse(_sender(sample, ros.frame_id_of(raw)), str(error))
            return
        sender = _sender(sample, message.frame_id)
        if message.trajectory is None:
            refusal = self._service.stop(sender)
        else:
            refusal = self._service.command(sender, message.trajectory)
        if refusal:
            self._count("refused")
            self._refuse(sender, refusal)
            return
        self._count("accepted")
        with self._lock:
            self._refused.pop(sender, None)

    def _count(self, counter: str) -> None:
        with self._lock:
            self._counts[counter] += 1

    def _refuse(self, sender: str, reason: str) -> None:
        with self._lock:
            is_new = sender not in self._refused
            self._refused[sender] = reason
            while len(self._refused) > MOST_REFUSED:
                del self._refused[next(iter(self._refused))]
        if is_new:
            self._next_s.pop("", None)

    def _status_message(self) -> dict[str, object]:
        with self._lock:
            refused = dict(self._refused)
            counts = dict(self._counts)
        faults = [
            {"time_s": fault.time_s, "kind": fault.kind.value, "joint": fault.joint, "message": fault.message}
            for fault in self._service.faults
        ]
        return {
            "commander": self._service.commanded_by,
            "refused": refused,
            "counts": counts,
            "faults": faults,
        }

    def facts(self) -> Mapping[str, float]:
        """Return its counters: requests, trajectories, and sessions that are connected."""
        session = self._session  # may be closed meanwhile
        observers = 0 if session is None else sum(1 for _ in session.info.transports())
        with self._lock:
            return {**self._counts, "observers": observers}

    def close(self) -> None:
        """Let go of everybody; must not raise."""
        session = self._session
        self._session = None
        self._topics = []
        self._cameras = {}
        self._declarations = []
        self._status = None
        if session is not None:
            session.close()


def _sender(sample: ZenohObject, frame_id: str) -> str:
    source = sample.source_info
    session = str(source.source_id.zid) if source is not None else ""
    return " ".join(filter(None, (session, frame_id))) or "somebody"


def _period_s(camera: Camera) -> float:
    return max(PICTURE_S, 1.0 / camera.frame_rate_hz) if camera.frame_rate_hz else PICTURE_S
