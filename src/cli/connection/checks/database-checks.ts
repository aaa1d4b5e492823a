import { count } from '../../../platform/count.ts';
import type { PostgresState } from '../../../store/postgres/examine.ts';
import { type Finding, ok, skipped, warning, wrong } from '../finding.ts';
import type { Check, Examination } from './examination.ts';

/** The oldest version with which Reeve is tested. */
const leastVersion = 150_000;
/** Maximum clock skew. Deliveries have a lifetime, and each process logs its own time. */
const mostSkewMs = 30_000;
/** Connections per command. */
const perCommand = 2;

/** Checks of the server of DATABASE_URL. */
export const databaseChecks: readonly Check[] = [
  {
    id: 'database',
    looks:
      'The server of `DATABASE_URL`: version, schema of the store, whether it accepts writes and syncs them (`fsync`, `full_page_writes`, `synchronous_commit`).',
    fails:
      'It is older than PostgreSQL 15, a standby, or may lose acknowledged data; or a newer Reeve has upgraded the schema.',
    remedy: 'Set `fsync` and `full_page_writes` to on, connect to the primary, or update the server.',
    run: (examination) => examineWith(examination, serverFinding),
  },
  {
    id: 'database-connections',
    looks: 'Live Reeve processes, and the connections that they need: six each, and two for a command.',
    fails:
      'The server, the database or the account permits fewer. No room for one more process is only a warning: an upgrade starts one more.',
    remedy: 'Raise `max_connections`, or the `CONNECTION LIMIT` of the account or database.',
    after: ['database'],
    run: (examination) => examineWith(examination, connectionsFinding),
  },
  {
    id: 'database-clock',
    looks: 'The clock of the database server compared with this machine’s.',
    fails: 'They differ by more than 30 s.',
    remedy: 'Synchronize both clocks by NTP.',
    after: ['database'],
    run: (examination) => examineWith(examination, databaseClockFinding),
  },
];

async function examineWith(
  { database }: Examination,
  judge: (state: PostgresState) => Finding,
): Promise<Finding> {
  const state = await database();
  return state === undefined ? skipped('the store is a file: DATABASE_URL is not set') : judge(state);
}

/** Returns the finding about version, schema and settings of a server. */
export function serverFinding(state: PostgresState): Finding {
  const { version, schema, knownSchema, synchronousCommit, synchronousStandbys } = state;
  const text = [
    `PostgreSQL ${version}`,
    schema === undefined ? 'no store yet' : `schema ${schema}`,
    `fsync ${state.fsync ? 'on' : 'off'}`,
    `full_page_writes ${state.fullPageWrites ? 'on' : 'off'}`,
    `synchronous_commit ${synchronousCommit}`,
    synchronousStandbys === '' ? 'no synchronous standby' : `synchronous standbys ${synchronousStandbys}`,
  ].join(', ');
  if (state.versionNumber < leastVersion) return wrong(text, 'update the server to PostgreSQL 15 or later');
  if (state.isStandby)
    return wrong(`${text}; a standby, which accepts no writes`, 'connect DATABASE_URL to the primary');
  if (!state.fsync || !state.fullPageWrites)
    return wrong(
      `${text}: a power failure loses or damages acknowledged data`,
      'set fsync = on and full_page_writes = on in postgresql.conf',
    );
  if (synchronousCommit === 'off')
    return wrong(
      `${text}: a crash loses acknowledged data`,
      'remove synchronous_commit from the options of DATABASE_URL',
    );
  if (schema !== undefined && schema > knownSchema)
    return warning(
      `${text}; this Reeve knows schema ${knownSchema}`,
      'update this Reeve: it works beside the newer one only while the newer one permits it',
    );
  return ok(text);
}

/** Returns the finding about the server's connection limit, given the running processes. */
export function connectionsFinding({ processes, connections }: PostgresState): Finding {
  const { limit, ownLimit, others, perProcess } = connections;
  const needOf = (number: number): number => number * perProcess + perCommand;
  const available = Math.min(limit - others, ownLimit ?? Number.POSITIVE_INFINITY);
  const running = `${count(processes.length, 'live Reeve process')}`;
  const names = processes.length === 0 ? '' : ` (${processes.join('; ')})`;
  // The doctor may run before the first start.
  const number = Math.max(processes.length, 1);
  const limits = ownLimit === undefined ? '' : `, ${ownLimit} of the account or database`;
  const text = `${running}${names}: needs ${needOf(number)} connections; the limit is ${limit}${limits}, other programs use ${others}`;
  const advice = `raise max_connections, or the CONNECTION LIMIT of the account or database: each process needs ${perProcess}`;
  if (needOf(number) > available) return wrong(text, advice);
  if (needOf(number + 1) > available)
    return warning(`${text}: there is no room for one more process`, advice);
  return ok(text);
}

/** Returns the finding about the clock skew between server and process. */
export function databaseClockFinding({ aheadMs }: { readonly aheadMs: PostgresState['aheadMs'] }): Finding {
  const ms = Math.abs(aheadMs);
  const amount = ms < 1_000 ? `${ms} ms` : `${Math.round(ms / 1_000)} s`;
  const text = `the clock of the database is ${amount} ${aheadMs > 0 ? 'ahead of' : 'behind'} this machine’s`;
  return ms <= mostSkewMs ? ok(text) : wrong(text, 'synchronize both clocks by NTP');
}
