import { execFile } from 'node:child_process';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';
import { operations } from '../../../src/contract/operations.ts';
import type { Random } from '../../../test/support/missed/random.ts';
import { nowMs } from '../workers/attempts.ts';
import type { QueueForge } from './forge.ts';

const execute = promisify(execFile);

/** What CI said of a commit; `atMs`: once the forge had it. */
export type CheckReport = {
  readonly sha: string;
  readonly state: 'success' | 'failure';
  readonly atMs: number;
};

/** CI, at work. */
export interface Checks {
  readonly reports: readonly CheckReport[];
  /** Rejects when it cannot go on. */
  readonly failed: Promise<never>;
  stop(): Promise<void>;
}

const lookEveryMs = 200;
/** A check takes so long at most. */
const maxMs = 1_500;

/** Runs git in a repository. */
export async function git(folder: string, ...args: readonly string[]): Promise<string> {
  const { stdout } = await execute('git', ['-C', folder, ...args], { maxBuffer: 64 * 1_024 * 1_024 });
  return stdout.trim();
}

/**
 * Returns whether a tree passes: it fails with a file `broken-…`, and with both files of a pair, `pair-N-a` and `pair-N-b`. So two pull
 * requests that pass alone fail together.
 */
export async function passes(folder: string, sha: string): Promise<boolean> {
  const names = (await git(folder, 'ls-tree', '-r', '--name-only', sha)).split('\n');
  const known = new Set(names);
  return !names.some(
    (name) => name.startsWith('broken-') || (name.endsWith('-a') && known.has(`${name.slice(0, -1)}b`)),
  );
}

/** Starts CI: checks every head of an open pull request, each in a time of its own. */
export function startChecks({ root, at, folder }: QueueForge, random: Random): Checks {
  const reports: CheckReport[] = [];
  const begun = new Map<string, Promise<void>>();
  const failing = Promise.withResolvers<never>();
  let isGoing = true;
  const check = async (sha: string): Promise<void> => {
    await pause(random.below(maxMs));
    const state = (await passes(folder, sha)) ? 'success' : 'failure';
    await root.call(operations.createStatus, { params: { ...at, sha }, body: { context: 'ci', state } });
    reports.push({ sha, state, atMs: nowMs() });
  };
  const going = (async () => {
    while (isGoing) {
      const query = { state: 'open', limit: 50 };
      for await (const { head } of root.items(operations.listPulls, { params: at, query })) {
        const sha = head?.sha ?? '';
        // A forge shows a pull request for a moment before it knows its head.
        if (sha === '' || begun.has(sha)) continue;
        begun.set(sha, check(sha).catch(failing.reject));
      }
      await pause(lookEveryMs);
    }
    await Promise.all(begun.values());
  })();
  going.catch(failing.reject);
  return {
    reports,
    failed: failing.promise,
    async stop() {
      isGoing = false;
      await going;
    },
  };
}
