// The field of the arena editor, drawn to scale: parts are placed, dragged, turned and resized by the mouse.
import { ask, latest, newGesture, on, value } from "./link.js";
import { el, fail, svg } from "./dom.js";

const MARGIN_PX = 46, MIN_EDGE_M = 0.01, HANDLE_PX = 9, CLICK_PX = 4, THIN_PX = 24, TURN_STEP_DEG = 5, LINE_WIDTH_M = 0.02, WALL_THICKNESS_M = 0.02;
const HANDLES = [[1, 1], [1, 0], [1, -1], [0, -1], [-1, -1], [-1, 0], [-1, 1], [0, 1]];
const LAYERS = { line: 0, ring: 1, step: 2, furniture: 3, wall: 4, marker: 5 };
const EDGE_WALLS = new Set(["wall_start", "wall_end", "wall_left", "wall_right"]);

// How each tool draws: `long` from one end to the other, `area` from corner to corner, `disc` from the middle, `point` at a click.
export const TOOLS = {
  select: { text: "Select", key: "V", title: "Click a part; drag to move; drag beside the parts to mark several" },
  wall: { text: "Wall", key: "W", form: "long", role: "wall", height: 0.5, thickness: WALL_THICKNESS_M, usual: 0.5, title: "Drag from one end to the other" },
  line: { text: "Line", key: "L", form: "long", role: "line", height: 0, thickness: LINE_WIDTH_M, usual: 0.5, title: "Drag from one end to the other; a click draws one across the field" },
  box: { text: "Box", key: "B", form: "point", title: "Click where its middle belongs" },
  step: { text: "Step", key: "S", form: "area", role: "step", height: 0.03, usual: 0.25, title: "Drag from corner to corner" },
  block: { text: "Block", key: "K", form: "area", role: "furniture", height: 0.2, usual: 0.2, title: "Furniture, a pedestal, a tunnel's side: drag from corner to corner" },
  pillar: { text: "Pillar", key: "P", form: "disc", role: "furniture", height: 0.3, usual: 0.2, title: "Drag from the middle to the edge" },
  ring: { text: "Ring", key: "R", form: "disc", role: "ring", height: 0.02, usual: 1.5, title: "A round platform: drag from the middle to the edge" },
  circle: { text: "Circle", key: "C", form: "disc", role: "line", height: 0, usual: 1.5, title: "A round painted line: drag from the middle to the edge" },
  code: { text: "Code", key: "Q", form: "point", role: "marker", title: "A board with a QR code: click where it belongs" },
};

export function mountField(root, { selection, onSelect, onTool }) {
  const drawing = svg("svg", { id: "arena-drawing", role: "application", tabindex: 0, "aria-label": "Field from above" });
  const place = el("output", { id: "arena-place", class: "faint" });
  root.append(drawing);
  let tool = "select", isToolLocked = false, snap_m = 0.05, view = null, gesture = null, draft = null, band = null;
  new ResizeObserver(() => { view = null; draw(); }).observe(root);
  on("arena", draw);
  on("arena_rules", draw);
  drawing.addEventListener("pointerdown", press);
  drawing.addEventListener("pointermove", move);
  drawing.addEventListener("pointerup", release);
  drawing.addEventListener("pointercancel", cancel);
  drawing.addEventListener("wheel", zoom, { passive: false });
  drawing.addEventListener("contextmenu", (event) => event.preventDefault());
  return { draw, place, fit: () => { view = null; draw(); }, chooseTool, cancel, setSnap: (step_m) => { snap_m = step_m; }, tool: () => tool };

  function chooseTool(name, isLocked = false) {
    tool = name;
    isToolLocked = isLocked;
    drawing.dataset.tool = name;
    onTool(name);
    draw();
  }

  // From metres to pixels and back.
  function fitView(arena) {
    const { clientWidth: width, clientHeight: height } = root, [long, wide] = arena.size_m;
    const scale = Math.max(1, Math.min((width - 2 * MARGIN_PX) / long, (height - 2 * MARGIN_PX) / wide));
    return { scale, left: (width - long * scale) / 2, middle: height / 2 };
  }
  function xPx(x) { return view.left + x * view.scale; }
  function yPx(y) { return view.middle - y * view.scale; }
  function pointAt(event) {
    const box = drawing.getBoundingClientRect();
    return { x: (event.clientX - box.left - view.left) / view.scale, y: (view.middle - (event.clientY - box.top)) / view.scale };
  }
  function snapped(point, event) {
    if (!snap_m || event?.altKey) return point;
    return { x: snapTo(point.x), y: snapTo(point.y) };
  }
  function snapTo(length_m) { return Number((Math.round(length_m / snap_m) * snap_m).toFixed(4)); }

  function zoom(event) {
    event.preventDefault();
    const at = pointAt(event), box = drawing.getBoundingClientRect(), scale = Math.min(5000, Math.max(10, view.scale * Math.exp(-event.deltaY / 600)));
    view = { scale, left: event.clientX - box.left - at.x * scale, middle: event.clientY - box.top + at.y * scale };
    draw();
  }

  function draw() {
    const arena = value("arena");
    if (!arena || !root.clientWidth) return;
    view ??= fitView(arena);
    const rules = value("arena_rules"), faulty = new Set((rules?.faults ?? []).flatMap((fault) => fault.parts));
    const chosen = selection();
    const shapes = [...arena.shapes].sort((one, other) => LAYERS[one.role] - LAYERS[other.role] || one.base_m - other.base_m);
    drawing.replaceChildren(
      drawFloor(arena), ...drawGrid(arena), ...drawZone(arena, rules),
      ...shapes.map((shape) => drawShape(shape, faulty, chosen)),
      ...arena.boxes.map((box) => drawBox(box, arena, faulty, chosen)),
      ...(rules?.starts ?? []).map(drawStart), ...drawHandles(arena, chosen), ...drawDraft());
  }
  function drawFloor(arena) {
    const [long, wide] = arena.size_m;
    return svg("rect", { class: "floor", x: xPx(0), y: yPx(wide / 2), width: long * view.scale, height: wide * view.scale, fill: arena.colours.floor });
  }
  function drawGrid(arena) {
    const [long, wide] = arena.size_m, made = [], minor = view.scale > 700 ? 0.05 : view.scale > 90 ? 0.1 : 0.5, major = minor === 0.5 ? 1 : 0.5;
    const isMajor = (at) => Math.abs(at / major - Math.round(at / major)) < 1e-6;
    for (let index = 0; index * minor <= long + 1e-9; index++) {
      const x = index * minor;
      made.push(svg("line", { class: isMajor(x) ? "major" : "minor", x1: xPx(x), x2: xPx(x), y1: yPx(-wide / 2), y2: yPx(wide / 2) }));
      if (isMajor(x)) made.push(svg("text", { class: "ruler", x: xPx(x), y: yPx(-wide / 2) + 30, "text-anchor": "middle" }, String(Number(x.toFixed(2)))));
    }
    const most = Math.floor((wide / 2 + 1e-9) / minor);
    for (let index = -most; index <= most; index++) {
      const y = index * minor;
      made.push(svg("line", { class: isMajor(y) ? "major" : "minor", x1: xPx(0), x2: xPx(long), y1: yPx(y), y2: yPx(y) }));
      if (isMajor(y)) made.push(svg("text", { class: "ruler", x: xPx(0) - 24, y: yPx(y) + 4, "text-anchor": "end" }, String(Number(y.toFixed(2)))));
    }
    made.push(svg("text", { class: "ruler", x: xPx(long) + 18, y: yPx(-wide / 2) + 30 }, "x [m]"), svg("text", { class: "ruler", x: xPx(0) - 24, y: yPx(wide / 2) - 16, "text-anchor": "end" }, "y [m]"));
    return made;
  }
  function drawZone(arena, rules) {
    if (!rules || !rules.contest.startsWith("obstacle-race") || rules.zone[0] === 0) return [];
    const [low, high] = rules.zone, half = arena.size_m[1] / 2;
    return [svg("rect", { class: "zone", x: xPx(low), y: yPx(half), width: (high - low) * view.scale, height: 2 * half * view.scale })];
  }
  function drawShape(shape, faulty, chosen) {
    const classes = ["shape", shape.role, faulty.has(shape.part) && "faulty", chosen.has(shape.part) && "chosen"].filter(Boolean).join(" ");
    const common = { class: classes, "data-part": shape.part, fill: shape.colour };
    const body = shape.is_round ? svg("circle", { ...common, cx: xPx(shape.x), cy: yPx(shape.y), r: shape.size_m[0] / 2 * view.scale })
      : svg("polygon", { ...common, points: shape.outline.map(([x, y]) => `${xPx(x).toFixed(2)},${yPx(y).toFixed(2)}`).join(" ") });
    body.append(svg("title", {}, `${shape.name}: ${shape.role}, ${shape.size_m.join(" x ")} m`));
    const group = svg("g", {}, body);
    // What is thinner than a finger's width is easier to hit, and to see.
    if (!shape.is_round && Math.min(...shape.size_m.slice(0, 2)) * view.scale < 8) group.prepend(svg("polygon", { class: "near", "data-part": shape.part, points: body.getAttribute("points") }));
    if (shape.role === "marker") group.append(svg("line", { class: "facing", x1: xPx(shape.x), y1: yPx(shape.y), ...endOf(shape, 0.12) }), svg("text", { class: "label", x: xPx(shape.x), y: yPx(shape.y) - 10, "text-anchor": "middle" }, shape.text));
    return group;
  }
  function endOf({ x, y, yaw_deg }, length_m) {
    const yaw = yaw_deg * Math.PI / 180;
    return { x2: xPx(x + length_m * Math.cos(yaw)), y2: yPx(y + length_m * Math.sin(yaw)) };
  }
  function drawBox(box, arena, faulty, chosen) {
    const classes = ["box", faulty.has(box.part) && "faulty", chosen.has(box.part) && "chosen"].filter(Boolean).join(" ");
    const body = svg("polygon", { class: classes, "data-part": box.part, fill: arena.colours.box, points: pointsOf(cornersOf(box)) });
    body.append(svg("title", {}, `box ${box.number}: ${box.kind}, ${box.size_m.join(" x ")} m`));
    return svg("g", {}, body, svg("text", { class: "number", x: xPx(box.x), y: yPx(box.y) + 4, "text-anchor": "middle" }, String(box.number)));
  }
  function drawStart({ name, x, y, yaw_deg }) {
    const end = endOf({ x, y, yaw_deg }, 0.16);
    return svg("g", { class: "start" }, svg("circle", { cx: xPx(x), cy: yPx(y), r: 0.07 * view.scale }), svg("line", { x1: xPx(x), y1: yPx(y), ...end }), svg("title", {}, `${name} starts here`));
  }
  function drawHandles(arena, chosen) {
    if (tool !== "select" || !chosen.size) return [];
    const made = [], parts = partsOf(arena, chosen);
    if (!parts.length) return [];
    const only = parts.length === 1 ? parts[0] : null;
    if (only?.role && only.is_round) made.push(handle("resize", xPx(only.x + only.size_m[0] / 2), yPx(only.y), { "data-x": 1, "data-y": 0 }));
    else if (only?.role) for (const [hx, hy] of HANDLES) {
      // Across what is thin there is no room for handles: its ends are enough, and numbers set its width.
      if ((hx && only.size_m[0] * view.scale < THIN_PX) || (hy && only.size_m[1] * view.scale < THIN_PX)) continue;
      const at = atHandle(only, hx, hy);
      made.push(handle("resize", xPx(at.x), yPx(at.y), { "data-x": hx, "data-y": hy }));
    }
    if (only?.is_round) return made;
    const anchor = turnAnchor(parts);
    made.push(svg("line", { class: "stem", x1: anchor.fromX, y1: anchor.fromY, x2: anchor.x, y2: anchor.y }), handle("turn", anchor.x, anchor.y, {}));
    return made;
  }
  function handle(kind, x, y, data) {
    const half = HANDLE_PX / 2;
    return kind === "turn" ? svg("circle", { class: "handle turn", "data-handle": kind, cx: x, cy: y, r: HANDLE_PX / 1.6 })
      : svg("rect", { class: "handle", "data-handle": kind, x: x - half, y: y - half, width: HANDLE_PX, height: HANDLE_PX, ...data });
  }
  function atHandle(part, hx, hy) {
    const { ux, uy } = axesOf(part), [long, wide] = part.size_m;
    return { x: part.x + hx * long / 2 * ux.x + hy * wide / 2 * uy.x, y: part.y + hx * long / 2 * ux.y + hy * wide / 2 * uy.y };
  }
  function turnAnchor(parts) {
    const middle = middleOf(parts), only = parts.length === 1 ? parts[0] : null;
    const up = only ? axesOf(only).uy : { x: 0, y: 1 }, reach = only ? only.size_m[1] / 2 * view.scale : 24;
    const fromX = xPx(middle.x) + up.x * reach, fromY = yPx(middle.y) - up.y * reach;
    return { fromX, fromY, x: fromX + up.x * 26, y: fromY - up.y * 26 };
  }
  function drawDraft() {
    if (band) return [svg("rect", { class: "band", x: xPx(Math.min(band.from.x, band.to.x)), y: yPx(Math.max(band.from.y, band.to.y)), width: Math.abs(band.to.x - band.from.x) * view.scale, height: Math.abs(band.to.y - band.from.y) * view.scale })];
    if (!draft) return [];
    const body = draft.is_round ? svg("circle", { class: "draft", cx: xPx(draft.x), cy: yPx(draft.y), r: draft.size_m[0] / 2 * view.scale }) : svg("polygon", { class: "draft", points: pointsOf(cornersOf(draft)) });
    const size = draft.is_round ? `${draft.size_m[0].toFixed(2)} m across` : `${draft.size_m[0].toFixed(2)} x ${draft.size_m[1].toFixed(2)} m`;
    return [body, svg("text", { class: "label", x: xPx(draft.x), y: yPx(draft.y) - 12, "text-anchor": "middle" }, size)];
  }
  function pointsOf(corners) { return corners.map(({ x, y }) => `${xPx(x).toFixed(2)},${yPx(y).toFixed(2)}`).join(" "); }

  // The mouse.
  function press(event) {
    const arena = value("arena");
    if (!arena) return;
    drawing.focus({ preventScroll: true });
    drawing.setPointerCapture(event.pointerId);
    const at = pointAt(event), start = { clientX: event.clientX, clientY: event.clientY };
    if (event.button === 1 || event.button === 2) { gesture = { kind: "pan", start, view }; return; }
    if (event.button !== 0) return;
    const grip = event.target.closest?.("[data-handle]"), part = event.target.closest?.("[data-part]")?.dataset.part;
    if (tool !== "select") { gesture = { kind: "draw", start, from: snapped(at, event) }; return; }
    const parts = partsOf(arena, selection());
    if (grip?.dataset.handle === "turn") {
      const middle = middleOf(parts);
      gesture = changing("turn", start, { middle, from_deg: angleOf(middle, at) });
    } else if (grip) gesture = changing("resize", start, { part: parts[0], hx: Number(grip.dataset.x), hy: Number(grip.dataset.y) });
    else if (part) {
      if (event.shiftKey || event.ctrlKey || event.metaKey) {
        const next = new Set(selection());
        if (next.has(part)) next.delete(part); else next.add(part);
        onSelect(next);
        gesture = null;
        return;
      }
      if (!selection().has(part)) onSelect(new Set([part]));
      gesture = changing("move", start, { from: at });
    } else {
      gesture = { kind: "band", start, from: at, kept: event.shiftKey ? new Set(selection()) : new Set() };
      if (!event.shiftKey) onSelect(new Set());
    }
  }
  // A drag that changes parts: what is newest is sent, and everything that is sent is one to undo.
  function changing(kind, start, more) {
    const id = newGesture(), done = { x: 0, y: 0, deg: 0 };
    const parts = [...selection()];
    const edit = (command, args) => ask("arena.edit", { command, arguments: args, gesture: id });
    const send = latest(async (wanted) => {
      try {
        if (kind === "move") {
          const step = { x_m: wanted.x - done.x, y_m: wanted.y - done.y };
          if (step.x_m || step.y_m) await edit("move_parts", { parts, ...step });
          [done.x, done.y] = [wanted.x, wanted.y];
        } else if (kind === "turn") {
          if (wanted.deg !== done.deg) await edit("turn_parts", { parts, angle_deg: wanted.deg - done.deg });
          done.deg = wanted.deg;
        } else await edit("set_shape", wanted);
      } catch (error) { gesture = null; fail(error); }
    });
    return { kind, start, send, hasMoved: false, ...more };
  }
  function move(event) {
    if (!view) return;
    const at = pointAt(event);
    place.textContent = `x ${at.x.toFixed(2)}, y ${at.y.toFixed(2)} m`;
    if (!gesture) return;
    const isFar = Math.hypot(event.clientX - gesture.start.clientX, event.clientY - gesture.start.clientY) > CLICK_PX;
    if (!isFar && !gesture.hasMoved) return;
    gesture.hasMoved = true;
    if (gesture.kind === "pan") {
      view = { ...gesture.view, left: gesture.view.left + event.clientX - gesture.start.clientX, middle: gesture.view.middle + event.clientY - gesture.start.clientY };
      draw();
    } else if (gesture.kind === "move") {
      const by = snapped({ x: at.x - gesture.from.x, y: at.y - gesture.from.y }, event);
      gesture.send(by);
    } else if (gesture.kind === "turn") {
      const deg = angleOf(gesture.middle, at) - gesture.from_deg;
      gesture.send({ deg: event.altKey ? deg : Math.round(deg / TURN_STEP_DEG) * TURN_STEP_DEG });
    } else if (gesture.kind === "resize") gesture.send(resized(gesture, snapped(at, event)));
    else if (gesture.kind === "band") { band = { from: gesture.from, to: at }; draw(); }
    else if (gesture.kind === "draw") { draft = drawn(gesture.from, snapped(at, event)); draw(); }
  }
  async function release(event) {
    const done = gesture;
    gesture = null;
    if (!done) return;
    if (done.kind === "band") {
      if (band) onSelect(new Set([...done.kept, ...inside(band)]));
      band = null;
      draw();
    } else if (done.kind === "draw") {
      const made = done.hasMoved && TOOLS[tool].form !== "point" ? drawn(done.from, snapped(pointAt(event), event)) : usual(done.from);
      draft = null;
      draw();
      await create(made);
    }
  }
  function cancel() {
    const isChange = gesture?.hasMoved && ["move", "turn", "resize"].includes(gesture.kind);
    if (isChange) ask("session.undo").catch(fail);
    const wasBusy = Boolean(gesture);
    gesture = draft = band = null;
    draw();
    return wasBusy;
  }
  function inside({ from, to }) {
    const arena = value("arena"), isBetween = (at, one, other) => at >= Math.min(one, other) && at <= Math.max(one, other);
    return [...arena.shapes, ...arena.boxes].filter((part) => !EDGE_WALLS.has(part.name) && isBetween(part.x, from.x, to.x) && isBetween(part.y, from.y, to.y)).map((part) => part.part);
  }
  function resized({ part, hx, hy }, at) {
    if (part.is_round) {
      const across = Math.max(MIN_EDGE_M, Number((2 * Math.hypot(at.x - part.x, at.y - part.y)).toFixed(4)));
      return { name: part.name, size_m: [across, across, part.size_m[2]] };
    }
    const { ux, uy } = axesOf(part), [long, wide, high] = part.size_m, fixed = atHandle(part, -hx, -hy);
    const along = (at.x - fixed.x) * ux.x + (at.y - fixed.y) * ux.y, across = (at.x - fixed.x) * uy.x + (at.y - fixed.y) * uy.y;
    const newLong = hx ? Math.max(MIN_EDGE_M, hx * along) : long, newWide = hy ? Math.max(MIN_EDGE_M, hy * across) : wide;
    const shift = { x: hx * newLong / 2, y: hy * newWide / 2 };
    return { name: part.name, x: fixed.x + shift.x * ux.x + shift.y * uy.x, y: fixed.y + shift.x * ux.y + shift.y * uy.y, size_m: [newLong, newWide, high] };
  }

  // What a tool draws between two points, and at a click.
  function drawn(from, to) {
    const { form, role, height, thickness } = TOOLS[tool], middle = { x: (from.x + to.x) / 2, y: (from.y + to.y) / 2 };
    if (form === "disc") {
      const across = Math.max(MIN_EDGE_M, 2 * Math.hypot(to.x - from.x, to.y - from.y));
      return { role, ...from, size_m: [across, across, height], yaw_deg: 0, is_round: true };
    }
    if (form === "long") {
      // Its length is along its own y, as that of a line across the field.
      const long = Math.max(MIN_EDGE_M, Math.hypot(to.x - from.x, to.y - from.y));
      let yaw_deg = Math.atan2(to.y - from.y, to.x - from.x) * 180 / Math.PI - 90;
      yaw_deg = yaw_deg <= -90 ? yaw_deg + 180 : yaw_deg > 90 ? yaw_deg - 180 : yaw_deg;
      return { role, ...middle, size_m: [thickness, long, height], yaw_deg };
    }
    return { role, ...middle, size_m: [Math.max(MIN_EDGE_M, Math.abs(to.x - from.x)), Math.max(MIN_EDGE_M, Math.abs(to.y - from.y)), height], yaw_deg: 0 };
  }
  function usual(at) {
    const { form, role, height, thickness, usual: edge } = TOOLS[tool], wide = value("arena").size_m[1];
    if (tool === "box") return { x: at.x, y: at.y };
    if (tool === "code") return { role, ...at, size_m: [0.004, 0.2, 0.2], base_m: 0.15, yaw_deg: 180, text: "Turn90L" };
    if (tool === "line") return { role, x: at.x, y: 0, size_m: [thickness, wide, 0], yaw_deg: 0 };
    if (form === "long") return { role, ...at, size_m: [thickness, edge, height], yaw_deg: 0 };
    return { role, ...at, size_m: [edge, edge, height], yaw_deg: 0, ...(form === "disc" ? { is_round: true } : {}) };
  }
  async function create(made) {
    const kind = value("arena").kinds.box ? "box" : Object.keys(value("arena").kinds)[0] ?? "box";
    const [command, args] = tool === "box" ? ["add_box", { x: made.x, y: made.y, kind }] : ["add_shape", made];
    try {
      const added = await ask("arena.edit", { command, arguments: args });
      if (!isToolLocked) chooseTool("select");
      onSelect(new Set(added));
    } catch (error) { fail(error); }
  }
}

export function partsOf(arena, chosen) {
  return [...arena.boxes, ...arena.shapes].filter((part) => chosen.has(part.part));
}
function axesOf({ yaw_deg }) {
  const yaw = yaw_deg * Math.PI / 180, cos = Math.cos(yaw), sin = Math.sin(yaw);
  return { ux: { x: cos, y: sin }, uy: { x: -sin, y: cos } };
}
function cornersOf(part) {
  const { ux, uy } = axesOf(part), [long, wide] = part.size_m;
  return [[1, 1], [-1, 1], [-1, -1], [1, -1]].map(([hx, hy]) => ({ x: part.x + hx * long / 2 * ux.x + hy * wide / 2 * uy.x, y: part.y + hx * long / 2 * ux.y + hy * wide / 2 * uy.y }));
}
function middleOf(parts) {
  const xs = parts.map((part) => part.x), ys = parts.map((part) => part.y);
  return { x: (Math.min(...xs) + Math.max(...xs)) / 2, y: (Math.min(...ys) + Math.max(...ys)) / 2 };
}
function angleOf(middle, at) { return Math.atan2(at.y - middle.y, at.x - middle.x) * 180 / Math.PI; }
