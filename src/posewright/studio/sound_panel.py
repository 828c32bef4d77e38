"""Sounds: the WAV files beside a motion, their waveforms, and their bytes, which windows play."""

from __future__ import annotations

import base64
import io
import wave
from concurrent.futures import Future
from pathlib import Path

import numpy as np

from posewright.arrays import Floats
from posewright.errors import InputError
from posewright.formats import read_file_bytes
from posewright.motions.motion import WAV_SUFFIX
from posewright.studio.background import run_in_background
from posewright.studio.context import StudioContext
from posewright.studio.files.panel import FilesPanel
from posewright.studio.requests import View, action
from posewright.studio.session import Panel

N_PEAKS = 800
"""Points of a waveform, at most."""

MAX_SOUND_BYTES = 16_000_000
"""Size of the largest sound: a minute and a half in CD quality."""

PEAK_DIGITS = 3


class SoundPanel(Panel):
    """Lists and reads the sounds that a motion can have: WAV files below the folder of its file."""

    name = "sound"

    def __init__(self, context: StudioContext, files: FilesPanel) -> None:
        self._workspace = context.workspace
        self._files = files

    @action
    def choices(self) -> Future[list[str]]:
        """Return the paths of the WAV files, relative to the folder of the open file."""
        folder = self._files.folder_path

        def find_sounds() -> list[str]:
            paths = (self._workspace.root / name for name in self._workspace.files())
            return [
                path.relative_to(folder).as_posix()
                for path in paths
                if path.suffix.lower() == WAV_SUFFIX and path.is_relative_to(folder)
            ]

        return run_in_background(find_sounds)

    @action
    def load(self, *, file: str) -> Future[View]:
        """Return a sound: `duration_s`, `peaks`, 0 to 1 in equal times, and `data`, its file in base64.

        Args:
            file: path of the WAV file, relative to the folder of the open file.
        """
        path = self._workspace.path(str(self._files.folder_path / file))
        return run_in_background(lambda: sound_view(path))


def sound_view(path: Path) -> View:
    """Return duration, waveform and bytes of a WAV file.

    Raises:
        InputError: it does not exist, is too large, or has no uncompressed samples.
    """
    if not path.is_file():
        raise InputError(f"there is no sound {path.name}", hint="put the WAV file beside the motion")
    if path.stat().st_size > MAX_SOUND_BYTES:
        megabytes = MAX_SOUND_BYTES // 1_000_000
        raise InputError(f"the sound {path.name} is too large", hint=f"at most {megabytes} MB")
    data = read_file_bytes(path)
    try:
        with wave.open(io.BytesIO(data)) as sound:
            duration_s = sound.getnframes() / sound.getframerate()
            samples = _read_samples(sound)
    except (wave.Error, EOFError, ZeroDivisionError) as error:
        raise InputError(f"{path.name} is no WAV file: {error}", hint="a WAV file of PCM samples") from error
    return {
        "file": path.name,
        "duration_s": round(duration_s, 6),
        "peaks": [round(peak, PEAK_DIGITS) for peak in _peaks(samples).tolist()],
        "data": base64.b64encode(data).decode(),
    }


def _read_samples(sound: wave.Wave_read) -> Floats:
    """Return the absolute value of the loudest channel of a sound at each time, 0 to 1.

    An incomplete value or time at the end of the data is left out.
    """
    n_bytes = sound.getsampwidth()  # of a value
    n_channels = sound.getnchannels()
    data = np.frombuffer(sound.readframes(sound.getnframes()), np.uint8)
    n_values = len(data) // n_bytes
    value_bytes = data[: n_values * n_bytes].reshape(n_values, n_bytes)
    if n_bytes == 1:  # 8 bits are unsigned in a WAV file
        values = value_bytes[:, 0].astype(np.float64) - 128.0
    else:  # a signed number, little end first: as the high bytes of 32 bits, it is multiplied by `scale`
        padded = np.zeros((n_values, 4), np.uint8)
        padded[:, 4 - n_bytes :] = value_bytes
        scale = 2.0 ** (8 * (4 - n_bytes))
        values = padded.view("<i4")[:, 0] / scale
    largest_value = 2.0 ** (8 * n_bytes - 1)
    n_times = n_values // n_channels
    channels = (np.abs(values[: n_times * n_channels]) / largest_value).reshape(n_times, n_channels)
    loudest: Floats = channels.max(axis=1, initial=0.0)
    return loudest


def _peaks(samples: Floats) -> Floats:
    """Return the greatest sample of each of `N_PEAKS` equal times, or the samples if there are fewer."""
    if len(samples) <= N_PEAKS:
        return samples
    starts = np.linspace(0, len(samples), N_PEAKS, endpoint=False).astype(np.intp)
    peaks: Floats = np.maximum.reduceat(samples, starts)
    return peaks
