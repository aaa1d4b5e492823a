import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { packageRoot } from '../src/platform/package.ts';

type Step = {
  readonly name?: string;
  readonly run?: string;
  readonly uses?: string;
  readonly if?: string;
  readonly with?: Readonly<Record<string, string>>;
};
type Job = {
  readonly 'timeout-minutes': number;
  readonly strategy?: {
    readonly 'fail-fast': boolean;
    readonly matrix: { readonly shard: readonly number[] };
  };
  readonly steps: readonly Step[];
};
type Workflow = {
  readonly on: {
    readonly schedule: readonly { readonly cron: string }[];
    readonly workflow_dispatch: unknown;
  };
  readonly defaults: unknown;
  readonly jobs: Readonly<Record<string, Job>>;
};

const paths = ['.gitea/workflows/nightly.yml', '.github/workflows/nightly.yml'] as const;
const load = (path: string): Workflow => parse(readFileSync(join(packageRoot, path), 'utf8'));
const [gitea, github] = paths.map(load);

/**
 * Returns the steps of a workflow without the versions of actions, because different forges may need different
 * versions.
 */
const withoutVersions = (workflow: Workflow | undefined): unknown =>
  JSON.parse(JSON.stringify(workflow).replaceAll(/("uses":"[^"@]+)@[^"]+/g, '$1'));

describe('the nightly workflows of Gitea and GitHub', () => {
  it('do the same', () => {
    expect(withoutVersions(gitea)).toEqual(withoutVersions(github));
  });
});

describe.each(paths)('%s', (path) => {
  const workflow = load(path);
  const jobs = Object.entries(workflow.jobs);
  const commands = jobs.flatMap(([, { steps }]) => steps.flatMap(({ run }) => run ?? []));

  it('starts every night and on demand', () => {
    expect(workflow.on.schedule).toEqual([{ cron: expect.stringMatching(/^\d+ \d+ \* \* \*$/) }]);
    expect(workflow.on).toHaveProperty('workflow_dispatch');
  });

  it('runs everything that takes too long for every change', () => {
    const scripts = commands.flatMap((run) => /npm run (?:--silent )?([\w:]+)/.exec(run)?.[1] ?? []);

    expect([...new Set(scripts)].toSorted()).toEqual([
      'bench',
      'check',
      'crash',
      'mutation',
      'prove',
      'soak',
      'test:long',
      'twins',
    ]);
    const crashes = commands.filter((run) => run.includes('npm run crash'));
    expect(crashes.map((run) => run.includes('--store postgres'))).toEqual([false, true, true, true]);
  });

  it('uses only scripts that package.json contains', () => {
    const { scripts } = JSON.parse(readFileSync(join(packageRoot, 'package.json'), 'utf8'));
    const named = commands.flatMap((run) => [...run.matchAll(/npm run (?:--silent )?([\w:]+)/g)]);

    expect(named.map(([, name = '']) => name).filter((name) => !(name in scripts))).toEqual([]);
  });

  it('runs every shard of a job, and does not stop at the first failure', () => {
    const sharded = jobs.filter(([, { steps }]) => steps.some(({ run = '' }) => run.includes('shard')));
    expect(sharded.map(([name]) => name).toSorted()).toEqual(['long', 'twins']);
    for (const [name, { strategy, steps }] of sharded) {
      const [, parts] =
        /shard[= ]\$\{\{ matrix\.shard \}\}\/(\d+)/.exec(steps.map(({ run }) => run).join(' ')) ?? [];
      const shards = Array.from({ length: Number(parts) }, (_, index) => index + 1);
      expect([name, strategy]).toEqual([name, { 'fail-fast': false, matrix: { shard: shards } }]);
    }
  });

  it('fails if a step fails, and has a timeout', () => {
    // The shell has pipefail, so that `| tee` does not hide an exit status.
    expect(workflow.defaults).toEqual({ run: { shell: 'bash' } });
    expect(JSON.stringify(workflow)).not.toContain('continue-on-error');
    for (const run of commands) expect(run).not.toMatch(/\|\| *(true|:)/);
    for (const [, job] of jobs) expect(job['timeout-minutes']).toBeGreaterThan(0);
  });

  it('keeps the output of each job, even if the job failed', () => {
    for (const [name, { steps }] of jobs) {
      const file = steps.flatMap(({ run = '' }) => /tee (\S+)/.exec(run)?.[1] ?? [])[0];
      const kept = steps.filter(({ uses = '' }) => uses.includes('upload-artifact'));
      const expected =
        file === undefined
          ? []
          : [expect.objectContaining({ if: 'always()', with: { name: expect.any(String), path: file } })];
      expect([name, kept]).toEqual([name, expected]);
    }
  });

  it('pins each action to a commit or a major version', () => {
    const uses = jobs.flatMap(([, { steps }]) => steps.flatMap((step) => step.uses ?? []));

    expect(uses.filter((name) => !/^actions\/[\w-]+@([0-9a-f]{40}|v\d+)$/.test(name))).toEqual([]);
  });
});

describe('the release workflows of Gitea and GitHub', () => {
  const [onGitea = '', onGithub = ''] = ['.gitea', '.github'].map((folder) =>
    readFileSync(join(packageRoot, folder, 'workflows/release.yml'), 'utf8'),
  );
  const github = parse(onGithub);

  it('do the same, except for the provenance, which npm signs only on GitHub', () => {
    const { 'id-token': identity, ...permissions } = github.permissions;
    const unsigned = JSON.parse(JSON.stringify(github).replace(' --provenance', ''));

    expect(identity).toBe('write');
    expect(onGithub).toContain('npm publish --provenance\n');
    expect({ ...unsigned, permissions }).toEqual(parse(onGitea));
  });

  it('publish only a tag, after the checks, with a token from a secret', () => {
    const steps: readonly Step[] = github.jobs.publish.steps;
    const runs = steps.flatMap(({ run }) => run ?? []);

    expect(github.on).toEqual({ push: { tags: ['v*'] } });
    expect(runs.slice(-4, -1)).toEqual(['npm run lint', 'node scripts/build-action.ts --check', 'npm test']);
    expect(runs.findIndex((run) => run.includes('$GITHUB_REF_NAME'))).toBeLessThan(runs.length - 4);
    expect(runs.at(-1)).toContain('npm publish');
    expect(steps.at(-1)).toMatchObject({ env: { NODE_AUTH_TOKEN: '${{ secrets.NPM_TOKEN }}' } });
  });
});
