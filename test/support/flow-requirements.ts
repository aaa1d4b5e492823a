import { it, type TestContext, type TestOptions } from 'vitest';
import { realServer } from './flow-names.ts';

/** Requirements of flows beyond what every server supports, each with the message if it is not met. */
const needs = {
  'a stopped clock': { isThere: !realServer, lack: 'the clock of a real server goes on by itself' },
  'control routes': { isThere: !realServer, lack: 'only the embedded forge has control routes' },
  'its own process': { isThere: !realServer, lack: 'the test starts and ends the embedded forge itself' },
  'a played forge': { isThere: !realServer, lack: 'the forge of this test is played by the test' },
  'a restart': {
    isThere: !realServer || realServer.restartCommand !== undefined,
    lack: 'FORGE_RESTART names no command that restarts the server',
  },
} as const;

declare module 'vitest' {
  interface TaskMeta {
    /** Requirement that a running flow found to be unmet, for the report. */
    lack?: string;
  }
}

/** Requirement of a flow for the forge on which it runs. */
type Need = keyof typeof needs;

/** Function that declares flows: vitest's `it`, reduced to what flows use. */
type Declare = Pick<typeof it, 'each'> &
  ((title: string, how: TestOptions | Body, body?: Body | number) => void);
type Body = () => unknown;

/**
 * Returns `it` for flows with a requirement for the forge. If the requirement is not met, the flow is reported as
 * skipped and its title ends with the reason, so that the list of results shows it.
 */
export function requiring(need: Need): Declare {
  const { isThere, lack } = needs[need];
  if (isThere) return it as Declare;
  const because = (title: unknown): string => `${String(title)} [needs ${need}: ${lack}]`;
  const declare = (title: unknown, ...rest: unknown[]): void => {
    // The parameters are those of `it`, in whichever form the caller used.
    const given = [because(title), ...rest] as unknown as Parameters<typeof it.skip>;
    it.skip(...given);
  };
  const each = (...table: unknown[]) => {
    const declareEach = Reflect.apply(it.skip.each, it.skip, table);
    return (title: unknown, ...rest: unknown[]): void => declareEach(because(title), ...rest);
  };
  // Boundary to vitest: `each` has many forms, and all of them are passed on unchanged.
  return Object.assign(declare, { each }) as unknown as Declare;
}

/**
 * Skips a running flow that has found a requirement that the forge does not meet. The report states the requirement.
 */
export function skipWithout(
  need: string,
  isThere: boolean,
  { task, skip }: Pick<TestContext, 'task' | 'skip'>,
): void {
  if (isThere) return;
  task.meta.lack = `needs ${need}`;
  skip(`needs ${need}`);
}
