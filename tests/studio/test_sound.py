"""A motion's sound in the studio: its waveform, where it starts, and when it is heard."""

from __future__ import annotations

import wave
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from posewright.motions import SoundTrack
from posewright.studio.sound_panel import sound_view

Shipped = Callable[[str], Path]
RATE_HZ = 8000


def write_wav(path: Path, levels: Any, *, width: int = 2, channels: int = 1) -> None:
    """Write samples from -1 to 1 as PCM."""
    scaled = np.round(np.asarray(levels) * (2.0 ** (8 * width - 1) - 1.0)).astype("<i8")
    if width == 1:
        scaled += 128
    data = scaled.reshape(-1, 1).view(np.uint8).reshape(-1, 8)[:, :width].tobytes()
    with wave.open(str(path), "wb") as file:
        file.setnchannels(channels)
        file.setsampwidth(width)
        file.setframerate(RATE_HZ)
        file.writeframes(data)


@pytest.mark.parametrize("width", [1, 2, 3, 4])
def test_the_waveform_is_that_of_the_samples_in_any_width(tmp_path: Path, width: int) -> None:
    levels = np.concatenate([np.full(RATE_HZ, 0.5), np.full(RATE_HZ, -0.25)])
    write_wav(tmp_path / "steps.wav", levels, width=width)
    view: Any = sound_view(tmp_path / "steps.wav")
    assert view["duration_s"] == 2.0
    assert view["peaks"][:300] == pytest.approx([0.5] * 300, abs=0.01)
    assert view["peaks"][-300:] == pytest.approx([0.25] * 300, abs=0.01)


def test_of_two_channels_the_louder_is_shown(tmp_path: Path) -> None:
    write_wav(tmp_path / "two.wav", [0.1, -0.8, 0.6, 0.2], channels=2)
    view: Any = sound_view(tmp_path / "two.wav")
    assert view["peaks"] == pytest.approx([0.8, 0.6], abs=1e-3)


def test_sounds_of_the_folder_are_offered_and_others_are_errors_in_words(
    shipped: Shipped, studio_of: Any, window_of: Any
) -> None:
    path = shipped("play_bow")
    (path.parent / "sounds").mkdir()
    write_wav(path.parent / "sounds" / "bark.wav", [0.1, 0.2])
    (path.parent / "broken.wav").write_bytes(b"RIFF of nothing")
    window = window_of(studio_of(path))
    assert window.ask("sound.choices") == ["broken.wav", "sounds/bark.wav"]
    assert window.ask("sound.load", file="sounds/bark.wav")["duration_s"] == 2.0 / RATE_HZ
    for file, message in (
        ("broken.wav", "is no WAV file"),
        ("none.wav", "there is no sound"),
        ("../../x.wav", "outside"),
    ):
        assert message in window.answer("sound.load", file=file)["error"]["message"]
    window.edit("set_sound", page=1, file="sounds/bark.wav", start_s=0.5)
    assert window.topics["motion"]["sound"] == {"file": "sounds/bark.wav", "start_s": 0.5}
    assert "the sound sounds/bark.wav" in str(
        window.ask("files.preview", file="bow.omtn", format="aibo-omtn")["losses"]
    )
    window.edit("set_sound", page=1, file="")
    assert window.topics["motion"]["sound"] is None


def test_the_waveform_is_dragged_in_time_and_heard_while_the_motion_plays(
    shipped: Shipped, studio_of: Any, page_of: Any, settled: Callable[[Any], None]
) -> None:
    path = shipped("play_bow")
    write_wav(path.parent / "bark.wav", np.sin(np.arange(RATE_HZ)))
    studio = studio_of(path)
    page = page_of(studio)
    page.get_by_role("tab", name="Motion", exact=True).click()
    page.locator("#motion-sound").focus()
    page.wait_for_selector("#motion-sound option[value='bark.wav']", state="attached")
    page.locator("#motion-sound").select_option("bark.wav")
    page.wait_for_selector(".sound path[d^=M]")
    settled(page)
    box = page.locator(".sound svg").bounding_box()
    page.mouse.move(box["x"] + 20.0, box["y"] + 10.0)
    page.mouse.down()
    page.mouse.move(box["x"] + 120.0, box["y"] + 10.0, steps=3)
    page.mouse.up()
    settled(page)
    sound: SoundTrack = studio.session.document.pages.motion(1).sound
    assert sound.file == "bark.wav"
    assert 0.1 < sound.start_s < 1.0
    page.locator("#loop").click()
    page.locator("#play").click()
    page.wait_for_selector("body[data-sound=on]")
    page.locator("#play").click()
    page.wait_for_selector("body:not([data-sound])")
