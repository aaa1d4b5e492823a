import { afterEach, describe, expect, it } from 'vitest';
import { type Client, createClient } from '../../src/client/client.ts';
import type { Subject } from '../../src/contract/events/subject.ts';
import { createFactMemory, createFacts } from '../../src/facts/ask.ts';
import type { FactRequest } from '../../src/facts/fact.ts';
import { dependencies } from '../../src/facts/issue.ts';
import { systemClock } from '../../src/platform/clock.ts';
import { Learning } from '../../src/rules/evaluate.ts';
import { type BareServer, json, startBareServer } from '../support/bare-server.ts';
import { makeFacts } from '../support/make-facts.ts';

const home = { id: 1, owner: 'acme', name: 'site' };
const issue: Subject = { kind: 'issue', repository: home, index: 7 };
const made = { assets: [], labels: [], assignees: [], projects: [] };
const here = { ...made, id: 5, number: 8, state: 'open' as const, title: 'Ours', repository: { id: 1 } };
const there = { ...made, id: 6, number: 9, state: 'open' as const, title: 'Theirs', repository: { id: 2 } };
const hidden = { ...made, id: 0, number: 3, state: 'closed' as const, title: 'HIDDEN', repository: null };

let server: BareServer;
afterEach(() => server?.close());

async function ask(subject: Subject, request: FactRequest, answers: Readonly<Record<string, unknown>>) {
  server = await startBareServer(({ path }, response) => {
    const [where = ''] = path.replace('/api/v1', '').split('?');
    const found = Object.hasOwn(answers, where) ? answers[where] : undefined;
    const headers = Array.isArray(found) ? { 'x-total-count': String(found.length) } : undefined;
    json(response, found ?? { message: 'not found' }, found === undefined ? 404 : 200, headers);
  });
  const client: Client = createClient({ url: server.url });
  return createFacts({ client, subject, memory: createFactMemory(systemClock), clock: systemClock }).ask(
    request,
  );
}

describe('resources of other repositories', () => {
  it('are reduced to number and state for rules below operator level', () => {
    expect(dependencies.narrow?.([here, there, hidden], issue)).toEqual([
      here,
      { number: 9, state: 'open' },
      { number: 3, state: 'closed' },
    ]);
  });

  it.each([
    ['all', 'Theirs'],
    ['repository', undefined],
  ] as const)('are visible to conditions only as far as allowed: %s', async (sees, title) => {
    const facts = makeFacts({ dependencies: [there] }, { subject: issue });
    const knowledge = new Learning(facts, {}, { sees });
    await knowledge.learn([{ name: 'dependencies' }]);

    expect(knowledge.find({ name: 'dependencies' })).toEqual({
      value: [title === undefined ? { number: 9, state: 'open' } : there],
    });
  });
});

it.each(['all', 'repository'] as const)(
  'resources of other repositories are also hidden in the items of a sweep, which come from lists: %s',
  async (sees) => {
    const text = 'of the private fork';
    const repo = {
      id: 2,
      name: 'fork',
      full_name: 'eve/fork',
      owner: { id: 3, login: 'eve' },
      private: true,
    };
    const pull_request = { number: 7, head: { ref: 'x', repo: { ...repo, description: text } } };
    const repository = { id: 1, description: 'ours', parent: { ...repo, description: text } };
    const knowledge = new Learning(makeFacts({}, { subject: issue }), { pull_request, repository }, { sees });

    expect(knowledge.find({ name: 'pull_request' })).toEqual({
      value: { ...pull_request, head: { ref: 'x', repo } },
    });
    expect(knowledge.find({ name: 'repository' })).toEqual({ value: { ...repository, parent: repo } });
  },
);

const at = '/repos/acme/site/issues';
const file = { id: 11, name: 'a.log', size: 3 };
const other = { id: 12, name: 'b.png', size: 4 };

describe('facts of an issue and its repository', () => {
  it('read dependencies and tracked times from their lists', async () => {
    expect(await ask(issue, { name: 'dependencies' }, { [`${at}/7/dependencies`]: [here] })).toMatchObject([
      { title: 'Ours' },
    ]);
    await server.close();
    expect(
      await ask(
        issue,
        { name: 'tracked_times' },
        { [`${at}/7/times`]: [{ id: 1, time: 60, user_name: 'ada' }] },
      ),
    ).toMatchObject([{ time: 60, user_name: 'ada' }]);
  });

  it('cannot be read from a disabled time tracker', async () => {
    await expect(ask(issue, { name: 'tracked_times' }, {})).rejects.toMatchObject({
      code: 'forge-not-found',
    });
  });

  it("read the attachments of the issue in one list, and those of the event's comment one by one", async () => {
    const answers = {
      [`${at}/7/assets`]: [file],
      [`${at}/comments/4`]: { id: 4, assets: [other] },
      [`${at}/comments/4/assets/12`]: other,
    };

    expect(await ask({ ...issue, comment: 4 }, { name: 'attachments' }, answers)).toMatchObject([
      { name: 'a.log', on: 'issue' },
      { name: 'b.png', on: 'comment' },
    ]);
    await server.close();
    expect(await ask(issue, { name: 'attachments' }, answers)).toMatchObject([
      { name: 'a.log', on: 'issue' },
    ]);
    expect(server.requests).toHaveLength(1);
  });

  it('use the organization of the subject, or else the owner of the repository', async () => {
    const answers = { '/orgs/acme': { id: 2, name: 'acme' }, '/orgs/other': { id: 3, name: 'other' } };

    expect(await ask(issue, { name: 'organization' }, answers)).toMatchObject({ name: 'acme' });
    await server.close();
    const subject: Subject = { kind: 'organization', organization: 'other' };
    expect(await ask(subject, { name: 'organization' }, answers)).toMatchObject({ name: 'other' });
  });

  it('omit the value of the authorization header of hooks', async () => {
    const hooks = [
      { id: 1, events: ['push'], authorization_header: 'Bearer clear-text' },
      { id: 2, events: ['push'], authorization_header: '' },
    ];
    const subject: Subject = { kind: 'repository', repository: home };
    const found = await ask(subject, { name: 'hooks' }, { '/repos/acme/site/hooks': hooks });

    expect(found).toMatchObject([{ id: 1, has_authorization: true }, { id: 2 }]);
    expect(JSON.stringify(found)).not.toContain('clear-text');
  });
});
