import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Subject } from '../../src/contract/events/subject.ts';
import { operations } from '../../src/contract/operations.ts';
import { createFactMemory, createFacts } from '../../src/facts/ask.ts';
import type { FactRequest } from '../../src/facts/fact.ts';
import { systemClock } from '../../src/platform/clock.ts';
import { addFile, type PrivilegeSetup, startPrivilegeForge } from '../support/privilege-setup.ts';

let privilegeForge: Awaited<ReturnType<typeof startPrivilegeForge>>;
let setup: PrivilegeSetup;
beforeAll(async () => {
  privilegeForge = await startPrivilegeForge();
  setup = await privilegeForge.make({ access: 'admin', scopes: ['repository', 'issue'] });
});
afterAll(() => privilegeForge.close());

function ask(request: FactRequest, subject: Subject = setup.subjects.pull_request): Promise<unknown> {
  const facts = createFacts({
    client: setup.holder.client,
    subject,
    memory: createFactMemory(systemClock),
    clock: systemClock,
  });
  return facts.ask(request);
}
const branch = (more: object): Subject => ({
  ...setup.subjects.repository,
  kind: 'branch',
  ref: 'work',
  ...more,
});

describe('contents', () => {
  const file = (argument: string): FactRequest => ({ name: 'contents', argument });
  beforeAll(() => addFile(setup.ada.client, setup.at, 'work', 'docs/ü b.md', 'größe'));

  it('is the text of a file with its last commit; for a pull request, from its base', async () => {
    const readme = await ask(file('README.md'));

    expect(readme).toMatchObject({ path: 'README.md', type: 'file', content: expect.stringContaining('#') });
    expect(readme).toHaveProperty('last_commit_message', expect.any(String));
    expect(await ask(file('docs/ü b.md'))).toBeNull();
  });

  it('is the file as of the push', async () => {
    expect(await ask(file('docs/ü b.md'), branch({}))).toMatchObject({ content: 'größe' });
    const before = setup.pull.head?.sha ?? '';
    expect(await ask(file('docs/ü b.md'), branch({ range: { before, after: before } }))).toBeNull();
  });

  it('has no text for a folder, and is null for a missing file', async () => {
    expect(await ask(file('docs'), branch({}))).toEqual({ path: 'docs', type: 'dir', content: null });
    expect(await ask(file('nope/at/all'))).toBeNull();
  });
});

describe('wiki', () => {
  it('is null, and has no pages, if there is no wiki', async () => {
    expect(await ask({ name: 'wiki', argument: 'Home' })).toBeNull();
    expect(await ask({ name: 'wiki_pages' })).toEqual([]);
  });

  it('is the text of a page', async () => {
    await setup.owner.client.call(operations.createWikiPage, {
      params: setup.at,
      body: { title: 'Release notes', content_base64: Buffer.from('größe').toString('base64') },
    });

    expect(await ask({ name: 'wiki', argument: 'Release-notes' })).toMatchObject({
      title: 'Release notes',
      content: 'größe',
      sidebar: '',
    });
    expect(await ask({ name: 'wiki_pages' })).toMatchObject([{ title: 'Release notes' }]);
  });
});

describe('reviews', () => {
  it("are complete, and `review` is the newest review with the event's state by the same reviewer", async () => {
    const params = { ...setup.at, index: setup.pull.number };
    const give = (event: string, body: string) =>
      setup.owner.client.call(operations.createReview, { params, body: { event, body } });
    await give('COMMENT', 'one');
    const approval = await give('APPROVED', 'two');
    const { id: comment } = await give('COMMENT', 'three');
    const about = (state: string, reviewer = setup.owner.id): Subject => ({
      ...setup.subjects.pull_request,
      review: { reviewer, state },
    });

    expect(await ask({ name: 'reviews' })).toHaveLength(3);
    expect(await ask({ name: 'review' }, about('APPROVED'))).toMatchObject({ id: approval.id, body: 'two' });
    expect(await ask({ name: 'review' }, about('COMMENT'))).toMatchObject({ id: comment, body: 'three' });
    await expect(ask({ name: 'review' }, about('APPROVED', setup.ada.id))).rejects.toThrow(
      'not there any more',
    );
    await expect(ask({ name: 'review' })).rejects.toThrow('not about a review');
  });
});

describe('statuses', () => {
  it('contain the newest status of every context for the newest commit, over all pages', async () => {
    const live = await setup.owner.client.call(operations.getPull, {
      params: { ...setup.at, index: setup.pull.number },
    });
    const sha = live.head?.sha ?? '';
    for (let count = 1; count <= 60; count += 1) {
      const state = count > 55 ? 'success' : 'pending';
      const body = { state, context: `ci/${count % 3}`, description: `${count}` };
      await setup.ada.client.call(operations.createStatus, { params: { ...setup.at, sha }, body });
    }

    const found = (await ask({ name: 'statuses' })) as { context: string; description: string }[];

    expect(found.map(({ context, description }) => [context, description]).toSorted()).toEqual([
      ['ci/0', '60'],
      ['ci/1', '58'],
      ['ci/2', '59'],
    ]);
    expect(await ask({ name: 'head' })).toEqual({ sha });
    expect(await ask({ name: 'statuses' }, branch({}))).toHaveLength(3);
  });

  it('are read from the default branch for a repository, and are an error for a deleted branch', async () => {
    expect(await ask({ name: 'statuses' }, setup.subjects.repository)).toEqual([]);
    const gone = branch({ range: { before: 'a'.repeat(40), after: '0'.repeat(40) } });
    await expect(ask({ name: 'head' }, gone)).rejects.toThrow('no commit');
  });
});

it('lists of a repository are read completely', async () => {
  const names = async (name: string, member: string) =>
    ((await ask({ name })) as Record<string, unknown>[]).map((one) => one[member]).toSorted();

  expect(await names('branches', 'name')).toEqual(['main', 'work']);
  expect(await names('branch_protections', 'rule_name')).toEqual(['kept']);
  expect(await names('tag_protections', 'name_pattern')).toEqual(['kept*']);
  expect(await names('collaborators', 'login')).toContain(setup.holder.name);
  expect(await names('comments', 'body')).toEqual(['<!-- reeve:tidy/main -->\nnot ours']);
  expect((await ask({ name: 'commits' })) as unknown[]).toHaveLength(2);
});

it('the commits of a push are the added ones', async () => {
  const { client } = setup.ada;
  const tip = async () =>
    (await client.call(operations.getBranch, { params: { ...setup.at, branch: 'work' } })).commit?.id;
  const before = await tip();
  await addFile(client, setup.at, 'work', 'one.txt');
  await addFile(client, setup.at, 'work', 'two.txt');

  const found = (await ask(
    { name: 'commits' },
    branch({ range: { before, after: await tip() } }),
  )) as unknown[];

  expect(found).toHaveLength(2);
});

it('a milestone is null if there is none', async () => {
  expect(await ask({ name: 'milestone' })).toBeNull();
  const { id } = await setup.owner.client.call(operations.createMilestone, {
    params: setup.at,
    body: { title: 'Next' },
  });
  await setup.owner.client.call(operations.editIssue, {
    params: { ...setup.at, index: setup.issue },
    body: { milestone: id },
  });

  expect(await ask({ name: 'milestone' }, setup.subjects.issue)).toMatchObject({
    title: 'Next',
    state: 'open',
  });
});

describe('facts about two branches', () => {
  it('compare returns the commits that the second branch has and the first lacks, and open_pull the open pull request', async () => {
    expect(await ask({ name: 'compare', argument: 'work...main' })).toMatchObject({ total_commits: 0 });
    expect(await ask({ name: 'open_pull', argument: 'main...work' })).toMatchObject({
      number: setup.pull.number,
    });
    expect(await ask({ name: 'open_pull', argument: 'work...main' })).toBeNull();
  });

  it('open_pull is the open pull request, even if an older one between the branches is closed', async () => {
    const { client } = setup.owner;
    const [head, base, params] = ['again', 'main', setup.at];
    await addFile(client, params, head, 'again.txt');
    const open = () => client.call(operations.createPull, { params, body: { head, base, title: 'Again' } });
    const first = await open();
    const close = { params: { ...params, index: first.number }, body: { state: 'closed' } } as const;
    await client.call(operations.editPull, close);
    expect(await ask({ name: 'open_pull', argument: 'main...again' })).toBeNull();

    const second = await open();

    expect(await ask({ name: 'open_pull', argument: 'main...again' })).toMatchObject({
      number: second.number,
    });
  });
});

it('own_issues contains only issues of our account, including closed ones', async () => {
  const { client } = setup.holder;
  const made = await client.call(operations.createIssue, { params: setup.at, body: { title: 'Ours' } });
  await client.call(operations.editIssue, {
    params: { ...setup.at, index: made.number },
    body: { state: 'closed' },
  });
  const argument = `${setup.at.owner}/${setup.at.repo}`;

  expect(await ask({ name: 'own_issues', argument })).toMatchObject([{ title: 'Ours', state: 'closed' }]);
});

it('a caller without access to a fact gets the reason', async () => {
  const facts = createFacts({
    client: setup.ada.client,
    subject: setup.subjects.repository,
    memory: createFactMemory(systemClock),
    clock: systemClock,
  });

  await expect(facts.ask({ name: 'branch_protections' })).rejects.toThrow('403');
});
