import { afterEach, expect, it } from 'vitest';
import { createClient } from '../../src/client/client.ts';
import { createFactMemory, createFacts } from '../../src/facts/ask.ts';
import { systemClock } from '../../src/platform/clock.ts';
import { type BareServer, json, startBareServer } from '../support/bare-server.ts';

let server: BareServer;
afterEach(() => server.close());

/** Returns the ref with which the file is requested from a forge of this version. */
async function refAsked(version: string, argument: string): Promise<string | null> {
  let asked: string | null = 'nothing';
  server = await startBareServer(({ path }, response) => {
    const url = new URL(path, 'http://forge');
    if (url.pathname.endsWith('/version')) return json(response, { version });
    if (url.pathname.endsWith('/templates'))
      return json(response, {
        id: 1,
        name: 'templates',
        full_name: 'acme/templates',
        owner: { id: 2, login: 'acme' },
        default_branch: 'trunk',
      });
    asked = url.searchParams.get('ref');
    json(response, {
      name: 'ci.yml',
      path: 'ci.yml',
      type: 'file',
      size: 1,
      encoding: 'base64',
      content: 'YQ==',
    });
  });
  const client = createClient({ url: server.url });
  const subject = { kind: 'repository', repository: { id: 1, owner: 'acme', name: 'site' } } as const;
  const facts = createFacts({ client, subject, memory: createFactMemory(systemClock), clock: systemClock });
  await facts.ask({ name: 'file_of', argument });
  return asked;
}

const [forgejo, gitea] = ['15.0.3+gitea-1.22.0', '1.27.0'];
const commit = 'c'.repeat(40);

// On a forge that resolves tags first, a pushed tag `main` could replace the content of the branch.
it.each([
  ['a branch by its full ref', forgejo, '@main', 'refs/heads/main'],
  ['the default branch by its full ref', forgejo, '', 'refs/heads/trunk'],
  ['a tag by its full ref', forgejo, '@refs/tags/v1', 'refs/tags/v1'],
  ['a commit by its id', forgejo, `@${commit}`, commit],
  ['a branch by its name', gitea, '@main', 'main'],
  ['the default branch without a ref', gitea, '', null],
])('file_of requests %s from forge version %s', async (_title, version, ref, expected) => {
  expect(await refAsked(version, `acme/templates:ci.yml${ref}`)).toBe(expected);
});
