// The motion as a whole, the pages of its file, and where they lead.
import { ask, edit, on, value } from "./link.js";
import { button, el, fail, words } from "./dom.js";
import { bindField, numberIn, textIn } from "./fields.js";
import * as graph from "./graph.js";
import * as sound from "./sound.js";

export function mount(root) {
  const set = (what) => edit("set_motion", { page: value("cursor").page, ...what }).catch((error) => { fail(error); show(); });
  const whole = (command) => edit(command, { page: value("cursor").page }).catch(fail);
  const text = (key, props = {}) => el("input", { type: "text", id: `motion-${key}`, ...props });
  const fields = {
    name: text("name"),
    repeat: el("input", { type: "number", id: "motion-repeat", min: 1, step: 1 }),
    forEver: el("input", { type: "checkbox", id: "motion-for-ever", onchange: () => set({ repeat: fields.forEver.checked ? 0 : 1 }) }),
    speed: el("input", { type: "number", id: "motion-speed", min: 0.1, step: 0.1 }),
    start: el("select", { id: "motion-start", onchange: startFrom }),
    next: text("next", { list: "page-names" }),
    exit: text("exit", { list: "page-names" }),
    source: text("source"),
  };
  const showField = Object.fromEntries(["name", "repeat", "speed", "next", "exit", "source"].map((key) =>
    [key, bindField(fields[key], (typed) => set({ [key]: typed }), { parse: fields[key].type === "number" ? numberIn : textIn, owner: () => value("cursor")?.page })]));
  const length = el("span", { class: "faint" }), { file, start } = sound.controls();
  const names = el("datalist", { id: "page-names" });
  const row = (title, key, ...others) => [el("label", { htmlFor: fields[key].id }, title), el("div", { class: "row" }, fields[key], ...others)];
  mountPages(root.appendChild(el("div", { id: "page-part" })));
  root.append(el("h2", {}, "Motion"), el("div", { class: "motion-fields" },
    ...row("Name", "name"),
    ...row("Plays", "repeat", "times", el("label", { class: "row" }, fields.forEver, "for ever")),
    ...row("Speed", "speed", length),
    ...row("Starts from", "start"),
    ...row("Then plays", "next"),
    ...row("When stopped", "exit"),
    ...row("Source", "source"),
    el("label", { htmlFor: file.id }, "Sound"), el("div", { class: "row" }, file, "from", start, "s")),
    el("div", { class: "row", role: "group", "aria-label": "The whole motion" },
      button("Mirror motion", () => whole("mirror_motion"), { id: "motion-mirror", title: "Left and right change places in the whole motion" }),
      button("Reverse motion", () => whole("reverse_motion"), { id: "motion-reverse", title: "From the last pose to the first" })), names);
  for (const key of ["next", "exit"]) fields[key].placeholder = "nothing";
  graph.mount(root.appendChild(el("div")), look);
  on("motion", show);
  on("links", show);
  on("player", (player) => { length.textContent = `one pass takes ${player.duration_s.toFixed(2)} s`; });
  on("pages", (pages) => names.replaceChildren(...(pages.length > 1 ? pages.map(({ number, name }) => el("option", { value: String(number) }, name)) : [])));

  function show() {
    const motion = value("motion"), links = value("links");
    if (!motion || !links) return;
    const poses = value("robot").poses.map((name) => el("option", { value: name }, words(name)));
    fields.start.replaceChildren(el("option", { value: "" }, "any pose"), ...poses);
    if (motion.start && !links.start_pose) fields.start.append(el("option", { value: "?", disabled: true }, "angles of its own"));
    fields.start.value = links.start_pose ?? (motion.start ? "?" : "");
    for (const [key, write] of Object.entries(showField)) write(motion[key]);
    fields.forEver.checked = motion.repeat === null;
    fields.repeat.disabled = motion.repeat === null;
  }
  function startFrom() {
    edit(...(fields.start.value ? ["blend_pose", { page: value("cursor").page, keyframe: -1, named: fields.start.value }] : ["clear_start", { page: value("cursor").page }])).catch(fail);
  }
}

const look = (page) => ask("session.look", { page }).catch(fail);

// The list of pages: a search, and what can be done with them where the file lets it be done.
function mountPages(root) {
  const search = el("input", { type: "search", id: "page-search", placeholder: "Search pages", "aria-label": "Search pages", oninput: fill });
  const list = el("select", { id: "page-list", size: 7, "aria-label": "Pages", onchange: () => look(Number(list.value)) });
  const page = () => value("cursor").page;
  const make = (command, key) => async () => {
    const before = new Set(value("pages").map(({ number }) => number));
    await edit(command, { [key]: page() });
    const made = value("pages").find(({ number }) => !before.has(number));
    if (made) await look(made.number);
  };
  const move = async (to) => { await edit("move_page", { page: page(), to }); await look(to); };
  const to = el("input", { type: "number", id: "page-number", min: 1 });
  const showNumber = bindField(to, (number) => act(() => move(number))());
  const tools = el("div", { class: "row" },
    button("New page", act(make("add_page", "after")), { id: "page-add", title: "A page that begins where this one ends" }),
    button("Duplicate", act(make("duplicate_page", "page")), { id: "page-duplicate" }),
    button("Delete", act(() => edit("delete_page", { page: page() })), { id: "page-delete" }),
    el("label", { class: "row", title: "The page that has the number gets this one's" }, "Page number", to));
  root.append(el("h2", {}, "Pages of the file"), search, list, tools);
  on("pages", fill);
  on("cursor", mark);
  on("links", ({ can_change, last }) => {
    tools.hidden = !can_change;
    root.hidden = !can_change && value("pages").length < 2;
    to.max = last;
  });

  function fill() {
    const wanted = search.value.trim().toLowerCase();
    const found = (value("pages") ?? []).filter(({ number, name }) => `${number} ${name}`.toLowerCase().includes(wanted));
    list.replaceChildren(...found.map(({ number, name }) => el("option", { value: String(number) }, `${number}  ${name}`)));
    mark();
  }
  function mark() {
    const now = value("cursor")?.page;
    list.value = String(now);
    showNumber(now);
  }
  function act(work) { return () => Promise.resolve(work()).catch((error) => { fail(error); mark(); }); }
}
