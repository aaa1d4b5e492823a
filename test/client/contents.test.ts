import { afterEach, expect, it } from 'vitest';
import { createClient } from '../../src/client/client.ts';
import { operations } from '../../src/contract/operations.ts';
import { type BareServer, json, startBareServer } from '../support/bare-server.ts';

let server: BareServer;
afterEach(() => server.close());

async function entriesFrom(answer: unknown) {
  server = await startBareServer((_request, response) => json(response, answer));
  const params = { owner: 'acme', repo: 'demo', filepath: 'docs' };
  return createClient({ url: server.url }).call(operations.getContents, { params });
}

const entry = { name: 'a.md', path: 'docs/a.md', type: 'file' } as const;
const at = '2026-11-20T14:08:24Z';

it.each([
  ['last_committer_date', 'of Gitea'],
  ['last_commit_when', 'of Forgejo'],
])("the date of an entry's last commit is read from %s, the field %s", async (member) => {
  const one = await entriesFrom({ ...entry, [member]: at });
  await server.close();
  const list = await entriesFrom([{ ...entry, [member]: at }]);

  expect(one).toMatchObject({ last_committer_date: at });
  expect(list).toMatchObject([{ last_committer_date: at }]);
});

it('an entry without a date of its last commit is accepted', async () => {
  expect(await entriesFrom(entry)).toEqual(entry);
});
