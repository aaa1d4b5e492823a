/** What a process is asked for, and with what. */
export type Question = { readonly ask: string; readonly value?: unknown };

/** Answers the questions of the parent, one at a time, for as long as it lives. */
export function answerQuestions(
  answers: Readonly<Record<string, (value: never) => unknown>>,
  ready: unknown,
): void {
  process.on('message', async ({ ask, value }: Question) => {
    const answer = answers[ask];
    if (answer === undefined) throw new Error(`no answer to ${ask}`);
    process.send?.((await answer(value as never)) ?? 'done');
  });
  process.on('disconnect', () => process.exit(1));
  process.send?.(ready);
}

/**
 * How many were handled, and when the first and the last of them, in milliseconds of the monotonic clock of the machine; and the
 * processor time that the process has used so far.
 */
export type Handled = {
  readonly count: number;
  readonly firstMs: number;
  readonly lastMs: number;
  readonly processorMs: number;
};

/** Counts what a process has handled. */
export function createTally() {
  let count = 0;
  let firstMs = 0;
  let lastMs = 0;
  return {
    add(more = 1): void {
      lastMs = nowMs();
      if (count === 0) firstMs = lastMs;
      count += more;
    },
    read(): Handled {
      const { user, system } = process.cpuUsage();
      return { count, firstMs, lastMs, processorMs: (user + system) / 1_000 };
    },
  };
}

/** Returns the milliseconds of the clock that all processes of the machine share. */
export function nowMs(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}
