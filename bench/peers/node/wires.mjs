// Reads an answer from the bytes of a file with the published package, again and again: one line of JSON a round, in seconds of the processor.
import { readFileSync } from "node:fs";
import {
  AssistantMessageAccumulator,
  AssistantTransportDecoder,
  DataStreamDecoder,
  PlainTextDecoder,
  UIMessageStreamDecoder,
} from "assistant-stream";

const [wire, file, rounds] = process.argv.slice(2);
const bytes = new Uint8Array(readFileSync(file));
const PIECE = 4096;
const decoders = {
  "data-stream": () => new DataStreamDecoder(),
  "assistant-transport": () => new AssistantTransportDecoder(),
  "plain-text": () => new PlainTextDecoder(),
  "ui-message-stream": () => new UIMessageStreamDecoder(),
};

function source() {
  let at = 0;
  return new ReadableStream({
    pull(controller) {
      if (at >= bytes.length) return controller.close();
      controller.enqueue(bytes.subarray(at, (at += PIECE)));
    },
  });
}

for (let round = 0; round < Number(rounds); round++) {
  const begun = process.cpuUsage();
  const stream = source().pipeThrough(decoders[wire]()).pipeThrough(new AssistantMessageAccumulator());
  let last;
  for await (const message of stream) last = message;
  const { user, system } = process.cpuUsage(begun);
  const seconds = (user + system) / 1e6;
  const text = last.parts.filter((part) => part.type === "text").map((part) => part.text).join("");
  console.log(JSON.stringify({ seconds, length: text.length }));
}
