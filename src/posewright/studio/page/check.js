// What design rules say of the motion, and what gravity makes of it.
import { ask, on, value } from "./link.js";
import { button, el, fail, options, seconds, words } from "./dom.js";
import { angleCurves } from "./angles.js";

const MARKS = { error: "✖", warning: "▲", note: "•" };

export function mount(root) {
  root.classList.add("checks");
  const choices = [["Kinematic", false], ["Physics", true]].map(([text, isOn]) =>
    button(text, () => ask("truth.physics", { on: isOn }).catch(fail), { id: text.toLowerCase() }));
  on("physics", (told) => choices.forEach((choice, place) => choice.setAttribute("aria-pressed", String(told.on === (place === 1)))));
  root.append(el("div", { class: "row", role: "group", "aria-label": "How it is played" }, "Play", ...choices), ...gravity(), ...design());
}

// A switch for the row of buttons that play.
export function physicsSwitch() {
  const made = button("Physics", () => ask("truth.physics", { on: !value("physics").on }).catch(fail),
    { id: "in-physics", title: "Play what gravity makes of it" });
  on("physics", (told) => made.setAttribute("aria-pressed", String(told.on)));
  return made;
}

function design() {
  const rules = el("select", { id: "rules", onchange: () => ask("truth.rules", { name: rules.value }).catch(fail) });
  const summary = el("p", { role: "status" }), list = el("ul", { id: "findings", class: "findings" });
  on("findings", (told) => {
    if (rules.options.length !== told.known.length) rules.replaceChildren(...options(told.known));
    rules.value = told.rules;
    summary.textContent = told.error || counted(told.list, "No rule is broken.");
    list.replaceChildren(...told.list.map(row));
  });
  return [el("h2", {}, "Design rules"), el("label", { class: "row" }, "Rules", rules), summary, list];
}

function gravity() {
  const summary = el("p", { role: "status", id: "physics-summary" }), list = el("ul", { id: "physics-findings", class: "findings" });
  const figures = el("dl", { class: "figures" }), curves = el("div");
  const showCurves = angleCurves(curves);
  on("physics", (told) => {
    const isReady = told.state === "ready";
    summary.textContent = { off: "Joints go exactly where they are told. Switch physics on to see what gravity makes of it.",
      running: "Playing it in the simulator...", failed: told.error }[told.state] ?? counted(told.findings, "Nothing falls, slips or gives out.");
    list.replaceChildren(...(told.findings ?? []).map(row));
    figures.replaceChildren(...(isReady ? lines(told.figures) : []));
    showCurves(isReady ? told.joints : []);
  });
  return [el("h2", {}, "Under gravity"), summary, list, figures, curves];
}

function row(finding) {
  const where = finding.keyframe === null ? "whole motion" : finding.keyframe < 0 ? "start" : `keyframe ${finding.keyframe + 1}`;
  const when = finding.time_s === null ? "" : `, ${seconds(Math.max(0, finding.time_s))}`;
  return el("li", { class: finding.level },
    el("button", { type: "button", class: "finding", onclick: () => go(finding) }, el("strong", {}, `${MARKS[finding.level]} ${finding.level}`),
      el("span", { class: "faint" }, ` ${where}${when}`), el("br"), finding.message),
    finding.joint && button(words(finding.joint), () => go(finding).then(() => showJoint(finding.joint)), { class: "small", title: "Show this joint's slider" }));
}

// Look at the keyframe of a finding, and put the playhead where it is worst.
async function go({ keyframe, time_s }) {
  const { page, keyframe: now } = value("cursor"), there = keyframe ?? now;
  const last = value("motion").keyframes.length - 1;
  try {
    await ask("session.look", { page, keyframe: Math.min(there, last), selected: [] });
    if (time_s !== null) await ask("player.seek", { time_s: Math.max(0, time_s) });
  } catch (error) { fail(error); }
}

// Open whatever hides the slider of a joint, and go there.
export function showJoint(name) {
  const slider = document.querySelector(`input[data-joint="${CSS.escape(name)}"]`);
  const panel = slider?.closest("[role=tabpanel]");
  if (panel) document.getElementById(panel.getAttribute("aria-labelledby")).click();
  for (let box = slider?.closest("details"); box; box = box.parentElement.closest("details")) box.open = true;
  slider?.focus();
  slider?.scrollIntoView({ block: "center" });
}

function counted(findings, nothing) {
  const parts = Object.keys(MARKS).map((level) => [findings.filter((one) => one.level === level).length, level]);
  return parts.filter(([count]) => count).map(([count, level]) => `${count} ${level}${count > 1 ? "s" : ""}`).join(", ") || nothing;
}

function lines({ falls, travel, max_tilt, max_tilt_deg, slip_mm, is_whole, played_s }) {
  const slips = Object.entries(slip_mm).sort(([, one], [, other]) => other.longest - one.longest);
  const told = {
    "Played": `${seconds(played_s)}${is_whole ? "" : ", not to its end"}`,
    "Falls": falls.map((fall) => `${fall.side} at ${fall.time_s.toFixed(2)} s`).join(", ") || "none",
    "Travels": [way(travel.forward_m, "forward", "back"), way(travel.left_m, "left", "right"), turn(travel.turn_deg)].filter(Boolean).join(", ") || "stays where it is",
    "Leans": `at most ${max_tilt_deg.toFixed(0)}° ${max_tilt.side}, at ${max_tilt.time_s.toFixed(2)} s`,
    "Slips": slips.length ? `at most ${slips[0][1].longest.toFixed(0)} mm, ${words(slips[0][0])}` : "no feet",
  };
  return Object.entries(told).flatMap(([name, text]) => [el("dt", {}, name), el("dd", {}, text)]);
}

const way = (metres, one, other) => Math.abs(metres) >= 0.0005 && `${(Math.abs(metres) * 100).toFixed(1)} cm ${metres < 0 ? other : one}`;
const turn = (degrees) => Math.abs(degrees) >= 0.5 && `turns ${Math.abs(degrees).toFixed(0)}° to the ${degrees < 0 ? "right" : "left"}`;
