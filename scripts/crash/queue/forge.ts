import { join } from 'node:path';
import type { Client } from '../../../src/client/client.ts';
import { makeQueueRepository, type RepositoryAt } from '../../../test/support/queue/queue-repository.ts';
import { arrangeAccounts, at, botName, startForge } from '../../harness/installation.ts';

/** Embedded forge in a separate process, with one repository whose base requires the status `ci`. */
export type QueueForge = {
  readonly url: string;
  /** The administrator, who also acts for contributors and CI. */
  readonly root: Client;
  readonly at: RepositoryAt;
  /** Folder of the repository, in which git runs. */
  readonly folder: string;
  /** Tokens of the bot's account, one for each of its processes, which identify their requests. */
  readonly tokens: readonly string[];
};

/** Starts the forge. `processes`: number of processes of the bot. */
export async function startQueueForge(folder: string, processes: number): Promise<QueueForge> {
  const { url } = await startForge(folder, 0);
  const { root, tokens } = await arrangeAccounts(url, processes);
  // Does not require `reeve/queue`, because the forge must accept even the requests that the queue must not send.
  const { at: place, id } = await makeQueueRepository(root, {
    owner: at.owner,
    name: at.repo,
    bot: botName,
    contexts: ['ci'],
  });
  return { url, root, at: place, folder: join(folder, 'forge', 'repositories', `${id}.git`), tokens };
}
