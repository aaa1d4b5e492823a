import { it, type TestContext, type TestOptions } from 'vitest';
import { realServer } from './flow-names.ts';

/** What a flow may need of the forge beyond what every server has, and what to say where it is not there. */
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
    /** What a flow that was skipped under way needs, for the report. */
    lack?: string;
  }
}

/** Something that a flow needs of the forge it runs on. */
type Need = keyof typeof needs;

/** What a flow is declared with: as vitest's `it`, reduced to what flows use. */
type Declare = Pick<typeof it, 'each'> &
  ((title: string, how: TestOptions | Body, body?: Body | number) => void);
type Body = () => unknown;

/**
 * Returns `it` for flows that need something of the forge. Where that is not there, the flow is reported as skipped and its
 * title ends with the reason, so that the list of results says it.
 */
export function requiring(need: Need): Declare {
  const { isThere, lack } = needs[need];
  if (isThere) return it as Declare;
  const because = (title: unknown): string => `${String(title)} [needs ${need}: ${lack}]`;
  const declare = (title: unknown, ...rest: unknown[]): void => {
    // The parameters are those of `it`, whatever form the caller chose.
    const given = [because(title), ...rest] as unknown as Parameters<typeof it.skip>;
    it.skip(...given);
  };
  const each = (...table: unknown[]) => {
    const declareEach = Reflect.apply(it.skip.each, it.skip, table);
    return (title: unknown, ...rest: unknown[]): void => declareEach(because(title), ...rest);
  };
  // The border to vitest: `each` has many forms, and every one of them is passed on as it came.
  return Object.assign(declare, { each }) as unknown as Declare;
}

/** Skips a flow that is under way and has found out that the forge lacks what it needs; the report says what. */
export function skipWithout(
  need: string,
  isThere: boolean,
  { task, skip }: Pick<TestContext, 'task' | 'skip'>,
): void {
  if (isThere) return;
  task.meta.lack = `needs ${need}`;
  skip(`needs ${need}`);
}
