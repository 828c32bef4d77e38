"""The page about charts says what is so."""

from __future__ import annotations

import re
from pathlib import Path

import posewright
from posewright.charts import check_chart, draw_mermaid, parse_chart, read_chart

PAGE = (Path(__file__).resolve().parents[2] / "docs/charts.md").read_text(encoding="utf-8")
BEHAVIOURS = Path(posewright.__file__).parent / "robots/catalogue/robotis_bioloid/behaviours"


def test_the_example_is_sound() -> None:
    (example,) = re.findall(r"```yaml\n(.*?)```", PAGE, re.DOTALL)
    assert check_chart(parse_chart(example)) == ()


def test_the_picture_is_that_of_the_shipped_chart() -> None:
    (picture,) = re.findall(r"```mermaid\n(.*?)```", PAGE, re.DOTALL)
    assert picture == draw_mermaid(read_chart(BEHAVIOURS / "obstacle_mealy.chart.yaml"))
