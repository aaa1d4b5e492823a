import { createHmac } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { parseEvent } from '../../../src/contract/events/events.ts';
import { type Account, startEmbedded } from '../../support/contract-forge.ts';
import { type HookReceiver, startReceiver } from '../../support/hook-receiver.ts';

/** Every event type that operations can emit, in the names that hooks subscribe to. */
const everything = ['issues', 'pull_request', 'push', 'create', 'delete', 'repository'];

describe('what a hook receives', () => {
  let forge: Awaited<ReturnType<typeof startEmbedded>>;
  let ada: Account;
  let bob: Account;
  let repository: string;
  let receiver: HookReceiver;
  beforeAll(async () => {
    forge = await startEmbedded();
  });
  afterAll(() => forge.close());
  beforeEach(async () => {
    receiver = await startReceiver();
    [ada, bob] = [await forge.makeUser(), await forge.makeUser()];
    repository = await forge.makeRepository(ada);
    await forge.share(repository, ada, { with: bob, permission: 'write' });
    for (const name of ['bug', 'docs']) await ask('POST', '/labels', { name, color: 'fff' });
    await ask('POST', '/milestones', { title: 'v1' });
    await ask('POST', '/issues', { title: 'first', body: 'text' });
    await listen(`/repos/${repository}/hooks`);
    return () => receiver.close();
  });

  const ask = (method: string, path: string, body?: unknown, as: Account = ada) =>
    forge.ask(method, `/repos/${repository}${path}`, { as, body });
  const listen = (path: string) => {
    const config = { url: receiver.url, content_type: 'json' };
    return forge.ask('POST', path, {
      as: ada,
      body: { type: 'gitea', config, events: everything, active: true },
    });
  };
  /** Received deliveries in sorted order, because the order of arrival is not guaranteed. */
  // biome-ignore lint/suspicious/noExplicitAny: tests look into payloads of every shape
  async function arrived(): Promise<{ type: string; payload: any }[]> {
    await forge.forge.deliveries.idle();
    return receiver.received.map(({ headers, body }) => ({
      type: String(headers['x-gitea-event-type']),
      payload: JSON.parse(body),
    }));
  }
  /** `Event-Type action` of each delivery. */
  async function heard(): Promise<string[]> {
    return (await arrived()).map(({ type, payload }) => `${type} ${payload.action}`).sort();
  }
  const milestone = async () => (await ask('GET', '/milestones')).json[0].id;

  it.each([
    ['PUT', '/issues/1/labels', { labels: ['bug'] }, ['issue_label label_updated']],
    ['PUT', '/issues/1/labels', { labels: [] }, ['issue_label label_updated']],
    ['POST', '/issues/1/labels', { labels: ['bug', 'docs'] }, ['issue_label label_updated']],
    ['DELETE', '/issues/1/labels', undefined, ['issue_label label_cleared']],
    ['PATCH', '/issues/1', { title: 'second' }, ['issues edited']],
    ['PATCH', '/issues/1', { title: 'second', body: 'more' }, ['issues edited', 'issues edited']],
    ['PATCH', '/issues/1', { state: 'closed' }, ['issues closed']],
    ['POST', '/issues/1/comments', { body: 'hm' }, ['issue_comment created']],
    ['POST', '/issues', { title: 'x' }, ['issues opened']],
    ['POST', '/issues', { title: 'x', closed: true }, ['issues closed', 'issues opened']],
  ])('for %s %s with %j is %j', async (method, path, body, expected) => {
    await ask(method, path, body);

    expect(await heard()).toEqual(expected);
  });

  it('is one delivery for each part of a new issue', async () => {
    const labels = (await ask('GET', '/labels')).json.map((label: { id: number }) => label.id);

    await ask('POST', '/issues', {
      title: 'x',
      labels,
      milestone: await milestone(),
      assignees: [ada.name, bob.name],
    });

    expect(await heard()).toEqual([
      'issue_assign assigned',
      'issue_assign assigned',
      'issue_label label_updated',
      'issue_milestone milestoned',
      'issues opened',
    ]);
  });

  it('is one delivery for each added or removed assignee, and for a milestone', async () => {
    await ask('PATCH', '/issues/1', { assignees: [ada.name] });
    await ask('PATCH', '/issues/1', { assignees: [bob.name], milestone: await milestone() });
    await ask('PATCH', '/issues/1', { milestone: 0 });

    expect(await heard()).toEqual([
      'issue_assign assigned',
      'issue_assign assigned',
      'issue_assign unassigned',
      'issue_milestone demilestoned',
      'issue_milestone milestoned',
    ]);
  });

  it('contains the previous values of an edit, and the payload parses as the same event', async () => {
    await ask('PATCH', '/issues/1', { title: 'second' });

    const [delivery] = await arrived();
    expect(delivery?.payload).toMatchObject({
      number: 1,
      issue: { title: 'second' },
      changes: { title: { from: 'first' }, added_labels: null, removed_labels: null },
      repository: { full_name: repository },
      sender: {
        login: ada.name,
        active: false,
        email: expect.stringMatching(`^\\d+\\+${ada.name}@noreply.localhost$`),
      },
    });
    expect(parseEvent('issues', delivery?.payload)).toMatchObject({ activity: 'edited', family: 'issues' });
  });

  it.each([
    ['an edit without changes', 'PATCH', '/issues/1', { title: 'first', body: 'text', state: 'open' }],
    ['a due date', 'PATCH', '/issues/1', { due_date: '2030-01-01T00:00:00Z' }],
    ['a label of the repository', 'POST', '/labels', { name: 'x', color: 'fff' }],
    ['a milestone of the repository', 'POST', '/milestones', { title: 'x' }],
    ['a setting of the repository', 'PATCH', '', { has_wiki: false }],
  ])('is nothing for %s', async (_, method, path, body) => {
    await ask(method, path, body);
    await ask('POST', '/issues/1/comments', { body: 'the end' });

    expect(await heard()).toEqual(['issue_comment created']);
  });

  it('contains a comment before and after an edit, and a deleted comment', async () => {
    const { id } = (await ask('POST', '/issues/1/comments', { body: 'one' })).json;
    await ask('PATCH', `/issues/comments/${id}`, { body: 'one' });
    await ask('PATCH', `/issues/comments/${id}`, { body: 'two' });
    await ask('DELETE', `/issues/comments/${id}`);

    const deliveries = await arrived();
    const shown = deliveries.map(({ payload }) => [
      payload.action,
      payload.comment.body,
      payload.changes?.body?.from,
    ]);
    expect(shown.sort()).toEqual([
      ['created', 'one', undefined],
      ['deleted', 'two', undefined],
      ['edited', 'two', 'one'],
    ]);
  });

  it('reaches the owner when repositories are created and deleted', async () => {
    await listen('/user/hooks');

    const fresh = await forge.makeRepository(ada);
    await forge.ask('DELETE', `/repos/${fresh}`, { as: ada });

    expect(await heard()).toEqual(['repository created', 'repository deleted']);
  });

  it('is sent to every hook that subscribes: of the repository and of its owner', async () => {
    await listen('/user/hooks');
    await listen(`/repos/${repository}/hooks`);

    await ask('PATCH', '/issues/1', { state: 'closed' });

    expect(await heard()).toEqual(['issues closed', 'issues closed', 'issues closed']);
  });

  it("carries the authorization header of the hook until an edit omits it, and is signed with the hook's first secret", async () => {
    const config = { url: receiver.url, content_type: 'json', secret: 'first' };
    const hook = {
      type: 'gitea',
      config,
      events: ['issues_only'],
      active: true,
      authorization_header: 'Bearer x',
    };
    const { id } = (await ask('POST', '/hooks', hook)).json;
    const events = ['issues_only'];

    await ask('PATCH', '/issues/1', { title: 'second' });
    await forge.forge.deliveries.idle();
    await ask('PATCH', `/hooks/${id}`, { events, config: { secret: 'second' } });
    await ask('PATCH', '/issues/1', { title: 'third' });
    await forge.forge.deliveries.idle();

    const signed = receiver.received.filter(({ headers }) => headers['x-gitea-signature'] !== '');
    expect(signed.map(({ headers }) => headers.authorization)).toEqual(['Bearer x', undefined]);
    for (const { headers, body } of signed) {
      expect(headers['x-gitea-signature']).toBe(createHmac('sha256', 'first').update(body).digest('hex'));
    }
  });
});
