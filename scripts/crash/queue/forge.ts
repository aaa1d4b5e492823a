import { join } from 'node:path';
import type { Client } from '../../../src/client/client.ts';
import { makeQueueRepository, type RepositoryAt } from '../../../test/support/queue/queue-repository.ts';
import { arrangeAccounts, at, botName, startForge } from '../../harness/installation.ts';

/** An embedded forge in a process of its own, with one repository whose base requires the status `ci`. */
export type QueueForge = {
  readonly url: string;
  /** The administrator, who does what contributors and CI do. */
  readonly root: Client;
  readonly at: RepositoryAt;
  /** Folder of the repository, in which git is run. */
  readonly folder: string;
  /** Tokens of the bot's account: one for each of its processes, by which their requests are told apart. */
  readonly tokens: readonly string[];
};

/** Starts it. `processes`: how many processes the bot has. */
export async function startQueueForge(folder: string, processes: number): Promise<QueueForge> {
  const { url } = await startForge(folder, 0);
  const { root, tokens } = await arrangeAccounts(url, processes);
  // Without `reeve/queue`: the forge is not to refuse what the queue must not ask for.
  const { at: place, id } = await makeQueueRepository(root, {
    owner: at.owner,
    name: at.repo,
    bot: botName,
    contexts: ['ci'],
  });
  return { url, root, at: place, folder: join(folder, 'forge', 'repositories', `${id}.git`), tokens };
}
