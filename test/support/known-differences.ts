import { beforeEach } from 'vitest';
import { type Difference, differences } from '../contract/differences.ts';
import { type ForgeLine, lineOf, realForge } from './real-forge.ts';

declare module 'vitest' {
  interface TaskMeta {
    /** Real forge on which the case ran. */
    forge?: string;
    /** Reason why the real forge is known to differ from the suite. */
    difference?: string;
  }
}

/** Returns the name of a case without the address of its forge: `labels > of a repository > are listed`. */
export function plainName(titles: readonly string[]): string {
  return titles.map((title) => title.replace(/ on https?:\/\/\S+$/, '')).join(' > ');
}

/** Returns the known difference of a case on forges of this release line, or undefined if the case must pass there. */
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
 * Marks known differences when called inside a suite. On a real forge, a case with a known difference is run, never
 * skipped, and it fails once the difference is gone. The JSON report contains the difference in `meta`. A call at the
 * top of a shared module would cover only one file of a worker, because the files of a worker share modules.
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
