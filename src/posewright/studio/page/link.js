// The link to the session: requests with answers, and topics that are shown whenever they change.
const waiting = new Map();
const watchers = new Map();
const topics = {};
let socket, number = 0, told = () => {};
// Whether the studio was started again, so that the page is loaded anew and asks nothing about unsaved edits.
export let isStale = false;

export function connect(onState) {
  told = onState;
  socket = new WebSocket(`ws://${location.host}/socket`);
  socket.onopen = () => told("open");
  socket.onmessage = (event) => take(JSON.parse(event.data));
  socket.onclose = async () => {
    for (const { reject } of waiting.values()) reject(new Error("The studio does not answer."));
    waiting.clear();
    told("closed");
    if (await isRefused()) told("refused");
    setTimeout(() => connect(onState), 1000);
  };
}

// Whether a studio answers that does not know this page's token.
async function isRefused() {
  try { return (await fetch(location.href)).status === 401; } catch { return false; }
}

function take(message) {
  if ("topic" in message) {
    if (message.topic === "session" && topics.session && topics.session.id !== message.value.id) {
      isStale = true;
      location.reload();
    }
    if ("splice" in message) {
      const [key, at, removed, inserted] = message.splice;
      const list = topics[message.topic][key].slice();
      list.splice(at, removed, ...inserted);
      topics[message.topic] = { ...topics[message.topic], [key]: list };
    } else topics[message.topic] = message.value;
    for (const watcher of watchers.get(message.topic) ?? []) watcher(topics[message.topic], message.splice);
  } else if (waiting.has(message.id)) {
    const { resolve, reject } = waiting.get(message.id);
    waiting.delete(message.id);
    if (message.error) reject(Object.assign(new Error(message.error.message), message.error));
    else resolve(message.answer);
  }
}

// Ask for an action such as "player.seek"; the promise is kept with the answer, or broken with the error.
export function ask(action, args = {}) {
  if (socket?.readyState !== WebSocket.OPEN) return Promise.reject(new Error("The studio does not answer."));
  const id = ++number;
  socket.send(JSON.stringify({ id, do: action, with: args }));
  return new Promise((resolve, reject) => waiting.set(id, { resolve, reject }));
}

// Change the document; changes of one gesture are one to undo.
export const edit = (command, args, gesture = "") => ask("session.edit", { command, arguments: args, gesture });

// Call `watcher` with a topic's value now, if there is one, and whenever it changes.
export function on(topic, watcher) {
  if (!watchers.has(topic)) watchers.set(topic, []);
  watchers.get(topic).push(watcher);
  if (topic in topics) watcher(topics[topic]);
}

// Send what is newest, no sooner than the answer to the one before is there: what lies between is left out.
// The promise is kept once nothing more is to be sent.
export function latest(send) {
  let running = null, next;
  return (...args) => {
    next = args;
    running ??= drain();
    return running;
  };
  async function drain() {
    while (next) {
      const now = next;
      next = undefined;
      await send(...now);
    }
    running = null;
  }
}

export const value = (topic) => topics[topic];

// Show a topic as it will be, before the session says so.
export function foresee(topic, told) {
  topics[topic] = told;
  for (const watcher of watchers.get(topic) ?? []) watcher(told);
}

let gestures = 0;
export const newGesture = () => `${performance.timeOrigin}-${++gestures}`;
