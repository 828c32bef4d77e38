// The angle a joint was commanded, and the one it had in physics, over time.
import { ask, on, value } from "./link.js";
import { el, fail, svg, words } from "./dom.js";

const WIDTH = 360, HEIGHT = 150, LEFT = 40, RIGHT = 6, TOP = 8, BOTTOM = 20;

// Return what is called with the joints that can be shown, the worst first; with none, nothing is.
export function angleCurves(root) {
  const chosen = el("select", { id: "angles-joint", onchange: draw });
  const picture = el("div"), head = svg("line", { y1: TOP, y2: HEIGHT - BOTTOM, class: "playhead" });
  let joints = [], scale = null;
  root.append(el("h3", {}, "Commanded and simulated angle"), el("label", { class: "row" }, "Joint", chosen), picture,
    el("p", { class: "legend" }, el("span", { class: "told" }, "- - commanded"), el("span", { class: "done" }, "— simulated")));
  on("player", ({ time_s }) => place(time_s));

  function place(time_s) {
    if (!scale) return;
    head.setAttribute("x1", scale(time_s));
    head.setAttribute("x2", scale(time_s));
  }

  async function draw() {
    const joint = joints.find((one) => one.name === chosen.value);
    try {
      const told = await ask("truth.angles", { joint: joint.name });
      if (joint.name === chosen.value) show(joint, told);
    } catch (error) { if (joints.length) fail(error); }
  }

  function show(joint, { times_s, expected_deg, simulated_deg }) {
    const both = [...expected_deg, ...simulated_deg], last = times_s.at(-1);
    const low = Math.floor(Math.min(...both) - 1), high = Math.ceil(Math.max(...both) + 1);
    const x = (time) => LEFT + time / last * (WIDTH - LEFT - RIGHT);
    const y = (angle) => TOP + (high - angle) / (high - low) * (HEIGHT - TOP - BOTTOM);
    const line = (angles, name) => svg("polyline", { class: name, points: angles.map((angle, row) => `${x(times_s[row]).toFixed(1)},${y(angle).toFixed(1)}`).join(" ") });
    const label = (text, at, props) => svg("text", { ...at, ...props }, text);
    const title = `${words(joint.name)}: at most ${joint.max_deg.toFixed(1)} degrees behind, at ${Math.max(0, joint.time_s).toFixed(2)} s`;
    const drawn = svg("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img", "aria-label": title, class: "angles" },
      svg("rect", { x: LEFT, y: TOP, width: WIDTH - LEFT - RIGHT, height: HEIGHT - TOP - BOTTOM, class: "frame" }),
      label(`${high}°`, { x: LEFT - 4, y: TOP + 9 }, { "text-anchor": "end" }), label(`${low}°`, { x: LEFT - 4, y: HEIGHT - BOTTOM }, { "text-anchor": "end" }),
      label("0 s", { x: LEFT, y: HEIGHT - 5 }, { "text-anchor": "start" }), label(`${last.toFixed(1)} s`, { x: WIDTH - RIGHT, y: HEIGHT - 5 }, { "text-anchor": "end" }),
      line(expected_deg, "told"), line(simulated_deg, "done"), head);
    drawn.addEventListener("click", (event) => {
      const box = drawn.getBoundingClientRect(), at = (event.clientX - box.left) / box.width * WIDTH;
      ask("player.seek", { time_s: Math.max(0, (at - LEFT) / (WIDTH - LEFT - RIGHT) * last) }).catch(fail);
    });
    scale = x;
    picture.replaceChildren(drawn, el("p", { class: "faint" }, title));
    place(value("player").time_s);
  }

  return (known) => {
    const kept = chosen.value;
    joints = known;
    root.hidden = !known.length;
    chosen.replaceChildren(...known.map(({ name, max_deg }) => el("option", { value: name }, `${words(name)} (${max_deg.toFixed(1)}° behind)`)));
    if (!known.length) { picture.replaceChildren(); scale = null; return; }
    if (known.some(({ name }) => name === kept)) chosen.value = kept;
    draw();
  };
}
