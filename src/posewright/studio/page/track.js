// The track: keyframes as blocks whose width is time, the ruler above them and the playhead; only what is in sight is drawn.
import { ask, edit, foresee, latest, newGesture, on, value } from "./link.js";
import { el, fail, seconds, svg } from "./dom.js";
import { shortcuts } from "./keys.js";
import { lane, soundEdit } from "./sound.js";

const LEFT = 84, TAIL = 140, THIN = 5, TICKS = [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 60, 120, 300, 600, 3600];
const CURVES = { linear: "M0 1L1 0", smooth: "M0 1C.4 1 .6 0 1 0", pchip: "M0 1C.25 .8 .6 .3 1 0", trapezoid: "M0 1Q.18 .98 .3 .8L.7 .2Q.82 .02 1 0" };
const MARKS = { error: "✖", warning: "▲" };

// What holds for every retiming: whether the keyframes after it keep their times.
export const manner = { laterStay: false };

// The selected keyframes, rising; the pose it starts from is none.
export const chosen = () => (value("cursor")?.selected ?? []).filter((place) => place >= 0);

// Keys that are pressed at once after a click are meant for what was clicked.
export function look(keyframe, selected = []) {
  const before = value("cursor");
  foresee("cursor", { ...before, keyframe, selected: [...new Set([...selected, keyframe])].sort((one, other) => one - other) });
  return ask("session.look", { keyframe, selected }).catch((error) => { foresee("cursor", before); fail(error); });
}

// Set times of one keyframe, while later ones stay or move along; every call of a gesture is undone with it.
export function retime(place, times, gesture = "") {
  const { page } = value("cursor");
  return manner.laterStay ? edit("retime_keyframe", { page, keyframe: place, ...times }, gesture)
    : edit("set_keyframes", { page, keyframes: [place], ...times }, gesture);
}

// When each keyframe's way begins, when it is reached and when its pause is over, as played [s].
export function timesOf(motion) {
  let now = 0;
  const begin = [], reached = [], end = [];
  for (const frame of motion.keyframes) {
    begin.push(now / motion.speed);
    reached.push((now += frame.reach_s) / motion.speed);
    end.push((now += frame.pause_s) / motion.speed);
  }
  return { begin, reached, end };
}

export function track() {
  const ruler = el("div", { id: "ruler", role: "slider", tabIndex: 0, "aria-label": "Playhead", "aria-valuemin": 0, "aria-valuemax": 0, "aria-valuenow": 0 });
  const blocks = el("div", { id: "keyframes", role: "listbox", tabIndex: 0, "aria-label": "Keyframes", "aria-multiselectable": "true", "aria-orientation": "horizontal" });
  const marks = el("div", { class: "marks" }), drop = el("div", { class: "drop", hidden: true }), playhead = el("div", { class: "playhead" });
  const sound = lane(redraw);
  const inner = el("div", { class: "time", style: `--left:${LEFT}px`, onpointerdown: press }, ruler, blocks, sound.element, marks, drop, playhead);
  const element = el("div", { id: "track", onscroll: redraw, onwheel: wheel }, inner);
  let scale = 0, times = { begin: [], reached: [], end: [] }, shown = null, anchor = 0, isAsked = false, isFit = true, isHeld = false;
  new ResizeObserver(redraw).observe(element);
  on("motion", (motion) => {
    times = timesOf(motion);
    if (shown !== `${motion.page} ${motion.name}`) fit();
    shown = `${motion.page} ${motion.name}`;
    redraw();
  });
  on("cursor", (cursor) => {
    if (cursor.selected.length === 1) anchor = cursor.keyframe;
    reveal(cursor.keyframe);
    redraw();
  });
  on("findings", redraw);
  on("player", movePlayhead);
  const seek = latest((time_s) => ask("player.seek", { time_s }).catch(fail));
  const by = (step) => () => { const { time_s, duration_s } = value("player"); seek(Math.min(duration_s, Math.max(0, time_s + step))); };
  shortcuts("Playhead, when the ruler has the focus", [
    ["ArrowLeft", "0.02 s back", by(-0.02)], ["ArrowRight", "0.02 s on", by(0.02)], ["PageDown", "0.2 s back", by(-0.2)], ["PageUp", "0.2 s on", by(0.2)],
    ["Home", "To the beginning", by(-Infinity)], ["End", "To the end", by(Infinity)],
  ], ruler);
  return { element, fit, zoom, pick };

  function redraw() {
    if (isAsked) return;
    isAsked = true;
    requestAnimationFrame(() => { isAsked = false; draw(); });
  }
  function draw() {
    const motion = value("motion"), cursor = value("cursor");
    if (!motion || !cursor || !element.clientWidth || cursor.page !== motion.page) return;
    const wide = x(times.end.at(-1)) / element.clientWidth;
    if (isFit && !isHeld && (wide > 1 || wide < 0.4)) scale = 0;
    if (scale === 0) scale = Math.max(1, (element.clientWidth - LEFT - TAIL) / (times.end.at(-1) || 1));
    inner.style.width = `${x(times.end.at(-1)) + TAIL}px`;
    const from = timeAt(element.scrollLeft), until = timeAt(element.scrollLeft + element.clientWidth);
    drawRuler(from, until);
    drawBlocks(motion, cursor, from, until);
    drawMarks(motion, from, until);
    sound.draw(x);
    if (value("player")) movePlayhead(value("player"));
  }
  function drawRuler(from, until) {
    const step = TICKS.find((wanted) => wanted * scale >= 64) ?? TICKS.at(-1), made = [];
    for (let count = Math.max(0, Math.floor(from / step)); count * step <= until; count++) {
      made.push(el("span", { style: `left:${x(count * step)}px` }, `${Number((count * step).toFixed(2))}`));
    }
    ruler.replaceChildren(...made);
    ruler.style.setProperty("--minor", `${step * scale / 5}px`);
  }
  function drawBlocks(motion, cursor, from, until) {
    const selected = new Set(cursor.selected), count = motion.keyframes.length, made = [startBlock(motion, selected)];
    const first = firstAt(times.end, from);
    if (cursor.keyframe >= 0 && cursor.keyframe < first) made.push(block(motion, cursor.keyframe, cursor.keyframe, selected));
    for (let place = first; place < count && times.begin[place] <= until; place++) {
      const begins = place;
      while (place + 1 < count && !selected.has(begins) && !selected.has(place + 1) && (times.end[place + 1] - times.begin[begins]) * scale < THIN) place++;
      made.push(block(motion, begins, place, selected));
    }
    const last = Number(made.at(-1).dataset.keyframe);
    if (cursor.keyframe > last && cursor.keyframe < count) made.push(block(motion, cursor.keyframe, cursor.keyframe, selected));
    blocks.replaceChildren(...made);
    blocks.setAttribute("aria-activedescendant", `keyframe-${cursor.keyframe}`);
  }
  function startBlock(motion, selected) {
    const told = motion.start ? "The pose it starts from" : "It starts from wherever it stands";
    return el("div", { role: "option", id: "keyframe--1", class: motion.start ? "block start" : "block start none", "data-keyframe": -1,
      "aria-selected": String(selected.has(-1)), "aria-current": selected.has(-1) ? "true" : null, "aria-label": told, title: told, style: `left:4px;width:${LEFT - 20}px` }, el("b", {}, "Start"));
  }
  function block(motion, place, last, selected) {
    const frame = motion.keyframes[place], way = (times.reached[place] - times.begin[place]) * scale;
    const width = Math.max((times.end[last] - times.begin[place]) * scale, THIN), pause = width - way;
    const made = el("div", { role: "option", id: `keyframe-${place}`, class: "block", "data-keyframe": place, "aria-posinset": place + 1, "aria-setsize": motion.keyframes.length,
      "aria-selected": String(selected.has(place)), "aria-current": place === value("cursor").keyframe ? "true" : null, "aria-label": saidOf(place, last, frame, motion.speed), title: saidOf(place, last, frame, motion.speed), style: `left:${x(times.begin[place])}px;width:${width}px` });
    if (last > place) { made.classList.add("many"); return made; }
    if (frame.reach_s + frame.pause_s === 0) { made.classList.add("jump"); made.append(el("b", {}, `${place + 1}`)); return made; }
    if (way > 14) made.append(el("span", { class: "way", style: `width:${way}px` }, curve(frame.easing)));
    if (frame.pause_s > 0 && pause > 1) made.append(el("span", { class: "pause", style: `left:${way}px` }, pause > 52 ? `pause ${seconds(frame.pause_s / motion.speed)}` : ""));
    if (width > 13) made.append(el("b", {}, `${place + 1}`));
    if (way > 46) made.append(el("small", { style: `max-width:${way}px` }, seconds(frame.reach_s / motion.speed)));
    if (width > 12) {
      made.append(el("i", { class: "edge", "data-edge": "reach_s", title: "Drag: the time of the way", style: `left:${Math.min(way - 5, width - 10)}px` }),
        el("i", { class: "edge", "data-edge": "pause_s", title: "Drag: the pause" }));
    }
    return made;
  }
  function drawMarks(motion, from, until) {
    const found = new Map(), told = value("findings");
    for (const finding of told?.page === motion.page ? told.list : []) {
      if (finding.level in MARKS) for (const place of finding.keyframes) found.set(place, [...(found.get(place) ?? []), finding]);
    }
    const seen = [...found].filter(([place]) => times.reached[place] >= from && times.reached[place] <= until).slice(0, 200);
    marks.replaceChildren(...seen.map(([place, list]) => {
      const level = list.some((one) => one.level === "error") ? "error" : "warning";
      return el("span", { class: level, style: `left:${x(times.reached[place])}px`, title: list.slice(0, 5).map((one) => one.message).join("\n"), "data-keyframe": place }, MARKS[level]);
    }));
  }
  function movePlayhead(player) {
    const at = x(player.time_s);
    playhead.style.transform = `translateX(${at}px)`;
    ruler.setAttribute("aria-valuemax", player.duration_s.toFixed(2));
    ruler.setAttribute("aria-valuenow", player.time_s.toFixed(2));
    ruler.setAttribute("aria-valuetext", seconds(player.time_s));
    if (player.playing && (at < element.scrollLeft + LEFT || at > element.scrollLeft + element.clientWidth - 20)) element.scrollLeft = at - LEFT;
  }

  function x(time_s) { return LEFT + time_s * scale; }
  function timeAt(left) { return (left - LEFT) / scale; }
  function timeUnder(event) { return Math.max(0, timeAt(event.clientX - inner.getBoundingClientRect().left)); }
  function reveal(place) {
    if (!scale || place >= times.end.length || value("player")?.playing) return;
    const [left, right] = place < 0 ? [0, LEFT] : [x(times.begin[place]), x(times.end[place])];
    if (left < element.scrollLeft || right > element.scrollLeft + element.clientWidth) element.scrollLeft = Math.max(0, Math.min(left - LEFT, right - element.clientWidth / 2));
  }
  // Until somebody zooms, the whole motion stays in sight.
  function fit() { scale = 0; isFit = true; redraw(); }
  function zoom(factor, clientX = undefined) {
    const box = element.getBoundingClientRect(), head = x(value("player")?.time_s ?? 0) - element.scrollLeft;
    const beside = clientX !== undefined ? clientX - box.left : head > 0 && head < box.width ? head : box.width / 2;
    const fixed = timeAt(element.scrollLeft + beside);
    scale = Math.min(5000, Math.max(1, scale * factor));
    isFit = false;
    inner.style.width = `${x(times.end.at(-1)) + TAIL}px`;
    element.scrollLeft = x(fixed) - beside;
    redraw();
  }
  function wheel(event) {
    if (event.ctrlKey) { event.preventDefault(); zoom(Math.exp(-event.deltaY / 300), event.clientX); }
    else if (!event.deltaX && element.scrollWidth > element.clientWidth) { event.preventDefault(); element.scrollLeft += event.deltaY; }
  }
  function press(event) {
    if (event.button !== 0) return;
    const under = event.target.closest("[data-keyframe]"), place = Number(under?.dataset.keyframe), { edge } = event.target.dataset;
    if (edge) dragEdge(event, place, edge);
    else if (sound.element.contains(event.target)) dragSound(event);
    else if (under) pressBlock(event, place);
    else { seek(timeUnder(event)); follow(event, (now) => seek(timeUnder(now))); }
  }
  // Follow the pointer until it is let go; Escape, or whatever else takes it away, ends that without `release`.
  function follow(event, move, release = () => {}) {
    const ends = new AbortController(), { signal } = ends;
    isHeld = true;
    signal.addEventListener("abort", () => { isHeld = false; redraw(); });
    inner.setPointerCapture(event.pointerId);
    inner.addEventListener("pointermove", move, { signal });
    inner.addEventListener("pointerup", (now) => { ends.abort(); release(now); }, { signal });
    const stop = () => { ends.abort(); drop.hidden = true; };
    inner.addEventListener("pointercancel", stop, { signal });
    addEventListener("keydown", (key) => { if (key.key === "Escape") stop(); }, { signal });
  }
  function dragEdge(event, place, field) {
    const { keyframes, speed } = value("motion"), own = keyframes[place][field], gesture = newGesture(), begun = timeUnder(event);
    const send = latest((time_s) => retime(place, { [field]: time_s }, gesture).catch(fail));
    if (value("cursor").keyframe !== place) look(place);
    follow(event, (now) => {
      const step = now.altKey || scale > 1500 ? 0.001 : 0.01;
      send(Math.max(0, Number((Math.round((own + (timeUnder(now) - begun) * speed) / step) * step).toFixed(3))));
    });
  }
  function dragSound(event) {
    const { file, start_s } = value("motion").sound, gesture = newGesture(), begun = timeUnder(event);
    const send = latest((time_s) => soundEdit({ file, start_s: time_s }, gesture).catch(fail));
    follow(event, (now) => send(Math.max(0, Number((start_s + timeUnder(now) - begun).toFixed(2)))));
  }
  function pressBlock(event, place) {
    const begun = event.clientX;
    let before = null;
    follow(event, (now) => {
      if (place < 0 || (before === null && Math.abs(now.clientX - begun) < 6)) return;
      before = firstAt(times.begin.map((begin, at) => (begin + times.end[at]) / 2), timeUnder(now));
      drop.hidden = false;
      drop.style.transform = `translateX(${x(times.begin[before] ?? times.end.at(-1))}px)`;
    }, async () => {
      drop.hidden = true;
      blocks.focus({ preventScroll: true });
      if (before === null) { pick(place, event); return; }
      if (!chosen().includes(place)) await look(place);
      ask("timeline.move", { before }).catch(fail);
    });
  }
  function pick(place, { shiftKey, ctrlKey, metaKey }) {
    const now = chosen();
    if (shiftKey) {
      const [low, high] = [Math.max(0, Math.min(anchor, place)), Math.max(anchor, place)];
      look(place, Array.from({ length: high - low + 1 }, (_, step) => low + step));
    } else if (ctrlKey || metaKey) {
      const rest = now.filter((one) => one !== place);
      if (now.includes(place) && rest.length) look(rest.at(-1), rest);
      else look(place, [...now, place]);
    } else look(place);
    if (!shiftKey) anchor = place;
  }
}

// The first place in rising numbers that is no less than a value; how many there are where none is.
function firstAt(rising, wanted) {
  let low = 0, high = rising.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (rising[middle] < wanted) low = middle + 1;
    else high = middle;
  }
  return low;
}

const curve = (easing) => svg("svg", { viewBox: "0 0 1 1", preserveAspectRatio: "none" }, svg("path", { d: CURVES[easing] }));

function saidOf(place, last, frame, speed) {
  if (last > place) return `Keyframes ${place + 1} to ${last + 1}; zoom in to see each`;
  const pause = frame.pause_s ? `, then a pause of ${seconds(frame.pause_s / speed)}` : "";
  return `Keyframe ${place + 1}: reached in ${seconds(frame.reach_s / speed)}${pause}; ${frame.easing}`;
}
