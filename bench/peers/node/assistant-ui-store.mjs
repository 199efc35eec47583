// The published store: an external thread in a standalone client, a tracked reader per message part, flushed at once.
import { MODULES, versionOf } from "./package_version.mjs";

const dist = new URL("@assistant-ui/store/dist/", MODULES);
const { createAssistantClient } = await import(new URL("createAssistantClient.js", dist));
const { trackedBy } = await import(new URL("utils/scoped-signal.js", dist));
const { flushTapSync } = await import("@assistant-ui/tap");
const { ExternalThread } = await import("@assistant-ui/core/store");

let deliveries = 0;
let evaluations = 0;
let number = 0;
let messages;
let hot;
let element;
let client;
let endings = [];
const listeners = new Set();

const message = (id, parts) => ({
  id: `m${id}`,
  role: "assistant",
  createdAt: new Date(),
  status: { type: "complete", reason: "stop" },
  metadata: { custom: {}, unstable_state: null, unstable_annotations: [], unstable_data: [], steps: [] },
  content: Array.from({ length: parts }, () => ({ type: "text", text: "x" })),
});
const show = () => {
  element = { thread: ExternalThread({ messages, isRunning: true }) };
};

function change() {
  const [index, position] = hot;
  const content = messages[index].content.slice();
  content[position] = { ...content[position], text: `token ${++number}` };
  messages = messages.slice();
  messages[index] = { ...messages[index], content };
  show();
  flushTapSync(() => {
    for (const listener of listeners) listener();
  });
}

export default {
  version: () => versionOf("@assistant-ui/store"),
  async prepare(count, parts, place) {
    hot = place;
    messages = Array.from({ length: count }, (_, id) => message(id, parts));
    show();
    client = createAssistantClient({
      getConfig: () => element,
      subscribe: (listener) => {
        listeners.add(listener);
        return () => listeners.delete(listener);
      },
    });
    client.subscribe(() => {});
    change();
  },
  listen(places) {
    const aui = client.getClient();
    for (const [index, position] of places) {
      const read = () => aui.thread.message({ index }).part({ index: position }).getState().text;
      const tracked = trackedBy(read);
      let last = tracked.value;
      const hear = () => {
        evaluations++;
        const now = read();
        if (now !== last) {
          last = now;
          deliveries++;
        }
      };
      if (tracked.untracked || tracked.signals.length === 0) {
        endings.push(client.subscribe(hear));
        continue;
      }
      for (const signal of tracked.signals) {
        signal.readers.add(hear);
        endings.push(() => signal.readers.delete(hear));
      }
    }
  },
  async round(times) {
    const taken = [];
    for (let k = 0; k < times; k++) {
      const start = performance.now();
      change();
      taken.push(performance.now() - start);
    }
    return taken;
  },
  deliveries: () => deliveries,
  evaluations: () => evaluations,
  close() {
    for (const end of endings) end();
    endings = [];
  },
};
