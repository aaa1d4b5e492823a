import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { operations } from '../../src/contract/operations.ts';
import type { Run } from '../../src/engine/record.ts';
import { uniqueName } from '../support/flow-names.ts';
import {
  acme,
  at,
  authorization,
  type Harness,
  people,
  repositoryScopes,
  secret,
  startHarness,
} from '../support/harness.ts';

const rule = (name: string, label: string, uses = 'set-labels'): string => `version: 1
rules:
  ${name}:
    on: issues.opened
    steps: [{ uses: ${uses}, with: { add: [${label}] } }]
`;

let harness: Harness;
afterEach(() => harness.close());

const shared = { owner: acme, repo: '.reeve' };

async function putFile(
  where: { owner: string; repo: string },
  filepath: string,
  text: string,
): Promise<void> {
  const params = { ...where, filepath };
  const content = Buffer.from(text).toString('base64');
  const live = await harness.root.call(operations.getContents, { params }).catch(() => undefined);
  const sha = live === undefined || Array.isArray(live) ? undefined : live.sha;
  if (sha) await harness.root.call(operations.updateFile, { params, body: { content, message: 'x', sha } });
  else await harness.root.call(operations.createFile, { params, body: { content, message: 'x' } });
}

async function makeShared(): Promise<void> {
  await harness.root.call(operations.createOrganizationRepository, {
    params: { org: acme },
    body: { name: '.reeve', auto_init: true, default_branch: 'main' },
  });
  await harness.root.call(operations.createHook, {
    params: shared,
    body: {
      type: 'gitea',
      active: true,
      events: ['push'],
      config: { url: `${harness.server.url}/webhook`, content_type: 'json', secret },
      authorization_header: authorization,
    },
  });
}

async function openIssue(title: string): Promise<{ number: number; run: Run }> {
  await harness.idle();
  const seen = harness.runs.length;
  const issue = await harness.ada.call(operations.createIssue, { params: at, body: { title } });
  const run = await harness.waitForRun(
    (one) => harness.runs.indexOf(one) >= seen && one.trigger.activity === 'opened',
  );
  await harness.idle();
  return { number: issue.number, run };
}

const statusesOf = async (where: { owner: string; repo: string }, sha: string) =>
  (await harness.root.call(operations.listStatuses, { params: { ...where, sha } })).map(
    ({ context, status, description }) => ({ context, status, description }),
  );
async function headOf(where: { owner: string; repo: string }): Promise<string> {
  const { commit } = await harness.root.call(operations.getBranch, { params: { ...where, branch: 'main' } });
  return commit?.id ?? '';
}

it('combines organization and repository rules file by file, with precedence for higher levels', async () => {
  harness = await startHarness({
    rules: `${rule('own', 'area/docs')}  quarrel: { on: issues.opened, steps: [{ uses: set-labels, with: { remove: [kept] } }] }\n`,
    server: { organizations: [{ name: acme, rules: `${acme}/.reeve` }] },
  });
  await makeShared();
  await putFile(shared, 'rules/good.yml', rule('shared', 'kept'));
  await putFile(shared, 'rules/broken.yml', rule('broken', 'area/code').replace('uses', 'use'));
  await putFile(
    shared,
    'rules/tags.yml',
    'version: 1\nrules: { t: { on: push, steps: [{ uses: protect-tags, with: { tags: [] } }] } }\n',
  );
  await putFile(shared, 'elsewhere/other.yml', rule('other', 'area/code'));

  const { number, run } = await openIssue('one');

  expect(await harness.labelsOf(number)).toEqual(['area/docs', 'kept']);
  expect(run.rules.map(({ rule: id, verdict }) => [id, verdict])).toEqual([
    [`${acme}/.reeve/rules/broken.yml`, 'failed'],
    [`${acme}/.reeve/rules/tags.yml`, 'failed'],
    [`${acme}/.reeve/rules/good.yml#shared`, 'matched'],
    [`${acme}/demo/.reeve.yml#own`, 'matched'],
    [`${acme}/demo/.reeve.yml#quarrel`, 'matched'],
  ]);
  expect(run.rules[1]?.reason).toContain("may not use protect-tags without the operator's grant");
  expect(run.changes.find(({ target }) => target === 'label:kept')).toMatchObject({ level: 'organization' });
});

it('applies pushed organization rules immediately, even if their repository is not served', async () => {
  harness = await startHarness({ server: { organizations: [{ name: acme, rules: `${acme}/.reeve` }] } });
  await makeShared();
  await harness.ada.call(operations.createIssue, { params: at, body: { title: 'before there are rules' } });
  await harness.idle();

  await putFile(shared, 'rules/good.yml', rule('shared', 'kept'));

  const { number } = await openIssue('after');
  expect(await harness.labelsOf(number)).toEqual(['kept']);
});

it('does not use the rules of a repository that was recreated under the pinned name', async () => {
  harness = await startHarness({ server: { organizations: [{ name: acme, rules: `${acme}/.reeve` }] } });
  await makeShared();
  await putFile(shared, 'rules/good.yml', rule('shared', 'kept'));
  await openIssue('one');
  await harness.root.call(operations.deleteRepository, { params: shared });
  await makeShared();
  await putFile(shared, 'rules/good.yml', rule('shared', 'area/code'));
  await harness.restart();

  const { number, run } = await openIssue('two');

  expect(await harness.labelsOf(number)).toEqual([]);
  expect(run.rules[0]?.reason).toContain(`${acme}/.reeve is now a different repository`);
});

it('applies a changed operator file while running', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'reeve-operator-'));
  await writeFile(join(folder, 'a.yml'), rule('first', 'area/docs'));
  harness = await startHarness({ server: { rules: folder } });
  expect(await harness.labelsOf((await openIssue('one')).number)).toEqual(['area/docs']);
  await writeFile(join(folder, 'a.yml'), rule('second', 'area/code'));

  const labelsOfNext = async () => harness.labelsOf((await openIssue('two')).number);
  await expect.poll(labelsOfNext, { interval: 500 }).toEqual(['area/code']);
  await rm(folder, { recursive: true });
});

it('reports a broken rule file to its repository by status, once per commit, and its repair', async () => {
  harness = await startHarness({
    rules: rule('own', 'area/docs').replace('uses', 'use'),
    scopes: repositoryScopes,
  });
  await openIssue('one');
  await openIssue('two');
  const broken = await headOf(at);

  await expect
    .poll(() => statusesOf(at, broken))
    .toMatchObject([
      { context: 'reeve/rules', status: 'failure', description: expect.stringContaining('.reeve.yml:5:') },
    ]);
  await harness.setRules(rule('own', 'area/docs'));
  const good = await headOf(at);
  await openIssue('three');

  await expect
    .poll(() => statusesOf(at, good))
    .toEqual([{ context: 'reeve/rules', status: 'success', description: 'the rules can be used' }]);
  expect(await statusesOf(at, broken)).toHaveLength(1);
});

it('reports a broken rule file by one issue if configured, edits the issue, and closes it when the file is valid again', async () => {
  harness = await startHarness({
    rules: rule('own', 'area/docs').replace('uses', 'use'),
    server: { reportProblems: 'issue' },
  });
  await openIssue('@ada is not called by a rule file');
  const reports = async () => {
    const query = { state: 'all', q: 'rules of this repository' };
    const issues = await harness.root.call(operations.listIssues, { params: at, query });
    return issues
      .filter(({ user }) => user?.login === people.bot)
      .map(({ state, body }) => ({ state, body }));
  };

  await expect
    .poll(reports)
    .toMatchObject([{ state: 'open', body: expect.stringContaining('.reeve.yml:5:') }]);
  await harness.setRules(rule('own', 'area/docs'));
  await openIssue('two');

  await expect.poll(reports).toMatchObject([{ state: 'closed' }]);
});

it('reports nothing to a repository whose file was always valid, or if the operator disables reports', async () => {
  harness = await startHarness({ rules: rule('own', 'area/docs') });
  await openIssue('one');
  expect(await statusesOf(at, await headOf(at))).toEqual([]);
  await harness.close();
  harness = await startHarness({ rules: 'rules: []\n', server: { reportProblems: 'none' } });
  await openIssue('one');

  expect(await statusesOf(at, await headOf(at))).toEqual([]);
});

it('previews a pull request that changes the rule file: checks and replays the new file, but does not apply it', async () => {
  harness = await startHarness({
    rules: rule('own', 'area/docs'),
    server: { preview: true },
    scopes: repositoryScopes,
  });
  await openIssue('one');
  const open = async (branch: string, text: string) => {
    const params = { ...at, filepath: '.reeve.yml' };
    const live = await harness.root.call(operations.getContents, { params });
    const sha = Array.isArray(live) ? '' : (live.sha ?? '');
    const content = Buffer.from(text).toString('base64');
    const body = { branch: 'main', new_branch: branch, content, message: 'rules', sha };
    await harness.ada.call(operations.updateFile, { params, body });
    const pull = { title: branch, head: branch, base: 'main' };
    return harness.ada.call(operations.createPull, { params: at, body: pull });
  };
  const good = await open('good', rule('own', 'area/code'));
  const bad = await open('bad', rule('own', 'area/code').replace('add', 'adds'));
  await harness.openPull('other', { 'docs/a.md': 'a' });
  await harness.idle();

  // Each event about the branch triggers a preview. On a slow machine, more deliveries are stored by the second one.
  const told = (await statusesOf(at, good.head?.sha ?? '')).map(
    ({ context, status, description }) =>
      `${context} ${status}: ${description?.replace(/\d+(?= deliveries)/, 'N')}`,
  );
  expect([...new Set(told)]).toEqual([
    'reeve/rules success: 1 rule, no problems; on the last N deliveries it would make 1 change',
  ]);
  expect(await statusesOf(at, bad.head?.sha ?? '')).toMatchObject([
    { status: 'failure', description: expect.stringContaining('.reeve.yml:5:') },
  ]);
  const { number } = await openIssue('two');
  expect(await harness.labelsOf(number)).toEqual(['area/docs']);
});

it('follows a repository that was transferred between the event and the write, and does not write to the old name', async () => {
  harness = await startHarness({ rules: rule('own', 'area/docs') });
  await openIssue('warm');
  await harness.root.call(operations.createOrganization, { body: { username: uniqueName('heirs') } });
  let moved = false;
  harness.proxy.decide = ({ method, path }) => {
    if (moved || method !== 'PUT' || !path.endsWith('/labels')) return { kind: 'pass' };
    moved = true;
    return {
      kind: 'pass',
      before: async () => {
        await harness.root.call(operations.transferRepository, {
          params: at,
          body: { new_owner: uniqueName('heirs') },
        });
        // Another account takes the old name, where nothing may be written.
        await harness.root.call(operations.createOrganizationRepository, {
          params: { org: at.owner },
          body: { name: at.repo, auto_init: true },
        });
        await harness.root.call(operations.createIssue, { params: at, body: { title: 'not this one' } });
        await harness.root.call(operations.createIssue, { params: at, body: { title: 'nor this one' } });
        await harness.root.call(operations.createLabel, {
          params: at,
          body: { name: 'area/docs', color: 'ff0000' },
        });
      },
    };
  };
  await harness.root.call(operations.createIssue, { params: at, body: { title: 'moving' } });
  await harness.waitForRun(({ outcomes }) => outcomes.length > 0 && moved);
  await harness.idle();

  for (const index of [1, 2])
    expect(await harness.root.call(operations.listIssueLabels, { params: { ...at, index } })).toEqual([]);
});

it('follows a repository that was renamed between the event and the write', async () => {
  harness = await startHarness({ rules: rule('own', 'area/docs') });
  await openIssue('warm');
  let renamed = false;
  harness.proxy.decide = ({ method, path }) => {
    if (renamed || method !== 'PUT' || !path.endsWith('/labels')) return { kind: 'pass' };
    renamed = true;
    return {
      kind: 'pass',
      before: async () => {
        await harness.root.call(operations.editRepository, { params: at, body: { name: 'renamed' } });
      },
    };
  };
  const issue = await harness.ada.call(operations.createIssue, { params: at, body: { title: 'moving' } });
  const done = await harness.waitForRun(
    ({ outcomes, changes }) =>
      outcomes[0]?.status === 'applied' && changes[0]?.path.includes('/renamed/') === true,
  );
  await harness.idle();

  const labels = await harness.ada.call(operations.listIssueLabels, {
    params: { owner: acme, repo: 'renamed', index: issue.number },
  });
  expect(labels.map(({ name }) => name)).toEqual(['area/docs']);
  expect(done.rules[0]?.source).toBe(`${acme}/renamed/.reeve.yml`);
  const failed = harness.runs.find(({ outcomes }) => outcomes[0]?.status === 'failed');
  expect(failed?.outcomes[0]?.error).toContain('label:area/docs');
});
