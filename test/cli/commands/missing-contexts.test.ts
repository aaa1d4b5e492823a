import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Problem } from '../../../src/rules/problem.ts';
import { type BareServer, json, startBareServer } from '../../support/bare-server.ts';
import { reeve } from '../../support/command.ts';
import { type Account, describeContract } from '../../support/contract-forge.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'reeve-contexts-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

/** Checks a file with these rules against a forge, for these repositories, and returns the warnings about statuses. */
async function check(rules: string, server: { url: string; token: string }, repositories: readonly string[]) {
  const path = join(folder, 'rules.yml');
  await writeFile(path, `version: 1\nrules:\n${rules}`);
  const args = ['check', '--json', '--repository', ...repositories, '--', path];
  const environment = { FORGE_URL: server.url, FORGE_TOKEN: server.token };
  const { status, out, error } = await reeve(args, { environment });
  const found: { problems: readonly Problem[]; warnings: readonly Problem[] } = JSON.parse(out || '{}');
  // Some forges have no event for statuses.
  expect((found.problems ?? []).filter(({ code }) => code !== 'capability')).toEqual([]);
  const warnings = (found.warnings ?? []).filter(({ code }) => code === 'missing-context');
  return { status, error, warnings, messages: warnings.map(({ line, message }) => `${line} ${message}`) };
}

const when = (condition: string, action = 'set-labels'): string =>
  action === 'set-labels'
    ? `  wait: { on: pull_request, if: '${condition}', steps: [{ uses: set-labels, with: { add: [ready] } }] }\n`
    : `  wait: { on: pull_request, steps: [{ uses: ${action}, with: { when: '${condition}' } }] }\n`;
const protects = (contexts: string, more = ''): string =>
  `  protect: { on: { schedule: "17 3 * * *" }, each: repository, steps: [{ uses: sync-branch-protections, with: { protections: [{ rule_name: main, enable_status_check: true, status_check_contexts: [${contexts}] }] } }] }\n${more}`;

describeContract('a status that no recent commit has', (forge) => {
  let ada: Account;
  let repository: string;
  let server: { url: string; token: string };

  const ask = async (method: string, path: string, body?: unknown) => {
    const answer = await forge.ask(method, `/repos/${repository}${path}`, { as: ada, body });
    if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.status} ${answer.text}`);
    return answer.json;
  };
  const report = (sha: string, context: string, state = 'success') =>
    ask('POST', `/statuses/${sha}`, { state, context });
  const commit = async (name: string, branch: string, more: object = {}): Promise<string> =>
    (await ask('POST', `/contents/${name}.txt`, { branch, content: 'YQ==', message: name, ...more })).commit
      .sha;
  const warned = async (rules: string) => (await check(rules, server, [repository])).messages;

  beforeAll(async () => {
    ada = await forge.makeUser();
    server = { url: forge.url, token: ada.token };
    repository = await forge.makeRepository(ada, { auto_init: true, default_branch: 'main' });
    const head = await commit('a', 'main');
    await report(head, 'CI / build (push)');
    await report(head, 'CI / lint (push)');
    await report(await commit('b', 'main'), 'deploy/preview', 'pending');
    const pulled = await commit('c', 'main', { new_branch: 'topic' });
    const { number } = await ask('POST', '/pulls', { title: 'topic', head: 'topic', base: 'main' });
    await report(pulled, 'CI / build (pull_request)');
    await ask('PATCH', `/pulls/${number}`, { state: 'closed' });
  });

  it('causes a warning with the number of examined commits, and the closest existing names', async () => {
    expect(await warned(when('statuses.exists(s, s.context == "build" && s.status == "success")'))).toEqual([
      `3 no recent commit of ${repository} has the status "build" (4 commits examined): the closest is "CI / build (pull_request)", "CI / build (push)": write that name, or a glob of it; checks of Actions are called WORKFLOW / JOB (EVENT)`,
    ]);
  });

  it.each([
    ['in a protection', protects('build')],
    ['as a glob in a protection', protects('"ci/build*"')],
    ['in the condition of a merge', when('statuses.exists(s, s.context == "build")', 'merge')],
    ['in a list', when('statuses.filter(s, s.context in ["CI / lint (push)", "build"]).size() == 2')],
    ['among the required checks', when('required_checks.exists(c, c.context == "build")', 'queue-merge')],
    ['in a list of names', when('"build" in statuses.map(s, s.context)')],
    ['in a set of names', when('sets.contains(statuses.map(s, s.context), ["build"])')],
    ['as the start of a name', when('statuses.exists(s, s["context"].startsWith("build"))')],
    ['as a regular expression', when('statuses.exists(s, s.context.matches("^build"))')],
    [
      'in an event',
      '  wait: { on: status, if: \'event.context == "build"\', steps: [{ uses: set-status, with: { context: seen, state: success } }] }\n',
    ],
  ])('is found %s', async (_, rules) => {
    expect(await warned(rules)).toEqual([expect.stringContaining('build')]);
  });

  it.each([
    ['a name of the default branch', protects('"CI / build (push)", deploy/preview')],
    ['a name of a closed pull request', protects('"CI / build (pull_request)"')],
    ['a glob', protects('"* / build (*)", "deploy/**"')],
    ['a glob in a condition', when('statuses.exists(s, s.context.glob("* / lint (*)"))')],
    [
      'a part of a name',
      when('statuses.exists(s, s.context.contains("lint") && s.context.endsWith("(push)"))'),
    ],
    ['a word in a text', when('pull_request.title == "statuses.exists(s, s.context == build)"')],
    ['another member', when('statuses.exists(s, s.description == "build")')],
    ['no status', when('statuses.all(s, s.status == "success")')],
    [
      'a status that a rule writes',
      protects('reeve/gate', when('!pull_request.draft', 'set-status').replace('wait', 'gate')),
    ],
    [
      'a status that a rule writes for each base',
      protects(
        '"gate main"',
        "  gate: { on: pull_request, steps: [{ uses: set-status, with: { context: 'gate ${{ pull_request.base.ref }}', when: '!pull_request.draft' } }] }\n",
      ),
    ],
    ['a status of a level that is not looked at', protects('reeve-repo/gate')],
    ['the status of the queue', protects('reeve/queue')],
    [
      'checks that are switched off',
      protects('build')
        .replace('enable_status_check: true', 'enable_status_check: false')
        .replace('status_check_contexts: [build]', 'status_check_contexts: []'),
    ],
  ])('causes no warning for %s', async (_, rules) => {
    expect(await warned(rules)).toEqual([]);
  });

  it('causes a warning if only the spelling differs, and for the status of a Reeve rule that does not exist', async () => {
    const found = await warned(
      protects(
        '"CI / bulid (push)", reeve/gaet',
        when('!pull_request.draft', 'set-status').replace('wait', 'gate'),
      ),
    );

    expect(found).toEqual([
      expect.stringContaining('the closest is "CI / build (push)"'),
      expect.stringContaining('has the status "reeve/gaet"'),
    ]);
  });

  it('causes a warning if it is required by a branch into which a rule merges', async () => {
    const protection = {
      rule_name: 'main',
      enable_status_check: true,
      status_check_contexts: ['test', 'CI / *'],
    };
    await ask('POST', '/branch_protections', protection);
    try {
      const found = await check(when('!pull_request.draft', 'merge'), server, [repository]);

      expect(found.warnings).toMatchObject([
        {
          path: repository,
          message: expect.stringContaining(
            `branch main requires a check before anything is merged into it: no recent commit of ${repository} has the status "test"`,
          ),
        },
      ]);
      expect(await warned(when('!pull_request.draft'))).toEqual([]);
    } finally {
      await ask('DELETE', '/branch_protections/main');
    }
  });

  it('causes one warning that names each repository once', async () => {
    const other = await forge.makeRepository(ada, { auto_init: true, default_branch: 'main' });

    const { messages } = await check(protects('build'), server, [repository, other]);

    expect(messages).toEqual([expect.stringContaining(`; the same in ${other}`)]);
    expect(await check(protects('build'), server, [other])).toMatchObject({
      messages: [expect.stringContaining('(1 commit examined): there are no statuses yet')],
    });
  });

  it('causes no warning in an empty repository, or if the account lacks access', async () => {
    const [empty, bob] = [await forge.makeRepository(ada), await forge.makeUser()];
    const hidden = await forge.makeRepository(ada, { auto_init: true, private: true });

    expect((await check(protects('build'), server, [empty])).messages).toEqual([]);
    const asBob = await check(protects('build'), { url: forge.url, token: bob.token }, [hidden]);
    expect(asBob.messages).toEqual([]);
  });
});

describe('commits and their statuses', () => {
  let server: BareServer;
  let statuses: (page: number) => readonly object[];
  const repository = {
    id: 1,
    name: 'shop',
    full_name: 'acme/shop',
    owner: { id: 2, login: 'acme' },
    default_branch: 'main',
  };
  beforeAll(async () => {
    server = await startBareServer(({ path }, response) => {
      const { pathname, searchParams } = new URL(path, 'http://forge');
      if (pathname.endsWith('/version')) return json(response, { version: '1.27.0' });
      if (pathname.endsWith('/commits'))
        return json(
          response,
          Array.from({ length: 40 }, (_, place) => ({ sha: String(place).padStart(40, '0') })),
        );
      if (pathname.endsWith('/pulls'))
        return json(response, { message: 'pull requests are switched off' }, 404);
      if (pathname.includes('/statuses/')) return json(response, statuses(Number(searchParams.get('page'))));
      return json(response, pathname.endsWith('/shop') ? repository : []);
    });
  });
  afterAll(() => server.close());
  beforeEach(() => {
    server.requests.length = 0;
  });
  const asked = () => server.requests.filter(({ path }) => path.includes('/statuses/')).length;
  const page = (number: number, context: (place: number) => string) =>
    Array.from({ length: 50 }, (_, place) => ({
      id: number * 50 + place,
      status: 'success',
      context: context(place),
    }));

  it('are read page by page up to a limit, however many the forge sends', async () => {
    statuses = (number) => page(number, (place) => `check ${number} ${place}`);

    const { messages } = await check(protects('build'), { url: server.url, token: 'token' }, ['acme/shop']);

    expect(messages).toEqual([expect.stringContaining('(10 commits examined): there is "check 1 0"')]);
    expect(asked()).toBe(40);
  });

  it('are read no further once every expected status was found', async () => {
    statuses = (number) => page(number, (place) => (number === 2 && place === 49 ? 'build' : 'other'));

    expect(
      (await check(protects('build'), { url: server.url, token: 'token' }, ['acme/shop'])).messages,
    ).toEqual([]);
    expect(asked()).toBe(4);
  });

  it('are not read if no rule waits for a status', async () => {
    const { status } = await check(when('!pull_request.draft'), { url: server.url, token: 'token' }, [
      'acme/shop',
    ]);

    expect([status, asked()]).toEqual([0, 0]);
  });

  it('that the forge fails to return end the check', async () => {
    const failing = { url: 'http://127.0.0.1:9', token: 'token' };

    expect(await check(protects('build'), failing, ['acme/shop'])).toMatchObject({ status: 3, messages: [] });
  });
});
