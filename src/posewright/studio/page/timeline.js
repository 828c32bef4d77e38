// The time line: buttons that play and change, and the keys that do the same; the track is in track.js.
import { physicsSwitch } from "./check.js";
import { ask, edit, newGesture, on, value } from "./link.js";
import { button, checkbox, el, fail, options, tell, toggle } from "./dom.js";
import { isFree, isIdle, isTaken, shortcuts } from "./keys.js";
import { chosen, look, manner, track } from "./track.js";

const SPEEDS = [0.1, 0.25, 0.5, 1, 2, 4], STEP_S = 0.01;

export function mount(root) {
  const time = track();
  root.append(el("div", { class: "row tools" }, ...editors(), el("span", { class: "grow" }), ...zooms(time)), time.element);
  root.classList.add("timeline");
  keys(root, time);
  addEventListener("paste", (event) => {
    if (!isOurs(event)) return;
    event.preventDefault();
    paste(event.clipboardData.getData("text/plain"));
  });
}

// Controls that play the motion; they stand beside the tabs, so that every tab has them.
export function players() {
  const play = button("Play", playOrPause, { id: "play", title: "Play or pause (Space)" });
  const loop = toggle("Loop", (on) => ask("player.manner", { loop: on }).catch(fail), { id: "loop", title: "Begin again at the end" });
  const speed = el("select", { id: "speed", "aria-label": "Speed of playing", onchange: () => ask("player.manner", { speed: Number(speed.value) }).catch(fail) },
    ...options(SPEEDS, (times) => `${times} ×`));
  const clock = el("output", { id: "clock", "aria-label": "Time played and duration" });
  on("player", (player) => {
    play.textContent = player.playing ? "Pause" : "Play";
    loop.setAttribute("aria-pressed", String(player.loop));
    speed.value = String(player.speed);
    clock.textContent = `${player.time_s.toFixed(2)} / ${player.duration_s.toFixed(2)} s`;
  });
  return [play, loop, speed, physicsSwitch(), clock];
}

const playOrPause = () => ask(value("player").playing ? "player.pause" : "player.play").catch(fail);
const add = () => ask("timeline.add").catch(fail);
const duplicate = () => ask("timeline.duplicate").catch(fail);
const remove = () => ask("timeline.delete").catch(fail);

function editors() {
  const { label } = checkbox("Later ones stay", (on) => { manner.laterStay = on; }, { id: "later-stay" }, "When a keyframe is retimed, the ones after it keep their times");
  return [
    button("Add", add, { id: "add", title: "Add a keyframe at the playhead (Insert)" }),
    button("Duplicate", duplicate, { title: "Copy the selected keyframes behind them (Ctrl+D)" }),
    button("Delete", remove, { title: "Delete the selected keyframes (Del)" }),
    button("Cut", () => copy(true), { title: "Cut the selected keyframes (Ctrl+X)" }),
    button("Copy", () => copy(false), { title: "Copy the selected keyframes, as text (Ctrl+C)" }),
    button("Paste", pasteAsked, { title: "Paste keyframes after the current one (Ctrl+V)" }),
    button("◀", () => shift(-1), { "aria-label": "Move earlier", title: "Move the selected keyframes one place earlier (Alt+Left)" }),
    button("▶", () => shift(1), { "aria-label": "Move later", title: "Move the selected keyframes one place later (Alt+Right)" }),
    label,
  ];
}

const zooms = (time) => [
  button("−", () => time.zoom(1 / 1.5), { "aria-label": "Zoom out", title: "Zoom out (Ctrl+wheel)" }),
  button("+", () => time.zoom(1.5), { "aria-label": "Zoom in", title: "Zoom in (Ctrl+wheel)" }),
  button("Fit", time.fit, { title: "Show the whole motion" }),
];

// Put the selected keyframes one place earlier or later.
function shift(step) {
  const places = chosen();
  const before = step < 0 ? places[0] - 1 : places.at(-1) + 2;
  if (places.length && before >= 0) ask("timeline.move", { before }).catch(fail);
}

const run = { what: "", at: 0, gesture: "" };
// Make the selected ways or pauses longer; keys pressed quickly one after the other are one change to undo.
function lengthen(by, isPause) {
  const what = `${chosen()} ${isPause}`, at = performance.now();
  Object.assign(run, { what, at, gesture: what === run.what && at - run.at < 1500 ? run.gesture : newGesture() });
  edit("stretch_keyframes", { page: value("cursor").page, keyframes: chosen(), [isPause ? "pause_by_s" : "reach_by_s"]: by }, run.gesture).catch(fail);
}

async function copy(isCut) {
  try {
    const text = await ask("timeline.copy"), count = chosen().length;
    await write(text);
    if (isCut) await ask("timeline.delete");
    tell(`${count === 1 ? "1 keyframe is" : `${count} keyframes are`} on the clipboard.`);
  } catch (error) { fail(error); }
}

// Write to the system's clipboard; where the browser keeps that to itself, by the old way.
async function write(text) {
  try { await navigator.clipboard.writeText(text); } catch {
    const area = el("textarea", { value: text, "aria-hidden": "true" }), before = document.activeElement;
    document.body.append(area);
    area.select();
    const isDone = document.execCommand("copy");
    area.remove();
    before?.focus();
    if (!isDone) throw new Error("The browser does not let the clipboard be written.");
  }
}

async function pasteAsked() {
  try { await paste(await navigator.clipboard.readText()); } catch { tell("Press Ctrl+V to paste: the browser keeps its clipboard for that key."); }
}

async function paste(text) {
  try {
    const { count, lost } = await ask("timeline.paste", { text });
    tell(`${count === 1 ? "1 keyframe was" : `${count} keyframes were`} pasted.`);
    if (lost.length) tell(`Not all could be kept: ${lost.slice(0, 6).join("; ")}${lost.length > 6 ? `; and ${lost.length - 6} more` : ""}.`, true);
  } catch (error) { fail(error); }
}

// Whether a key or a paste is meant for the motion, and not for a field or a dialog.
const isMotion = () => document.body.dataset.mode === "motion" && value("cursor");
const isOurs = (event) => isMotion() && isFree(event);

function keys(root, time) {
  const isPicked = (event) => isOurs(event) && getSelection().isCollapsed;
  const isHere = (event) => isOurs(event) && (event.target === document.body || root.contains(event.target));
  const isTrack = (event) => isOurs(event) && (event.target === document.body || event.target.closest("#keyframes"));
  const last = () => value("motion").keyframes.length - 1, now = () => value("cursor").keyframe;
  const pick = (place) => (event) => time.pick(Math.max(-1, Math.min(last(), place())), { shiftKey: event.shiftKey });
  shortcuts("Time line", [
    ["Space", "Play or pause", playOrPause, (event) => isOurs(event) && isIdle(event)],
    ["Insert", "Add a keyframe at the playhead", add, isHere],
    ["Ctrl+D", "Duplicate the selected keyframes", duplicate, (event) => isTaken(event) && isMotion()],
    ["Delete / Backspace", "Delete them", remove, isHere],
    ["Ctrl+C", "Copy them, as text", () => copy(false), isPicked],
    ["Ctrl+X", "Cut them", () => copy(true), isPicked],
    ["Ctrl+V", "Paste keyframes after the current one"],
    ["Ctrl+A", "Select all keyframes", () => look(last(), value("motion").keyframes.map((_, place) => place)), (event) => isOurs(event) && root.contains(event.target)],
    ["+ / =", `Make their ways longer by ${STEP_S} s`, () => lengthen(STEP_S, false), isHere],
    ["-", "Make them shorter", () => lengthen(-STEP_S, false), isHere],
    ["Alt++ / Alt+=", `Make their pauses longer by ${STEP_S} s`, () => lengthen(STEP_S, true), isHere],
    ["Alt+-", "Make them shorter", () => lengthen(-STEP_S, true), isHere],
    ["ArrowLeft / Shift+ArrowLeft", "To the keyframe before; with Shift, select up to it", pick(() => now() - 1), isTrack],
    ["ArrowRight / Shift+ArrowRight", "To the next", pick(() => now() + 1), isTrack],
    ["Home / Shift+Home", "To the first", pick(() => 0), isTrack],
    ["End / Shift+End", "To the last", pick(last), isTrack],
    ["Alt+ArrowLeft", "Move the selected keyframes one place earlier", () => shift(-1), isTrack],
    ["Alt+ArrowRight", "Move them one place later", () => shift(1), isTrack],
  ]);
}
