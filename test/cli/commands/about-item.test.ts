import { expect, it } from 'vitest';
import { printAboutItem } from '../../../src/cli/commands/runs/list.ts';
import type { AboutItem } from '../../../src/work/runs/about-item.ts';
import { makeRun } from '../../store/make.ts';

const nothing: AboutItem = {
  item: { repository: 'acme/shop', index: 1 },
  repositoryId: 7,
  runs: [],
  waiting: [],
  queues: [],
  looks: [],
  isWhole: true,
};

function print(about: Partial<AboutItem>): readonly string[] {
  const lines: string[] = [];
  const terminal = {
    out: (text: string) => lines.push(...text.split('\n')),
    error: () => {},
    style: (_style: string, text: string) => text,
  };
  printAboutItem('acme/shop#1', { ...nothing, ...about }, terminal);
  return lines;
}

it('prints the place in a merge queue, and the next look with its cause', () => {
  const at = new Date('2026-03-02T03:00:00.000Z');
  const place = {
    repository: 'acme/shop',
    base: 'main',
    paused: undefined,
    blocked: undefined,
    position: 2,
    number: 1,
    priority: 0,
    phase: 'waiting',
    waitsFor: '#5',
    head: 'a',
    rule: 'queue.yml#queue',
    enteredAt: at,
    turnAt: undefined,
  } as const;

  expect(print({ queues: [place], looks: [{ at, by: { rule: '/srv/stale.yml#stale' } }] })).toEqual([
    'No run about acme/shop#1 is recorded.',
    'number 2 in the merge queue of main, waiting: waits for #5',
    'Nothing about it waits.',
    'Next look: 2026-03-02 03:00:00 UTC, by the schedule of stale',
  ]);
  expect(print({ looks: [{ at, by: { delivery: '42' } }] }).at(-1)).toBe(
    'Next look: 2026-03-02 03:00:00 UTC, by delivery 42',
  );
});

it('says if older runs were not searched', () => {
  const lines = print({ runs: [makeRun({})], isWhole: false });

  expect(lines).toContain('older runs were not searched');
  expect(lines.at(-1)).toBe('Nothing about it waits.');
});
