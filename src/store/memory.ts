import { systemClock } from '../platform/clock.ts';
import { memoryDateOf } from './action-memory.ts';
import { indexableText } from './postgres/postgres-sql.ts';
import { columnsOf, type Sql, type SqlValue, type Statement } from './sql.ts';
import type { MemoryRows } from './store.ts';

/**
 * Returns the stored forms of a key. PostgreSQL cannot store every key unchanged, and a file may contain either form
 * after `reeve store copy`.
 */
function namesOf(key: string): readonly [SqlValue, SqlValue] {
  return [{ indexed: key }, indexableText(key)];
}

/** Selects the value of a key. */
export function selectValue(key: string): Statement {
  return { sql: 'SELECT value FROM memory WHERE key IN (?, ?)', values: namesOf(key) };
}

/** Returns the statements that store plain data under a key; undefined deletes the data. */
export function putValue(sql: Sql, key: string, value: unknown): readonly Statement[] {
  const json = value === undefined ? undefined : JSON.stringify(value);
  const drop = { sql: 'DELETE FROM memory WHERE key IN (?, ?)', values: namesOf(key) };
  if (json === undefined) return [drop];
  const row = columnsOf(sql, 'memory', {
    key: { indexed: key },
    value: json,
    at: memoryDateOf(value) ?? null,
  });
  const put = {
    sql: `INSERT INTO memory (${row.names}) VALUES (${row.marks}) ON CONFLICT (key) DO UPDATE SET ${row.replacements}`,
    values: row.values,
  };
  return indexableText(key) === key ? [put] : [drop, put];
}

/** Returns the key-value part of the store, where several processes may revise a value. */
export function createMemory(sql: Sql): MemoryRows {
  const recallJson = async (key: string): Promise<string | undefined> => {
    const { sql: text, values } = selectValue(key);
    const row = await sql.get(text, values);
    return row && String(row.value);
  };
  return {
    async remember(key, value) {
      await sql.batch(putValue(sql, key, value));
    },
    async recall(key) {
      const json = await recallJson(key);
      return json === undefined ? undefined : JSON.parse(json);
    },
    async revise(key, edit) {
      for (let attempt = 1; ; attempt += 1) {
        const json = await recallJson(key);
        const before: unknown = json === undefined ? undefined : JSON.parse(json);
        const after = edit(before);
        if (after === before || (json === undefined && JSON.stringify(after) === undefined)) return after;
        const [count] = await sql.batch([replaceValue(sql, key, json, after)]);
        if (count === 1) return after;
        // Another process has changed the value meanwhile.
        await systemClock.sleep(Math.random() * Math.min(attempt * 5, 200));
      }
    },
  };
}

/** Returns the statement that replaces a value if it still equals the value that was read. */
function replaceValue(sql: Sql, key: string, before: string | undefined, value: unknown): Statement {
  const json = value === undefined ? undefined : JSON.stringify(value);
  const same = 'key = ? AND value = ?';
  if (json === undefined)
    return { sql: `DELETE FROM memory WHERE ${same}`, values: [{ indexed: key }, before ?? ''] };
  const row = columnsOf(sql, 'memory', { value: json, at: memoryDateOf(value) ?? null });
  if (before === undefined)
    return {
      sql: `INSERT INTO memory (key, ${row.names}) VALUES (?, ${row.marks}) ON CONFLICT (key) DO NOTHING`,
      values: [{ indexed: key }, ...row.values],
    };
  return {
    sql: `UPDATE memory SET ${row.assignments} WHERE ${same}`,
    values: [...row.values, { indexed: key }, before],
  };
}
