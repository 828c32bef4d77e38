// The robot's lights over time: a track for each LED, and what the keyframe under the cursor tells it.
import { ask, edit, newGesture, on, value } from "./link.js";
import { el, fail, svg, words } from "./dom.js";
import { clockOf, oneAtATime, scaleOf } from "./curves.js";

const ROW = 24, MOST_TICKS = 100;

export function mount(root) {
  const tab = document.getElementById(root.getAttribute("aria-labelledby"));
  const title = el("p", { class: "faint" }), rows = el("div", { id: "lights" });
  let tracks = [], told = {};
  root.append(title, rows);
  on("robot", (robot) => {
    tab.hidden = robot.leds.length === 0;
    if (tab.hidden && !root.hidden) tab.parentElement.firstElementChild.click();
    tracks = robot.leds.map(trackOf);
    rows.replaceChildren(...tracks.flatMap(({ label, control, drawing }) => [label, control, drawing]));
  });
  const refresh = oneAtATime(async () => {
    if (!rows.clientWidth || !value("cursor")) return;
    told = await ask("curves.lights");
    draw();
  });
  new ResizeObserver(refresh).observe(rows);
  on("motion", refresh);
  on("cursor", () => value("motion") && rows.clientWidth && draw());
  on("player", ({ time_s, duration_s }) => {
    for (const { drawing, head } of tracks) {
      const x = scaleOf(0, duration_s, 0, drawing.clientWidth).x(time_s);
      head.setAttribute("x1", x);
      head.setAttribute("x2", x);
    }
  });

  function trackOf(led) {
    let gesture = "";
    const begin = () => { gesture = newGesture(); };
    const is = el("input", { type: "checkbox", "aria-label": `Set ${words(led.name)} at this keyframe`, onchange: () => tell(led, is.checked ? read() : null) });
    const level = led.has_colours
      ? el("input", { type: "color", "aria-label": `Colour of ${words(led.name)}`, title: led.colour, onfocus: begin, onclick: begin, oninput: () => tell(led, read(), gesture) })
      : el("input", { type: "range", min: 0, max: 255, "aria-label": `${words(led.name)}, how bright`, title: led.colour, onpointerdown: begin, onkeydown: begin, oninput: () => tell(led, read(), gesture) });
    const read = () => led.has_colours ? [1, 3, 5].map((at) => parseInt(level.value.slice(at, at + 2), 16)) : Number(level.value);
    const head = svg("line", { class: "moment", y1: 0, y2: ROW });
    const drawing = svg("svg", { height: ROW, "aria-hidden": "true", onclick: (event) => choose(event) });
    return { led, is, level, head, drawing, label: el("span", { title: led.colour }, words(led.name)), control: el("span", { class: "row" }, is, level) };
  }
  function tell(led, light, gesture = "") {
    const { page, keyframe } = value("cursor");
    edit("set_lights", { page, keyframe, lights: { [led.name]: light } }, gesture).catch((error) => { fail(error); draw(); });
  }
  function choose(event) {
    const clocks = clockOf(value("motion")), box = event.currentTarget.getBoundingClientRect();
    const time = scaleOf(0, clocks.at(-1).ends, 0, box.width).time(event.clientX - box.left);
    ask("session.look", { keyframe: Math.max(0, clocks.findIndex(({ ends }) => time <= ends)) }).catch(fail);
  }
  function draw() {
    const motion = value("motion"), { keyframe } = value("cursor"), clocks = clockOf(motion), lights = motion.keyframes[keyframe]?.lights ?? {};
    title.textContent = keyframe < 0 ? "The pose it starts from sets no lights: choose a keyframe." : `Keyframe ${keyframe + 1} sets the lights that are ticked, as the way into it begins; others stay as they were.`;
    for (const { led, is, level, head, drawing } of tracks) {
      const spans = told[led.name] ?? [], own = lights[led.name], now = spans.findLast(([place]) => place <= keyframe);
      is.checked = own !== undefined;
      is.disabled = level.disabled = keyframe < 0;
      level.value = led.has_colours ? now?.[1] ?? "#000000" : own ?? motion.keyframes.slice(0, keyframe + 1).findLast((frame) => led.name in (frame.lights ?? {}))?.lights[led.name] ?? 0;
      const { x } = scaleOf(0, clocks.at(-1).ends, 0, drawing.clientWidth);
      const current = clocks[Math.max(keyframe, 0)];
      drawing.replaceChildren(svg("rect", { class: "around", x: x(current.leaves), width: Math.max(1, x(current.ends) - x(current.leaves)), y: 0, height: ROW }),
        ...spans.flatMap(([place, colour], at) => {
          const begin = x(clocks[place]?.leaves ?? 0), end = x(spans[at + 1] ? clocks[spans[at + 1][0]]?.leaves ?? 0 : clocks.at(-1).ends);
          return [svg("rect", { x: begin, y: 4, width: Math.max(2, end - begin), height: ROW - 8, fill: colour, class: "lit" }, svg("title", {}, `from keyframe ${place + 1}: ${colour === "#000000" ? "off" : colour}`))];
        }), ...clocks.slice(0, MOST_TICKS).map(({ leaves }) => svg("line", { class: "tick", x1: x(leaves), x2: x(leaves), y1: 0, y2: ROW })), head);
    }
  }
}
