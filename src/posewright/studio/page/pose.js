// The pose under the cursor: limb by limb a slider, a number and what each joint does.
import { ask, edit, latest, newGesture, on, value } from "./link.js";
import { button, el, fail, words } from "./dom.js";
import { bindField } from "./fields.js";
import * as tools from "./pose_tools.js";

const STATES = [["angle", "angle"], ["held", "hold"], ["free", "free"], ["unused", "none"]];
const MEANING = "angle: turns there; hold: stays where it was; free: torque off; none: the motion does not move it";

export function mount(root) {
  let rows = [];
  const heading = el("h2"), list = el("div", { id: "joints" });
  const show = button("Show it", () => { const { keyframe, selected } = value("cursor"); ask("session.look", { keyframe, selected }).catch(fail); }, { class: "small" });
  const elsewhere = el("p", { id: "pose-elsewhere", class: "row faint", hidden: true }, "The 3-D view shows another time of the motion.", show);
  const follower = el("span"), stop = button("Hold", () => ask("teach.follow", { on: false }).catch(fail), { class: "small", title: "The body holds its pose and follows no longer" });
  const following = el("p", { id: "pose-following", class: "row", role: "status", hidden: true }, follower, stop);
  root.append(heading, following, elsewhere, tools.bar(() => rows.forEach(showUnit)), list);
  on("robot", (robot) => {
    rows = [];
    list.replaceChildren(...limbs(robot).map(limb));
    rows.sort((one, other) => one.place - other.place);
    showPose(value("pose") ?? []);
    showStates();
  });
  on("pose", showPose);
  on("reach", (reach) => rows.forEach((row) => showReach(row, reach[row.joint.name])));
  on("motion", showStates);
  on("teach", (teach) => {
    following.hidden = !teach.follows;
    follower.classList.toggle("trouble", Boolean(teach.not_sent));
    follower.textContent = teach.not_sent ? `⚠ Not sent to ${teach.body}: ${teach.not_sent}` : `${teach.body} follows this pose.`;
  });
  on("player", (player) => { elsewhere.hidden = player.at_keyframe; });
  on("cursor", ({ keyframe }) => {
    heading.textContent = keyframe < 0 ? "Start pose" : `Pose of keyframe ${keyframe + 1}`;
    showStates();
  });
  on("picked", ({ joint }) => {
    for (const row of rows) row.made.classList.toggle("picked", row.joint.name === joint);
  });

  function limb({ name, joints }) {
    const label = words(name), shorter = prefixLength(joints);
    const other = across(joints[0].name);
    const send = (command, args) => edit(command, { ...tools.target(), ...args }).catch(fail);
    const names = joints.map((joint) => joint.name);
    const leave = (left) => () => send("leave_joints", { joints: names, left, symmetric: tools.isSymmetric() });
    return el("details", { class: "limb", open: true }, el("summary", {}, label),
      el("div", { class: "row limb-tools" },
        button("Hold", leave("held"), { "aria-label": `Hold ${label}`, title: "Stays where it was before this keyframe" }),
        button("Free", leave("free"), { "aria-label": `Free ${label}`, title: "Torque off" }),
        other && !names.includes(other) && button("Copy across", () => send("copy_across", { joints: names }), { "aria-label": `Copy ${label} across`, title: "The other side does the same, as in a mirror" })),
      ...joints.map((joint) => jointRow(joint, words(joint.name).split(" ").slice(shorter).join(" "))));
  }

  function jointRow(joint, label) {
    const place = value("robot").joints.indexOf(joint), full = words(joint.name), id = `joint-${place}`;
    let gesture = "", isHeld = false, sent = Promise.resolve();
    const push = latest((args, own) => edit("set_angles", args, own).catch(fail));
    const send = (degrees, own) => { row.isAhead = true; sent = push({ ...tools.target(), symmetric: tools.isSymmetric(), angles_deg: { [joint.name]: degrees } }, own); sent.then(settle); return sent; };
    // Answers to what was sent before do not move a slider that somebody moves.
    const settle = () => sent.then(() => { if (!isHeld) { row.isAhead = false; showAngle(row, row.degrees); } });
    const begin = (event) => { isHeld = row.isAhead = true; if (!event.repeat) gesture = newGesture(); };
    const end = () => { isHeld = false; settle(); };
    const turn = (event) => {
      const way = { ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1 }[event.key];
      begin(event);
      if (!way || event.ctrlKey || event.metaKey || event.altKey) return;
      event.preventDefault();
      slider.value = slider.valueAsNumber + way * (event.shiftKey ? 0.1 : 1);
      send(slider.valueAsNumber, gesture);
    };
    const slider = el("input", { type: "range", min: joint.lower_deg, max: joint.upper_deg, step: 0.1, "aria-label": `${full}, slider`, "data-joint": joint.name, title: "Arrow keys turn it by 1°, with Shift by 0.1°",
      onpointerdown: begin, onkeydown: turn, oninput: () => send(slider.valueAsNumber, gesture),
      onpointerup: end, onpointercancel: end, onkeyup: end, onblur: end, onchange: end });
    const number = el("input", { type: "number", id });
    const showNumber = bindField(number, (typed) => send(tools.isInTicks() ? toDegrees(joint, typed) : typed, newGesture()),
      { format: (degrees) => numberOf(joint, degrees), tolerance: () => tools.isInTicks() ? 1 : 0.006, owner: () => `${value("cursor")?.page} ${value("cursor")?.keyframe}` });
    const state = el("select", { "aria-label": `${full} is`, title: MEANING, onchange: () => choose(row, state.value) },
      ...STATES.map(([key, text]) => el("option", { value: key }, text)));
    const band = el("i"), beyond = el("p", { class: "beyond", hidden: true });
    const ends = [joint.lower_deg, joint.upper_deg].map((end) => el("small", {}, `${Math.round(end)}°`));
    const made = el("div", { class: "joint" }, el("label", { htmlFor: id, title: full }, label),
      el("span", { class: "turn" }, slider, el("span", { class: "band" }, band), el("span", { class: "ends" }, ...ends)), number, state, beyond);
    const row = { joint, place, full, slider, number, showNumber, state, band, beyond, made, isAhead: false };
    rows.push(row);
    showUnit(row);
    showReach(row, undefined);
    return made;
  }

  function choose(row, state) {
    const gesture = newGesture(), name = row.joint.name, { page, joints } = value("motion");
    const all = state === "unused" ? joints.filter((one) => one !== name) : [...joints, name];
    const steps = state === "unused" || !joints.includes(name) ? [["set_joints", { page, joints: [...new Set(all)] }]] : [];
    if (state === "angle") steps.push(["set_angles", { ...tools.target(), angles_deg: { [name]: value("pose")[row.place] ?? 0 } }]);
    if (state === "held" || state === "free") steps.push(["leave_joints", { ...tools.target(), joints: [name], left: state, symmetric: tools.isSymmetric() }]);
    Promise.all(steps.map(([command, args]) => edit(command, args, gesture))).catch(fail).finally(showStates);
  }

  function showPose(angles) {
    rows.forEach((row) => showAngle(row, angles[row.place]));
  }

  function showStates() {
    const motion = value("motion"), cursor = value("cursor");
    if (!motion || !cursor) return;
    const pose = cursor.keyframe < 0 ? motion.start ?? [] : motion.keyframes[cursor.keyframe]?.pose ?? [];
    const places = new Map(motion.joints.map((name, place) => [name, place]));
    for (const row of rows) {
      const place = places.get(row.joint.name), angle = pose[place];
      row.state.value = place === undefined ? "unused" : angle === "free" ? "free" : angle === null || angle === undefined ? "held" : "angle";
      row.made.dataset.state = row.state.value;
      row.slider.disabled = row.number.disabled = place === undefined;
    }
  }
}

function showAngle(row, degrees) {
  if (degrees === null || degrees === undefined) return;
  row.degrees = degrees;
  if (!row.isAhead) row.slider.value = degrees;
  row.slider.setAttribute("aria-valuetext", `${degrees.toFixed(1)} degrees`);
  row.showNumber(degrees);
}

const numberOf = (joint, degrees) => String(tools.isInTicks() ? Math.round(toTicks(joint, degrees)) : Number(degrees.toFixed(2)));

function showUnit(row) {
  const { joint, number } = row, isInTicks = tools.isInTicks();
  const ends = [joint.lower_deg, joint.upper_deg].map((end) => isInTicks ? Math.round(toTicks(joint, end)) : end);
  Object.assign(number, { min: Math.min(...ends), max: Math.max(...ends), step: isInTicks ? 1 : 0.1 });
  number.setAttribute("aria-label", `${row.full} [${isInTicks ? "ticks" : "deg"}]`);
  if (row.degrees !== undefined) row.showNumber(row.degrees);
}

function showReach(row, reach) {
  const { lower_deg, upper_deg } = row.joint, span = upper_deg - lower_deg;
  const low = reach?.lower_deg ?? lower_deg, high = reach?.upper_deg ?? upper_deg;
  row.band.hidden = !reach;
  row.band.style.left = `${100 * (low - lower_deg) / span}%`;
  row.band.style.width = `${Math.max(0, 100 * (high - low) / span)}%`;
  row.band.parentElement.title = reach ? `reachable now: ${low.toFixed(1)}° to ${high.toFixed(1)}°` : "";
  row.beyond.textContent = reach?.wrong ? `⚠ ${reach.wrong}` : "";
  row.beyond.hidden = !reach?.wrong;
}

const toTicks = (joint, degrees) => joint.tick_zero + degrees * joint.ticks_per_deg;
const toDegrees = (joint, ticks) => (ticks - joint.tick_zero) / joint.ticks_per_deg;

function across(name) {
  const pair = value("robot").mirror.find(([left, right]) => left !== right && (left === name || right === name));
  return pair && (pair[0] === name ? pair[1] : pair[0]);
}

// Groups of the card that share no joint, the first that name one, and what is left.
export function limbs(robot) {
  const byName = new Map(robot.joints.map((joint) => [joint.name, joint])), found = [];
  for (const [name, members] of Object.entries(robot.groups)) {
    if (!members.every((member) => byName.has(member))) continue;
    found.push({ name, joints: members.map((member) => byName.get(member)) });
    members.forEach((member) => byName.delete(member));
  }
  if (byName.size) found.push({ name: found.length ? "others" : "joints", joints: [...byName.values()] });
  return found;
}

// How many words all joints of a limb begin with.
function prefixLength(joints) {
  const names = joints.map((joint) => words(joint.name).split(" "));
  if (names.length < 2) return 0;
  let length = 0;
  while (names.every((name) => name.length > length + 1 && name[length] === names[0][length])) length += 1;
  return length;
}
