// The keyframes that are selected: their times, easing and stiffness. A field that differs between them is empty.
import { edit, on, value } from "./link.js";
import { el, fail, words } from "./dom.js";
import { bindField } from "./fields.js";
import { chosen, manner, retime, timesOf } from "./track.js";

const EASINGS = {
  linear: "At one speed, with a jerk at both ends.",
  smooth: "Half a cosine: starts and stops gently.",
  pchip: "One curve through the keyframes: it does not stop at each, and never overshoots.",
  trapezoid: "Speeds up evenly, cruises, brakes evenly.",
};

export function mount(root) {
  const title = el("h2"), note = el("p", { class: "faint" });
  const reach = number("Way into it [s]", (reach_s) => times({ reach_s }));
  const pause = number("Pause after it [s]", (pause_s) => times({ pause_s }));
  const reached = number("Reached at [s]", reachAt);
  const length = number("All of them [s]", stretch, { min: 0.01 });
  const easing = el("select", { id: "easing", onchange: () => set({ easing: easing.value }) },
    el("option", { value: "", disabled: true, hidden: true }, "(several)"), ...Object.keys(EASINGS).map((name) => el("option", { value: name }, name)));
  const said = el("p", { class: "faint" });
  const share = number("Speeding up, share of the way [%]", (percent) => set({ accel_share: percent / 100 }), { max: 50, step: 1 });
  const own = el("input", { type: "checkbox", id: "own-stiffness", onchange: () => stiffen(own.checked ? {} : everywhere(1)) });
  const all = number("All joints [N m/rad]", (stiffness) => stiffen(everywhere(stiffness)), { step: 0.1 });
  const rows = new Map(), list = el("div"), more = el("details", {}, el("summary", {}, "Each joint"), list);
  const stiffness = el("div", {}, all.row, more);
  const fields = el("div", { class: "timings" }, el("h3", {}, "Times"), reach.row, pause.row, reached.row, length.row,
    el("h3", {}, "Easing"), el("div", { class: "timing" }, el("label", { htmlFor: "easing" }, "Speed on the way"), easing), said, share.row,
    el("h3", {}, "Stiffness"), el("label", { class: "row" }, own, "As the servos have it"), stiffness);
  root.append(title, note, fields);
  on("motion", show);
  on("cursor", show);

  function show() {
    const motion = value("motion"), cursor = value("cursor");
    if (!motion || !cursor || cursor.page !== motion.page) return;
    const places = chosen(), frames = places.map((place) => motion.keyframes[place]).filter(Boolean);
    fields.hidden = frames.length === 0;
    title.textContent = frames.length === 0 ? "The pose it starts from"
      : frames.length === 1 ? `Keyframe ${places[0] + 1} of ${motion.keyframes.length}` : `${frames.length} keyframes of ${motion.keyframes.length}`;
    note.hidden = frames.length > 0 && motion.speed === 1;
    note.textContent = frames.length === 0 ? "It has no times of its own: the robot stands so when the motion begins."
      : `The times are those at speed 1; the motion is played at speed ${motion.speed}.`;
    if (frames.length) fill(motion, places, frames);
  }
  function fill(motion, places, frames) {
    const alike = (each) => frames.every((frame) => each(frame) === each(frames[0])) ? each(frames[0]) : undefined;
    reach.show(alike((frame) => frame.reach_s));
    pause.show(alike((frame) => frame.pause_s));
    reached.row.hidden = frames.length > 1;
    reached.show(timesOf(motion).reached[places[0]] * motion.speed);
    length.row.hidden = frames.length < 2;
    length.show(lengthOf(frames));
    easing.value = alike((frame) => frame.easing) ?? "";
    said.textContent = EASINGS[easing.value] ?? "They are gone in several ways.";
    share.row.hidden = !frames.some((frame) => frame.easing === "trapezoid");
    share.show(percentOf(alike((frame) => frame.accel_share)));
    showStiffness(motion, frames, alike((frame) => JSON.stringify(frame.stiffness)));
  }
  function showStiffness(motion, frames, isAlike) {
    const told = frames[0].stiffness, values = Object.values(told ?? {});
    own.checked = frames.every((frame) => frame.stiffness === null);
    own.indeterminate = isAlike === undefined;
    stiffness.hidden = own.checked;
    all.show(isAlike && values.length === motion.joints.length && values.every((one) => one === values[0]) ? values[0] : undefined);
    if ([...rows.keys()].join() !== motion.joints.join()) {
      rows.clear();
      for (const joint of motion.joints) rows.set(joint, number(words(joint), (one) => stiffen({ ...chosenFrames()[0].stiffness, [joint]: one }), { step: 0.1 }));
      list.replaceChildren(...[...rows.values()].map(({ row }) => row));
    }
    if (more.open || !own.checked) rows.forEach((row, joint) => row.show(isAlike === undefined ? undefined : told?.[joint]));
  }

  function times(told) {
    const places = chosen();
    return places.length === 1 ? retime(places[0], told).catch(refused) : set(told);
  }
  function set(told) { return edit("set_keyframes", { page: value("cursor").page, keyframes: chosen(), ...told }).catch(refused); }
  function stiffen(told) { return set({ stiffness: told }); }
  function reachAt(time_s) {
    const [place] = chosen(), motion = value("motion");
    const reach_s = time_s - timesOf(motion).begin[place] * motion.speed;
    return times({ reach_s: Math.max(0, Number(reach_s.toFixed(6))) });
  }
  function stretch(length_s) {
    const factor = length_s / lengthOf(chosenFrames());
    return edit("stretch_keyframes", { page: value("cursor").page, keyframes: chosen(), factor }).catch(refused);
  }
  // Show the document's values again after a change that is not possible.
  function refused(error) { fail(error); show(); }
}

const chosenFrames = () => chosen().map((place) => value("motion").keyframes[place]);
const everywhere = (stiffness) => Object.fromEntries(value("motion").joints.map((joint) => [joint, stiffness]));
const lengthOf = (frames) => frames.reduce((sum, frame) => sum + frame.reach_s + frame.pause_s, 0);
const percentOf = (share) => share === undefined ? undefined : share * 100;

let fields = 0;
// A labelled number; `send` gets what was typed, and returns a promise.
function number(text, send, limits = {}) {
  const id = `keyframe-field-${++fields}`;
  const input = el("input", { type: "number", id, min: 0, step: 0.01, ...limits });
  const write = bindField(input, send, { format: (value) => String(Number(value.toFixed(4))), tolerance: () => 6e-5, owner: () => `${value("cursor")?.page} ${value("cursor")?.selected}` });
  function show(value) {
    input.placeholder = value === undefined ? "several" : "";
    write(value);
  }
  return { row: el("div", { class: "timing" }, el("label", { htmlFor: id }, text), input), show };
}
