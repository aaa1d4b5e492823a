import { copyFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { blocksOf } from '../../scripts/site/markdown.ts';
import { markdownFiles } from '../../scripts/site/stage.ts';
import { commandTable } from '../../src/cli/commands/command-table.ts';
import { packageRoot } from '../../src/platform/package.ts';
import { reeve, reeveProcess, start, waitForExit, waitForOutput } from '../support/command.ts';
import { type CommandSetup, makeCommandSetup } from '../support/command-setup.ts';
import { type ContractForge, startEmbedded } from '../support/contract-forge.ts';
import { notRun } from './shell-blocks.ts';

const pages = ['README.md', 'CONTRIBUTING.md', ...markdownFiles(packageRoot, 'docs')];
const textOf = (page: string): string => readFileSync(join(packageRoot, page), 'utf8');
const shell = pages.flatMap((page) =>
  blocksOf(textOf(page))
    .filter(({ language }) => language === 'sh')
    .map(({ text, line }) => ({ page, text, line, name: `${page}: ${text.split('\n', 1)[0]}` })),
);
/** Returns the block of a page that begins with these words. */
const blockOf = (page: string, words: string): string =>
  shell.find(({ page: one, text }) => one === page && text.startsWith(words))?.text ?? '';

/** Blocks that a test in this file runs. */
const areRun: string[] = [];
const toRun = (page: string, words: string): readonly string[] => {
  const text = blockOf(page, words);
  areRun.push(`${page}: ${text.split('\n', 1)[0]}`);
  return text.trim().split('\n');
};

describe('the commands of the documentation, in sequence', () => {
  let forge: ContractForge;
  let connection: CommandSetup;
  let server: ReturnType<typeof start>;
  beforeAll(async () => {
    forge = await startEmbedded();
    connection = await makeCommandSetup(forge);
    mkdirSync(connection.path('backups'));
    mkdirSync(connection.path('rules'));
  });
  afterAll(async () => {
    server?.kill();
    await connection.close();
    await forge.close();
  });

  /** Returns the arguments of a command line on a page, with its names replaced by those of this test. */
  const argsOf = (line: string): readonly string[] => {
    expect(line).toMatch(/^(npx )?reeve /);
    return line
      .replace(/^(npx )?reeve /, '')
      .replaceAll('https://git.example.org', forge.url)
      .replaceAll('acme/demo', connection.repository)
      .replaceAll(/(?<= )\/backups/g, connection.path('backups'))
      .replace('$(date +%F)', '2026-11-01')
      .replaceAll(/(?<= )(reeve\.env|token|rules|\.reeve\.yml)(?= |$)/g, (name) => connection.path(name))
      .split(' ');
  };
  const environment = (): Record<string, string> => ({
    PORT: String(connection.port),
    REEVE_DATA: connection.path('data'),
  });
  const runAll = async (lines: readonly string[]): Promise<string> => {
    let printed = '';
    for (const line of lines) {
      const { status, out, error } = await reeve(argsOf(line), { environment: environment() });
      expect({ line, status }, error).toEqual({ line, status: 0 });
      printed += out;
    }
    return printed;
  };

  it('README and start: setup, doctor and serve connect a forge', async () => {
    const lines = toRun('README.md', 'npx reeve setup');
    expect(toRun('docs/start.md', 'npx reeve setup')).toEqual(lines);
    const [setup = '', doctor = '', serve = ''] = lines;

    const config = ['--config', connection.path('reeve.yml'), '--settings', connection.envFile];
    const made = await reeve([...argsOf(setup), ...config], { environment: environment() });
    expect(made).toMatchObject({ status: 0, error: '', out: expect.stringContaining('Connected.') });
    expect(await runAll([doctor])).toContain('Nothing is wrong.');
    server = start(argsOf(serve), { cwd: connection.folder });
    await waitForOutput(server, /"listening"/);
    expect(lines).toHaveLength(3);
  });

  it('start: a rule that observes is listed, and acts once its line is removed', async () => {
    const ask = (method: string, path: string, body?: object) =>
      forge.ask(method, `/repos/${connection.repository}/issues${path}`, {
        as: connection.owner,
        ...(body ? { body } : {}),
      });
    const lines = toRun('docs/start.md', 'npx reeve runs');
    await ask('POST', '', { title: 'How?' });
    await expect
      .poll(() => runAll(lines), { timeout: 60_000 })
      .toMatch(/ triage-labels, \+1 without +0 of 1 made/);

    const file = connection.path('reeve-rules/triage.yml');
    const inForce = waitForOutput(server, /rules of the operator are in force/);
    writeFileSync(file, readFileSync(file, 'utf8').replace('mode: observe\n', ''));
    await inForce;
    await ask('POST', '', { title: 'And how?' });
    await expect
      .poll(async () => (await ask('GET', '/2/labels')).json.map(({ name }: { name: string }) => name), {
        timeout: 60_000,
      })
      .toEqual(['kind/question']);

    // The first question was asked while the rule still observed.
    const open = await runAll(toRun('docs/start.md', 'npx reeve apply'));
    expect(open).toContain(`${connection.repository}#1\n  + label:kind/question  (triage-labels)\n`);
    expect(open).toContain('nothing was written');
  });

  it('start: the rule sets the label, and explain shows why', async () => {
    const rules = blocksOf(textOf('docs/start.md')).find(({ language }) => language === 'yaml')?.text ?? '';
    writeFileSync(connection.path('.reeve.yml'), rules);
    const { owner, repository } = connection;
    const ask = (method: string, path: string, body?: object) =>
      forge.ask(method, `/repos/${repository}/${path}`, { as: owner, ...(body ? { body } : {}) });
    const content = (text: string): string => Buffer.from(text).toString('base64');
    for (const name of ['docs', 'large']) await ask('POST', 'labels', { name, color: '#00aabb' });
    await ask('POST', 'contents/.reeve.yml', { content: content(rules), message: 'rules' });
    await ask('POST', 'contents/guide.md', {
      content: content('Hello\n'),
      message: 'guide',
      new_branch: 'guide',
    });
    await ask('POST', 'pulls', { title: 'Guide', head: 'guide', base: 'main' });
    await expect
      .poll(async () => (await ask('GET', 'issues/3/labels')).json.map(({ name }: { name: string }) => name))
      .toEqual(['docs']);

    await ask('POST', 'contents/more.md', {
      content: content('More\n'),
      message: 'more',
      new_branch: 'more',
    });
    await ask('POST', 'pulls', { title: 'More', head: 'more', base: 'main' });
    await expect
      .poll(async () => (await ask('GET', 'issues/4/labels')).json.map(({ name }: { name: string }) => name))
      .toEqual(['docs']);

    const planned = await runAll(toRun('docs/start.md', 'npx reeve check'));
    const explained = await runAll(toRun('docs/start.md', 'npx reeve explain'));

    expect(planned).toContain('1 file, 1 rule: no problems');
    expect(planned).toContain('Nothing to change.');
    expect(explained).toMatch(/label-pull-requests: matched[\s\S]*\+ label:docs .*applied/);
  });

  it('recipes and upgrade: rules are checked and tested', async () => {
    for (const { text } of blocksOf(textOf('docs/recipes.md'))) {
      const [, path] = /^# (rules\/\S+)/.exec(text) ?? [];
      if (path !== undefined) writeFileSync(connection.path(path), text);
    }
    expect(toRun('docs/recipes.md', 'reeve check')).toEqual(toRun('docs/upgrade.md', 'reeve check'));

    expect(await runAll(toRun('docs/recipes.md', 'reeve check'))).toContain('no problems');
  });

  it('backup, upgrade and rotate: a running server is copied and examined, and the copy is restored', async () => {
    await runAll(toRun('docs/backup.md', 'reeve store backup'));
    await runAll(toRun('docs/upgrade.md', 'reeve store backup'));
    expect(await runAll(toRun('docs/upgrade.md', 'reeve doctor'))).toContain('Nothing is wrong.');
    const settings = ` --settings ${connection.envFile}`;
    const [renew = ''] = toRun('docs/rotate.md', 'reeve password');
    expect(await runAll([renew + settings])).toMatch(/\S{20,}/);
    server.kill();
    await waitForExit(server);

    const [restore = ''] = /reeve store restore [^\s`]+/.exec(textOf('docs/backup.md')) ?? [];
    expect(await runAll([restore])).toContain('The previous store is now');
  });

  it('connect: without a reachable address, doctor finds nothing wrong and serve polls', async () => {
    const folder = connection.path('polling');
    mkdirSync(folder, { mode: 0o700 });
    copyFileSync(connection.path('token'), join(folder, 'token'));
    const [setup = '', doctor = '', serve = ''] = toRun('docs/connect.md', 'npx reeve setup').map((line) =>
      line
        .replace(/^npx reeve /, '')
        .replace('https://git.example.org', forge.url)
        .replaceAll('acme/demo', connection.repository),
    );
    const run = { cwd: folder, environment: { PORT: String(connection.port) } };

    const made = await reeveProcess(setup.split(' '), run);
    const examined = await reeveProcess(doctor.split(' '), run);
    server = start(serve.split(' '), run);

    expect(made.out).toContain('Reeve polls 1 repository every 60 s');
    expect(examined.out).not.toContain('✗');
    expect(examined.out).toContain('every 60 s; there was no poll yet');
    await waitForOutput(server, /polling every 60 s: 1 repository, about \d+ requests an hour/);
  });

  it('each command block is run here, or a reason is listed why not', () => {
    const known = [...areRun, ...Object.keys(notRun)];

    expect(shell.filter(({ name }) => !known.includes(name)).map(({ name }) => name)).toEqual([]);
    const names = shell.map(({ name }) => name);
    expect(Object.keys(notRun).filter((name) => !names.includes(name) || areRun.includes(name))).toEqual([]);
  });
});

/** Every command in the documentation: lines of blocks, and inline code. */
const mentioned = pages.flatMap((page) => {
  const text = textOf(page);
  const inLines = [...text.matchAll(/`([^`\n]+)`/g)].map(([, code = '']) => code);
  const inBlocks = blocksOf(text)
    .filter(({ language }) => language === 'sh' || language === 'console')
    .flatMap((block) => block.text.replaceAll('\\\n', ' ').split('\n'));
  return [...inLines, ...inBlocks].map((line) => ({ page, line: line.trim().replace(/^\$ /, '') }));
});

describe('each command that the documentation mentions exists', () => {
  const general = ['--settings', '--help', '--version', '--json', '--no-color'];
  const rows = commandTable.map(({ group, usage, flags = [], requiredFlags = [] }) => ({
    name: [group?.name, usage.split(' ')[0]].filter((word) => word !== undefined).join(' '),
    flags: [...flags, ...requiredFlags].map(([notation]) => /--[\w-]+/.exec(notation)?.[0] ?? ''),
  }));

  it('for reeve, with its flags', () => {
    const calls = mentioned.flatMap(({ page, line }) => {
      const [, rest] = /^(?:[A-Z_]+=\S+ )*(?:npx )?reeve ([a-z].*)$/.exec(line) ?? [];
      return rest === undefined ? [] : [{ page, line, rest }];
    });
    const wrong = calls.filter(({ rest }) => {
      const row = rows.findLast(({ name }) => rest === name || rest.startsWith(`${name} `));
      if (row === undefined) return !rows.some(({ name }) => name.startsWith(`${rest} `));
      const flags = [...rest.matchAll(/(?<= |\[)--[\w-]+/g)].map(([flag]) => flag);
      return flags.some((flag) => !row.flags.includes(flag) && !general.includes(flag));
    });

    expect(calls.length).toBeGreaterThan(150);
    expect(wrong.map(({ page, line }) => `${page}: ${line}`)).toEqual([]);
  });

  it('for npm and node, with the files in its arguments', () => {
    const { scripts } = JSON.parse(textOf('package.json'));
    const wrong = mentioned.filter(({ page, line }) => {
      const text = line.replace(/^(?:[A-Z_]+=\S+ )+/, '');
      const [, script] = /^npm run (?:--?\S+ )*([\w:-]+)/.exec(text) ?? [];
      if (script !== undefined && !(script in scripts)) return true;
      if (page === 'docs/benchmarks.md' || !/^(?:npx vitest run|node scripts)/.test(text)) return false;
      const paths = [...text.matchAll(/(?<= )(?:test|scripts)\/[\w./-]+/g)].map(([path]) => path);
      return paths.some((path) => !existsSync(join(packageRoot, path)));
    });

    expect(wrong.map(({ page, line }) => `${page}: ${line}`)).toEqual([]);
  });
});
