import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, expect, it } from 'vitest';
import { z } from 'zod';
import { runReeve } from '../../../src/exports/run-reeve.ts';

const folder = mkdtempSync(join(tmpdir(), 'reeve-shapes-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

it('a command does not compile schemas to functions', async () => {
  const hook = join(folder, 'hook.mjs');
  writeFileSync(
    hook,
    `const original = globalThis.Function;
let generated = 0;
globalThis.Function = new Proxy(original, {
  construct(target, given, newTarget) { generated += 1; return Reflect.construct(target, given, newTarget); },
});
process.on('exit', () => process.stdout.write('generated: ' + generated));`,
  );

  const { stdout } = await promisify(execFile)(
    process.execPath,
    ['--import', hook, 'bin/reeve.mjs', 'check', 'rules/demo/labels.yml'],
    { env: { PATH: process.env.PATH, NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE } },
  );

  expect(stdout).toContain('1 file, 1 rule: no problems');
  expect(stdout).toContain('generated: 0');
});

it('Reeve does not change the zod configuration of a program that imports it', async () => {
  expect(await runReeve(['check', 'rules/demo/labels.yml'], { out() {}, error() {} })).toBe(0);
  expect(z.config().jitless).toBeUndefined();
});
