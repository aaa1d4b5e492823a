import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Account, describeContract } from '../support/contract-forge.ts';
import { type HookReceiver, startReceiver } from '../support/hook-receiver.ts';

describeContract('test deliveries', (forge) => {
  let ada: Account;
  let writer: Account;
  let repository: string;
  let receiver: HookReceiver;
  let path: string;
  beforeAll(async () => {
    receiver = await startReceiver();
    [ada, writer] = await Promise.all([forge.makeUser(), forge.makeUser()]);
    repository = await forge.makeRepository(ada, { auto_init: true });
    await forge.share(repository, ada, { with: writer, permission: 'write' });
    const config = { url: receiver.url, content_type: 'json' };
    const body = { type: 'gitea', config, events: ['push'], active: true };
    const hook = await forge.ask('POST', `/repos/${repository}/hooks`, { as: ada, body });
    path = `/repos/${repository}/hooks/${hook.json.id}/tests`;
  });
  afterAll(async () => {
    await receiver.close();
  });

  it('are a sample push of the head of a ref', async () => {
    const head = await forge.ask('GET', `/repos/${repository}/branches/main`, { as: ada });

    const plain = await forge.ask('POST', path, { as: ada });
    const named = await forge.ask('POST', `${path}?ref=main`, { as: ada });

    expect([plain.status, plain.text, named.status]).toEqual([204, '', 204]);
    await expect.poll(() => receiver.received.length).toBe(2);
    const pushes = receiver.payloads('push');
    expect(pushes.map(({ ref }) => ref).sort()).toEqual(['main', 'refs/heads/main']);
    const { id } = head.json.commit;
    expect(pushes[0]).toMatchObject({
      before: id,
      after: id,
      total_commits: 1,
      commits: [{ id, added: null }],
    });
  });

  it('are refused for an unknown hook or an empty repository, and use the default branch if the ref is unknown', async () => {
    const empty = await forge.makeRepository(ada);
    const config = { url: receiver.url, content_type: 'json' };
    const body = { type: 'gitea', config };
    const hook = await forge.ask('POST', `/repos/${empty}/hooks`, { as: ada, body });

    const answers = [
      await forge.ask('POST', `/repos/${repository}/hooks/987654321/tests`, { as: ada }),
      await forge.ask('POST', `${path}?ref=nowhere`, { as: ada }),
      await forge.ask('POST', `/repos/${empty}/hooks/${hook.json.id}/tests`, { as: ada }),
    ];

    expect(answers.map(({ status }) => status)).toEqual([404, 204, 404]);
  });

  it('require an administrator of the repository', async () => {
    expect((await forge.ask('POST', path, { as: writer })).status).toBe(403);
    expect((await forge.ask('POST', path)).status).toBe(401);
  });
});
