import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fastify, { type FastifyInstance } from 'fastify';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { operations } from '../../src/contract/operations.ts';
import { ensureAdministrator } from '../../src/forge/accounts/users-service.ts';
import { handlers } from '../../src/forge/handlers.ts';
import { createDeliveries } from '../../src/forge/hooks/deliveries.ts';
import { createEmit } from '../../src/forge/hooks/emit.ts';
import { createPasswordGate, createPasswords } from '../../src/forge/platform/access/password-gate.ts';
import { createAttachmentStore } from '../../src/forge/platform/attachment-store.ts';
import {
  createBackground,
  createSyncQueue,
  defaultFeatures,
  type ForgeContext,
} from '../../src/forge/platform/context.ts';
import { type Database, openDatabase } from '../../src/forge/platform/database.ts';
import { defaultLimits } from '../../src/forge/platform/git/limits.ts';
import { createGitStore } from '../../src/forge/platform/git/store.ts';
import { registerOperations } from '../../src/forge/platform/http/route.ts';
import { silentLog } from '../../src/platform/log.ts';
import { basic } from '../support/contract-forge.ts';
import { passwordCost } from '../support/privilege-setup.ts';

/** Full scans of tables that grow with the forge, which this test forbids. */
const growing =
  /SCAN (users|repositories|issues|comments|labels|issue_labels|pulls|hooks|hook_tasks|stars|notifications|watches|issue_watches|tracked_times|attachments|dependencies|activities|activity_receivers|follows|blocks|public_keys|gpg_keys|email_addresses|avatars|r|i|u|c|l|s|a|f)\b/;
/**
 * The repository search finds substrings, which no index supports, and usage statistics count all rows, so these
 * statements may scan.
 */
const isSearch = (sql: string) => /\/\* (search|usage) \*\//.test(sql);
/**
 * Small full scans are allowed: of pending deliveries, which have their own index, and of a page that is already
 * limited.
 */
const isSmall = (detail: string, sql: string) =>
  /INDEX hook_tasks_(queued|sending)/.test(detail) || (detail === 'SCAN r' && sql.includes('OFFSET ?) r'));

describe('statements of the forge', () => {
  let folder: string;
  let app: FastifyInstance;
  let db: Database;
  let context: ForgeContext;
  const statements = new Set<string>();
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'plans-'));
    db = openDatabase(join(folder, 'forge.db'));
    context = createContext(trace(db));
    app = fastify();
    app.removeAllContentTypeParsers();
    app.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body));
    registerOperations(app, context, handlers);
    await app.ready();
    await ensureAdministrator(context, { name: 'root', email: 'root@localhost', password: 'pw' });
  });
  afterAll(async () => {
    await app.close();
    await context.background.close();
    await context.deliveries.close();
    context.git.close();
    db.close();
    rmSync(folder, { recursive: true, force: true });
  });

  function createContext(traced: Database): ForgeContext {
    const clock = () => new Date();
    const deliveries = createDeliveries({ database: traced, log: silentLog, now: () => 0 });
    const background = createBackground(silentLog);
    const git = createGitStore(join(folder, 'repositories'));
    const emit = createEmit({ db: traced, clock }, deliveries.wake);
    return {
      db: traced,
      git,
      clock,
      log: silentLog,
      rootUrl: () => 'http://forge',
      emit,
      deliveries,
      background,
      syncs: createSyncQueue(silentLog),
      wakeMerges: () => {},
      attachments: createAttachmentStore(traced, join(folder, 'attachments')),
      features: defaultFeatures,
      limits: defaultLimits,
      passwords: createPasswordGate(clock, createPasswords(passwordCost)),
    };
  }

  function trace(inner: Database): Database {
    const note = (sql: string) => {
      statements.add(sql);
      return sql;
    };
    return {
      ...inner,
      all: (sql, ...values) => inner.all(note(sql), ...values),
      get: (sql, ...values) => inner.get(note(sql), ...values),
      run: (sql, ...values) => inner.run(note(sql), ...values),
    };
  }

  async function ask(method: string, path: string, body?: unknown): Promise<number> {
    const answer = await app.inject({
      method: method as 'GET',
      url: `/api/v1${path}`,
      headers: { ...basic('root', 'pw'), 'content-type': 'application/json' },
      ...(body === undefined ? {} : { payload: JSON.stringify(body) }),
    });
    return answer.statusCode;
  }

  it('never scan a growing table for any request', async () => {
    await ask('POST', '/orgs', { username: 'acme' });
    await ask('POST', '/orgs/acme/repos', { name: 'app', auto_init: true, issue_labels: 'Default' });
    await ask('POST', '/repos/acme/app/issues', { title: 'x', labels: [1], assignees: ['root'] });
    await ask('POST', '/repos/acme/app/issues', { title: 'y' });
    await ask('POST', '/admin/users', { username: 'ada', email: 'ada@example.org' });
    const queries =
      'state=all&labels=bug&milestones=v1&created_by=root&assigned_by=root&mentioned_by=root&q=x&type=issues';
    await ask('GET', `/repos/acme/app/issues?${queries}`);
    for (const operation of Object.values(operations)) {
      if (/^(repository|issue)\.delete$/.test(operation.id)) continue;
      const path = operation.path
        .replace('{owner}/{repo}', 'acme/app')
        .replace('{org}', 'acme')
        .replace('{username}', 'root')
        .replace(/\{\w+\*?\}/g, '1');
      await ask(operation.method, path, operation.method === 'GET' ? undefined : bodyFor(operation.id));
    }

    const scans = [...statements].flatMap((sql) =>
      db
        .all<{ detail: string }>(`EXPLAIN QUERY PLAN ${sql}`)
        .filter(({ detail }) => growing.test(detail) && !isSmall(detail, sql) && !isSearch(sql))
        .map(({ detail }) => `${detail}: ${sql}`),
    );
    expect(statements.size).toBeGreaterThan(80);
    expect(scans).toEqual([]);
  });

  /** Returns a minimal body with which each write reaches its statements. */
  function bodyFor(id: string): unknown {
    const config = { url: 'http://127.0.0.1:9/', content_type: 'json' };
    const common = {
      title: 'v1',
      name: 'some',
      color: 'fff',
      body: 'hm',
      labels: ['bug'],
      type: 'gitea',
      config,
      index: 2,
      owner: 'acme',
      repo: 'app',
      time: 1,
    };
    return id === 'issue.create' ? { title: 'x', labels: [1], milestone: 1 } : common;
  }
});
