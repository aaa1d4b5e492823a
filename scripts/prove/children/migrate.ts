import { migrate } from '../../../src/store/sqlite/migrations.ts';
import { openSqliteFile } from '../../../src/store/sqlite/sqlite-store.ts';

/** Migrates a store to the latest schema when its parent tells it to; the parent kills it meanwhile. */
const path = process.argv[2] ?? '';
process.on('message', () => {
  const database = openSqliteFile({ path });
  migrate(database, path);
  database.close();
  process.send?.('done');
});
process.on('disconnect', () => process.exit(1));
process.send?.('ready');
