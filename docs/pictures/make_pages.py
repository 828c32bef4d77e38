"""Draw pictures of the pages: `python docs/pictures/make_pages.py`."""

from __future__ import annotations

import tempfile
from pathlib import Path

import posewright as pw
from posewright.arenas import arena
from posewright.simulation import Film, SimulatedBody, World
from posewright.simulation.cameras import CloseUp

FOLDER = Path(__file__).parent
AIBO = pw.robot("sony_ers7")


def race() -> None:
    """Run the README's race, and draw it."""
    outcome = pw.run_trial("obstacle-race", layout="random", seed=7)
    pw.save_figure(pw.draw_outcome(outcome), FOLDER / "race.png")


def joints() -> None:
    """Draw the robot of docs/robots.md."""
    pw.save_figure(pw.draw_robot(AIBO), FOLDER / "joints.png")


def robi() -> None:
    """Draw Robi in its room, of docs/robots.md."""
    from matplotlib.figure import Figure

    room, card = arena("robi_room"), pw.robot("deagostini_robi2")
    figure = Figure(figsize=(10, 3.2), layout="constrained")
    postures = {"stand": "floor", "sit": "floor", "chair": "chair", "ride": "ride"}
    for axes, (pose, name) in zip(figure.subplots(1, 4), postures.items(), strict=True):
        spot, world = room.spot(name), World(card, room)
        SimulatedBody(world, start_pose=card.pose(pose), start=(spot.x, spot.y, spot.yaw_rad))
        world.step(60)
        with Film(world, 480, 560, "front", close_up=CloseUp(0.15, 0.75)) as film:
            axes.imshow(film.now())
        axes.set_title(pose, fontsize=10)
        axes.set_axis_off()
    pw.save_figure(figure, FOLDER / "robi.png")


def stick() -> None:
    """Draw an archive of the motions that ship, of docs/how-to-save-your-aibos-motions.md."""
    with tempfile.TemporaryDirectory() as folder:
        archive, commands = Path(folder) / "MOTION7.ODA", Path(folder) / "MONETCMD.CFG"
        commands.write_bytes(b"# by number\n")
        made = []
        for motion in sorted(Path(f"{AIBO.folder}/motions").glob("*.motion.yaml")):
            file = Path(folder) / f"{motion.name.partition('.')[0]}.mtn"
            pw.convert_motion(motion, file, options=pw.WriteOptions(straighten=True))
            made.append(file)
        pw.create_archive(archive, made[:1])
        for number, file in enumerate(made[1:], 60):
            try:
                pw.add_to_stick(file, (archive, commands), id=number, name=f"a_stand#stand_{file.stem}")
            except pw.PosewrightError:  # of the head alone, or it begins elsewhere: no program asks for it
                pw.add_to_archive(archive, file)
        pw.save_figure(pw.draw_stick(pw.read_stick(archive, commands)), FOLDER / "stick.png")


def board_states() -> None:
    """Draw the states of an emulated board over the interpreter's, in the race of docs/how-to-board.md."""
    outcome = pw.run_trial("obstacle-race", behaviour="document_mealy", controller="arduino-uno")
    pw.save_figure(pw.draw_board(outcome), FOLDER / "board_states.png")


if __name__ == "__main__":
    for draw in (race, joints, robi, stick, board_states):
        draw()
