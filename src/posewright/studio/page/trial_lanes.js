// What was decided when: a lane for the states, for what is played, and for each input and output.
import { ask, latest, on, value } from "./link.js";
import { el, fail, labelled, options, svg, words } from "./dom.js";
import { shortcuts } from "./keys.js";

const HEIGHT = 22, CURVE = 34, LEAST = 400;
const HINTS = { inputs: "→ what the chart is told", outputs: "← what the chart says", measured: "· what is measured of the robot" };

export function mount(root) {
  const zoom = el("select", { id: "trial-zoom", onchange: () => draw() }, ...options([1, 2, 4, 8, 16], (one) => `${one} ×`));
  const labels = el("div", { class: "lane-labels" }), tracks = el("div", { class: "lane-tracks" });
  const ruler = el("div", { id: "trial-ruler", tabIndex: 0, role: "slider", "aria-label": "Time of the trial", "aria-valuemin": 0 });
  const head = el("div", { class: "trial-head", "aria-hidden": "true" });
  const body = el("div", { class: "lanes" }, labels, tracks);
  const empty = el("p", { class: "faint" }, "Run a trial, or open a recording: what was decided when is shown here.");
  root.append(empty, body);
  let values = [], width = LEAST, duration = 1;
  document.getElementById("trial-transport")?.append(labelled("Zoom", zoom));
  on("trial_track", draw);
  on("trial_now", place);
  new ResizeObserver(() => draw()).observe(body);

  function draw() {
    const track = value("trial_track"), about = value("trial");
    body.hidden = !track;
    empty.hidden = Boolean(track);
    if (!track || !about || !body.clientWidth) return;
    duration = Math.max(track.duration_s, 1e-3);
    width = Math.max(LEAST, body.clientWidth - 216) * Number(zoom.value);
    const rows = [...scored(track)];
    track.robots.forEach((robot, number) => rows.push(...lanesOf(robot, number, about.robots)));
    ruler.replaceChildren(drawn(width, 34, (drawing) => drawRuler(drawing, track)));
    ruler.setAttribute("aria-valuemax", duration.toFixed(2));
    values = rows.map((row) => ({ ...row, cell: el("output", {}) }));
    labels.replaceChildren(el("div", { class: "lane-label", style: "height:34px" }, "Time [s]"),
      ...values.map((row) => el("div", { class: "lane-label", style: `height:${row.height}px`, title: row.hint ?? row.title }, el("span", {}, row.title), row.cell)));
    tracks.replaceChildren(ruler, ...values.map((row) => drawn(width, row.height, row.draw, row.title)), head);
    tracks.style.width = `${width}px`;
    place(value("trial_now"));
  }

  function place(now) {
    if (!now) return;
    const left = (now.time_s / duration) * width;
    head.style.left = `${left}px`;
    ruler.setAttribute("aria-valuenow", now.time_s.toFixed(2));
    ruler.setAttribute("aria-valuetext", `${now.time_s.toFixed(2)} s`);
    for (const row of values) if (row.now) row.cell.textContent = said(row.now(now));
    const seen = body.clientWidth - 216;
    if (now.playing && (left < body.scrollLeft || left > body.scrollLeft + seen)) body.scrollLeft = Math.max(0, left - seen / 4);
  }

  const x = (time) => ((time / duration) * width).toFixed(1);

  function* scored(track) {
    if (!track.series.length) return;
    const points = track.series.flatMap((one) => one.points);
    yield { title: `${track.series_title || track.series[0].title} [${track.series[0].unit}]`, height: 2 * CURVE,
      draw: (drawing) => track.series.forEach((one, place) => curve(drawing, one.points, 2 * CURVE, points, `series-${place % 4}${one.dotted ? " dotted" : ""}`)) };
  }

  function* lanesOf(robot, number, about) {
    const front = about.length > 1 ? `${about[number].name}: ` : "";
    if (robot.states.some((entry) => entry[1])) yield { title: `${front}state`, height: HEIGHT, now: (now) => now.robots[number].states.map(words).join(", "), draw: (drawing) => runs(drawing, robot.states) };
    if (robot.states.length) yield { title: `${front}plays`, height: HEIGHT, now: (now) => now.robots[number].playing ?? "stands", draw: (drawing) => runs(drawing, robot.playing) };
    for (const [what, sign] of [["inputs", "→"], ["outputs", "←"], ["measured", "·"]]) {
      for (const one of robot[what]) {
        const known = one.values.map((entry) => entry[1]).filter((entry) => entry !== null);
        const isCurve = known.some((entry) => typeof entry === "number");
        yield { title: `${front}${sign} ${words(one.name)}`, hint: HINTS[what], height: isCurve ? CURVE : HEIGHT,
          now: (now) => now.robots[number][what][one.name],
          draw: (drawing) => isCurve ? curve(drawing, one.values, CURVE, one.values, what, true) : runs(drawing, one.values) };
      }
    }
  }

  function drawRuler(drawing, track) {
    const step = [0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100, 200, 500].find((one) => (one / duration) * width > 60) ?? 1000;
    for (const [begin, end, label] of track.spans) {
      drawing.append(svg("rect", { x: x(begin), y: 0, width: Math.max(0, x(end) - x(begin) - 1), height: 14, class: "span" }), text(label, Number(x(begin)) + 4, 11));
    }
    for (let time = 0; time <= duration; time += step) {
      drawing.append(svg("path", { d: `M${x(time)} 26v8`, class: "tick" }), text(Number(time.toFixed(1)), Number(x(time)) + 2, 26));
    }
    for (const one of track.incidents) {
      const at = Number(x(one.time_s)), mark = svg("path", { class: `incident ${one.kind}`, d: one.kind === "penalty" ? `M${at - 5} 16l10 10m0 -10l-10 10` : `M${at - 4} 30l4 -8l4 8z` });
      mark.append(svg("title", {}, `${one.time_s.toFixed(2)} s: ${one.text}`));
      drawing.append(mark);
    }
  }

  function runs(drawing, changes) {
    const names = [...new Set(changes.map((entry) => String(entry[1])))];
    changes.forEach(([time, what], place) => {
      if (what === null || what === false) return;
      const left = Number(x(time)), right = Number(x(changes[place + 1]?.[0] ?? duration));
      const hue = (names.indexOf(String(what)) * 67 + 205) % 360;
      drawing.append(svg("rect", { x: left, y: 3, width: Math.max(1, right - left - 0.5), height: HEIGHT - 6, rx: 2, class: "run", style: `--hue:${hue}` }));
      const label = what === true ? "" : words(String(what)).replaceAll("+", ", ");
      if (label && label.length * 6.4 < right - left) drawing.append(text(label, left + 4, HEIGHT - 7));
    });
  }

  function curve(drawing, points, height, all, look, isHeld = false) {
    const known = all.map((entry) => Number(entry[1] ?? NaN)).filter(Number.isFinite);
    const low = Math.min(...known), high = Math.max(...known), room = high - low || 1;
    let way = "", before = null;
    for (const [time, what] of points) {
      if (what === null) { before = null; continue; }
      const y = (height - 4 - ((Number(what) - low) / room) * (height - 8)).toFixed(1);
      way += before === null ? `M${x(time)} ${y}` : isHeld ? `H${x(time)}V${y}` : `L${x(time)} ${y}`;
      before = y;
    }
    if (isHeld && before !== null) way += `H${width}`;
    drawing.append(svg("path", { d: way, class: `curve ${look}` }));
  }

  let asked = null; // where the playhead will be
  const send = latest(async (time_s) => { await ask("trial.seek", { time_s }).catch(fail); asked = null; });
  const seek = (time_s) => { asked = Math.min(Math.max(time_s, 0), duration); send(asked); };
  const at = (event) => ((event.clientX - tracks.getBoundingClientRect().left) / width) * duration;
  tracks.addEventListener("pointerdown", (event) => { tracks.setPointerCapture(event.pointerId); ruler.focus(); seek(at(event)); });
  tracks.addEventListener("pointermove", (event) => { if (tracks.hasPointerCapture(event.pointerId)) seek(at(event)); });
  const step = (rows) => () => ask("trial.step", { rows }).catch(fail), by = (way) => () => seek((asked ?? value("trial_now").time_s) + way);
  shortcuts("Trial, when the ruler has the focus", [
    ["ArrowLeft / ArrowDown", "One row back", step(-1)], ["ArrowRight / ArrowUp", "One row on", step(1)],
    ["Shift+ArrowLeft / Shift+ArrowDown", "Ten rows back", step(-10)], ["Shift+ArrowRight / Shift+ArrowUp", "Ten rows on", step(10)],
    ["PageDown", "1 s back", by(-1)], ["PageUp", "1 s on", by(1)], ["Home", "To the beginning", by(-Infinity)], ["End", "To the end", by(Infinity)],
  ].map((row) => [...row, () => value("trial_now")]), ruler);
}

const text = (what, x, y) => svg("text", { x, y }, String(what));
const said = (what) => what === true ? "yes" : what === false ? "no" : typeof what === "number" ? String(Number(what.toPrecision(4))) : what ?? "–";

function drawn(width, height, draw, title = "") {
  const made = svg("svg", { width, height, ...(title ? { role: "img", "aria-label": title } : { "aria-hidden": "true" }) });
  draw(made);
  return made;
}
