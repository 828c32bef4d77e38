// Small things that every part of the page is made of.
export function el(tag, props = {}, ...children) {
  const made = document.createElement(tag);
  for (const [key, value] of Object.entries(props)) {
    if (value === undefined || value === null || value === false) continue;
    if (key.startsWith("on")) made.addEventListener(key.slice(2), value);
    else if (key === "class") made.className = value;
    else if (key in made && !key.includes("-") && key !== "list" && key !== "role") made[key] = value;
    else made.setAttribute(key, value === true ? "" : value);
  }
  made.append(...children.filter((child) => child !== null && child !== undefined && child !== false));
  return made;
}

export const button = (text, onclick, props = {}) => el("button", { type: "button", onclick, ...props }, text);

// Something of a drawing.
export function svg(tag, props = {}, ...children) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [key, value] of Object.entries(props)) {
    if (key.startsWith("on")) made.addEventListener(key.slice(2), value);
    else if (value !== undefined && value !== null && value !== false) made.setAttribute(key, value);
  }
  made.append(...children);
  return made;
}

// A field below what it is called, and the choices of a list.
export const labelled = (text, control, props = {}) => el("label", { class: "field", ...props }, el("span", {}, text), control);
export const checkbox = (text, onchange, props = {}, title = null) => {
  const box = el("input", { type: "checkbox", onchange: () => onchange?.(box.checked), ...props });
  return { box, label: el("label", { class: "check", title }, box, text) };
};
export const options = (names, text = words) => names.map((name) => el("option", { value: name }, text(name)));

// A button that is in or out; `turn` is asked for the other.
export function toggle(text, turn, props = {}) {
  const made = button(text, () => turn(made.getAttribute("aria-pressed") !== "true"), { "aria-pressed": "false", ...props });
  return made;
}

// A dialog with a title and a way out; it is removed when it closes.
export function dialog(title, ...content) {
  const close = button("✕", () => made.close(), { class: "quiet", "aria-label": "Close" });
  const made = el("dialog", { "aria-label": title, onclose: () => made.remove() }, el("div", { class: "head" }, el("h2", {}, title), close), ...content);
  document.body.append(made);
  made.showModal();
  if (!made.querySelector("[autofocus]")) made.querySelector("form input, form select, button.main")?.focus();
  return made;
}

const MOST_MESSAGES = 4;
// Tell the person something, once; what is wrong stays until it is closed.
export function tell(text, isWrong = false) {
  const messages = document.getElementById("messages"), told = [...messages.querySelectorAll(":scope > [data-text]")];
  told.find((one) => one.dataset.text === text)?.remove();
  if (told.length >= MOST_MESSAGES) told[0].remove();
  const box = el("div", { class: isWrong ? "message wrong" : "message", "data-text": text }, el("span", {}, text), button("✕", () => box.remove(), { class: "quiet", "aria-label": "Close message" }));
  messages.append(box);
  if (!isWrong) setTimeout(() => box.remove(), 5000);
}

export const fail = (error) => tell(error.hint ? `${error.message} (${error.hint})` : error.message, true);

export const seconds = (value) => `${Number(value.toFixed(3))} s`;
export const words = (name) => name.replaceAll("_", " ");

let tabLists = 0;
// A row of tabs, each with the part that mounts itself below it, and controls beside them; arrow keys go from tab to tab.
export function tabs(root, label, parts, beside = []) {
  const list = el("div", { role: "tablist", "aria-label": label, class: "tab-list" }), own = ++tabLists;
  root.append(el("div", { class: "tabs" }, list, ...beside));
  const made = parts.map(([text, part], place) => {
    const id = `tab-${own}-${place}`;
    const tab = el("button", { type: "button", role: "tab", id, "aria-controls": `${id}-panel`, onclick: () => choose(place) }, text);
    const panel = el("div", { role: "tabpanel", id: `${id}-panel`, "aria-labelledby": id });
    list.append(tab);
    root.append(panel);
    part.mount(panel);
    return { tab, panel };
  });
  list.addEventListener("keydown", (event) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key], shown = made.filter(({ tab }) => !tab.hidden);
    if (!step) return;
    const next = shown.at((shown.findIndex(({ tab }) => tab === document.activeElement) + step) % shown.length).tab;
    next.click();
    next.focus();
  });
  function choose(chosen) {
    made.forEach(({ tab, panel }, place) => {
      tab.setAttribute("aria-selected", String(place === chosen));
      tab.tabIndex = place === chosen ? 0 : -1;
      panel.hidden = place !== chosen;
    });
  }
  choose(0);
}
