// The sound of a motion: which file, when it starts, its waveform on the time line, and how it is heard while the motion plays.
import { ask, edit, on, value } from "./link.js";
import { el, fail, svg } from "./dom.js";
import { bindField } from "./fields.js";

const MOST_APART_S = 0.15; // between the sound and the playhead, before the sound is started again
let loaded = null; // the file that is shown, with its peaks, its duration and its samples
let context = null, source = null, begun = 0, rate = 1;
const watchers = [];

export const soundEdit = (args, gesture = "") => edit("set_sound", { page: value("cursor").page, ...args }, gesture);

on("motion", load);
on("file", load);
on("player", hear);
on("mode", () => value("player") && hear(value("player")));

async function load() {
  const file = value("motion")?.sound?.file ?? null, folder = value("file")?.name ?? "";
  if (file === (loaded?.file ?? null) && (!file || folder === loaded.folder)) { watchers.forEach((show) => show(loaded)); return; }
  stop();
  const mine = loaded = file && { file, folder };
  if (mine) {
    try {
      const { data, ...told } = await ask("sound.load", { file });
      Object.assign(mine, { peaks: told.peaks, duration_s: told.duration_s });
      mine.samples = await new OfflineAudioContext(1, 1, 44100).decodeAudioData(Uint8Array.from(atob(data), (sign) => sign.charCodeAt(0)).buffer);
    } catch (error) { fail(error); }
  }
  if (mine === loaded) watchers.forEach((show) => show(loaded));
}

// Start, move or stop the sound, so that it is where the playhead is.
function hear(player) {
  const sound = value("motion")?.sound;
  if (!player.playing || !sound || !loaded?.samples || value("mode") !== "motion" || document.hidden) { stop(); return; }
  context ??= new AudioContext();
  if (context.state !== "running") { context.resume(); return; }
  const place_s = player.time_s - sound.start_s;
  if (source && rate === player.speed && Math.abs(place_s - (context.currentTime - begun) * rate) < MOST_APART_S) return;
  stop();
  if (place_s >= loaded.duration_s) return;
  rate = player.speed;
  begun = context.currentTime - place_s / rate;
  source = context.createBufferSource();
  source.buffer = loaded.samples;
  source.playbackRate.value = rate;
  source.connect(context.destination);
  source.start(Math.max(context.currentTime, begun), Math.max(0, place_s));
  document.body.dataset.sound = "on";
}
function stop() {
  source?.stop();
  source = null;
  delete document.body.dataset.sound;
}

// The waveform on the time line; `draw` puts it where times are, and `onLoad` is called when there is another one.
export function lane(onLoad) {
  const path = svg("path", {}), drawing = svg("svg", { preserveAspectRatio: "none", role: "img" }, path), name = el("span", { class: "faint" });
  const element = el("div", { class: "sound", hidden: true, title: "Drag: when the sound starts" }, drawing, name);
  watchers.push((sound) => {
    element.hidden = !sound;
    if (!sound) return;
    name.textContent = sound.file;
    drawing.setAttribute("aria-label", `Waveform of ${sound.file}`);
    const peaks = sound.peaks ?? [], edge = (sign) => peaks.map((peak, place) => `${place} ${(1 + sign * peak).toFixed(3)}`);
    drawing.setAttribute("viewBox", `0 0 ${Math.max(peaks.length - 1, 1)} 2`);
    path.setAttribute("d", peaks.length ? `M${[...edge(-1), ...edge(1).reverse()].join("L")}Z` : "");
    onLoad();
  });
  return { element, draw: (x) => {
    const sound = value("motion").sound;
    element.parentElement.classList.toggle("has-sound", Boolean(sound));
    if (!sound) return;
    const left = x(sound.start_s), right = x(sound.start_s + (loaded?.duration_s ?? 0));
    Object.assign(drawing.style, { left: `${left}px`, width: `${Math.max(2, right - left)}px` });
    name.style.left = `${right + 4}px`;
  } };
}

// The rows of the tab Motion: the file, and when it starts.
export function controls() {
  const file = el("select", { id: "motion-sound", onfocus: fill, onchange: () => soundEdit({ file: file.value, start_s: 0 }).catch((error) => { fail(error); show(); }) });
  const start = el("input", { type: "number", id: "motion-sound-start", class: "short", min: 0, step: 0.1, "aria-label": "When the sound starts [s]" });
  const showStart = bindField(start, (start_s) => soundEdit({ file: file.value, start_s }).catch(fail), { owner: () => value("cursor")?.page });
  let names = [];
  on("motion", show);
  on("file", fill);
  return { file, start };

  async function fill() {
    try { names = await ask("sound.choices"); } catch (error) { fail(error); }
    show();
  }
  function show() {
    const sound = value("motion")?.sound, all = [...new Set([...names, ...(sound ? [sound.file] : [])])];
    if (all.join() !== [...file.options].slice(1).map((one) => one.value).join()) {
      file.replaceChildren(el("option", { value: "" }, all.length ? "none" : "none (no .wav file in the folder)"), ...all.map((one) => el("option", { value: one }, one)));
    }
    file.value = sound?.file ?? "";
    start.disabled = !sound;
    showStart(sound?.start_s);
  }
}
