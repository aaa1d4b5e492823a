import { createHash } from 'node:crypto';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type Account, basic, type ContractForge, startEmbedded } from '../../../support/contract-forge.ts';
import { cloneRepository, type GitClone, tryGit } from '../../../support/git-client.ts';

let forge: ContractForge;
const clones: GitClone[] = [];
beforeAll(async () => {
  forge = await startEmbedded();
});
afterAll(() => forge.close());
afterEach(() => {
  for (const clone of clones.splice(0)) clone.remove();
});

async function must(method: string, path: string, as: Account, body?: object) {
  const answer = await forge.ask(method, path, { as, body });
  if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.status} ${answer.text}`);
  return answer;
}
const statusOf = async (
  method: string,
  path: string,
  as: Account | undefined,
  body?: object,
): Promise<number> => (await forge.ask(method, path, { as, body })).status;

async function cloneAs(account: Account, place: string): Promise<GitClone> {
  const url = new URL(`${forge.url}/${place}.git`);
  const clone = await cloneRepository(
    Object.assign(url, { username: account.name, password: account.token }).href,
  );
  clones.push(clone);
  return clone;
}
/** Pushes a new commit to a branch, and returns its id. */
async function pushAs(account: Account, place: string, branch: string, file: string): Promise<string> {
  const clone = await cloneAs(account, place);
  await tryGit(clone.folder, ['checkout', '--quiet', branch]);
  const id = await clone.commit({ [file]: `${file}\n` }, `add ${file}`);
  await clone.git('push', '--quiet', 'origin', `HEAD:refs/heads/${branch}`);
  return id;
}
/** Returns whether a repository serves a commit: through the API, or to a fetch of its id. */
async function serves(place: string, as: Account, id: string): Promise<boolean> {
  const clone = await cloneAs(as, place);
  const { code } = await tryGit(clone.folder, ['fetch', '--quiet', 'origin', id]);
  return (await statusOf('GET', `/repos/${place}/git/commits/${id}`, as)) === 200 || code === 0;
}

describe('a team member with access only to issues and pull requests of a private repository', () => {
  let owner: Account;
  let member: Account;
  let secret: string;
  /** The member's repository. */
  let own: string;
  let tip: string;
  let object: string;
  beforeEach(async () => {
    [owner, member] = [await forge.makeUser(), await forge.makeUser()];
    const organization = await forge.makeOrganization(owner);
    secret = await forge.makeRepository(owner, { in: organization, private: true, auto_init: true });
    await must('PATCH', `/repos/${secret}`, owner, { template: true });
    tip = await pushAs(owner, secret, 'topic', 'hidden.txt');
    await must('POST', `/repos/${secret}/pulls`, owner, { title: 'p', head: 'topic', base: 'main' });
    object = createHash('sha256').update('large').digest('hex');
    const sent = await lfs(owner, 'PUT', `${secret}.git/info/lfs/objects/${object}/5`, 'large');
    expect(sent.status).toBe(200);
    const units_map = { 'repo.issues': 'write', 'repo.pulls': 'write' };
    const body = { name: 'triage', permission: 'write', includes_all_repositories: true, units_map };
    const team = await must('POST', `/orgs/${organization}/teams`, owner, body);
    await must('PUT', `/teams/${team.json.id}/members/${member.name}`, owner);
    own = await forge.makeRepository(member, { auto_init: true });
  });

  function lfs(as: Account, method: string, path: string, body?: string): Promise<Response> {
    const type = 'application/vnd.git-lfs+json';
    const headers = { ...basic(as.name, as.token), accept: type, 'content-type': type };
    return fetch(`${forge.url}/${path}`, { method, headers, ...(body === undefined ? {} : { body }) });
  }

  it('gets no code of that repository: by comparison, pull request, fork, template, LFS, or git', async () => {
    expect(await statusOf('GET', `/repos/${secret}/issues`, member)).toBe(200);
    const pull = { title: 'x', head: `${secret}:topic`, base: 'main' };
    const [ownerName] = secret.split('/');
    const template = { owner: member.name, name: 'copy', git_content: true };
    const batch = JSON.stringify({ operation: 'download', objects: [{ oid: object, size: 5 }] });

    const statuses = {
      'compare with its own': await statusOf('GET', `/repos/${own}/compare/main...${secret}:topic`, member),
      'compare with it': await statusOf('GET', `/repos/${secret}/compare/main...topic`, member),
      'pull request': await statusOf('POST', `/repos/${own}/pulls`, member, pull),
      'pull request into it': await statusOf('POST', `/repos/${secret}/pulls`, member, {
        title: 'x',
        head: `${own}:main`,
        base: 'main',
      }),
      fork: await statusOf('POST', `/repos/${secret}/forks`, member, {}),
      generate: await statusOf('POST', `/repos/${secret}/generate`, member, template),
      'by branches': await statusOf('GET', `/repos/${secret}/pulls/main/${ownerName}:topic`, member),
      'LFS batch': (await lfs(member, 'POST', `${secret}.git/info/lfs/objects/batch`, batch)).status,
      'LFS object': (await lfs(member, 'GET', `${secret}.git/info/lfs/objects/${object}`)).status,
      'LFS locks': (await lfs(member, 'GET', `${secret}.git/info/lfs/locks`)).status,
    };
    const clone = await tryGit('/', [
      'ls-remote',
      `${forge.url.replace('//', `//${member.name}:${member.token}@`)}/${secret}`,
    ]);

    expect(statuses).toEqual({
      'compare with its own': 404,
      'compare with it': 403,
      'pull request': 404,
      'pull request into it': 403,
      fork: 403,
      generate: 403,
      'by branches': 403,
      'LFS batch': 401,
      'LFS object': 401,
      'LFS locks': 401,
    });
    expect(clone.code).not.toBe(0);
    expect(await serves(own, member, tip)).toBe(false);
  });

  it('sees no code in pull requests of that repository: diff, files, commits, reviews, pages', async () => {
    const paths = ['', '.diff', '.patch', '/files', '/commits', '/reviews', '/merge'];
    const answers = await Promise.all(
      paths.map((path) => forge.ask('GET', `/repos/${secret}/pulls/1${path}`, { as: member })),
    );
    const headers = basic(member.name, member.password);
    const pages = ['pulls', 'pulls/1', 'pulls/1.diff', 'pulls/1.patch', 'src/branch/main', 'commit/main'];
    const shown = await Promise.all(
      pages.map((path) => fetch(`${forge.url}/${secret}/${path}`, { headers })),
    );

    expect(answers.map(({ status }) => status)).toEqual(paths.map(() => 403));
    expect(shown.map(({ status }) => status)).toEqual(pages.map(() => 404));
  });
});

describe('code of a private repository', () => {
  let owner: Account;
  let reader: Account;
  let secret: string;
  /** Public repository of the reader. */
  let own: string;
  beforeEach(async () => {
    [owner, reader] = [await forge.makeUser(), await forge.makeUser()];
    secret = await forge.makeRepository(owner, { private: true, auto_init: true });
    await pushAs(owner, secret, 'topic', 'first.txt');
    await forge.share(secret, owner, { with: reader, permission: 'read' });
    own = await forge.makeRepository(reader, { auto_init: true });
  });
  const leave = () => must('DELETE', `/repos/${secret}/collaborators/${reader.name}`, owner);
  const headOf = async (place: string, number: number): Promise<string> =>
    (await must('GET', `/repos/${place}/pulls/${number}`, reader)).json.head.sha;
  const openIntoOwn = () =>
    must('POST', `/repos/${own}/pulls`, reader, { title: 'x', head: `${secret}:topic`, base: 'main' });

  it('is copied to a pull request only while the author of the pull request may read it, and again once access is restored', async () => {
    await openIntoOwn();
    const seen = await pushAs(owner, secret, 'topic', 'second.txt');
    const whileReader = await headOf(own, 1);
    await leave();
    const hidden = await pushAs(owner, secret, 'topic', 'third.txt');
    const afterwards = await headOf(own, 1);
    const isServed = await serves(own, reader, hidden);
    // Neither closing nor reopening copies commits that were pushed in the meantime.
    await must('PATCH', `/repos/${own}/pulls/1`, reader, { state: 'closed' });
    await must('PATCH', `/repos/${own}/pulls/1`, reader, { state: 'open' });
    const reopened = await headOf(own, 1);
    await forge.share(secret, owner, { with: reader, permission: 'read' });
    const last = await pushAs(owner, secret, 'topic', 'fourth.txt');

    expect([whileReader, afterwards, isServed, reopened]).toEqual([seen, seen, false, seen]);
    expect(await headOf(own, 1)).toBe(last);
  });

  it('is not copied to pull requests of a disabled or deleted account', async () => {
    const other = await forge.makeUser();
    await forge.share(secret, owner, { with: other, permission: 'read' });
    await forge.share(own, reader, { with: other, permission: 'write' });
    await must('POST', `/repos/${own}/branches`, reader, { new_branch_name: 'second' });
    const head = `${secret}:topic`;
    await must('POST', `/repos/${own}/pulls`, other, { title: 'x', head, base: 'main' });
    const root = forge.adminToken;
    const [before] = [await headOf(own, 1)];
    const closed = { source_id: 0, login_name: other.name, prohibit_login: true };
    expect((await forge.ask('PATCH', `/admin/users/${other.name}`, { as: root, body: closed })).status).toBe(
      200,
    );
    await pushAs(owner, secret, 'topic', 'second.txt');
    const whileClosed = await headOf(own, 1);
    expect((await forge.ask('DELETE', `/admin/users/${other.name}`, { as: root })).status).toBe(204);
    await pushAs(owner, secret, 'topic', 'third.txt');

    expect([whileClosed, await headOf(own, 1)]).toEqual([before, before]);
  });

  it('is merged up to the last copied commit if the author has lost access', async () => {
    const fork = (await must('POST', `/repos/${secret}/forks`, reader, { name: 'mine' })).json.full_name;
    const seen = await pushAs(owner, secret, 'topic', 'second.txt');
    await must('POST', `/repos/${fork}/pulls`, reader, { title: 'x', head: `${secret}:topic`, base: 'main' });
    await leave();
    const hidden = await pushAs(owner, secret, 'topic', 'third.txt');

    await must('POST', `/repos/${fork}/pulls/1/merge`, reader, { do: 'merge' });

    expect([await serves(fork, reader, seen), await serves(fork, reader, hidden)]).toEqual([true, false]);
    const files = (await must('GET', `/repos/${fork}/contents`, reader)).json.map(
      ({ name }: { name: string }) => name,
    );
    expect(files).toEqual(expect.arrayContaining(['first.txt', 'second.txt']));
    expect(files).not.toContain('third.txt');
  });

  it('is not copied by a new pull request, comparison or fork after access is lost', async () => {
    await must('POST', `/repos/${secret}/forks`, reader, { name: 'before' });
    await leave();
    const tip = await pushAs(owner, secret, 'main', 'second.txt');

    expect(
      await statusOf('POST', `/repos/${own}/pulls`, reader, {
        title: 'x',
        head: `${secret}:topic`,
        base: 'main',
      }),
    ).toBe(404);
    expect(await statusOf('GET', `/repos/${own}/compare/main...${secret}:main`, reader)).toBe(404);
    expect(await statusOf('POST', `/repos/${secret}/forks`, reader, { name: 'after' })).toBe(404);
    const path = `/repos/${reader.name}/before/merge-upstream`;
    expect(await statusOf('POST', path, reader, { branch: 'main' })).toBe(403);
    expect(await serves(`${reader.name}/before`, reader, tip)).toBe(false);
  });

  it('is not copied into the fork of an author without access when the pull request is updated', async () => {
    const fork = (await must('POST', `/repos/${secret}/forks`, reader, { name: 'mine' })).json.full_name;
    await pushAs(reader, fork, 'topic', 'mine.txt');
    const head = `${reader.name}:topic`;
    await must('POST', `/repos/${secret}/pulls`, reader, { title: 'x', head, base: 'main' });
    const path = `/repos/${secret}/pulls/1/update`;
    await pushAs(owner, secret, 'main', 'second.txt');
    // The maintainer may push to a fork only if they may read it.
    await forge.share(fork, reader, { with: owner, permission: 'write' });
    const allowed = await statusOf('POST', path, owner);
    await leave();
    const tip = await pushAs(owner, secret, 'main', 'third.txt');

    const refused = await statusOf('POST', path, owner);

    expect([allowed, refused]).toEqual([200, 403]);
    expect(await serves(fork, reader, tip)).toBe(false);
  });

  it("is not read for an anonymous caller, and a reader's comparison writes nothing", async () => {
    const tip = (await must('GET', `/repos/${secret}/branches/topic`, owner)).json.commit.id;
    const path = `/repos/${own}/compare/main...${secret}:topic`;

    const anonymous = await statusOf('GET', path, undefined);
    const compared = await must('GET', path, reader);

    expect([anonymous, compared.json.commits[0].sha]).toEqual([404, tip]);
    expect(await serves(own, reader, tip)).toBe(false);
  });
});

describe('the head of a pull request', () => {
  it('is not named to callers who may not see its repository', async () => {
    const [ada, ben] = [await forge.makeUser(), await forge.makeUser()];
    const base = await forge.makeRepository(ada, { auto_init: true });
    const head = await forge.makeRepository(ada, { auto_init: true, private: true });
    await must('POST', `/repos/${base}/pulls`, ada, { title: 'x', head: `${head}:main`, base: 'main' });

    for (const [as, sees] of [
      [ada, true],
      [ben, false],
      [undefined, false],
    ] as const) {
      const { status, text } = await forge.ask('GET', `/repos/${base}/pulls/1`, { as });
      expect([status, text.includes(head)]).toEqual([200, sees]);
    }
  });

  it('is not deleted after a merge by an account that may merge but not write', async () => {
    const [ada, ben] = [await forge.makeUser(), await forge.makeUser()];
    const organization = await forge.makeOrganization(ada);
    const base = await forge.makeRepository(ada, { in: organization, auto_init: true });
    const units = ['repo.code', 'repo.pulls'];
    const body = { name: 'mergers', permission: 'read', includes_all_repositories: true, units };
    const team = await must('POST', `/orgs/${organization}/teams`, ada, body);
    await must('PUT', `/teams/${team.json.id}/members/${ben.name}`, ada);
    await must('POST', `/repos/${base}/branches`, ada, { new_branch_name: 'topic' });
    await pushAs(ada, base, 'topic', 'one.txt');
    await must('POST', `/repos/${base}/pulls`, ada, { title: 'x', head: 'topic', base: 'main' });
    const rule = { rule_name: 'main', enable_merge_whitelist: true, merge_whitelist_teams: ['mergers'] };
    await must('POST', `/repos/${base}/branch_protections`, ada, rule);

    const wish = { do: 'merge', delete_branch_after_merge: true };
    await must('POST', `/repos/${base}/pulls/1/merge`, ben, wish);

    expect(await statusOf('GET', `/repos/${base}/branches/topic`, ada)).toBe(200);
  });
});

describe('allow_maintainer_edit set by an author who may only read the head', () => {
  it('does not take effect, and grants no push even if the author gains write access later', async () => {
    const [ada, ben, eve] = [await forge.makeUser(), await forge.makeUser(), await forge.makeUser()];
    const repository = await forge.makeRepository(ada, { auto_init: true });
    // The base is not a fork, because a pull request may connect any two repositories that its author can read.
    const base = await forge.makeRepository(eve, { auto_init: true });
    await forge.share(base, eve, { with: ben, permission: 'write' });
    const wish = { head: `${repository}:main`, base: 'main', allow_maintainer_edit: true };
    const opened = await must('POST', `/repos/${base}/pulls`, ben, { title: 'x', ...wish });
    await forge.share(repository, ada, { with: ben, permission: 'write' });

    await expect(pushAs(eve, repository, 'main', 'one.txt')).rejects.toThrow('denied');
    const agreed = await must('PATCH', `/repos/${base}/pulls/1`, ben, { allow_maintainer_edit: true });
    await pushAs(eve, repository, 'main', 'two.txt');

    expect([opened.json.allow_maintainer_edit, agreed.json.allow_maintainer_edit]).toEqual([false, true]);
  });
});

describe('a merge allowlist', () => {
  it('does not allow a merge by an account that has lost access', async () => {
    const [ada, ben] = [await forge.makeUser(), await forge.makeUser()];
    const base = await forge.makeRepository(ada, { auto_init: true });
    await forge.share(base, ada, { with: ben, permission: 'write' });
    const rule = { rule_name: 'main', enable_merge_whitelist: true, merge_whitelist_usernames: [ben.name] };
    await must('POST', `/repos/${base}/branch_protections`, ada, rule);
    const fork = (await must('POST', `/repos/${base}/forks`, ben, {})).json.full_name;
    await pushAs(ben, fork, 'main', 'one.txt');
    await must('POST', `/repos/${base}/pulls`, ben, { title: 'x', head: `${ben.name}:main`, base: 'main' });
    await must('DELETE', `/repos/${base}/collaborators/${ben.name}`, ada);
    const merge = () => statusOf('POST', `/repos/${base}/pulls/1/merge`, ben, { do: 'merge' });

    const gone = await merge();
    await forge.share(base, ada, { with: ben, permission: 'write' });

    expect([gone, await merge()]).toEqual([405, 200]);
  });
});

describe('a comparison with another repository', () => {
  it('writes nothing to either repository, for any caller', async () => {
    const [ada, eve] = [await forge.makeUser(), await forge.makeUser()];
    const base = await forge.makeRepository(ada, { auto_init: true });
    const fork = (await must('POST', `/repos/${base}/forks`, eve, {})).json.full_name;
    const [, hostile] = [
      await pushAs(eve, fork, 'main', 'one.txt'),
      await pushAs(eve, fork, 'topic', 'hostile.txt'),
    ];
    await pushAs(ada, base, 'main', 'of-base.txt');
    const baseTip = (await must('GET', `/repos/${base}/branches/main`, ada)).json.commit.id;

    const words = [`main...${fork}:topic`, `main..${eve.name}:topic`, `main...${eve.name}:${hostile}`];
    const answers = await Promise.all(
      words.map((word) => forge.ask('GET', `/repos/${base}/compare/${word}`)),
    );
    const back = await forge.ask('GET', `/repos/${fork}/compare/topic...${ada.name}:main`);

    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
    expect(answers.map(({ json }) => json.commits[0].sha)).toEqual([hostile, hostile, hostile]);
    expect(answers[0]?.json.commits[0].files).toMatchObject([{ filename: 'hostile.txt', status: 'added' }]);
    expect(back.json.commits.map(({ sha }: { sha: string }) => sha)).toEqual([baseTip]);
    expect([await serves(fork, eve, hostile), await serves(base, ada, hostile)]).toEqual([true, false]);
    expect(await serves(fork, eve, baseTip)).toBe(false);
    for (const kind of ['raw', 'contents']) {
      expect(await statusOf('GET', `/repos/${base}/${kind}/hostile.txt?ref=${hostile}`, undefined)).toBe(404);
    }
    expect((await fetch(`${forge.url}/${base}/raw/commit/${hostile}/hostile.txt`)).status).not.toBe(200);
    expect((await fetch(`${forge.url}/${base}/archive/${hostile}.zip`)).status).not.toBe(200);
  });
});
