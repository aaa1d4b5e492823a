import { copyFileSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { reeveProcess } from '../../../test/support/command.ts';
import { startManyRepositories } from '../../../test/support/many-repositories.ts';
import { endProcesses } from '../../../test/support/processes.ts';
import { readNumber, readRows } from '../../harness/database.ts';
import { withWorkspace } from '../../harness/workspace.ts';
import { type LoadedServer, loadedServers } from '../loaded-server.ts';
import type { Drill } from '../promise.ts';

/** Starts a second `reeve serve` on a store under load, makes backups meanwhile, and serves a restored one. */
export const drill: Drill = ({ isQuick, signal }) =>
  withWorkspace('backups', async ({ folder, defer }) => {
    const [starts, backups] = isQuick ? [3, 2] : [50, 20];
    const forge = await startManyRepositories(1);
    defer(forge.close);
    defer(endProcesses);
    const servers = await loadedServers(join(folder, 'first'), forge.url);
    const server = await servers.start();
    const load = server.load(4);
    let refused = 0;
    for (let tried = 0; tried < starts; tried += 1) {
      signal.throwIfAborted();
      const { status, error } = await reeveProcess(['serve'], { environment: server.environment });
      if (status !== 0 && error.includes(`pid ${server.child.pid}`)) refused += 1;
    }
    let inconsistent = 0;
    for (let made = 0; made < backups; made += 1) {
      signal.throwIfAborted();
      if (!(await isConsistent(server, join(folder, `backup-${made}.db`)))) inconsistent += 1;
    }
    await load.stop();
    await servers.book.look();
    const { status } = await server.end('SIGTERM');
    const left = await serveRestored(folder, join(folder, `backup-${backups - 1}.db`), forge.url);
    const acknowledged = servers.book.acknowledged();
    return {
      figure: `${refused} of ${starts} second starts refused with the pid of the first; ${backups} backups while ${acknowledged.toLocaleString('en')} deliveries were acknowledged: ${inconsistent} with a gap or damage, ${servers.book.lost()} lost; a restored one was served, with ${left} deliveries left`,
      isKept:
        refused === starts &&
        inconsistent + servers.book.lost() + left === 0 &&
        status === 0 &&
        acknowledged > 100,
    };
  });

/**
 * Makes a backup. Returns whether it contains every delivery up to a certain time, and that time is not before the
 * start of the backup.
 */
async function isConsistent({ data, environment }: LoadedServer, path: string): Promise<boolean> {
  const before = readNumber(join(data, 'reeve.db'), 'SELECT max(id) AS n FROM deliveries');
  const { status } = await reeveProcess(['store', 'backup', path], { environment });
  if (status !== 0) return false;
  const [integrity] = readRows(path, 'PRAGMA integrity_check');
  const newest = readNumber(path, 'SELECT max(id) AS n FROM deliveries');
  const complete =
    'SELECT count(*) AS n FROM deliveries JOIN bodies ON bodies.id = deliveries.id WHERE length(body) > 0';
  return integrity?.integrity_check === 'ok' && newest >= before && readNumber(path, complete) === newest;
}

/** Starts a server on a copy of a store and waits for its work. Returns how many deliveries are left. */
async function serveRestored(folder: string, backup: string, forgeUrl: string): Promise<number> {
  const data = join(folder, 'second', 'data');
  await mkdir(data, { recursive: true, mode: 0o700 });
  copyFileSync(backup, join(data, 'reeve.db'));
  const servers = await loadedServers(join(folder, 'second'), forgeUrl);
  const server = await servers.start();
  const left = (): number =>
    readNumber(
      join(data, 'reeve.db'),
      "SELECT count(*) AS n FROM deliveries WHERE state NOT IN ('settled', 'dead')",
    );
  const endMs = performance.now() + 60_000;
  while (left() > 0 && performance.now() < endMs) await pause(50);
  await server.end('SIGTERM');
  return left();
}
