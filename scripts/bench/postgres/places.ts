import pg from 'pg';

/** Where one store of a measurement is: in a folder, or in a schema of the server. */
export type Place = { readonly folder: string; readonly url: string; readonly schema: string };

/** What the parts of this benchmark are given. */
export type PartOptions = { readonly quick: boolean; readonly makePlace: () => Place };

/** Returns the connection string of the store of Reeve. */
export function storeUrl({ url, schema }: Place): string {
  return `${url}&schema=${schema}`;
}

/** Deletes a schema with all that it holds, and lets the server write what it has put off. */
export async function removeSchema(url: string, schema: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(`DROP SCHEMA IF EXISTS ${schema} CASCADE`);
    await client.query('CHECKPOINT');
  } finally {
    await client.end();
  }
}

/** Collects what the server knows of the tables: a measurement begins as after hours, not as in the first seconds. */
export async function analyze(url: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await client.query('VACUUM ANALYZE');
    await client.query('CHECKPOINT');
  } finally {
    await client.end();
  }
}
