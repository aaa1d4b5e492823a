import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runAction } from '../../src/ci/main.ts';
import { type Client, findAccount } from '../../src/client/client.ts';
import { operations } from '../../src/contract/operations.ts';
import type { Run } from '../../src/engine/record.ts';
import { isThorough } from '../support/figure.ts';
import { at, type Harness, people, startHarness } from '../support/harness.ts';
import { nodeOf } from '../support/nodes.ts';

const rules = `version: 1
rules:
  area:
    on: { pull_request: [opened, synchronized] }
    steps:
      - uses: set-labels
        with: { sync: { area/docs: 'files.exists(f, f.filename.glob("docs/**"))' } }
`;
const folder = mkdtempSync(join(tmpdir(), 'reeve-ci-'));

let harness: Harness;
let token: string;
let index: number;
/** The payload of the pull request as the forge delivered it, which a runner of the forge passes to its jobs. */
let opened: Record<string, unknown>;
/** The webhook's run for this pull request. */
let heard: Run;
beforeAll(async () => {
  harness = await startHarness({ rules, on: 'the embedded forge' });
  index = (await harness.openPull('docs', { 'docs/a.md': 'a\n' })).number;
  heard = await harness.waitForRun(({ changes }) => changes.length > 0);
  await harness.idle();
  const { items } = await harness.server.store.listDeliveries({ search: 'pull_request', limit: 500 });
  const found = items.find(({ eventType }) => eventType === 'pull_request');
  const delivery = await harness.server.store.readDelivery(found?.id ?? '');
  opened = JSON.parse(Buffer.from(delivery?.body ?? []).toString());
  token = (await harness.forge.makeToken(people.bot, ['read:user', 'write:issue', 'write:repository'])).token;
  await harness.server.stop();
});
afterAll(async () => {
  rmSync(folder, { recursive: true });
  await harness.close();
});

type Given = {
  readonly name?: string;
  readonly payload?: unknown;
  readonly files?: Readonly<Record<string, string>>;
  readonly inputs?: Readonly<Record<string, string>>;
  readonly ref?: string;
  /**
   * The program that runs the committed bundle as a runner of the forge does. If absent, the sources run in this
   * process.
   */
  readonly node?: string;
};

/** Runs the action. The forge answers in this process. */
async function act(
  command: string,
  {
    name = 'pull_request',
    payload = opened,
    files = { '.reeve.yml': rules },
    inputs = {},
    ref = 'refs/pull/1/head',
    node,
  }: Given = {},
) {
  const workspace = mkdtempSync(join(folder, 'workspace-'));
  for (const [path, text] of Object.entries({ ...files, 'event.json': JSON.stringify(payload) })) {
    mkdirSync(dirname(join(workspace, path)), { recursive: true });
    writeFileSync(join(workspace, path), text);
  }
  const paths = { GITHUB_OUTPUT: join(workspace, 'output'), GITHUB_STEP_SUMMARY: join(workspace, 'summary') };
  for (const path of Object.values(paths)) writeFileSync(path, '');
  const given = { command, token, apply: 'false', ...inputs };
  const environment = {
    ...paths,
    ...Object.fromEntries(Object.entries(given).map(([key, value]) => [`INPUT_${key.toUpperCase()}`, value])),
    GITHUB_WORKSPACE: workspace,
    GITHUB_EVENT_NAME: name,
    GITHUB_REF: ref,
    GITEA_ACTIONS: 'true',
    GITHUB_EVENT_PATH: join(workspace, 'event.json'),
    GITHUB_SERVER_URL: harness.forge.url,
    GITHUB_REPOSITORY: `${at.owner}/${at.repo}`,
  };
  const { status, stdout, stderr } = await (node ? runBundle(node, environment) : runSources(environment));
  const output = readFileSync(paths.GITHUB_OUTPUT, 'utf8');
  const summary = readFileSync(paths.GITHUB_STEP_SUMMARY, 'utf8');
  // The location of the runner's checkout is of no use to a reader.
  expect(`${stdout}${stderr}${output}${summary}`).not.toContain(workspace);
  const [, , plan] = /plan<<(end_\S+)\n([\s\S]*?)\n\1\n/.exec(output) ?? [];
  return {
    status,
    out: stdout,
    stderr,
    result: /result<<(end_\S+)\n(\w+)\n/.exec(output)?.[2],
    run: plan === undefined ? undefined : (JSON.parse(plan) as Run),
    summary,
  };
}

async function runBundle(node: string, env: Record<string, string>) {
  const { NODE_COMPILE_CACHE } = process.env;
  const child = spawn(node, ['dist/action.mjs'], { env: { ...env, NODE_COMPILE_CACHE } });
  const texts = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const) {
    child[name].on('data', (chunk) => {
      texts[name] += chunk;
    });
  }
  const [status] = await once(child, 'close');
  return { status: Number(status), ...texts };
}

async function runSources(environment: Record<string, string>) {
  let stdout = '';
  const status = await runAction(environment, (line) => {
    stdout += `${line}\n`;
  });
  return { status, stdout, stderr: '' };
}

const labels = async (): Promise<readonly string[]> =>
  (await harness.root.call(operations.listIssueLabels, { params: { ...at, index } })).map(({ name }) => name);
const unlabel = () =>
  harness.root.call(operations.replaceIssueLabels, { params: { ...at, index }, body: { labels: [] } });
/** Returns the decisions of a plan, regardless of the door of its event. */
const decided = (run: Run | undefined) =>
  run?.changes.map(({ action, target, value, method, path, input }) => ({
    action,
    target,
    value,
    method,
    path,
    input,
  }));

describe('plan', () => {
  it('equals the plan of the webhook of the same event, and writes nothing', async () => {
    await unlabel();

    const { status, out, stderr, run, result, summary } = await act('plan', { node: process.execPath });

    expect({ status, stderr, result }).toEqual({ status: 0, stderr: '', result: 'ok' });
    expect(decided(run)).toEqual(decided(heard));
    expect(out).toContain('|   + label:area/docs');
    expect(summary).toContain('`label:area/docs`');
    expect(await labels()).toEqual([]);
  });

  it.runIf(isThorough)('runs on Node 20, which is in the images of older runners', async ({ skip }) => {
    const node = await nodeOf(20);
    if (node === undefined) return skip('no Node 20 for this machine in the registry');

    const { status, stderr, run } = await act('plan', { node });

    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    expect(decided(run)).toEqual(decided(heard));
  });

  it('shows what the checked-out file would do, regardless of the file in force', async () => {
    const { run } = await act('plan', { files: { '.reeve.yml': rules.replace('area/docs:', 'area/code:') } });

    expect(run?.changes.map(({ target }) => target)).toEqual(['label:area/code']);
  });

  it('marks changes that are only observed', async () => {
    const observing = rules.replace('version: 1\n', 'version: 1\nmode: observe\n');
    const { out, summary } = await act('plan', { files: { '.reeve.yml': observing } });

    expect(out).toContain('changes: 0 planned, 1 observed, not sent');
    expect(out).toMatch(/\+ label:area\/docs .*observed, not sent/);
    expect(summary).toMatch(/`label:area\/docs` .*\(observed, not sent\)/);
  });

  it('reports a broken file, and continues with the others', async () => {
    const files = { '.reeve.yml': rules, 'rules/a.yml': 'version: 1\nrules: { a: { on: nothing } }\n' };
    const { status, out, run, result } = await act('plan', { files });

    expect([status, result]).toEqual([1, 'findings']);
    expect(out).toMatch(/::error::rules\/a\.yml:2:\d+: /);
    expect(run?.changes).toHaveLength(1);
  });

  it.each(['schedule', 'workflow_dispatch'])('plans nothing for %s', async (name) => {
    const { status, out, run } = await act('plan', { name, payload: {} });

    expect(status).toBe(0);
    expect(out).toContain(`nothing is planned for ${name}`);
    expect(run).toBeUndefined();
  });

  it.each([
    ['no token', { inputs: { token: '' } }, 'set token'],
    ['an unknown token', { inputs: { token: 'a'.repeat(40) } }, 'GET /api/v1/user'],
    ['an unknown event', { name: 'unheard_of' }, 'there is no event'],
    ['a payload of another event type', { payload: { action: 'opened' } }, 'pull_request'],
    ['an invalid payload', { payload: [] }, 'is not a JSON object'],
    ['no forge', { inputs: { 'server-url': 'http://127.0.0.1:1' } }, 'cannot be reached'],
  ] as const)('fails with %s, and reports the reason', async (_title, given, words) => {
    const { status, out, result } = await act('plan', given);

    expect([status, result]).toEqual([2, 'failed']);
    expect(out).toContain('::error::');
    expect(out).toContain(words);
  });

  it('masks the token before any other output, and never shows it', async () => {
    const { out, summary } = await act('plan');

    expect(out.startsWith(`::add-mask::${token}\n`)).toBe(true);
    expect(out.split('\n').slice(1).join('\n')).not.toContain(token);
    expect(summary).not.toContain(token);
  });

  it('never lets the title of a pull request start a line of output', async () => {
    const title = '::set-env name=PATH::/evil\n::error::x\n##[add-path]/evil';
    const payload = { ...opened, pull_request: { ...(opened.pull_request as object), title } };
    const file = rules.replace('    steps:', '    if: pull_request.title != "x"\n    steps:');
    const { out } = await act('plan', { payload, files: { '.reeve.yml': file } });

    expect(
      out.split('\n').filter((line) => /^\s*(::|##\[)/.test(line) && !line.startsWith('::add-mask::')),
    ).toEqual([]);
  });
});

describe('apply', () => {
  const write = { apply: 'true' };

  it('follows the file of the default branch, regardless of the checkout', async () => {
    await unlabel();

    const files = { '.reeve.yml': rules.replace('area/docs:', 'area/code:') };
    const { status, result, out } = await act('apply', { inputs: write, files, node: process.execPath });

    expect([status, result]).toEqual([0, 'ok']);
    expect(out).toContain('changes: 1 of 1 made');
    expect(await labels()).toEqual(['area/docs']);
  });

  it('writes nothing a second time', async () => {
    expect((await act('apply', { inputs: write })).run?.changes).toEqual([]);
  });

  it('passes over an event of the account of the token, whose plan is shown all the same', async () => {
    await unlabel();
    const { id, login } = await findAccount(harness.bot, { allowAdmin: true });
    const payload = { ...opened, sender: { ...(opened.sender as object), id, login, username: login } };

    const planned = await act('plan', { payload });
    const applied = await act('apply', { payload, inputs: write });

    expect(decided(planned.run)).toEqual(decided(heard));
    expect(applied.run?.rules.map(({ verdict }) => verdict)).toEqual(['skipped']);
    expect(await labels()).toEqual([]);
  });

  it.each([
    ['the apply input is missing', {}, 'set apply: true'],
    ['the repository of the head was deleted', { inputs: write, payload: 'gone' }, 'about a fork'],
    [
      'the configured file comes from a pull request',
      { inputs: { ...write, config: '.reeve.yml' } },
      'only on the default branch',
    ],
  ] as const)('refuses if %s', async (_title, given, words) => {
    await unlabel();
    const pull = opened.pull_request as { head: object };
    const gone = { ...pull.head, repo: null };
    const payload = 'payload' in given ? { ...opened, pull_request: { ...pull, head: gone } } : opened;

    const { status, out, result } = await act('apply', { ...given, payload });

    expect([status, result]).toEqual([2, 'failed']);
    expect(out).toContain(words);
    expect(await labels()).toEqual([]);
  });

  it.each(['pull_request', 'pull_request_target'])('skips a fork with a notice, for %s', async (name) => {
    await unlabel();
    const pull = opened.pull_request as { head: object };
    const fork = { ...pull.head, repo: { id: 4_711 } };
    const payload = { ...opened, pull_request: { ...pull, head: fork } };

    const { status, out, result } = await act('apply', { inputs: write, name, payload });

    expect([status, result]).toEqual([0, 'skipped']);
    expect(out).toContain('::notice::skipped: the event is about a fork');
    expect(await labels()).toEqual([]);
  });

  describe('for a comment', () => {
    const onComments = `version: 1
rules:
  ship: { on: [issue_comment.created, pull_request_comment.created], steps: [{ uses: set-labels, with: { add: [kept] } }] }
`;
    let eve: Client;
    let fromFork: number;
    let issue: number;
    beforeAll(async () => {
      eve = await harness.forge.makePerson(people.eve);
      await eve.call(operations.createFork, { params: at, body: {} });
      const params = { owner: people.eve, repo: at.repo, filepath: 'docs/eve.md' };
      const body = { branch: 'main', new_branch: 'work', content: 'YQ==', message: 'work' };
      await eve.call(operations.createFile, { params, body });
      const pull = { title: 'From a fork', head: `${people.eve}:work`, base: 'main' };
      fromFork = (await eve.call(operations.createPull, { params: at, body: pull })).number;
      issue = (await eve.call(operations.createIssue, { params: at, body: { title: 'An issue' } })).number;
      const text = { content: Buffer.from(onComments).toString('base64'), message: 'rules' };
      const filepath = '.reeve.yml';
      const live = await harness.root.call(operations.getContents, { params: { ...at, filepath } });
      const sha = Array.isArray(live) ? '' : ((live as { sha?: string }).sha ?? '');
      await harness.root.call(operations.updateFile, { params: { ...at, filepath }, body: { ...text, sha } });
    });

    /**
     * Returns the event of a comment as runners deliver it. `on` contains the payload fields that identify its subject.
     */
    const commented = async (number: number, on: { issue?: object; [member: string]: unknown } = {}) => {
      const params = { ...at, index: number };
      const made = await eve.call(operations.createComment, { params, body: { body: '/ship' } });
      const live = await eve.call(operations.getIssue, { params }).catch(() => ({ number }));
      const { issue: said = {}, ...rest } = on;
      const { repository } = opened as { repository: object };
      const sender = { id: 999, login: people.eve };
      const subject = { ...live, ...said };
      return { action: 'created', issue: subject, comment: made, repository, sender, ...rest };
    };
    const labelsAt = async (number: number) =>
      (await harness.root.call(operations.listIssueLabels, { params: { ...at, index: number } })).map(
        ({ name }) => name,
      );

    it.each([
      ['as Gitea reports it', { is_pull: true }],
      ['as GitHub reports it', { issue: { pull_request: { url: 'x' } } }],
      ['reported as a comment on an issue', { is_pull: false, issue: { pull_request: null } }],
    ])('on a pull request from a fork, %s, is skipped', async (_title, on) => {
      const payload = await commented(fromFork, on);

      const { status, out, result } = await act('apply', { name: 'issue_comment', payload, inputs: write });

      expect([status, result]).toEqual([0, 'skipped']);
      expect(out).toContain('::notice::skipped: the event is about a fork');
      expect(await labelsAt(fromFork)).toEqual([]);
    });

    it('on a subject that the forge does not show is refused, because its origin is unknown', async () => {
      const payload = { ...(await commented(issue)), issue: { number: 4_711 } };

      const { status, out } = await act('apply', { name: 'issue_comment', payload, inputs: write });

      expect(status).toBe(2);
      expect(out).toContain('cannot determine whether this issue_comment is about a fork');
    });

    it('on an issue, or a pull request from the repository itself, follows the rules', async () => {
      await unlabel();
      for (const number of [issue, index]) {
        const payload = await commented(number, { is_pull: number === index });
        const { status } = await act('apply', { name: 'issue_comment', payload, inputs: write });

        expect(status).toBe(0);
        expect(await labelsAt(number)).toEqual(['kept']);
      }
    });
  });

  it('refuses event types that do not show which repository the code comes from', async () => {
    const { repository } = opened as { repository: object };
    const sender = { id: 999, login: 'ada' };
    const payload = { sha: '1'.repeat(40), state: 'success', repository, sender };

    const { status, out } = await act('apply', { name: 'status', payload, inputs: write });

    expect(status).toBe(2);
    expect(out).toContain('cannot determine whether this status is about a fork');
  });

  it('uses files checked out on the default branch, with all permissions there', async () => {
    const file = `version: 1
rules:
  tell: { on: push, steps: [{ uses: report-issue, with: { key: pushed, title: Pushed by CI, body: See the branch. } }] }
`;
    const { repository } = opened as { repository: object };
    const sender = { id: 999, login: 'ada' };
    const payload = {
      ref: 'refs/heads/main',
      before: '0'.repeat(40),
      after: '1'.repeat(40),
      repository,
      sender,
      commits: [],
    };
    const given = {
      name: 'push',
      payload,
      files: { 'rules/labels.yml': file },
      inputs: { ...write, config: 'rules' },
    };

    const elsewhere = await act('apply', { ...given, ref: 'refs/heads/work' });
    const there = await act('apply', { ...given, ref: 'refs/heads/main' });

    expect(elsewhere.out).toContain('only on the default branch');
    expect(there.out).toContain('changes: 1 of 1 made');
    const issues = await harness.root.call(operations.listIssues, { params: at, query: { type: 'issues' } });
    expect(issues?.filter(({ title }) => title === 'Pushed by CI')).toHaveLength(1);
  });

  it('refuses messages with a reason, also in a plan', async () => {
    const file = `version: 1
rules:
  tell:
    on: push
    steps:
      - uses: notify
        with: { to: { secret: CHAT }, text: "Pushed to \${{ event.ref }}" }
`;
    const { repository, sender } = opened;
    const payload = {
      ref: 'refs/heads/main',
      before: '0'.repeat(40),
      after: '2'.repeat(40),
      repository,
      sender,
      commits: [],
    };
    const given = { name: 'push', payload, files: { 'rules/tell.yml': file }, ref: 'refs/heads/main' };

    const planned = await act('plan', { ...given, inputs: { config: 'rules' } });
    const applied = await act('apply', { ...given, inputs: { ...write, config: 'rules' } });

    for (const { status, run } of [planned, applied]) {
      expect(status).toBe(1);
      expect(run?.changes).toEqual([]);
      expect(run?.refused.map(({ why }) => why)).toEqual([
        'the CI action sends no messages, because a job does not remember which were sent: run Reeve as a server',
      ]);
    }
  });
});

describe('test', () => {
  const cases = `cases:
  - name: documents are labelled
    event: { kind: pull_request, activity: opened, payload: { number: 1, pull_request: { number: 1 }, repository: { id: 1, full_name: a/b } } }
    facts: { files: [{ filename: docs/a.md }], labels: [], label_definitions: [{ id: 1, name: area/docs }] }
    expect: { changes: [{ action: set-labels, target: "label:area/docs" }] }
`;

  it('runs the tests of rule files without a forge', async () => {
    const { status, out, result } = await act('test', {
      files: { 'rules/a.yml': rules, 'rules/a.test.yml': cases },
    });

    expect([status, result]).toEqual([0, 'ok']);
    expect(out).toContain('| 1 case passed, 0 failed; reached 1 of 1 rule, 1 of 1 step');
  });

  it('reports the case that differs, at its line', async () => {
    const wrong = cases.replace('label:area/docs', 'label:area/code');
    const { status, out } = await act('test', { files: { 'rules/a.yml': rules, 'rules/a.test.yml': wrong } });

    expect(status).toBe(1);
    expect(out).toMatch(/::error::rules\/a\.test\.yml:2:1: documents are labelled: /);
  });

  it('reports that no test exists', async () => {
    const { status, result, out } = await act('test');
    expect([status, result]).toEqual([0, 'skipped']);
    expect(out).toContain('::notice::no rule test was found');
  });
});

describe('a file that includes packs', () => {
  const including = 'version: 1\ninclude: [{ name: area, mode: enforce, with: { label: area/docs } }]\n';
  const pack = `version: 1
params: { label: { type: string } }
rules:
  area: { on: { pull_request: [opened] }, steps: [{ uses: set-labels, with: { add: ["\${{ params.label }}"] } }] }
`;
  const shared = { owner: at.owner, repo: '.reeve' };
  const inputs = { 'packs-repository': `${at.owner}/.reeve` };
  const put = async (where: { owner: string; repo: string }, filepath: string, text: string) => {
    const params = { ...where, filepath };
    const body = { content: Buffer.from(text).toString('base64'), message: 'rules' };
    const live = await harness.root.call(operations.getContents, { params }).catch(() => undefined);
    const sha = live === undefined || Array.isArray(live) ? undefined : (live.sha ?? undefined);
    if (sha === undefined) await harness.root.call(operations.createFile, { params, body });
    else await harness.root.call(operations.updateFile, { params, body: { ...body, sha } });
  };
  beforeAll(async () => {
    await harness.root.call(operations.createOrganizationRepository, {
      params: { org: at.owner },
      body: { name: '.reeve', auto_init: true, default_branch: 'main' },
    });
    await put(shared, 'rules/packs/area.yml', pack);
    await put(at, '.reeve.yml', including);
    await unlabel();
  });
  const files = { '.reeve.yml': including };

  it.each(['check', 'plan'])(
    'is reported in %s with the missing input if the packs are unknown',
    async (command) => {
      const { status, out } = await act(command, { files });

      expect(status).toBe(1);
      expect(out).toContain('there is no pack "area"; the action does not know an operator or organization');
      expect(out).toContain('packs-repository');
    },
  );

  it('takes packs from a checked-out folder, and a typo leads to a suggestion', async () => {
    const found = { ...files, 'shared/area.yml': pack };
    const { status, run } = await act('plan', { files: found, inputs: { packs: 'shared' } });
    expect(status).toBe(0);
    expect(run?.changes).toMatchObject([{ target: 'label:area/docs', level: 'repository' }]);
    expect(run?.rules[0]?.rule).toMatch(/\.reeve\.yml#area\/area$/);

    const misspelt = { ...found, '.reeve.yml': including.replace('name: area', 'name: aera') };
    const wrong = await act('check', { files: misspelt, inputs: { packs: 'shared' } });
    expect([wrong.status, wrong.out]).toEqual([1, expect.stringContaining('did you mean "area"?')]);
  });

  it('takes packs from the given rules repository, with the token, also in the bundle', async () => {
    for (const node of [undefined, process.execPath]) {
      const { status, run } = await act('plan', { files, inputs, ...(node ? { node } : {}) });
      expect(status).toBe(0);
      expect(run?.changes.map(({ target }) => target)).toEqual(['label:area/docs']);
    }
    const away = await act('check', { files, inputs: { 'packs-repository': `${at.owner}/nowhere` } });
    expect([away.status, away.out]).toEqual([1, expect.stringContaining('nowhere cannot be read')]);
  });

  it('can be applied from the default branch with packs of the repository, but not with packs from the checkout of a pull request', async () => {
    const refused = await act('apply', {
      files: { ...files, 'shared/area.yml': pack },
      inputs: { apply: 'true', packs: 'shared' },
    });
    expect(refused.out).toContain('packs is read from the checked-out files');
    expect(await labels()).toEqual([]);

    const { status } = await act('apply', { files: {}, inputs: { ...inputs, apply: 'true' } });

    expect(status).toBe(0);
    expect(await labels()).toEqual(['area/docs']);
  });

  it.each([
    [{ packs: 'nowhere' }, 'nowhere, which is not among the checked-out files'],
    [{ 'packs-repository': 'acme' }, 'write OWNER/REPO'],
  ])('with %j makes the action fail, with the reason', async (wrong, words) => {
    const { status, out } = await act('check', { files, inputs: wrong });

    expect([status, out]).toEqual([2, expect.stringContaining(words)]);
  });
});

describe('sweep', () => {
  const stale = `version: 1
rules:
  stale:
    on: { schedule: "17 4 * * *" }
    each: issue
    if: issue.title in ["one", "two", "three"] && !labels.exists(l, l.name == "kept")
    steps:
      - uses: set-labels
        with: { add: [area/code] }
`;
  const scheduled = { name: 'schedule', payload: { schedule: '0 4 * * *' }, ref: 'refs/heads/main' } as const;
  const write = { apply: 'true' };
  /** Replaces the rule file of the default branch. The server of the harness has been stopped. */
  const setRules = async (text: string): Promise<void> => {
    const params = { ...at, filepath: '.reeve.yml' };
    const before = await harness.root.call(operations.getContents, { params });
    const sha = Array.isArray(before) ? undefined : (before.sha ?? undefined);
    const content = Buffer.from(text).toString('base64');
    const files = [{ operation: 'update', path: '.reeve.yml', content, sha } as const];
    await harness.root.call(operations.changeFiles, { params: at, body: { message: 'rules', files } });
  };
  let issues: readonly number[];
  beforeAll(async () => {
    await setRules(stale);
    const make = async (title: string) =>
      (await harness.root.call(operations.createIssue, { params: at, body: { title } })).number;
    issues = [await make('one'), await make('two'), await make('three')];
    const params = { ...at, index: issues[2] ?? 0 };
    await harness.root.call(operations.replaceIssueLabels, { params, body: { labels: ['kept'] } });
  });
  const labelled = async (): Promise<readonly string[]> =>
    Promise.all(issues.map(async (number) => (await harness.labelsOf(number)).join()));

  it('shows without apply what it would change', async () => {
    const { status, out } = await act('sweep', scheduled);

    expect(status).toBe(0);
    expect(out).toMatch(/nothing was written: apply is not true; 1 rule over \d items, changes: 2 planned/);
    expect(await labelled()).toEqual(['', '', 'kept']);
  });

  it('runs the rules with a schedule over the repository, from a runner of the forge and without a store', async () => {
    const { status, result, out, stderr, summary } = await act('sweep', {
      ...scheduled,
      inputs: write,
      node: process.execPath,
    });

    expect({ status, result, stderr }).toEqual({ status: 0, result: 'ok', stderr: '' });
    expect(out).toMatch(/1 rule over \d items, changes: 2 of 2 made/);
    expect(summary).toMatch(/stale: \d items, 2 changes/);
    expect(await labelled()).toEqual(['area/code', 'area/code', 'kept']);

    const again = await act('sweep', { ...scheduled, inputs: write });
    expect(again.out).toMatch(/1 rule over \d items, changes: 0 of 0 made/);
  });

  it('is run for a named repository by a runner of another service, which names neither event nor repository', async () => {
    const outputs: string[] = [];
    // The name without a hyphen, which dash passes on.
    const inputs = { COMMAND: 'sweep', TOKEN: token, SERVER_URL: harness.forge.url };
    const environment = Object.fromEntries(
      Object.entries(inputs).map(([name, text]) => [`INPUT_${name}`, text]),
    );
    const run = (more: Record<string, string>) =>
      runAction({ ...environment, ...more }, (line) => void outputs.push(line));

    expect(await run({ INPUT_REPOSITORY: `${at.owner}/${at.repo}` })).toBe(0);
    expect(outputs.join('\n')).toMatch(/1 rule over \d items/);
    expect(await run({})).toBe(2);
    expect(outputs.at(-1)).toContain('set repository to OWNER/REPO');
    // Files are trusted only on the default branch, which this runner does not name.
    const config = { INPUT_CONFIG: 'rules', INPUT_APPLY: 'true', INPUT_REPOSITORY: `${at.owner}/${at.repo}` };
    expect(await run(config)).toBe(2);
  });

  it('does not write if strangers can start the job', async () => {
    const { status, out } = await act('sweep', { inputs: write });
    expect(status).toBe(2);
    expect(out).toContain('strangers can cause pull_request');
    expect((await act('sweep')).status).toBe(0);
  });

  it('is what apply and plan do for a schedule', async () => {
    expect((await act('apply', { ...scheduled, inputs: write })).out).toMatch(/1 rule over \d items/);
    const files = { '.reeve.yml': stale.replace('area/code', 'area/docs') };
    expect((await act('plan', { ...scheduled, files })).out).toContain('changes: 2 planned');
  });

  it('leaves changes above the budget of an hour to the next job, and says so', async () => {
    await setRules(
      stale.replace('    steps:', '    limits: { items: 1 }\n    steps:').replace('area/code', 'area/docs'),
    );
    const { out } = await act('sweep', { ...scheduled, inputs: write });

    expect(out).toMatch(/changes: 1 of 1 made; \d items? left for the next job/);
    await setRules(stale);
  });

  it('visits issues and pull requests for a rule about both', async () => {
    const both = stale
      .replace('each: issue', 'each: [issue, pull_request]')
      .replace(/if: .*/, 'if: item.title == "three" || has(pull_request) && !pull_request.draft')
      .replace('area/code', 'area/docs');
    await setRules(both);
    const { out } = await act('sweep', { ...scheduled, inputs: write });

    expect(out).toMatch(/1 rule over \d items, changes: \d of \d made/);
    expect(await harness.labelsOf(issues[2] ?? 0)).toContain('area/docs');
    expect(await harness.labelsOf(index)).toContain('area/docs');
    await setRules(stale);
  });

  it('says which rules it cannot run, and fails if no rule has a schedule', async () => {
    const files = {
      '.reeve.yml': `${stale}  quiet:\n    on: { schedule: "17 4 * * *" }\n    each: organization\n    steps: [{ uses: sync-labels, with: { labels: [{ name: x, color: "ff0000" }] } }]\n`,
    };
    const config = { config: 'rules' };
    const operators = { 'rules/a.yml': files['.reeve.yml'] };
    const { out } = await act('sweep', { ...scheduled, files: operators, inputs: config });
    expect(out).toContain('1 rule not swept in CI');

    const none = await act('sweep', { ...scheduled, files: { 'rules/a.yml': rules }, inputs: config });
    expect([none.status, none.result]).toEqual([2, 'failed']);
    expect(none.out).toContain('no rule has a schedule');
  });
});
