import { expect, it } from 'vitest';
import { reportQueueEvent } from '../../../src/work/merge-queue/merge-queues.ts';
import type { WorkMetrics } from '../../../src/work/reeve.ts';
import { recordLog } from '../../support/record-log.ts';

it('an event of a queue is counted, and is one line of the log', () => {
  const { log, lines } = recordLog();
  const counted: unknown[] = [];
  const metrics: WorkMetrics = {
    countRun() {},
    countSweepRun() {},
    countQueueEvent: (event) => void counted.push(event),
  };
  const event = {
    repositoryId: 7,
    repository: 'acme/shop',
    base: 'main',
    at: new Date('2026-03-01T12:00:00.000Z'),
    kind: 'left',
    number: 4,
    reason: 'checks',
    text: 'a required check failed',
  } as const;

  reportQueueEvent(event, { metrics, log });

  expect(counted).toEqual([event]);
  const about = { repository: 'acme/shop', base: 'main', number: 4, kind: 'left', reason: 'checks' };
  expect(lines).toEqual([['info', 'merge queue: a required check failed', about]]);
});
