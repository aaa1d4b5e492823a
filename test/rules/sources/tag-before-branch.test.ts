import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type Client, createClient } from '../../../src/client/client.ts';
import type { RepositoryRef } from '../../../src/contract/events/subject.ts';
import { createFactMemory, createFacts } from '../../../src/facts/ask.ts';
import { systemClock } from '../../../src/platform/clock.ts';
import { readRepositoryRules } from '../../../src/rules/sources/repository-file.ts';
import { type FaultProxy, startFaultProxy } from '../../support/fault-proxy.ts';
import { granted } from '../../support/granted.ts';
import { addFile, type PrivilegeSetup, startPrivilegeForge } from '../../support/privilege-setup.ts';

const rulesThat = (label: string): string => `version: 1
rules:
  mark: { on: issues.opened, steps: [{ uses: set-labels, with: { add: [${label}] } }] }
`;
const good = rulesThat('good');
const evil = rulesThat('evil');

/**
 * Embedded forge that responds as other forges do when a tag with the name of the default branch was pushed. `kind`:
 * the forge resolves a name as a branch, then as a tag, then as a commit (Gitea since 1.24). `git`: like git, the forge
 * resolves a name as a tag first, but a full id as a commit (Forgejo, earlier Gitea). Observed on Gitea 1.26.3, 1.27
 * and Forgejo 15.0.3.
 */
type Forge = { readonly version: string; readonly looks: 'kind' | 'git'; readonly isForgejo?: true };
const certain: readonly Forge[] = [
  { version: '15.0.3+gitea-1.22.0', looks: 'git', isForgejo: true },
  { version: '1.23.8', looks: 'git' },
  { version: '1.24.0', looks: 'kind' },
  { version: '1.27.0+dev-1277-g9d3f04eb7e', looks: 'kind' },
];
/** Versions that do not reveal the order, because a build of a forge may have any release name. */
const uncertain: readonly Forge[] = [
  { version: '13.0.2', looks: 'git', isForgejo: true },
  { version: 'development', looks: 'git', isForgejo: true },
  { version: 'development', looks: 'kind' },
  { version: '2.0.0', looks: 'kind' },
];

let privilegeForge: Awaited<ReturnType<typeof startPrivilegeForge>>;
let setup: PrivilegeSetup;
let proxy: FaultProxy;
let forge: Forge;
/** Whether a branch has the id of the latest commit of the default branch as its name. */
let isNamed: boolean;
beforeEach(() => {
  isNamed = false;
});
beforeAll(async () => {
  privilegeForge = await startPrivilegeForge();
  setup = await privilegeForge.make({ access: 'admin', scopes: ['repository', 'issue'] });
  await addFile(setup.owner.client, setup.at, 'main', '.reeve.yml', good);
  proxy = await startFaultProxy(privilegeForge.url);
  proxy.decide = ({ path }) => {
    const url = new URL(path, proxy.url);
    if (url.pathname === '/api/v1/version') return answer({ version: forge.version });
    if (url.pathname === '/api/v1/settings/api' && forge.isForgejo) return answer({ max_response_items: 50 });
    if (isNamed && /\/branches\/[0-9a-f]{40}$/.test(url.pathname)) return answer({ name: 'x', commit: null });
    if (!url.pathname.endsWith('/.reeve.yml')) return { kind: 'pass' };
    const ref = url.searchParams.get('ref');
    const isCommit = /^[0-9a-f]{40}$/.test(ref ?? '');
    if (forge.looks === 'kind') {
      return file(ref === null || ref === 'main' || (isCommit && !isNamed) ? good : evil);
    }
    if (url.pathname.includes('/contents-ext/')) return { kind: 'answer', status: 404, body: '{}' };
    return file(ref === 'refs/heads/main' || isCommit ? good : evil);
  };
});
afterAll(async () => {
  await proxy.close();
  await privilegeForge.close();
});

const answer = (body: unknown) => ({ kind: 'answer', status: 200, body: JSON.stringify(body) }) as const;

function file(text: string) {
  const content = Buffer.from(text).toString('base64');
  const entry = { name: '.reeve.yml', path: '.reeve.yml', type: 'file', encoding: 'base64', content };
  return answer({ ...entry, file_contents: entry });
}

function clientOf(one: Forge): Client {
  forge = one;
  return createClient({ url: proxy.url, credentials: { token: setup.holder.token } });
}

async function rulesOn(one: Forge) {
  const { repository } = setup.subjects.repository as { repository: RepositoryRef };
  const { file: read } = await readRepositoryRules(clientOf(one), repository, granted(['set-labels']));
  return { problems: read.problems, steps: JSON.stringify(read.rules.map(({ steps }) => steps)) };
}

describe.each([...certain, ...uncertain])(
  'a tag named like the default branch, on $version that resolves names by $looks',
  (one) => {
    it('provides no rules', async () => {
      const { problems, steps } = await rulesOn(one);

      expect(problems).toEqual([]);
      expect(steps).toContain('good');
    });

    it.each(['repository', 'pull_request', 'issue', 'branch'] as const)(
      'is not read for the file of a fact about a %s',
      async (kind) => {
        const branch = { ...setup.subjects.repository, kind: 'branch', ref: 'main' } as const;
        const subject = { ...setup.subjects, branch }[kind];
        const facts = createFacts({
          client: clientOf(one),
          subject,
          memory: createFactMemory(systemClock),
          clock: systemClock,
        });

        const found = await facts.ask({ name: 'contents', argument: '.reeve.yml' });

        expect(found).toMatchObject({ content: good });
      },
    );
  },
);

it('a tag that was created is read by its own name, never as a branch', async () => {
  const client = clientOf({ version: '15.0.3+gitea-1.22.0', looks: 'git', isForgejo: true });
  const subject = { ...setup.subjects.repository, kind: 'branch', ref: 'v1', isTag: true } as const;
  const facts = createFacts({ client, subject, memory: createFactMemory(systemClock), clock: systemClock });

  await facts.ask({ name: 'contents', argument: '.reeve.yml' });

  const refs = proxy.passed.map(({ path }) => new URL(path, proxy.url).searchParams.get('ref'));
  expect(refs.at(-1)).toBe('v1');
});

describe('a branch named like the latest commit of the default branch', () => {
  it.each(certain)('provides no rules on $version', async (one) => {
    isNamed = true;
    const { problems, steps } = await rulesOn(one);

    expect(problems).toEqual([]);
    expect(steps).toContain('good');
  });

  it.each(uncertain)(
    'is reported and disables the rules on $version that resolves names by $looks',
    async (one) => {
      isNamed = true;
      const { problems, steps } = await rulesOn(one);

      expect(problems).toEqual([expect.stringContaining('a branch or tag has the id of the newest commit')]);
      expect(steps).toBe('[]');
    },
  );
});
