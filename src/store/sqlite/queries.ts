import type { DatabaseSync, SQLInputValue } from 'node:sqlite';
import type { Run } from '../../engine/record.ts';
import { maxPageSize, pageSizeOf, rowNumberOf, searchStretch } from '../paging.ts';
import { deliveryColumns, deliveryOf, deliveryWithBodyOf, runOf, type SqlRow } from '../rows.ts';
import type { Delivery, DeliveryQuery, DeliveryState, DeliveryWithBody, Page, RunQuery } from '../store.ts';
import { decodeHeaders, type StoredHeaders, selectHeaders } from '../stored-headers.ts';

/**
 * Which rows are in a state that few are in, by the index of that state: going through the table from its end would pass by
 * every settled row. The words are those of the partial indexes.
 */
const fewOf: Partial<Record<DeliveryState, string>> = {
  accepted: `deliveries.id IN (
    SELECT id FROM deliveries INDEXED BY unrouted WHERE state = 'accepted' AND routed = 0
    UNION ALL SELECT id FROM deliveries INDEXED BY waiting WHERE state = 'accepted' AND routed = 1)`,
  claimed: "deliveries.id IN (SELECT id FROM deliveries INDEXED BY claimed WHERE state = 'claimed')",
  retry: "deliveries.id IN (SELECT id FROM deliveries INDEXED BY retrying WHERE state = 'retry')",
  deferred: "deliveries.id IN (SELECT id FROM deliveries INDEXED BY deferred WHERE state = 'deferred')",
};

/** Read-only queries of the store. */
export interface Queries {
  listDeliveries(query: DeliveryQuery): Page<Delivery>;
  readDelivery(id: string): DeliveryWithBody | undefined;
  describeDelivery(id: string): Delivery | undefined;
  readHeaders(id: string): StoredHeaders | undefined;
  listRuns(query: RunQuery): Page<Run>;
  readRun(id: string): Run | undefined;
  readLatestRuns(deliveries: readonly string[]): ReadonlyMap<string, Run>;
}

/** Prepares the queries. */
export function createQueries(database: DatabaseSync): Queries {
  const one = database.prepare(
    `SELECT ${deliveryColumns}, body FROM deliveries JOIN bodies USING (id) WHERE deliveries.id = ?`,
  );
  const outside = database.prepare(`SELECT ${deliveryColumns} FROM deliveries WHERE id = ?`);
  const run = database.prepare('SELECT run FROM runs WHERE id = ?');
  const latestRun = database.prepare('SELECT run FROM runs WHERE delivery = ? ORDER BY number DESC LIMIT 1');
  const newest = database.prepare('SELECT coalesce(max(id), 0) AS id FROM deliveries');

  return {
    listDeliveries(query) {
      const limit = pageSizeOf(query.limit);
      const from = query.before === undefined ? Number(newest.get()?.id) + 1 : Number(query.before);
      const asked = new Conditions('deliveries.id < ?', from);
      if (query.door !== undefined) asked.add(`+door ${query.door === 'job' ? '<>' : '='} 'webhook'`);
      if (query.state !== undefined) asked.add(fewOf[query.state] ?? `state = '${query.state}'`);
      if (query.repositoryId !== undefined) asked.add('repository_id = ?', query.repositoryId);
      const isSearch = query.search !== undefined && query.search !== '';
      if (isSearch) {
        const text = String(query.search).toLowerCase();
        asked.add(
          '(instr(lower(event_type), ?) OR instr(lower(repository), ?) OR instr(lower(uuid), ?))',
          text,
          text,
          text,
        );
      }
      // Of the settled, and of all, a filter may have to pass by many rows.
      const isFew = query.state !== undefined && query.state !== 'settled';
      const isStretch = (isSearch || query.repositoryId !== undefined || query.door !== undefined) && !isFew;
      const floor = isStretch ? Math.max(from - searchStretch, 1) : 0;
      if (floor > 0) asked.add('deliveries.id >= ?', floor);
      const sql = `SELECT ${deliveryColumns} FROM deliveries WHERE ${asked.sql} ORDER BY deliveries.id DESC LIMIT ?`;
      const items = all(database, sql, [...asked.values, limit]).map(deliveryOf);
      const last = items.length === limit ? items.at(-1)?.id : undefined;
      return { items, next: last ?? (floor > 1 ? String(floor) : undefined) };
    },

    readDelivery(id) {
      const row = one.get(rowNumberOf(id));
      return row === undefined ? undefined : deliveryWithBodyOf(row as SqlRow);
    },

    describeDelivery(id) {
      const row = outside.get(rowNumberOf(id));
      return row === undefined ? undefined : deliveryOf(row as SqlRow);
    },

    readHeaders: createHeaderQuery(database),

    listRuns(query) {
      const limit = pageSizeOf(query.limit);
      const asked = new Conditions('number < ?', query.before === undefined ? 2 ** 52 : Number(query.before));
      if (query.delivery !== undefined) asked.add('delivery = ?', rowNumberOf(query.delivery));
      if (query.repositoryId !== undefined) asked.add('repository_id = ?', query.repositoryId);
      if (query.since !== undefined) asked.add('started_at >= ?', query.since.toISOString());
      const sql = `SELECT number, run FROM runs WHERE ${asked.sql} ORDER BY number DESC LIMIT ?`;
      const rows = all(database, sql, [...asked.values, limit]);
      const last = rows.length === limit ? rows.at(-1)?.number : undefined;
      return { items: rows.map(runOf), next: last === undefined ? undefined : String(last) };
    },

    readRun(id) {
      const row = run.get(id);
      return row === undefined ? undefined : runOf(row as SqlRow);
    },

    readLatestRuns(deliveries) {
      const found = new Map<string, Run>();
      for (const id of deliveries.slice(0, maxPageSize)) {
        const row = latestRun.get(rowNumberOf(id));
        if (row !== undefined) found.set(id, runOf(row as SqlRow));
      }
      return found;
    },
  };
}

function createHeaderQuery(database: DatabaseSync): Queries['readHeaders'] {
  const headersOf = database.prepare(selectHeaders('?'));
  return (id) => {
    const row = headersOf.get(rowNumberOf(id));
    return row && decodeHeaders(String(row.headers), { uuid: String(row.uuid), bytes: Number(row.bytes) });
  };
}

/** Conditions joined by AND, and their values. */
class Conditions {
  readonly #texts: string[] = [];
  readonly values: SQLInputValue[] = [];

  constructor(text: string, ...values: SQLInputValue[]) {
    this.add(text, ...values);
  }

  add(text: string, ...values: SQLInputValue[]): void {
    this.#texts.push(text);
    this.values.push(...values);
  }

  get sql(): string {
    return this.#texts.join(' AND ');
  }
}

function all(database: DatabaseSync, sql: string, values: readonly SQLInputValue[]): readonly SqlRow[] {
  return database.prepare(sql).all(...values) as readonly SqlRow[];
}
