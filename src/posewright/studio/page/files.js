// Files: new, open, save, export; a file that is dropped; what was not saved and what somebody else changed.
import { ask, isStale, on, value } from "./link.js";
import { button, dialog, el, fail, options, tell, words } from "./dom.js";
import { shortcuts } from "./keys.js";

const LARGEST_MB = 16;

export function mount(root) {
  const state = document.getElementById("file-state");
  root.append(
    button("New", begin, { id: "file-new" }), button("Open", () => browse(), { id: "file-open", title: "Ctrl+O" }),
    el("div", { class: "row", "data-for": "motion" },
      button("Save", () => save(), { id: "file-save", title: "Ctrl+S" }), button("Save as", saveAs, { id: "file-save-as", title: "Ctrl+Shift+S" }),
      button("Export", exportMotion, { id: "file-export" })));
  on("file", (file) => { showState(state); notes(file); });
  on("history", () => showState(state));
  on("drafts", (drafts) => notice("drafts", drafts.length > 0 && el("ul", {}, ...drafts.map(draftRow))));
  const isMotion = () => value("mode") === "motion";
  shortcuts("Files", [
    ["Ctrl+O", "Open", () => withoutField(browse), () => true],
    ["Ctrl+S", "Save", () => withoutField(() => save()), isMotion],
    ["Ctrl+Shift+S", "Save under another name", () => withoutField(saveAs), isMotion],
  ]);
  addEventListener("beforeunload", (event) => { if (value("history")?.dirty && !isStale) event.preventDefault(); });
  takeDrops(window);
  const view = document.getElementById("view");
  view.addEventListener("load", () => takeDrops(view.contentWindow));
}

// A number that is being written counts, and has the focus again afterwards.
export function withoutField(work) {
  const field = document.activeElement;
  if (document.querySelector("dialog[open]")) return;
  field.blur();
  field.focus();
  work();
}

function showState(state) {
  const file = value("file"), history = value("history");
  if (!file || !history) return;
  state.replaceChildren(el("span", { class: "cut" }, file.name), el("span", {}, history.dirty ? " · edited" : file.isNew ? " · not saved yet" : " · saved"));
  state.title = `${file.name} in ${file.folder}`;
}

let said = "";
let stickShown = false;
function notes(file) {
  const texts = [file.assumed && `Assumed: ${file.assumed}.`, ...file.notes.slice(0, 3)].filter(Boolean);
  if (texts.length && said !== file.name) texts.forEach((text) => tell(text));
  said = file.name;
  notice("failure", file.failure && el("p", {}, file.failure));
  notice("changed", file.changed && [el("p", {}, `${file.name} was changed by somebody else.`), el("div", { class: "row" },
    button("Read it again", () => go("files.open", { file: file.name })), button("Keep mine", () => notice("changed")))]);
  if (file.isStick && !stickShown) { stickShown = true; browse(); }
}

// A box that stays among the messages until it is replaced; without content it goes away.
function notice(name, ...content) {
  const id = `notice-${name}`, shown = content.flat().filter(Boolean);
  document.getElementById(id)?.remove();
  if (shown.length) document.getElementById("messages").append(el("div", { id, class: "notice" }, ...shown));
}

function draftRow(draft) {
  if (draft.damage) return el("li", {}, el("p", { class: "wrong" }, draft.damage), button("Close", (event) => event.target.parentElement.remove(), { class: "small" }));
  const when = draft.when ? ` of ${new Date(draft.when).toLocaleString()}` : "";
  return el("li", {}, el("p", {}, `There are unsaved edits of ${draft.file}${when}.`), el("div", { class: "row small" },
    button("Recover", () => go("files.recover", { draft: draft.id }), { class: "main" }),
    button("Discard", async () => {
      const sure = await question(`Discard the unsaved edits of ${draft.file}?`, "They cannot be brought back.", { discard: "Discard" }, true);
      if (sure) ask("files.discard", { draft: draft.id }).catch(fail);
    })));
}

// Ask a person; answers with the key of what was chosen, or "" for nothing. What destroys something is not what Enter presses.
export function question(title, text, choices, isDestructive = false) {
  return new Promise((answer) => {
    const lines = [].concat(text).map((line) => el("li", {}, line));
    const made = dialog(title, lines.length > 1 ? el("ul", {}, ...lines) : el("p", {}, ...[].concat(text)), el("div", { class: "row" },
      ...Object.entries(choices).map(([key, label], place) => button(label, () => made.close(key), { class: place || isDestructive ? "" : "main" })),
      button("Cancel", () => made.close(""), { autofocus: isDestructive, class: isDestructive ? "main" : "" })));
    made.addEventListener("close", () => answer(made.returnValue));
  });
}

// Ask for something that puts another document in the place of this one.
async function go(action, args) {
  try {
    let told = await ask(action, args);
    if (told?.unsaved) {
      const choice = await question("There are unsaved edits", "What is not saved stays in a draft beside its file, and is offered again.",
        { save: "Save, then go on", anyway: "Go on without saving" });
      if (!choice || (choice === "save" && !(await save()))) return false;
      told = await ask(action, { ...args, anyway: true });
    }
    if (told?.changed) tell("The file itself has changed since these edits were made.");
    return true;
  } catch (error) {
    fail(error);
    return false;
  }
}

async function save(name) {
  const args = name ? { name } : {};
  try {
    for (;;) {
      const told = await ask("files.save", args);
      if (told.saved) {
        tell(`Saved ${told.saved}.`);
        return true;
      }
      if (!(await mayGoOn(told, args, "Save"))) return false;
      if (args.as) { saveAs(); return false; }
    }
  } catch (error) {
    fail(error);
    return false;
  }
}

// Tell what stands in the way of writing, and note in `args` what a person says to it.
async function mayGoOn(told, args, verb) {
  if (told.conflict) {
    const choice = await question(told.conflict, "What stands there would be replaced.", { over: "Replace it", ...(verb === "Save" ? { as: "Save under another name" } : {}) }, true);
    if (choice) args[choice] = true;
    return Boolean(choice);
  }
  if (told.faults) {
    const choice = await question(`${verb}: this could harm the robot`, told.faults, { accept: `${verb} it all the same` }, true);
    args.accept_faults = choice === "accept";
    return args.accept_faults;
  }
  const choice = await question(`${verb}: this would be lost`, told.losses, { accept: `${verb} without it` }, true);
  args.accept_loss = choice === "accept";
  return args.accept_loss;
}

function saveAs() {
  const name = field("File name", el("input", { type: "text", value: value("file").name, required: true, autofocus: true }));
  form("Save as", "Save", [name.row], async () => save(name.input.value.trim()));
}

async function begin() {
  const robots = await ask("files.robots").catch(fail);
  if (!robots) return;
  const name = field("Name", el("input", { type: "text", value: "untitled", required: true, autofocus: true }));
  const which = field("Robot", el("select", {}, ...robots.map((robot) => el("option", { value: robot.name, selected: robot.name === value("robot").name }, robot.title || robot.name))));
  const pose = field("Begins in the pose", el("select", {}));
  const fill = () => pose.input.replaceChildren(...robots.find((robot) => robot.name === which.input.value).poses.map((one) => el("option", { value: one, selected: one === "stand" }, words(one))));
  which.input.addEventListener("change", fill);
  fill();
  form("New motion", "Begin", [name.row, which.row, pose.row], () =>
    go("files.new", { name: name.input.value, robot: which.input.value, ...(pose.input.value ? { pose: pose.input.value } : {}) }));
}

async function exportMotion() {
  const formats = await ask("files.formats").catch(fail);
  if (!formats) return;
  const format = field("Format", el("select", { autofocus: true }, ...formats.map((one) => el("option", { value: one.name }, `${one.title} (${one.suffix})`))));
  const name = field("File name", el("input", { type: "text", required: true }));
  const told = el("div", { class: "losses", role: "status" });
  let losses = [], latest = 0;
  const chosen = () => ({ file: name.input.value.trim(), format: format.input.value });
  // Nothing can be exported before it is shown what would be lost.
  async function look() {
    const mine = ++latest, main = made.querySelector("button.main");
    main.disabled = true;
    told.replaceChildren(el("p", {}, "Looking …"));
    const [preview, error] = await ask("files.preview", chosen()).then((found) => [found], (error) => [null, error]);
    if (mine !== latest) return;
    losses = preview?.losses ?? [];
    const faults = preview?.faults ?? [];
    const lines = error ? [el("p", { class: "wrong" }, `${error.message} ${error.hint ?? ""}`)]
      : [losses.length ? el("h3", {}, "This would be lost") : el("p", {}, "Nothing is lost."), list(losses, "wrong"),
        faults.length > 0 && el("h3", {}, "This could harm the robot"), list(faults, "wrong"),
        preview.remarks.length > 0 && el("h3", {}, "Worth knowing"), list(preview.remarks, ""), preview.exists && el("p", {}, "A file of this name is there; it would be replaced.")];
    told.replaceChildren(...lines.filter(Boolean));
    main.textContent = losses.length ? "Export without that" : "Export";
    main.disabled = Boolean(error);
  }
  const made = form("Export the motion", "Export", [format.row, name.row, told], async () => {
    const args = { ...chosen(), accept_loss: losses.length > 0 }; // faults are asked about once more
    for (;;) {
      const done = await ask("files.export", args).catch(fail);
      if (done?.saved) { tell(`Exported to ${done.saved}.`); return true; }
      if (!done || !(await mayGoOn(done, args, "Export"))) return false;
    }
  });
  const choose = () => { name.input.value = formats.find((one) => one.name === format.input.value).file; look(); };
  format.input.addEventListener("change", choose);
  name.input.addEventListener("change", look);
  choose();
}

const list = (texts, kind) => texts.length > 0 && el("ul", { class: kind }, ...texts.map((text) => el("li", {}, text)));

function field(text, input) {
  return { input, row: el("label", { class: "form-row" }, el("span", {}, text), input) };
}

// A dialog that is left by a button, once `done` has said yes.
function form(title, verb, content, done) {
  const made = dialog(title, el("form", { onsubmit: async (event) => {
    event.preventDefault();
    made.inert = true;
    const isDone = await done();
    made.inert = false;
    if (isDone) made.close();
  } }, ...content, el("div", { class: "row" }, el("button", { class: "main" }, verb), button("Cancel", () => made.close()))));
  return made;
}

async function browse() {
  const search = el("input", { type: "search", placeholder: "Find by name", "aria-label": "Find by name", autofocus: true });
  const whose = el("select", { class: "whose", "aria-label": "Whose it is, where the file does not say" }, el("option", { value: "" }, "Robot: as the file says"));
  const chooser = el("input", { type: "file", hidden: true, onchange: () => { made.close(); drop(chooser.files); } });
  const grid = el("div", { class: "cards" }, el("p", {}, "Looking …")), shippedGrid = el("div", { class: "cards" });
  const shipped = el("details", { class: "shipped" }, el("summary", {}, "Shipped motions"), shippedGrid);
  const made = dialog("Open", el("div", { class: "row" }, search, whose, button("From this computer …", () => chooser.click()), button("New motion …", () => { made.close(); begin(); }), chooser), grid, shipped);
  try {
    const [own, others, robots] = await Promise.all([ask("files.folder"), ask("files.shipped"), ask("files.robots")]);
    const found = [...own, ...others];
    whose.append(...robots.map((robot) => el("option", { value: robot.name }, robot.title || robot.name)));
    const cards = found.map((one) => card(one, () => {
      made.close();
      if (one.kind === "arena") ask("arena.open", { name: one.file }).then((answer) => { if (answer.unsaved) tell("The field that is open has unsaved edits: save it in the mode Arena first.", true); }).catch(fail);
      else if (one.kind === "gait") ask("session.choose", { mode: "gait" }).then(() => ask("gait.open", { gait: one.file })).catch(fail);
      else if (one.kind === "shipped") go("files.open_shipped", { name: one.file, ...(whose.value ? { robot: whose.value } : {}) });
      else go("files.open", { file: one.file, ...(one.page ? { page: one.page } : {}), ...(whose.value ? { robot: whose.value } : {}) });
    }));
    const ownCards = cards.slice(0, own.length);
    grid.replaceChildren(...ownCards);
    shippedGrid.replaceChildren(...cards.slice(own.length));
    if (!own.length) grid.replaceChildren(el("p", {}, `There is nothing to open in ${value("file").folder}. Begin a motion, or open a copy of a shipped one.`));
    shipped.open = !own.length;
    search.addEventListener("input", () => {
      cards.forEach((made) => { made.hidden = !made.textContent.toLowerCase().includes(search.value.toLowerCase()); });
      shipped.open = ownCards.every((made) => made.hidden);
    });
    draw(made, cards, found);
  } catch (error) { made.close(); fail(error); }
}

const card = (one, open) => el("button", { type: "button", class: "card", onclick: open }, el("span", { class: "picture", "data-kind": one.kind }), el("strong", {}, one.title), el("span", { class: "faint" }, one.detail));

// Draw the pictures of the cards that are seen, one after the other.
function draw(made, cards, found) {
  const wanted = [], observer = new IntersectionObserver((entries) => {
    for (const { target, isIntersecting } of entries) {
      const place = cards.indexOf(target);
      if (isIntersecting && ["motion", "stick", "shipped"].includes(found[place].kind) && !wanted.includes(place)) { wanted.push(place); next(); }
    }
  }, { root: made });
  cards.forEach((one) => observer.observe(one));
  let drawn = 0, isBusy = false;
  async function next() {
    if (isBusy || drawn === wanted.length || !made.open) return;
    isBusy = true;
    const place = wanted[drawn++], { file, page, kind } = found[place];
    const box = cards[place].querySelector(".picture");
    try {
      box.append(el("img", { src: await ask("files.picture", { file, shipped: kind === "shipped", ...(page ? { page } : {}) }), alt: "" }));
    } catch (error) { box.append(el("span", { class: "wrong" }, error.message)); }
    isBusy = false;
    next();
  }
}

function takeDrops(target) {
  target.addEventListener("dragover", (event) => event.preventDefault());
  target.addEventListener("drop", (event) => {
    event.preventDefault();
    if (event.dataTransfer?.files.length) drop(event.dataTransfer.files);
  });
}

async function drop([file, ...others]) {
  if (!file) return;
  if (others.length) tell(`One file at a time: ${file.name} is opened.`);
  if (file.size > LARGEST_MB * 1e6) {
    tell(`${file.name} has ${(file.size / 1e6).toFixed(0)} MB; no motion file has more than ${LARGEST_MB}. Put a recording into the folder, and open it there.`, true);
    return;
  }
  const reader = new FileReader();
  reader.onerror = () => tell(`${file.name} cannot be read.`, true);
  reader.onload = () => go("files.drop", { name: file.name, data: reader.result.slice(reader.result.indexOf(",") + 1) });
  reader.readAsDataURL(file);
}
