// The bar at the top: the modes, what is open, undo and redo, light and dark, and the keys.
import { ask, on, value } from "./link.js";
import { button, el, fail, toggle } from "./dom.js";
import { isTaken, shortcuts, showShortcuts } from "./keys.js";

const MODES = [["motion", "Motion"], ["gait", "Gait"], ["trial", "Trial"], ["arena", "Arena"]];

// The 3-D view is told of the theme, at the beginning of each link too.
const paint = () => ask("posing.theme", { dark: document.documentElement.dataset.theme === "dark" }).catch(() => {});

export function mount(root) {
  const name = el("h1", { id: "document-name" }, "Posewright studio"), state = el("span", { id: "file-state" }), page = el("span", { id: "document-page", class: "faint" });
  const undo = button("Undo", () => ask("session.undo").catch(fail), { id: "undo" });
  const redo = button("Redo", () => ask("session.redo").catch(fail), { id: "redo" });
  const modes = el("div", { role: "group", "aria-label": "Mode", class: "modes" },
    ...MODES.map(([mode, text]) => button(text, () => ask("session.choose", { mode }).catch(fail), { id: `mode-${mode}` })));
  root.append(el("img", { src: "icon.svg", alt: "", width: 24, height: 24 }), modes, el("div", { id: "document" }, name, page, state), el("div", { id: "files" }),
    el("div", { class: "row" }, undo, redo), el("div", { class: "row" }, themeSwitch(paint), button("?", showShortcuts, { id: "help", "aria-label": "Keys", title: "Keys (?)" })));
  on("history", (history) => {
    for (const [control, label, what, keys] of [[undo, "Undo", history.undo, "Ctrl+Z"], [redo, "Redo", history.redo, "Ctrl+Shift+Z"]]) {
      control.disabled = what === null;
      control.title = what === null ? `Nothing to ${label.toLowerCase()}` : `${label}: ${what} (${keys})`;
    }
    document.body.dataset.dirty = history.dirty;
  });
  on("motion", (motion) => { name.textContent = name.title = motion.name; document.title = `${motion.name} - Posewright studio`; });
  on("robot", paint);
  const showPage = () => {
    const pages = value("pages") ?? [], now = value("cursor")?.page;
    page.textContent = pages.length > 1 ? `page ${now} (${pages.length} in the file)` : "";
  };
  on("pages", showPage);
  on("cursor", showPage);
  on("mode", (mode) => {
    document.body.dataset.mode = mode;
    for (const one of modes.children) one.setAttribute("aria-pressed", String(one.id === `mode-${mode}`));
  });
  shortcuts("Everywhere", [
    ["Ctrl+Z", "Undo", () => undo.click(), isTaken],
    ["Ctrl+Shift+Z / Ctrl+Y", "Redo", () => redo.click(), isTaken],
    ["?", "Show the keys", showShortcuts],
  ]);
}

// A switch between light and dark, which is remembered; it begins as the computer has it, and `paint` is told of changes.
export function themeSwitch(paint = () => {}) {
  const apply = (isDark) => {
    document.documentElement.dataset.theme = isDark ? "dark" : "light";
    made.setAttribute("aria-pressed", String(isDark));
  };
  const made = toggle("◐", (isDark) => { localStorage.setItem("theme", isDark ? "dark" : "light"); apply(isDark); paint(isDark); }, { id: "theme", "aria-label": "Dark", title: "Light or dark" });
  apply((localStorage.getItem("theme") ?? (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light")) === "dark");
  return made;
}
