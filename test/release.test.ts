import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { provenanceOf } from '../scripts/release/pack.ts';
import {
  compareVersions,
  parseVersion,
  releaseNotes,
  unreleasedNotes,
  type Version,
  versionPlaces,
} from '../scripts/release/version.ts';
import { createScratchTree, type ScratchTree } from '../scripts/twins/scratch-tree.ts';
import { packageRoot } from '../src/platform/package.ts';
import { isThorough } from './support/figure.ts';

const { version: current } = JSON.parse(readFileSync(join(packageRoot, 'package.json'), 'utf8'));
const next = `${Number(current.split('.')[0]) + 1}.0.0`;

describe('versions', () => {
  it('are ordered according to semantic versioning', () => {
    const ordered = [
      '0.9.9',
      '1.0.0-alpha',
      '1.0.0-alpha.1',
      '1.0.0-alpha.beta',
      '1.0.0-beta.2',
      '1.0.0-beta.11',
    ];
    const versions = [...ordered, '1.0.0-rc.1', '1.0.0', '1.0.1', '1.10.0', '2.0.0'].map((text) =>
      parseVersion(text),
    ) as Version[];

    for (const [at, version] of versions.entries()) {
      const signs = versions.map((other) => Math.sign(compareVersions(version, other)));
      expect(signs).toEqual(versions.map((_, index) => Math.sign(at - index)));
    }
  });

  it.each(['1', '1.2', 'v1.2.3', '01.2.3', '1.2.3-01', '1.2.3+build', '1.2.3-', ''])(
    '%j is not a version',
    (text) => {
      expect(parseVersion(text)).toBeUndefined();
    },
  );
});

describe('the changelog', () => {
  const before =
    '# Changelog\n\n## Unreleased\n\n### Added\n\n- One.\n\n### Fixed\n\n## 0.1.0 - 2026-01-02\n\n- Old.\n';

  it('gets a section for the version, without empty parts, below a new empty section', () => {
    expect(releaseNotes(before, '0.2.0', '2026-03-04')).toBe(
      '# Changelog\n\n## Unreleased\n\n## 0.2.0 - 2026-03-04\n\n### Added\n\n- One.\n\n## 0.1.0 - 2026-01-02\n\n- Old.\n',
    );
  });

  it('has nothing to release if its unreleased section contains only headings', () => {
    expect(unreleasedNotes(before.replace('- One.\n', ''))).toBe('');
    expect(() => unreleasedNotes('# Changelog\n')).toThrow('no section');
  });
});

it('a release sets the version in every file that contains it', () => {
  const tracked = execFileSync('git', ['ls-files', '-z'], { cwd: packageRoot, encoding: 'utf8' }).split('\0');
  const others = /^(test|dist)\/|^CHANGELOG\.md$|\.png$|^$/;
  const version = new RegExp(`(?<![\\d.])${current.replaceAll('.', '\\.')}(?![\\d.]*\\d)`);
  const found = tracked.filter(
    (path) => !others.test(path) && version.test(readFileSync(join(packageRoot, path), 'utf8')),
  );

  expect(found.toSorted()).toEqual(versionPlaces.map(({ path }) => path).toSorted());
});

it('the provenance is an in-toto statement with the SLSA predicate, and contains the commit and the digest', async () => {
  const statement = await provenanceOf({
    root: packageRoot,
    name: '@reeve-forge/reeve',
    version: '1.2.3',
    tarball: { path: '/somewhere.tgz', sha256: 'a'.repeat(64), sha512: 'b'.repeat(128) },
    commit: 'c'.repeat(40),
    repository: 'https://git.example.org/reeve/reeve.git',
    npm: '11.0.0',
    startedAt: new Date('2026-01-02T03:04:05.678Z'),
    finishedAt: new Date('2026-01-02T03:05:05.678Z'),
  });

  expect(statement).toMatchObject({
    _type: 'https://in-toto.io/Statement/v1',
    subject: [{ name: 'pkg:npm/%40reeve-forge/reeve@1.2.3', digest: { sha256: 'a'.repeat(64) } }],
    predicateType: 'https://slsa.dev/provenance/v1',
    predicate: {
      buildDefinition: {
        resolvedDependencies: [
          {
            uri: 'git+https://git.example.org/reeve/reeve.git@refs/tags/v1.2.3',
            digest: { gitCommit: 'c'.repeat(40) },
          },
          { uri: 'package-lock.json', digest: { sha256: expect.stringMatching(/^[0-9a-f]{64}$/) } },
        ],
      },
      runDetails: { metadata: { startedOn: '2026-01-02T03:04:05Z', finishedOn: '2026-01-02T03:05:05Z' } },
    },
  });
});

describe.runIf(isThorough)('the release script, in a clone', () => {
  let tree: ScratchTree;
  const git = (...args: readonly string[]): string =>
    execFileSync('git', args, { cwd: tree.folder, encoding: 'utf8' }).trim();
  const release = (...args: readonly string[]) => tree.run(process.execPath, ['scripts/release.ts', ...args]);
  const state = (): string => [git('rev-parse', 'HEAD'), git('tag'), git('status', '--porcelain')].join('\n');

  beforeAll(async () => {
    const signal = new AbortController().signal;
    tree = await createScratchTree(packageRoot, { temporary: tmpdir(), signal, timeoutMs: 600_000 });
    git('config', 'user.name', 'Ada');
    git('config', 'user.email', 'ada@example.org');
    git('commit', '--quiet', '--message', 'everything');
    git('branch', '--move', '--force', 'main');
  });
  afterAll(() => tree.remove());

  it('reports all obstacles at once, and changes nothing', async () => {
    git('tag', `v${current}`);
    git('checkout', '--quiet', '-b', 'work');
    writeFileSync(join(tree.folder, 'CHANGELOG.md'), '# Changelog\n\n## Unreleased\n\n### Added\n');
    const before = state();

    const { status, tail } = await release('--version', current);

    expect(status).toBe(1);
    expect(tail).toContain('has changes that are not committed: CHANGELOG.md');
    expect(tail).toContain('The branch is work');
    expect(tail).toContain(`The tag v${current} exists`);
    expect(tail).toContain(`${current} is not greater`);
    expect(tail).toContain('Unreleased of CHANGELOG.md is empty');
    expect(state()).toBe(before);
    expect((await release('--version', '0.0.1')).tail).toContain('0.0.1 is not greater');
    expect((await release('--version', 'next')).tail).toContain('next is no version');
    expect(await release()).toMatchObject({ status: 2, tail: expect.stringContaining('usage') });
    git('checkout', '--quiet', '--', '.');
    git('checkout', '--quiet', 'main');
    git('tag', '--delete', `v${current}`);
  });

  it('makes the same release as its dry run, and pushes nothing', async () => {
    const before = state();
    const dry = await release('--version', next, '--dry-run');
    expect([dry.status, dry.tail]).toEqual([0, expect.stringContaining('dry run')]);
    expect(state()).toBe(before);

    const { status, tail } = await release('--version', next);

    expect([status, tail]).toEqual([0, expect.stringContaining(`git push --atomic origin main v${next}`)]);
    const [file = ''] = /dist\/release\/\S+\.tgz/.exec(tail) ?? [];
    const digest = createHash('sha256')
      .update(readFileSync(join(tree.folder, file)))
      .digest('hex');
    expect([dry.tail, tail]).toEqual([expect.stringContaining(digest), expect.stringContaining(digest)]);
    expect(tail).toContain(`npm publish ${file}`);
    expect(git('status', '--porcelain')).toBe('');
    expect(git('cat-file', '-t', `v${next}`)).toBe('tag');
    expect(git('rev-parse', `v${next}^{}`)).toBe(git('rev-parse', 'main'));
    expect(git('tag', '--list', '--format=%(contents)', `v${next}`)).toMatch(
      new RegExp(`^Reeve ${next}\n\n.*\nsha256 ${digest}\n\n### \\w+`),
    );
    for (const { path } of versionPlaces)
      expect(readFileSync(join(tree.folder, path), 'utf8')).toContain(next);
    const provenance = JSON.parse(
      readFileSync(join(tree.folder, file.replace(/\.tgz$/, '.provenance.json')), 'utf8'),
    );
    expect(provenance.subject[0].digest.sha256).toBe(digest);
    expect(provenance.predicate.buildDefinition.resolvedDependencies[0].digest.gitCommit).toBe(
      git('rev-parse', 'main'),
    );
    expect((await release('--version', next)).tail).toContain(`The tag v${next} exists`);
  });
});
