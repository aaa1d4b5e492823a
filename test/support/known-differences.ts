import { beforeEach } from 'vitest';
import { type Difference, differences } from '../contract/differences.ts';
import { type ForgeLine, lineOf, realForge } from './real-forge.ts';

declare module 'vitest' {
  interface TaskMeta {
    /** Where the case ran on a real forge: which one. */
    forge?: string;
    /** Why the real forge is known to answer otherwise than the suite asks. */
    difference?: string;
  }
}

/** Returns the name of a case without the address of the forge it runs on: `labels > of a repository > are listed`. */
export function plainName(titles: readonly string[]): string {
  return titles.map((title) => title.replace(/ on https?:\/\/\S+$/, '')).join(' > ');
}

/** Returns what is known of a case on a forge of this line, or undefined where it must behave as the suite asks. */
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
 * Called inside a suite: a case of it that runs on a real forge and is known to differ there fails where it no longer does.
 * A known difference is run, never skipped. What was known stands in the JSON report's `meta`. A call at the head of a
 * shared module would cover one file of a worker: files share their worker's modules.
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
    // What `it.fails` declares beforehand; vitest reads it after the case has run.
    Object.assign(task, { fails: true });
  });
}
