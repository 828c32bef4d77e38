"""Serves a robot on a Zenoh network: it answers requests, publishes topics and accepts trajectories.

Its keys, after the robot's name, are

* the topics of `ros.topics`;
* `joint_trajectory`, with which a commander moves the robot;
* `plant`, for requests in the format of `wire_messages`;
* `status`, a `std_msgs/String` of JSON: the commander, the rejected senders with the reasons, the body's
  latest faults, and counts; every second of the robot's time, and at once when a new sender is rejected.
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

MAX_QUEUED_TRAJECTORIES = 256
"""Most trajectories that wait to be read; the oldest are dropped for further ones."""

PUBLISHER_KIND = "MP"
SUBSCRIBER_KIND = "MS"
"""Kinds of liveliness tokens of zenoh-plugin-ros2dds: message publisher and message subscriber."""

STATUS = "status"
"""The topic of the status."""

MAX_REJECTED_SENDERS = 16
"""Most rejected senders in the status."""

_COUNTS = ("answered", "accepted", "refused", "damaged", "missed")
"""Counters of requests, of trajectories accepted, rejected and damaged, and of frames that were dropped."""


class ZenohTransport:
    """A `Transport` for Zenoh.

    Senders of trajectories are distinguished by the Zenoh session of their source, and by the `frame_id` of
    the header, because all senders behind a bridge have one session and a plain `put` names none. This only
    prevents two commanders by mistake; `SessionConfig.commanders` prevents it on purpose.

    Args:
        config: the configuration of its session.
        name: the name of the robot on the network.
        pictures: whether `show` will be called with pictures of the cameras.
    """

    def __init__(self, config: SessionConfig, name: str, pictures: bool = False) -> None:
        """Store the arguments; `open` opens the session."""
        self._config = config
        self.name = parse_robot_name(name)
        self.sends_pictures = pictures
        self._lock = Lock()
        self._counts = dict.fromkeys(_COUNTS, 0)
        self._rejected = dict[str, str]()  # the reason by sender
        self._session: ZenohObject = None
        self._declarations = list[ZenohObject]()
        self._topics = list[tuple[ros.RosTopic, ZenohObject]]()  # each with its publisher
        self._cameras = dict[str, tuple[Camera, ZenohObject]]()  # by name, with the publisher of its pictures
        self._status: ZenohObject = None
        self._next_due_s = dict[str, float]()  # of the status and the pictures, by topic

    def open(self, service: RobotService) -> None:
        """Start listening.

        Raises:
            BodyError: it cannot listen there, or another robot on the network has the name.
            InputError: everybody on the network could connect, because no access control is configured.
        """
        zenoh = zenoh_library()
        self._service = service
        self._zenoh = zenoh
        self._joints = service.robot.joint_names
        self._session = self._config.open(self.name)
        try:
            self._claim_name()
            self._declare_entities()
        except zenoh.ZError as error:
            self.close()
            raise BodyError(f"{self.name} cannot be served", hint=str(error)) from error
        except BodyError:
            self.close()
            raise

    def _claim_name(self) -> None:
        """Announce the robot's name; raise BodyError if another robot has it."""
        key = f"{self.name}/plant"
        liveliness = self._session.liveliness()
        if any(reply.ok is not None for reply in liveliness.get(key, timeout=2.0)):
            hint = "serve this one with --name OTHER"
            raise BodyError(f"another robot on the network is called {self.name}", hint=hint)
        self._declarations.append(liveliness.declare_token(key))

    def _declare_entities(self) -> None:
        """Declare the request handler, the trajectory subscriber and all publishers.

        A thread of its own reads trajectories from a ring, so that a flood of them replaces old ones.
        """
        session = self._session
        sensors = self._service.sensors
        self._declarations.append(
            session.declare_queryable(f"{self.name}/plant", self._answer, complete=True)
        )
        ring_channel = self._zenoh.handlers.RingChannel(MAX_QUEUED_TRAJECTORIES)
        commands = session.declare_subscriber(f"{self.name}/joint_trajectory", ring_channel)
        Thread(target=self._listen, args=(commands,), name="commands", daemon=True).start()
        self._declarations.append(commands)
        self._announce_to_ros(SUBSCRIBER_KIND, "joint_trajectory", JOINT_TRAJECTORY.name)
        for topic in ros.topics(self.name, self._joints, sensors):
            self._topics.append((topic, self._declare_publisher(topic.path, topic.type_name)))
        self._status = self._declare_publisher(STATUS, STRING.name)
        if self.sends_pictures:
            self._cameras = {
                camera.name: (camera, self._declare_publisher(_picture_topic(camera), IMAGE.name))
                for camera in sensors
                if isinstance(camera, Camera)
            }

    def _declare_publisher(self, path: str, type_name: str) -> ZenohObject:
        """Return a publisher that drops messages rather than wait, announced to bridges to ROS."""
        self._announce_to_ros(PUBLISHER_KIND, path, type_name)
        return self._session.declare_publisher(
            f"{self.name}/{path}",
            encoding=self._zenoh.Encoding.APPLICATION_CDR,
            congestion_control=self._zenoh.CongestionControl.DROP,
        )

    def _announce_to_ros(self, kind: str, path: str, type_name: str) -> None:
        """Announce a publisher or subscriber to bridges to ROS by a liveliness token."""
        token = ros.bridge_token(
            str(self._session.zid()), kind, key=f"{self.name}/{path}", type_name=type_name
        )
        self._declarations.append(self._session.liveliness().declare_token(token))

    def publish(self, state: BodyState, commands: JointCommands) -> None:
        """Send a frame to all observers without waiting; a slow connection misses it."""
        status = self._status
        if status is None:
            return
        try:
            for topic, publisher in self._topics:
                if not publisher.matching_status.matching:  # nobody subscribes to it
                    continue
                message = topic.pack(state, commands)
                if message is not None:
                    publisher.put(message)
            if self._is_due(STATUS, state.time_s, STATUS_S):
                status.put(ros.encode_text(json.dumps(self._status_message())))
        except self._zenoh.ZError:
            self._count("missed")  # the session is being closed

    def cameras_due(self, time_s: float) -> list[str]:
        """Return the names of the cameras whose next picture is due and that have observers."""
        watched = [
            camera for camera, publisher in self._cameras.values() if publisher.matching_status.matching
        ]
        return [
            camera.name
            for camera in watched
            if self._is_due(_picture_topic(camera), time_s, _picture_period_s(camera))
        ]

    def show(self, camera: str, time_s: float, pixels: NDArray[np.uint8]) -> None:
        """Publish a camera's picture, `(height, width, 3)` red, green and blue."""
        _, publisher = self._cameras[camera]
        publisher.put(ros.picture(f"{self.name}/sensors/{camera}", time_s, pixels))

    def _is_due(self, topic: str, time_s: float, period_s: float) -> bool:
        """Return whether a topic's next message is due, and if so set the time of the one after it."""
        # time before the last due time means that the robot was restarted
        due_s = self._next_due_s.get(topic, time_s)
        if due_s - period_s <= time_s < due_s:
            return False
        self._next_due_s[topic] = time_s + period_s
        return True

    def _answer(self, query: ZenohObject) -> None:
        """Answer a request, in a thread of Zenoh."""
        answer = self._service.answer_request(b"" if query.payload is None else query.payload.to_bytes())
        self._count("answered")
        with suppress(self._zenoh.ZError):  # the client is gone
            query.reply(query.key_expr, answer, express=True)

    def _listen(self, commands: ZenohObject) -> None:
        """Process trajectories, in a thread of its own, until the session is closed."""
        with suppress(self._zenoh.ZError):
            for sample in commands:
                self._process_trajectory(sample)

    def _process_trajectory(self, sample: ZenohObject) -> None:
        """Pass a trajectory on; an invalid one must not end the thread."""
        raw = sample.payload.to_bytes()
        try:
            message = ros.read_trajectory(raw, self._joints)
        except FormatError as error:
            self._count("damaged")
            self._note_rejection(_name_sender(sample, ros.frame_id_of(raw)), str(error))
            return
        sender = _name_sender(sample, message.frame_id)
        if message.trajectory is None:
            reason = self._service.stop(sender)
        else:
            reason = self._service.command(sender, message.trajectory)
        if reason:
            self._count("refused")
            self._note_rejection(sender, reason)
            return
        self._count("accepted")
        with self._lock:
            self._rejected.pop(sender, None)

    def _count(self, counter: str) -> None:
        with self._lock:
            self._counts[counter] += 1

    def _note_rejection(self, sender: str, reason: str) -> None:
        """Store why a sender was rejected; a new sender makes the status due at once.

        Of too many senders, those that were rejected first are forgotten.
        """
        with self._lock:
            is_new = sender not in self._rejected
            self._rejected[sender] = reason
            while len(self._rejected) > MAX_REJECTED_SENDERS:
                del self._rejected[next(iter(self._rejected))]
        if is_new:
            self._next_due_s.pop(STATUS, None)

    def _status_message(self) -> dict[str, object]:
        """Return the content of the status topic."""
        with self._lock:
            rejected = dict(self._rejected)
            counts = dict(self._counts)
        faults = [
            {"time_s": fault.time_s, "kind": fault.kind.value, "joint": fault.joint, "message": fault.message}
            for fault in self._service.faults
        ]
        return {
            "commander": self._service.commanded_by,
            "refused": rejected,
            "counts": counts,
            "faults": faults,
        }

    def facts(self) -> Mapping[str, float]:
        """Return its counters: requests, trajectories, and connected sessions."""
        session = self._session  # may be closed meanwhile
        observers = 0 if session is None else sum(1 for _ in session.info.transports())
        with self._lock:
            return {**self._counts, "observers": observers}

    def close(self) -> None:
        """Close the session; must not raise."""
        session = self._session
        self._session = None
        self._topics = []
        self._cameras = {}
        self._declarations = []
        self._status = None
        if session is not None:
            session.close()


def _name_sender(sample: ZenohObject, frame_id: str) -> str:
    """Return the name of a sample's sender: Zenoh session and `frame_id`, where they are known."""
    source = sample.source_info
    session = str(source.source_id.zid) if source is not None else ""
    return " ".join(filter(None, (session, frame_id))) or "somebody"


def _picture_topic(camera: Camera) -> str:
    return f"{camera.name}/image_raw"


def _picture_period_s(camera: Camera) -> float:
    """Return the time between two pictures of a camera [s]."""
    return max(PICTURE_S, 1.0 / camera.frame_rate_hz) if camera.frame_rate_hz else PICTURE_S
