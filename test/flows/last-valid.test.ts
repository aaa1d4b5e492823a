import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { operations } from '../../src/contract/operations.ts';
import type { Run } from '../../src/engine/record.ts';
import { createLog } from '../../src/platform/log.ts';
import type { Grant } from '../../src/rules/sources/grants.ts';
import type { ServerOptions } from '../../src/server/server.ts';
import { reeve } from '../support/command.ts';
import { signInWithPassword } from '../support/dashboard-client.ts';
import { acme, at, type Harness, repositoryScopes, startHarness } from '../support/harness.ts';

const labelling = (label: string): string => `version: 1
rules:
  mark:
    on: issues.opened
    steps: [{ uses: set-labels, with: { add: [${label}] } }]
`;
const invalid = labelling('kept').replace('steps', 'step');

let harness: Harness;
let folder: string | undefined;
afterEach(async () => {
  await harness.close();
  if (folder !== undefined) await rm(folder, { recursive: true, force: true });
  folder = undefined;
});

const labels = ['kept', 'area/docs', 'other'];
const start = (server: Partial<ServerOptions> = {}, rules?: string): Promise<Harness> =>
  startHarness({
    server,
    labels,
    scopes: repositoryScopes,
    on: 'the embedded forge',
    ...(rules === undefined ? {} : { rules }),
  });

/** Opens an issue; returns its labels once its run has ended, and the run. */
async function openIssue(title: string): Promise<{ labels: readonly string[]; run: Run }> {
  await harness.idle();
  const seen = harness.runs.length;
  const { number } = await harness.ada.call(operations.createIssue, { params: at, body: { title } });
  const run = await harness.waitForRun(
    (one) =>
      harness.runs.indexOf(one) >= seen && one.trigger.kind === 'issues' && one.trigger.activity === 'opened',
  );
  await harness.idle();
  return { labels: await harness.labelsOf(number), run };
}

/** Opens an issue for which no rule may run; returns its labels. */
async function labelsWithoutRun(title: string): Promise<readonly string[]> {
  await harness.idle();
  const { number } = await harness.ada.call(operations.createIssue, { params: at, body: { title } });
  await harness.idle();
  return harness.labelsOf(number);
}

const textOf = (page: string): string => page.replaceAll(/<[^>]+>/g, '');

async function deleteFile(where: { owner: string; repo: string }, filepath: string): Promise<void> {
  const params = { ...where, filepath };
  const live = await harness.root.call(operations.getContents, { params });
  const sha = Array.isArray(live) ? '' : (live.sha ?? '');
  await harness.waitForPush(() =>
    harness.root.call(operations.deleteFile, { params, body: { sha, message: 'gone' } }),
  );
}

async function headOf(branch = 'main'): Promise<string> {
  const found = await harness.root.call(operations.getBranch, { params: { ...at, branch } });
  return found.commit?.id ?? '';
}

const password = async (): Promise<string> =>
  (await readFile(join(harness.data, 'dashboard.password'), 'utf8')).trim();

const isBroken = async (): Promise<boolean> =>
  (await harness.server.store.listIncidents()).some(({ kind }) => kind === 'file-broken');

describe('a rule file of a repository that becomes invalid', () => {
  it('keeps its last valid version in force, which log, incident, report, doctor, dashboard and explain show', async () => {
    const lines: string[] = [];
    const log = createLog({ level: 'warn', destination: { write: (line) => lines.push(line) } });
    harness = await start({ log }, labelling('kept'));
    expect((await openIssue('valid')).labels).toEqual(['kept']);
    const commit = await headOf();
    await harness.setRules(invalid);

    const { labels: found, run } = await openIssue('invalid');

    expect(found).toEqual(['kept']);
    const words = `the last valid version (commit ${commit.slice(0, 10)}) stays in force: ${acme}/demo/.reeve.yml:`;
    expect(run.rules).toMatchObject([
      { rule: `${acme}/demo/.reeve.yml#mark`, verdict: 'matched', commit, isLastValid: true },
    ]);
    expect(await harness.server.store.listIncidents()).toMatchObject([
      { kind: 'file-broken', key: `${acme}/demo/.reeve.yml`, reason: expect.stringContaining(words) },
    ]);
    expect(lines.join('\n')).toContain(words);
    const statuses = async () =>
      (await harness.root.call(operations.listStatuses, { params: { ...at, sha: await headOf() } })).map(
        ({ status, description }) => ({ status, description }),
      );
    await expect.poll(statuses).toEqual([{ status: 'failure', description: expect.stringContaining(words) }]);
    const doctor = await reeve(['doctor', '--no-test', '--json'], { environment: harness.environment });
    const checks: readonly { id: string; text: string }[] = JSON.parse(doctor.out).checks;
    expect(checks.find(({ id }) => id === 'file-broken')?.text).toContain(words);
    const operator = await signInWithPassword(harness.server.url, await password());
    expect(textOf((await operator.get('/')).text)).toContain(words);
    expect(textOf((await operator.get('/rules')).text)).toContain(words);
    const explained = await reeve(['explain', run.id], { environment: harness.environment });
    expect(explained.out).toContain(`last valid version of the file (commit ${commit.slice(0, 10)})`);
    expect(explained.out).not.toContain('cannot be used');
    const recorded = textOf((await operator.get(`/runs/${run.id}`)).text);
    expect(recorded).toContain('last valid version of the file');
    expect(recorded).not.toContain('failed');
  });

  it('shows a failed run for each event while no version of it is in force', async () => {
    harness = await start({}, invalid);

    const { labels: found, run } = await openIssue('invalid from the start');

    expect(found).toEqual([]);
    expect(run.rules).toMatchObject([
      {
        rule: `${acme}/demo/.reeve.yml`,
        verdict: 'failed',
        reason: expect.stringContaining('the rule file cannot be used'),
      },
    ]);
  });

  it('keeps it after a restart, and ends it when the file is valid again', async () => {
    harness = await start({}, labelling('kept'));
    await openIssue('valid');
    await harness.setRules(invalid);
    await openIssue('invalid');
    await harness.restart();

    expect((await openIssue('restarted')).labels).toEqual(['kept']);
    await harness.setRules(labelling('other'));
    expect((await openIssue('mended')).labels).toEqual(['other']);
    await expect.poll(isBroken).toBe(false);
    await harness.setRules(invalid);
    expect((await openIssue('again')).labels).toEqual(['other']);
  });

  it('has no rules after the file was deleted, even if an invalid file is put there later', async () => {
    harness = await start({}, labelling('kept'));
    await openIssue('valid');
    await deleteFile(at, '.reeve.yml');
    expect(await labelsWithoutRun('deleted')).toEqual([]);
    await harness.setRules(invalid);

    expect((await openIssue('invalid')).labels).toEqual([]);
  });

  it('takes it from the default branch only: a version that was valid on another branch is never in force', async () => {
    harness = await start({ preview: true }, labelling('kept'));
    await openIssue('valid');
    await harness.openPull('work', { '.gitea/reeve.yml': labelling('other') });
    await harness.idle();
    await harness.setRules(invalid);

    expect((await openIssue('invalid')).labels).toEqual(['kept']);
    const live = await harness.root.call(operations.getRepository, { params: at });
    const texts = await harness.server.store.listRuleTexts(`repository ${live.id}`);
    expect(texts.map(({ path }) => path)).toEqual(['.reeve.yml']);
  });

  it('says in the issue of the report that the last valid version is used', async () => {
    harness = await start({ reportProblems: 'issue' }, labelling('kept'));
    await openIssue('valid');
    await harness.setRules(invalid);
    await openIssue('invalid');

    const issues = async () =>
      (await harness.root.call(operations.listIssues, { params: at })).map(({ body }) => body ?? '');
    await expect
      .poll(async () => (await issues()).join('\n'))
      .toContain('Until this is corrected, the last valid version of the file is used. ');
  });
});

it('has no last valid version in force if the operator took away a right that it uses', async () => {
  const grant: Grant = { repositories: [`${acme}/demo`], organizations: [], names: ['delete-branch'] };
  const server: Mutable<Partial<ServerOptions>> = { grants: [grant] };
  const tidy = '  tidy: { on: pull_request.closed, steps: [{ uses: delete-branch }] }\n';
  harness = await start(server, `${labelling('kept')}${tidy}`);
  expect((await openIssue('valid')).labels).toEqual(['kept']);
  await harness.setRules(invalid);
  expect((await openIssue('invalid')).labels).toEqual(['kept']);

  await harness.restart({
    between: async () => {
      server.grants = [];
    },
  });

  expect((await openIssue('taken away')).labels).toEqual([]);
});

type Mutable<T> = { -readonly [Key in keyof T]: T[Key] };

describe('a rule file of the operator that becomes invalid', () => {
  const environment = (): Record<string, string> => ({ ...harness.environment, REEVE_RULES: folder ?? '' });

  it('keeps its last valid version in force across restarts until it is deleted, and doctor and dashboard show it', async () => {
    folder = await mkdtemp(join(tmpdir(), 'reeve-last-valid-'));
    await mkdir(join(folder, 'sub'));
    const file = join(folder, 'sub', 'rules.yml');
    await writeFile(file, labelling('kept'));
    harness = await start({ rules: folder });
    expect((await openIssue('valid')).labels).toEqual(['kept']);
    await writeFile(file, invalid);
    await expect.poll(isBroken).toBe(true);

    expect((await openIssue('invalid')).labels).toEqual(['kept']);
    await harness.restart();
    const { labels: found, run } = await openIssue('restarted');
    expect(found).toEqual(['kept']);
    expect(run.rules).toMatchObject([{ rule: `${file}#mark`, isLastValid: true }]);
    const explained = await reeve(['explain', run.id], { environment: environment() });
    expect(explained.out).toContain(`last valid version of the file (revision ${run.rules[0]?.revision})`);
    const listed = await reeve(['rules'], { environment: environment() });
    expect(listed.out).toMatch(
      /^.*\.yml is invalid \(2 problems; .*\): the running server has its last valid version in force$/m,
    );
    const doctor = await reeve(['doctor', '--no-test', '--json'], { environment: environment() });
    const checks: readonly { id: string; text: string }[] = JSON.parse(doctor.out).checks;
    expect(checks.find(({ id }) => id === 'rules')?.text).toContain(
      'the last valid version stays in force: rules.yml',
    );
    const operator = await signInWithPassword(harness.server.url, await password());
    const page = textOf((await operator.get('/rules')).text);
    expect(page).toContain('the last valid version stays in force: sub/rules.yml:');
    expect(page).toContain('sub/rules.yml:3 (last valid version)');

    await rm(file);
    await expect.poll(isBroken).toBe(false);
    await writeFile(file, invalid);
    await expect.poll(isBroken).toBe(true);
    expect(await labelsWithoutRun('deleted')).toEqual([]);
  });
});

describe('a rule file of an organization that becomes invalid', () => {
  const shared = { owner: acme, repo: '.reeve' };
  const put = async (filepath: string, text: string): Promise<void> => {
    const params = { ...shared, filepath };
    const live = await harness.root.call(operations.getContents, { params }).catch(() => undefined);
    const sha = live === undefined || Array.isArray(live) ? undefined : (live.sha ?? undefined);
    const body = { content: Buffer.from(text).toString('base64'), message: 'rules' };
    await (sha === undefined
      ? harness.root.call(operations.createFile, { params, body })
      : harness.root.call(operations.updateFile, { params, body: { ...body, sha } }));
    // There is no hook in the rules repository: a new process reads it.
    await harness.restart();
  };

  it('keeps its last valid version in force beside the other files, until its file is deleted', async () => {
    harness = await start({ organizations: [{ name: acme, rules: `${acme}/.reeve` }] });
    await harness.root.call(operations.createOrganizationRepository, {
      params: { org: acme },
      body: { name: '.reeve', auto_init: true, default_branch: 'main' },
    });
    await put('rules/one.yml', labelling('kept'));
    expect((await openIssue('valid')).labels).toEqual(['kept']);
    await put('rules/two.yml', labelling('other'));
    await put('rules/one.yml', invalid);

    const { labels: found, run } = await openIssue('invalid');

    expect([...found].sort()).toEqual(['kept', 'other']);
    expect(run.rules).toMatchObject([
      { rule: `${acme}/.reeve/rules/one.yml#mark`, verdict: 'matched', isLastValid: true },
      { rule: `${acme}/.reeve/rules/two.yml#mark`, verdict: 'matched' },
    ]);
    const params = { ...shared, filepath: 'rules/one.yml' };
    const live = await harness.root.call(operations.getContents, { params });
    const sha = Array.isArray(live) ? '' : (live.sha ?? '');
    await harness.root.call(operations.deleteFile, { params, body: { sha, message: 'gone' } });
    await harness.restart();
    expect((await openIssue('deleted')).labels).toEqual(['other']);
    await put('rules/one.yml', invalid);
    expect((await openIssue('invalid again')).labels).toEqual(['other']);
  });
});
