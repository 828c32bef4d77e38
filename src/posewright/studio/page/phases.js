// The phase diagram: which foot is down when; and what came of a walk in physics.
import { ask, latest, newGesture, on, value } from "./link.js";
import { el, fail, svg, words } from "./dom.js";

const STEP = 0.01;  // of a cycle, for each press of an arrow key

export function mountPhases(root) {
  const rows = el("div", { id: "phase-rows" }), note = el("p", { class: "faint", id: "footing" });
  const result = el("div", { id: "walked", role: "status" });
  root.append(el("section", { "aria-label": "Phases" }, el("h2", {}, "Which foot is down when, over one cycle"), rows, note), result);
  let bars = [], marks = [], ways = [];
  on("gait", (gait) => {
    if (!gait) return;
    if (bars.length !== gait.feet.length) build(gait);
    gait.feet.forEach((foot, place) => bars[place](foot, gait.timing?.air_share ?? 0));
  });
  on("walk", (walk) => marks.forEach((mark) => {
    mark.hidden = walk.phase === null;
    mark.style.left = `${100 * (walk.phase ?? 0)}%`;
  }));
  on("footing", ({ fastest, share, ways_mm }) => {
    drawWays(ways_mm);
    note.textContent = `Fastest joint: ${words(fastest)}, at ${(100 * share).toFixed(0)} % of its greatest speed${share > 1 ? ": it cannot follow." : "."}`;
    note.classList.toggle("gait-problem", share > 1);
  });
  on("walked", (walked) => result.replaceChildren(...(walked ? told(walked) : [])));

  function build(gait) {
    bars = [];
    marks = [];
    ways = [];
    rows.replaceChildren(...gait.feet.map((foot) => {
      const air = [0, 1].map(() => el("span", { class: "air" })), mark = el("span", { class: "now", hidden: true });
      const send = latest((lifts, gesture) => ask("gait.phase", { foot: foot.foot, lifts: (lifts + 1) % 1, gesture }).catch(fail));
      let from, gesture = "";
      const bar = el("div", { class: "phase", tabIndex: 0, role: "slider", "aria-valuemin": 0, "aria-valuemax": 1, "aria-label": `${words(foot.foot)} lifts at this part of the cycle`,
        onpointerdown: (event) => { bar.setPointerCapture(event.pointerId); from = { x: event.clientX, lifts: Number(bar.getAttribute("aria-valuenow")) }; gesture = newGesture(); },
        onpointermove: (event) => { if (event.buttons & 1 && from) send(from.lifts + (event.clientX - from.x) / bar.clientWidth, gesture); },
        onkeydown: (event) => {
          const step = { ArrowRight: STEP, ArrowLeft: -STEP }[event.key];
          if (!step) return;
          event.preventDefault();
          send(Number(bar.getAttribute("aria-valuenow")) + step, "");
        } }, ...air, mark);
      bar.style.setProperty("--foot", foot.colour);
      marks.push(mark);
      bars.push(({ lifts }, share) => {
        bar.setAttribute("aria-valuenow", lifts.toFixed(4));
        bar.setAttribute("aria-valuetext", `lifts at ${lifts.toFixed(2)} of the cycle, in the air for ${share.toFixed(2)} of it`);
        air.forEach((part, lap) => Object.assign(part.style, { left: `${100 * (lifts - lap)}%`, width: `${100 * share}%` }));
      });
      const line = svg("polyline", { stroke: foot.colour }), way = svg("svg", { role: "img", "aria-label": `Way of the ${words(foot.foot)} foot from the side` }, line);
      ways.push({ foot: foot.foot, way, line });
      return el("div", { class: "phase-row" }, el("abbr", { title: words(foot.foot) }, foot.short), bar, way);
    }));
    rows.append(el("p", { class: "faint" }, "Coloured: on the ground. Open: in the air. Drag a bar, or use the arrow keys, to lift a foot at another time. Beside it, the way of the foot from the side, forward to the right."));
  }
  // All ways from the side to one scale, forward to the right, so that they can be compared.
  function drawWays(all) {
    const points = Object.values(all).flat(), xs = points.map(([x]) => x), zs = points.map(([, z]) => z);
    const low = Math.min(0, ...zs), x = Math.min(...xs), middle = (x + Math.max(...xs)) / 2, wide = Math.max(Math.max(...xs) - x, 4 * (Math.max(...zs) - low), 1);
    for (const { foot, way, line } of ways) {
      way.setAttribute("viewBox", `${middle - 0.54 * wide} ${-low - 0.26 * wide} ${1.08 * wide} ${0.28 * wide}`);
      line.setAttribute("points", all[foot].map(([forward, up]) => `${forward},${-up}`).join(" "));
    }
  }
  function told({ falls, figures, seconds }) {
    const fallen = falls.map((fall) => `It fell ${fall.side} at ${fall.time_s.toFixed(2)} s.`).join(" ");
    const cell = (text, tag = "td") => el(tag, {}, text);
    return [el("h2", {}, `Walked ${seconds.toFixed(1)} s in physics`), el("p", { class: fallen ? "gait-problem" : "gait-fine" }, fallen || "It stayed on its feet."),
      el("table", {}, el("thead", {}, el("tr", {}, ...["Figure", "Measured", "Unit", "Asked", "Limit"].map((text) => cell(text, "th")))),
        el("tbody", {}, ...figures.map((one) => el("tr", { class: one.kept ? "" : "gait-problem" },
          ...[one.words, one.kept ? one.value : `${one.value} !`, one.unit, one.asked, one.limit].map((text) => cell(text))))))];
  }
}
