import { describe, expect, it } from 'vitest';
import type { StoredRuleText } from '../../../src/rules/sources/last-valid.ts';
import { ruleTextLimits } from '../../../src/store/rule-texts.ts';
import type { StoreBench } from './store-bench.ts';

const textOf = (path: string, content = `text of ${path}`): StoredRuleText => ({
  path,
  commit: 'abc',
  content,
});

/** Tests the last valid texts of rule files. */
export function describeRuleTexts(bench: StoreBench): void {
  const { advanceMs, open, reopen } = bench;
  const paths = async (place: string): Promise<readonly string[]> =>
    (await bench.store.listRuleTexts(place)).map(({ path }) => path);

  describe('rule texts', () => {
    it('are kept by location and path, survive a restart, and are seen by other processes', async () => {
      await bench.store.storeRuleTexts('one', {
        kept: [textOf('b'), textOf('a', 'ä\0 "\ud800')].map((text) => ({
          ...text,
          content: JSON.stringify(text.content),
        })),
        gone: [],
      });
      await bench.store.storeRuleTexts('two', { kept: [textOf('a')], gone: [] });
      const stored = [
        { path: 'a', commit: 'abc', content: JSON.stringify('ä\0 "\ud800'), at: bench.now },
        { path: 'b', commit: 'abc', content: '"text of b"', at: bench.now },
      ];

      expect(await (await open('reader')).listRuleTexts('one')).toEqual(stored);
      await reopen();
      expect(await bench.store.listRuleTexts('one')).toEqual(stored);
      expect(await bench.store.listRuleTexts('three')).toEqual([]);
    });

    it('are replaced and deleted together', async () => {
      await bench.store.storeRuleTexts('one', { kept: [textOf('a'), textOf('b')], gone: [] });
      await bench.store.storeRuleTexts('two', { kept: [textOf('a')], gone: [] });

      await bench.store.storeRuleTexts('one', {
        kept: [textOf('b', 'new'), textOf('c')],
        gone: ['a', 'never'],
      });

      const found = await bench.store.listRuleTexts('one');
      expect(found.map(({ path, content }) => [path, content])).toEqual([
        ['b', 'new'],
        ['c', 'text of c'],
      ]);
      expect(await paths('two')).toEqual(['a']);
    });

    it('are limited in total size: those stored longest ago are deleted first', async () => {
      const part = 'x'.repeat(ruleTextLimits.size / 4);
      for (const place of ['one', 'two', 'three', 'four']) {
        await bench.store.storeRuleTexts(place, { kept: [textOf('a', part)], gone: [] });
        advanceMs(1_000);
      }
      await bench.store.storeRuleTexts('one', { kept: [textOf('a', part)], gone: [] });
      advanceMs(1_000);

      await bench.store.storeRuleTexts('five', { kept: [textOf('a', 'small')], gone: [] });

      expect(await Promise.all(['one', 'two', 'three', 'four', 'five'].map(paths))).toEqual([
        ['a'],
        [],
        ['a'],
        ['a'],
        ['a'],
      ]);
    });

    it('of the operator are not displaced by others, and are kept however long the folder does not change', async () => {
      const part = 'x'.repeat(ruleTextLimits.size / 2);
      await bench.store.storeRuleTexts('operator /rules', { kept: [textOf('a')], gone: [] });
      for (const place of ['one', 'two', 'three']) {
        advanceMs(200 * 86_400_000);
        await bench.store.storeRuleTexts(place, { kept: [textOf('a', part)], gone: [] });
      }
      await bench.store.prune({});

      expect(await paths('operator /rules')).toEqual(['a']);
    });

    it('are deleted after a year in which no process stored them again', async () => {
      await bench.store.storeRuleTexts('old', { kept: [textOf('a')], gone: [] });
      advanceMs(364 * 86_400_000);
      await bench.store.storeRuleTexts('new', { kept: [textOf('a')], gone: [] });
      await bench.store.prune({});
      expect(await paths('old')).toEqual(['a']);
      advanceMs(2 * 86_400_000);

      await bench.store.prune({});

      expect(await Promise.all(['old', 'new'].map(paths))).toEqual([[], ['a']]);
    });
  });
}
