import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { builtProgram } from '../support/built-program.ts';
import { neovimText, recordedSession } from '../support/editors/neovim-session.ts';
import { isThorough } from '../support/figure.ts';
import { watchProcess } from '../support/processes.ts';

const isInstalled = spawnSync('nvim', ['--version']).status === 0;
const editors = fileURLToPath(new URL('../support/editors', import.meta.url));

describe.runIf(isThorough && isInstalled)('Neovim (skipped where it is not installed)', () => {
  let folder: string;
  // biome-ignore lint/suspicious/noExplicitAny: what the script of the editor has found
  let results: any;
  beforeAll(async () => {
    folder = realpathSync(mkdtempSync(join(tmpdir(), 'reeve-neovim-')));
    mkdirSync(join(folder, 'rules'));
    writeFileSync(join(folder, 'rules/a.yml'), neovimText);
    const messages = join(folder, 'messages.jsonl');
    const command = [
      process.execPath,
      join(editors, 'tee.mjs'),
      messages,
      process.execPath,
      builtProgram(),
      'lsp',
    ];
    const child = watchProcess(
      spawn('nvim', ['--headless', '-u', 'NONE', '-c', `luafile ${join(editors, 'neovim.lua')}`], {
        cwd: folder,
        stdio: ['ignore', 'inherit', 'inherit'],
        env: {
          PATH: process.env.PATH,
          HOME: folder,
          SESSION_FOLDER: folder,
          SESSION_COMMAND: JSON.stringify(command),
          SESSION_RESULTS: join(folder, 'results.json'),
        },
      }),
    );
    await once(child, 'exit');
    results = JSON.parse(readFileSync(join(folder, 'results.json'), 'utf8'));
    // RECORD=1 writes the session that test/language-server/neovim.test.ts replays.
    if (process.env.RECORD) {
      const lines = readFileSync(messages, 'utf8').trimEnd().split('\n');
      // Neovim escapes slashes.
      const plain = lines.map((line) => JSON.stringify(JSON.parse(line)).replaceAll(folder, '/FOLDER'));
      writeFileSync(recordedSession, `${plain.join('\n').replace(/"processId":\d+/g, '"processId":null')}\n`);
    }
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it('shows the problems while one types', () => {
    expect(results.late).toBeUndefined();
    expect(results.opened.map(({ line }: { line: number }) => line)).toEqual([5, 6]);
    expect(results.changed.map(({ line }: { line: number }) => line)).toEqual([5]);
  });

  it('completes, documents and finds declarations', () => {
    expect(results.completed).toEqual(expect.arrayContaining(['draft', 'labels', 'title']));
    expect(results.hover.contents.value).toContain('pull_request.draft');
    expect(results.declared.range.start).toEqual({ line: 2, character: 2 });
  });

  it('applies remedies', () => {
    expect(results.actions).toEqual(['Write opened']);
    expect(results.corrected).toBe('    on: { pull_request: [opened] }');
  });
});
