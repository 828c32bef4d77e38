// Where the current page leads, drawn: what follows it, what it is left through, and what leads to it.
import { on, value } from "./link.js";
import { el, svg } from "./dom.js";

const NODE = { width: 132, height: 36 }, GAP = { x: 12, y: 30 }, MOST_DEEP = 4, MOST_BEFORE = 2, WIDTH = 312;

export function mount(root, look) {
  const drawing = el("div", { id: "page-graph" });
  root.append(el("h3", {}, "Where it leads"), drawing);
  on("links", draw);
  on("cursor", draw);
  on("pages", draw);

  function draw() {
    const told = value("links"), cursor = value("cursor");
    if (!told || !cursor || !told.links[cursor.page]) return;
    const now = String(cursor.page), layers = layersOf(now, told.links);
    root.hidden = layers.flat().length < 2;
    const places = new Map(layers.flatMap((layer, row) => layer.map((page, column) => {
      const free = WIDTH - layer.length * NODE.width - (layer.length - 1) * GAP.x;
      return [page, { x: free / 2 + column * (NODE.width + GAP.x), y: 2 + row * (NODE.height + GAP.y), row }];
    })));
    const height = layers.length * (NODE.height + GAP.y) - GAP.y + 4;
    const arrow = svg("marker", { id: "graph-arrow", viewBox: "0 0 8 8", refX: 7, refY: 4, markerWidth: 7, markerHeight: 7, orient: "auto" }, svg("path", { d: "M0 0 8 4 0 8z" }));
    drawing.replaceChildren(svg("svg", { viewBox: `0 0 ${WIDTH} ${height}`, width: WIDTH, height, role: "group", "aria-label": "Pages that lead to each other" },
      svg("defs", {}, arrow), ...edges(places, told.links), ...[...places].map(([page, at]) => node(page, at, told.links[page], page === now))));
  }
  function node(page, at, link, isNow) {
    const often = !link ? "another file" : link.repeat === null ? "for ever ↻" : link.repeat === 1 ? "once" : `${link.repeat} times ↻`;
    const name = link ? `${page} ${value("pages").find(({ number }) => String(number) === page)?.name ?? ""}` : page;
    const go = () => link && !isNow && look(Number(page));
    const press = (event) => { if (event.key === "Enter" || event.key === " ") { event.preventDefault(); event.stopPropagation(); go(); } };
    return svg("g", { transform: `translate(${at.x} ${at.y})`, class: isNow ? "now" : link ? "page" : "away", role: link && !isNow ? "button" : "img", tabindex: link && !isNow ? 0 : false,
      "aria-label": `${name}, ${often}${isNow ? ", this page" : ""}`, onclick: go, onkeydown: press },
      svg("title", {}, name), svg("rect", { width: NODE.width, height: NODE.height, rx: 6 }),
      svg("text", { x: 8, y: 15 }, name.length > 20 ? `${name.slice(0, 19)}…` : name), svg("text", { x: 8, y: 29, class: "often" }, often));
  }
}

// Rows of pages: some that lead to the current one, the current one, and what it leads to, step by step.
function layersOf(now, links) {
  const leads = (page) => [links[page]?.next, links[page]?.exit].filter((to) => to && to !== page);
  const before = Object.keys(links).filter((page) => page !== now && leads(page).includes(now)).slice(0, MOST_BEFORE);
  const layers = [[now]], seen = new Set([now]);
  while (layers.length <= MOST_DEEP) {
    const layer = [...new Set(layers.at(-1).flatMap(leads))].filter((page) => !seen.has(page)).slice(0, 2);
    if (!layer.length) break;
    layer.forEach((page) => seen.add(page));
    layers.push(layer);
  }
  const others = before.filter((page) => !seen.has(page));
  return others.length ? [others, ...layers] : layers;
}

// An arrow from page to page, straight down or bent back up at the side; `exit` is dashed.
function edges(places, links) {
  return [...places.keys()].flatMap((page) => ["next", "exit"].flatMap((what) => {
    const from = places.get(page), to = places.get(links[page]?.[what]);
    if (!to || from === to || (what === "exit" && links[page].exit === links[page].next)) return [];
    const middle = NODE.width / 2 + (what === "exit" ? 18 : -18);
    const isDown = to.row === from.row + 1;
    const [x1, y1, x2, y2] = isDown ? [from.x + middle, from.y + NODE.height, to.x + middle, to.y] : [from.x + NODE.width, from.y + NODE.height / 2, to.x + NODE.width, to.y + NODE.height / 2];
    const out = Math.max(x1, x2) + 30;
    const path = isDown ? `M${x1} ${y1}L${x2} ${y2 - 1}` : `M${x1} ${y1}C${out} ${y1} ${out} ${y2} ${x2 + 1} ${y2}`;
    const label = isDown ? { x: (x1 + x2) / 2 + (what === "exit" ? 5 : -5), y: (y1 + y2) / 2 + 4, "text-anchor": what === "exit" ? "start" : "end" } : { x: out - 6, y: (y1 + y2) / 2 + 4 };
    return [svg("path", { d: path, class: what, "marker-end": "url(#graph-arrow)" }), svg("text", { ...label, class: "edge" }, what)];
  }));
}
