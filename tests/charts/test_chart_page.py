"""The page about charts says what is so."""

from __future__ import annotations

import re
from pathlib import Path

from posewright.charts import check_chart, parse_chart

PAGE = (Path(__file__).resolve().parents[2] / "docs/charts.md").read_text(encoding="utf-8")


def test_the_example_is_sound() -> None:
    (example,) = re.findall(r"```yaml\n(.*?)```", PAGE, re.DOTALL)
    assert check_chart(parse_chart(example)) == ()
