import { describe, expect, it } from 'vitest';
import { createActionMemory } from '../../src/actions/memory.ts';
import { notify } from '../../src/actions/notify.ts';
import type { PlanContext } from '../../src/actions/plan-context.ts';
import { createNamedSecrets } from '../../src/actions/secrets.ts';
import type { OutgoingMessage } from '../../src/actions/sent-messages.ts';
import type { Subject } from '../../src/contract/events/subject.ts';
import { makeContext } from '../support/make-context.ts';
import { makeFacts } from '../support/make-facts.ts';

const url = 'https://chat.example.org/hooks/T0K3N';
const secretsOf = (key: number) => createNamedSecrets(new Map([['CHAT', url]]), new Uint8Array(32).fill(key));
const secrets = secretsOf(1);
type Given = Parameters<typeof notify.plan>[0];

/** Creates a rule with its own memory. `send` records the planned message as sent unless told otherwise. */
function makeRule(given: Partial<PlanContext> = {}) {
  const context = makeContext({ memory: createActionMemory(), secrets, ...given });
  const plan = async (
    written: Partial<Given>,
    subject: Partial<Subject> = {},
    more: Partial<PlanContext> = {},
  ) => {
    const [change, ...others] = await notify.plan(
      { to: { secret: 'CHAT' }, key: 'main', ...written } as Given,
      makeFacts({}, { subject }),
      { ...context, ...more },
    );
    expect(others).toEqual([]);
    const message = change?.input.body as OutgoingMessage | undefined;
    return { change, message, isOpen: change !== undefined && !change.already };
  };
  const send: typeof plan = async (written, subject, more) => {
    const planned = await plan(written, subject, more);
    if (planned.change && planned.isOpen)
      await notify.remember?.(planned.change, undefined, { ...context, ...more });
    return planned;
  };
  return { context, plan, send };
}

it('notify plans a POST to the name of the secret, and the change contains nothing else of the secret', async () => {
  const { change, message } = await makeRule().plan({ text: 'Hello' });

  expect(change).toMatchObject({
    operation: 'message.send',
    target: 'message:tidy/main to CHAT on #7',
    value: 'Hello',
    before: null,
    after: 'Hello',
    reads: [],
  });
  expect(message).toEqual({
    to: { secret: 'CHAT' },
    type: 'text/plain; charset=utf-8',
    content: 'Hello',
    id: expect.stringMatching(/^[\w-]{22}\.1\.[\w-]{22}$/),
  });
  expect(JSON.stringify(change)).not.toContain('chat.example.org');
});

it('notify plans JSON as given', async () => {
  const json = { text: 'A "b"', count: 3, on: true, none: null, blocks: [{ type: 'x', of: [{ y: 1.5 }] }] };

  const { change, message } = await makeRule().plan({ json });

  expect(message).toMatchObject({ type: 'application/json', content: JSON.stringify(json) });
  expect(change?.value).toEqual(json);
});

describe('the same content', () => {
  it('is sent once, and again after another content, each time with a new id', async () => {
    const { send } = makeRule();
    const ids: unknown[] = [];
    const open: boolean[] = [];
    for (const text of ['a', 'a', 'b', 'b', 'a']) {
      const sent = await send({ text });
      open.push(sent.isOpen);
      ids.push(sent.message?.id);
    }

    expect(open).toEqual([true, false, true, false, true]);
    expect(new Set(ids).size).toBe(3);
  });

  it('keeps its id until it is recorded as sent', async () => {
    const { plan, send } = makeRule();
    await send({ text: 'before' });

    const first = await plan({ text: 'a' });
    const second = await plan({ text: 'a' }, {}, { now: new Date('2026-04-01T00:00:00Z') });

    expect(first.message?.id).toBe(second.message?.id);
    expect(second.change).toEqual(first.change);
  });

  it.each<[string, Partial<Given>, Partial<Subject>, Partial<PlanContext>]>([
    ['key', { key: 'other' }, {}, {}],
    ['number', {}, { index: 8 }, {}],
    ['kind of subject', {}, { kind: 'issue' }, {}],
    ['repository', {}, { repository: { id: 2, owner: 'acme', name: 'site' } }, {}],
    ['rule', {}, {}, { rule: 'other' }],
  ])('is another message with another %s', async (_, given, subject, context) => {
    const { send } = makeRule();
    const first = await send({ text: 'a' });

    const other = await send({ text: 'a', ...given }, subject, context);

    expect(other.isOpen).toBe(true);
    expect(other.message?.id).not.toBe(first.message?.id);
  });

  it('is two messages if sent as text and as JSON', async () => {
    const { send } = makeRule();
    await send({ text: '{"a":"b"}' });

    expect((await send({ json: { a: 'b' } })).isOpen).toBe(true);
  });

  it('is recognized after the repository is renamed', async () => {
    const { send } = makeRule();
    await send({ text: 'a' });

    const again = await send({ text: 'a' }, { repository: { id: 1, owner: 'acme', name: 'renamed' } });

    expect(again.isOpen).toBe(false);
  });

  it('has a different id in another installation', async () => {
    const [one, other] = [
      await makeRule().plan({ text: 'a' }),
      await makeRule({ secrets: secretsOf(2) }).plan({ text: 'a' }),
    ];

    expect(one.message?.id).not.toBe(other.message?.id);
  });
});

describe('`when`', () => {
  it('that is false sends nothing, and the same content is sent again afterwards', async () => {
    const { send } = makeRule();
    const found = [];
    for (const when of [false, true, true, false, false, true])
      found.push((await send({ text: 'a', when })).isOpen);

    expect(found).toEqual([false, true, false, false, false, true]);
  });

  it('that is false changes no memory in a dry run', async () => {
    const { send } = makeRule();
    await send({ text: 'a' });

    await send({ text: 'a', when: false }, {}, { dryRun: true });

    expect((await send({ text: 'a' })).isOpen).toBe(false);
  });
});

describe('the memory', () => {
  it('is refreshed once a day while the content stays the same, and never in a dry run', async () => {
    const memory = createActionMemory();
    const writes: unknown[] = [];
    const watched = {
      ...memory,
      async set(key: string, value: unknown) {
        writes.push(value);
        await memory.set(key, value);
      },
      async revise(key: string, edit: (value: unknown) => unknown) {
        const before = await memory.get(key);
        const after = await memory.revise(key, edit);
        if (after !== before) writes.push(after);
        return after;
      },
    };
    const { send } = makeRule({ memory: watched });
    const at = (time: string) => ({ now: new Date(time) });

    await send({ text: 'a' }, {}, at('2026-03-01T00:00:00Z'));
    await send({ text: 'a' }, {}, at('2026-03-01T23:59:59Z'));
    await send({ text: 'a' }, {}, { ...at('2026-03-02T00:00:00Z'), dryRun: true });
    expect(writes.length).toBe(1);
    await send({ text: 'a' }, {}, at('2026-03-02T00:00:00Z'));

    expect(writes).toMatchObject([
      { number: 1, at: '2026-03-01T00:00:00.000Z' },
      { number: 1, at: '2026-03-02T00:00:00.000Z' },
    ]);
  });

  it('keeps the record of a message that another process has sent in the meantime', async () => {
    const memory = createActionMemory();
    const { send } = makeRule({ memory });
    await send({ text: 'a' }, {}, { now: new Date('2026-03-01T00:00:00Z') });
    const other = { digest: 'of another text', number: 2, at: '2026-03-03T00:00:00Z' };
    /** Keys of a memory in which another process records a message between the read and the write. */
    const keys: string[] = [];
    const raced = {
      ...memory,
      async get(key: string) {
        const known = await memory.get(key);
        keys.push(key);
        await memory.set(key, other);
        return known;
      },
    };
    const now = new Date('2026-03-03T00:00:00Z');
    const { isOpen } = await makeRule({ memory: raced }).send({ text: 'a' }, {}, { now });

    expect(isOpen).toBe(false);
    expect(await memory.get(keys[0] ?? '')).toEqual(other);
  });
});

describe('a step fails', () => {
  it('for an unknown secret, and the error names the secret', async () => {
    await expect(makeRule().plan({ text: 'a', to: { secret: 'NONE' } })).rejects.toThrow(
      'there is no secret named "NONE"',
    );
  });

  it.each(['repository', 'organization'] as const)('in a file of the %s', async (level) => {
    await expect(makeRule({ level }).plan({ text: 'a' })).rejects.toThrow('only rules of the operator');
  });

  it('for a message above 64 KiB', async () => {
    const json = { text: 'é'.repeat(33_000) };

    await expect(makeRule().plan({ json })).rejects.toThrow(
      'the message has 66011 bytes; the maximum is 65536',
    );
  });
});
