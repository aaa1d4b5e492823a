import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Client, createClient } from '../../src/client/client.ts';
import { createFactMemory, createFacts } from '../../src/facts/ask.ts';
import { readRepositoryRules } from '../../src/sources/repository-file.ts';
import { type FaultProxy, startFaultProxy } from '../support/fault-proxy.ts';
import { addFile, startWorlds, type World } from '../support/world.ts';

const rulesThat = (label: string): string => `version: 1
rules:
  mark: { on: issues.opened, steps: [{ uses: set-labels, with: { add: [${label}] } }] }
`;
const good = rulesThat('good');
const evil = rulesThat('evil');

/**
 * The embedded forge as it would answer where somebody pushed a tag with the name of the default branch, by the names that
 * Forgejo 15.0.3, Gitea before 1.24 and Gitea since then were seen to read: `evil` is what that tag holds.
 */
let worlds: Awaited<ReturnType<typeof startWorlds>>;
let world: World;
let proxy: FaultProxy;
let version = '';
beforeAll(async () => {
  worlds = await startWorlds();
  world = await worlds.make({ access: 'admin', scopes: ['repository', 'issue'] });
  await addFile(world.owner.client, world.at, 'main', '.reeve.yml', good);
  proxy = await startFaultProxy(worlds.url);
  proxy.decide = ({ path }) => {
    const url = new URL(path, proxy.url);
    if (url.pathname === '/api/v1/version') return answer({ version });
    if (!url.pathname.endsWith('/.reeve.yml')) return { kind: 'pass' };
    const ref = url.searchParams.get('ref');
    const looksByKind = version.startsWith('1.2') && Number(version.split('.')[1]) >= 24;
    if (looksByKind) return ref === null || ref === 'main' ? file(good) : file(evil);
    if (url.pathname.includes('/contents-ext/')) return { kind: 'answer', status: 404, body: '{}' };
    const isBranch = ref === 'refs/heads/main' || /^[0-9a-f]{40}$/.test(ref ?? '');
    return file(isBranch ? good : evil);
  };
}, 30_000);
afterAll(async () => {
  await proxy.close();
  await worlds.close();
});

const answer = (body: unknown) => ({ kind: 'answer', status: 200, body: JSON.stringify(body) }) as const;

function file(text: string) {
  const content = Buffer.from(text).toString('base64');
  const entry = { name: '.reeve.yml', path: '.reeve.yml', type: 'file', encoding: 'base64', content };
  return answer({ ...entry, file_contents: entry });
}

function clientAs(told: string): Client {
  version = told;
  return createClient({ url: proxy.url, credentials: { token: world.holder.token } });
}

describe.each(['15.0.3+gitea-1.22.0', '1.23.8', '1.24.0', '1.27.0'])(
  'a tag named like the default branch, on %s',
  (told) => {
    it('gives no rules', async () => {
      const { repository } = world.subjects.repository;
      if (!repository) throw new Error('a world has a repository');

      const { file: read } = await readRepositoryRules(clientAs(told), repository, ['set-labels']);

      expect(read.problems).toEqual([]);
      expect(JSON.stringify(read.rules.map(({ steps }) => steps))).toContain('good');
    });

    it.each(['repository', 'pull_request', 'issue'] as const)(
      'is no file of a fact about a %s',
      async (kind) => {
        const nowMs = () => performance.now();
        const client = clientAs(told);
        const memory = createFactMemory(nowMs);
        const facts = createFacts({ client, subject: world.subjects[kind], memory, nowMs });

        const found = await facts.ask({ name: 'contents', argument: '.reeve.yml' });

        expect(found).toMatchObject({ content: good });
      },
    );
  },
);
