import type { FastifyInstance } from 'fastify';
import { afterEach, describe, expect, it } from 'vitest';
import { ReeveError } from '../../../src/platform/errors.ts';
import { createLog } from '../../../src/platform/log.ts';
import type { ReceiverOptions } from '../../../src/server/receiver/route.ts';
import { authorization, makeEntry, makeHeaders, makePush, makeReceiver, sender } from './make.ts';

let app: FastifyInstance;
afterEach(() => app.close());

type Line = Readonly<Record<string, unknown>>;

/**
 * Starts a receiver. Returns the lines that it logs and the responses that it counts, both of which grow with later
 * requests.
 */
async function start(options: Partial<ReceiverOptions>): Promise<{ lines: Line[]; answers: string[] }> {
  const lines: Line[] = [];
  const answers: string[] = [];
  ({ app } = await makeReceiver({
    log: createLog({ destination: { write: (line) => void lines.push(JSON.parse(line)) } }),
    onAnswer: (status, reason) => void answers.push(`${status} ${reason}`),
    ...options,
  }));
  return { lines, answers };
}

const body = JSON.stringify(makePush());
const throwing = (error: unknown): Partial<ReceiverOptions> => ({
  store: {
    accept: async () => {
      throw error;
    },
  },
});
const acme = { secrets: [makeEntry({ name: 'acme', scope: ['acme/*'] })] };
const nowhere = JSON.stringify({ action: 'created', package: { repository: null }, sender });
const [warning, failure] = [40, 50];

type Row = {
  readonly title: string;
  readonly options?: Partial<ReceiverOptions>;
  readonly method?: 'PUT';
  readonly body?: string;
  readonly headers?: Record<string, string | undefined>;
  readonly counted: string;
  readonly message: string;
  readonly line: Line;
};

const rows: readonly Row[] = [
  {
    title: 'another method',
    method: 'PUT',
    counted: '405 method',
    message: 'deliveries must be sent with POST',
    line: { level: warning, status: 405, msg: 'refused a delivery: deliveries must be sent with POST' },
  },
  {
    title: 'another type',
    headers: { 'content-type': 'text/plain' },
    counted: '415 type',
    message: 'the body must be application/json or a form, not compressed',
    line: {
      level: warning,
      status: 415,
      msg: 'refused a delivery: the body must be application/json or a form, not compressed',
    },
  },
  {
    title: 'a body over the limit',
    options: { maxBodyBytes: 20 },
    counted: '413 size',
    message: 'the body is larger than 20 bytes',
    line: { level: warning, status: 413, msg: 'refused a delivery: the body is larger than 20 bytes' },
  },
  {
    title: 'a header that no entry knows',
    headers: { authorization: 'wrong' },
    counted: '401 unauthorized',
    message: 'not authorized',
    line: {
      level: warning,
      msg: 'refused a delivery: no entry of secrets matches',
      failed: { guard: 'authorization' },
    },
  },
  {
    title: 'a signature that no entry knows',
    headers: { 'x-gitea-signature': 'a'.repeat(64) },
    counted: '401 unauthorized',
    message: 'not authorized',
    line: {
      level: warning,
      msg: 'refused a delivery: no entry of secrets matches',
      failed: [{ entry: 'all', guard: 'signature' }],
    },
  },
  {
    title: 'headers that name no delivery',
    headers: { 'x-gitea-delivery': undefined },
    counted: '400 malformed',
    message: 'the headers do not name a delivery and its event type',
    line: {
      level: warning,
      status: 400,
      msg: 'refused a delivery: the headers do not name a delivery and its event type',
    },
  },
  {
    title: 'a repository outside the scope',
    options: acme,
    body: JSON.stringify(makePush({ id: 8, full_name: 'umbra/tool' })),
    counted: '403 scope',
    message: 'umbra/tool is outside the scope',
    line: { level: warning, status: 403, msg: 'refused a delivery: umbra/tool is outside the scope' },
  },
  {
    title: 'no repository in a narrow scope',
    options: acme,
    body: nowhere,
    headers: { 'x-gitea-event-type': 'package' },
    counted: '403 scope',
    message: 'an event without a repository is outside the scope',
    line: {
      level: warning,
      status: 403,
      msg: 'refused a delivery: an event without a repository is outside the scope',
    },
  },
  {
    title: 'a store that is not available',
    options: throwing(new ReeveError('store-unwritable', 'the disk is full')),
    counted: '503 unavailable',
    message: 'the store is not available',
    line: {
      level: failure,
      msg: 'could not accept a delivery',
      error: expect.stringContaining('disk is full'),
    },
  },
  {
    title: 'a defect',
    options: throwing(new TypeError('x is not a function')),
    counted: '500 internal',
    message: 'internal error: see the log',
    line: {
      level: failure,
      msg: 'could not accept a delivery',
      error: expect.stringContaining('not a function'),
    },
  },
];

describe('a refusal', () => {
  it.each(rows)('is counted, logged and answered with its reason: $title', async (row) => {
    const { lines, answers } = await start(row.options ?? {});
    const payload = row.body ?? body;

    const answer = await app.inject({
      method: row.method ?? 'POST',
      url: '/webhook',
      payload,
      headers: makeHeaders(payload, row.headers),
    });

    expect(answers).toEqual([row.counted]);
    expect(answer.json()).toEqual({ message: row.message });
    expect(answer.headers).toMatchObject({
      'content-type': 'application/json; charset=utf-8',
      'content-length': String(answer.rawPayload.length),
    });
    expect(lines).toEqual([expect.objectContaining(row.line)]);
    if (row.line.level === warning) expect(lines[0]).toMatchObject({ address: '127.0.0.1' });
    expect(JSON.stringify(lines)).not.toContain(authorization);
  });

  it('of an address that fails too often says when to retry, and does not fill the log', async () => {
    const { lines, answers } = await start({ failuresPerMinute: 2 });
    const send = () =>
      app.inject({
        method: 'POST',
        url: '/webhook',
        payload: body,
        headers: makeHeaders(body, { authorization: 'wrong' }),
      });
    for (let count = 0; count < 2; count += 1) await send();
    const before = lines.length;

    const answer = await send();

    expect(answers.at(-1)).toBe('429 throttled');
    expect(answer.json()).toEqual({ message: 'too many refused requests' });
    expect(answer.headers['retry-after']).toBe('60');
    expect(lines).toHaveLength(before);
  });

  it.each([
    [undefined, '5'],
    [0, '1'],
    [60_000, '60'],
  ])('by a store that asks for a pause of %s ms says to retry after %s s', async (retryAfterMs, seconds) => {
    await start(throwing(new ReeveError('store-unwritable', 'full', { retryAfterMs })));

    const answer = await app.inject({
      method: 'POST',
      url: '/webhook',
      payload: body,
      headers: makeHeaders(body),
    });

    expect([answer.statusCode, answer.headers['retry-after']]).toEqual([503, seconds]);
  });
});

describe('the type of a body', () => {
  it.each([
    'application/json',
    'application/json; charset=utf-8',
    'Application/JSON;charset=UTF-8',
    ' application/json ;x=y',
  ])('%j is JSON', async (type) => {
    const { answers } = await start({});

    const answer = await app.inject({
      method: 'POST',
      url: '/webhook',
      payload: body,
      headers: makeHeaders(body, { 'content-type': type, 'content-encoding': 'identity' }),
    });

    expect(answer.statusCode).toBe(202);
    expect(answers).toEqual(['202 stored']);
  });
});
