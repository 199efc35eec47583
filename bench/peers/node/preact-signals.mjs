// Signals of @preact/signals-core: one signal of snapshots, and a computed value with an effect per part.
import { computed, effect, signal } from "@preact/signals-core";
import { versionOf } from "./package_version.mjs";

let deliveries = 0;
let evaluations = 0;
let number = 0;
let state;
let hot;
let endings = [];

function change() {
  const [index, position] = hot;
  const messages = state.peek().messages.slice();
  const content = messages[index].content.slice();
  content[position] = { text: `token ${++number}` };
  messages[index] = { ...messages[index], content };
  state.value = { messages };
}

export default {
  version: () => versionOf("@preact/signals-core"),
  async prepare(count, parts, place) {
    hot = place;
    const content = () => Array.from({ length: parts }, () => ({ text: "x" }));
    state = signal({ messages: Array.from({ length: count }, (_, id) => ({ id: `m${id}`, content: content() })) });
  },
  listen(places) {
    for (const [index, position] of places) {
      const text = computed(() => {
        evaluations++;
        return state.value.messages[index].content[position].text;
      });
      endings.push(
        effect(() => {
          void text.value;
          deliveries++;
        }),
      );
    }
    deliveries = evaluations = 0;
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
