"""Objects: messages arrive once and in order, busy observers delay senders, no region is lost."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from posewright.errors import FormatError, InputError, UnknownNameError
from posewright.robots import robot
from posewright.runtimes.openr import (
    OCommandVectorData,
    ONotifyEvent,
    OObject,
    OReadyEvent,
    RCRegion,
    System,
    find_free_region,
    read_connect,
)
from posewright.runtimes.openr.flow import format_label
from posewright.runtimes.openr.services import ServiceName, ServiceSide

DOG = robot("sony_ers7")


class Sender(OObject):
    """Sends numbers on request, in its own regions as long as one is free."""

    def __init__(self, name: str, n_regions: int = 2) -> None:
        super().__init__(name)
        self.out = self.subject("Out", "Number", self.answered)
        self.regions = [RCRegion([0]) for _ in range(n_regions)]
        self.answers: list[bool] = []
        self.given: list[int] = []

    def answered(self, event: OReadyEvent) -> None:
        self.answers.append(event.is_ready)

    def put(self, number: int) -> bool:
        region = find_free_region(self.regions)
        if region is None:
            return False
        region.data = [number]
        self.given.append(number)
        self.out.set_data(region)
        return True


class Receiver(OObject):
    """Keeps received numbers; answers only on request, and may keep a region for a while."""

    def __init__(self, name: str, *, answers: bool = False) -> None:
        super().__init__(name)
        self.into = self.observer("In", "Number", self.take)
        self.answers = answers
        self.received: dict[str, list[int]] = {}
        self.batches: list[int] = []
        self.kept: list[RCRegion[list[int]]] = []
        self.keeps = False

    def take(self, event: ONotifyEvent) -> None:
        self.batches.append(len(event.data))
        for region in event.data:
            assert not region.is_free, "a region that is being read may not be written to"
            self.received.setdefault(event.sender.owner, []).extend(region.data)
            if self.keeps:
                region.add_reference()
                self.kept.append(region)
        if self.answers:
            self.into.assert_ready(event.sender)

    def let_go(self) -> None:
        while self.kept:
            self.kept.pop().remove_reference()


def connected(senders: Sequence[OObject], receivers: Sequence[OObject]) -> System:
    """Return all senders connected to all receivers, started."""
    lines = [
        f"{sender.name}.Out.Number.S {receiver.name}.In.Number.O"
        for sender in senders
        for receiver in receivers
    ]
    system = System(DOG, (*senders, *receivers), read_connect("\n".join(lines)))
    system.start()
    system.run()
    return system


def pair(**how: bool) -> tuple[Sender, Receiver, System]:
    sender, receiver = Sender("A"), Receiver("B", **how)
    return sender, receiver, connected([sender], [receiver])


def kinds(system: System) -> list[str]:
    return [entry.kind for entry in system.openr.log_entries]


def test_at_the_start_every_observer_is_ready_and_every_sender_is_told() -> None:
    sender, _, system = pair()
    assert sender.answers == [True]
    assert sender.out.all_ready
    assert kinds(system) == ["ready"]


def test_what_is_only_set_is_not_sent_and_a_notification_sends_all_of_it_at_once() -> None:
    sender, receiver, system = pair()
    sender.put(1)
    sender.put(2)
    system.run()
    assert not receiver.received
    sender.out.notify_observers()
    system.run()
    assert receiver.received == {"A": [1, 2]}
    assert receiver.batches == [2]


def test_who_has_been_notified_is_busy_until_it_says_that_it_is_ready() -> None:
    sender, receiver, system = pair()
    for number in (1, 2):
        sender.put(number)
        sender.out.notify_observers()
        system.run()
    assert receiver.received == {"A": [1]}
    assert not sender.out.all_ready
    receiver.into.assert_ready()
    system.run()
    assert receiver.received == {"A": [1, 2]}


def test_what_was_set_but_not_sent_does_not_go_out_with_an_answer() -> None:
    sender, receiver, system = pair()
    sender.put(1)
    receiver.into.assert_ready()
    system.run()
    assert not receiver.received


def test_a_buffer_that_is_cleared_takes_back_what_waits_and_frees_its_regions() -> None:
    sender, receiver, system = pair()
    for number in (1, 2):
        sender.put(number)
        sender.out.notify_observers()
        system.run()
    sender.out.clear_buffer()
    receiver.into.assert_ready()
    system.run()
    assert receiver.received == {"A": [1]}
    assert all(region.is_free for region in sender.regions)


def test_a_receiver_that_is_not_ready_tells_its_sender() -> None:
    sender, receiver, system = pair()
    receiver.into.deassert_ready()
    system.run()
    assert sender.answers == [True, False]
    sender.put(1)
    sender.out.notify_observers()
    system.run()
    assert not receiver.received


def test_an_answer_to_one_sender_says_nothing_to_another() -> None:
    senders, receiver = [Sender("A"), Sender("B")], Receiver("C")
    system = connected(senders, [receiver])
    for sender in senders:
        sender.put(1)
        sender.out.notify_observers()
    system.run()
    receiver.into.assert_ready(senders[0].out.name)
    system.run()
    assert [sender.out.all_ready for sender in senders] == [True, False]


def test_a_receiver_that_never_answers_is_reported_once_and_stops_nobody_else() -> None:
    sender, deaf, alert = Sender("A", 4), Receiver("Deaf"), Receiver("Alert", answers=True)
    system = connected([sender], [deaf, alert])
    for number in (1, 2):
        sender.put(number)
        sender.out.notify_observers()
        system.run()
    for frame in range(0, 500, 10):
        system.openr.frame = frame
        system.run()
    silent = [entry for entry in system.openr.log_entries if entry.kind == "silent"]
    assert [(entry.time_s, entry.data["to"], entry.data["n"]) for entry in silent] == [(2.0, "Deaf.In", 1)]
    assert {connection.observer.name.owner: connection.is_silent for connection in system.connections} == {
        "Deaf": True,
        "Alert": False,
    }
    assert alert.received == {"A": [1, 2]}
    assert deaf.received == {"A": [1]}


def test_without_a_free_region_nothing_can_be_sent() -> None:
    sender, receiver, system = pair()
    assert [sender.put(number) for number in (1, 2, 3)] == [True, True, False]
    sender.out.notify_observers()
    system.run()
    receiver.into.assert_ready()
    assert sender.put(3)


ORDERS = st.lists(
    st.tuples(
        st.sampled_from(["put", "notify", "ready", "not ready", "clear", "keep", "let go", "run"]),
        st.integers(0, 2),
    ),
    max_size=60,
)


def carry_out(action: str, number: int, sender: Sender, receiver: Receiver, system: System) -> None:
    """Carry out one random action."""
    actions: dict[str, Callable[[], object]] = {
        "put": lambda: sender.put(number),
        "notify": sender.out.notify_observers,
        "clear": sender.out.clear_buffer,
        "ready": receiver.into.assert_ready,
        "not ready": receiver.into.deassert_ready,
        "keep": lambda: setattr(receiver, "keeps", not receiver.keeps),
        "let go": receiver.let_go,
        "run": system.run,
    }
    actions[action]()


@given(ORDERS)
def test_whatever_the_order_every_region_is_free_in_the_end_and_data_arrive_once_in_order(
    orders: list[tuple[str, int]],
) -> None:
    senders = [Sender("A", 3), Sender("B", 3)]
    receivers = [Receiver("X"), Receiver("Y", answers=True), Receiver("Z")]
    system = connected(senders, receivers)
    for number, (action, which) in enumerate(orders):
        carry_out(action, number, senders[which % 2], receivers[which], system)
    system.run()
    has_cleared = any(action == "clear" for action, _ in orders)
    for receiver in receivers:
        for sender in senders:
            received = receiver.received.get(sender.name, [])
            sent = [value for value in sender.given if value in received] if has_cleared else sender.given
            assert received == sent[: len(received)]
    for receiver in receivers:
        receiver.let_go()
    for sender in senders:
        sender.out.clear_buffer()
    assert all(region.is_free for sender in senders for region in sender.regions)


@given(ORDERS)
def test_the_same_orders_give_the_same_log(orders: list[tuple[str, int]]) -> None:
    logs = []
    for _ in range(2):
        sender, receiver, system = pair()
        for number, (action, _) in enumerate(orders):
            carry_out(action, number, sender, receiver, system)
        system.run()
        logs.append(system.openr.log_entries)
    assert logs[0] == logs[1]


def test_a_reference_that_nobody_added_cannot_be_removed() -> None:
    with pytest.raises(InputError, match="a region that is free"):
        RCRegion(0).remove_reference()


def test_two_objects_that_answer_each_other_without_end_are_stopped() -> None:
    class Echo(Receiver):
        def __init__(self, name: str) -> None:
            super().__init__(name, answers=True)
            self.out = self.subject("Out", "Number")

        def take(self, event: ONotifyEvent) -> None:
            super().take(event)
            self.out.send(RCRegion([1]))

    first, second = Echo("A"), Echo("B")
    system = System(
        DOG, (first, second), read_connect("A.Out.Number.S B.In.Number.O\nB.Out.Number.S A.In.Number.O")
    )
    system.start()
    system.run()
    first.out.send(RCRegion([1]))
    with pytest.raises(InputError, match=r"more than 10,000 messages at 0.000 s \(endless loop of . and ."):
        system.run()


def test_an_alarm_that_sets_itself_again_at_once_is_stopped() -> None:
    _, _, system = pair()

    def again() -> None:
        system.openr.call_at(0.0, again)

    again()
    with pytest.raises(InputError, match="more than 10,000 messages"):
        system.run()


def test_a_receiver_that_was_never_ready_is_reported_as_such() -> None:
    sender, receiver = Sender("A"), Receiver("B")
    receiver.do_start = lambda: None  # type: ignore[method-assign]
    system = connected([sender], [receiver])
    sender.put(1)
    sender.out.notify_observers()
    for frame in (0, 250, 500):
        system.openr.frame = frame
        system.run()
    (silent,) = [entry for entry in system.openr.log_entries if entry.kind == "silent"]
    assert silent.data["why"] == "it has never said assert_ready"
    assert format_label(silent) == "Out: no answer for 2.0 s; it has never said assert_ready"


def test_alarms_ring_at_the_first_frame_not_before_their_time_in_order() -> None:
    sender, _, system = pair()
    rung: list[tuple[str, float]] = []
    for name, time_s in (("late", 0.020), ("soon", 0.008), ("also soon", 0.008), ("now", 0.0)):
        sender.openr.call_at(time_s, lambda name=name: rung.append((name, sender.openr.time_s)))
    for frame in range(5):
        system.openr.frame = frame
        system.run()
    assert rung == [("now", 0.0), ("soon", 0.008), ("also soon", 0.008), ("late", 0.024)]


def test_a_robot_without_locators_runs_no_objects() -> None:
    with pytest.raises(InputError, match="not an OPEN-R robot"):
        System(robot("robotis_bioloid"), [], read_connect("A.B.C.S D.E.C.O"))


def test_a_primitive_that_is_not_there_is_told_with_its_neighbours() -> None:
    _, _, system = pair()
    with pytest.raises(UnknownNameError, match=r"did you mean PRM:/r1/c1-Joint2:11"):
        system.openr.open_primitive("PRM:/r1/c1-Joint2:1")


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("Alpha.Out.Number.S", "1 words, not 2"),
        ("Alpha.Out.Number.S B.In.Number.O x", "3 words, not 2"),
        ("Alpha.Out.Number B.In.Number.O", "'Alpha.Out.Number' is not a service"),
        ("Alpha.Out.Number.X B.In.Number.O", "'Alpha.Out.Number.X' is not a service"),
        ("B.In.Number.O Alpha.Out.Number.S", "does not connect a subject"),
        ("Alpha.Out.Number.S B.In.char.O", "Alpha.Out sends Number, but B.In receives char"),
        ("Alpha.Out.Number.S Beta.In.Number.O", "unknown object 'Beta'"),
        ("Alfa.Out.Number.S B.In.Number.O", "did you mean Alpha?"),
        ("Alpha.Outs.Number.S B.In.Number.O", "unknown subject 'Outs' of Alpha (did you mean Out?)"),
        ("Alpha.Out.char.S B.In.char.O", "Alpha.Out has the data type Number, not char"),
        ("Alpha.Out.Number.S B.In.Number.O\nAlpha.Out.Number.S B.In.Number.O", "as in line 2"),
    ],
)
def test_a_bad_connection_is_told_with_its_line(line: str, words: str) -> None:
    with pytest.raises(InputError) as caught:
        System(DOG, [Sender("Alpha"), Receiver("B")], read_connect(f"# ours\n{line}\n"))
    assert words in str(caught.value)
    assert caught.value.where is not None
    assert caught.value.where.line == 1 + len(line.splitlines())


def test_more_connections_than_can_be_are_refused_and_remarks_may_be_indented() -> None:
    lines = [f"A.Out{number}.Number.S B.In.Number.O" for number in range(10_001)]
    assert len(read_connect("\n".join(["  # many", *lines[:10_000]])).lines) == 10_000
    with pytest.raises(FormatError, match="input:10001: too many connections"):
        read_connect("\n".join(lines))


def test_no_connection_at_all_is_refused() -> None:
    with pytest.raises(FormatError, match="no connection"):
        read_connect("# nothing\n\n")


def test_two_objects_of_one_name_are_refused() -> None:
    with pytest.raises(InputError, match="two objects are called A"):
        System(DOG, [Sender("A"), Sender("A")], read_connect("A.Out.Number.S A.In.Number.O"))


def test_a_vector_holds_as_many_joints_and_frames_as_it_has_room_for() -> None:
    vector = OCommandVectorData.with_room_for(2)
    vector.set(1, 0, range(16))
    with pytest.raises(InputError, match="indices 0 to 1"):
        vector.set(2, 0, [1])
    with pytest.raises(InputError, match="17 frames"):
        vector.set(0, 0, range(17))
    with pytest.raises(InputError, match="3 joints"):
        vector.set_n_data(3)
    assert vector.n_frames == 1  # nothing counts yet
    vector.set_n_data(2)
    assert vector.n_frames == 16


def test_names_of_services_are_written_as_in_a_connect_cfg() -> None:
    assert str(ServiceName("A", "Out", "char", ServiceSide.SUBJECT)) == "A.Out.char.S"
