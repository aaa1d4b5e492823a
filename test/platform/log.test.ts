import { spawn, spawnSync } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createLog } from '../../src/platform/log.ts';
import { builtProgram } from '../support/built-program.ts';
import { start, waitForExit, waitForOutput } from '../support/command.ts';
import { recordFigure } from '../support/figure.ts';
import { hostileTexts } from '../support/hostile-texts.ts';
import { watchProcess } from '../support/processes.ts';

const secret = 'a-secret-"quoted"-value';

/** Returns what a log writes for one record. */
function write(members: object, message: string, isReadable?: boolean): string {
  const lines: string[] = [];
  const destination = { write: (line: string) => void lines.push(line) };
  createLog({ destination, secrets: [secret], ...(isReadable === undefined ? {} : { isReadable }) }).warn(
    members,
    message,
  );
  return lines.join('');
}

describe('log lines', () => {
  it('are JSON by default', () => {
    expect(JSON.parse(write({ port: 8080 }, 'listening'))).toMatchObject({
      level: 40,
      port: 8080,
      msg: 'listening',
    });
  });

  it('in readable format have time of day, level, message and fields', () => {
    const line = write(
      { url: 'http://a:1/', error: 'it failed', ids: [1, 2], none: null },
      'listening',
      true,
    );

    expect(line).toMatch(
      /^\d\d:\d\d:\d\d WARN {2}listening url=http:\/\/a:1\/ error="it failed" ids=\[1,2\] none=null\n$/,
    );
  });

  it('in readable format contain no secrets and no control characters', () => {
    const hostile = `one\nWARN forged \u001b[2J\u202e\u0085 ${secret}`;
    const line = write({ error: hostile, 'a\nb': 1 }, hostile, true);

    expect(line.trimEnd()).not.toMatch(/[\p{Cc}\u2028\u2029\u202a-\u202e]/u);
    expect(line).not.toContain('quoted');
    expect(line).toContain('[secret]');
    expect(line).toContain('\\u001b[2J');
  });
});

describe("a forge's text in a log line", () => {
  const hostile = [
    ...hostileTexts,
    '\n{"level":50,"msg":"forged"}',
    '\r\n12:00:00 ERROR forged',
    '"}\n{"level":50,"msg":"forged"}',
    '\u001b[1A\u001b[2Kforged',
    '\u2028forged\u2029\u0085forged\u000bforged\u000cforged',
    '\u202egnihtyna',
  ];

  it('is one JSON record, and one line in readable format', (context) => {
    for (const text of hostile) {
      const json = write({ title: text, nested: { title: text } }, text);
      const line = write({ title: text, nested: { title: text } }, text, true);

      expect(json.split(/[\n\r]/), text).toHaveLength(2);
      expect(JSON.parse(json)).toMatchObject({ level: 40, title: text.toWellFormed() });
      expect(line.trimEnd(), text).not.toMatch(/[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069]/u);
    }
    recordFigure(
      context,
      `${hostile.length} hostile texts, as JSON and for a person: 0 further lines, 0 control characters`,
    );
  });
});

const hasScript = spawnSync('script', ['--version']).status === 0;

describe.skipIf(!hasScript)('reeve serve (skipped if script, which creates a terminal, is missing)', () => {
  it('logs readable lines on a terminal, and JSON elsewhere', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'reeve-log-'));
    const environment = (name: string) => ({
      FORGE_URL: 'http://127.0.0.1:9',
      FORGE_TOKEN: 'a-token-of-the-account-of-the-bot',
      WEBHOOK_SECRET: 'a-secret-that-only-the-hook-knows',
      REEVE_DATA: join(folder, name),
      PORT: '0',
    });
    const onTerminal = watchProcess(
      spawn('script', ['-qefc', `"${process.execPath}" "${builtProgram()}" serve`, '/dev/null'], {
        env: { PATH: process.env.PATH, SHELL: '/bin/sh', NO_COLOR: '1', ...environment('terminal') },
        stdio: ['ignore', 'pipe', 'pipe'],
      }),
    );
    const elsewhere = start(['serve'], { environment: environment('pipe') });
    try {
      const [shown, written] = await Promise.all([
        waitForOutput(onTerminal, /listening[^\n]*\n/),
        waitForOutput(elsewhere, /"listening"[^\n]*\n/),
      ]);
      expect(shown).toMatch(/^\d\d:\d\d:\d\d INFO {2}listening url=http:\/\/127\.0\.0\.1:\d+ /m);
      const lines = written.trim().split('\n');
      expect(JSON.parse(lines.at(-1) ?? '')).toMatchObject({ level: 30, msg: 'listening' });
    } finally {
      onTerminal.kill();
      elsewhere.kill();
      await Promise.all([waitForExit(onTerminal), waitForExit(elsewhere)]);
      await rm(folder, { recursive: true, force: true });
    }
  });
});
