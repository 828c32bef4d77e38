// Catch poses from a body that is moved by hand.
import { ask, latest, on, value } from "./link.js";
import { button, checkbox, el, fail, options, toggle, words } from "./dom.js";
import { limbs } from "./pose.js";

const HINTS = {
  closed: "Connect a body: the robot at its port, or a fake one to try it.",
  opening: "Opening: looking for every servo …",
  closing: "Letting go …",
  open: "Let go of a limb and hold it, put it into place, catch.",
  follows: "The body follows the pose on the tab Pose, at 60°/s at most. Stay clear of it.",
};

export function mount(root) {
  const body = el("select", { "aria-label": "Body" });
  const connect = button("Connect", () => ask(isOpen() ? "teach.disconnect" : "teach.connect", isOpen() ? {} : { body: body.value }).catch(fail), { id: "teach-connect" });
  const live = checkbox("Show it live", (isLive) => ask("teach.show", { live: isLive }).catch(fail), { checked: true });
  const follow = toggle("Follow the pose", (on) => ask("teach.follow", { on }).catch(fail), { id: "teach-follow", title: "The body moves to the pose that is edited, slowly, and follows every edit. Off: it holds its pose" });
  const notSent = el("p", { class: "trouble", role: "alert", id: "teach-not-sent" });
  const hint = el("p", { class: "faint", role: "status" }), trouble = el("p", { class: "trouble", role: "alert" });
  const list = el("div", { id: "teach-limbs" });
  const seconds = el("input", { type: "number", id: "teach-seconds", min: 0.1, step: 0.1, class: "short", "aria-label": "Time on the way [s]; empty: the time that passed" });
  const take = (isNew) => () => ask("teach.record_pose", { is_new: isNew, seconds: seconds.value === "" ? null : seconds.valueAsNumber }).catch(fail);
  const caught = el("p", { role: "status" }), warnings = el("ul", { class: "warnings" });
  const catching = el("div", { id: "teach-catch" },
    el("div", { class: "row" }, button("Catch new keyframe", take(true), { class: "main", id: "teach-new" }), button("Into this keyframe", take(false), { id: "teach-into" })),
    el("label", { class: "row" }, "Way", seconds, "s; empty: as long as it took"), caught, warnings);
  const hand = handOf();
  root.append(el("h2", {}, "Teach by hand"),
    el("div", { class: "row" }, body, connect, live.label), hint, trouble, el("div", { class: "row" }, follow), notSent, catching, hand.made, list);
  on("robot", () => show(value("teach")));
  on("teach", show);

  function isOpen() {
    return value("teach").state === "open" || value("teach").state === "opening";
  }

  function show(teach) {
    const robot = value("robot");
    if (!teach || !robot) return;
    if (body.childElementCount !== teach.bodies.length) body.replaceChildren(...options(teach.bodies, String));
    body.value = teach.body;
    body.disabled = teach.state !== "closed";
    live.box.checked = teach.live;
    connect.textContent = isOpen() ? "Disconnect" : "Connect";
    connect.disabled = teach.state === "closing";
    const recovery = teach.recovery && `${teach.recovery[0].toUpperCase()}${teach.recovery.slice(1)}. `;
    hint.textContent = `${recovery}${HINTS[teach.follows ? "follows" : teach.state]}`;
    follow.hidden = teach.state !== "open";
    follow.setAttribute("aria-pressed", String(teach.follows));
    notSent.textContent = teach.not_sent ? `⚠ Not sent: ${teach.not_sent}` : "";
    trouble.textContent = teach.trouble ? `⚠ ${teach.trouble}` : "";
    list.hidden = catching.hidden = teach.state !== "open" || teach.follows;
    caught.textContent = teach.caught;
    warnings.replaceChildren(...teach.warnings.map((text) => el("li", {}, text)));
    const parts = [{ name: "all", joints: robot.joints }, ...limbs(robot)];
    if (list.dataset.robot !== robot.name) {
      list.dataset.robot = robot.name;
      list.replaceChildren(...parts.map(limbRow));
    }
    parts.forEach((part, place) => showLimb(list.children[place], part, new Set(teach.free)));
    hand.show(teach, robot);
  }

  function limbRow({ name, joints }) {
    const each = robotGroup(name) ? [name] : joints.map((joint) => joint.name);
    const send = (action) => () => Promise.all(each.map((limb) => ask(action, { limb }))).catch(fail);
    const label = name === "all" ? "whole robot" : words(name);
    return el("div", { class: "teach-limb" }, el("span", {}, label), el("span", { class: "faint" }),
      button("Let go", send("teach.release"), { "aria-label": `Let go of ${label}` }), button("Hold", send("teach.hold"), { "aria-label": `Hold ${label}` }));
  }

  function showLimb(row, { joints }, free) {
    const count = joints.filter((joint) => free.has(joint.name)).length;
    row.children[1].textContent = count === 0 ? "held" : count === joints.length ? "free" : `${count} of ${joints.length} free`;
  }
}

const robotGroup = (name) => name === "all" || name in value("robot").groups;

// A hand for bodies that are not real: it turns one free joint.
function handOf() {
  const send = latest((joint, angle_deg) => ask("teach.move", { joint, angle_deg }).catch(fail));
  const joint = el("select", { "aria-label": "Joint that the hand turns", onchange: limit });
  const angle = el("input", { type: "range", step: 0.5, "aria-label": "Where the hand turns it [deg]", oninput: () => { number.textContent = `${angle.value}°`; send(joint.value, angle.valueAsNumber); } });
  const number = el("output");
  const made = el("div", { id: "teach-hand" }, el("h3", {}, "Turn a free joint, as your hand would"), el("div", { class: "row" }, joint, angle, number));
  return { made, show };

  function show(teach, robot) {
    made.hidden = teach.state !== "open" || teach.follows || !teach.by_hand || !teach.free.length;
    const names = robot.joints.map((one) => one.name).filter((name) => teach.free.includes(name));
    if (names.join() === [...joint.options].map((option) => option.value).join()) return;
    const before = joint.value;
    joint.replaceChildren(...options(names));
    if (names.includes(before)) joint.value = before;
    else if (names.length) limit();
  }
  function limit() {
    const place = value("robot").joints.findIndex((one) => one.name === joint.value), { lower_deg, upper_deg } = value("robot").joints[place];
    Object.assign(angle, { min: lower_deg, max: upper_deg });
    angle.value = value("body")?.[place] ?? 0;
    number.textContent = `${angle.value}°`;
  }
}
