// Tools for the pose under the cursor: mirror it, take or blend another, and how edits are meant.
import { edit, on, value } from "./link.js";
import { button, el, fail, words } from "./dom.js";

const check = (text, title, props = {}) => {
  const box = el("input", { type: "checkbox", ...props });
  return { box, label: el("label", { class: "check", title }, box, text) };
};
const symmetric = check("Both sides", "The other side goes along, as in a mirror");
const ticks = check("Ticks", "Numbers as the servos count");
const every = check("All marked", "Change all marked keyframes alike");

export const isSymmetric = () => symmetric.box.checked;
export const isInTicks = () => ticks.box.checked;

// Which poses an edit is meant for.
export function target() {
  const { page, keyframe, selected } = value("cursor");
  return { page, keyframe, also: every.box.checked ? selected.filter((place) => place !== keyframe) : [] };
}

export function bar(showUnits) {
  const send = (command, args = {}) => edit(command, { ...target(), ...args }).catch(fail);
  ticks.box.addEventListener("change", showUnits);
  const clear = button("Remove start pose", () => edit("clear_start", { page: value("cursor").page }).catch(fail), { title: "Let the motion start from wherever the robot is", hidden: true });
  const from = el("select", { id: "pose-from", "aria-label": "Pose to take", onchange: showNumber });
  const number = el("input", { type: "number", min: 1, step: 1, value: 1, "aria-label": "Keyframe to take the pose of", class: "short" });
  const share = el("input", { type: "number", min: 0, max: 100, step: 5, value: 100, "aria-label": "Share of the other pose [%]", class: "short" });
  const take = button("Take", () => {
    const other = { keyframe: number.valueAsNumber - 1, start: -1 }[from.value];
    const wanted = other === undefined ? { named: from.value.slice(1) } : { other };
    send("blend_pose", { share: share.valueAsNumber / 100, ...wanted });
  }, { id: "pose-take", title: "At 100 % the pose is taken; below, the two are blended" });
  on("robot", (robot) => {
    from.replaceChildren(el("optgroup", { label: "Poses of the robot" }, ...robot.poses.map((name) => el("option", { value: `.${name}` }, words(name)))),
      el("optgroup", { label: "Poses of the motion" }, el("option", { value: "keyframe" }, "keyframe …"), el("option", { value: "start" }, "start pose")));
    showNumber();
  });
  on("motion", (motion) => { number.max = motion.keyframes.length; showStart(); });
  on("cursor", ({ keyframe, selected }) => {
    every.label.hidden = selected.length < 2;
    if (every.label.hidden) every.box.checked = false;
    every.label.lastChild.textContent = `All ${selected.length} marked`;
    number.value = keyframe > 0 ? keyframe : Math.min(2, value("motion")?.keyframes.length ?? 1);
    showStart();
  });
  const group = (label, ...parts) => el("div", { class: "row", role: "group", "aria-label": label }, ...parts);
  return el("div", { id: "pose-tools" },
    group("Pose", button("Mirror", () => send("mirror_pose"), { id: "mirror-pose", title: "Left and right change places" }), clear, symmetric.label, ticks.label, every.label),
    group("Take or blend another pose", el("span", { class: "faint" }, "Pose"), from, number, share, el("span", { class: "faint" }, "%"), take));

  function showNumber() {
    number.hidden = from.value !== "keyframe";
  }
  function showStart() {
    clear.hidden = !(value("cursor")?.keyframe < 0 && value("motion")?.start);
  }
}
