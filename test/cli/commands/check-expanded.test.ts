import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { parse } from 'yaml';
import { check } from '../../../src/cli/commands/rules/check.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'reeve-expanded-'));
  mkdirSync(join(folder, 'packs'));
  writeFileSync(join(folder, 'packs', 'greet.yml'), pack);
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const pack = `version: 1
params: { label: { type: string, example: kept } }
rules: { add: { on: issues.opened, if: issue.title == params.label, steps: [{ uses: set-labels, with: { add: ["\${{ params.label }}"] } }] } }
`;

async function run(name: string, text: string, options: Parameters<typeof check>[1]) {
  const path = join(folder, name);
  writeFileSync(path, text);
  const lines: string[] = [];
  const say = (line: string): number => lines.push(line);
  const status = await check([path], options, { out: say, error: say, style: (_style, line) => line });
  return { status, out: lines.join('\n') };
}

it('--expanded prints the rules with their values, names, modes, limits and scopes', async () => {
  const text = `version: 1
limits: { changes: 4 }
include: [{ name: g, file: packs/greet.yml, with: { label: 'a"\\u202eb' }, in: "acme/*", mode: enforce }]
rules: { own: { on: push, mode: observe, steps: [{ uses: set-status, with: { state: success } }] } }
`;

  const { status, out } = await run('own.yml', text.replace("'a\"\\u202eb'", '"a\\"\\u202eb"'), {
    expanded: true,
  });

  expect(status).toBe(0);
  expect(out).not.toContain('\u202e');
  expect(parse(out)).toEqual({
    version: 1,
    rules: {
      own: {
        mode: 'observe',
        limits: { changes: 4 },
        on: 'push',
        steps: [{ uses: 'set-status', with: { state: 'success' } }],
      },
      'g/add': {
        in: ['acme/*'],
        mode: 'enforce',
        limits: { changes: 4 },
        on: 'issues.opened',
        if: 'issue.title == "a\\"\\u202eb"',
        steps: [{ uses: 'set-labels', with: { add: ['a"\\u202eb'] } }],
      },
    },
  });
});

it('--packs names the folder of the packs that a repository file may include', async () => {
  const text = 'version: 1\ninclude: [{ name: greet, with: { label: x } }]\n';

  const without = await run('.reeve.yml', text, {});
  const withPacks = await run('.reeve.yml', text, { packs: join(folder, 'packs') });

  expect(without).toMatchObject({
    status: 1,
    out: expect.stringContaining('there is no pack "greet"; no packs are offered here'),
  });
  expect(withPacks).toMatchObject({ status: 0, out: '1 file, 1 rule: no problems' });
});

it('a broken pack is reported once, and also for each file that includes it', async () => {
  writeFileSync(join(folder, 'packs', 'greet.yml'), pack.replace('uses', 'use'));
  const include = 'version: 1\ninclude: [{ name: g, file: packs/greet.yml, with: { label: x } }]\n';
  writeFileSync(join(folder, 'one.yml'), include);
  writeFileSync(join(folder, 'two.yml'), include);
  const lines: string[] = [];
  const say = (line: string): number => lines.push(line);

  const status = await check(
    [folder],
    { json: true },
    { out: say, error: say, style: (_style, line) => line },
  );

  const { problems } = JSON.parse(lines[0] ?? '') as { problems: { path: string; code: string }[] };
  expect(status).toBe(1);
  expect(
    problems.filter(({ code }) => code === 'include').map(({ path }) => path.slice(folder.length)),
  ).toEqual(['/one.yml', '/two.yml']);
  const inPack = problems.filter(({ path }) => path.endsWith('greet.yml'));
  expect(new Set(inPack.map((one) => JSON.stringify(one))).size).toBe(inPack.length);
});
