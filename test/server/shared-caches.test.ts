import { describe, expect, it } from 'vitest';
import type { FactMemory } from '../../src/facts/fact.ts';
import type { Admissions } from '../../src/rules/sources/admission.ts';
import type { RuleSource } from '../../src/rules/sources/rule-source.ts';
import { createNoticeTaker } from '../../src/server/shared-caches.ts';
import type { Notice } from '../../src/store/store.ts';

describe('a notice from another process', () => {
  const taken = (notice: Notice): readonly unknown[] => {
    const calls: unknown[] = [];
    const note =
      (name: string) =>
      (...given: readonly unknown[]): void => {
        calls.push([name, ...given]);
      };
    createNoticeTaker({
      rules: {
        noteMoved: note('moved'),
        forget: note('forget rules'),
        forgetAll: note('forget all rules'),
      } as unknown as RuleSource,
      admissions: {
        forget: note('forget identity'),
        forgetAll: note('forget all identities'),
      } as unknown as Admissions,
      memory: { drop: note('drop') } as unknown as FactMemory,
    })(notice);
    return calls;
  };
  const shop = { id: 7, owner: 'acme', name: 'shop' };

  it('drops the cached values of its key', () => {
    expect(taken({ topic: 'rules', key: JSON.stringify(shop) })).toEqual([['moved', shop]]);
    expect(taken({ topic: 'facts', key: '7/labels' })).toEqual([['drop', '7/labels']]);
    expect(taken({ topic: 'repository', key: '7' })).toEqual([
      ['forget identity', 7],
      ['forget rules', 7],
      ['drop', '7/'],
    ]);
  });

  it('drops all rules if it cannot be parsed, and everything if notices may have been lost', () => {
    for (const key of ['', 'no JSON', '{"id":"7"}', 'null'])
      expect(taken({ topic: 'rules', key })).toEqual([['forget all rules']]);
    expect(taken({ topic: 'everything', key: '' })).toEqual([
      ['forget all rules'],
      ['forget all identities'],
      ['drop', ''],
    ]);
  });
});
