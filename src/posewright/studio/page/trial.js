// A trial: run one or open a recording, its score, its chart, and what was decided when.
import { ask, on, value } from "./link.js";
import { button, checkbox, el, fail, labelled, options, tabs, tell, toggle, words } from "./dom.js";
import { withoutField } from "./files.js";
import { isIdle, shortcuts } from "./keys.js";
import * as lanes from "./trial_lanes.js";

const KINDS = { penalty: "✗ penalty", milestone: "✓ reached", fault: "! fault", safety: "~ safety", stop: "■ end", event: "• event" };
const SPEEDS = [0.1, 0.25, 0.5, 1, 2, 4, 8, 16];

export function mount(side, bottom) {
  tabs(side, "Trial controls", [["Set up", { mount: mountSetup }], ["Score", { mount: mountScore }], ["Chart", { mount: mountChart }]]);
  bottom.classList.add("trial-bottom");
  bottom.append(transport());
  lanes.mount(bottom);
}

function mountSetup(root) {
  const pick = (id) => el("select", { id });
  const recordings = pick("trial-file"), trials = pick("trial-name"), layouts = pick("trial-layout"), behaviours = pick("trial-behaviour");
  const seed = el("input", { type: "number", id: "trial-seed", min: 0, step: 1, placeholder: "the trial's own" });
  const open = button("Replay", () => ask("trial.open", { file: recordings.value }).catch(fail), { id: "trial-open", class: "main" });
  const run = button("Run", () => ask("trial.run", asked()).catch(fail), { id: "trial-run", class: "main" });
  const stop = button("Stop", () => ask("trial.stop").catch(fail), { id: "trial-stop" });
  const name = el("input", { type: "text", id: "trial-save-name", value: "trial.mcap" });
  const write = () => ask("trial.save", { name: name.value }).then(() => { tell(`Saved ${name.value}`); refresh(); }).catch(fail);
  const save = button("Save", write, { id: "trial-save", title: "Ctrl+S" });
  shortcuts("Files", [["Ctrl+S / Ctrl+Shift+S", "Save", () => withoutField(write), () => value("mode") === "trial"]]);
  const status = el("p", { id: "trial-status", role: "status" });
  root.append(
    el("h2", {}, "Replay a recording"),
    el("div", { class: "row" }, labelled("Recording", recordings), open),
    el("h2", {}, "Run a trial and watch it"),
    el("div", { class: "row" }, labelled("Trial", trials), labelled("Layout of the boxes", layouts)),
    el("div", { class: "row" }, labelled("Behaviour", behaviours), labelled("Seed", seed)),
    el("div", { class: "row" }, run, stop, status),
    el("h2", {}, "Keep it"), el("div", { class: "row" }, labelled("Name of the file", name), save));
  on("mode", (mode) => { if (mode === "trial") refresh(); });
  on("trial_track", () => enable());
  on("trial_status", (now) => {
    status.textContent = [now.busy, now.standing].filter(Boolean).join(": ");
    enable();
  });
  function asked() {
    const chosen = { layout: layouts.value || null, behaviour: behaviours.value || null };
    return { trial: trials.value, ...chosen, seed: seed.value === "" ? null : seed.valueAsNumber };
  }
  function enable() {
    const now = value("trial_status");
    stop.disabled = !now?.live;
    save.disabled = now?.live || !value("trial_track");
    open.disabled = !recordings.value;
  }
  async function refresh() {
    try {
      const found = await ask("trial.choices");
      fill(recordings, found.recordings, found.recordings.length ? null : "no .mcap file in this folder");
      fill(trials, found.trials);
      fill(layouts, found.layouts, "the trial's own");
      fill(behaviours, found.behaviours, "the trial's own");
      enable();
    } catch (error) { fail(error); }
  }
  function fill(select, names, first = null) {
    const chosen = select.value;
    select.replaceChildren(...(first === null ? [] : [el("option", { value: "" }, first)]), ...options(names, String));
    if (names.includes(chosen)) select.value = chosen;
  }
}

function mountScore(root) {
  const headline = el("p", { id: "trial-headline" }), table = el("table", { class: "score" }), notes = el("ul", { class: "notes" });
  const list = el("ol", { id: "incidents", class: "incidents" }), of = el("p", { class: "faint", id: "trial-of" });
  on("trial", (trial) => {
    const told = trial && [trial.contest || "no contest", trial.layout && `layout ${trial.layout}`, trial.contest && `seed ${trial.seed}`, ...trial.robots.map((one) => one.controller)];
    of.textContent = trial ? told.filter(Boolean).map(words).join(", ") : "";
  });
  root.append(el("h2", {}, "Score"), of, headline,
    el("div", { class: "score-scroll", tabIndex: 0, role: "region", "aria-label": "Score table" }, table), notes, el("h2", {}, "What happened"), list);
  on("trial_track", (track) => {
    const score = track?.score;
    headline.textContent = !track ? "Open a recording or run a trial." : score ? track.headline : "Not judged yet.";
    const cells = (tag, row) => el("tr", {}, ...row.map((text) => el(tag, {}, text)));
    table.replaceChildren(...(score ? [el("thead", {}, cells("th", score.columns)), el("tbody", {}, ...score.rows.map((row) => cells("td", row)))] : []));
    notes.replaceChildren(...(score?.notes ?? []).map((text) => el("li", {}, text)));
    const happened = track?.incidents ?? [];
    list.replaceChildren(...happened.map((one) => el("li", { class: one.kind },
      button(`${one.time_s.toFixed(1)} s  ${KINDS[one.kind] ?? one.kind}: ${one.text}`,
        () => ask("trial.look", { at: one.robot, time_s: one.time_s }).catch(fail), { title: "Go there and look at it" }))));
    if (track && !happened.length) list.append(el("li", { class: "faint" }, "Nothing yet."));
  });
}

function mountChart(root) {
  const which = el("select", { id: "trial-chart-robot" }), zoom = toggle("Full size", enlarge, { id: "trial-chart-zoom" });
  const states = el("p", { id: "trial-states" }), playing = el("p", { class: "faint" });
  const host = el("div", { class: "chart", tabIndex: 0, role: "region", "aria-label": "Picture of the chart" });
  const shadow = host.attachShadow({ mode: "open" });
  const picker = labelled("Robot", which);
  root.append(el("div", { class: "row" }, picker, zoom), states, playing, host);
  let lit = "";
  which.addEventListener("change", draw);
  on("trial", (trial) => {
    const robots = trial?.robots ?? [];
    if (which.options.length !== robots.length) which.replaceChildren(...options([...robots.keys()], (place) => robots[place].name));
    picker.hidden = robots.length < 2;
    draw();
  });
  on("trial_now", light);

  function draw() {
    const robot = value("trial")?.robots[Number(which.value || 0)];
    lit = "";
    shadow.replaceChildren();
    if (!robot?.chart) {
      shadow.append(el("p", {}, robot ? `There is no chart to show: ${robot.controller || "nobody"} decided.` : "No trial yet."));
      return;
    }
    const svg = document.importNode(new DOMParser().parseFromString(robot.chart, "image/svg+xml").documentElement, true);
    // The picture's own style cannot leak out of the shadow; the page's colours come in as variables.
    const style = document.createElement("style");
    style.textContent = `svg { max-width: var(--chart-width, 100%); max-height: var(--chart-height, calc(66vh - 205px)); display: block; margin: auto; }
      .paper { fill: var(--paper); } text { fill: var(--ink); } .state, .sign { fill: var(--ground); stroke: var(--ink); }
      .arrow, .line, .divider, .frame { stroke: var(--ink); } .compound { fill: var(--ink); stroke: var(--ink); } .solid, #head path { fill: var(--ink); }
      .outer { fill: var(--accent-soft); stroke: var(--accent); } .active { fill: var(--accent); stroke: var(--accent); stroke-width: 3; }
      .active ~ text { fill: var(--accent-ink); font-weight: 700; } .area.active ~ text, .compound.active ~ text { fill: var(--accent-ink); }`;
    shadow.append(svg, style);
    light(value("trial_now"));
  }
  function light(now) {
    const place = Number(which.value || 0), told = now?.robots[place], robot = value("trial")?.robots[place];
    states.textContent = told?.states.length ? `State: ${told.states.map(words).join(" and ")}` : "";
    playing.textContent = told ? `Plays: ${told.playing ? words(told.playing) : "nothing, it stands"}` : "";
    const key = told?.states.join("+") ?? "";
    if (key === lit || !robot?.chart) return;
    lit = key;
    const inner = new Set(told?.states), outer = new Set();
    for (let state of inner) while ((state = robot.inside[state])) outer.add(state);
    for (const group of shadow.querySelectorAll("[data-state]")) {
      const shape = group.querySelector("rect, circle");
      shape?.classList.toggle("active", inner.has(group.dataset.state) && !outer.has(group.dataset.state));
      shape?.classList.toggle("outer", outer.has(group.dataset.state));
    }
    if (zoom.getAttribute("aria-pressed") === "true") shadow.querySelector(".active")?.scrollIntoView({ block: "nearest", inline: "nearest" });
  }
  function enlarge(isFull) {
    zoom.setAttribute("aria-pressed", String(isFull));
    for (const name of ["--chart-width", "--chart-height"]) isFull ? host.style.setProperty(name, "none") : host.style.removeProperty(name);
  }
}

function transport() {
  const act = (name, args) => () => ask(name, args).catch(fail);
  const play = button("Play", () => ask(value("trial_now")?.playing ? "trial.pause" : "trial.play").catch(fail), { id: "trial-play" });
  const clock = el("output", { id: "trial-clock", "aria-label": "Time" });
  const speed = el("select", { id: "trial-speed", onchange: () => act("trial.manner", { speed: Number(speed.value) })() },
    ...options(SPEEDS, (one) => `${one} ×`));
  speed.value = 1;
  const drawn = (text, name) => checkbox(text, (isOn) => ask("trial.draw", { [name]: isOn }).catch(fail), { id: `trial-${name}` });
  const lasers = drawn("Lasers", "lasers"), follow = drawn("Follow", "follow");
  const field = button("Whole field", act("trial.look", { at: "field" }), { id: "trial-look-field" });
  const robots = el("span", { class: "row" });
  const row = el("div", { class: "row", id: "trial-transport" },
    button("|◂", act("trial.seek", { time_s: 0 }), { "aria-label": "To the beginning" }),
    button("◂", act("trial.step", { rows: -1 }), { "aria-label": "One row back", id: "trial-back" }), play,
    button("▸", act("trial.step", { rows: 1 }), { "aria-label": "One row on", id: "trial-on" }),
    clock, labelled("Speed", speed), lasers.label, follow.label, el("span", { class: "grow" }), field, robots);
  on("trial", (trial) => robots.replaceChildren(...(trial?.robots ?? []).map((one) =>
    button(`Look at ${one.name}`, act("trial.look", { at: one.name }), { title: one.controller }))));
  on("trial_now", (now) => {
    for (const control of row.querySelectorAll("button, select, input")) control.disabled = !now;
    play.textContent = now?.playing ? "Pause" : "Play";
    clock.textContent = now ? `${now.time_s.toFixed(2)} / ${now.duration_s.toFixed(2)} s` : "No trial yet";
    if (!now) return;
    speed.value = now.speed;
    lasers.box.checked = now.lasers;
    follow.box.checked = now.follow;
  });
  shortcuts("Trial", [["Space", "Play or pause", () => play.click(), (event) => value("mode") === "trial" && value("trial_now") && isIdle(event)]]);
  return row;
}
