// Curves of chosen joints over time: limits, what is too fast, and keyframes that are dragged up and down.
import { ask, edit, newGesture, on, value } from "./link.js";
import { button, el, fail, svg, words } from "./dom.js";
import { bindField } from "./fields.js";
import { shortcuts } from "./keys.js";

const LEFT = 46, RIGHT = 10, LOWEST = 64, FOOT = 15, FIRST_CHOSEN = 2, NARROWEST_DEG = 10, MOST_MARKS = 250;

// When the way into each keyframe begins, when it is reached and when its pause is over [s].
export function clockOf(motion) {
  let now = 0;
  return motion.keyframes.map((frame) => {
    const leaves = now, arrives = now + frame.reach_s / motion.speed;
    now = arrives + frame.pause_s / motion.speed;
    return { leaves, arrives, ends: now };
  });
}

// Work that is asked for again while it runs is done once more afterwards, not side by side.
export function oneAtATime(work) {
  let busy = false, again = false;
  return async function run() {
    if (busy) { again = true; return; }
    busy = true;
    try { await work(); } catch (error) { fail(error); }
    busy = false;
    if (again) { again = false; run(); }
  };
}

// How times lie across a drawing, and the click on it that puts the playhead there.
export const scaleOf = (from, until, begin, end) => ({
  x: (time) => begin + (end - begin) * (until > from ? (time - from) / (until - from) : 0),
  time: (x) => from + (until - from) * Math.min(1, Math.max(0, (x - begin) / (end - begin))),
});

export function mount(root) {
  const chosen = new Set(), charts = new Map();
  let shownPage = null, isChosenByHand = false, span = null, dragged = null, sampled = null, wanted = null, waiting = {};
  const list = el("div", { id: "curve-joints", role: "group", "aria-label": "Joints with curves" });
  const whole = el("input", { type: "checkbox", id: "curve-whole", onchange: () => draw() });
  const rows = el("div", { id: "curve-rows", onwheel: wheel });
  root.append(el("div", { id: "curves" }, list, el("div", { id: "curve-side" }, el("div", { class: "row" },
    button("−", () => zoom(2), { "aria-label": "Show more time" }), button("+", () => zoom(0.5), { "aria-label": "Show less time" }),
    button("All", () => { span = null; refresh(); }, { "aria-label": "Show all of the time" }),
    el("label", { class: "row" }, whole, "whole range of the joint"),
    el("span", { class: "faint" }, "Drag marks to turn the joint; with easing pchip, drag handles for its speed (Alt: one of them).")), rows)));
  const refresh = oneAtATime(async () => {
    if (!rows.clientWidth || !value("player")) return;
    const joints = value("robot").joints.map(({ name }) => name).filter((name) => chosen.has(name));
    const [from_s, until_s] = shown();
    sampled = joints.length ? await ask("curves.sample", { joints, from_s, until_s }) : { times_s: [], joints: {} };
    draw();
  });
  new ResizeObserver(refresh).observe(rows);
  on("robot", (robot) => { shownPage = null; isChosenByHand = false; chosen.clear(); list.replaceChildren(...robot.joints.map(choice)); });
  on("motion", (motion) => { choosePage(motion); refresh(); });
  on("cursor", () => draw());
  on("player", follow);

  const shown = () => span ?? [0, Math.max(value("player")?.duration_s ?? 0, clockOf(value("motion")).at(-1).ends)];
  function choice(joint) {
    const box = el("input", { type: "checkbox", value: joint.name, onchange: () => { isChosenByHand = true; chosen[box.checked ? "add" : "delete"](joint.name); refresh(); } });
    return el("label", { class: "row" }, box, words(joint.name));
  }
  // A page is shown with the joints that move most in it, until somebody chooses; as long as none moves, with the first.
  function choosePage(motion) {
    const page = `${motion.page} ${motion.name}`, isOther = page !== shownPage, ranges = rangesOf(motion);
    shownPage = page;
    if (isOther) span = null;
    const moves = [...chosen].some((name) => ranges.get(name) > 0);
    if ((isChosenByHand && motion.joints.some((name) => chosen.has(name))) || (moves && !isOther)) return;
    const moving = motion.joints.filter((name) => ranges.get(name) > 0).sort((one, other) => ranges.get(other) - ranges.get(one));
    chosen.clear();
    (moving.length ? moving : motion.joints).slice(0, FIRST_CHOSEN).forEach((name) => chosen.add(name));
    for (const box of list.querySelectorAll("input")) box.checked = chosen.has(box.value);
  }
  function zoom(factor, at = value("player").time_s) {
    const [from, until] = shown(), all = value("player").duration_s;
    const length = Math.min(all, Math.max(0.05, (until - from) * factor));
    const begin = Math.min(Math.max(0, at - length * (until > from ? (at - from) / (until - from) : 0)), all - length);
    span = length >= all ? null : [begin, begin + length];
    refresh();
  }
  function pan(seconds) {
    const all = value("player").duration_s, begin = Math.min(Math.max(0, span[0] + seconds), all - span[1] + span[0]);
    span = [begin, begin + span[1] - span[0]];
    refresh();
  }
  function wheel(event) {
    const [from, until] = shown();
    if (event.ctrlKey) zoom(event.deltaY > 0 ? 1.25 : 0.8, scale().time(event.clientX - rows.getBoundingClientRect().left));
    else if (event.shiftKey && span) pan((until - from) * Math.sign(event.deltaY + event.deltaX) / 8);
    else return;
    event.preventDefault();
  }
  const scale = () => scaleOf(...shown(), LEFT, rows.clientWidth - RIGHT);
  function follow(player) {
    if (span && player.playing && (player.time_s < span[0] || player.time_s > span[1])) pan(player.time_s - span[0]);
    const x = scale().x(player.time_s);
    for (const { head } of charts.values()) { head.setAttribute("x1", x); head.setAttribute("x2", x); }
  }

  function draw() {
    if (!sampled || !rows.clientWidth) return;
    const names = Object.keys(sampled.joints), height = Math.max(LOWEST, rows.clientHeight / Math.max(names.length, 1) - 24);
    for (const name of charts.keys()) if (!names.includes(name)) { charts.get(name).box.remove(); charts.delete(name); }
    const added = names.filter((name) => !charts.has(name));
    for (const name of added) charts.set(name, chartOf(name));
    if (added.length) rows.append(...names.map((name) => charts.get(name).box));
    for (const name of names) drawChart(name, charts.get(name), height);
    if (added.length === 1) charts.get(added[0]).box.scrollIntoView({ block: "nearest" });
    if (!names.length) rows.replaceChildren(el("p", { class: "faint" }, "Choose joints at the left."));
    else rows.querySelector("p")?.remove();
    if (value("player")) follow(value("player"));
  }
  function chartOf(name) {
    const head = svg("line", { class: "moment", y1: 0 }), title = el("div", { class: "row curve-title" });
    const drawing = svg("svg", { role: "group", "aria-label": `Curve of ${words(name)}`, onpointerdown: (event) => grab(event, name), onpointermove: (event) => drag(event), onpointerup: drop, onpointercancel: drop });
    const marked = () => charts.get(name).marks.find(({ place }) => place === value("cursor").keyframe);
    const by = (step) => () => { const mark = marked(); if (mark) turn(name, mark.place, mark.angle + step, ""); };
    const go = (step) => () => {
      const place = value("cursor").keyframe + step;
      if (place >= 0 && place < value("motion").keyframes.length) ask("session.look", { keyframe: place }).catch(fail);
    };
    shortcuts("Curves, when a mark has the focus", [
      ["ArrowUp", "1° more", by(1)], ["ArrowDown", "1° less", by(-1)], ["Shift+ArrowUp", "0.1° more", by(0.1)], ["Shift+ArrowDown", "0.1° less", by(-0.1)],
      ["PageUp", "10° more", by(10)], ["PageDown", "10° less", by(-10)], ["ArrowLeft", "To the keyframe before", go(-1)], ["ArrowRight", "To the next", go(1)],
    ], drawing);
    const speeds = speedFields(name);
    return { box: el("div", { "data-joint": name }, el("div", { class: "row" }, title, speeds.row), drawing), title, speeds, drawing, head };
  }
  // The speeds at which a joint arrives at the current keyframe and leaves it, as numbers.
  function speedFields(name) {
    const set = (args) => { const { page, keyframe } = value("cursor"); return edit("set_tangent", { page, keyframe, joint: name, ...args }).catch(fail); };
    const owner = () => `${value("cursor").page} ${value("cursor").keyframe}`;
    const field = (text, side) => {
      const input = el("input", { type: "number", step: "any", class: "short", "aria-label": `${words(name)} ${text} [deg/s]` });
      const show = bindField(input, (speed) => set({ [side]: speed }), { format: (speed) => String(Number(speed.toFixed(1))), tolerance: () => Infinity, owner });
      return { box: el("label", {}, `${text} `, input), show: (speed) => { input.disabled = speed === null; show(speed); } };
    };
    const fields = [field("arrives", "arrive_deg_s"), field("leaves", "leave_deg_s")];
    const computed = button("Compute", () => set({ is_computed: true }), { class: "small", title: "Speeds without overshoot, as for keyframes without handles" });
    const row = el("span", { class: "row faint", hidden: true }, ...fields.map(({ box }) => box), "°/s", computed);
    return { row, show: (tangent, isSet) => {
      row.hidden = !tangent || tangent.every((speed) => speed === null);
      computed.disabled = !isSet;
      if (tangent) fields.forEach((one, side) => one.show(tangent[side]));
    } };
  }
  // The ends of a mark's handles: a third of the segment away, as the control points of a Bézier curve.
  function handlesOf(mark, clock, tangent, y) {
    const motion = value("motion"), { keyframes, speed } = motion, { x } = scale();
    const next = keyframes[mark.place + 1] ?? keyframes[0];
    const ends = [[tangent[0], clock.arrives, -keyframes[mark.place].reach_s / 3], [tangent[1], clock.ends, next.reach_s / 3]];
    return ends.flatMap(([slope, from, reach], side) => slope === null ? [] : [{ ...mark, side, reach, from: x(from), x: x(from + reach / speed), foot: mark.y, y: y(mark.angle + slope * reach) }]);
  }
  function drawChart(name, chart, height) {
    const motion = value("motion"), cursor = value("cursor"), joint = value("robot").joints.find((one) => one.name === name);
    const { angles_deg: angles, too_fast: tooFast } = sampled.joints[name], { x } = scale(), times = sampled.times_s;
    const end = height - FOOT, range = dragged?.name === name ? chart.range : rangeOf(angles, joint);
    const y = (degrees) => end - (end - 4) * (degrees - range[0]) / (range[1] - range[0]);
    Object.assign(chart, { range, end });
    chart.title.replaceChildren(el("strong", {}, words(name)), el("span", { class: "faint" }, `${joint.lower_deg}° to ${joint.upper_deg}°, servo ${Math.round(joint.speed_deg_s)} °/s`),
      ...tooFast.slice(0, 3).map((found) => button(`▲ ${saidOf(found)}`, () => ask("session.look", { keyframe: found.keyframe }).catch(fail), { class: "too-fast" })),
      ...(tooFast.length > 3 ? [el("span", { class: "wrong" }, `and ${tooFast.length - 3} more`)] : []));
    const line = (points, kind) => svg("polyline", { points: points.map(([time, angle]) => `${x(time).toFixed(1)},${y(angle).toFixed(1)}`).join(" "), class: kind });
    const wide = rows.clientWidth - RIGHT, within = (degrees) => degrees > range[0] && degrees < range[1];
    const parts = [...ticksOf(range).map((degrees) => svg("g", { class: "tick" }, svg("line", { x1: LEFT, x2: wide, y1: y(degrees), y2: y(degrees) }), svg("text", { x: LEFT - 6, y: y(degrees) + 4 }, `${degrees}°`)))];
    for (const [limit, side] of [[joint.lower_deg, "lower"], [joint.upper_deg, "upper"]])
      if (within(limit)) parts.push(svg("line", { class: "limit", x1: LEFT, x2: wide, y1: y(limit), y2: y(limit) }), svg("text", { class: "limit", x: wide - 4, y: y(limit) + (side === "upper" ? 11 : -3) }, `${side} limit`));
    const [from, until] = shown(), column = motion.joints.indexOf(name), before = chart.drawing.contains(document.activeElement);
    const marks = clockOf(motion).map((clock, place) => ({ ...clock, place })).filter(({ arrives }) => arrives >= from - 1e-6 && arrives <= until + 1e-6);
    parts.push(...runsOf(times, angles).map((run) => line(run, "curve")));
    for (const found of tooFast) parts.push(line(times.map((time, at) => [time, angles[at]]).filter(([time, angle]) => angle !== null && time >= found.from_s - 1e-5 && time <= found.until_s + 1e-5), "too-fast"));
    chart.marks = (marks.length > MOST_MARKS ? marks.filter(({ place }) => place === cursor.keyframe) : marks).flatMap(({ arrives, place }) => {
      const own = motion.keyframes[place].pose[column], angle = own ?? angleAt(times, angles, arrives);
      return own === "free" || angle === null ? [] : [{ place, angle, held: own === null, x: x(arrives), y: y(angle) }];
    });
    const current = chart.marks.find(({ place }) => place === cursor.keyframe), tangent = current ? sampled.joints[name].tangents_deg_s[current.place] : null;
    chart.handles = tangent ? handlesOf(current, clockOf(motion)[current.place], tangent, y) : [];
    chart.speeds.show(tangent, Boolean(motion.keyframes[cursor.keyframe]?.tangents?.[name]));
    parts.push(...chart.handles.flatMap((one) => [svg("line", { class: "handle", x1: one.from, y1: one.foot, x2: one.x, y2: one.y }), svg("circle", { class: "handle", "data-side": one.side, cx: one.x, cy: one.y, r: 4 })]));
    parts.push(...marks.filter((_, at) => marks.length < 60 || at % Math.ceil(marks.length / 60) === 0).map(({ arrives, place }) => svg("g", { class: place === cursor.keyframe ? "keyframe now" : "keyframe" }, svg("line", { x1: x(arrives), x2: x(arrives), y1: 4, y2: end }), svg("text", { x: x(arrives), y: height - 3 }, String(place + 1)))),
      ...chart.marks.map((mark) => markOf(mark, joint, mark.place === cursor.keyframe)));
    for (const [what, size] of [["width", rows.clientWidth], ["height", height]]) chart.drawing.setAttribute(what, size);
    chart.head.setAttribute("y2", end);
    chart.drawing.replaceChildren(...parts, chart.head);
    if (before) chart.drawing.querySelector("[tabindex]")?.focus();
  }
  function rangeOf(angles, joint) {
    const known = angles.filter((angle) => angle !== null);
    let low = known.reduce((a, b) => Math.min(a, b), Infinity), high = known.reduce((a, b) => Math.max(a, b), -Infinity);
    if (whole.checked || !known.length) [low, high] = [Math.min(low, joint.lower_deg), Math.max(high, joint.upper_deg)];
    const room = Math.max(NARROWEST_DEG - (high - low), 0.16 * (high - low)) / 2;
    return [low - room, high + room];
  }
  const saidOf = (found) => `too fast into ${found.keyframe + 1}: ${found.speed_deg_s === null ? "a jump" : `${Math.round(found.speed_deg_s)} °/s`}`;
  const markOf = (mark, joint, isNow) => svg("circle", { cx: mark.x, cy: mark.y, r: isNow ? 6 : 4.5, class: `mark${mark.held ? " held" : ""}${isNow ? " now" : ""}`, "data-keyframe": mark.place,
    ...(isNow ? { tabindex: 0, role: "slider", "aria-label": `${words(joint.name)} at keyframe ${mark.place + 1} [deg]`, "aria-valuenow": mark.angle, "aria-valuemin": joint.lower_deg, "aria-valuemax": joint.upper_deg } : {}) });

  const position = (event) => { const box = event.currentTarget.getBoundingClientRect(); return { x: event.clientX - box.left, y: event.clientY - box.top }; };
  function grab(event, name) {
    if (event.button !== 0) return;
    const at = position(event), chart = charts.get(name);
    const near = (one) => Math.hypot(one.x - at.x, one.y - at.y) < 9;
    const handle = chart.handles.find(near), mark = chart.marks.find(near);
    event.currentTarget.setPointerCapture(event.pointerId);
    if (handle && (!mark || Math.hypot(handle.x - at.x, handle.y - at.y) < Math.hypot(mark.x - at.x, mark.y - at.y))) {
      dragged = { name, handle, off: handle.y - at.y, gesture: newGesture() };
      return;
    }
    dragged = { name: mark ? name : null, keyframe: mark?.place, off: mark ? mark.y - at.y : 0, gesture: newGesture() };
    if (mark) ask("session.look", { keyframe: mark.place }).catch(fail);
    else drag(event);
  }
  function drag(event) {
    if (!dragged) return;
    const at = position(event);
    if (dragged.name === null) { wanted = { seek: scale().time(at.x) }; return send(); }
    const { range, end } = charts.get(dragged.name), degrees = range[0] + (range[1] - range[0]) * (end - at.y - dragged.off) / (end - 4);
    if (dragged.handle) bend(dragged, degrees, event.altKey);
    else turn(dragged.name, dragged.keyframe, degrees, dragged.gesture);
  }
  // Let a handle's end be at some degrees; where there is no pause, the other handle goes along, unless it is to be alone.
  function bend({ name, handle, gesture }, degrees, isAlone) {
    const slope = Number(((degrees - handle.angle) / handle.reach).toFixed(2)), { place, side } = handle;
    const isSmooth = !isAlone && charts.get(name).handles.length === 2 && value("motion").keyframes[place].pause_s === 0;
    const speeds = isSmooth ? { arrive_deg_s: slope, leave_deg_s: slope } : { [side ? "leave_deg_s" : "arrive_deg_s"]: slope };
    wanted = { edit: ["set_tangent", { page: value("cursor").page, keyframe: place, joint: name, ...speeds }, gesture] };
    send();
  }
  function drop() { dragged = null; draw(); }
  function turn(name, keyframe, degrees, gesture) {
    wanted = { edit: ["set_angles", { page: value("cursor").page, keyframe, angles_deg: { [name]: Number(degrees.toFixed(2)) } }, gesture] };
    send();
  }
  const send = oneAtATime(async () => {
    if (!wanted) return;
    const now = wanted;
    wanted = null;
    if (now.edit) await edit(...now.edit);
    else await ask("player.seek", { time_s: now.seek });
  });
}

// How far each joint of a motion goes [deg], with the pose it starts from.
function rangesOf(motion) {
  return new Map(motion.joints.map((name, column) => {
    const angles = [motion.start, ...motion.keyframes.map((frame) => frame.pose)].map((pose) => pose?.[column]).filter(Number.isFinite);
    return [name, angles.reduce((a, b) => Math.max(a, b), -Infinity) - angles.reduce((a, b) => Math.min(a, b), Infinity)];
  }));
}

function ticksOf([low, high]) {
  const step = [1, 2, 5, 10, 15, 30, 45, 90].find((one) => (high - low) / one <= 5) ?? 180;
  return Array.from({ length: Math.floor(high / step) - Math.ceil(low / step) + 1 }, (_, place) => (Math.ceil(low / step) + place) * step);
}

// The parts of a curve between times at which the joint is free.
function runsOf(times, angles) {
  const runs = [[]];
  angles.forEach((angle, at) => { if (angle === null) runs.push([]); else runs.at(-1).push([times[at], angle]); });
  return runs.filter((run) => run.length);
}

function angleAt(times, angles, time) {
  let low = 0, high = times.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (times[middle] <= time + 1e-5) low = middle; else high = middle - 1;
  }
  return angles[low] ?? null;
}
