"""Charts at a Python prompt: written in place, run tick by tick, shown."""

from __future__ import annotations

from pathlib import Path

import pytest

import posewright as pw
from posewright.charts import Chart, parse_chart, scxml_text
from posewright.errors import InputError, UnknownNameError

LAMP = """
chart: lamp
period_s: 0.1
inputs: {button: bool, mode: {enum: [plain, party]}}
events: [alarm]
outputs: {light: bool}
initial: dark
otherwise: stay
states:
  dark: [{when: button, do: {light: 1}, go: bright}]
  bright: [{when: after(2 s), do: {light: 0}, go: dark}, {on: alarm, go: dark}]
"""


def test_a_chart_is_written_started_and_run_in_place() -> None:
    session = pw.chart(LAMP).start()
    assert (session.state, dict(session.outputs)) == ("dark", {"light": False})
    session.tick(button=1)
    assert (session.state, session.outputs["light"], len(session.history)) == ("bright", True, 1)
    session.tick("alarm", button=0, mode="party")
    assert session.state == "dark"
    assert repr(session) == "<ChartSession of 'lamp': tick 2, dark, light=1>"
    session.restart()
    assert (session.state, len(session.history)) == ("dark", 0)


def test_inputs_that_a_tick_does_not_name_stay_and_events_do_not() -> None:
    session = pw.chart(LAMP).start().tick(button=1).tick(alarm=1).tick()
    assert [tick.after.state for tick in session.history] == ["bright", "dark", "bright"]


def test_a_session_runs_as_the_interpreter_does() -> None:
    rows = [{"button": i % 7 == 0, "mode": "plain"} for i in range(60)]
    session = pw.chart(LAMP).start().run(rows)
    assert [one.after for one in session.history] == [
        one.after for one in pw.run_chart(parse_chart(LAMP), rows)
    ]


def test_what_is_wrong_is_said_and_nothing_moves() -> None:
    session = pw.chart(LAMP).start()
    for wrong in ({"buton": 1}, {"button": 2}, {"mode": "loud"}):
        with pytest.raises(InputError):
            session.tick(**wrong)
    with pytest.raises(UnknownNameError):
        session.tick("alarn")
    assert len(session.history) == 0
    with pytest.raises(InputError):
        session.timeline()


def test_it_is_a_chart_whatever_it_was_made_of(tmp_path: Path) -> None:
    pw.write_chart(pw.chart(LAMP), tmp_path / "lamp.chart.yaml")
    for made in (pw.chart(tmp_path / "lamp.chart.yaml"), pw.chart(parse_chart(LAMP))):
        assert isinstance(made, Chart)
        assert made == parse_chart(LAMP) == made
        assert pw.compare_charts(made, parse_chart(LAMP))
        assert made.check().sound
    with pytest.raises(UnknownNameError, match="3: "):
        pw.chart("chart: x\nperiod_s: 0.1\nimputs: {}\n")


def test_everything_shows_itself(tmp_path: Path) -> None:
    lamp = pw.chart(LAMP)
    session = lamp.start().tick(button=1)
    for picture in (lamp.diagram(), session.diagram(), session.timeline()):
        picture.save(tmp_path / "x.svg")
        assert (tmp_path / "x.svg").read_text() == picture._repr_svg_()
    assert session._repr_svg_() != lamp._repr_svg_()
    assert "<td>bright</td>" in session.history._repr_html_()
    assert session.coverage()._repr_svg_().startswith("<svg")
    assert "the input mode is read by no guard" in lamp.check()._repr_html_()


def test_any_form_of_a_chart_will_do_and_nothing_else() -> None:
    lamp = pw.chart(LAMP)
    assert pw.compare_charts(pw.chart(scxml_text(lamp)), lamp)
    for junk in ("", "  ", None, {}, 3, b"chart: x"):
        with pytest.raises(InputError, match="give the text"):
            pw.chart(junk)


def test_a_run_is_a_table_at_a_plain_prompt_too() -> None:
    session = pw.chart(LAMP).start()
    assert (repr(session.history), str(session.history)) == ("<TickTable: 0 ticks>", "no tick yet")
    session.tick("alarm", button=1).tick()
    assert repr(session.history) == "<TickTable: 2 ticks, now in bright>"
    heading, first, second = (line.split() for line in str(session.history).splitlines())
    assert heading == ["tick", "time", "button", "mode", "alarm", "state", "light"]
    assert first == ["0", "0", "s", "1", "plain", "1", "dark", "1"]
    assert second[-3:] == ["0", "bright", "1"]
    assert repr(session.coverage()).startswith("<Coverage of 'lamp': ")
    assert "warning unused_input, line 4: the input mode" in str(pw.chart(LAMP).check())
