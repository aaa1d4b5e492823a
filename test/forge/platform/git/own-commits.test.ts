import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { listOwnCommits } from '../../../../src/forge/platform/git/history.ts';
import { listRefs } from '../../../../src/forge/platform/git/refs.ts';
import { createGitStore, type GitStore } from '../../../../src/forge/platform/git/store.ts';
import { isThorough } from '../../../support/figure.ts';

type Commit = { readonly parents: readonly number[]; readonly at: number };
/** Random histories: commits whose parents are earlier commits, and the heads of the branches. */
const histories = fc
  .tuple(
    fc.array(fc.record({ parents: fc.array(fc.nat(), { maxLength: 2 }), at: fc.nat(20) }), {
      minLength: 1,
      maxLength: 30,
    }),
    fc.array(fc.nat(), { minLength: 1, maxLength: 8 }),
  )
  .map(([drawn, heads]) => ({
    commits: drawn.map(
      ({ parents, at }, index): Commit => ({
        parents: index === 0 ? [] : [...new Set(parents.map((parent) => parent % index))],
        at: 1_700_000_000 + at,
      }),
    ),
    heads: heads.map((head) => head % drawn.length),
  }));

describe.runIf(isThorough)('commits that only one branch contains', () => {
  let folder: string;
  let store: GitStore;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'own-commits-'));
    store = createGitStore(folder);
  });
  afterAll(() => {
    store.close();
    rmSync(folder, { recursive: true, force: true });
  });

  it('are listed as git lists them for each branch separately', { timeout: 300_000 }, async () => {
    let id = 0;
    await fc.assert(
      fc.asyncProperty(histories, fc.nat(), async ({ commits, heads }, some) => {
        id += 1;
        await store.create(id, { defaultBranch: 'main', objectFormat: 'sha1' });
        const repository = store.open(id);
        const git = (args: readonly string[], input = ''): string =>
          execFileSync('git', args, { cwd: repository.folder, input, encoding: 'utf8' });
        const stream = commits.map(
          ({ parents: [first, ...more], at }, index) =>
            `commit refs/keep/all\nmark :${index + 1}\ncommitter A <a@b> ${at} +0000\ndata 0\n${
              first === undefined ? '' : `from :${first + 1}\n`
            }${more.map((parent) => `merge :${parent + 1}\n`).join('')}\n`,
        );
        const resets = heads.map((head, at) => `reset refs/heads/b${at}\nfrom :${head + 1}\n\n`);
        // A root commit must be marked as a root, or it would continue from the previous commit.
        const fresh = stream.map((text, at) =>
          commits[at]?.parents.length === 0 ? `reset refs/keep/all\n${text}` : text,
        );
        git(['fast-import', '--quiet', '--force'], [...fresh, ...resets].join(''));
        const all = await listRefs(repository, ['refs/heads']);
        const asked = all.slice(0, 1 + (some % all.length));

        const own = await listOwnCommits(repository, asked, 4);

        for (const { name, id: tip } of asked) {
          const branch = name.slice('refs/heads/'.length);
          const without = ['--not', `--exclude=${branch}`, '--branches'];
          const alone = new Set(git(['rev-list', tip, ...without]).split('\n'));
          const newest = git(['rev-list', '--max-count=4', tip]).split('\n').filter(Boolean);
          const end = newest.findIndex((commit) => !alone.has(commit));
          const expected = end === -1 ? newest : newest.slice(0, end);
          expect([name, (own.get(name) ?? []).map((commit) => commit.id)]).toEqual([name, expected]);
        }
      }),
      { numRuns: 40 },
    );
  });
});
