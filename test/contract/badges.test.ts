import { expect, it } from 'vitest';
import { describeContract } from '../support/contract-forge.ts';

describeContract('badges', (forge) => {
  it('are granted to and removed from accounts by administrators', async () => {
    const ada = await forge.makeUser();
    const path = `/admin/users/${ada.name}/badges`;
    const as = forge.adminToken;
    const body = { badge_slugs: ['no-such-badge'] };

    const list = await forge.ask('GET', path, { as });
    expect([list.status, list.json, list.headers.get('x-total-count')]).toEqual([200, [], '0']);
    // Gitea returns 500.
    expect([404, 500]).toContain((await forge.ask('POST', path, { as, body })).status);
    expect((await forge.ask('DELETE', path, { as, body })).status).toBe(204);
    for (const method of ['GET', 'POST', 'DELETE'])
      expect(
        (await forge.ask(method, path, { as: ada, body: method === 'GET' ? undefined : body })).status,
      ).toBe(403);
    expect((await forge.ask('GET', '/admin/users/no-such-account/badges', { as })).status).toBe(404);
  });
});
