import { spawnSync } from 'node:child_process';
import { copyFileSync, cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import memory from '../../../bin/memory.json' with { type: 'json' };
import { isThorough } from '../../support/figure.ts';
import { nodeOf } from '../../support/nodes.ts';

const reeve = 'bin/reeve.mjs';
const { PATH, NODE_COMPILE_CACHE } = process.env;
let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'reeve-start-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

type Start = {
  readonly flags: readonly string[];
  readonly pools: string | undefined;
  readonly marker: string | undefined;
};

/** Starts a command with invalid settings, so that it ends at once, and returns every process that this started. */
function startsOf(
  words: readonly string[],
  given: { flags?: readonly string[]; options?: string; hides?: boolean } = {},
) {
  const logFile = join(folder, `told-${Math.random()}`);
  const hook = join(folder, `hook-${Math.random()}.mjs`);
  // Removes variables before the command reads them, as a hardened system does.
  writeFileSync(
    hook,
    `import { appendFileSync } from 'node:fs';
if (process.argv[1]?.endsWith('reeve.mjs')) {
  const { MALLOC_ARENA_MAX: pools, REEVE_STARTED: marker } = process.env;
  appendFileSync(${JSON.stringify(logFile)}, JSON.stringify({ flags: process.execArgv, pools, marker }) + '\\n');
  ${given.hides ? 'for (const name of Object.keys(process.env)) if (name.startsWith("MALLOC_")) delete process.env[name];' : ''}
}
`,
  );
  const { status, stderr } = spawnSync(process.execPath, [...(given.flags ?? []), reeve, ...words], {
    encoding: 'utf8',
    timeout: 600_000,
    env: {
      PATH,
      NODE_COMPILE_CACHE,
      PORT: 'none',
      NODE_OPTIONS: `--import=${hook} ${given.options ?? ''}`.trim(),
    },
  });
  const lines = spawnSync('cat', [logFile], { encoding: 'utf8' }).stdout.trim().split('\n');
  return { status, stderr, starts: lines.map((line) => JSON.parse(line) as Start) };
}

describe('a long-running command', () => {
  it.each([['serve'], ['sweep', 'rule'], ['--settings', 'none.env', 'serve']])(
    '%s restarts itself once, with reduced memory',
    (...words) => {
      const { status, starts } = startsOf(words);

      expect(status).toBe(2);
      expect(starts).toHaveLength(2);
      expect(starts[1]).toMatchObject({
        flags: memory.nodeFlags,
        pools: memory.environment.MALLOC_ARENA_MAX,
      });
    },
  );

  it.runIf(isThorough)('forge restarts itself once, with reduced memory but an unlimited heap', () => {
    const { status, starts } = startsOf(['forge', '--max-push', '0']);

    expect(status).toBe(2);
    expect(starts).toHaveLength(2);
    expect(starts[1]).toMatchObject({
      flags: ['--max-semi-space-size=8'],
      pools: memory.environment.MALLOC_ARENA_MAX,
    });
  });

  it('keeps values set by the user', () => {
    const [, byFlag] = startsOf(['serve'], { flags: ['--max-old-space-size=1024'] }).starts;
    expect(byFlag?.flags).toEqual(['--max-old-space-size=1024', '--max-semi-space-size=8']);

    const [, byOptions] = startsOf(['serve'], { options: '--max_old_space_size=1024' }).starts;
    expect(byOptions?.flags).toEqual(['--max-semi-space-size=8']);
  });

  it('does not start a third time if the system removes the environment variables', () => {
    const { status, starts } = startsOf(['serve'], { hides: true });

    expect(status).toBe(2);
    expect(starts).toHaveLength(2);
  });
});

describe.each([12, 14, 20])('on Node %i, which is too old', (version) => {
  const command = (root: string, node: string, words: readonly string[]) => {
    const { status, stdout, stderr } = spawnSync(node, [join(root, reeve), ...words], {
      encoding: 'utf8',
      env: { PATH },
    });
    return { status, stdout, stderr };
  };

  it('one line says how to run the command with another Node, for the package and for a checkout', async ({
    skip,
  }) => {
    const node = await nodeOf(version);
    if (node === undefined) return skip(`the npm registry gives no Node ${version} for this machine`);
    const root = mkdtempSync(join(folder, 'installed-'));
    cpSync('bin', join(root, 'bin'), { recursive: true });
    const needs = `reeve needs Node 22.18 or later; this is ${version}\\.\\d+\\.\\d+`;
    const expected = (remedy: string) => ({
      status: 2,
      stdout: '',
      stderr: expect.stringMatching(new RegExp(`^${needs}: ${remedy}\\n$`)),
    });

    expect(command(root, node, ['explain', 'acme/shop#7'])).toEqual(
      expected(
        'to run this with a newer one: npx -p node@24 -p @reeve-forge/reeve reeve explain acme/shop#7',
      ),
    );
    expect(command(root, node, ['pause', '$(x)'])).toEqual(expected('.*@reeve-forge/reeve reeve …'));
    writeFileSync(join(root, 'tsconfig.json'), '');
    expect(command(root, node, ['--help'])).toEqual(
      expected('run npm ci in this checkout, which installs a newer one beside it'),
    );
    // A checkout after `npm ci` has a newer Node.
    expect(command('.', node, ['--version'])).toMatchObject({ status: 0, stderr: '' });
  });
});

it('a short command is started once', () => {
  expect(startsOf(['--version']).starts).toHaveLength(1);
});

describe('a reader that closes its end of a pipe', () => {
  /** Closes its end before anything is written to the pipe. */
  const leaves = '(exec <&-; sleep 3)';
  const pipe = (command: string) =>
    spawnSync('bash', ['--norc', '-c', `set -o pipefail; ${command}`], {
      encoding: 'utf8',
      env: { PATH, NODE_COMPILE_CACHE, NODE: process.execPath, REEVE: reeve, FOLDER: folder },
    });

  it('ends a command quietly', () => {
    const { status, stderr } = pipe(`"$NODE" "$REEVE" schema | ${leaves}`);

    expect([status, stderr]).toEqual([0, '']);
  });

  it('does not change the exit status of a command', () => {
    writeFileSync(join(folder, 'bad.yml'), 'version: 1\nrules: { x: {} }\n');

    expect(pipe(`"$NODE" "$REEVE" check "$FOLDER/bad.yml" 2>&1 | ${leaves}`).status).toBe(1);
  });
});

it.runIf(isThorough)(
  'npm in a checkout reports nothing about the engines of libraries, because it installs the Node version that they need',
  () => {
    const checkout = join(folder, 'checkout');
    mkdirSync(checkout);
    const about = { name: 'a', version: '1.0.0', private: true, engines: { node: '>=999' } };
    writeFileSync(join(checkout, 'package.json'), JSON.stringify(about));
    writeFileSync(
      join(checkout, 'package-lock.json'),
      JSON.stringify({ name: 'a', version: '1.0.0', lockfileVersion: 3, packages: { '': about } }),
    );
    const install = (): string =>
      spawnSync('npm', ['ci', '--dry-run', '--offline'], {
        cwd: checkout,
        encoding: 'utf8',
        env: { PATH, HOME: folder },
      }).stderr;

    const before = install();
    copyFileSync('.npmrc', join(checkout, '.npmrc'));

    expect(before).toContain('EBADENGINE');
    expect(install()).toBe('');
  },
);

describe('the cache of compiled code', () => {
  const run = (environment: Record<string, string>) =>
    spawnSync(process.execPath, [reeve, '--version'], { encoding: 'utf8', env: { PATH, ...environment } });

  it("is below the user's cache folder, and not among temporary files", () => {
    const [home, temporary] = [join(folder, 'home'), join(folder, 'temporary')];
    for (const path of [home, temporary]) mkdirSync(path);

    expect(run({ HOME: home, TMPDIR: temporary }).status).toBe(0);
    expect(readdirSync(join(home, '.cache/reeve'))).toHaveLength(1);
    expect(run({ HOME: home, TMPDIR: temporary, XDG_CACHE_HOME: join(folder, 'xdg') }).status).toBe(0);
    expect(readdirSync(join(folder, 'xdg/reeve'))).toHaveLength(1);
    expect(readdirSync(temporary)).toEqual([]);
  });

  it('is optional: the command runs if the cache cannot be written', () => {
    const { status, stderr } = run({ HOME: '/dev/null' });

    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  });

  it('is not used with NODE_DISABLE_COMPILE_CACHE', () => {
    const home = join(folder, 'none');
    mkdirSync(home);

    expect(run({ HOME: home, NODE_DISABLE_COMPILE_CACHE: '1' }).status).toBe(0);
    expect(readdirSync(home)).toEqual([]);
  });
});
