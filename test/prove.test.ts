import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { isDrillProof, isTestProof, judgeTests, rowOf, writeTable } from '../scripts/prove/judge.ts';
import type { Drill, ReliabilityPromise } from '../scripts/prove/promise.ts';
import { promises } from '../scripts/prove/promises.ts';
import type { TestResult } from '../scripts/prove/reporter.ts';
import { loadTwins } from '../scripts/twins/twin.ts';

const root = fileURLToPath(new URL('..', import.meta.url));

describe('the table of promises', () => {
  it('has P1 to P40 once, in order, each with a proof and a twin', () => {
    expect(promises.map(({ id }) => id)).toEqual(Array.from({ length: 40 }, (_, index) => `P${index + 1}`));
    expect(promises.filter(({ proofs, twins }) => proofs.length === 0 || twins.length === 0)).toEqual([]);
  });

  it('names existing tests and twins', async () => {
    const known = new Set((await loadTwins(`${root}test/twins`)).map(({ name }) => name));
    const files = promises.flatMap(({ proofs }) => proofs.filter(isTestProof).map(({ file }) => file));

    expect(files.filter((file) => !existsSync(`${root}${file}`))).toEqual([]);
    expect(promises.flatMap(({ twins }) => twins).filter((name) => !known.has(name))).toEqual([]);
  });

  it('uses every drill', async () => {
    const proofs = promises.flatMap(({ proofs: own }) => own.filter(isDrillProof));
    const used = await Promise.all(proofs.map(async (proof) => (await proof.drill()).drill));
    const files = readdirSync(`${root}scripts/prove/drills`);
    const drills = await Promise.all(
      files.map(
        async (file) => ((await import(`../scripts/prove/drills/${file}`)) as { drill: Drill }).drill,
      ),
    );

    expect(files.filter((_, index) => !used.includes(drills[index] as Drill))).toEqual([]);
    expect(used.filter((drill) => !drills.includes(drill))).toEqual([]);
  });
});

const row: ReliabilityPromise = {
  id: 'P1',
  promise: 'Nothing is lost.',
  target: { quick: '0 of 10', full: '0 of 1,000' },
  proofs: [],
  twins: [],
};
const result = (changes: Partial<TestResult>): TestResult => ({
  file: 'test/a.test.ts',
  name: 'a store > loses nothing',
  state: 'passed',
  figure: undefined,
  note: '',
  ...changes,
});
const judge = (...tests: readonly TestResult[]) =>
  judgeTests({ file: 'test/a.test.ts', titled: /loses/ }, tests);

describe('a row', () => {
  it('contains the figure measured by its tests, or the number of tests', () => {
    expect(judge(result({ figure: '0 of 10 lost' }), result({}))).toEqual({
      verdict: 'ok',
      figure: '0 of 10 lost',
    });
    expect(judge(result({}), result({}))).toEqual({ verdict: 'ok', figure: '2 tests passed' });
  });

  it('is broken if a test failed or no test ran', () => {
    const failed = result({ state: 'failed', note: 'expected 1 to be 0' });

    expect(judge(result({}), failed)).toMatchObject({
      verdict: 'broken',
      figure: expect.stringContaining('expected 1 to be 0'),
    });
    expect(judge(result({ file: 'test/b.test.ts' }), result({ name: 'another' }))).toMatchObject({
      verdict: 'broken',
    });
    expect(rowOf(row, [], true).verdict).toBe('broken');
  });

  it('is skipped with the reason if all tests of a proof are skipped', () => {
    const skipped = judge(result({ state: 'skipped', note: 'strace is not installed' }));

    expect(skipped).toEqual({ verdict: 'skipped', figure: 'strace is not installed' });
    expect(rowOf(row, [{ verdict: 'ok', figure: '0 of 10 lost' }, skipped], true)).toEqual({
      id: 'P1',
      promise: 'Nothing is lost.',
      target: '0 of 10',
      figure: '0 of 10 lost; skipped: strace is not installed',
      verdict: 'skipped',
    });
  });

  it('is written between the two markers of the page, sorted by its id', () => {
    const page = readFileSync(`${root}docs/reliability.md`, 'utf8');
    const rowNamed = (id: string, figure: string) =>
      rowOf({ ...row, id }, [{ verdict: 'ok', figure }], false);
    const first = writeTable(page, [rowNamed('P10', 'c'), rowNamed('P2', 'old')], 'yesterday');
    const written = writeTable(first, [rowNamed('P1', 'a | b'), rowNamed('P2', 'new')], 'today');
    const table = written.split('\n').filter((line) => /^\| P(1|2|10) \|/.test(line));

    expect(table).toEqual([
      '| P1 | Nothing is lost. | a \\| b | 0 of 1,000 | ok | today |',
      '| P2 | Nothing is lost. | new | 0 of 1,000 | ok | today |',
      '| P10 | Nothing is lost. | c | 0 of 1,000 | ok | yesterday |',
    ]);
    expect(written.startsWith(page.slice(0, 200))).toBe(true);
    expect(() => writeTable('# A page', [], '')).toThrow('has no lines');
  });
});
