/**
 * Resolves when this process is asked to stop (SIGINT, SIGTERM). A second signal ends it at once: whoever presses Ctrl-C
 * twice has waited long enough.
 */
export function untilStopped(): Promise<NodeJS.Signals> {
  return new Promise((resolve) => {
    const stop = (signal: NodeJS.Signals): void => {
      for (const name of ['SIGINT', 'SIGTERM'] as const) {
        process.removeListener(name, stop);
        process.once(name, () => process.exit(130));
      }
      resolve(signal);
    };
    process.once('SIGINT', stop);
    process.once('SIGTERM', stop);
  });
}
