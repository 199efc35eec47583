// The published local runtime through its runtime API: one subscription per message part, fed by an async generator.
import { MODULES, versionOf } from "./package_version.mjs";

const dist = new URL("@assistant-ui/core/dist/", MODULES);
const { LocalRuntimeCore } = await import(new URL("runtimes/local/local-runtime-core.js", dist));
const { AssistantRuntimeImpl } = await import(new URL("runtime/api/assistant-runtime.js", dist));

const text = (value) => ({ type: "text", text: value });
let deliveries = 0;
let number = 0;
let thread;
let hot;
let parts;
let endings = [];
let wake; // hands the next round to the generator

async function* model() {
  for (;;) {
    const { times, done } = await new Promise((resolve) => { wake = resolve; });
    const taken = [];
    for (let k = 0; k < times; k++) {
      const content = Array.from({ length: parts }, () => text("x"));
      content[hot[1]] = text(`token ${++number}`);
      const start = performance.now();
      yield { content };
      taken.push(performance.now() - start);
    }
    done(taken);
  }
}

const waiting = async () => {
  while (!wake) await new Promise((resolve) => setTimeout(resolve, 1));
};

export default {
  version: () => versionOf("@assistant-ui/core"),
  async prepare(messages, partsPerMessage, place) {
    parts = partsPerMessage;
    hot = place;
    if (hot[0] !== messages - 1) throw new Error("only the last message is streamed");
    const content = () => Array.from({ length: parts }, () => text("x"));
    const initial = Array.from({ length: messages - 2 }, () => ({ role: "assistant", content: content() }));
    const core = new LocalRuntimeCore({ adapters: { chatModel: { run: model } } }, initial);
    thread = new AssistantRuntimeImpl(core).thread;
    thread.append({ role: "user", content: content() });
    await waiting();
    await this.round(1);
    if (thread.getState().messages.length !== messages) throw new Error("the thread has another length");
    deliveries = 0;
  },
  listen(places) {
    for (const [index, position] of places) {
      const part = thread.getMessageByIndex(index).getMessagePartByIndex(position);
      let last = part.getState().text;
      endings.push(
        part.subscribe(() => {
          const now = part.getState().text;
          if (now !== last) {
            last = now;
            deliveries++;
          }
        }),
      );
    }
  },
  async round(times) {
    await waiting();
    const run = wake;
    wake = undefined;
    return new Promise((done) => run({ times, done }));
  },
  deliveries: () => deliveries,
  evaluations: () => null,
  close() {
    for (const end of endings) end();
    endings = [];
  },
};
