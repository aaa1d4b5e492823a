import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type Account, type Answer, startEmbedded } from '../../support/contract-forge.ts';
import { type HookReceiver, startReceiver } from '../../support/hook-receiver.ts';

let forge: Awaited<ReturnType<typeof startEmbedded>>;
let ada: Account;
let bob: Account;
let receiver: HookReceiver;
let repository: string;
let head: string;

beforeAll(async () => {
  forge = await startEmbedded();
  [ada, bob] = [await forge.makeUser(), await forge.makeUser()];
});
afterAll(() => forge.close());
beforeEach(async () => {
  receiver = await startReceiver();
  repository = await forge.makeRepository(ada, { auto_init: true });
  await forge.share(repository, ada, { with: bob, permission: 'write' });
  head = (await ask('POST', '/contents/a', { content: 'eA==', new_branch: 'topic' })).json.commit.sha;
  await ask('POST', '/pulls', { title: 'A change', head: 'topic', base: 'main' });
  const config = { url: receiver.url, content_type: 'json' };
  const events = ['pull_request', 'pull_request_review', 'status', 'push'];
  await ask('POST', '/hooks', { type: 'gitea', config, events, active: true });
});
afterEach(() => receiver.close());

const ask = (method: string, path: string, body?: unknown, as: Account = ada): Promise<Answer> =>
  forge.ask(method, `/repos/${repository}${path}`, { as, body });
async function receivedTypes(): Promise<string[]> {
  await forge.forge.deliveries.idle();
  return receiver.types();
}

describe('a review', () => {
  test.each([
    ['APPROVED', 'pull_request_review_approved', 'pull_request_approved'],
    ['REQUEST_CHANGES', 'pull_request_review_rejected', 'pull_request_rejected'],
    ['COMMENT', 'pull_request_review_comment', 'pull_request_comment'],
  ])('of kind %s is sent as %s', async (event, type, name) => {
    await ask('POST', '/pulls/1/reviews', { event, body: 'words' }, bob);

    expect(await receivedTypes()).toEqual([type]);
    expect(receiver.received[0]?.headers['x-gitea-event']).toBe(name);
    expect(receiver.payloads(type)[0]).toMatchObject({
      action: 'reviewed',
      number: 1,
      review: { type, content: 'words' },
      requested_reviewer: { login: bob.name },
      sender: { login: bob.name },
      pull_request: { number: 1 },
    });
  });

  test('that is a draft, or that is dismissed, restored or deleted, sends no event', async () => {
    const draft = (await ask('POST', '/pulls/1/reviews', { body: 'wait' }, bob)).json.id;
    expect(await receivedTypes()).toEqual([]);
    await ask('POST', `/pulls/1/reviews/${draft}`, { event: 'APPROVED' }, bob);
    await ask('POST', `/pulls/1/reviews/${draft}/dismissals`, { message: 'x' });
    await ask('POST', `/pulls/1/reviews/${draft}/undismissals`);
    await ask('DELETE', `/pulls/1/reviews/${draft}`, undefined, bob);

    expect(await receivedTypes()).toEqual(['pull_request_review_approved']);
  });

  test('sends one event for a request and one for its withdrawal, and none for a repeated request', async () => {
    const body = { reviewers: [bob.name] };
    for (const method of ['POST', 'POST', 'DELETE', 'DELETE'])
      await ask(method, '/pulls/1/requested_reviewers', body);

    expect(await receivedTypes()).toEqual(['pull_request_review_request', 'pull_request_review_request']);
    const payloads = receiver.payloads('pull_request_review_request');
    expect(payloads.map(({ action }) => action)).toEqual(['review_requested', 'review_request_removed']);
    expect(payloads[0]).toMatchObject({
      requested_reviewer: { login: bob.name },
      sender: { login: ada.name },
    });
  });

  test('is requested when the pull request is opened, before its opened event', async () => {
    await ask('POST', '/contents/b', { content: 'eA==', new_branch: 'other' });
    await forge.forge.deliveries.idle();
    receiver.received.length = 0;

    await ask('POST', '/pulls', { title: 'B', head: 'other', base: 'main', reviewers: [bob.name] });

    expect(await receivedTypes()).toEqual(['pull_request_review_request', 'pull_request']);
    const { json } = await ask('GET', '/pulls/2/reviews');
    expect(json).toMatchObject([{ state: 'REQUEST_REVIEW', user: { login: bob.name } }]);
  });

  test('requested of a team notifies each member except the author, and the review of one member fulfils the request', async () => {
    const organization = await forge.makeOrganization(ada);
    const team = await forge.ask('POST', `/orgs/${organization}/teams`, {
      as: ada,
      body: {
        name: 'reviewers',
        permission: 'write',
        includes_all_repositories: true,
        units: ['repo.code', 'repo.pulls'],
      },
    });
    for (const member of [ada, bob]) {
      await forge.ask('PUT', `/teams/${team.json.id}/members/${member.name}`, { as: ada });
    }
    const theirs = await forge.makeRepository(ada, { in: organization, auto_init: true });
    repository = theirs;
    await ask('POST', '/contents/a', { content: 'eA==', new_branch: 'topic' });
    await ask('POST', '/pulls', { title: 'A', head: 'topic', base: 'main' });
    const config = { url: receiver.url, content_type: 'json' };
    await ask('POST', '/hooks', { type: 'gitea', config, events: ['pull_request'], active: true });

    const asked = await ask('POST', '/pulls/1/requested_reviewers', { team_reviewers: ['reviewers'] });

    expect(asked.json).toMatchObject([{ user: null, team: { name: 'reviewers' }, state: 'REQUEST_REVIEW' }]);
    expect(await receivedTypes()).toEqual(['pull_request_review_request']);
    expect((await ask('GET', '/pulls/1')).json.requested_reviewers_teams).toMatchObject([
      { name: 'reviewers' },
    ]);
    await ask('POST', '/pulls/1/reviews', { event: 'APPROVED' }, bob);
    expect((await ask('GET', '/pulls/1')).json.requested_reviewers_teams).toEqual([]);
  });
});

test('a push that makes approvals stale sends no review event', async () => {
  await ask('POST', '/branch_protections', { rule_name: 'main', dismiss_stale_approvals: true });
  await ask('POST', '/pulls/1/reviews', { event: 'APPROVED' }, bob);
  await ask('POST', '/contents/b', { content: 'eA==', branch: 'topic' });

  expect(await receivedTypes()).toEqual(['pull_request_review_approved', 'push', 'pull_request_sync']);
});

test('a status is sent with its commit, the row’s id and absolute URLs', async () => {
  await ask('POST', '/statuses/topic', { state: 'success', context: 'ci', target_url: '/x/y' });

  expect(await receivedTypes()).toEqual(['status']);
  const [payload] = receiver.payloads('status');
  expect(Object.keys(payload)).toEqual([
    'commit',
    'context',
    'created_at',
    'description',
    'id',
    'repository',
    'sender',
    'sha',
    'state',
    'target_url',
    'updated_at',
  ]);
  expect(payload).toMatchObject({
    sha: head,
    state: 'success',
    target_url: `${forge.url}/x/y`,
    commit: { id: head, added: ['a'] },
  });
});
