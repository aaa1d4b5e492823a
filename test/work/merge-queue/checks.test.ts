import { describe, expect, it } from 'vitest';
import { createUnlimitedMeter } from '../../../src/patterns/meter.ts';
import { judgeChecks } from '../../../src/work/merge-queue/look.ts';

const status = (context: string, state: string, id = 1) => ({ id, context, status: state });
const requiring = (...contexts: string[]) => ({
  name: 'main',
  enable_status_check: true,
  status_check_contexts: contexts,
});
const free = { name: 'main', enable_status_check: false };
const own = status('reeve/queue', 'pending', 9);
const judge = (base: object, all: readonly object[], expected: readonly string[] = []) =>
  judgeChecks(base as never, all as never, { expected, meter: createUnlimitedMeter() });

describe('checks that a merge queue waits for', () => {
  it.each<[string, object, readonly object[], readonly string[], object]>([
    ['required and passed', requiring('ci'), [status('ci', 'success')], [], { state: 'success' }],
    ['required and missing', requiring('ci'), [], [], { state: 'none', context: 'ci' }],
    [
      'required and pending',
      requiring('ci'),
      [status('ci', 'pending')],
      [],
      { state: 'pending', context: 'ci' },
    ],
    [
      'one failed, one missing',
      requiring('a', 'ci'),
      [status('ci', 'failure')],
      [],
      { state: 'failure', context: 'ci' },
    ],
    [
      'our own required beside another',
      requiring('reeve/queue', 'ci'),
      [own, status('ci', 'success')],
      [],
      { state: 'success' },
    ],
    ['our own required alone', requiring('reeve/queue'), [own], [], { state: 'success' }],
    [
      'a pattern that matches our own alone',
      requiring('reeve/*'),
      [own],
      [],
      { state: 'none', context: 'reeve/*' },
    ],
    ...['*', '**', '?*', '*/*', '{*,**}'].flatMap(
      (pattern): [string, object, readonly object[], readonly string[], object][] => [
        [
          `${pattern}, only the queue there`,
          requiring(pattern),
          [status('reeve/queue', 'success', 9)],
          [],
          { state: 'none', context: pattern },
        ],
        [
          `${pattern}, only statuses of our rules there`,
          requiring(pattern),
          [
            own,
            status('reeve/a', 'success'),
            status('reeve-org/b', 'success'),
            status('reeve-repo/c', 'success'),
          ],
          [],
          { state: 'pending', context: pattern },
        ],
        [
          `${pattern}, another one passed`,
          requiring(pattern),
          [own, status('reeve/a', 'success'), status('ci/build', 'success')],
          [],
          { state: 'success' },
        ],
        [
          `${pattern}, another one passed and one of our rules did not`,
          requiring(pattern),
          [own, status('reeve/a', 'failure'), status('ci/build', 'success')],
          [],
          { state: 'failure', context: 'reeve/a' },
        ],
      ],
    ),
    [
      'a pattern that matches our own and another',
      requiring('reeve/*'),
      [own, status('reeve/title', 'pending', 3)],
      [],
      { state: 'pending', context: 'reeve/title' },
    ],
    ['any required, only our own there', requiring(), [own], [], { state: 'none', context: '*' }],
    ['none required, none there', free, [own], [], { state: 'success' }],
    [
      'none required, one pending',
      free,
      [own, status('ci', 'pending')],
      [],
      { state: 'pending', context: 'ci' },
    ],
    ['none required, one failed', free, [status('ci', 'error')], [], { state: 'failure', context: 'ci' }],
    ['none required, one expected', free, [own], ['ci'], { state: 'none', context: 'ci' }],
    [
      'none required, the expected one passed',
      free,
      [own, status('ci', 'skipped')],
      ['ci'],
      { state: 'success' },
    ],
  ])('%s', (_, base, all, expected, seen) => {
    expect(judge(base, all, expected)).toEqual(seen);
  });
});
