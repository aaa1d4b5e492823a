import { execFile } from 'node:child_process';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';
import { operations } from '../../../src/contract/operations.ts';
import type { PullRequest } from '../../../src/contract/resources/pulls.ts';
import { addFile } from '../../../test/support/privilege-setup.ts';
import type { Random } from '../../../test/support/random.ts';
import { nowMs } from '../../harness/progress.ts';
import type { QueueForge } from './forge.ts';

const execute = promisify(execFile);

/** Result of CI for a commit; `atMs`: time at which the forge had received it. */
export type CheckReport = {
  readonly sha: string;
  readonly state: 'success' | 'failure';
  readonly atMs: number;
};

/** Running CI. */
export interface Checks {
  readonly reports: readonly CheckReport[];
  /** Rejects when CI cannot continue. */
  readonly failed: Promise<never>;
  stop(): Promise<void>;
}

const lookEveryMs = 200;
/** Maximum duration of a check. */
const maxMs = 1_500;

/** Runs git in a repository. */
export async function git(folder: string, ...args: readonly string[]): Promise<string> {
  const { stdout } = await execute('git', ['-C', folder, ...args], { maxBuffer: 64 * 1_024 * 1_024 });
  return stdout.trim();
}

/**
 * Returns whether a tree passes: it fails with a file `broken-…`, and with both files of a pair, `pair-N-a` and
 * `pair-N-b`. So two pull requests that pass separately fail together.
 */
export async function passes(folder: string, sha: string): Promise<boolean> {
  const names = (await git(folder, 'ls-tree', '-r', '--name-only', sha)).split('\n');
  const known = new Set(names);
  return !names.some(
    (name) => name.startsWith('broken-') || (name.endsWith('-a') && known.has(`${name.slice(0, -1)}b`)),
  );
}

/** Starts CI: checks every head of an open pull request, each after a random time. */
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
        // For a moment, a forge shows a new pull request without its head.
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

/**
 * Kinds of contributions. `plain` must be merged. `broken` fails. Of two pull requests that are a `pair`, and of two
 * that `conflict`, one must be merged: the other fails, or conflicts, as soon as it contains the merged one.
 */
const kinds = [
  { kind: 'plain', weight: 6, files: (n: number) => [`plain-${n}`] },
  { kind: 'broken', weight: 1, files: (n: number) => [`broken-${n}`] },
  { kind: 'pair', weight: 2, files: (n: number) => [`pair-${n}-a`, `pair-${n}-b`] },
  { kind: 'conflict', weight: 1, files: (n: number) => [`conflict-${n}`, `conflict-${n}`] },
] as const;

/** Related pull requests, with their numbers. */
export type Contribution = { readonly kind: (typeof kinds)[number]['kind']; readonly numbers: number[] };

/** People who open pull requests. */
interface Contributors {
  readonly contributions: readonly Contribution[];
  /** Rejects when the contributors cannot continue. */
  readonly failed: Promise<never>;
  /** Opens no more pull requests; resolves when those in progress are open. */
  stop(): Promise<void>;
}

const contributeEveryMs = 250;

/**
 * Starts the contributors: at least `openAtOnce` pull requests are open. A pull request that left the queue is closed
 * by its author, who has read the reason.
 */
export function startContributors(
  forge: QueueForge,
  { openAtOnce, random }: { readonly openAtOnce: number; readonly random: Random },
): Contributors {
  const { root, at } = forge;
  const contributions: Contribution[] = [];
  const failing = Promise.withResolvers<never>();
  let isGoing = true;
  const contribute = async (): Promise<void> => {
    const { kind, files } = random.pickWeighted(kinds);
    const serial = contributions.length + 1;
    const contribution: Contribution = { kind, numbers: [] };
    contributions.push(contribution);
    for (const [index, file] of files(serial).entries()) {
      const head = `work-${serial}-${index + 1}`;
      await addFile(root, at, head, file, `by ${head}\n`);
      const body = { title: `${kind} ${serial}`, head, base: 'main' };
      const { number } = await root.call(operations.createPull, { params: at, body });
      contribution.numbers.push(number);
    }
  };
  const going = (async () => {
    while (isGoing) {
      if ((await closeRefused(forge)) < openAtOnce) await contribute();
      else await pause(contributeEveryMs);
    }
  })();
  going.catch(failing.reject);
  return {
    contributions,
    failed: failing.promise,
    async stop() {
      isGoing = false;
      await going;
    },
  };
}

/** Closes pull requests that received a comment, because they have left the queue. Returns how many others are open. */
export async function closeRefused({ root, at }: Pick<QueueForge, 'root' | 'at'>): Promise<number> {
  const open: PullRequest[] = [];
  const query = { state: 'open', limit: 50 };
  for await (const pull of root.items(operations.listPulls, { params: at, query })) open.push(pull);
  const refused = open.filter(({ comments }) => (comments ?? 0) > 0);
  for (const { number: index } of refused)
    await root.call(operations.editPull, { params: { ...at, index }, body: { state: 'closed' } });
  return open.length - refused.length;
}
