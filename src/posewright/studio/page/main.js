// The page is put together here: each part mounts itself where it belongs.
import { connect, on } from "./link.js";
import { el, fail, tabs, tell } from "./dom.js";
import * as arena from "./arena.js";
import * as bar from "./bar.js";
import * as check from "./check.js";
import * as curves from "./curves.js";
import * as files from "./files.js";
import * as gait from "./gait.js";
import * as keyframe from "./keyframe.js";
import { shortcuts } from "./keys.js";
import * as lights from "./lights.js";
import * as motion from "./motion.js";
import * as pose from "./pose.js";
import * as stage from "./stage.js";
import * as teach from "./teach.js";
import * as timeline from "./timeline.js";
import * as trial from "./trial.js";

const view = document.getElementById("view");
view.src = `/view?websocket=ws://${location.host}/view/socket`;
// Keys that belong to the whole page do so too while the 3-D view has the focus.
view.addEventListener("load", () => view.contentWindow.addEventListener("keydown", (event) => {
  const isOurs = event.ctrlKey || event.metaKey || [" ", "Delete", "Insert", "F6"].includes(event.key);
  if (isOurs && !document.body.dispatchEvent(new KeyboardEvent(event.type, event))) event.preventDefault();
}));
document.body.prepend(skipLinks());
stage.mount(document.getElementById("stage"));
bar.mount(document.getElementById("bar"));
files.mount(document.getElementById("files"));

const side = document.getElementById("side"), bottom = document.getElementById("bottom");
const place = (parent, mode) => parent.appendChild(el("div", { "data-for": mode }));
tabs(place(side, "motion"), "Motion controls", [["Pose", pose], ["Keyframe", keyframe], ["Motion", motion], ["Check", check], ["Teach", teach]]);
tabs(place(bottom, "motion"), "Time", [["Time line", timeline], ["Curves", curves], ["Lights", lights]], timeline.players());
gait.mount(place(side, "gait"), place(bottom, "gait"));
trial.mount(place(side, "trial"), place(bottom, "trial"));
arena.mount(document.getElementById("stage"), place(side, "arena"), place(bottom, "arena"), document.getElementById("files"), document.getElementById("document"));

splitter("side", "Width of the controls", "vertical", (box, at) => box.right - at.clientX, { ArrowLeft: 16, ArrowRight: -16 });
splitter("bottom", "Height of the time line", "horizontal", (box, at) => box.bottom - at.clientY, { ArrowUp: 16, ArrowDown: -16 });

let wasOpen = false;
connect((state) => {
  document.body.dataset.link = state;
  if (state === "closed" && wasOpen) tell("The studio has stopped. This page connects again when it is back.", true);
  if (state === "refused") tell("Another studio runs here now. Open the address that it prints.", true);
  wasOpen = state === "open";
});
on("problem", fail);

// Links to the parts of the page, seen when the keyboard reaches them; F6 and Shift+F6 go from part to part.
function skipLinks() {
  const parts = ["bar", "stage", "side", "bottom"].map((id) => document.getElementById(id));
  for (const part of parts) part.tabIndex = -1;
  const go = (step) => () => {
    const now = parts.findIndex((part) => part.contains(document.activeElement));
    parts.at((now < 0 ? (step > 0 ? 0 : -1) : now + step) % parts.length).focus();
  };
  shortcuts("Everywhere", [["F6", "To the next part of the page", go(1), () => true], ["Shift+F6", "To the part before", go(-1), () => true]]);
  return el("nav", { class: "skip", "aria-label": "Parts of the page" }, ...parts.slice(1).map((part) =>
    el("a", { href: `#${part.id}`, onclick: (event) => { event.preventDefault(); part.focus(); } }, `To: ${part.getAttribute("aria-label")}`)));
}

// An edge that is dragged, or moved by arrow keys; where it is put is remembered, and a double click forgets it.
function splitter(part, label, orientation, sizeAt, steps) {
  const main = document.querySelector("main"), panel = document.getElementById(part), name = `--${part}`, root = document.documentElement;
  const put = (size) => {
    if (size) root.style.setProperty(name, size); else root.style.removeProperty(name);
    if (size) localStorage.setItem(part, size); else localStorage.removeItem(part);
  };
  const size = () => orientation === "vertical" ? panel.offsetWidth : panel.offsetHeight;
  const edge = el("div", { class: "splitter", role: "separator", tabIndex: 0, "aria-label": label, title: `${label}: drag; double click for as it was`, "aria-orientation": orientation, "aria-valuenow": 0,
    onpointerdown: (event) => edge.setPointerCapture(event.pointerId),
    onpointermove: (event) => { if (edge.hasPointerCapture(event.pointerId)) put(`${Math.round(sizeAt(main.getBoundingClientRect(), event))}px`); },
    ondblclick: () => put(null),
    onkeydown: (event) => {
      if (!steps[event.key]) return;
      event.preventDefault();
      put(`${size() + steps[event.key]}px`);
    } });
  put(localStorage.getItem(part));
  panel.before(edge);
  new ResizeObserver(() => edge.setAttribute("aria-valuenow", size())).observe(panel);
}
