import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { commandTable } from '../../../src/cli/commands/command-table.ts';
import { reeve } from '../../support/command.ts';

const folder = mkdtempSync(join(tmpdir(), 'reeve-completion-'));
writeFileSync(join(folder, 'rules one.yml'), '');
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Runs a shell program in the folder. A shell that hangs is killed and has no exit status. */
const shell = (program: string, args: readonly string[]) =>
  spawnSync(program, args, {
    cwd: folder,
    env: { PATH: process.env.PATH, HOME: folder, TERM: 'xterm' },
    encoding: 'utf8',
    timeout: 600_000,
    killSignal: 'SIGKILL',
  });

const script = async (name: string): Promise<string> => {
  const { status, out } = await reeve(['completion', name]);
  expect(status).toBe(0);
  writeFileSync(join(folder, `reeve.${name}`), out);
  return join(folder, `reeve.${name}`);
};

const pathOf = ({ group, usage }: (typeof commandTable)[number]): string =>
  [group?.name, usage.split(' ')[0]].filter(Boolean).join(' ');
const flagsOf = ({ flags = [], requiredFlags = [] }: (typeof commandTable)[number]): string[] =>
  [...requiredFlags, ...flags].map(([spelling]) => /--[\w-]+/.exec(spelling)?.[0] ?? '');

/** Every completed command line, with all the words offered for it. */
const rows: readonly (readonly [line: string, words: readonly string[]])[] = [
  ['reeve ', [...new Set(commandTable.map((row) => pathOf(row).split(' ')[0] ?? ''))]],
  ...[...new Set(commandTable.flatMap(({ group }) => group?.name ?? []))].map(
    (name) =>
      [
        `reeve ${name} `,
        commandTable
          .filter(({ group }) => group?.name === name)
          .map((row) => pathOf(row).split(' ')[1] ?? ''),
      ] as const,
  ),
  ...commandTable.map(
    (row) => [`reeve ${pathOf(row)} --`, [...flagsOf(row), '--settings', '--help']] as const,
  ),
  ['reeve explain la', ['last']],
  ['reeve completion ', ['bash', 'zsh', 'fish']],
  ['reeve --settings x.env store ba', ['backup']],
  ['reeve sweep --in store ', []],
  ['reeve check rul', ['rules one.yml']],
  ['reeve setup --config rul', ['rules one.yml']],
];
const wanted = rows.map(([line, words]) => `${line}=>${[...words].sort().join(',')}`);

const lacks = (name: string): boolean => shell(name, ['-c', 'exit 0']).status !== 0;
const named = (name: string): string =>
  lacks(name) ? `in ${name} (skipped: ${name} is not installed)` : `in ${name}`;

describe('completion of the command line', () => {
  it.skipIf(lacks('bash'))(named('bash'), async () => {
    const path = await script('bash');
    const cases = rows.map(([line]) => {
      const words = line.split(' ').map((word) => `'${word}'`);
      return `COMP_WORDS=(${words.join(' ')}); COMP_CWORD=${words.length - 1}; COMPREPLY=(); _reeve
mapfile -t sorted < <(((\${#COMPREPLY[@]})) && printf '%s\\n' "\${COMPREPLY[@]}" | LC_ALL=C sort)
(IFS=,; printf '%s=>%s\\n' '${line}' "\${sorted[*]}")`;
    });
    const { status, stdout, stderr } = shell('bash', [
      '--norc',
      '-c',
      `source '${path}'\n${cases.join('\n')}`,
    ]);

    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    expect(stdout.trim().split('\n')).toEqual(wanted);
  });

  it.skipIf(lacks('fish'))(named('fish'), async () => {
    const path = await script('fish');
    const cases = rows.map(
      ([line]) =>
        `printf '%s=>%s\\n' '${line}' (complete -C '${line}' | string replace -r '\\t.*' '' | string unescape | env LC_ALL=C sort | string join ,)`,
    );
    const { status, stdout, stderr } = shell('fish', [
      '--no-config',
      '-c',
      `source '${path}'\n${cases.join('\n')}`,
    ]);

    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    expect(stdout.trim().split('\n')).toEqual(wanted);
  });

  it.skipIf(lacks('zsh'))(named('zsh'), async () => {
    const path = await script('zsh');
    // Completion needs the line editor, so a second zsh runs on its own terminal and receives typed input.
    const typed: readonly (readonly [string, string])[] = [
      ['reeve expl', 'reeve explain'],
      ['reeve sto', 'reeve store'],
      ['reeve store b', 'reeve store backup'],
      ['reeve explain l', 'reeve explain last'],
      ['reeve completion z', 'reeve completion zsh'],
      ['reeve check --ex', 'reeve check --expanded'],
      ['reeve --settings x.env que', 'reeve --settings x.env queue'],
      ['reeve check rul', 'reeve check rules\\ one.yml'],
      ['reeve setup --config rul', 'reeve setup --config rules\\ one.yml'],
    ];
    const driver = `zmodload zsh/zpty
zpty -b shell zsh -f -i
zpty -w shell "PROMPT=; stty cols 200; unsetopt beep; autoload -Uz compinit; compinit -u -D; source '${path}'; print RE''ADY"
zpty -r shell seen '*READY*'
${typed
  .map(
    ([given, full]) =>
      `zpty -n -w shell $'${given}\\t'; zpty -r shell seen '*${full.replaceAll('\\', '\\\\')}*'; print -r -- '${given}'; zpty -n -w shell $'\\x15'`,
  )
  .join('\n')}
zpty -d shell`;
    const { status, stdout, stderr } = shell('zsh', ['-f', '-c', driver]);

    expect(stderr).toBe('');

    expect(stdout.trim().split('\n')).toEqual(typed.map(([given]) => given));
    expect(status).toBe(0);
  });

  it('for another shell is refused', async () => {
    expect(await reeve(['completion', 'tcsh'])).toMatchObject({
      status: 2,
      error: 'reeve: "tcsh" is not a supported shell: write bash, zsh or fish\n',
    });
  });
});
