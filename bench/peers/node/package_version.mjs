// The version of an installed package, also of one that does not export its package.json.
import { readFileSync } from "node:fs";

export const MODULES = new URL("../../node_modules/", import.meta.url);

export function versionOf(name) {
  const text = readFileSync(new URL(`${name}/package.json`, MODULES), "utf8");
  return `${name} ${JSON.parse(text).version}, node ${process.versions.node}`;
}
