// The keys of the page. Each part gives the rows of its keys to `shortcuts`; the dialog of "?" lists the same rows.
import { dialog, el } from "./dom.js";

const groups = new Map();
let written = null; // the field in which something was typed and not yet taken
addEventListener("input", ({ target }) => { written = target; }, true);
for (const end of ["change", "focusout"]) addEventListener(end, () => { written = null; }, true);
addEventListener("keydown", ({ key, target }) => { if (["Enter", "Escape"].includes(key) && target.matches?.("input")) written = null; }, true);

// Whether somebody writes: plain keys belong to the field then, and also to a list that is chosen from.
export const isWriting = ({ target, ctrlKey, metaKey }) => target.matches?.(
  `input:not([type=range], [type=checkbox], [type=color]), textarea, [contenteditable]${ctrlKey || metaKey ? "" : ", select"}`);
const isAlone = () => !document.querySelector("dialog[open]");
export const isFree = (event) => !isWriting(event) && isAlone();
// For keys with Ctrl that mean something else in a field: they are the page's once what was typed there has been taken.
export const isTaken = ({ target }) => written !== target && isAlone();
// Space presses what has the focus, if that can be pressed.
export const isIdle = (event) => isFree(event) && !event.target.closest?.("button, summary, a, input:not([type=range]), [role=tab]");

// Let keys do something: rows of keys ("Ctrl+S / F2"), words, work, and when it may be done; a row without work is
// listed only. Work that answers false has not been done. Keys of a part count while it has the focus.
export function shortcuts(group, rows, part = window) {
  const known = groups.get(group) ?? [];
  groups.set(group, [...known, ...rows.filter(([keys]) => !known.some(([others]) => others === keys))]);
  part.addEventListener("keydown", (event) => {
    if (event.defaultPrevented) return;
    const pressed = nameOf(event);
    const row = rows.find(([keys, , work, isMeant = isFree]) => work && keys.split(" / ").includes(pressed) && isMeant(event));
    if (row && row[2](event) !== false) event.preventDefault();
  });
}

function nameOf({ key = "", ctrlKey, metaKey, altKey, shiftKey }) {
  const isControl = ctrlKey || metaKey, name = key === " " ? "Space" : isControl && key.length === 1 ? key.toUpperCase() : key;
  return [isControl && "Ctrl", altKey && "Alt", shiftKey && (isControl || key.length !== 1) && "Shift", name].filter(Boolean).join("+");
}

const SIGNS = { ArrowLeft: "←", ArrowRight: "→", ArrowUp: "↑", ArrowDown: "↓" };
const shown = (keys) => keys.split(" / ").flatMap((one, place) => [place ? " or " : "", el("kbd", {}, one.replace(/Arrow\w+/, (arrow) => SIGNS[arrow]))]);

export function showShortcuts() {
  dialog("Keys", el("div", { class: "keys" }, ...[...groups].map(([group, rows]) => el("section", {}, el("h3", {}, group),
    el("dl", {}, ...rows.flatMap(([keys, words]) => [el("dt", {}, ...shown(keys)), el("dd", {}, words)]))))));
}
