import { lockClassOf, type PostgresAddress, readAddress } from './address.ts';
import { Connections } from './connections.ts';
import { postgresSchema } from './migrations.ts';
import { connectionsPerProcess } from './postgres-store.ts';
import { listProcesses, standardLiveness } from './presence.ts';

/** State of a database server, for administrators. Reading it has no side effects. */
export type PostgresState = {
  /** Host, database and schema. */
  readonly name: string;
  readonly version: string;
  /** For example, 150004 for version 15.4. */
  readonly versionNumber: number;
  /** Whether the server is read-only, because it is a standby of another server. */
  readonly isStandby: boolean;
  /** Version of the store's schema; undefined: there is none yet. */
  readonly schema: number | undefined;
  /** The newest schema version that this program knows. */
  readonly knownSchema: number;
  readonly fsync: boolean;
  readonly fullPageWrites: boolean;
  /** Value in Reeve's sessions, regardless of the server's default. */
  readonly synchronousCommit: string;
  /** Standbys that confirm each commit; empty if there are none. */
  readonly synchronousStandbys: string;
  /** Names of the live Reeve processes. */
  readonly processes: readonly string[];
  readonly connections: ConnectionUse;
  /** How far the server's clock is ahead of ours, in milliseconds. */
  readonly aheadMs: number;
};

/** Connections of a server, and how many Reeve needs. */
export type ConnectionUse = {
  /** Limit for all ordinary accounts together. */
  readonly limit: number;
  /** Limit of Reeve's account or of its database, whichever is lower; undefined if there is none. */
  readonly ownLimit: number | undefined;
  /** Connections of other programs and accounts. */
  readonly others: number;
  readonly perProcess: number;
};

/** Examines the server of a connection string. Throws `settings`, `store-unwritable`. */
export async function examinePostgres(url: string): Promise<PostgresState> {
  const address = readAddress(url);
  const database = new Connections(address, { connections: 1 });
  try {
    // The first statement also opens the connection, which takes time.
    const { rows } = await database.query(askServer);
    const [server = {}] = rows;
    const beganMs = Date.now();
    const clock = await database.query('SELECT extract(epoch FROM clock_timestamp()) * 1000 AS ms');
    const oursMs = (beganMs + Date.now()) / 2;
    const limits = [server.role_limit, server.database_limit].map(Number).filter((limit) => limit >= 0);
    const schema = await schemaOf(database);
    return {
      name: address.name,
      version: String(server.version),
      versionNumber: Number(server.version_number),
      isStandby: server.is_standby === true,
      schema,
      knownSchema: postgresSchema,
      fsync: server.fsync === 'on',
      fullPageWrites: server.full_page_writes === 'on',
      synchronousCommit: String(server.synchronous_commit),
      synchronousStandbys: String(server.standbys),
      processes: schema === postgresSchema ? await namesOfProcesses(database, address) : [],
      connections: {
        limit: Number(server.connection_limit),
        ownLimit: limits.length === 0 ? undefined : Math.min(...limits),
        others: Number(server.others),
        perProcess: connectionsPerProcess,
      },
      aheadMs: Math.round(Number(clock.rows[0]?.ms) - oursMs),
    };
  } finally {
    await database.close();
  }
}

const askServer = `
  SELECT current_setting('server_version') AS version, current_setting('server_version_num')::integer AS version_number,
    pg_is_in_recovery() AS is_standby, current_setting('fsync') AS fsync,
    current_setting('full_page_writes') AS full_page_writes, current_setting('synchronous_commit') AS synchronous_commit,
    current_setting('synchronous_standby_names') AS standbys,
    current_setting('max_connections')::integer - current_setting('superuser_reserved_connections')::integer
      - coalesce(current_setting('reserved_connections', true), '0')::integer AS connection_limit,
    (SELECT rolconnlimit FROM pg_roles WHERE rolname = current_user) AS role_limit,
    (SELECT datconnlimit FROM pg_database WHERE datname = current_database()) AS database_limit,
    (SELECT count(*) FROM pg_stat_activity
     WHERE backend_type = 'client backend' AND application_name IS DISTINCT FROM 'reeve') AS others`;

async function schemaOf(database: Connections): Promise<number | undefined> {
  const { rows } = await database.query("SELECT to_regclass('schema_version') IS NOT NULL AS is_there");
  if (rows[0]?.is_there !== true) return undefined;
  const found = await database.query('SELECT version FROM schema_version');
  return Number(found.rows[0]?.version ?? 0);
}

async function namesOfProcesses(
  database: Connections,
  { schema }: PostgresAddress,
): Promise<readonly string[]> {
  const processes = await listProcesses(database, {
    self: undefined,
    lockClass: lockClassOf(schema),
    liveness: standardLiveness,
  });
  return processes.map(({ name, role, version, isLeader }) => {
    const details = [
      ...(role === 'all' ? [] : [role]),
      ...(version === '' ? [] : [version]),
      ...(isLeader ? ['leader'] : []),
    ];
    return details.length === 0 ? name : `${name} (${details.join(', ')})`;
  });
}
