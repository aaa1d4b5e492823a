import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { openPlace } from './places.ts';
import { startSending } from './sender.ts';
import { createServers, type Servers, type StoreKind } from './servers.ts';
import { judgeAttempts, type WorkersReport } from './workers/attempts.ts';

type CrashOptions = {
  readonly kills: number;
  /** Default: `sqlite`. */
  readonly store?: StoreKind;
  /** `ack-first`: the broken twin that the harness must catch. */
  readonly twin?: string;
  /** Whether the first delivery that is lost ends it: enough to know that losses are seen. */
  readonly endsAtLoss?: boolean;
  readonly onKill?: (done: number, acked: number, lost: number) => void;
};

type CrashReport = Omit<WorkersReport, 'accepted' | 'taken' | 'kills'> & {
  readonly acked: number;
  readonly isIntact: boolean;
};

/**
 * Kills receiving servers with SIGKILL at random moments and counts the deliveries that were acknowledged and are not in the
 * store, and what went wrong with the others. It shows what survives the death of a process, not the loss of power. One server
 * uses a file; three share a PostgreSQL.
 */
export async function crash({
  kills,
  store = 'sqlite',
  twin = '',
  endsAtLoss = false,
  onKill = () => {},
}: CrashOptions): Promise<CrashReport> {
  const folder = await mkdtemp(join(tmpdir(), 'reeve-crash-'));
  const place = await openPlace(store, folder);
  const servers = createServers(folder, { store, address: place.address, twin });
  const acked: string[] = [];
  let lost = 0;
  let isIntact = true;
  try {
    for (let kill = 1; kill <= kills && !(endsAtLoss && lost > 0); kill += 1) {
      const uuids = await runUntilKill(servers, place.serverCount, kill % 10 === 2 ? large : usual);
      acked.push(...uuids);
      const seen = await place.look(uuids, Math.max(acked.length - uuids.length - lost, 0));
      lost += seen.missing;
      isIntact &&= seen.isIntact;
      onKill(kill, acked.length, lost);
    }
    await servers.fill(place.serverCount);
    await servers.drain();
    await servers.end();
    // Against all: a later restart must not undo an earlier one.
    const last = await place.look(acked, 0);
    const {
      accepted: _,
      taken: __,
      ...report
    } = judgeAttempts(eventsOf(servers, acked), servers.deaths, {
      accepted: acked,
      settled: last.settled,
    });
    return { ...report, lost: Math.max(lost, last.missing, report.lost), acked: acked.length, isIntact };
  } finally {
    await servers.end();
    await place.close();
    await rm(folder, { recursive: true, force: true });
  }
}

/** The order of deliveries that were not acknowledged is open: their sender does not know whether they are stored. */
function eventsOf(servers: Servers, acked: readonly string[]) {
  const known = new Set(acked);
  return servers.events().filter(({ id }) => known.has(id));
}

/** A kill comes after up to so many acknowledgements. */
type Load = { readonly padBytes: number; readonly maxAcked: number };
const usual: Load = { padBytes: 1_000, maxAcked: 280 };
/** Large enough to be killed during a checkpoint and after a restart of the log. */
const large: Load = { padBytes: 64_000, maxAcked: 600 };
/** …or after this long: a busy machine gets there late. */
const maxWaitMs = 3_000;

async function runUntilKill(servers: Servers, count: number, load: Load): Promise<readonly string[]> {
  const ports = await servers.fill(count);
  const sender = startSending(ports, { connections: 8, padBytes: load.padBytes });
  try {
    const enough = Math.random() * load.maxAcked;
    const endMs = performance.now() + maxWaitMs;
    while (sender.acked.length < enough && performance.now() < endMs) await pause(1);
    await pause(Math.random() * 5);
    await servers.killOne();
  } finally {
    await sender.stop();
  }
  return sender.acked;
}
