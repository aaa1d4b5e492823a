import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { runAction } from '../../src/ci/main.ts';
import { createActionRunner } from '../../src/ci/runner.ts';
import { fitState, openState, type StateBody } from '../../src/ci/state.ts';
import type { Client } from '../../src/client/client.ts';
import { operations } from '../../src/contract/operations.ts';
import { systemClock } from '../../src/platform/clock.ts';
import { workflowByHand } from '../actions/scenarios.ts';
import { runGit } from '../support/git-client.ts';
import { at, type Harness, people, startHarness } from '../support/harness.ts';
import { addFile } from '../support/privilege-setup.ts';

const rules = `version: 1
rules:
  seen:
    on: issues.opened
    steps: [{ uses: react, with: { reaction: eyes } }]
  ship:
    on: issue_comment.created
    if: command("ship").found
    steps: [{ uses: set-labels, with: { add: [area/code] } }]
`;
/** A rule with a schedule that sets a label on the issues of a text. */
const sweepRules = (label: string, more = ''): string => `version: 1
rules:
  sort:
    on: { schedule: "17 4 * * *" }
    each: issue
    ${more}
    if: issue.title.startsWith("sorted")
    steps: [{ uses: set-labels, with: { add: [${label}] } }]
`;
const hour = 3_600_000;
const ref = 'refs/automation/state';
const secret = '0123456789abcdef-of-the-state';
const folder = mkdtempSync(join(tmpdir(), 'reeve-ci-state-'));
const scheduled = {
  name: 'schedule',
  payload: { schedule: '0 4 * * *' },
  branch: 'refs/heads/main',
} as const;

let harness: Harness;
let token: string;
let repository: {
  id: number;
  name: string;
  full_name: string;
  default_branch: string;
  owner: { id: number; login: string };
};
let eve: Client;
let aheadMs = 0;
let lastRun = 100;
const clock = { ...systemClock, now: () => new Date(Date.now() + aheadMs) };
beforeAll(async () => {
  harness = await startHarness({ rules, on: 'the embedded forge' });
  await harness.idle();
  token = (await harness.forge.makeToken(people.bot, ['read:user', 'write:issue', 'write:repository'])).token;
  await harness.server.stop();
  await runGit(folder, ['init', '--quiet', '.']);
  eve = await harness.forge.makePerson(people.eve);
  const live = await harness.root.call(operations.getRepository, { params: at });
  const owner = { id: live.owner.id, login: live.owner.login };
  repository = { id: live.id, name: live.name, full_name: live.full_name, default_branch: 'main', owner };
});
afterEach(async () => {
  aheadMs = 0;
  await setRules(rules);
  await runGit(folder, ['push', '--quiet', address(), `:${ref}`]).catch(() => {});
});
afterAll(async () => {
  rmSync(folder, { recursive: true });
  await harness.close();
});

const address = (): string => harness.cloneFrom(people.root);
const setRules = async (text: string): Promise<void> => {
  const params = { ...at, filepath: '.reeve.yml' };
  const before = await harness.root.call(operations.getContents, { params });
  const found = Array.isArray(before) ? undefined : before;
  if (Buffer.from(found?.content ?? '', 'base64').toString() === text) return;
  const content = Buffer.from(text).toString('base64');
  const files = [{ operation: 'update', path: '.reeve.yml', content, sha: found?.sha ?? undefined } as const];
  await harness.root.call(operations.changeFiles, { params: at, body: { message: 'rules', files } });
};

type Given = {
  readonly name: string;
  readonly payload: unknown;
  readonly branch?: string;
  readonly inputs?: Readonly<Record<string, string>>;
  readonly files?: Readonly<Record<string, string>>;
  readonly path?: string;
  /** Id of the run of the workflow; a new one by default. */
  readonly run?: number;
  /** Number of the attempt of this run. */
  readonly attempt?: number;
};

/** Runs the action with the state. */
async function act(
  command: string,
  { name, payload, branch, inputs = {}, files = {}, path, run, attempt }: Given,
) {
  const workspace = mkdtempSync(join(folder, 'workspace-'));
  for (const [file, text] of Object.entries({ ...files, 'event.json': JSON.stringify(payload) })) {
    mkdirSync(dirname(join(workspace, file)), { recursive: true });
    writeFileSync(join(workspace, file), text);
  }
  const paths = { GITHUB_OUTPUT: join(workspace, 'output'), GITHUB_STEP_SUMMARY: join(workspace, 'summary') };
  for (const file of Object.values(paths)) writeFileSync(file, '');
  lastRun += 1;
  const given = { command, token, apply: 'true', state: ref, 'state-secret': secret, ...inputs };
  let out = '';
  const status = await runAction(
    {
      ...paths,
      ...Object.fromEntries(
        Object.entries(given).map(([key, value]) => [`INPUT_${key.toUpperCase()}`, value]),
      ),
      GITHUB_WORKSPACE: workspace,
      GITHUB_EVENT_NAME: name,
      GITHUB_REF: branch ?? 'refs/heads/main',
      GITEA_ACTIONS: 'true',
      GITHUB_EVENT_PATH: join(workspace, 'event.json'),
      GITHUB_SERVER_URL: harness.forge.url,
      GITHUB_REPOSITORY: `${at.owner}/${at.repo}`,
      GITHUB_RUN_ID: String(run ?? lastRun),
      ...(attempt === undefined ? {} : { GITHUB_RUN_ATTEMPT: String(attempt) }),
      ...(path === undefined ? {} : { PATH: path }),
    },
    (line) => {
      out += `${line}\n`;
    },
    clock,
  );
  const summary = readFileSync(paths.GITHUB_STEP_SUMMARY, 'utf8');
  const result = /result<<(end_\S+)\n(\w+)\n/.exec(readFileSync(paths.GITHUB_OUTPUT, 'utf8'))?.[2];
  return { status, out, summary, result };
}

/** Begins the state as a person does. */
const begin = () =>
  act('apply', { name: 'workflow_dispatch', inputs: { 'state-begin': 'true' }, payload: { repository } });
const makeIssue = async (title: string): Promise<number> =>
  (await harness.root.call(operations.createIssue, { params: at, body: { title } })).number;
/** Returns the event of a new issue. */
async function opened(title = 'An issue') {
  const number = await makeIssue(title);
  const issue = await harness.root.call(operations.getIssue, { params: { ...at, index: number } });
  const sender = { id: issue.user?.id ?? 0, login: people.root };
  return {
    number,
    event: { name: 'issues', payload: { action: 'opened', number, issue, repository, sender } },
  };
}
async function commented(number: number) {
  const params = { ...at, index: number };
  const comment = await harness.root.call(operations.createComment, { params, body: { body: '/ship' } });
  const issue = await harness.root.call(operations.getIssue, { params });
  const sender = { id: comment.user?.id ?? 0, login: people.root };
  return { name: 'issue_comment', payload: { action: 'created', issue, comment, repository, sender } };
}
const reactions = async (number: number) =>
  (await harness.root.call(operations.listIssueReactions, { params: { ...at, index: number } }))?.map(
    ({ content }) => content,
  ) ?? [];
const unreact = (number: number) =>
  harness.bot.call(operations.removeIssueReaction, {
    params: { ...at, index: number },
    body: { content: 'eyes' },
  });

/** Returns the file of the state; undefined if there is none. */
async function stateFile(): Promise<string | undefined> {
  const clone = mkdtempSync(join(folder, 'read-'));
  await runGit(clone, ['init', '--quiet', '.']);
  if ((await runGit(clone, ['ls-remote', address(), ref])) === '') return undefined;
  await runGit(clone, ['fetch', '--quiet', address(), ref]);
  return runGit(clone, ['show', 'FETCH_HEAD:state']);
}
/** Puts a file into the ref, as everyone who may write can. */
async function putState(text: string): Promise<void> {
  const clone = mkdtempSync(join(folder, 'write-'));
  await runGit(clone, ['init', '--quiet', '.']);
  writeFileSync(join(clone, 'state'), text);
  await runGit(clone, ['add', '.']);
  await runGit(clone, ['commit', '--quiet', '-m', 'state']);
  await runGit(clone, ['push', '--quiet', '--force', address(), `HEAD:${ref}`]);
}

describe('state', () => {
  it('begins by hand, and keeps digests, counters and times alone, with a seal and a new counter', async () => {
    const begun = await begin();
    const before = await stateFile();
    const { number, event } = await opened('A title that is nowhere');
    const { status, summary } = await act('apply', event);
    await act('apply', await commented(number));
    const after = (await stateFile()) ?? '';

    expect([begun.status, status]).toEqual([0, 0]);
    expect(before).toMatch(new RegExp(`^reeve-state 1 ${repository.id} \\d+ [0-9a-f]{64}\n\\{.*\\}\n$`));
    expect(summary).toMatch(/- state \d+ became \d+/);
    expect(Number(after.split(' ')[3])).toBeGreaterThan(Number(before?.split(' ')[3]));
    const texts = [...after.matchAll(/"((?:[^"\\]|\\.)*)"/g)].map(([, text = '']) => text);
    const members = ['fromMs', 'floor', 'writes', 'once', 'drift', 'at', 'reserved'];
    const other = texts.filter((text) => !members.includes(text) && Number.isNaN(Date.parse(text)));
    expect(other.length).toBeGreaterThan(3);
    expect(
      other.filter((text) => !/^[\w-]{11}$|^[\w-]{16}$|^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/.test(text)),
    ).toEqual([]);
  });

  it('that does not exist leaves no budget for an hour, with the reason, and comes back by itself', async () => {
    const { number, event } = await opened();

    const first = await act('apply', event);
    expect([first.status, first.result]).toEqual([1, 'findings']);
    expect(first.out).toMatch(/::error::nothing is written: the state did not exist before/);
    expect(first.summary).toContain('nothing is written: the state did not exist before');
    aheadMs = hour - 60_000;
    expect((await act('apply', event)).status).toBe(1);
    expect(await reactions(number)).toEqual([]);
    aheadMs = hour + 60_000;
    expect((await act('apply', event)).status).toBe(0);
    expect(await reactions(number)).toEqual(['eyes']);
  });

  it('makes a one-time change once for an event, also if the job is repeated', async () => {
    await begin();
    const { number, event } = await opened();
    await act('apply', event);
    await unreact(number);

    const { status, summary } = await act('apply', event);

    expect(await reactions(number)).toEqual([]);
    // Nothing is left to do.
    expect(status).toBe(0);
    expect(summary).toMatch(/refused: .* it is made once, and a job made it, or tried to, at 20/);
    const other = await opened();
    await act('apply', other.event);
    expect(await reactions(other.number)).toEqual(['eyes']);
  });

  it('lets a repeated job make a one-time change that the forge refused', async () => {
    await begin();
    const { number, event } = await opened();
    const scopes = ['read:user', 'read:issue', 'write:repository'];
    const narrow = (await harness.forge.makeToken(people.bot, scopes)).token;
    const refused = await act('apply', { ...event, inputs: { token: narrow } });

    const { status } = await act('apply', event);

    expect([refused.status, status]).toEqual([1, 0]);
    expect(await reactions(number)).toEqual(['eyes']);
  });

  it('begins only in a new run, because a repeated one keeps its id', async () => {
    const by = { name: 'workflow_dispatch', inputs: { 'state-begin': 'true' }, payload: { repository } };
    const { status, summary } = await act('apply', { ...by, attempt: 2 });

    expect(status).toBe(1);
    expect(summary).toContain('the state did not exist before');
  });

  it('executes the commands of a comment once, also if the job is repeated', async () => {
    await begin();
    const number = await makeIssue('A command');
    const event = await commented(number);
    expect((await act('apply', event)).out).toContain('changes: 1 of 1 made');
    await harness.root.call(operations.replaceIssueLabels, {
      params: { ...at, index: number },
      body: { labels: [] },
    });

    const { out } = await act('apply', event);

    expect(out).toContain('changes: 0 of 0 made');
    expect(await harness.labelsOf(number)).toEqual([]);
  });

  it('lets jobs of the same time lose nothing', async () => {
    await begin();
    const issues = await Promise.all([1, 2, 3, 4, 5].map((one) => opened(`Together ${one}`)));

    const jobs = await Promise.all(issues.map(({ event }) => act('apply', event)));

    expect(jobs.map(({ status }) => status)).toEqual([0, 0, 0, 0, 0]);
    for (const { number, event } of issues) {
      expect(await reactions(number)).toEqual(['eyes']);
      await unreact(number);
      expect((await act('apply', event)).summary).toContain('it is made once');
    }
  });

  it('lets jobs of the same time and event make a one-time change once', async () => {
    await begin();
    const { number, event } = await opened();

    const jobs = await Promise.all([1, 2, 3].map(() => act('apply', event)));

    expect(jobs.filter(({ summary }) => summary.includes('it is made once'))).toHaveLength(2);
    expect(await reactions(number)).toEqual(['eyes']);
  });

  it('counts the changes of an hour over all jobs, and lets them go on when the hour is over', async () => {
    await setRules(sweepRules('area/docs'));
    await begin();
    const numbers = await Promise.all(Array.from({ length: 60 }, (_, one) => makeIssue(`sorted ${one}`)));
    const labelled = async (name: string) => {
      const lists = await Promise.all(numbers.map((number) => harness.labelsOf(number)));
      return lists.filter((list) => list.includes(name)).length;
    };
    expect((await act('sweep', scheduled)).out).toContain('changes: 60 of 60 made');
    await setRules(sweepRules('kept'));

    const second = await act('sweep', scheduled);

    expect(second.out).toMatch(/changes: \d+ of \d+ made; \d+ items left for the next job/);
    const made = await labelled('kept');
    // A fifth of the 100 is reserved for protective changes.
    expect(made).toBe(20);
    expect(await act('sweep', scheduled)).toMatchObject({ status: 0 });
    expect(await labelled('kept')).toBe(made);
    aheadMs = hour + 60_000;
    await act('sweep', scheduled);
    expect(await labelled('kept')).toBe(60);
    for (const number of numbers)
      await harness.root.call(operations.editIssue, {
        params: { ...at, index: number },
        body: { state: 'closed' },
      });
  });

  it('shows how long a difference has lasted, and forgets it when it ends', async () => {
    await setRules(sweepRules('kept', 'mode: observe'));
    await begin();
    const number = await makeIssue('sorted at last');
    const first = await act('sweep', scheduled);
    aheadMs = 3 * 24 * hour;
    const later = await act('sweep', scheduled);

    expect(first.summary).toMatch(/label:kept` differs since .* \(just now\)/);
    expect(later.summary).toMatch(/label:kept` differs since .* \(3 days\)/);
    const params = { ...at, index: number };
    await harness.root.call(operations.replaceIssueLabels, { params, body: { labels: ['kept'] } });
    expect((await act('sweep', scheduled)).summary).not.toContain('differs since');
    await harness.root.call(operations.replaceIssueLabels, { params, body: { labels: [] } });
    expect((await act('sweep', scheduled)).summary).toMatch(/differs since .* \(just now\)/);
    await harness.root.call(operations.editIssue, { params, body: { state: 'closed' } });
  });

  it.each([
    [
      'another secret',
      async (text: string) => text,
      { 'state-secret': 'another secret of the state' },
      'wrong seal',
    ],
    ['a changed content', async (text: string) => text.replace('"floor":', '"floor": '), {}, 'wrong seal'],
    [
      'a changed counter',
      async (text: string) => text.replace(/^(reeve-state 1 \d+) \d+/, '$1 999'),
      {},
      'wrong seal',
    ],
    [
      'another repository',
      async (text: string) => text.replace(/^reeve-state 1 \d+/, 'reeve-state 1 999'),
      {},
      'another repository, 999',
    ],
    ['no seal', async () => '{}', {}, 'has no seal'],
    ['more than 1 MiB', async (text: string) => `${text}${' '.repeat(1024 * 1024)}`, {}, 'larger than 1 MiB'],
  ])(
    'with %s leaves no budget and no one-time change, with the reason',
    async (_title, change, inputs, why) => {
      await begin();
      const put = await change((await stateFile()) ?? '');
      await putState(put);
      const { number, event } = await opened();

      const { status, result, out, summary } = await act('apply', { ...event, inputs });

      expect([status, result]).toEqual([1, 'findings']);
      expect(out).toMatch(new RegExp(`::error::nothing is written: the state .*${why}.*no budget is left`));
      expect(summary).toMatch(new RegExp(`nothing is written: the state .*${why}`));
      expect(await reactions(number)).toEqual([]);
      expect(await stateFile()).toBe(put);
      // Only a person begins it anew.
      await act('apply', { ...event, inputs: { ...inputs, 'state-begin': 'true' } });
      expect(await stateFile()).toBe(put);
      await begin();
      expect((await act('apply', event)).status).toBe(0);
    },
  );

  it('that is an older one is taken for the last one, as the documents say, but not within a job', async () => {
    await begin();
    const older = (await stateFile()) ?? '';
    const { number, event } = await opened();
    await act('apply', event);
    const newer = (await stateFile()) ?? '';
    await unreact(number);

    await putState(older);
    await act('apply', event);
    expect(await reactions(number)).toEqual(['eyes']);
    expect(readFileSync('docs/security.md', 'utf8')).toMatch(/delete it or put an older one back/);

    await putState(newer);
    const inputs = { INPUT_STATE: ref, 'INPUT_STATE-SECRET': secret };
    const runner = createActionRunner(inputs, () => {}, clock);
    const job = await openState(runner, {
      url: harness.forge.url,
      token,
      repository: { id: repository.id, owner: at.owner, name: at.repo },
    });
    if (job.kind !== 'kept') throw new Error('the state is not kept');
    await putState(older);
    const note = job.state.noteDrift('a rule', new Map([['an item', ['a target']]]), {
      startedAt: clock.now(),
      isComplete: true,
    });
    await expect(note).rejects.toThrow('an older state was put back');
    await job.state.close();
  });

  it('is neither read nor written in jobs of forks, and in jobs that only show changes', async () => {
    await eve.call(operations.createFork, { params: at, body: {} });
    const params = { owner: people.eve, repo: at.repo, filepath: 'docs/eve.md' };
    await eve.call(operations.createFile, {
      params,
      body: { branch: 'main', new_branch: 'work', content: 'YQ==', message: 'work' },
    });
    const body = { title: 'From a fork', head: `${people.eve}:work`, base: 'main' };
    const pull = await eve.call(operations.createPull, { params: at, body });
    const sender = { id: pull.user?.id ?? 0, login: people.eve };
    const event = {
      name: 'pull_request',
      payload: { action: 'opened', number: pull.number, pull_request: pull, repository, sender },
    };
    const files = { '.reeve.yml': rules };

    // A job of a fork has no secrets.
    const without = { 'state-secret': '' };
    expect((await act('apply', { ...event, inputs: without })).result).toBe('skipped');
    expect((await act('plan', { ...event, files, inputs: without })).status).toBe(0);
    expect(
      (
        await act('sweep', {
          ...event,
          files: { 'rules/a.yml': sweepRules('kept') },
          inputs: { ...without, apply: 'false', config: 'rules' },
        })
      ).status,
    ).toBe(0);
    expect(
      (
        await act('sweep', {
          ...scheduled,
          files: { 'rules/a.yml': sweepRules('kept') },
          inputs: { apply: 'false', config: 'rules' },
        })
      ).status,
    ).toBe(0);
    expect(await stateFile()).toBeUndefined();
  });

  it('never shows the token or the secret to git in arguments or files, and leaves no files behind', async () => {
    await begin();
    const bin = mkdtempSync(join(folder, 'bin-'));
    const log = join(bin, 'log');
    const git = execFileSync('sh', ['-c', 'command -v git']).toString().trim();
    writeFileSync(
      join(bin, 'git'),
      `#!/bin/sh\nprintf '%s\\n' "$*" >> '${log}'\n'${git}' "$@"\nstatus=$?\ncat "$GIT_DIR/config" >> '${log}' 2>/dev/null\nexit $status\n`,
    );
    chmodSync(join(bin, 'git'), 0o755);
    const before = readdirSync(tmpdir()).filter((name) => name.startsWith('reeve-state-'));
    const { event } = await opened();

    const { status, out, summary } = await act('apply', { ...event, path: `${bin}:${process.env.PATH}` });

    const seen = readFileSync(log, 'utf8');
    expect(status).toBe(0);
    expect(seen).toContain(`push --quiet --no-verify --force-with-lease=${ref}:`);
    expect(seen).toContain('bare = true');
    const shown = out
      .split('\n')
      .filter((line) => !line.startsWith('::add-mask::'))
      .join('\n');
    for (const text of [seen, shown, summary]) {
      expect(text).not.toContain(token);
      expect(text).not.toContain(secret);
      expect(text).not.toContain(Buffer.from(`reeve:${token}`).toString('base64'));
    }
    expect(
      readdirSync(tmpdir()).filter((name) => name.startsWith('reeve-state-') && !before.includes(name)),
    ).toEqual([]);
  });

  it.each([
    [{ state: 'refs/heads/state' }, 'neither a branch nor a tag'],
    [{ state: 'automation/state' }, 'neither a branch nor a tag'],
    [{ state: 'refs/for/main/x' }, 'neither a branch nor a tag'],
    [{ state: '--upload-pack=x' }, 'neither a branch nor a tag'],
    [{ 'state-secret': 'short' }, 'at least 16 characters'],
    [{ 'state-secret': '' }, 'at least 16 characters'],
  ])('is refused with the inputs %j', async (inputs, words) => {
    const { number, event } = await opened();
    const { status, out } = await act('apply', { ...event, inputs });
    expect([status, out]).toEqual([2, expect.stringContaining(words)]);
    expect(await reactions(number)).toEqual([]);
  });

  it('writes nothing if the token may not push', async () => {
    const { token: reader } = await harness.forge.makeToken(people.bot, [
      'read:user',
      'write:issue',
      'read:repository',
    ]);
    await begin();
    const { number, event } = await opened();

    const { status, out } = await act('apply', { ...event, inputs: { token: reader } });

    expect([status, out]).toEqual([2, expect.stringContaining('the token needs write access to the code')]);
    expect(await reactions(number)).toEqual([]);
  });
});

describe('a state above 1 MiB', () => {
  const now = Date.parse('2030-01-31T00:00:00Z');
  const day = 24 * hour;
  const empty: StateBody = { fromMs: 0, floor: 0, writes: {}, once: {}, drift: {} };
  const entries = (count: number, time: (one: number) => number) =>
    Object.fromEntries(
      Array.from({ length: count }, (_, one) => [
        `k${String(one).padStart(15, '0')}`,
        [time(one), one + 1] as [number, number],
      ]),
    );
  const size = (body: StateBody): number => Buffer.byteLength(JSON.stringify(body));

  it('first loses the oldest ages of drift', () => {
    const items = Object.fromEntries(
      Object.entries(entries(40_000, (one) => now - day + one)).map(([key, [at]]) => [
        key,
        { t: [at, at] as [number, number] },
      ]),
    );
    const once = entries(10, () => now);
    const fitted = fitState({ ...empty, once, drift: { r: items } }, now);

    expect(size(fitted)).toBeLessThan(1024 * 1024);
    expect(fitted.once).toEqual(once);
    const kept = Object.keys(fitted.drift.r ?? {});
    expect(kept).toContain('k000000000039999');
    expect(kept).not.toContain('k000000000000000');
  });

  it('then loses the oldest one-time changes, below whose run all count as made', () => {
    const fitted = fitState({ ...empty, once: entries(40_000, (one) => now - 60 * day + one) }, now);

    expect(size(fitted)).toBeLessThan(1024 * 1024);
    const runs = Object.values(fitted.once).map(([, run]) => run);
    expect(Math.min(...runs)).toBe(fitted.floor + 1);
    expect(Math.max(...runs)).toBe(40_000);
  });

  it('forgets no command and no one-time change of the last seven days, and refuses more of them', () => {
    const body = { ...empty, once: entries(40_000, () => now - 6 * day) };
    expect(() => fitState(body, now)).toThrow(
      'the state is full: it has 40000 commands and one-time changes',
    );
  });

  it('makes no one-time change in a job older than what was forgotten', async () => {
    await begin();
    const { number, event } = await opened();
    const { summary } = await act('apply', { ...event, run: 50 });
    expect(summary).toContain('the state no longer knows the jobs of this time');
    expect(await reactions(number)).toEqual([]);
  });
});

describe('without state', () => {
  it('the action names the steps that need memory, and does not do them', async () => {
    await harness.root.call(operations.editRepository, { params: at, body: { has_actions: true } });
    await addFile(harness.root, at, 'main', '.gitea/workflows/deploy.yml', workflowByHand);
    const files = {
      'rules/a.yml': `version: 1
rules:
  deploy: { on: push, steps: [{ uses: run-workflow, with: { workflow: deploy.yml, ref: main } }] }
  tell: { on: push, mode: enforce, steps: [{ uses: notify, with: { to: { secret: CHAT }, text: Pushed } }] }
`,
    };
    const sender = { id: 999, login: 'ada' };
    const [before, after] = ['0', '3'].map((digit) => digit.repeat(40));
    const payload = { ref: 'refs/heads/main', before, after, repository, sender, commits: [] };
    const event = {
      name: 'push',
      payload,
      files,
      inputs: { config: 'rules', state: '', 'state-secret': '' },
    };
    const started = async () =>
      ((await harness.root.call(operations.listWorkflowRuns, { params: at })).workflow_runs ?? []).filter(
        ({ event: kind }) => kind === 'workflow_dispatch',
      ).length;

    const { status, out, summary } = await act('apply', event);

    expect(status).toBe(1);
    expect(out).toContain('::notice::not done: deploy, step 1 run-workflow: without the input state');
    expect(out).toContain('::notice::not done: tell, step 1 notify: the CI action sends no messages');
    expect(summary).toContain('- not done: deploy, step 1 run-workflow');
    expect(await started()).toBe(0);

    await begin();
    const kept = {
      ...event,
      files: { 'rules/a.yml': files['rules/a.yml'].replace(/\n {2}tell.*/, '') },
      inputs: { config: 'rules' },
    };
    const first = await act('apply', kept);
    expect(first.status).toBe(0);
    expect(await started()).toBe(1);
    await act('apply', kept);
    expect(await started()).toBe(1);
  });

  it('the action says that a repeated job executes commands again', async () => {
    const event = await commented(await makeIssue('A command'));
    const { summary } = await act('apply', { ...event, inputs: { state: '' } });
    expect(summary).toContain('ship executes the commands of a comment again if the job is repeated');
  });
});
