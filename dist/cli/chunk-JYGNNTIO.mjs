// src/commands/signals.ts
function untilStopped() {
  return new Promise((resolve) => {
    const stop = (signal) => {
      for (const name of ["SIGINT", "SIGTERM"]) {
        process.removeListener(name, stop);
        process.once(name, () => process.exit(130));
      }
      resolve(signal);
    };
    process.once("SIGINT", stop);
    process.once("SIGTERM", stop);
  });
}

export {
  untilStopped
};
