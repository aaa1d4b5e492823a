import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import { startPostgres } from '../../test/support/postgres-server.ts';
import { untilDone } from '../harness/progress.ts';
import { createSender, headersOf } from '../harness/sender.ts';
import { withWorkspace } from '../harness/workspace.ts';
import { judgeAttempts, type WorkersReport } from './attempts.ts';
import { CrashProcesses } from './processes.ts';

export type StoreKind = 'sqlite' | 'postgres';

/** Options of a server. */
export type ServerOptions = {
  readonly store: StoreKind;
  /** Path of the file, or connection string. */
  readonly address: string;
  /** `ack-first`: broken twin that the harness must catch. */
  readonly twin: string;
};
/** Answer of a server: its port, and the number of deliveries that wait in the store. */
export type ServerAnswer = { readonly port: number; readonly open: number };
type Servers = CrashProcesses<ServerOptions, ServerAnswer>;

type CrashOptions = {
  readonly kills: number;
  /** Default: `sqlite`. */
  readonly store?: StoreKind;
  readonly twin?: string;
  /** Whether the run ends at the first lost delivery, which is enough to show that losses are detected. */
  readonly endsAtLoss?: boolean;
  readonly onKill?: (done: number, acked: number, lost: number) => void;
};

type CrashReport = WorkersReport & { readonly acked: number; readonly isIntact: boolean };

/**
 * Kills receiving servers with SIGKILL at random times, and counts acknowledged deliveries that are missing in the
 * store, and errors in the handling of the others. It tests the death of a process, not a power failure. With a file,
 * there is one server; with PostgreSQL, three servers share the database.
 */
export function crash({
  kills,
  store = 'sqlite',
  twin = '',
  endsAtLoss = false,
  onKill = () => {},
}: CrashOptions): Promise<CrashReport> {
  return withWorkspace('crash', async ({ folder, defer }) => {
    const place =
      store === 'postgres' ? await openPostgresPlace() : openSqlitePlace(join(folder, 'reeve.db'));
    defer(place.close);
    const servers: Servers = new CrashProcesses('crash-server', folder, {
      store,
      address: place.address,
      twin,
    });
    defer(() => servers.end());
    const acked: string[] = [];
    let lost = 0;
    let isIntact = true;
    for (let kill = 1; kill <= kills && !(endsAtLoss && lost > 0); kill += 1) {
      const uuids = await runUntilKill(servers, place.serverCount, kill % 10 === 2 ? large : usual);
      acked.push(...uuids);
      const seen = await place.look(uuids, Math.max(acked.length - uuids.length - lost, 0));
      lost += seen.missing;
      isIntact &&= seen.isIntact;
      onKill(kill, acked.length, lost);
    }
    await servers.fill(place.serverCount);
    const open = await untilDone(async () => (await servers.ask('count')).open, { stuckMs: 120_000 });
    if (open > 0) throw new Error('deliveries wait, and the servers make no progress');
    await servers.end();
    // Compares with all acknowledged deliveries, because a later restart must not undo an earlier one.
    const { missing, settled } = await place.look(acked, 0);
    // Unacknowledged deliveries may be in any order, because their sender does not know whether they are stored.
    const known = new Set(acked);
    const events = servers.events().filter(({ id }) => known.has(id));
    const report = judgeAttempts(events, servers.standstills, { accepted: acked, settled });
    return { ...report, lost: Math.max(lost, missing, report.lost), acked: acked.length, isIntact };
  });
}

/** Load of a server, which is killed after at most `maxAcked` acknowledgements. */
type Load = { readonly padBytes: number; readonly maxAcked: number };
const usual: Load = { padBytes: 1_000, maxAcked: 280 };
/** Large enough for kills during a checkpoint and after a restart of the log. */
const large: Load = { padBytes: 64_000, maxAcked: 600 };
/** Maximum wait before a kill, because a busy machine takes longer to reach the number of acknowledgements. */
const maxWaitMs = 3_000;

async function runUntilKill(servers: Servers, count: number, load: Load): Promise<readonly string[]> {
  const ports = (await servers.fill(count)).map(({ port }) => port);
  const sending = startSending(ports, load.padBytes);
  try {
    const enough = Math.random() * load.maxAcked;
    const endMs = performance.now() + maxWaitMs;
    while (sending.acked.length < enough && performance.now() < endMs) await pause(1);
    await pause(Math.random() * 5);
    await servers.kill();
  } finally {
    await sending.stop();
  }
  return sending.acked;
}

const connections = 8;
/** Number of repositories of each connection. */
const repositories = 6;

/**
 * Posts signed deliveries with `padBytes` of padding until `stop`. Each connection has its own repositories and sends
 * one delivery after another, with increasing numbers `n`, to the ports in turn.
 */
function startSending(ports: readonly number[], padBytes: number) {
  const acked: string[] = [];
  const sender = createSender(connections);
  let isGoing = true;
  const run = async (line: number): Promise<void> => {
    for (let turn = 0; isGoing; turn += 1) {
      const id = 1 + line + connections * (turn % repositories);
      // Pushes of the same commits are copies of one delivery.
      const commit = randomUUID();
      const body = JSON.stringify({
        ref: 'refs/heads/main',
        before: commit,
        after: commit,
        n: Number(process.hrtime.bigint() / 1_000n),
        repository: { id, full_name: `acme/tool-${id}`, owner: { id: 1 } },
        sender: { id: 1, login: 'ada' },
        pad: 'x'.repeat(padBytes),
      });
      const headers = headersOf(body, 'push');
      const port = ports[(line + turn) % ports.length];
      const { status } = await sender.send(`http://127.0.0.1:${port}/webhook`, { headers, body });
      if (status === 202) acked.push(headers['x-gitea-delivery'] ?? '');
      // A server is killed during requests, so a broken connection is not an error.
      if (status === 0) await pause(5);
    }
  };
  const lines = Array.from({ length: connections }, (_, line) => run(line));
  return {
    acked,
    async stop(): Promise<void> {
      isGoing = false;
      sender.close();
      await Promise.all(lines);
    },
  };
}

/** Store of the servers. It is read directly from the database, so that the store's code does not verify itself. */
interface Place {
  readonly address: string;
  /** Number of servers that use the store at the same time. */
  readonly serverCount: number;
  /**
   * Counts the missing deliveries. `earlier` is the minimum number of earlier rows, which need not be read again. With
   * a file, no server may be running.
   */
  look(
    uuids: readonly string[],
    earlier: number,
  ): Promise<{ missing: number; isIntact: boolean; settled: ReadonlySet<string> }>;
  close(): Promise<void>;
}

function openSqlitePlace(path: string): Place {
  return {
    address: path,
    serverCount: 1,
    async look(uuids, earlier) {
      const database = new DatabaseSync(path);
      try {
        const rows = database.prepare(
          'SELECT uuid, state FROM deliveries JOIN bodies USING (id) LIMIT -1 OFFSET ?',
        );
        const stored = new Map<unknown, unknown>();
        for (const row of rows.iterate(earlier)) stored.set(row.uuid, row.state);
        const check = database.prepare('PRAGMA integrity_check').get();
        return { ...compare(uuids, stored), isIntact: check?.integrity_check === 'ok' };
      } finally {
        database.close();
      }
    },
    async close() {},
  };
}

/** Starts a separate PostgreSQL server, which syncs. */
async function openPostgresPlace(): Promise<Place> {
  const server = await startPostgres();
  const client = new pg.Client({ connectionString: server.url });
  await client.connect();
  return {
    address: server.url,
    serverCount: 3,
    async look(uuids) {
      const { rows } = await client.query(
        `SELECT uuid, state, count(*) OVER (PARTITION BY uuid) AS rows
         FROM reeve.deliveries JOIN reeve.bodies USING (id) WHERE uuid = ANY ($1)`,
        [uuids],
      );
      const stored = new Map<unknown, unknown>(rows.map(({ uuid, state }) => [uuid, state]));
      return { ...compare(uuids, stored), isIntact: rows.every((row) => Number(row.rows) === 1) };
    },
    async close() {
      await client.end();
      await server.stop();
    },
  };
}

function compare(uuids: readonly string[], stored: ReadonlyMap<unknown, unknown>) {
  return {
    missing: uuids.filter((uuid) => !stored.has(uuid)).length,
    settled: new Set(uuids.filter((uuid) => stored.get(uuid) === 'settled')),
  };
}
