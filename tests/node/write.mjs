// Reads chunks as JSON lines on standard input, and writes them as the named wire of the published package.
import fs from "node:fs";
import { AssistantTransportEncoder, DataStreamEncoder, PlainTextEncoder } from "assistant-stream";

const ENCODERS = {
  "data-stream": DataStreamEncoder,
  "assistant-transport": AssistantTransportEncoder,
  "plain-text": PlainTextEncoder,
};
const lines = fs.readFileSync(0, "utf8").split("\n").filter((line) => line !== "");
const chunks = new ReadableStream({
  start(controller) {
    for (const line of lines) controller.enqueue(JSON.parse(line));
    controller.close();
  },
});
for await (const bytes of chunks.pipeThrough(new ENCODERS[process.argv[2]]())) process.stdout.write(bytes);
