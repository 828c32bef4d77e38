// Tools over the 3-D view: where the camera is, what is drawn, how the robot stands, and limbs moved by keys.
import { ask, newGesture, on, value } from "./link.js";
import { showJoint } from "./check.js";
import { button, el, fail, options, toggle, words } from "./dom.js";

const VIEWS = { front: "Front", side: "Side", top: "Top", whole: "Whole robot" };
const WAYS = [["up_mm", 1, "Up", "↑"], ["up_mm", -1, "Down", "↓"], ["left_mm", 1, "To the robot's left", "←"], ["left_mm", -1, "To the robot's right", "→"], ["forward_mm", 1, "Forward", "↗"], ["forward_mm", -1, "Back", "↙"]];
const STEP_MM = 5;

export function mount(root) {
  const option = (text, action, title) => toggle(text, (on) => ask(action, { on }).catch(fail), { title, "data-for": "motion" });
  const cameras = Object.entries(VIEWS).map(([view, text]) => button(text, () => ask("posing.camera", { view }).catch(fail)));
  const feet = option("Keep feet down", "posing.keep_feet", "Feet on the floor stay where they are; the body follows the limb that is moved");
  const ghosts = option("Ghosts", "posing.ghosts", "Show the keyframe before in blue and the one after in orange");
  const stance = el("select", { id: "stance", "aria-label": "Foot to stand on", title: "On which foot the robot stands; the margin is said for it", "data-for": "motion", onchange: () => ask("posing.stand_on", { foot: stance.value }).catch(fail) });
  const limbs = el("select", { "aria-label": "Limb to move" });
  const moves = WAYS.map(([way, sign, text, sign_]) => button(sign_, () => move(way, sign), { "aria-label": `Move the limb ${text.toLowerCase()} by ${STEP_MM} mm`, title: `${text} ${STEP_MM} mm` }));
  const balance = el("p", { id: "balance" });
  const note = el("p", { id: "posing-note", role: "status" });
  root.append(
    el("div", { id: "stage-tools", class: "row", role: "group", "aria-label": "3-D view" }, ...cameras, ghosts, feet, stance),
    el("div", { id: "stage-limb", class: "row", role: "group", "aria-label": "Move a limb", "data-for": "motion" }, limbs, ...moves),
    el("div", { id: "stage-state", "data-for": "motion" }, balance, note));

  on("posing", (posing) => {
    feet.setAttribute("aria-pressed", String(posing.keep_feet));
    ghosts.setAttribute("aria-pressed", String(posing.ghosts));
    note.textContent = posing.note;
    stance.hidden = !posing.stances.length;
    if (stance.dataset.feet !== posing.stances.join()) {
      stance.dataset.feet = posing.stances.join();
      stance.replaceChildren(el("option", { value: "" }, "stands as it settles"), ...options(posing.stances, (foot) => `stands on ${words(foot)}`));
    }
    stance.value = posing.stance;
    const names = posing.limbs.join();
    if (limbs.dataset.names === names) return;
    limbs.dataset.names = names;
    limbs.replaceChildren(...options(posing.limbs));
  });
  on("balance", ({ kind, words: text }) => {
    balance.textContent = text;
    balance.dataset.kind = kind;
  });
  // What the simulator plays is not standing still: whether it would is beside the point.
  const hide = () => { balance.hidden = Boolean(value("physics")?.on && value("player")?.playing); };
  on("physics", hide);
  on("player", hide);
  on("picked", ({ joint }) => showJoint(joint));
  // Keys belong to the page again once the mouse has done its work in the frame of the 3-D view.
  const view = document.getElementById("view");
  view.addEventListener("load", () => view.contentWindow.addEventListener("pointerup", () => view.blur()));

  // Steps that follow each other with the same limb are one to undo.
  let gesture = "", moved = "";
  function move(way, sign) {
    if (moved !== limbs.value) [gesture, moved] = [newGesture(), limbs.value];
    ask("posing.move", { limb: limbs.value, [way]: sign * STEP_MM, gesture }).catch(fail);
  }
}
