"""SoundAgent: the object that plays sounds for MoNet; here it says which, and for how long.

Source: SoundAgent.cc of Sony's OPEN-R SDK: it plays one sound at a time, and says when it has ended.
"""

from __future__ import annotations

import io
import wave
from functools import partial

from posewright.errors import FormatError, Where
from posewright.formats.binary import Place, is_wrapped, unwrap
from posewright.formats.file_kind import MAX_ARCHIVE_BYTES
from posewright.runtimes.openr.monet.messages import IDLE, MoNetAgentCommand, MoNetAgentResult, MoNetStatus
from posewright.runtimes.openr.services import ONotifyEvent, OObject
from posewright.sticks import MonetSetup
from posewright.sticks.finding import quoted


class SoundAgent(OObject):
    """Says what is to be heard.

    Args:
        setup: whose sounds; one that is not there lasts no time.
    """

    def __init__(self, setup: MonetSetup) -> None:
        super().__init__()
        self._setup = setup
        self._result = self.subject("Result", "MoNetAgentResult")
        self._command = self.observer("Command", "MoNetAgentCommand", self._take)
        self._playing: MoNetAgentCommand | None = None

    def _take(self, event: ONotifyEvent) -> None:
        for command in event.data:
            self._begin(command)
        self._command.assert_ready(event.sender)

    def _begin(self, command: MoNetAgentCommand) -> None:
        if self._playing is not None:
            return self._refuse(command, MoNetStatus.BUSY, f"{quoted(self._playing.name)} is being played")
        try:
            length_s = self._length_s(command)
        except FormatError as error:
            return self._refuse(command, MoNetStatus.INVALID_WAV, str(error))
        if length_s is None:
            self.say(f"{quoted(command.name)} is in no archive: 0 s of silence")
        else:
            self.say(f"plays {quoted(command.name)} for {length_s:.3f} s")
        self._playing = command
        self.enter(command.name)
        self.openr.call_at(self.openr.time_s + (length_s or 0.0), partial(self._done, command))
        return None

    def _length_s(self, command: MoNetAgentCommand) -> float | None:
        """Return how long a sound lasts [s]; None where it is in no archive."""
        archive = self._setup.sounds
        if archive is None or not 0 <= command.index < len(archive.entries):
            return None
        entry = archive.entries[command.index]
        place = Place(archive.path, entry.offset or 0, f"entry {command.index}, {quoted(entry.name)}")
        data = entry.data
        if is_wrapped(data):
            data = unwrap(data, place, MAX_ARCHIVE_BYTES)[0].unpacked
        return wave_seconds(data, where=Where(path=archive.path, offset=entry.offset))

    def _done(self, command: MoNetAgentCommand) -> None:
        self._playing = None
        self.enter(IDLE)
        self._result.send(MoNetAgentResult(command.agent, command.index))

    def _refuse(self, command: MoNetAgentCommand, status: MoNetStatus, why: str) -> None:
        self.refuse(str(command), why)
        self._result.send(MoNetAgentResult(command.agent, command.index, status, why))


def wave_seconds(data: bytes, *, where: Where | None = None) -> float:
    """Return how long a WAVE lasts, no longer than its bytes can [s].

    Raises:
        FormatError: it is none, or one of another coding than plain samples.
    """
    try:
        with wave.open(io.BytesIO(data)) as sound:
            most = len(data) // (sound.getnchannels() * sound.getsampwidth())
            return float(min(sound.getnframes(), most) / sound.getframerate())
    except (wave.Error, EOFError, RuntimeError, ZeroDivisionError) as error:  # whatever `wave` raises
        what = f"no WAVE that can be played: {str(error) or 'it ends too early'}"
        hint = "right is RIFF/WAVE of plain samples (PCM)"
        raise FormatError(what, where=where, hint=hint) from None
