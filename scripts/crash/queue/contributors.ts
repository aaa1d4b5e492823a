import { setTimeout as pause } from 'node:timers/promises';
import { operations } from '../../../src/contract/operations.ts';
import type { PullRequest } from '../../../src/contract/resources/pulls.ts';
import type { Random } from '../../../test/support/missed/random.ts';
import { addFile } from '../../../test/support/privilege-setup.ts';
import type { QueueForge } from './forge.ts';

/**
 * What a pull request brings. `plain` has to be merged. `broken` fails. Of two that are a `pair`, and of two that `conflict`, one has
 * to be merged: the other one fails, or conflicts, once it contains the first.
 */
const kinds = [
  { kind: 'plain', weight: 6, files: (n: number) => [`plain-${n}`] },
  { kind: 'broken', weight: 1, files: (n: number) => [`broken-${n}`] },
  { kind: 'pair', weight: 2, files: (n: number) => [`pair-${n}-a`, `pair-${n}-b`] },
  { kind: 'conflict', weight: 1, files: (n: number) => [`conflict-${n}`, `conflict-${n}`] },
] as const;

/** What belongs together, with the numbers of its pull requests. */
export type Contribution = { readonly kind: (typeof kinds)[number]['kind']; readonly numbers: number[] };

/** People who open pull requests. */
export interface Contributors {
  readonly contributions: readonly Contribution[];
  /** Rejects when they cannot go on. */
  readonly failed: Promise<never>;
  /** Opens no more; resolves when what was begun is opened. */
  stop(): Promise<void>;
}

const lookEveryMs = 250;

/**
 * Lets them begin: `openAtOnce` pull requests are open at least. One that left the queue is closed by its author, who has read why.
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
      else await pause(lookEveryMs);
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

/** Closes pull requests that were commented on: they have left. Returns how many others are open. */
export async function closeRefused({ root, at }: Pick<QueueForge, 'root' | 'at'>): Promise<number> {
  const open: PullRequest[] = [];
  const query = { state: 'open', limit: 50 };
  for await (const pull of root.items(operations.listPulls, { params: at, query })) open.push(pull);
  const refused = open.filter(({ comments }) => (comments ?? 0) > 0);
  for (const { number: index } of refused)
    await root.call(operations.editPull, { params: { ...at, index }, body: { state: 'closed' } });
  return open.length - refused.length;
}
