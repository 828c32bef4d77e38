// What the gait is asked for: a joystick, the keys W A S D Q E, and three fields.
import { ask, latest, on, value } from "./link.js";
import { button, el, fail } from "./dom.js";
import { bindField } from "./fields.js";
import { isFree, shortcuts } from "./keys.js";

const AXES = [["forward_m_s", "Forward", "m/s"], ["left_m_s", "Left", "m/s"], ["turn_deg_s", "Turn left", "deg/s"]];
const KEYS = { w: ["forward_m_s", 1], s: ["forward_m_s", -1], a: ["left_m_s", 1], d: ["left_m_s", -1], q: ["turn_deg_s", 1], e: ["turn_deg_s", -1] };
const WAYS = { forward_m_s: ["Forward", "Back"], left_m_s: ["To the left", "To the right"], turn_deg_s: ["Turn left", "Turn right"] };
const STEP = 0.1;  // of the greatest command, for each press of an arrow key

export function mountSteering(root) {
  const knob = el("span", { class: "knob" });
  const pad = el("div", { id: "joystick", tabIndex: 0, role: "application", "aria-label": "Joystick: arrow keys ask for more or less; up is forward",
    onpointerdown: drag, onpointermove: drag }, el("span", { class: "cross" }), knob);
  const turn = el("input", { type: "range", id: "turn", min: -1, max: 1, step: 0.01, "aria-label": "Turn, slider; to the left is left",
    oninput: () => steer({ turn_deg_s: -turn.valueAsNumber * most().turn_deg_s }) });
  const fields = AXES.map(([name, label, unit]) => {
    const input = el("input", { type: "number", step: "any", id: `steer-${name}` });
    return { name, write: bindField(input, (typed) => steer({ [name]: typed }), { tolerance: (typed) => 1e-6 + 1e-3 * Math.abs(typed) }), row: el("label", { class: "gait-field" }, `${label} [${unit}]`, input) };
  });
  root.append(el("h2", {}, "Command"), el("div", { class: "steering" }, el("div", {}, pad, el("label", { htmlFor: "turn", class: "faint" }, "Turn"), turn),
    el("div", {}, ...fields.map(({ row }) => row), el("div", { class: "row" }, button("Zero", () => steer({ forward_m_s: 0, left_m_s: 0, turn_deg_s: 0 }), { title: "Step on the spot" }),
      el("span", { class: "faint" }, "or hold W A S D, Q E")))));

  const send = latest((command) => ask("gait.steer", command).catch(fail));
  const held = new Set(), nudge = (name, sign) => () => steer({ [name]: value("steering")[name] + sign * STEP * most()[name] });
  shortcuts("Gait, while held", Object.entries(KEYS).map(([letter, [axis, sign]]) => [letter.toUpperCase(), WAYS[axis][sign > 0 ? 0 : 1]]));
  shortcuts("Joystick, when it has the focus", [["ArrowUp", "forward_m_s", 1], ["ArrowDown", "forward_m_s", -1], ["ArrowLeft", "left_m_s", 1], ["ArrowRight", "left_m_s", -1]]
    .map(([arrow, axis, sign]) => [arrow, `${WAYS[axis][sign > 0 ? 0 : 1]}, a little more`, nudge(axis, sign)]), pad);
  on("steering", show);
  on("gait", () => { show(value("steering")); if (held.size) follow(); }); // a key may be held before the gait's speed is known
  addEventListener("keydown", (event) => key(event, true));
  addEventListener("keyup", (event) => key(event, false));
  addEventListener("blur", () => { if (held.size) { held.clear(); follow(); } });

  function most() {
    const timing = value("gait")?.timing;
    return { forward_m_s: timing?.speed_m_s ?? 0, left_m_s: timing?.speed_m_s ?? 0, turn_deg_s: timing?.turn_deg_s ?? 0 };
  }
  function steer(part) { return send({ ...value("steering"), ...part }); }
  function show(command) {
    if (!command) return;
    const greatest = most();
    knob.style.left = `${50 - 50 * (command.left_m_s / (greatest.left_m_s || 1))}%`;
    knob.style.top = `${50 - 50 * (command.forward_m_s / (greatest.forward_m_s || 1))}%`;
    turn.value = -command.turn_deg_s / (greatest.turn_deg_s || 1);
    for (const { name, write } of fields) write(command[name]);
  }
  function drag(event) {
    if (!(event.buttons & 1)) return;
    if (event.type === "pointerdown") pad.setPointerCapture(event.pointerId);
    const box = pad.getBoundingClientRect(), greatest = most();
    let x = 2 * (event.clientX - box.left) / box.width - 1, y = 2 * (event.clientY - box.top) / box.height - 1;
    const far = Math.max(1, Math.hypot(x, y));
    steer({ forward_m_s: -y / far * greatest.forward_m_s, left_m_s: -x / far * greatest.left_m_s });
  }
  // A key asks for the greatest velocity as long as it is held.
  function key(event, isDown) {
    const name = event.key.toLowerCase();
    if (!(name in KEYS) || (isDown && (document.body.dataset.mode !== "gait" || !value("gait") || !isFree(event) || event.ctrlKey || event.metaKey || event.altKey))) return;
    if (isDown === held.has(name)) return;
    if (isDown) held.add(name); else held.delete(name);
    follow();
  }
  function follow() {
    const command = { forward_m_s: 0, left_m_s: 0, turn_deg_s: 0 }, greatest = most();
    for (const name of held) {
      const [axis, sign] = KEYS[name];
      command[axis] += sign * greatest[axis];
    }
    send(command);
  }
}
