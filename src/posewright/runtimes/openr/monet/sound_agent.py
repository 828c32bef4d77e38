"""SoundAgent: the object that plays sounds for MoNet; here it says which, and for how long.

Source: SoundAgent.cc of Sony's OPEN-R SDK: it plays one sound at a time, and says when it has ended.
"""

from __future__ import annotations

import io
import wave

from posewright.errors import FormatError, Where
from posewright.formats.oda.format import plain_entry
from posewright.runtimes.openr.monet.agent import Agent
from posewright.runtimes.openr.monet.messages import MoNetAgentCommand, MoNetStatus
from posewright.runtimes.openr.stick import MonetSetup
from posewright.runtimes.openr.stick.finding import quoted


class SoundAgent(Agent):
    """Says what is to be heard; a sound that is in no archive lasts no time.

    Args:
        setup: whose sounds.
    """

    def __init__(self, setup: MonetSetup) -> None:
        super().__init__(setup, MoNetStatus.INVALID_WAV)

    def play(self, command: MoNetAgentCommand) -> None:
        """Say which sound it is; its end is told as soon as it would have been played."""
        length_s = self._length_s(command)
        if length_s is None:
            self.say(f"{quoted(command.name)} is in no archive: 0 s of silence")
        else:
            self.say(f"plays {quoted(command.name)} for {length_s:.3f} s")
        self.begin(command)
        self.openr.call_at(self.openr.time_s + (length_s or 0.0), self.end)

    def _length_s(self, command: MoNetAgentCommand) -> float | None:
        """Return how long a sound lasts [s]; None where it is in no archive."""
        archive = self.setup.sounds
        if archive is None or not 0 <= command.index < len(archive.entries):
            return None
        entry = archive.entries[command.index]
        data = plain_entry(entry, command.index + 1, archive.archive)
        return wave_seconds(data, where=Where(path=archive.path, offset=entry.offset))


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
