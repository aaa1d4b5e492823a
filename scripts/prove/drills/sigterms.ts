import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { startManyRepositories } from '../../../test/support/many-repositories.ts';
import { endProcesses } from '../../../test/support/processes.ts';
import { readNumber } from '../../harness/database.ts';
import { withWorkspace } from '../../harness/workspace.ts';
import { type LoadedServers, loadedServers } from '../loaded-server.ts';
import type { Drill } from '../promise.ts';

/** Maximum duration of a stop; a forced stop ends with status 1 after 9.5 s. */
const limitMs = 10_000;
/** Response time of the forge, so that requests are in progress at each signal. */
const forgeMs = 30;
const maxRunMs = 300;
/** On a machine where a start takes seconds, the drill makes as many stops as fit into this time. */
const maxDrillMs = 14 * 60_000;

type Tally = { stops: number; failed: number; claimed: number; slowestMs: number };

/** Sends SIGTERM to `reeve serve` at random times under load, and starts it again on the same store. */
export const drill: Drill = ({ isQuick, signal }) =>
  withWorkspace('sigterms', async ({ folder, defer }) => {
    const stops = isQuick ? 20 : 1_000;
    const endMs = performance.now() + maxDrillMs;
    const forge = await startManyRepositories(1, forgeMs);
    defer(forge.close);
    defer(endProcesses);
    const tally: Tally = { stops: 0, failed: 0, claimed: 0, slowestMs: 0 };
    const books = await Promise.all(
      ['first', 'second', 'third'].map(async (name) => {
        const servers = await loadedServers(join(folder, name), forge.url);
        while (tally.stops < stops && !signal.aborted && performance.now() < endMs) {
          tally.stops += 1;
          await stopOnce(servers, tally);
          forge.asked.length = 0;
        }
        return servers.book;
      }),
    );
    signal.throwIfAborted();
    const acknowledged = books.reduce((sum, book) => sum + book.acknowledged(), 0);
    const lost = books.reduce((sum, book) => sum + book.lost(), 0);
    return {
      figure: `${tally.stops.toLocaleString('en')} SIGTERMs under load: ${tally.failed} with another status than 0, slowest ${(tally.slowestMs / 1_000).toFixed(1)} s; ${acknowledged.toLocaleString('en')} acknowledged, ${lost} lost, ${tally.claimed} not given back`,
      isKept:
        tally.failed + lost + tally.claimed === 0 &&
        tally.slowestMs < limitMs &&
        tally.stops >= stops / 2 &&
        acknowledged > tally.stops,
    };
  });

async function stopOnce({ start, book }: LoadedServers, tally: Tally): Promise<void> {
  const server = await start();
  const load = server.load(4);
  await pause(Math.random() * maxRunMs);
  const { status, ms } = await server.end('SIGTERM');
  await load.stop();
  if (status !== 0) tally.failed += 1;
  tally.slowestMs = Math.max(tally.slowestMs, ms);
  await book.look();
  const sql = "SELECT count(*) AS n FROM deliveries WHERE state = 'claimed'";
  tally.claimed += readNumber(join(server.data, 'reeve.db'), sql);
}
