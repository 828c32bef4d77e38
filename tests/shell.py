"""The command line in this process, for whatever a process of its own does not tell more about."""

from __future__ import annotations

import io
import subprocess
from contextlib import chdir, redirect_stderr, redirect_stdout
from pathlib import Path

from posewright.cli import app


def run_here(*words: object, folder: Path | None = None) -> subprocess.CompletedProcess[str]:
    """Run `posewright WORDS` in this process, in a folder, and return what a shell would see of it."""
    arguments = list(map(str, words))
    out, err = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8", newline="") for _ in range(2))
    with redirect_stdout(out), redirect_stderr(err), chdir(folder or Path.cwd()):
        code = app.run(arguments)
    texts = []
    for stream in (out, err):
        stream.flush()
        texts.append(stream.buffer.getvalue().decode())  # type: ignore[attr-defined]  # of BytesIO
    return subprocess.CompletedProcess(["posewright", *arguments], code, *texts)
