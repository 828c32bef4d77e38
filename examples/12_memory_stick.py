"""Put a motion on an AIBO's memory stick.  As `posewright aibo check`, `add`,
`posewright aibo show`, `posewright aibo archive list`, `extract`, `create`, `add`, `remove`."""

import sys
from pathlib import Path

import posewright as pw

out = Path(sys.argv[1] if len(sys.argv) > 1 else "out")
out.mkdir(parents=True, exist_ok=True)
motions = pw.robot("sony_ers7").folder / "motions"

# OMTN is the format of Sony's programs; it has no curves, so they become straight pieces.
for name in ("nod", "play_bow", "kick_right"):
    options = pw.WriteOptions(straighten=True)
    conversion = pw.convert_motion(motions / f"{name}.motion.yaml", out / f"{name}.mtn", options=options)
    print(name, *conversion.remarks, sep="\n  ")

archive = out / "MOTION7.ODA"
pw.create_archive(archive, [out / "play_bow.mtn"], overwrite=True)
pw.add_to_archive(archive, out / "kick_right.mtn", name="a_stand#stand_kick")
pw.remove_from_archive(archive, ["play_bow"])
print([entry.name for entry in pw.read_archive(archive).entries])
for file in pw.extract_archive(archive, out / "extracted", overwrite=True).files:
    print(file.name, "->", file.file.name)

# Register it, so that MoNetExecute(60) plays it. Instead of the two files you may name the stick's folder.
commands = out / "MONETCMD.CFG"
commands.write_bytes(b"##### mine\n")
added = pw.add_to_stick(out / "play_bow.mtn", (archive, commands), id=60, name="a_stand#stand_play_bow")
print(commands.read_text(), f"entry {added.index}", sep="")
stick = pw.read_stick(archive, commands)
print(*pw.motions_on(stick), sep="\n")
pw.save_figure(pw.draw_stick(stick), out / "stick.png")  # every motion, and the commands that play it
for finding in pw.check_monet(stick):
    print(f"{finding.level.value}: {finding.message}")
