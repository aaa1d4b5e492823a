import { migrate } from '../../../src/store/sqlite/migrations.ts';
import { openSqliteFile } from '../../../src/store/sqlite/sqlite-store.ts';

/** Brings a store to the newest schema, when its parent says so, which kills it meanwhile. */
const path = process.argv[2] ?? '';
process.on('message', () => {
  const database = openSqliteFile({ path });
  migrate(database, path);
  database.close();
  process.send?.('done');
});
process.on('disconnect', () => process.exit(1));
process.send?.('ready');
