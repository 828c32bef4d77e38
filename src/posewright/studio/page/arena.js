// The arena editor: its tools, the selected parts as numbers, the field, the contest's rules, files, and the race.
import { ask, on, value } from "./link.js";
import { button, dialog, el, fail, labelled, options, tell, words } from "./dom.js";
import { bindField, textIn } from "./fields.js";
import { question, withoutField } from "./files.js";
import { isFree, shortcuts } from "./keys.js";
import { mountField, partsOf, TOOLS } from "./arena_field.js";

const ROLES = ["wall", "line", "step", "ring", "furniture", "marker"];
const SNAPS = [[0, "off"], [0.01, "1 cm"], [0.05, "5 cm"], [0.1, "10 cm"], [0.25, "25 cm"]];
const NUDGE_M = 0.01, FAR_NUDGE_M = 0.1, COPY_OFFSET_M = 0.25;
const isArena = () => value("mode") === "arena";
const edit = (command, args = {}) => ask("arena.edit", { command, arguments: args }).catch(fail);

export function mount(stage, side, bottom, files, document_) {
  let selected = new Set(), copied = [];
  const showers = [];
  const select = (parts) => { selected = parts; show(); };
  const root = el("div", { id: "arena-stage", "data-for": "arena" });
  stage.append(root);
  const canvas = el("div", { id: "arena-canvas" });
  const tools = Object.entries(TOOLS).map(([name, { text, key, title }]) => button(text, () => field.chooseTool(name), {
    id: `arena-tool-${name}`, title: `${title} (${key}); double click: stays`, ondblclick: () => field.chooseTool(name, true), "aria-pressed": String(name === "select") }));
  root.append(el("div", { id: "arena-tools", class: "row", role: "toolbar", "aria-label": "Draw" }, ...tools), canvas);
  const field = mountField(canvas, {
    selection: () => selected, onSelect: select,
    onTool: (name) => tools.forEach((one) => one.setAttribute("aria-pressed", String(one.id === `arena-tool-${name}`))),
  });
  const chosen = () => [...selected];
  // One after the other: what is pressed next is meant for what the key before has selected.
  let busy = Promise.resolve();
  const inTurn = (command, args, then = () => {}) => { busy = busy.then(() => edit(command, { parts: chosen(), ...args })).then((added) => added && then(added)); };
  const selectAdded = (added) => { if (added.length) select(new Set(added)); };
  const act = {
    remove: () => inTurn("delete_parts", {}, () => select(new Set())),
    duplicate: (parts = null) => inTurn("copy_parts", { ...(parts ? { parts } : {}), x_m: COPY_OFFSET_M, y_m: 0 }, selectAdded),
    mirror: (axis, copies) => inTurn("mirror_parts", { axis, copies }, selectAdded),
    turn: (angle_deg) => inTurn("turn_parts", { angle_deg }),
    nudge: (x_m, y_m) => inTurn("move_parts", { x_m, y_m }),
  };

  mountFiles(files, document_);
  mountRules(side, (parts) => select(new Set(parts)));
  showers.push(mountParts(side, () => selected, select, act));
  mountFieldNumbers(side);
  mountStatus(bottom, field);
  on("arena", (arena) => {
    if (!arena) return;
    const present = new Set([...arena.boxes, ...arena.shapes].map((part) => part.part));
    selected = new Set(chosen().filter((part) => present.has(part)));
    show();
  });
  on("mode", () => requestAnimationFrame(() => field.draw()));
  function show() {
    field.draw();
    showers.forEach((shower) => shower());
  }

  const when = (event) => isArena() && isFree(event), some = (event) => when(event) && selected.size > 0;
  const step = (x, y) => [() => act.nudge(x * NUDGE_M, y * NUDGE_M), some], leap = (x, y) => [() => act.nudge(x * FAR_NUDGE_M, y * FAR_NUDGE_M), some];
  shortcuts("Arena", [
    ["ArrowLeft", "Move by 1 cm", ...step(-1, 0)], ["ArrowRight", "Move by 1 cm", ...step(1, 0)], ["ArrowUp", "Move by 1 cm", ...step(0, 1)], ["ArrowDown", "Move by 1 cm", ...step(0, -1)],
    ["Shift+ArrowLeft", "Move by 10 cm", ...leap(-1, 0)], ["Shift+ArrowRight", "Move by 10 cm", ...leap(1, 0)], ["Shift+ArrowUp", "Move by 10 cm", ...leap(0, 1)], ["Shift+ArrowDown", "Move by 10 cm", ...leap(0, -1)],
    ["Delete / Backspace", "Delete the selected parts", () => act.remove(), some],
    ["Ctrl+D", "Copy the selected parts", () => act.duplicate(), some],
    ["Ctrl+C", "Remember the selected parts", () => { copied = chosen(); }, some],
    ["Ctrl+V", "Copy the remembered parts", () => act.duplicate(copied), (event) => when(event) && copied.length > 0],
    ["M", "Mirror from left to right", () => act.mirror("along", false), some], ["T", "Turn by 90 degrees", () => act.turn(90), some],
    ["Ctrl+A", "Select all boxes and shapes but the edge walls", () => select(new Set([...value("arena").boxes, ...value("arena").shapes.filter((shape) => !shape.name.startsWith("wall_"))].map((part) => part.part))), when],
    ["Escape", "End a drag; select nothing", () => { if (!field.cancel()) { field.chooseTool("select"); select(new Set()); } }, when],
    ["Ctrl+S", "Save the field", () => withoutField(() => saveNow()), isArena], ["Ctrl+Shift+S", "Save the field under another name", () => withoutField(saveAs), isArena],
    ...Object.entries(TOOLS).map(([name, { key, text }]) => [key.toLowerCase(), `Draw: ${text}`, () => field.chooseTool(name), when]),
  ]);
}

// Files.
function mountFiles(files, about) {
  const name = el("h1", { id: "arena-name" }), state = el("span", { id: "arena-state", class: "faint" });
  about.append(el("div", { id: "arena-document", "data-for": "arena" }, name, state));
  files.append(el("div", { class: "row", "data-for": "arena" },
    button("New", () => go("arena.new", {}), { id: "arena-new" }), button("Open", browse, { id: "arena-open" }),
    button("Save", () => saveNow(), { id: "arena-save", title: "Ctrl+S" }), button("Save as", saveAs, { id: "arena-save-as", title: "Ctrl+Shift+S" })));
  on("arena", (arena) => { if (arena) name.textContent = arena.name; });
  on("arena_file", (file) => {
    state.textContent = `${file.name} · ${file.dirty ? "edited" : file.isNew ? "not saved yet" : "saved"}`;
    state.title = `in ${file.folder}`;
    if (file.failure) tell(file.failure, true);
    notice("arena-changed", file.changed && [el("p", {}, `${file.name} was changed by somebody else.`), el("div", { class: "row" },
      button("Read it again", () => go("arena.open", { name: file.name })), button("Keep mine", () => notice("arena-changed")))]);
  });
  on("arena_drafts", (drafts) => notice("arena-drafts", drafts.length > 0 && el("ul", {}, ...drafts.map(draftRow))));
  addEventListener("beforeunload", (event) => { if (value("arena_file")?.dirty) event.preventDefault(); });
}
function draftRow(draft) {
  if (draft.damage) return el("li", {}, el("p", { class: "wrong" }, draft.damage));
  return el("li", {}, el("p", {}, `There are unsaved edits of ${draft.file}.`), el("div", { class: "row small" },
    button("Recover", () => go("arena.recover", { draft: draft.id }), { class: "main" }),
    button("Discard", async () => {
      const sure = await question(`Discard the unsaved edits of ${draft.file}?`, "They cannot be brought back.", { discard: "Discard" }, true);
      if (sure) ask("arena.discard", { draft: draft.id }).catch(fail);
    })));
}
function notice(name, ...content) {
  const id = `notice-${name}`, shown = content.flat().filter(Boolean);
  document.getElementById(id)?.remove();
  if (shown.length) document.getElementById("messages").append(el("div", { id, class: "notice" }, ...shown));
}
// Ask for something that puts another field in the place of this one.
async function go(action, args) {
  try {
    const answer = await ask(action, args);
    if (!answer?.unsaved) return;
    const made = dialog("There are unsaved edits", el("p", {}, "What is not saved stays in a draft beside its file, and is offered again."), el("div", { class: "row" },
      button("Save, then go on", async () => { made.close(); if (await saveNow()) go(action, args); }, { class: "main" }),
      button("Go on without saving", () => { made.close(); ask(action, { ...args, anyway: true }).catch(fail); }), button("Cancel", () => made.close())));
  } catch (error) { fail(error); }
}
async function saveNow(name = null) {
  const args = name ? { name } : {};
  try {
    let answer = await ask("arena.save", args);
    if (answer.conflict) {
      if (!(await question(answer.conflict, "What stands there would be replaced.", { over: "Replace it" }, true))) return false;
      answer = await ask("arena.save", { ...args, over: true });
    }
    tell(`Saved ${answer.saved}.`);
    return true;
  } catch (error) { fail(error); return false; }
}
function saveAs() {
  const stem = value("arena_file").name.replace(/\.(arena|layout)\.yaml$/, "");
  const name = el("input", { type: "text", id: "arena-save-name", value: `${stem}.arena.yaml`, required: true, autofocus: true });
  const as = (suffix) => () => { name.value = name.value.replace(/\.(arena|layout)\.yaml$/, "") + suffix; };
  const kind = (text, suffix, isChosen) => el("label", { class: "check" }, el("input", { type: "radio", name: "arena-kind", checked: isChosen, onchange: as(suffix) }), text);
  const made = dialog("Save as", el("form", { onsubmit: async (event) => { event.preventDefault(); if (await saveNow(name.value.trim())) made.close(); } },
    kind("the whole field, as an arena", ".arena.yaml", true), kind("its boxes alone, as a layout", ".layout.yaml", false), labelled("File name", name),
    el("div", { class: "row" }, el("button", { class: "main" }, "Save"), button("Cancel", () => made.close()))));
}
async function browse() {
  const found = await ask("arena.choices").catch(fail);
  if (!found) return;
  const open = (name) => { made.close(); go("arena.open", { name }); };
  const list = (title, names) => names.length > 0 && el("section", {}, el("h3", {}, title), el("div", { class: "row" }, ...names.map((name) => button(name, () => open(name)))));
  const made = dialog("Open a field", list("In this folder", found.files), list("Arenas of Posewright", found.arenas), list("Layouts on the obstacle race's field", found.layouts));
}

// The contest's rules, and the race.
function mountRules(root, choose) {
  let isChosen = false; // the contest was chosen here, and the answer is still to come
  const contest = el("select", { id: "arena-contest", onchange: async () => {
    isChosen = true;
    await ask("arena.judge_by", { name: contest.value }).catch(fail);
    isChosen = false;
    show();
  } });
  const verdict = el("p", { id: "arena-verdict", role: "status" }), list = el("ul", { id: "arena-faults", class: "findings" });
  const behaviour = el("select", { id: "arena-behaviour" }), seed = el("input", { type: "number", id: "arena-seed", min: 0, step: 1, placeholder: "0" });
  const race = button("Race it", () => {
    const chosen = { behaviour: behaviour.value || null, seed: seed.value === "" ? null : seed.valueAsNumber };
    ask("arena.race", chosen).catch(fail);
  }, { id: "arena-race", class: "main", title: "Run the contest on this field, as it is drawn, and watch it" });
  const command = el("code", { id: "arena-command" });
  root.append(el("h2", {}, "Rules"), labelled("Contest", contest), verdict, list,
    el("div", { class: "row" }, labelled("Behaviour", behaviour), labelled("Seed", seed)), el("div", { class: "row" }, race), el("p", { class: "faint small-print" }, command));
  on("mode", async (mode) => {
    if (mode !== "arena") return;
    try {
      const found = await ask("arena.choices");
      const present = value("arena_rules")?.contest ?? "", program = behaviour.value;
      contest.replaceChildren(el("option", { value: "" }, "none"), ...options(found.contests, String));
      contest.value = present;
      behaviour.replaceChildren(el("option", { value: "" }, "the contest's own"), ...options(found.behaviours, String));
      behaviour.value = program;
    } catch (error) { fail(error); }
  });
  const show = () => {
    const rules = value("arena_rules"), file = value("arena_file");
    if (!rules) return;
    if (!isChosen) contest.value = rules.contest;
    const count = rules.faults.length, stops = rules.faults.filter((fault) => fault.prevents_run).length;
    verdict.textContent = count === 0 ? (rules.contest ? `Everything follows the rules: ${rules.title}.` : "No part is in another.")
      : `${count} ${count === 1 ? "thing breaks" : "things break"} the rules${rules.contest ? ` of ${rules.contest}` : ""}${stops && rules.contest ? "; it cannot be held here" : ""}.`;
    verdict.dataset.state = stops ? "wrong" : count ? "warn" : "good";
    list.replaceChildren(...rules.faults.map((fault) => el("li", { class: fault.prevents_run ? "error" : "warning" },
      button("", () => choose(fault.parts), { class: "finding", title: fault.parts.length ? "Select what is at fault" : "" }))));
    [...list.querySelectorAll(".finding")].forEach((one, place) => {
      const { message, hint } = rules.faults[place];
      one.append(el("strong", {}, message), hint ? el("span", { class: "faint" }, ` (${hint})`) : "");
    });
    race.disabled = !rules.contest || stops > 0;
    command.textContent = rules.contest && file && !file.isNew ? `posewright run ${rules.contest} ${file.isLayout ? "--layout" : "--arena"} ${file.name}` : "";
  };
  on("arena_rules", show);
  on("arena_file", show);
}

// The parts as a list, and what is selected as numbers.
function mountParts(root, selection, select, act) {
  const list = el("select", { id: "arena-parts", multiple: true, size: 6, "aria-label": "Parts of the field", onchange: () => select(new Set([...list.selectedOptions].map((one) => one.value))) });
  const title = el("h2", {}, "Parts"), fields = el("div", { id: "arena-part", class: "arena-fields" });
  const tool = (text, work, title_, id) => button(text, work, { title: title_, id });
  const tools = el("div", { class: "row small", id: "arena-part-tools" },
    tool("Copy", () => act.duplicate(), "Copy (Ctrl+D)", "arena-copy"), tool("Turn 90°", () => act.turn(90), "Turn to the left (T)", "arena-turn"),
    tool("Mirror", () => act.mirror("along", false), "Mirror from left to right (M)", "arena-mirror"), tool("Mirrored copy", () => act.mirror("along", true), "Add a copy on the other side of the middle line", "arena-mirror-copy"),
    tool("Mirror lengthways", () => act.mirror("across", false), "Mirror from start to end", "arena-mirror-across"), tool("Delete", () => act.remove(), "Delete (Del)", "arena-delete"));
  root.append(title, list, tools, fields);
  let shown = "", showPart = () => {};
  return () => {
    const arena = value("arena"), chosen = selection();
    if (!arena) return;
    const all = [...arena.boxes.map((box) => [box.part, `box ${box.number}`]), ...arena.shapes.map((shape) => [shape.part, shape.name])];
    list.replaceChildren(...all.map(([part, text]) => el("option", { value: part, selected: chosen.has(part) }, text)));
    for (const one of tools.children) one.disabled = chosen.size === 0;
    const parts = partsOf(arena, chosen);
    const key = parts.map((part) => part.part + (part.is_round ? "o" : "") + part.role).join() + Object.keys(arena.kinds).join();
    if (key !== shown) {
      shown = key;
      const made = parts.length !== 1 ? [] : parts[0].role ? shapeFields(parts[0]) : boxFields(parts[0], arena);
      showPart = (part) => made.forEach((field) => field.show(part));
      fields.replaceChildren(...(made.length ? made.map((field) => field.row)
        : [el("p", { class: "faint" }, parts.length ? `${parts.length} parts are selected.` : "Nothing is selected. Choose a tool, and draw.")]));
    }
    if (parts.length === 1) showPart(parts[0]);
  };
}
const shownNumber = (number) => String(Number(number.toFixed(4)));
const NUMBER_TOLERANCE = 0.00006; // numbers are shown with four decimals

// Fields: each has a `row` for the page, and a function `show` for a new value of what `read` takes its value from.
function numberField(text, read, send, limits = {}) {
  const input = el("input", { type: "number", step: "any", ...limits, "aria-label": text });
  const show = bindField(input, send, { format: shownNumber, tolerance: () => NUMBER_TOLERANCE });
  return { row: labelled(text, input), show: (source) => show(read(source)) };
}
function textField(text, read, send, props = {}) {
  const input = el("input", { type: "text", "aria-label": text, ...props });
  const show = bindField(input, send, { parse: textIn });
  return { row: labelled(text, input), show: (source) => show(read(source)) };
}
function choiceField(text, names, read, send) {
  const select = el("select", { "aria-label": text, onchange: () => send(select.value) }, ...options(names, String));
  return { row: labelled(text, select), show: (source) => { select.value = read(source); } };
}
function boxFields(box, arena) {
  const set = (args) => edit("set_box", { number: box.number, ...args });
  return [numberField("x [m]", (now) => now.x, (x) => set({ x })), numberField("y [m]", (now) => now.y, (y) => set({ y })),
    numberField("turn [deg]", (now) => now.yaw_deg, (yaw_deg) => set({ yaw_deg })),
    choiceField("kind", Object.keys(arena.kinds), (now) => now.kind, (kind) => set({ kind }))];
}
function shapeFields(shape) {
  const set = (args) => edit("set_shape", { name: shape.name, ...args });
  const now = () => value("arena").shapes.find((one) => one.part === shape.part) ?? shape;
  const size = (place) => (length) => { const size_m = [...now().size_m]; size_m[place] = length; if (shape.is_round && place === 0) size_m[1] = length; return set({ size_m }); };
  const sizeField = (text, place, limits) => numberField(text, (one) => one.size_m[place], size(place), limits);
  const setRole = (role) => set({ role, ...(role !== "line" && now().size_m[2] < 0.001 ? { size_m: [now().size_m[0], now().size_m[1], 0.1] } : {}) });
  return [textField("name", (one) => one.name, (new_name) => set({ new_name: new_name.trim() })),
    choiceField("role", ROLES, (one) => one.role, setRole), numberField("x [m]", (one) => one.x, (x) => set({ x })), numberField("y [m]", (one) => one.y, (y) => set({ y })),
    ...(shape.is_round ? [sizeField("across [m]", 0, { min: 0.001 })]
      : [sizeField("long (its x) [m]", 0, { min: 0.001 }), sizeField("wide (its y) [m]", 1, { min: 0.001 }), numberField("turn [deg]", (one) => one.yaw_deg, (yaw_deg) => set({ yaw_deg }))]),
    sizeField("high [m]", 2, { min: 0 }), numberField("underside at [m]", (one) => one.base_m, (base_m) => set({ base_m }), { min: 0 }),
    ...(shape.role === "marker" ? [textField("text of the code", (one) => one.text, (text) => set({ text }))] : []), shapeColourField(shape.name)];
}
function shapeColourField(name) {
  const colour = el("input", { type: "color", "aria-label": "colour", onchange: () => edit("set_colour", { name, colour: rgb(colour.value) }) });
  const plain = button("as its role", () => edit("set_colour", { name, colour: null }), { class: "quiet" });
  return { row: labelled("colour", el("span", { class: "row" }, colour, plain)), show: (shape) => { colour.value = shape.colour; plain.disabled = !shape.has_own_colour; } };
}
const rgb = (hex) => [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16));

// The field itself: size, limits, kinds of boxes, colours.
function mountFieldNumbers(root) {
  const size = el("div", { class: "arena-fields" }), kinds = el("div", {}), colours = el("div", { class: "arena-fields" });
  root.append(el("details", { id: "arena-field-numbers", open: true }, el("summary", {}, "Field"), size),
    el("details", { id: "arena-kinds" }, el("summary", {}, "Boxes: kinds and layouts"), kinds), el("details", { id: "arena-colours" }, el("summary", {}, "Colours"), colours));
  const ofField = sizeFields(), shownKinds = el("div", {});
  size.append(...ofField.map((field) => field.row));
  kinds.append(shownKinds, ...kindTools());
  let kindNames = "", colourNames = "", ofKinds = [], ofColours = [];
  on("arena", (arena) => {
    if (!arena) return;
    if (kindNames !== Object.keys(arena.kinds).join()) {
      kindNames = Object.keys(arena.kinds).join();
      ofKinds = Object.keys(arena.kinds).map(kindFields);
      shownKinds.replaceChildren(...ofKinds.map(({ row }) => row));
    }
    const names = Object.keys(arena.colours).filter((name) => ["floor", "box", ...ROLES].includes(name));
    if (colourNames !== names.join()) {
      colourNames = names.join();
      ofColours = names.map(colourField);
      colours.replaceChildren(...ofColours.map(({ row }) => row));
    }
    for (const field of [...ofField, ...ofKinds, ...ofColours]) field.show(arena);
  });
}
function sizeFields() {
  const set = (args) => edit("set_field", args), now = () => value("arena");
  const wallHeight = (arena) => arena.shapes.find((shape) => shape.name.startsWith("wall_"))?.size_m[2] ?? 0;
  return [textField("name", (arena) => arena.name, (name) => set({ name }), { id: "arena-field-name" }),
    numberField("length, x [m]", (arena) => arena.size_m[0], (long) => set({ size_m: [long, now().size_m[1]] }), { min: 0.1 }),
    numberField("width, y [m]", (arena) => arena.size_m[1], (wide) => set({ size_m: [now().size_m[0], wide] }), { min: 0.1 }),
    numberField("walls, high [m]", wallHeight, (wall_height_m) => set({ wall_height_m }), { min: 0 }),
    numberField("friction", (arena) => arena.friction, (friction) => set({ friction }), { min: 0 }),
    numberField("most boxes (0: the contest's)", (arena) => arena.max_boxes, (max_boxes) => set({ max_boxes: Math.round(max_boxes) }), { min: 0, step: 1 }),
    numberField("least gap [m] (0: the contest's)", (arena) => arena.gap_m, (gap_m) => set({ gap_m }), { min: 0 })];
}
function kindFields(name) {
  const now = () => value("arena").kinds[name], set = (args) => edit("set_box_kind", { name, ...now(), ...args });
  const size = (place) => (length) => { const size_m = [...now().size_m]; size_m[place] = length; return set({ size_m }); };
  const fields = [...["long", "wide", "high"].map((text, place) => numberField(`${text} [m]`, (arena) => arena.kinds[name].size_m[place], size(place), { min: 0.001 })),
    numberField("mass [kg]", (arena) => arena.kinds[name].mass_kg, (mass_kg) => set({ mass_kg }), { min: 0.001 }),
    numberField("friction", (arena) => arena.kinds[name].friction, (friction) => set({ friction }), { min: 0 })];
  return { row: el("fieldset", { class: "arena-fields" }, el("legend", {}, name), ...fields.map((field) => field.row)), show: (arena) => fields.forEach((field) => field.show(arena)) };
}
function kindTools() {
  const name = el("input", { type: "text", placeholder: "post", "aria-label": "Name of a new kind" });
  const add = button("Add a kind", () => edit("set_box_kind", { name: name.value, size_m: [0.1, 0.1, 0.5] }));
  const seed = el("input", { type: "number", min: 0, step: 1, value: 1, class: "short", "aria-label": "Seed of random boxes" });
  const random = button("Random boxes", () => { ask("arena.place_layout", { name: "random", seed: seed.valueAsNumber || 0 }).then(() => { seed.value = (seed.valueAsNumber || 0) + 1; }).catch(fail); }, { id: "arena-random" });
  return [el("div", { class: "row" }, name, add), el("div", { class: "row" }, random, seed)];
}
function colourField(name) {
  const input = el("input", { type: "color", "aria-label": `Colour: ${name}`, onchange: () => edit("set_colour", { name, colour: rgb(input.value) }) });
  return { row: labelled(words(name), input), show: (arena) => { input.value = arena.colours[name]; } };
}

function mountStatus(root, field) {
  const snap = el("select", { id: "arena-snap", onchange: () => field.setSnap(Number(snap.value)) }, ...SNAPS.map(([step_m, text]) => el("option", { value: step_m, selected: step_m === 0.05 }, text)));
  root.append(el("div", { class: "row", id: "arena-status" }, labelled("Snap", snap), button("Whole field", () => field.fit(), { id: "arena-fit" }), field.place,
    el("span", { class: "grow" }), el("span", { class: "faint" }, "Alt: no snapping. Shift: several. Wheel: zoom. Right button: shift the view.")));
}
