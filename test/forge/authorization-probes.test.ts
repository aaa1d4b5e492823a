import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Operation } from '../../src/contract/operation.ts';
import { operations } from '../../src/contract/operations.ts';
import { type Account, basic, startEmbedded } from '../support/contract-forge.ts';
import { type HiddenData, makeHiddenData } from '../support/hidden-data.ts';

/** Each caller requests every tenth path of an operation, from a different start. `LONG=1` requests all paths. */
const step = process.env.LONG ? 1 : 10;
const reads = Object.values<Operation>(operations).filter(({ method }) => method === 'GET');

describe('every API read by every caller', { timeout: 600_000 }, () => {
  let forge: Awaited<ReturnType<typeof startEmbedded>>;
  let setup: HiddenData;
  beforeAll(async () => {
    forge = await startEmbedded();
    setup = await makeHiddenData(forge);
  });
  afterAll(() => forge.close());

  /** Returns the paths of an operation, one for each combination of parameter values. */
  function pathsOf({ path }: Operation): string[] {
    const isInRepository = path.includes('{owner}/{repo}');
    let paths = isInRepository
      ? (setup.parameters['owner/repo'] ?? []).map((place) => path.replace('{owner}/{repo}', place))
      : [path];
    for (const [, name = ''] of path.matchAll(/\{(\w+)\*?\}/g)) {
      const values = setup.parameters[name] ?? ['1'];
      paths = paths.flatMap((one) => {
        const isThere = one.includes(`{${name}`);
        return isThere ? values.map((value) => one.replace(new RegExp(`\\{${name}\\*?\\}`), value)) : [one];
      });
    }
    return paths;
  }

  it('A6: reveals hidden names, repositories and addresses to no unauthorized caller', async () => {
    const leaks = new Set<string>();
    const statuses = new Map<number, number>();
    for (const [number, [caller, as]] of [...setup.callers].entries()) {
      if (caller === 'root') continue;
      const hidden = setup.canaries.filter(({ seenBy }) => !seenBy.includes(caller));
      for (const operation of reads) {
        const paths = pathsOf(operation).filter((_path, at) => (at + number) % step === 0);
        const answers = await Promise.all(
          paths.map(async (path) => [path, await forge.ask('GET', path, { as })] as const),
        );
        for (const [path, { status, text }] of answers) {
          statuses.set(status, (statuses.get(status) ?? 0) + 1);
          // Names that the caller sent may appear in a refusal.
          const leaked = status < 300 ? hidden.filter((canary) => text.includes(canary.text)) : [];
          for (const canary of leaked) leaks.add(`${caller} reads ${canary.text} at ${operation.id} ${path}`);
          if (status >= 500) leaks.add(`${caller} gets ${status} at ${path}`);
        }
      }
    }

    expect([...leaks]).toEqual([]);
    // The probes reach accessible resources, instead of all failing at an access check.
    expect(statuses.get(200)).toBeGreaterThan(2_000 / step);
    expect([...statuses.values()].reduce((sum, count) => sum + count, 0)).toBeGreaterThan(15_000 / step);
  });

  it('A6: reveals hidden data to authorized callers', async () => {
    for (const { text, seenBy } of setup.canaries) {
      for (const caller of [...seenBy, 'root']) {
        const as = setup.callers.get(caller);
        const found = await findIn(text, as);
        expect([caller, text, found]).toEqual([caller, text, true]);
      }
    }
  });

  async function findIn(text: string, as: Account | string | undefined): Promise<boolean> {
    const words = ['users/hermit', 'users/shy', 'orgs/acme/teams', 'orgs', 'orgs/limitedorg/repos'];
    const repositories = (setup.parameters['owner/repo'] ?? []).map((place) => `repos/${place}`);
    const code = ['contents', 'branches'].map((part) => `repos/acme/vault/${part}?ref=branchofvault`);
    const raw = 'repos/acme/vault/raw/fileofvault.txt?ref=branchofvault';
    const commits = 'repos/acme/vault/pulls/2/commits';
    const kept = ['orgs/acme/actions/variables', 'repos/ada/site/actions/variables', 'packages/hiddenorg'];
    for (const path of [...words, ...kept, 'orgs/hiddenorg', ...repositories, ...code, raw, commits]) {
      const answer = await forge.ask('GET', `/${path}`, { as });
      if (answer.status === 200 && answer.text.includes(text)) return true;
    }
    return false;
  }

  it('A6: pages show no more than the API', async () => {
    const leaks: string[] = [];
    for (const [caller, as] of setup.callers) {
      if (caller === 'root' || typeof as === 'string') continue;
      const hidden = setup.canaries.filter(({ seenBy }) => !seenBy.includes(caller));
      const parts = ['', '/issues/1', '/pulls/2', '/pulls/2.diff', '/src/branch/branchofvault', '/releases'];
      const paths = (setup.parameters['owner/repo'] ?? []).flatMap((place) =>
        parts.map((part) => place + part),
      );
      for (const path of ['', ...paths]) {
        const headers = as ? basic(as.name, as.password) : {};
        const answer = await fetch(`${forge.url}/${path}`, { headers });
        const text = await answer.text();
        const leaked = answer.status === 200 ? hidden.filter((canary) => text.includes(canary.text)) : [];
        leaks.push(...leaked.map((canary) => `${caller} reads ${canary.text} at /${path}`));
      }
    }

    expect(leaks).toEqual([]);
  });
});
