import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openDatabase } from '../../../src/forge/platform/database.ts';
import { accounts, conversation, issues, repositories } from '../../../src/forge/platform/migrations.ts';
import { startEmbedded } from '../../support/contract-forge.ts';
import { cpuMs } from '../../support/cpu-time.ts';
import { makeSharedRepository, type SharedRepository } from '../../support/shared-repository.ts';

describe('an account with many threads', () => {
  const threads = 10_000;
  let data: string;
  let forge: Awaited<ReturnType<typeof startEmbedded>>;
  let shared: SharedRepository;
  beforeAll(async () => {
    data = mkdtempSync(join(tmpdir(), 'threads-'));
    forge = await startEmbedded({ data });
    shared = await makeSharedRepository(forge);
    await shared.ask('POST', '/issues', { body: { title: 'one' } });
    await forge.close();
    const database = new DatabaseSync(join(data, 'forge.db'));
    database.exec(`BEGIN;
      WITH RECURSIVE n (i) AS (SELECT 2 UNION ALL SELECT i + 1 FROM n WHERE i <= ${threads})
        INSERT INTO issues (repo_id, number, poster_id, title, created_at, updated_at)
        SELECT r.id, i, r.owner_id, 'issue ' || i, 1700000000 + i, 1700000000 + i FROM n, repositories r;
      INSERT INTO notifications (user_id, repo_id, source, status, issue_id, created_at, updated_at)
        SELECT poster_id, repo_id, 'issue', CASE id % 3 WHEN 0 THEN 'unread' ELSE 'read' END, id, created_at, updated_at
        FROM issues WHERE number > 1;
      INSERT INTO notifications (user_id, repo_id, source, commit_sha, created_at, updated_at)
        SELECT owner_id, id, 'commit', '${'ab'.repeat(20)}', 1600000000, 1600000000 FROM repositories;
      INSERT INTO notifications (user_id, repo_id, source, created_at, updated_at)
        SELECT owner_id, id, 'repository', 1600000000, 1600000000 FROM repositories;
      COMMIT;`);
    database.close();
    forge = await startEmbedded({ data });
  });
  afterAll(async () => {
    await forge.close();
    rmSync(data, { recursive: true, force: true });
  });

  async function timed(method: string, path: string) {
    const before = cpuMs();
    const answer = await forge.ask(method, path, { as: shared.owner });
    return { answer, ms: cpuMs() - before };
  }

  it.each([
    '/notifications',
    '/notifications?all=true&page=300',
    '/notifications?status-types=pinned',
    '/notifications?subject-type=repository',
    '/notifications/new',
  ])('reads %s in less than a quarter of a second', async (path) => {
    await timed('GET', path);
    const { answer, ms } = await timed('GET', path);

    expect(answer.status).toBe(200);
    expect(ms).toBeLessThan(250);
  });

  it('shows the types of a commit and a repository as Gitea does', async () => {
    const { json } = await forge.ask('GET', '/notifications?subject-type=commit&subject-type=repository', {
      as: shared.owner,
    });

    const sha = 'ab'.repeat(20);
    const web = `${forge.url}/${shared.fullName}`;
    const silent = { state: '', latest_comment_url: '', latest_comment_html_url: '' };
    expect(json.map(({ subject }: { subject: unknown }) => subject)).toEqual([
      { type: 'Repository', title: shared.fullName, url: `/${shared.fullName}`, html_url: web, ...silent },
      {
        type: 'Commit',
        title: sha,
        url: `${web}/commit/${sha}`,
        html_url: `${web}/commit/${sha}`,
        ...silent,
      },
    ]);
  });

  it('marks all threads at once', async () => {
    const { answer, ms } = await timed('PUT', '/notifications?all=true&to-status=pinned');

    expect(answer.status).toBe(205);
    expect(ms).toBeLessThan(5_000);
    const { headers } = await forge.ask('GET', '/notifications?status-types=pinned', { as: shared.owner });
    expect(headers.get('x-total-count')).toBe(String(threads + 2));
  });
});

it('a query finds threads through an index, newest first, without sorting the threads of all accounts', () => {
  const db = openDatabase(':memory:');
  const plan = (where: string) =>
    db
      .all<{ detail: string }>(
        `EXPLAIN QUERY PLAN SELECT * FROM notifications WHERE ${where} ORDER BY updated_at DESC, id DESC LIMIT 30`,
      )
      .map(({ detail }) => detail)
      .join('; ');

  for (const where of [
    'user_id = 1',
    `user_id = 1 AND status IN ('unread', 'pinned')`,
    `user_id = 1 AND repo_id = 1 AND status IN ('unread')`,
    `user_id = 1 AND updated_at >= 5 AND updated_at <= 9`,
  ])
    expect(plan(where), where).toMatch(
      /^SEARCH notifications USING INDEX notifications_\w+ \((user_id|repo_id)=\?/,
    );
  db.close();
});

it('a migration makes the owner of an existing repository its watcher', () => {
  const db = new DatabaseSync(':memory:');
  for (const migration of [accounts, repositories, issues]) db.exec(migration);
  db.exec(`INSERT INTO users (type, name, lower_name, created_at, updated_at)
      VALUES ('user', 'ada', 'ada', 1, 1), ('organization', 'acme', 'acme', 1, 1);
    INSERT INTO repositories (owner_id, name, lower_name, num_watches, created_at, updated_at)
      VALUES (1, 'app', 'app', 1, 1, 1), (2, 'lib', 'lib', 1, 1, 1);`);

  db.exec(conversation);

  expect(db.prepare('SELECT user_id, repo_id FROM watches').all()).toEqual([{ user_id: 1, repo_id: 1 }]);
  expect(db.prepare('SELECT num_watches FROM repositories ORDER BY id').all()).toEqual([
    { num_watches: 1 },
    { num_watches: 0 },
  ]);
  db.close();
});
