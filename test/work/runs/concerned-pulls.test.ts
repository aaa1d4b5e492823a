import { beforeEach, describe, expect, it } from 'vitest';
import type { Client } from '../../../src/client/client.ts';
import { parseEvent } from '../../../src/contract/events/events.ts';
import type { Run } from '../../../src/engine/record.ts';
import { createFactMemory } from '../../../src/facts/ask.ts';
import { ReeveError } from '../../../src/platform/errors.ts';
import { createRuleSet } from '../../../src/rules/rule.ts';
import type { AdmittedEvent } from '../../../src/rules/sources/admission.ts';
import type { Lease } from '../../../src/store/leases.ts';
import type { Claim, DeliveryWithBody, NewJob } from '../../../src/store/store.ts';
import { createConcernedPulls } from '../../../src/work/runs/concerned-pulls.ts';
import { makeClock } from '../../support/make-clock.ts';
import { makeReeve } from '../../support/make-reeve.ts';

const repository = { id: 1, full_name: 'acme/demo', name: 'demo', owner: { id: 2 } };
const sender = { id: 3, login: 'ada' };
const sha = (index: number) => index.toString(16).padStart(40, '0');
const push = { ref: 'refs/heads/main', before: sha(1), after: sha(2), repository, sender };
const eventOf = (eventType: string, payload: object) =>
  parseEvent(eventType, { repository, sender, ...payload }) as AdmittedEvent;

let open: { number: number; head: string; base: string }[];
let lists: unknown[];
let stored: NewJob[];
let ran: number[];
let failAt: number | undefined;
beforeEach(() => {
  [open, lists, stored, ran, failAt] = [[], [], [], [], undefined];
});

const done = { facts: undefined as never, denials: 0 };

function setup() {
  const toPull = ({ number, head, base }: (typeof open)[number]) => ({
    number,
    head: { sha: head },
    base: { ref: base },
  });
  const client = {
    counted: () => client,
    async *items(_operation: unknown, { query }: { query: unknown }) {
      lists.push(query);
      yield* open.map(toPull);
    },
    async call(_operation: unknown, { query }: { query: unknown }) {
      lists.push(query);
      return open.slice(-50).map(toPull);
    },
  } as unknown as Client;
  const reeve = makeReeve({
    client,
    memory: createFactMemory({ monotonicMs: () => 0 }),
    admissions: { admit: async (_origin, event) => ({ state: 'admitted', event: event as AdmittedEvent }) },
    rules: { rulesFor: async () => ({ rules: createRuleSet([]), broken: [] }) },
    store: {
      async enqueue(job: NewJob) {
        stored.push(job);
        return { id: '1', known: false };
      },
      readDelivery: async () =>
        ({
          id: '7',
          door: 'webhook',
          eventType: 'push',
          body: Buffer.from(JSON.stringify(push)),
        }) as unknown as DeliveryWithBody,
    },
    clock: makeClock(),
  });
  return createConcernedPulls(reeve, {
    async attempt(_delivery, event) {
      const number = event.subject.index ?? 0;
      if (number === failAt) {
        failAt = undefined;
        return { ...done, run: {} as Run, retry: new ReeveError('forge-unavailable', 'down') };
      }
      ran.push(number);
      return { ...done, run: { id: String(number) } as Run };
    },
    leaveWaiting: async () => {},
  });
}

const delivery = { id: '7', door: 'webhook' } as Claim;
const force = { rules: createRuleSet([]), broken: [], signal: undefined };
const many = (count: number) =>
  Array.from({ length: count }, (_, index) => ({ number: index + 1, head: sha(index + 1), base: 'main' }));

describe('the pull requests that an event concerns', () => {
  it('are those whose head is the commit of the event', async () => {
    open = many(3);
    const concerned = setup();
    const events = [
      eventOf('status', { sha: sha(2), state: 'success' }),
      eventOf('workflow_run', { action: 'completed', workflow_run: { head_sha: sha(3) } }),
      eventOf('workflow_job', { action: 'completed', workflow_job: { head_sha: sha(1) } }),
      eventOf('action_run_success', { action: 'success', run: { id: 1, commit_sha: sha(2), repository } }),
    ];
    for (const event of events) await concerned.run(delivery, event, force);

    expect(ran).toEqual([2, 3, 1, 2]);
    // The list was requested once.
    expect(lists).toHaveLength(1);
  });

  it('are those into the branch that was pushed', async () => {
    open = [...many(2), { number: 9, head: sha(9), base: 'release' }];

    await setup().run(delivery, eventOf('push', push), force);

    expect(ran).toEqual([1, 2]);
  });

  it.each([
    ['a commit that is none', 'status', { sha: '../../evil', state: 'success' }],
    ['no commit', 'workflow_run', { action: 'completed', workflow_run: {} }],
    ['a tag', 'push', { ...push, ref: 'refs/tags/v1' }],
  ])('are none for %s, without a request', async (_title, eventType, payload) => {
    open = many(3);

    expect(await setup().run(delivery, eventOf(eventType, payload), force)).toEqual({ runs: [] });
    expect([ran, lists]).toEqual([[], []]);
  });

  it('are found even if a list is cached, because a head may have moved since', async () => {
    open = many(2);
    const concerned = setup();
    await concerned.run(delivery, eventOf('status', { sha: sha(1), state: 'success' }), force);
    open = [...open, { number: 3, head: sha(77), base: 'main' }];
    await concerned.run(delivery, eventOf('status', { sha: sha(77), state: 'success' }), force);

    expect(ran).toEqual([1, 3]);
    expect(lists).toEqual([{ state: 'open' }, { state: 'open', sort: 'recentupdate', limit: 50 }]);
  });

  it('are listed again after an event that may have moved their heads', async () => {
    open = many(1);
    const concerned = setup();
    await concerned.run(delivery, eventOf('push', push), force);
    concerned.note(eventOf('push', push) as AdmittedEvent);
    await concerned.run(delivery, eventOf('push', push), force);

    // The event of this test has no admitted repository, only the repository of its payload.
    expect(lists).toHaveLength(2);
  });
});

describe('more than fifty concerned pull requests', () => {
  it('become one job, which handles ten thousand of them from checkpoint to checkpoint', async () => {
    open = many(10_000);
    const concerned = setup();

    const { runs, reason } = await concerned.run(delivery, eventOf('push', push), force);

    expect([runs, ran]).toEqual([[], []]);
    expect(reason).toContain('10000 pull requests');
    expect(stored).toMatchObject([
      { kind: 'concerned-pulls', uuid: 'concerned-pulls#7', payload: { delivery: '7' } },
    ]);
    failAt = 5_000;
    let checkpoint: unknown;
    const never = new AbortController().signal;
    const lease = {
      signal: never,
      stopping: never,
      advance: async (part: { checkpoint: unknown }) => {
        ({ checkpoint } = part);
      },
    } as unknown as Lease;
    const job = { id: '8', door: 'cron' } as Claim;
    await expect(concerned.handleJob(job, { delivery: '7' }, lease)).rejects.toThrow('down');
    expect(checkpoint).toEqual({ after: 4_992 });
    await concerned.handleJob({ ...job, checkpoint }, { delivery: '7' }, lease);

    expect(new Set(ran).size).toBe(10_000);
    expect(ran.length).toBeLessThan(10_000 + 8);
  });

  it('stop at a checkpoint when the process stops', async () => {
    open = many(60);
    const stopping = new AbortController();
    const lease = {
      signal: new AbortController().signal,
      stopping: stopping.signal,
      giveBack: (reason: string) => new Error(reason),
      advance: async () => stopping.abort(),
    } as unknown as Lease;

    await expect(setup().handleJob({ id: '8' } as Claim, { delivery: '7' }, lease)).rejects.toThrow(
      'stopping',
    );
    expect(ran).toHaveLength(8);
  });
});
