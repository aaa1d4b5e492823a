import { openPostgresStore } from '../../../src/store/postgres/postgres-store.ts';
import { createSchemas } from '../../support/postgres.ts';
import { describeStore } from '../contract/describe-store.ts';
import type { Backend } from '../contract/store-bench.ts';
import { describeQueueRows } from '../queue-contract.ts';

const urlOf = createSchemas();

const backend: Backend = {
  open: async ({ name, ...options }) =>
    openPostgresStore({ url: await urlOf(name), isVolatile: true, ...options }),
};

describeStore('the PostgreSQL store', backend);
describeQueueRows('the PostgreSQL store', backend);
