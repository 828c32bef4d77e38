// A gait: which one, how fast it is asked to go, its numbers, and where it is saved.
import { ask, isStale, latest, newGesture, on, value } from "./link.js";
import { button, dialog, el, fail, options, tell } from "./dom.js";
import { bindField } from "./fields.js";
import { question, withoutField } from "./files.js";
import { mountSteering } from "./joystick.js";
import { shortcuts } from "./keys.js";
import { mountPhases } from "./phases.js";

const own = (action, args = {}) => ask(`gait.${action}`, args).catch(fail);

const fixed = (number, digits) => Number(number.toFixed(digits)).toFixed(digits);  // never -0

export function mount(side, bottom) {
  const why = el("p", { id: "gait-why", role: "status" });
  const open = el("div", { id: "gait-open", hidden: true });
  side.append(why, open);
  const all = mountFile(open);
  mountSteering(open);
  mountWalk(open);
  const shape = mountShape(open), numbers = mountNumbers(open);
  const phases = el("div", { id: "gait-bottom", hidden: true });
  bottom.append(phases);
  mountPhases(phases);
  on("gaits", (gaits) => { why.textContent = gaits.why; why.hidden = !gaits.why; all.list(gaits); });
  on("gait", (gait) => {
    open.hidden = phases.hidden = !gait;
    if (gait) { all.show(gait); shape(gait); numbers(gait); }
  });
  addEventListener("beforeunload", (event) => { if (value("gait")?.dirty && !isStale) event.preventDefault(); });
}

function mountFile(root) {
  const select = el("select", { id: "gait-name", onchange: choose });
  const note = el("p", { class: "faint", id: "gait-note" });
  const problem = el("p", { class: "gait-problem", role: "alert" });
  const save = button("Save", () => saveAs(value("gait").file ?? askName()), { id: "gait-save" });
  const others = button("Save as…", () => saveAs(askName()));
  const isGait = () => value("mode") === "gait";
  const press = (control) => () => withoutField(() => value("gait") ? control.click() : tell("There is no gait to save.", true));
  shortcuts("Files", [["Ctrl+S", "Save", press(save), isGait], ["Ctrl+Shift+S", "Save under another name", press(others), isGait]]);
  root.append(el("label", { class: "gait-field" }, "Gait", select), el("div", { class: "row" }, save, others,
    button("To motion…", sample, { id: "gait-sample", title: "Write the walk at this command as a motion, and open it" })), note, problem);
  return { list, show };

  function list({ shipped, files }) {
    const group = (label, names) => names.length ? el("optgroup", { label }, ...options(names, (name) => name.replace(".gait.yaml", ""))) : "";
    select.replaceChildren(group("Shipped", shipped), group("In this folder", files));
    if (value("gait")) show(value("gait"));
  }
  function show(gait) {
    select.value = gait.file ?? gait.name;
    const { timing } = gait;
    const most = timing ? ` Up to ${timing.speed_m_s.toFixed(3)} m/s and ${timing.turn_deg_s.toFixed(0)} deg/s; a cycle takes ${timing.period_s.toFixed(3)} s.` : "";
    note.textContent = `${gait.dirty ? "Changed, not saved. " : ""}${gait.description}${gait.description && "."}${most}`;
    problem.textContent = gait.problem;
  }
  async function choose() {
    const gait = select.value, { dirty, name } = value("gait");
    const anyway = dirty && Boolean(await question(`${name} has changes that are not saved`, "They are lost when another gait is opened.", { lose: "Lose them" }, true));
    if (dirty && !anyway) { show(value("gait")); return; }
    own("open", { gait, anyway });
  }
}

const askName = () => prompt("Save the gait as (in the folder that is open):", `${value("gait").name}.gait.yaml`);

// Write a file; if it exists already, ask before overwriting it.
async function write(action, args) {
  try { await ask(action, args); } catch (error) {
    if (!error.message.includes("exists already")) { fail(error); return false; }
    if (!(await question(error.message, "What stands there would be replaced.", { over: "Replace it" }, true))) return false;
    try { await ask(action, { ...args, over: true }); } catch (other) { fail(other); return false; }
  }
  return true;
}

async function saveAs(file) {
  if (file && await write("gait.save", { file })) tell(`Saved ${file}.`);
}

function sample() {
  const gait = value("gait");
  const field = (label, input) => el("label", { class: "gait-field" }, label, input);
  const file = el("input", { type: "text", value: `${gait.name}.motion.yaml`, required: true });
  const cycles = el("input", { type: "number", min: 1, max: 50, value: 4 });
  const poses = () => el("select", {}, el("option", { value: "" }, "amid the walk"), ...options(gait.poses));
  const from = poses(), to = poses();
  from.value = to.value = gait.pose;
  const box = dialog("The walk as a motion", el("form", { method: "dialog", id: "gait-sample-dialog", onsubmit: make },
    el("p", { class: "faint" }, "The steady walk at the present command, keyframe by keyframe."),
    field("File", file), field("Cycles", cycles), field("Begin in", from), field("End in", to),
    el("div", { class: "row" }, el("span", { class: "grow" }), button("Cancel", () => box.close()), el("button", { class: "main" }, "Write and open"))));

  async function make() {
    const ends = { from_pose: from.value || null, to_pose: to.value || null };
    if (!await write("gait.sample", { file: file.value, cycles: cycles.valueAsNumber, ...ends })) return;
    const { dirty } = value("history");
    if (dirty && !(await question("The motion that is open has unsaved edits", "They stay in a draft, and are offered again.", { open: "Open the walk" }))) return;
    ask("files.open", { file: file.value, anyway: dirty }).then(() => ask("session.choose", { mode: "motion" })).catch(fail);
  }
}

function mountWalk(root) {
  const start = (text, physics, title) => button(text, () => own("walk", { physics }), { id: physics ? "walk-physics" : "walk-kinematic", title, "aria-pressed": "false" });
  const plain = start("Walk", false, "Without physics: as the gait would have it");
  const physics = start("Walk in physics", true, "In the simulator, in real time");
  const stop = button("Stop", () => own("stop"), { id: "walk-stop" });
  const clock = el("output", { id: "walk-clock", class: "faint" });
  root.append(el("div", { class: "row" }, plain, physics, stop, button("Put back", () => own("reset"), { title: "Stop, and put the robot on its feet" })), clock);
  on("walk", (walk) => {
    plain.setAttribute("aria-pressed", String(walk.walking && !walk.physics));
    physics.setAttribute("aria-pressed", String(walk.walking && walk.physics));
    stop.disabled = !walk.walking;
    const speed = walk.speed;
    clock.textContent = !walk.walking ? "Not walking." : `${walk.time_s.toFixed(1)} s` + (speed ? `: ${fixed(speed.forward_m_s, 3)} m/s ahead, ${fixed(Math.abs(speed.left_m_s), 3)} to the ${speed.left_m_s < 0 ? "right" : "left"}, turning ${fixed(speed.turn_deg_s, 0)} deg/s` : "");
  });
}

function mountShape(root) {
  const made = [["phases", "Phases", "tables"], ["interpolation", "Between points", "interpolations"], ["pose", "Other joints", "poses"]].map(([key, label, all]) => {
    const select = el("select", { onchange: () => own("shape", { [key]: select.value }) });
    return { key, all, select, row: el("label", { class: "gait-field" }, label, select) };
  });
  root.append(el("h2", {}, "Parameters"), ...made.map(({ row }) => row));
  return (gait) => made.forEach(({ key, all, select }) => {
    select.replaceChildren(...options(gait[all]));
    select.value = gait[key];
  });
}

function mountNumbers(root) {
  const list = el("div", { id: "gait-numbers" }), rows = new Map();
  let shown = "";
  root.append(list);
  return (gait) => {
    const names = gait.groups.flatMap((group) => group.entries.map((entry) => entry.name)).join();
    if (names !== shown) {
      rows.clear();
      list.replaceChildren(...gait.groups.map(groupOf));
      shown = names;
    }
    for (const group of gait.groups) for (const entry of group.entries) rows.get(entry.name)(entry.value);
  };

  function groupOf(group) {
    const id = `about-${group.name}`;
    return el("fieldset", { class: "gait-group", "aria-describedby": id }, el("legend", {}, group.title),
      el("p", { id, class: "faint" }, group.sentence), ...group.entries.map((entry) => rowOf(entry, group)));
  }
  function rowOf(entry, group) {
    const label = group.entries.length > 1 ? `${group.title}, ${entry.label}` : group.title, unit = entry.unit && ` [${entry.unit}]`;
    const limits = { min: entry.low, max: entry.high };
    let gesture = "";
    const send = latest((number, whose) => own("set", { values: { [entry.name]: number }, gesture: whose }));
    const slider = el("input", { type: "range", ...limits, step: entry.step, "aria-label": `${label}, slider`, "data-number": entry.name,
      onpointerdown: () => { gesture = newGesture(); }, onkeydown: () => { gesture = newGesture(); }, oninput: () => send(slider.valueAsNumber, gesture) });
    const number = el("input", { type: "number", ...limits, step: "any", "aria-label": `${label}${unit}` });
    const showNumber = bindField(number, (typed) => send(typed, ""), { tolerance: (typed) => 1e-6 + 1e-3 * Math.abs(typed) });
    rows.set(entry.name, (now) => {
      slider.value = now;
      showNumber(now);
    });
    const text = `${group.entries.length > 1 ? entry.label : ""} ${unit}`;
    return el("div", { class: "gait-number", title: group.sentence ? undefined : entry.sentence }, el("span", { class: "faint" }, text), slider, number);
  }
}
