"""SoundAgent: the object that plays sounds for MoNet; here it logs their names and lengths.

Source: SoundAgent.cc of Sony's OPEN-R SDK: it plays one sound at a time, and reports its end.
"""

from __future__ import annotations

import io
import wave

from posewright.errors import FormatError, Where
from posewright.formats.oda.format import plain_entry
from posewright.runtimes.openr.monet.agent import MoNetAgent
from posewright.runtimes.openr.monet.messages import MoNetAgentCommand, MoNetStatus
from posewright.runtimes.openr.stick import MonetSetup
from posewright.runtimes.openr.stick.finding import quoted


class SoundAgent(MoNetAgent):
    """Logs the sounds that are to be played; a sound without an archive has no duration.

    Args:
        setup: the setup with the sounds.
    """

    def __init__(self, setup: MonetSetup) -> None:
        super().__init__(setup, MoNetStatus.INVALID_WAV)

    def play_request(self, command: MoNetAgentCommand) -> None:
        """Log the sound; its end is reported after its length."""
        length_s = self._sound_length_s(command)
        if length_s is None:
            self.syslog(f"{quoted(command.name)} is in no archive: 0 s of silence")
        else:
            self.syslog(f"plays {quoted(command.name)} for {length_s:.3f} s")
        self.mark_active(command)
        self.openr.call_at(self.openr.time_s + (length_s or 0.0), self.report_end)

    def _sound_length_s(self, command: MoNetAgentCommand) -> float | None:
        """Return how long the sound of a command plays [s]; None if no archive has it.

        The command names the sound by its index in the setup's archive of sounds, a file of WAVE files.

        Raises:
            FormatError: the sound is no WAVE that can be played.
        """
        archive = self.setup.sounds
        if archive is None or not 0 <= command.index < len(archive.entries):
            return None
        entry = archive.entries[command.index]
        wave_file = plain_entry(entry, command.index + 1, archive.oda_archive)  # entries are numbered from 1
        return wave_seconds(wave_file, where=Where(path=archive.path, offset=entry.offset))


def wave_seconds(data: bytes, *, where: Where | None = None) -> float:
    """Return the length of a WAVE [s], at most that of its bytes.

    Raises:
        FormatError: the data is no WAVE, or its samples are coded.
    """
    try:
        with wave.open(io.BytesIO(data)) as sound:
            n_available = len(data) // (sound.getnchannels() * sound.getsampwidth())
            return float(min(sound.getnframes(), n_available) / sound.getframerate())
    except (wave.Error, EOFError, RuntimeError, ZeroDivisionError) as error:  # all that `wave` raises
        message = f"no WAVE that can be played: {str(error) or 'it ends too early'}"
        hint = "expected RIFF/WAVE of plain samples (PCM)"
        raise FormatError(message, where=where, hint=hint) from None
