// src/commands/terminal.ts
import { styleText } from "node:util";
for (const stream of [process.stdout, process.stderr]) {
  stream.on("error", (error) => {
    if (error.code !== "EPIPE") throw error;
  });
}
var processTerminal = {
  out: (text) => void process.stdout.write(`${text}
`),
  error: (text) => void process.stderr.write(`${text}
`),
  style: (style, text) => styleText(style, text, { stream: process.stdout })
};
function plain(text) {
  return text.replace(/[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069]/gu, "\xB7");
}
function count(number, noun) {
  return `${number} ${noun}${number === 1 ? "" : "s"}`;
}

export {
  processTerminal,
  plain,
  count
};
