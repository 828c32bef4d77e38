"""Round trips to a robot in another process over Zenoh and YARP, compared with the raw library and socket.

A round trip is one frame of a robot with 18 joints: commands there, joint states and sensor readings back.
The raw round trips echo as many bytes: by a Zenoh query, and by a TCP socket without Nagle's delay. The
body is a mock, so that only the transport is measured.

`python -m benchmarks.bench_links SECONDS` prints a table for a simulated robot that is driven in real time.
"""

from __future__ import annotations

import multiprocessing
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from benchmarks.figure import Figure
from posewright.bodies import BodySpec, FaultKind, JointCommands, Plant
from posewright.control import Block, RealClock, Script, drive
from posewright.documents.plain import plain_with_arrays
from posewright.errors import PosewrightError
from posewright.network.remote_plant import RemotePlant
from posewright.network.wire_messages import pack
from posewright.network.wire_records import encode_commands
from posewright.robots import robot
from posewright.runs import make_plant

CARD = robot("robotis_bioloid")
STAND = JointCommands(CARD.pose("stand")[np.newaxis])
WARM = 50
ASKS = 500
PATIENCE_S = 30.0

Percentiles = tuple[float, float]
"""Median and 99th percentile [ms]."""


def free_port() -> int:
    """Return a free port."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


@contextmanager
def served(body: str) -> Iterator[dict[str, str]]:
    """Serve the robot in other processes; yield the addresses of its body by transport."""
    ports = {"Zenoh": free_port(), "YARP": free_port()}
    zenoh = f"tcp/127.0.0.1:{ports['Zenoh']}"
    yarp = f"127.0.0.1:{ports['YARP']}"
    command = [sys.executable, "-m", "posewright", "serve", CARD.name, "--json", "--body", body]
    link_options = (
        ("--zenoh", "--listen", zenoh),
        ("--yarp", "--name-server", "--name", "bench", "--listen", yarp),
    )
    no_output: Any = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    processes = [subprocess.Popen([*command, *options], **no_output) for options in link_options]  # noqa: S603 -- our own program
    try:
        yield {"Zenoh": f"zenoh:{CARD.name}@{zenoh}", "YARP": f"yarp:/bench@{yarp}"}
    finally:
        for process in processes:
            process.send_signal(signal.SIGTERM)
            process.wait()


def plant_at(address: str) -> RemotePlant:
    """Return the plant at an address; wait until it answers."""
    ends_s = time.monotonic() + PATIENCE_S
    part = BodySpec(CARD.name, CARD, STAND.angles[0], (0.0, 0.0, 0.0))
    while True:
        try:
            plant: Plant = make_plant(address, [part], None)
        except PosewrightError:
            if time.monotonic() > ends_s:
                raise
            time.sleep(0.1)
        else:
            assert isinstance(plant, RemotePlant)
            return plant


def sizes() -> tuple[int, int]:
    """Return the sizes of a request and its answer [bytes]."""
    (body,) = make_plant(
        "mock", [BodySpec(CARD.name, CARD, STAND.angles[0], (0.0, 0.0, 0.0))], None
    ).bodies.values()
    head = {"ask": "advance", "session": "0" * 16, "number": 1000}
    ask = pack({**head, "commands": {CARD.name: encode_commands(STAND)}})
    answer = {
        "states": {CARD.name: plain_with_arrays(body.observe())},
        "read": {CARD.name: plain_with_arrays(body.read())},
    }
    return len(ask), len(pack({**head, **answer}))


def percentiles(ask: Callable[[], Any]) -> Percentiles:
    """Return the percentiles of the time of a request [ms]."""
    times_s = []
    for _ in range(WARM + ASKS):
        start_s = time.perf_counter()
        ask()
        times_s.append(time.perf_counter() - start_s)
    p50, p99 = np.percentile(np.array(times_s[WARM:]) * 1000.0, (50.0, 99.0))
    return float(p50), float(p99)


def ours(address: str) -> Percentiles:
    """Return the percentiles of the round trip of a frame to a served mock."""
    plant = plant_at(address)
    (body,) = plant.bodies.values()
    body.open()
    results = percentiles(lambda: plant.advance({CARD.name: STAND}))
    body.close()
    return results


def _echo(zenoh_at: str, socket_port: int, size: int, ready: Any) -> None:
    """Answer raw queries and a raw socket with `size` bytes, until the socket is closed."""
    import zenoh

    answer = bytes(size)
    config = zenoh.Config()
    config.insert_json5("scouting/multicast/enabled", "false")
    config.insert_json5("listen/endpoints", f'["{zenoh_at}"]')
    with zenoh.open(config) as session, socket.create_server(("127.0.0.1", socket_port)) as listener:
        session.declare_queryable("echo", lambda query: query.reply("echo", answer))
        ready.set()
        line, _ = listener.accept()
        with line:
            line.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            while line.recv(1 << 16):
                line.sendall(answer)


def raw() -> dict[str, Percentiles]:
    """Return the round trips of as many bytes by the raw library and socket."""
    import zenoh

    ask, answer = sizes()
    zenoh_at = f"tcp/127.0.0.1:{free_port()}"
    port = free_port()
    context = multiprocessing.get_context("spawn")
    ready = context.Event()
    process = context.Process(target=_echo, args=(zenoh_at, port, answer, ready), daemon=True)
    process.start()
    ready.wait(PATIENCE_S)
    config = zenoh.Config()
    config.insert_json5("mode", '"client"')
    config.insert_json5("connect/endpoints", f'["{zenoh_at}"]')
    request = bytes(ask)
    results = {}
    with socket.create_connection(("127.0.0.1", port)) as line, zenoh.open(config) as session:
        line.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        results["Zenoh"] = percentiles(lambda: list(session.get("echo", payload=request)))

        def by_socket() -> None:
            line.sendall(request)
            left = answer
            while left > 0:
                left -= len(line.recv(left))

        results["YARP"] = percentiles(by_socket)
    process.join()
    return results


def figures() -> list[Figure]:
    """Return the round trips, and their ratios to the raw ones."""
    try:
        peers = raw()
    except ImportError:
        return [Figure("round trips", None, note="needs the extra net")]
    names = {"Zenoh": "raw Zenoh", "YARP": "raw socket"}
    results = []
    with served("mock") as addresses:
        for wire, address in addresses.items():
            (p50, p99), (raw_p50, raw_p99) = ours(address), peers[wire]
            note = f"99 % within {p99:.2f} ms; {names[wire]} {raw_p50:.3f} ms, 99 % {raw_p99:.3f} ms"
            results.append(Figure(f"a frame through {wire}, there and back", p50, "ms", note=note))
            results.append(Figure(f"a frame through {wire} : {names[wire]}", p50 / raw_p50))
    return results


class _Late:
    frames = 0

    def watch(self, block: Block) -> bool:
        """Count the frames that were late."""
        self.frames += sum(fault.kind is FaultKind.LATE for fault in block.states.faults)
        return False


def latency_table(seconds: float) -> str:
    """Return a row for each wire: a simulated robot driven in real time from another process."""
    rows: list[Sequence[str]] = [("wire", "frames", "p50 [ms]", "p99 [ms]", "worst [ms]", "lost", "late")]
    with served("sim") as addresses:
        for wire, address in addresses.items():
            plant = plant_at(address)
            late = _Late()
            clock = RealClock(time.monotonic, time.sleep)
            drive(plant, {CARD.name: Script([STAND])}, until_s=seconds, watchers=[late], clock=clock)
            latencies = plant.latencies
            times = (f"{time_ms:.2f}" for time_ms in (latencies.p50_ms, latencies.p99_ms, latencies.worst_ms))
            rows.append((wire, str(latencies.frames), *times, str(latencies.lost), str(late.frames)))
    return "\n".join("".join(f"{cell:>12s}" for cell in row) for row in rows)


if __name__ == "__main__":
    print(latency_table(float(sys.argv[1]) if len(sys.argv) > 1 else 10.0))
