import { afterEach, expect, it } from 'vitest';
import { undoCreatePull } from '../../src/actions/inverses.ts';
import { createClient } from '../../src/client/client.ts';
import { type BareServer, json, startBareServer } from '../support/bare-server.ts';

let server: BareServer;
afterEach(() => server.close());

const user = { id: 9, login: 'reeve' };
const pull = (number: number, from: number) => ({
  id: number,
  number,
  state: 'open',
  title: 'x',
  user,
  head: { ref: 'promote', sha: 'a', repo_id: from, repo: null },
  base: { ref: 'main', sha: 'b', repo_id: 1, repo: null },
});
const after = { state: 'open' };
const change = {
  operation: 'pull.create',
  input: { params: { owner: 'acme', repo: 'site' }, body: { head: 'promote', base: 'main' } },
  target: 'pull',
  before: null,
  after,
};

it('undoing a pull request closes the one that Reeve opened, not one from a branch of the same name in a fork', async () => {
  server = await startBareServer((_request, response) =>
    json(response, [pull(99, 2), pull(30, 1)], 200, { 'x-total-count': '2' }),
  );

  const { value, undo } = await undoCreatePull(change, createClient({ url: server.url }));

  expect(value).toBe(after);
  expect(undo()).toMatchObject({ input: { params: { index: 30 }, body: { state: 'closed' } } });
});

it('undoing a pull request finds nothing to close if only a fork has one', async () => {
  server = await startBareServer((_request, response) =>
    json(response, [pull(99, 2)], 200, { 'x-total-count': '1' }),
  );

  expect((await undoCreatePull(change, createClient({ url: server.url }))).value).toBeNull();
});
