import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { openDatabase } from '../../../src/forge/platform/database.ts';
import { startEmbedded } from '../../support/contract-forge.ts';

let data: string;
beforeAll(() => {
  data = mkdtempSync(join(tmpdir(), 'scheduled-'));
});
afterAll(() => rmSync(data, { recursive: true, force: true }));

it('a scheduled merge whose checks pass while the process ends is performed at the next start', async () => {
  const first = await startEmbedded({ data });
  const ada = await first.makeUser();
  const repository = await first.makeRepository(ada, { auto_init: true });
  const ask = (method: string, path: string, body?: unknown) =>
    first.ask(method, `/repos/${repository}${path}`, { as: ada, body });
  const file = { content: '', message: 'add', new_branch: 'topic' };
  const { json } = await ask('POST', '/contents/a.txt', file);
  await ask('POST', '/pulls', { title: 'A change', head: 'topic', base: 'main' });
  const terms = { enable_status_check: true, status_check_contexts: ['ci'] };
  await ask('POST', '/branch_protections', { rule_name: 'main', ...terms });
  const scheduled = await ask('POST', '/pulls/1/merge', { do: 'merge', merge_when_checks_succeed: true });
  await first.close();

  // This is the state left by a process that was killed between the status and the merge.
  const db = openDatabase(join(data, 'forge.db'));
  db.run(
    `INSERT INTO commit_statuses (repo_id, sha, number, state, target_url, description, context, creator_id, created_at)
       SELECT repo_id, head_sha, 1, 'success', '', '', 'ci', 1, 0 FROM pulls WHERE head_sha = ?`,
    json.commit.sha,
  );
  db.close();
  const second = await startEmbedded({ data });
  const isMerged = async () =>
    (await second.ask('GET', `/repos/${repository}/pulls/1/merge`, { as: ada })).status === 204;
  await expect.poll(isMerged).toBe(true);
  await second.close();

  expect(scheduled.status).toBe(201);
});
