"""A robot across a network, one of whose answers is damaged."""

from __future__ import annotations

from unittest import mock

import numpy as np

from posewright.bodies import BodySpec, JointCommands, MockBody, TorquePolicy
from posewright.network.plant_server import PlantServer
from posewright.network.remote_plant import RemotePlant
from posewright.robots import robot

SESSION = "s"


class Channel:
    """Requests to a server in this process.

    Args:
        number: number of the request that gets another answer, from 0; None for no request.
        answer: that answer.

    Attributes:
        answers: what was answered.
    """

    def __init__(self, number: int | None = None, answer: bytes = b"") -> None:
        self._server = PlantServer(lambda parts, _arena: MockBody(parts[0].robot), robot, now=lambda: 0.0)
        self._number = number
        self._answer = answer
        self.answers: list[bytes] = []

    def request(self, message: bytes, timeout_s: float) -> bytes:  # noqa: ARG002 -- as the protocol has it
        answer = self._server.answer_request(message)
        if len(self.answers) == self._number:
            answer = self._answer
        self.answers.append(answer)
        return answer

    def close(self) -> None:
        self._server.close()


def drive_remote_robot(channel: Channel) -> None:
    """Open a robot, read it, let it move, stop it and close it."""
    bioloid = robot("robotis_bioloid")
    stand = bioloid.pose("stand")
    part = BodySpec(bioloid.name, bioloid, stand, start=(0.0, 0.0, 0.0))
    with mock.patch("posewright.network.remote_plant.secrets.token_hex", return_value=SESSION):
        plant = RemotePlant(channel, [part])
    body = plant.bodies[bioloid.name]
    body.open()
    states = plant.advance({bioloid.name: JointCommands(np.tile(stand, (2, 1)))})
    states[bioloid.name].positions.sum()
    body.read().positions.sum()
    str(body.facts())
    body.stop(TorquePolicy.HOLD)
    body.close()


def wire_answers() -> dict[str, bytes]:
    """Return the answers of a robot to each request of `drive_remote_robot`, by the number of the request."""
    channel = Channel()
    drive_remote_robot(channel)
    return {f"{number}_answer": answer for number, answer in enumerate(channel.answers)}
