import {
  ReeveError
} from "./chunk-2KGDF53E.mjs";

// src/commands/signals.ts
import { writeSync } from "node:fs";
import { constants } from "node:os";
var stopSignals = ["SIGINT", "SIGTERM", "SIGHUP"];
var deadlineMs = 9500;
function watchSignals() {
  const controller = new AbortController();
  const received = new Promise((resolve) => {
    const stop = (name) => {
      if (controller.signal.aborted) process.exit(128 + constants.signals[name]);
      setTimeout(exitLate, deadlineMs).unref();
      resolve(name);
      controller.abort(new ReeveError("stopped", `stopped by ${name}`));
    };
    for (const name of stopSignals) process.on(name, stop);
  });
  return {
    signal: controller.signal,
    received,
    explains: (error) => controller.signal.aborted && error instanceof ReeveError && error.code === "stopped"
  };
}
function exitLate() {
  writeSync(
    2,
    `reeve: not everything could be closed within ${deadlineMs / 1e3} s; the process ends now
`
  );
  process.exit(1);
}

export {
  watchSignals
};
