import { maxPageSize, pageSizeOf, rowNumberOf, searchStretch } from '../paging.ts';
import { deliveryColumns, deliveryOf, deliveryWithBodyOf, runOf } from '../rows.ts';
import type { DeliveryState, Store, StoreQueries } from '../store.ts';
import { decodeHeaders, selectHeaders } from '../stored-headers.ts';
import type { PostgresContext } from './context.ts';
import { storableText } from './link/text.ts';

/** The rows of a state that few are in, in the words of the partial indexes: most rows are settled. */
const fewIn: Partial<Record<DeliveryState, string>> = {
  accepted: `deliveries.id IN (SELECT id FROM deliveries WHERE state = 'accepted' AND NOT routed
    UNION ALL SELECT id FROM deliveries WHERE state = 'accepted' AND routed)`,
  claimed: "deliveries.id IN (SELECT id FROM deliveries WHERE state = 'claimed')",
  retry: "deliveries.id IN (SELECT id FROM deliveries WHERE state = 'retry')",
  deferred: "deliveries.id IN (SELECT id FROM deliveries WHERE state = 'deferred')",
};

/** Returns the methods that only read. */
export function createPostgresQueries({ database }: Pick<PostgresContext, 'database'>): StoreQueries {
  return {
    async listDeliveries({ door, state, search = '', repositoryId, before, limit } = {}) {
      const size = pageSizeOf(limit);
      const from = before === undefined ? (await newestId(database)) + 1 : Number(before);
      const asked = createConditions('deliveries.id < ?', from);
      if (door !== undefined) asked.add(`door ${door === 'job' ? '<>' : '='} 'webhook'`);
      if (state !== undefined)
        asked.add(fewIn[state] ?? 'state = ?', ...(fewIn[state] === undefined ? [state] : []));
      if (repositoryId !== undefined) asked.add('repository_id = ?', repositoryId);
      if (search !== '') {
        const text = storableText(search.toLowerCase());
        const columns = ['event_type', 'repository', 'uuid'];
        const found = columns.map((column) => `strpos(lower(${column}), ?) > 0`).join(' OR ');
        asked.add(`(${found})`, text, text, text);
      }
      // Of the settled, and of all, a filter may have to pass by many rows.
      const isFew = state !== undefined && state !== 'settled';
      const isStretch = (search !== '' || repositoryId !== undefined || door !== undefined) && !isFew;
      const floor = isStretch ? Math.max(from - searchStretch, 1) : 0;
      if (floor > 0) asked.add('deliveries.id >= ?', floor);
      const { rows } = await database.query(
        `SELECT ${deliveryColumns} FROM deliveries WHERE ${asked.sql()} ORDER BY deliveries.id DESC LIMIT ${size}`,
        asked.values,
      );
      const items = rows.map(deliveryOf);
      const last = items.length === size ? items.at(-1)?.id : undefined;
      return { items, next: last ?? (floor > 1 ? String(floor) : undefined) };
    },

    async readDelivery(id) {
      const { rows } = await database.query(
        `SELECT ${deliveryColumns}, body FROM deliveries JOIN bodies USING (id) WHERE deliveries.id = $1`,
        [rowNumberOf(id)],
      );
      return rows[0] && deliveryWithBodyOf(rows[0]);
    },

    async describeDelivery(id) {
      const { rows } = await database.query(`SELECT ${deliveryColumns} FROM deliveries WHERE id = $1`, [
        rowNumberOf(id),
      ]);
      return rows[0] && deliveryOf(rows[0]);
    },

    async readHeaders(id) {
      const { rows } = await database.query(selectHeaders('$1'), [rowNumberOf(id)]);
      const [row] = rows;
      return row && decodeHeaders(String(row.headers), { uuid: String(row.uuid), bytes: Number(row.bytes) });
    },

    ...createPostgresRuns(database),
    ...createPostgresCounts(database),
  };
}

function createPostgresRuns(
  database: PostgresContext['database'],
): Pick<Store, 'listRuns' | 'readRun' | 'readLatestRuns'> {
  return {
    async listRuns({ delivery, repositoryId, since, before, limit } = {}) {
      const size = pageSizeOf(limit);
      const asked = createConditions('number < ?', before === undefined ? 2 ** 52 : Number(before));
      if (delivery !== undefined) asked.add('delivery = ?', rowNumberOf(delivery));
      if (repositoryId !== undefined) asked.add('repository_id = ?', repositoryId);
      if (since !== undefined) asked.add('started_at >= ?', since.toISOString());
      const { rows } = await database.query(
        `SELECT number, run FROM runs WHERE ${asked.sql()} ORDER BY number DESC LIMIT ${size}`,
        asked.values,
      );
      const last = rows.length === size ? rows.at(-1)?.number : undefined;
      return { items: rows.map(runOf), next: last === undefined ? undefined : String(last) };
    },

    async readRun(id) {
      const { rows } = await database.query('SELECT run FROM runs WHERE id = $1', [storableText(id)]);
      return rows[0] && runOf(rows[0]);
    },

    async readLatestRuns(deliveries) {
      const ids = deliveries.slice(0, maxPageSize).map(rowNumberOf);
      const { rows } = await database.query(
        `SELECT asked.id, latest.run FROM unnest($1::bigint[]) AS asked (id)
        CROSS JOIN LATERAL (SELECT run FROM runs WHERE delivery = asked.id ORDER BY number DESC LIMIT 1) AS latest`,
        [ids],
      );
      return new Map(rows.map((row) => [String(row.id), runOf(row)]));
    },
  };
}

function createPostgresCounts(
  database: PostgresContext['database'],
): Pick<Store, 'counts' | 'oldestWaiting'> {
  return {
    async counts() {
      const { rows } = await database.query(countStates);
      const of = (state: DeliveryState): number => Number(rows[0]?.[state]);
      return {
        accepted: of('accepted'),
        claimed: of('claimed'),
        retry: of('retry'),
        deferred: of('deferred'),
        settled: of('settled'),
        dead: of('dead'),
      };
    },

    async oldestWaiting() {
      const { rows } = await database.query(oldest);
      return rows[0] === undefined ? undefined : new Date(String(rows[0].received_at));
    },
  };
}

async function newestId(database: PostgresContext['database']): Promise<number> {
  const { rows } = await database.query('SELECT coalesce(max(id), 0) AS id FROM deliveries');
  return Number(rows[0]?.id);
}

/** Makes conditions joined by AND; each `?` stands for the next value. */
function createConditions(first: string, ...given: readonly unknown[]) {
  const texts: string[] = [];
  const values: unknown[] = [];
  const add = (text: string, ...more: readonly unknown[]): void => {
    let next = values.length;
    values.push(...more);
    texts.push(
      text.replaceAll('?', () => {
        next += 1;
        return `$${next}`;
      }),
    );
  };
  add(first, ...given);
  return { add, values, sql: () => texts.join(' AND ') };
}

/** All but the settled, which are the many, from small indexes. */
const countStates = `
  SELECT (SELECT count(*) FROM deliveries WHERE state = 'accepted' AND NOT routed)
      + (SELECT count(*) FROM deliveries WHERE state = 'accepted' AND routed) AS accepted,
    (SELECT count(*) FROM deliveries WHERE state = 'claimed') AS claimed,
    (SELECT count(*) FROM deliveries WHERE state = 'retry') AS retry,
    (SELECT count(*) FROM deliveries WHERE state = 'deferred') AS deferred,
    (SELECT count(*) FROM deliveries WHERE state = 'settled') AS settled,
    (SELECT count(*) FROM deliveries WHERE state = 'dead') AS dead`;

const oldest = `
  SELECT received_at FROM deliveries WHERE id IN (
    (SELECT id FROM deliveries WHERE state = 'accepted' AND NOT routed ORDER BY id LIMIT 1),
    (SELECT min(id) FROM deliveries WHERE state = 'accepted' AND routed),
    (SELECT min(id) FROM deliveries WHERE state = 'retry')
  ) ORDER BY id LIMIT 1`;
