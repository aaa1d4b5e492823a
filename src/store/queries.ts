import type { Run } from '../engine/record.ts';
import { ownPrefix } from '../rules/verdict.ts';
import {
  deliveryColumns,
  deliveryOf,
  deliveryWithBodyOf,
  maxPageSize,
  pageSizeOf,
  rowNumberOf,
  runOf,
  searchStretch,
} from './rows.ts';
import { Conditions, marksFor, type Sql, type SqlWords } from './sql.ts';
import { type DeliveryQuery, type DeliveryState, foundEventKind, type StoreQueries } from './store.ts';
import { decodeHeaders } from './stored-headers.ts';

/** Returns the condition for deliveries that came through a door. */
function throughDoor({ door }: SqlWords, wanted: NonNullable<DeliveryQuery['door']>): string {
  const conditions = {
    webhook: `${door} = 'webhook'`,
    event: `(${door} = 'webhook' OR event_type = '${foundEventKind}')`,
    job: `(${door} <> 'webhook' AND event_type <> '${foundEventKind}')`,
  };
  return conditions[wanted];
}

/**
 * Returns the read-only methods of the store. `countSettled` returns the number of settled deliveries if a process
 * tracks it; otherwise the database counts them.
 */
export function createQueries(sql: Sql, countSettled?: () => number): StoreQueries {
  const { words } = sql;
  const few = fewIn(words);
  const countStates = countQuery(words, countSettled === undefined);
  const oldest = oldestQuery(words);

  return {
    async listDeliveries(query = {}) {
      const { door, state, search = '', repositoryId, withoutOwn = false, before, after, limit } = query;
      const size = pageSizeOf(limit);
      const newest = before === undefined ? await newestId(sql) : 0;
      const isUp = after !== undefined;
      const from = isUp ? Number(after) : before === undefined ? newest + 1 : Number(before);
      const asked = new Conditions().add(`deliveries.id ${isUp ? '>' : '<'} ?`, from);
      if (door !== undefined) asked.add(throughDoor(words, door));
      const inState = state && few[state];
      if (inState !== undefined) asked.add(inState);
      else if (state !== undefined) asked.add('state = ?', state);
      if (repositoryId !== undefined) asked.add('repository_id = ?', repositoryId);
      if (withoutOwn) asked.add('(reason IS NULL OR reason NOT LIKE ?)', `${ownPrefix}%`);
      if (search !== '') {
        const text = search.toLowerCase();
        const columns = ['event_type', 'repository', 'uuid', "coalesce(summary, '')"];
        const found = columns.map((column) => `${words.find}(lower(${column}), ?) > 0`).join(' OR ');
        asked.add(`(${found})`, ...columns.map(() => text));
      }
      // In lists of settled or of all deliveries, a filter may skip many rows.
      const isFew = state !== undefined && state !== 'settled';
      const isFiltered = search !== '' || repositoryId !== undefined || door !== undefined || withoutOwn;
      const isStretch = isFiltered && !isFew;
      const end = isUp ? from + searchStretch : Math.max(from - searchStretch, 1);
      if (isStretch) asked.add(`deliveries.id ${isUp ? '<=' : '>='} ?`, end);
      const rows = await sql.all(
        `SELECT ${deliveryColumns} FROM deliveries WHERE ${asked.sql} ORDER BY deliveries.id ${isUp ? 'ASC' : 'DESC'} LIMIT ?`,
        [...asked.values, size],
      );
      const items = rows.map(deliveryOf);
      const last = items.length === size ? items.at(-1)?.id : undefined;
      const isMore = isStretch && (isUp ? end < newest : end > 1);
      return { items, next: last ?? (isMore ? String(end) : undefined) };
    },

    async readDelivery(id) {
      const row = await sql.get(
        `SELECT ${deliveryColumns}, body FROM deliveries JOIN bodies USING (id) WHERE deliveries.id = ?`,
        [rowNumberOf(id)],
      );
      return row && deliveryWithBodyOf(row);
    },

    async describeDelivery(id) {
      const row = await sql.get(`SELECT ${deliveryColumns} FROM deliveries WHERE id = ?`, [rowNumberOf(id)]);
      return row && deliveryOf(row);
    },

    async readHeaders(id) {
      const row = await sql.get(
        `SELECT headers, uuid, bytes FROM deliveries JOIN header_sets ON header_sets.id = deliveries.header_set
         WHERE deliveries.id = ?`,
        [rowNumberOf(id)],
      );
      return row && decodeHeaders(String(row.headers), { uuid: String(row.uuid), bytes: Number(row.bytes) });
    },

    async listRuns({ delivery, repositoryId, item, since, before, limit } = {}) {
      const size = pageSizeOf(limit);
      const from = before !== undefined ? Number(before) : item ? (await newestRun(sql)) + 1 : 2 ** 52;
      const asked = new Conditions().add('number < ?', from);
      const floor = item === undefined ? 0 : Math.max(from - searchStretch, 1);
      if (item !== undefined) {
        asked.add('number >= ?', floor);
        const isOfLane = `EXISTS (SELECT 1 FROM deliveries
          WHERE deliveries.id = coalesce(runs.delivery, ${words.namedDelivery}) AND lane = ?)`;
        const named = `"item":${JSON.stringify(item.name)}`;
        asked.add(`(${words.find}(run, ?) > 0 OR ${isOfLane})`, named, item.lane);
      }
      if (delivery !== undefined) asked.add('delivery = ?', rowNumberOf(delivery));
      if (repositoryId !== undefined) asked.add('repository_id = ?', repositoryId);
      if (since !== undefined) asked.add('started_at >= ?', since.toISOString());
      const rows = await sql.all(
        `SELECT number, run FROM runs WHERE ${asked.sql} ORDER BY number DESC LIMIT ?`,
        [...asked.values, size],
      );
      const last = rows.length === size ? rows.at(-1)?.number : undefined;
      const next = last ?? (floor > 1 ? floor : undefined);
      return { items: rows.map(runOf), next: next === undefined ? undefined : String(next) };
    },

    async readRun(id) {
      const row = await sql.get('SELECT run FROM runs WHERE id = ?', [id]);
      return row && runOf(row);
    },

    async readLatestRuns(deliveries) {
      const ids = deliveries.slice(0, maxPageSize).map(rowNumberOf);
      if (ids.length === 0) return new Map<string, Run>();
      const rows = await sql.all(
        `SELECT delivery, run FROM runs WHERE number IN
           (SELECT max(number) FROM runs WHERE delivery IN (${marksFor(ids)}) GROUP BY delivery)`,
        ids,
      );
      return new Map(rows.map((row) => [String(row.delivery), runOf(row)]));
    },

    async counts() {
      const row = await sql.get(countStates);
      const of = (state: DeliveryState): number => Number(row?.[state]);
      return {
        accepted: of('accepted'),
        claimed: of('claimed'),
        retry: of('retry'),
        deferred: of('deferred'),
        dead: of('dead'),
        settled: countSettled?.() ?? of('settled'),
      };
    },

    async oldestWaiting() {
      const row = await sql.get(oldest);
      return row && new Date(String(row.received_at));
    },
  };
}

async function newestId(sql: Sql): Promise<number> {
  return Number((await sql.get('SELECT coalesce(max(id), 0) AS id FROM deliveries'))?.id);
}

async function newestRun(sql: Sql): Promise<number> {
  return Number((await sql.get('SELECT coalesce(max(number), 0) AS number FROM runs'))?.number);
}

/**
 * Returns conditions for states with few rows, which use the index of the state, because a scan from the end of the
 * table would read every settled row. The expressions are those of the partial indexes.
 */
function fewIn({ deliveriesBy, isRouted, isUnrouted }: SqlWords): Partial<Record<DeliveryState, string>> {
  const inState = (state: DeliveryState, index: string): string =>
    `deliveries.id IN (SELECT id FROM ${deliveriesBy(index)} WHERE state = '${state}')`;
  return {
    accepted: `deliveries.id IN (
      SELECT id FROM ${deliveriesBy('unrouted')} WHERE state = 'accepted' AND ${isUnrouted}
      UNION ALL SELECT id FROM ${deliveriesBy('waiting')} WHERE state = 'accepted' AND ${isRouted})`,
    claimed: inState('claimed', 'claimed'),
    retry: inState('retry', 'retrying'),
    deferred: inState('deferred', 'deferred'),
  };
}

/**
 * Returns the query for the number of deliveries in each state except settled, which has the most rows. The query uses
 * small indexes.
 */
function countQuery({ isRouted, isUnrouted }: SqlWords, withSettled: boolean): string {
  const count = (where: string): string => `(SELECT count(*) FROM deliveries WHERE ${where})`;
  return `SELECT ${count(`state = 'accepted' AND ${isUnrouted}`)} + ${count(`state = 'accepted' AND ${isRouted}`)} AS accepted,
    ${withSettled ? `${count("state = 'settled'")} AS settled,` : ''}
    ${count("state = 'claimed'")} AS claimed, ${count("state = 'retry'")} AS retry,
    ${count("state = 'deferred'")} AS deferred, ${count("state = 'dead'")} AS dead`;
}

function oldestQuery({ deliveriesBy, isRouted, isUnrouted }: SqlWords): string {
  return `SELECT received_at FROM deliveries WHERE id IN (
    (SELECT id FROM ${deliveriesBy('unrouted')} WHERE state = 'accepted' AND ${isUnrouted} ORDER BY id LIMIT 1),
    (SELECT min(id) FROM ${deliveriesBy('waiting')} WHERE state = 'accepted' AND ${isRouted}),
    (SELECT min(id) FROM ${deliveriesBy('retrying')} WHERE state = 'retry')
  ) ORDER BY id LIMIT 1`;
}
