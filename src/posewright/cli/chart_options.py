"""Options that several of `posewright chart`'s verbs have."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

CHARTS = "A *.chart.yaml, an .scxml, a transition table or a truth table as CSV: told apart by content."

ChartPath = Annotated[Path, typer.Argument(metavar="CHART", help=CHARTS)]
Runs = Annotated[
    list[Path] | None,
    typer.Argument(
        metavar="[SCENARIO]...",
        help="Scenarios (*.scenario.yaml), folders of them, or CSV files of inputs. "
        "Default: those beside the chart that name it.",
        show_default=False,
    ),
]
