import { beforeEach } from 'vitest';
import { type Difference, differences } from '../contract/differences.ts';
import { type ForgeLine, lineOf, realForge } from './real-forge.ts';

declare module 'vitest' {
  interface TaskMeta {
    /** Real forge on which the case ran. */
    forge?: string;
    /** Reason why the real forge is known to deviate from the suite. */
    difference?: string;
  }
}

/** Returns the name of a case without the address of its forge: `labels > of a repository > are listed`. */
export function plainName(titles: readonly string[]): string {
  return titles.map((title) => title.replace(/ on https?:\/\/\S+$/, '')).join(' > ');
}

/**
 * Returns the known difference of a case on a forge of this line, or undefined if it must behave as the suite requires.
 */
export function findDifference(
  name: string,
  line: ForgeLine,
  rows: readonly Difference[] = differences,
): Difference | undefined {
  return rows.find(
    (row) => row.on.some((known) => isOn(known, line)) && row.cases.some((one) => fits(one, name)),
  );
}

function isOn(known: string, line: ForgeLine): boolean {
  return known === line.kind || known === `${line.kind} ${line.release}`;
}

function fits(pattern: string, name: string): boolean {
  return pattern.endsWith('*') ? name.startsWith(pattern.slice(0, -1)) : pattern === name;
}

/**
 * Marks known differences when called inside a suite: on a real forge, a case with a known difference fails once the
 * difference is gone. Such a case is run, never skipped, and the difference is recorded in the JSON report's `meta`. A
 * call at the top of a shared module would cover only one file of a worker, because files share their worker's modules.
 */
export function expectDifferences(): void {
  const forge = realForge();
  if (forge === undefined) return;
  beforeEach(({ task }) => {
    const titles = [task.name];
    for (let suite = task.suite; suite !== undefined; suite = suite.suite) titles.unshift(suite.name);
    if (!titles.some((title) => title.endsWith(` on ${forge.url}`))) return;
    task.meta.forge = lineOf(forge.version).name;
    const known = findDifference(plainName(titles), lineOf(forge.version));
    if (known === undefined) return;
    task.meta.difference = known.reason;
    // `it.fails` sets this in advance; vitest reads it after the case has run.
    Object.assign(task, { fails: true });
  });
}
