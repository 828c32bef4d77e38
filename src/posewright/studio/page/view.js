// The view: a motion is played, and shown anew when its file changes. Nothing can be edited.
import { themeSwitch } from "./bar.js";
import { ask, connect, latest, on, value } from "./link.js";
import { button, checkbox, el, fail, options, tell } from "./dom.js";
import { isIdle, shortcuts } from "./keys.js";
import { timesOf } from "./track.js";

const bar = document.getElementById("bar"), strip = document.getElementById("strip"), send = (action, args) => ask(action, args).catch(fail);
document.getElementById("view").src = `/view?websocket=ws://${location.host}/view/socket`;

const name = el("h1"), about = el("span", { class: "faint" }), broken = el("span", { id: "broken", role: "alert", hidden: true });
const page = el("select", { id: "page", "aria-label": "Page", onchange: () => send("session.look", { page: Number(page.value) }) });
const paint = (isDark) => ask("file.show", { is_dark: isDark }).catch(() => {});
bar.append(name, about, page, el("span", { class: "grow" }), broken, themeSwitch(paint));

const play = button("Play", toggle, { id: "play", class: "main", title: "Play or pause (Space)" });
const seek = latest((time_s) => send("player.seek", { time_s }));
const head = el("input", { type: "range", id: "head", min: 0, step: 0.01, "aria-label": "Time", oninput: () => seek(head.valueAsNumber) });
const clock = el("output", { id: "clock" }), keyframe = el("span", { class: "faint" });
const loop = checkbox("Loop", (on) => send("player.manner", { loop: on }), { id: "loop" });
const speed = el("select", { id: "speed", "aria-label": "Speed", onchange: () => send("player.manner", { speed: Number(speed.value) }) }, ...options([0.1, 0.25, 0.5, 1, 2], (times) => `${times} ×`));
strip.append(play, head, clock, keyframe, loop.label, speed);

on("player", (player) => {
  play.textContent = player.playing ? "Pause" : "Play";
  head.max = player.duration_s;
  head.value = player.time_s;
  clock.textContent = `${player.time_s.toFixed(2)} / ${player.duration_s.toFixed(2)} s`;
  loop.box.checked = player.loop;
  speed.value = player.speed;
  showKeyframe(player.time_s, value("motion"));
});
on("file", ({ name: file, message }) => {
  about.textContent = file;
  broken.textContent = message && `${message}. The last one that could be read is shown.`;
  broken.hidden = !message;
});
on("motion", (motion) => { name.textContent = motion.name; document.title = `${motion.name} - Posewright view`; });
on("pages", (pages) => {
  page.replaceChildren(...pages.map((one) => el("option", { value: one.number }, `${one.number} ${one.name}`)));
  page.hidden = pages.length < 2;
  page.value = value("cursor")?.page;
});
on("cursor", (cursor) => { page.value = cursor.page; });

function showKeyframe(time_s, motion) {
  if (!motion) return;
  const count = motion.keyframes.length, place = timesOf(motion).end.findIndex((end) => time_s <= end + 1e-6);
  keyframe.textContent = `keyframe ${place < 0 ? count : place + 1} of ${count}`;
}

function toggle() { send(value("player").playing ? "player.pause" : "player.play"); }
shortcuts("Everywhere", [["Space", "Play or pause", toggle, isIdle]]);

let wasOpen = false;
connect((state) => {
  document.body.dataset.link = state;
  if (state === "open") {
    paint(document.documentElement.dataset.theme === "dark");
    if (!wasOpen) ask("player.manner", { loop: true }).then(() => ask("player.play")).catch(fail);
  }
  if (state === "closed" && wasOpen) tell("The view has stopped. This page connects again when it is back.", true);
  if (state === "refused") tell("Another program runs here now. Open the address that it prints.", true);
  wasOpen = state === "open";
});
