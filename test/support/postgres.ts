import { randomBytes } from 'node:crypto';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import pg from 'pg';
import { postgresVariable } from './postgres-server.ts';

let url: Promise<string> | undefined;

/**
 * Returns the address of the PostgreSQL server of this test run. The server is started for the first test that requests
 * the address.
 */
export function postgresUrl(): Promise<string> {
  url ??= ask();
  return url;
}

async function ask(): Promise<string> {
  const path = process.env[postgresVariable];
  if (path === undefined) throw new Error('the global set-up of the tests has not run');
  const answer = await text(connect(path));
  if (answer === '') throw new Error('PostgreSQL did not start');
  return answer;
}

/** Returns the address of a schema that no other test uses. The store creates it, which takes a tenth of a second. */
export async function makeSchema(): Promise<string> {
  return `${await postgresUrl()}&schema=test_${randomBytes(8).toString('hex')}`;
}

/**
 * Returns a function that returns, for each name, the address of an initially empty schema. All names share one schema,
 * which is emptied for each name, because only one name is used at a time.
 */
export function createSchemas(): (name: string) => Promise<string> {
  let schema: Promise<string> | undefined;
  let last: string | undefined;
  return async (name) => {
    schema ??= makeSchema();
    const url = await schema;
    if (last !== undefined && last !== name) await empty(url);
    last = name;
    return url;
  };
}

/** Connects directly with PostgreSQL to the schema of an address. */
export async function connectDirectly(url: string): Promise<pg.Client> {
  const [base = '', query = ''] = url.split('?');
  const parameters = new URLSearchParams(query);
  const options = `-c search_path=${parameters.get('schema')}`;
  parameters.delete('schema');
  const client = new pg.Client({ connectionString: `${base}?${parameters}`, options });
  await client.connect();
  return client;
}

/** Deletes all rows, and restarts ids at 1. This is faster than TRUNCATE, which replaces the files. */
async function empty(url: string): Promise<void> {
  const [base = '', query = ''] = url.split('?');
  const schema = new URLSearchParams(query).get('schema');
  const client = new pg.Client({ connectionString: `${base}?${query}` });
  await client.connect();
  try {
    await client.query(`DO $$
      DECLARE name text;
      BEGIN
        FOR name IN SELECT format('%I.%I', schemaname, tablename) FROM pg_tables
          WHERE schemaname = '${schema}' AND tablename <> 'schema_version'
        LOOP EXECUTE 'DELETE FROM ' || name; END LOOP;
        FOR name IN SELECT format('%I.%I', schemaname, sequencename) FROM pg_sequences WHERE schemaname = '${schema}'
        LOOP PERFORM setval(name, 1, false); END LOOP;
      END $$`);
  } finally {
    await client.end();
  }
}
