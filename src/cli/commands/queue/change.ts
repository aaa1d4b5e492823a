import { userInfo } from 'node:os';
import { systemClock } from '../../../platform/clock.ts';
import { ReeveError } from '../../../platform/errors.ts';
import type { Settings } from '../../../server/settings/config.ts';
import type { QueueRow } from '../../../store/queue-rows.ts';
import type { Store } from '../../../store/store.ts';
import { describeQueue } from '../../../work/merge-queue/describe-queue.ts';
import {
  createCommandQueue,
  findQueues,
  type QueueCommand,
} from '../../../work/merge-queue/queue-commands.ts';
import { plain, type Terminal } from '../../output/terminal.ts';
import { openStore } from '../open-store.ts';
import { readPosition, readQueuedPull, readQueueName } from './list.ts';

/** A queue, and whether the command changed it. */
type QueueResult = { readonly row: QueueRow; readonly isChanged: boolean };

/**
 * Moves a pull request to a position in its queue, also while a server is running. Returns the exit status: 1 if the
 * pull request is not in a queue.
 */
export async function moveQueued(
  [pull, position]: readonly [pull: string, position: string],
  options: { json?: boolean },
  settings: Settings,
  terminal: Terminal,
): Promise<number> {
  const { number, repository } = readQueuedPull(pull);
  const command = { kind: 'move', number, position: readPosition(position) } as const;
  return changeQueues({ repository, number }, command, { ...options, settings, terminal });
}

/** Removes a pull request from its queue. Returns the exit status: 1 if the pull request is not in a queue. */
export async function removeQueued(
  pull: string,
  options: { json?: boolean },
  settings: Settings,
  terminal: Terminal,
): Promise<number> {
  const { number, repository } = readQueuedPull(pull);
  return changeQueues({ repository, number }, { kind: 'remove', number }, { ...options, settings, terminal });
}

/**
 * Pauses all queues of a repository, or the queue of one branch. Returns the exit status. Throws `usage` if there is no
 * such queue.
 */
export async function pauseQueues(
  name: string,
  { branch, json }: { branch?: string; json?: boolean },
  settings: Settings,
  terminal: Terminal,
): Promise<number> {
  const asked = { ...readQueueName(name), base: branch };
  return changeQueues(asked, { kind: 'pause' }, { json, settings, terminal });
}

/** Resumes queues. Returns the exit status: 1 if none of them was paused. Throws `usage` if there is no such queue. */
export async function resumeQueues(
  name: string,
  { branch, json }: { branch?: string; json?: boolean },
  settings: Settings,
  terminal: Terminal,
): Promise<number> {
  const asked = { ...readQueueName(name), base: branch };
  return changeQueues(asked, { kind: 'resume' }, { json, settings, terminal });
}

async function changeQueues(
  asked: Parameters<typeof findQueues>[1],
  command: QueueCommand,
  {
    json,
    settings,
    terminal,
  }: { readonly json?: boolean | undefined; readonly settings: Settings; readonly terminal: Terminal },
): Promise<number> {
  const store = await openStore(settings);
  try {
    const found = await findQueues(store, asked);
    if (found.length === 0 && !('number' in command)) throw await noQueue(asked, store);
    const commandQueue = createCommandQueue(store, systemClock);
    const by = `${userInfo().username} by reeve queue`;
    const results: QueueResult[] = [];
    for (const row of found) results.push({ row, isChanged: await commandQueue(row, command, by) });
    if (json) terminal.out(JSON.stringify(await resultsAsData(results, store)));
    else if (found.length === 0) terminal.out(plain(`${asked.repository}#${asked.number} is not in a queue`));
    else for (const result of results) terminal.out(plain(sentenceOf(result, command)));
    const isDone = command.kind !== 'resume' || results.some(({ isChanged }) => isChanged);
    return found.length > 0 && isDone ? 0 : 1;
  } finally {
    await store.close();
  }
}

/** Returns the current state of each queue, and whether it was changed. */
async function resultsAsData(
  results: readonly QueueResult[],
  store: Pick<Store, 'readQueue' | 'listPauses'>,
): Promise<readonly object[]> {
  const data: object[] = [];
  const pauses = await store.listPauses();
  for (const { row, isChanged } of results)
    data.push({ changed: isChanged, ...describeQueue((await store.readQueue(row)) ?? row, pauses) });
  return data;
}

function sentenceOf({ row: { repository, base }, isChanged }: QueueResult, command: QueueCommand): string {
  const queue = `the queue of ${repository} ${base}`;
  switch (command.kind) {
    case 'move':
      return isChanged
        ? `#${command.number} is moved to position ${command.position} in ${queue}`
        : `#${command.number} is already at this position in ${queue}`;
    case 'remove':
      return isChanged
        ? `#${command.number} leaves ${queue} at its next step`
        : `#${command.number} is already leaving ${queue}`;
    case 'pause':
      return isChanged
        ? `${queue} is paused: it keeps its pull requests, and reeve queue resume ${repository} ends the pause`
        : `${queue} is already paused`;
    case 'resume':
      return isChanged ? `${queue} is resumed` : `${queue} is not paused`;
  }
}

async function noQueue(
  { repository, base }: { readonly repository: string; readonly base?: string | undefined },
  store: Pick<Store, 'listQueues'>,
): Promise<ReeveError> {
  const known = (await store.listQueues()).map((row) => `\n  ${row.repository} ${row.base}`);
  const which = base === undefined ? repository : `${repository} ${base}`;
  const others = known.length === 0 ? '' : `; queues are${known.join('')}`;
  return new ReeveError(
    'usage',
    `there is no merge queue of ${which}: a queue is created with its first pull request${others}`,
  );
}
