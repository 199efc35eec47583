// One process of the race, for peers on node: answers the same questions as the Python peers, line by line in JSON.
import { createInterface } from "node:readline";

const PARTS = 3;
const peer = (await import(`./${process.argv[2]}.mjs`)).default;
const settled = () => new Promise((resolve) => setTimeout(resolve, 0));
const heap = () => {
  globalThis.gc?.();
  return process.memoryUsage().heapUsed;
};
let bytesPerSlice = null;

// Have the peer change its last part so many times; give back the microseconds of each change.
async function rounds(times) {
  const taken = await peer.round(times);
  await settled();
  return taken.map((milliseconds) => milliseconds * 1000);
}

async function gate() {
  for (const times of [1, 3]) {
    const before = peer.deliveries();
    await rounds(times);
    const got = peer.deliveries() - before;
    if (got !== times) throw new Error(`delivered ${got} values after ${times} changes, where ${times} are right`);
  }
}

async function build({ slices, messages, changed, depth }) {
  if (changed !== 1 || depth !== "text") throw new Error("only the text of one part is changed on node");
  const places = Array.from({ length: slices }, (_, n) => n % (messages * PARTS)).map((n) => [Math.floor(n / PARTS), n % PARTS]);
  if (messages < 3) throw new Error("needs at least 3 messages: the last is streamed, and one asks for it");
  await peer.prepare(messages, PARTS, places.at(-1));
  const empty = heap();
  peer.listen(places);
  bytesPerSlice = slices ? (heap() - empty) / slices : 0;
  await gate();
  // The compiler of node gets faster for a while; what is measured comes after that.
  for (const end = performance.now() + 300; performance.now() < end; ) await rounds(5);
  const estimates = await rounds(3);
  return { version: peer.version(), estimate_us: Math.min(...estimates) };
}

// A peer that compares inside its own library cannot be counted.
const evaluated = (before) => (before === null ? null : peer.evaluations() - before);

const answers = {
  build,
  async round(times) {
    const before = process.cpuUsage();
    const taken = await rounds(times);
    const { user, system } = process.cpuUsage(before);
    // Time of the processor, as in the other peers; by the clock where the compiler's threads would make that more.
    const byClock = taken.reduce((sum, value) => sum + value, 0);
    return { mean_us: Math.min(byClock, user + system) / times, worst_us: Math.max(...taken) };
  },
  async count() {
    const before = [peer.deliveries(), peer.evaluations()];
    await rounds(1);
    return { deliveries: peer.deliveries() - before[0], evaluations: evaluated(before[1]) };
  },
  async memory() {
    return { bytes_per_slice: bytesPerSlice };
  },
  async close() {
    peer.close();
    const before = peer.deliveries();
    await rounds(1);
    if (peer.deliveries() !== before) throw new Error("delivered after its end");
    return { closed: true };
  },
};

for await (const line of createInterface({ input: process.stdin })) {
  const [[name, argument]] = Object.entries(JSON.parse(line));
  let answer;
  try {
    if (!(name in answers)) throw new Error(`${name} is not measured on node`);
    answer = await answers[name](argument);
  } catch (error) {
    answer = { error: String(error?.message ?? error) };
  }
  process.stdout.write(JSON.stringify(answer) + "\n");
}
process.exit(0);
