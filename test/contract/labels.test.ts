import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type Account, describeContract } from '../support/contract-forge.ts';

describeContract('labels', (forge) => {
  let ada: Account;
  let organization: string;
  let repository: string;
  beforeAll(async () => {
    ada = await forge.makeUser();
    organization = await forge.makeOrganization(ada);
  });
  beforeEach(async () => {
    repository = await forge.makeRepository(ada, { in: organization });
  });

  const ask = (method: string, path: string, body?: unknown) =>
    forge.ask(method, `/repos/${repository}${path}`, { as: ada, body });
  async function make(name: string, more: object = {}): Promise<number> {
    return (await ask('POST', '/labels', { name, color: '#123456', ...more })).json.id;
  }
  const namesOf = (labels: { name: string }[]) => labels.map((label) => label.name);

  describe('of a repository', () => {
    it.each([
      ['#0052cc', '0052cc'],
      ['0052CC', '0052cc'],
      ['#f0A', 'ff00aa'],
      ['abc', 'aabbcc'],
    ])('store the color %s as %s', async (color, kept) => {
      const answer = await ask('POST', '/labels', { name: 'x', color });

      expect([answer.status, answer.json.color]).toEqual([201, kept]);
    });

    it.each(['red', '#12345', '12 345', '#gggggg'])('refuse the color %s', async (color) => {
      expect((await ask('POST', '/labels', { name: 'x', color })).status).toBe(422);
    });

    it('may have duplicate names', async () => {
      const first = await make('same');
      const second = await make('same');

      expect(second).not.toBe(first);
    });

    it.each([
      ['', ['a', 'b', 'c']],
      ['?sort=reversealphabetically', ['c', 'b', 'a']],
      ['?sort=mostissues', ['b', 'c', 'a']],
      ['?sort=leastissues', ['a', 'c', 'b']],
    ])('are sorted by the query "%s"', async (query, names) => {
      for (const name of ['c', 'a', 'b']) await make(name);
      for (const labels of [['b'], ['b', 'c']]) {
        const issue = await ask('POST', '/issues', { title: 'i' });
        await ask('PUT', `/issues/${issue.json.number}/labels`, { labels });
      }

      // Some forges count in the background.
      await expect.poll(async () => namesOf((await ask('GET', `/labels${query}`)).json)).toEqual(names);
    });

    it('are found by id, and by a name that is not a number', async () => {
      const id = await make('kind/bug');

      const byId = await ask('GET', `/labels/${id}`);
      const byName = await ask('GET', `/labels/${encodeURIComponent('kind/bug')}`);
      const unknown = await ask('GET', '/labels/nothing');

      expect([byId.json.id, byName.json.id, unknown.status]).toEqual([id, id, 404]);
    });

    it('are un-archived by an edit that omits `is_archived`', async () => {
      const id = await make('old', { is_archived: true });

      const kept = await ask('PATCH', `/labels/${id}`, { is_archived: true, description: 'd' });
      const reset = await ask('PATCH', `/labels/${id}`, { color: 'fff' });

      expect([kept.json.is_archived, reset.json.is_archived]).toEqual([true, false]);
      expect(reset.json).toMatchObject({ name: 'old', description: 'd', color: 'ffffff' });
    });

    it('return 404 for an edit of an unknown label, and 204 for its deletion', async () => {
      const edit = await ask('PATCH', '/labels/999999999', { name: 'x' });
      const removal = await ask('DELETE', '/labels/999999999');

      expect([edit.status, removal.status]).toEqual([404, 204]);
    });

    it('are removed from their issues when they are deleted', async () => {
      const id = await make('gone');
      const issue = await ask('POST', '/issues', { title: 'i', labels: [id] });

      await ask('DELETE', `/labels/${id}`);

      expect((await ask('GET', `/issues/${issue.json.number}`)).json.labels).toEqual([]);
    });

    it('do not include labels of the organization', async () => {
      await forge.ask('POST', `/orgs/${organization}/labels`, {
        as: ada,
        body: { name: 'everywhere', color: 'fff' },
      });
      await make('own');

      const own = await ask('GET', '/labels');
      const shared = await forge.ask('GET', `/orgs/${organization}/labels`, { as: ada });

      expect(namesOf(own.json)).toEqual(['own']);
      expect(namesOf(shared.json)).toContain('everywhere');
    });

    it('can be changed even in an archived repository', async () => {
      const id = await make('x');
      await ask('PATCH', '', { archived: true });

      const made = await ask('POST', '/labels', { name: 'y', color: 'fff' });
      const edited = await ask('PATCH', `/labels/${id}`, { name: 'z' });
      const gone = await ask('DELETE', `/labels/${id}`);

      expect([made.status, edited.status, gone.status]).toEqual([201, 200, 204]);
    });
  });

  describe('of an issue', () => {
    let ids: Record<string, number>;
    beforeEach(async () => {
      ids = {};
      for (const name of ['bug', 'docs', 'size/s', 'size/m', 'size/l']) {
        ids[name] = await make(name, { exclusive: name.startsWith('size/') });
      }
      await ask('POST', '/issues', { title: 'first' });
    });
    const labels = '/issues/1/labels';
    const put = (wanted: unknown) => ask('PUT', labels, { labels: wanted });

    it.each([
      ['names', () => ['docs', 'bug'], ['bug', 'docs']],
      ['ids', () => [ids.docs, ids.bug], ['bug', 'docs']],
      ['unknown names', () => ['bug', 'nothing'], ['bug']],
      ['unknown ids', () => [ids.bug, 999_999_999], ['bug']],
      ['fractions of ids', () => [(ids.bug ?? 0) + 0.9], ['bug']],
      ['names in another letter case', () => ['BUG'], []],
      ['the same name twice', () => ['bug', 'bug'], ['bug']],
      ['nothing', () => [], []],
    ])('are replaced by %s', async (_, wanted, names) => {
      await put(['docs']);

      const answer = await put(wanted());

      expect([answer.status, namesOf(answer.json)]).toEqual([200, names]);
      expect(namesOf((await ask('GET', labels)).json)).toEqual(names);
    });

    it('are all removed if the list is missing', async () => {
      await put(['bug']);

      const answer = await ask('PUT', labels, {});

      expect([answer.status, answer.json]).toEqual([200, []]);
    });

    it.each([
      ['a mixture of ids and names', [1, 'bug'], 400],
      ['a list with a boolean', [true], 400],
      ['a list with null', [null], 400],
      ['a text in place of a list', 'bug', 422],
    ])('reject %s', async (_, wanted, status) => {
      await put(['docs']);

      expect((await put(wanted)).status).toBe(status);
      expect(namesOf((await ask('GET', labels)).json)).toEqual(['docs']);
    });

    it('keep only the label that sorts last by name in an exclusive scope', async () => {
      const answer = await put(['size/s', 'size/l', 'size/m', 'bug']);

      expect(namesOf(answer.json)).toEqual(['bug', 'size/s']);
    });

    it('replace the labels of an exclusive scope when another one is added', async () => {
      await put(['size/s', 'bug']);

      const answer = await ask('POST', labels, { labels: ['size/l'] });

      expect(namesOf(answer.json)).toEqual(['bug', 'size/l']);
    });

    it('can be labels of the organization; a name that exists in both adds both labels', async () => {
      const shared = { name: 'bug', color: 'fff' };
      await forge.ask('POST', `/orgs/${organization}/labels`, { as: ada, body: shared });

      const answer = await put(['bug']);

      expect(namesOf(answer.json)).toEqual(['bug', 'bug']);
      expect(answer.json.map((label: { url: string }) => label.url.includes('/orgs/')).sort()).toEqual([
        false,
        true,
      ]);
    });

    it('ignore ids of another repository', async () => {
      const other = await forge.makeRepository(ada);
      const foreign = await forge.ask('POST', `/repos/${other}/labels`, {
        as: ada,
        body: { name: 'x', color: 'fff' },
      });

      expect((await put([foreign.json.id])).json).toEqual([]);
    });

    it('are removed one by one, with 204 even if the issue does not have the label', async () => {
      await put(['bug']);

      const carried = await ask('DELETE', `${labels}/${ids.bug}`);
      const again = await ask('DELETE', `${labels}/${ids.bug}`);
      const unknown = await ask('DELETE', `${labels}/999999999`);

      expect([carried.status, again.status]).toEqual([204, 204]);
      expect([404, 422]).toContain(unknown.status);
    });

    it('are removed all at once', async () => {
      await put(['bug', 'docs']);

      expect((await ask('DELETE', labels)).status).toBe(204);
      expect((await ask('GET', labels)).json).toEqual([]);
    });

    it('return 404 for an unknown issue', async () => {
      const answers = await Promise.all([
        ask('GET', '/issues/99/labels'),
        ask('PUT', '/issues/99/labels', { labels: [] }),
        ask('POST', '/issues/99/labels', { labels: [] }),
        ask('DELETE', '/issues/99/labels'),
      ]);

      expect(answers.map((answer) => answer.status)).toEqual([404, 404, 404, 404]);
    });

    it('can be replaced even in an archived repository', async () => {
      await ask('PATCH', '', { archived: true });

      expect((await put(['bug'])).status).toBe(200);
    });
  });
});
