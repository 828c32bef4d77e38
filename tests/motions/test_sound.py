"""A motion names a sound: the native file keeps it, other files list it as lost."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from posewright.errors import DocumentError, InputError, LossError
from posewright.formats import native, read_motion, write_motion
from posewright.motions import Motion, SoundTrack, create_motion, reverse_motion
from posewright.robots import robot

BIOLOID = robot("robotis_bioloid")


@pytest.fixture
def barking() -> Motion:
    return replace(create_motion("bark", BIOLOID, "stand"), sound=SoundTrack("sounds/bark.wav", 0.25))


def test_the_native_file_keeps_the_sound_and_a_changed_one_changes_only_its_line(
    barking: Motion, tmp_path: Path
) -> None:
    path = tmp_path / "bark.motion.yaml"
    write_motion(barking, path)
    before = path.read_text()
    assert "sound: {file: sounds/bark.wav, start_s: 0.25}\n" in before
    motion = read_motion(path)
    assert motion.sound == barking.sound
    assert reverse_motion(motion).sound == barking.sound
    write_motion(replace(motion, sound=SoundTrack("sounds/bark.wav")), path)
    after = path.read_text()
    assert "sound: {file: sounds/bark.wav}\n" in after
    assert len(set(before.splitlines()) - set(after.splitlines())) == 1


@pytest.mark.parametrize("ending", [".mtn", ".csv"])
def test_another_file_loses_the_sound_with_a_word(barking: Motion, tmp_path: Path, ending: str) -> None:
    with pytest.raises(LossError, match=r"the sound sounds/bark\.wav"):
        write_motion(barking, tmp_path / f"bark{ending}")


def test_what_is_no_sound_is_an_error_at_its_line(barking: Motion) -> None:
    text = native.render(barking).decode()
    for written, message in (("bark.mid", "ends in .wav"), ("bark.wav, start_s: -1", "0")):
        with pytest.raises(DocumentError, match=message):
            native.read(text.replace("sounds/bark.wav, start_s: 0.25", written).encode(), card=BIOLOID)
    with pytest.raises(InputError, match="starts at -1"):
        SoundTrack("bark.wav", -1.0)
