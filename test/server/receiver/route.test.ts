import fc from 'fast-check';
import type { FastifyInstance } from 'fastify';
import { afterEach, describe, expect, it } from 'vitest';
import { probeReceiver } from '../../../src/cli/connection/hooks/probe-receiver.ts';
import { ReeveError } from '../../../src/platform/errors.ts';
import { createLog } from '../../../src/platform/log.ts';
import type { ReceiverOptions } from '../../../src/server/receiver/route.ts';
import type { Store } from '../../../src/store/store.ts';
import { routeDelivery } from '../../../src/work/runs/route-delivery.ts';
import { propertyRuns, recordFigure } from '../../support/figure.ts';
import {
  authorization,
  makeEntry,
  makeHeaders,
  makePush,
  makeReceiver,
  secret,
  sender,
  sign,
} from './make.ts';

let app: FastifyInstance;
let store: Store;
const start = async (options: Partial<ReceiverOptions> = {}): Promise<void> => {
  ({ app, store } = await makeReceiver(options));
};
const post = (payload: string | Buffer, headers: Record<string, string> = makeHeaders(payload)) =>
  app.inject({ method: 'POST', url: '/webhook', payload, headers });
const storedCount = async (): Promise<number> =>
  Object.values(await store.counts()).reduce((sum, count) => sum + count, 0);

afterEach(() => app.close());

describe('a delivery that passes every guard', () => {
  it('is answered 202 with our id, and stored unchanged', async () => {
    const stored: string[] = [];
    await start({
      onAnswer: (status, reason) => stored.push(`${status} ${reason}`),
      onStored: () => stored.push('woken'),
    });
    const body = JSON.stringify(makePush(), undefined, 2);
    const headers = makeHeaders(body);

    const answer = await post(body, headers);

    const { id } = answer.json<{ id: string }>();
    const delivery = await store.readDelivery(id);
    expect(answer.statusCode).toBe(202);
    expect(Buffer.from(delivery?.body ?? []).toString()).toBe(body);
    expect(delivery).toMatchObject({
      uuid: headers['x-gitea-delivery'],
      eventType: 'push',
      entry: 'all',
      state: 'accepted',
    });
    expect(stored).toEqual(['202 stored', 'woken']);
  });

  it('is stored with its headers; of headers that may be secret, only the names are stored', async () => {
    await start();
    const body = JSON.stringify(makePush());
    const canary = 'canary-8f3a1c';
    const headers = makeHeaders(body, {
      'user-agent': 'Go-http-client/1.1',
      'x-github-delivery': '5f7c',
      'x-hub-signature-256': `sha256=${canary}`,
      cookie: `session=${canary}`,
      'proxy-authorization': canary,
      'x-api-key': canary,
      'x-forwarded-for': canary,
      traceparent: canary,
    });

    const { id } = (await post(body, headers)).json<{ id: string }>();

    const kept = await store.readHeaders(id);
    const storedAs = (name: string): unknown => kept?.headers.find((header) => header.name === name);
    expect(kept?.headers.map(({ name }) => name)).toEqual(expect.arrayContaining(Object.keys(headers)));
    expect(storedAs('user-agent')).toEqual({ name: 'user-agent', value: 'Go-http-client/1.1' });
    expect(storedAs('x-gitea-delivery')).toEqual({
      name: 'x-gitea-delivery',
      value: headers['x-gitea-delivery'],
    });
    expect(storedAs('x-github-delivery')).toEqual({ name: 'x-github-delivery', value: '5f7c' });
    expect(storedAs('content-length')).toEqual({ name: 'content-length', value: String(body.length) });
    for (const name of ['authorization', 'x-gitea-signature', 'x-hub-signature-256', 'cookie', 'x-api-key'])
      expect(storedAs(name), name).toEqual({ name });
    const text = JSON.stringify(kept);
    for (const hidden of [canary, authorization, secret, sign(body)]) expect(text).not.toContain(hidden);
  });

  it('is stored with a limited number of headers, only plain values, and the number of omitted headers', async () => {
    await start();
    const body = JSON.stringify(makePush());
    const many = Object.fromEntries(Array.from({ length: 80 }, (_, n) => [`x-more-${n}`, 'value']));

    const { id } = (
      await post(body, makeHeaders(body, { accept: 'x'.repeat(201), [`x-${'n'.repeat(80)}`]: '1', ...many }))
    ).json<{ id: string }>();

    const kept = await store.readHeaders(id);
    expect(kept?.headers).toHaveLength(64);
    expect(kept?.leftOut).toBeGreaterThan(20);
    expect(kept?.headers).toContainEqual({ name: 'accept' });
    expect(JSON.stringify(kept)).not.toContain('nnnn');
  });

  it('is answered 200 with its existing id if its uuid is known', async () => {
    const seen: string[] = [];
    await start({
      onAnswer: (status, reason) => seen.push(`${status} ${reason}`),
      onStored: () => seen.push('woken'),
    });
    const body = JSON.stringify(makePush());
    const headers = makeHeaders(body);

    const first = await post(body, headers);
    const second = await post(body, headers);

    expect([first.statusCode, second.statusCode]).toEqual([202, 200]);
    expect(seen).toEqual(['202 stored', 'woken', '200 known']);
    expect(second.json()).toEqual(first.json());
    expect(await storedCount()).toBe(1);
  });

  it('is answered 202 as a copy if the same event arrives through another hook', async () => {
    const seen: string[] = [];
    await start({
      onAnswer: (status, reason) => seen.push(`${status} ${reason}`),
      onStored: () => seen.push('woken'),
    });
    const body = JSON.stringify(makePush());

    await post(body);
    const second = await post(body);

    expect(second.statusCode).toBe(202);
    expect(seen).toEqual(['202 stored', 'woken', '202 copy']);
    expect(await store.counts()).toMatchObject({ accepted: 1, settled: 1 });
  });

  it('may have no repository if the scope is the whole forge', async () => {
    await start({ secrets: [makeEntry({ hmac: [] })] });
    const body = JSON.stringify({ action: 'created', package: { repository: null }, sender });

    const answer = await post(body, makeHeaders(body, { 'x-gitea-event-type': 'package' }));

    expect(answer.statusCode).toBe(202);
    const [delivery] = (await store.listDeliveries()).items;
    expect(delivery?.lane).toBeDefined();
    expect(delivery?.repository).toBeUndefined();
  });

  it('may come from a user agent with the name of the probe', async () => {
    await start();
    const body = JSON.stringify(makePush());

    expect((await post(body, makeHeaders(body, { 'user-agent': 'reeve-probe' }))).statusCode).toBe(202);
  });

  it('may be of an unknown kind', async () => {
    await start({ secrets: [makeEntry({ hmac: [] })] });

    const answer = await post('{}', makeHeaders('{}', { 'x-gitea-event-type': 'moon_landing' }));

    expect(answer.statusCode).toBe(202);
  });

  it('may be signed in any of the four headers, with any valid secret', async () => {
    const newer = 'another-secret-for-rotation-of-the-first';
    await start({ secrets: [makeEntry({ hmac: [secret, newer] })] });
    const send = (header: string, prefix: string, key: string) => {
      const body = JSON.stringify(makePush());
      return post(body, makeHeaders(body, { 'x-gitea-signature': '', [header]: prefix + sign(body, key) }));
    };

    for (const key of [secret, newer]) {
      expect((await send('x-gitea-signature', '', key)).statusCode).toBe(202);
      expect((await send('x-forgejo-signature', '', key)).statusCode).toBe(202);
      expect((await send('x-gogs-signature', '', key)).statusCode).toBe(202);
      expect((await send('x-hub-signature-256', 'sha256=', key)).statusCode).toBe(202);
    }
  });

  it('may be a form, signed over the JSON inside, and is stored as that JSON', async () => {
    await start();
    const json = JSON.stringify({ ...makePush(), note: 'ü & = + %' });
    const form = new URLSearchParams({ payload: json }).toString();

    const answer = await post(
      form,
      makeHeaders(json, { 'content-type': 'application/x-www-form-urlencoded' }),
    );

    const delivery = await store.readDelivery(answer.json<{ id: string }>().id);
    expect(answer.statusCode).toBe(202);
    expect(Buffer.from(delivery?.body ?? []).toString()).toBe(json);
    expect(delivery?.contentType).toBe('application/x-www-form-urlencoded');
  });
});

describe('each guard responds with its status and stores nothing', () => {
  const body = JSON.stringify(makePush());
  const deep = `${'['.repeat(65)}${']'.repeat(65)}`;
  const headerOnly = { secrets: [makeEntry({ hmac: [] })] };
  const scoped = { secrets: [makeEntry({ name: 'acme', scope: ['acme/*'] })] };
  const elsewhere = JSON.stringify(makePush({ id: 8, full_name: 'evil/tool' }));
  const nowhere = JSON.stringify({ action: 'created', package: { repository: null }, sender });
  const ofPackage = { 'x-gitea-event-type': 'package' };
  const form = { 'content-type': 'application/x-www-form-urlencoded' };
  const near = sign(body);
  // Everything else is valid, so the added key is the only possible reason for the refusal.
  const poisoned = (member: string): string => body.replace('{', `{${member},`);
  type Row = [string, number, Partial<ReceiverOptions>, string, Record<string, string | undefined>];
  const rows: Row[] = [
    ['another type', 415, {}, body, { 'content-type': 'text/plain' }],
    ['no type', 415, {}, body, { 'content-type': undefined }],
    ['a compressed body', 415, {}, body, { 'content-encoding': 'gzip' }],
    ['a body over the limit', 413, { maxBodyBytes: 20 }, body, {}],
    ['no authorization header', 401, {}, body, { authorization: undefined }],
    ['an empty authorization header', 401, {}, body, { authorization: '' }],
    ['a wrong authorization header', 401, {}, body, { authorization: `${authorization}x` }],
    ['no signature', 401, {}, body, { 'x-gitea-signature': undefined }],
    ['an empty signature', 401, {}, body, { 'x-gitea-signature': '', 'x-hub-signature-256': 'sha256=' }],
    ['a signature of something else', 401, {}, body, { 'x-gitea-signature': sign(`${body} `) }],
    ['a signature in capitals', 401, {}, body, { 'x-gitea-signature': near.toUpperCase() }],
    [
      'a signature with a prefix where none belongs',
      401,
      {},
      body,
      { 'x-gitea-signature': `sha256=${near}` },
    ],
    ['a cut signature', 401, {}, body, { 'x-gitea-signature': near.slice(0, -1) }],
    ['a signature twice', 401, {}, body, { 'x-gitea-signature': `${near}, ${near}` }],
    ['an empty body', 401, {}, '', {}],
    ['a form without payload', 401, {}, 'nothing=here', form],
    ['no delivery header', 400, {}, body, { 'x-gitea-delivery': undefined }],
    ['no event header', 400, {}, body, { 'x-gitea-event': undefined, 'x-gitea-event-type': undefined }],
    ['an endless event header', 400, {}, body, { 'x-gitea-event-type': 'x'.repeat(201) }],
    ['a body that is not JSON', 400, headerOnly, '{"a":', {}],
    ['a body that is a number', 400, headerOnly, '7', {}],
    ['a body with a prototype key', 400, headerOnly, poisoned('"__proto__":{"isAdmin":true}'), {}],
    ['an escaped prototype key', 400, headerOnly, poisoned('"\\u005f_proto__":{"isAdmin":true}'), {}],
    ['a constructor with a prototype', 400, headerOnly, poisoned('"constructor":{"prototype":{"a":1}}'), {}],
    ['a body that is too deep', 400, headerOnly, deep, {}],
    ['a body that does not fit its kind', 400, headerOnly, '{"repository":{}}', {}],
    ['an empty body without a signature to check', 400, headerOnly, '', {}],
    ['a repository outside the scope', 403, scoped, elsewhere, {}],
    ['no repository in a narrow scope', 403, scoped, nowhere, ofPackage],
  ];

  it.each(rows)('%s: %i', async (_title, status, options, payload, given) => {
    await start(options);

    const answer = await post(payload, makeHeaders(payload, given));

    expect(answer.statusCode).toBe(status);
    expect(answer.json()).toEqual({ message: expect.any(String) });
    expect(await storedCount()).toBe(0);
  });

  it.each(['GET', 'HEAD', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'] as const)('%s: 405', async (method) => {
    await start();

    const answer = await app.inject({ method, url: '/webhook', headers: makeHeaders('') });

    expect(answer.statusCode).toBe(405);
    expect(answer.headers.allow).toBe('POST');
  });

  it('another path: 404', async () => {
    await start();

    for (const url of ['/webhook/', '/webhook/x', '/Webhook'])
      expect(
        (await app.inject({ method: 'POST', url, payload: body, headers: makeHeaders(body) })).statusCode,
      ).toBe(404);
    expect(await storedCount()).toBe(0);
  });

  it('does not reveal which guard failed', async () => {
    await start();

    const wrongHeader = await post(body, makeHeaders(body, { authorization: 'wrong' }));
    const wrongSignature = await post(body, makeHeaders(body, { 'x-gitea-signature': 'wrong' }));

    expect(wrongHeader.body).toBe(wrongSignature.body);
  });

  it('recognises a probe by setup or doctor only with known secrets, and logs no warning for it', async () => {
    const lines: string[] = [];
    const answers: string[] = [];
    await start({
      log: createLog({ destination: { write: (line) => void lines.push(line) } }),
      onAnswer: (_status, answer) => void answers.push(answer),
    });
    const port = Number(new URL(await app.listen({ port: 0, host: '127.0.0.1' })).port);
    const url = `http://127.0.0.1:${port}/webhook`;

    expect(await probeReceiver(url, makeEntry())).toEqual({ who: 'ours' });
    expect(await probeReceiver(url, makeEntry({ hmac: ['another-secret-of-24-bytes-or-more'] }))).toEqual({
      who: 'other-secrets',
    });

    expect(answers).toEqual(['probe', 'unauthorized']);
    const levels = lines.map((line) => JSON.parse(line)).map(({ level, msg }) => `${level} ${msg}`);
    expect(levels[0]).toBe('30 setup or doctor asked whether these secrets are known here');
    expect(await storedCount()).toBe(0);
  });

  it('answers 503 with Retry-After if the store refuses', async () => {
    await start({
      store: {
        accept: async () => {
          throw new ReeveError('store-unwritable', 'the disk is full', { retryAfterMs: 4_200 });
        },
      },
    });

    const answer = await post(body);

    expect(answer.statusCode).toBe(503);
    expect(answer.headers['retry-after']).toBe('5');
    expect(answer.body).not.toContain('disk');
  });
});

it('consecutive large deliveries use the same memory', async () => {
  await start({ maxBodyBytes: 1_000_000, budgetBytes: 2_000_000 });

  const statuses: number[] = [];
  for (const letter of 'abcd')
    statuses.push((await post(JSON.stringify({ ...makePush(), text: letter.repeat(900_000) }))).statusCode);

  expect(statuses).toEqual([202, 202, 202, 202]);
});

describe('a body whose fields do not fit its event type', () => {
  const issue = { number: 7, title: 'One' };
  const good = {
    action: 'opened',
    number: 7,
    issue,
    repository: { id: 7, full_name: 'acme/tool', owner: { id: 3, login: 'acme' } },
    sender: { id: 1, login: 'ada' },
  };
  const rows: readonly [string, Record<string, unknown>, string][] = [
    ['a repository that is a number', { repository: 5 }, 'repository must be an object, found a number'],
    ['no repository', { repository: null }, 'repository must be an object, but is null'],
    [
      'the id of the repository as a text',
      { repository: { ...good.repository, id: '7' } },
      'repository.id must be a positive whole number, found a text',
    ],
    [
      'a name of the repository without its owner',
      { repository: { id: 7, full_name: 'tool' } },
      'repository.full_name must be a text like "owner/name", found a text',
    ],
    ['no sender', { sender: null }, 'sender must be an object, but is null'],
    ['a sender without id', { sender: {} }, 'sender.id must be the id of an account, but is missing'],
    ['a negative number', { number: -7 }, 'number must be a positive whole number, found a number'],
    ['a list in place of the issue', { issue: [issue] }, 'issue must be an object, found a list'],
    [
      'an issue without number',
      { issue: {} },
      'issue.number must be a positive whole number, but is missing',
    ],
    ['an action that is no text', { action: 1 }, 'action must be a text, found a number'],
  ];
  const headersOf = (body: string) => makeHeaders(body, { 'x-gitea-event-type': 'issues' });

  it.each(rows)(
    '(%s) is answered 400 if it is parsed before the response',
    async (_title, change, problem) => {
      await start({ secrets: [makeEntry({ hmac: [] })] });
      const body = JSON.stringify({ ...good, ...change });

      const answer = await post(body, headersOf(body));

      expect(answer.statusCode).toBe(400);
      expect(answer.json()).toEqual({ message: `the body does not fit issues: ${problem}` });
      expect(await storedCount()).toBe(0);
    },
  );

  it.each(rows)('(%s) is otherwise accepted, and dead with that reason', async (_title, change, problem) => {
    await start();
    const body = JSON.stringify({ ...good, ...change });

    const answer = await post(body, headersOf(body));
    const [delivery] = await store.unrouted(1);

    expect(answer.statusCode).toBe(202);
    expect(delivery && routeDelivery(delivery).routing).toMatchObject({
      to: 'dead',
      reason: `the body does not fit issues: ${problem}`,
    });
  });

  it('is accepted and assigned its lane if all fields fit', async () => {
    await start();
    const body = JSON.stringify(good);

    await post(body, headersOf(body));
    const [delivery] = await store.unrouted(1);

    expect(delivery && routeDelivery(delivery).routing).toMatchObject({ to: 'lane', lane: '7#7' });
  });
});

describe('entries of secrets', () => {
  const acme = makeEntry({
    name: 'acme',
    scope: ['acme/*'],
    authorization: ['Bearer value-for-acme-alone-xxxxx'],
    hmac: ['hmac-for-acme-alone-xxxxxxxxx'],
  });
  const umbra = makeEntry({
    name: 'umbra',
    scope: ['umbra/*'],
    authorization: ['Bearer value-for-umbra-alone-xxxx'],
    hmac: ['hmac-for-umbra-alone-xxxxxxxx'],
  });
  const send = (fullName: string, header: string, key: string) => {
    const body = JSON.stringify(makePush({ id: 1, full_name: fullName }));
    return post(body, makeHeaders(body, { authorization: header, 'x-gitea-signature': sign(body, key) }));
  };

  it('are never combined: header and signature must pass the same entry', async () => {
    await start({ secrets: [acme, umbra] });

    const mixed = await send('acme/x', acme.authorization[0] ?? '', umbra.hmac[0] ?? '');

    expect(mixed.statusCode).toBe(401);
  });

  it('cover only their own scope, whatever the case of the name', async () => {
    await start({ secrets: [acme, umbra] });

    const own = await send('Acme/x', acme.authorization[0] ?? '', acme.hmac[0] ?? '');
    const foreign = await send('umbra/x', acme.authorization[0] ?? '', acme.hmac[0] ?? '');
    const nested = await send('acme/x/../../umbra/y', acme.authorization[0] ?? '', acme.hmac[0] ?? '');

    expect([own.statusCode, foreign.statusCode, nested.statusCode]).toEqual([202, 403, 400]);
    expect((await store.listDeliveries()).items).toMatchObject([
      { entry: 'acme', lane: '1', repository: 'Acme/x' },
    ]);
  });

  it('that both pass are resolved to the entry whose scope fits', async () => {
    await start({
      secrets: [makeEntry({ name: 'one', scope: ['one/*'] }), makeEntry({ name: 'two', scope: ['two/*'] })],
    });

    const answer = await send('two/x', authorization, secret);

    expect(answer.statusCode).toBe(202);
    expect((await store.listDeliveries()).items).toMatchObject([{ entry: 'two' }]);
  });

  it('that pass with a signature for the whole forge are trusted before the body is parsed', async () => {
    await start();

    const answer = await post('{"not": JSON');

    expect(answer.statusCode).toBe(202);
    expect((await store.unrouted(5))[0]?.lane).toBeUndefined();
  });
});

describe('a client that fails too often', () => {
  it('gets 429, while a valid delivery from the same address is accepted', async () => {
    await start({ failuresPerMinute: 3 });
    const body = JSON.stringify(makePush());

    const failures: number[] = [];
    for (let count = 0; count < 5; count += 1) {
      failures.push((await post(body, makeHeaders(body, { authorization: 'wrong' }))).statusCode);
    }
    const good = await post(body);

    expect(failures).toEqual([401, 401, 401, 429, 429]);
    expect(good.statusCode).toBe(202);
  });

  it('cannot choose which address its failures count against', async () => {
    await start({ failuresPerMinute: 1 });
    const body = JSON.stringify(makePush());
    const from = async (address: string) =>
      (await post(body, makeHeaders(body, { authorization: 'wrong', 'x-forwarded-for': address })))
        .statusCode;

    expect([await from('10.0.0.1'), await from('10.0.0.2')]).toEqual([401, 429]);
  });
});

describe('garbage', () => {
  it('never crashes the receiver, never reaches a prototype, and is always answered in JSON', async (context) => {
    let sent = 0;
    await start({ secrets: [makeEntry({ hmac: [] })], failuresPerMinute: 1e9 });
    const text = fc.oneof(
      fc.json({ maxDepth: 6 }),
      fc.string({ unit: 'binary', maxLength: 200 }),
      fc.constantFrom(
        '{"__proto__":1}',
        '{"a":"\\ud800"}',
        '[1e999]',
        '\ufeff{}',
        '{"repository":[]}',
        'null',
        '[[[[',
      ),
      fc.json().map((json) => `{"ref":${json},"before":1,"after":${json},"repository":${json}}`),
    );
    const kind = fc.constantFrom(
      'push',
      'issues',
      'pull_request',
      'package',
      'status',
      '__proto__',
      'constructor',
      'x',
    );

    await fc.assert(
      fc.asyncProperty(text, kind, fc.boolean(), async (payload, eventType, isForm) => {
        sent += 1;
        const type = isForm ? { 'content-type': 'application/x-www-form-urlencoded' } : {};
        const answer = await post(
          payload,
          makeHeaders(payload, { 'x-gitea-event-type': eventType, ...type }),
        );

        expect([202, 400]).toContain(answer.statusCode);
        expect(answer.json()).toBeTypeOf('object');
        expect(Object.keys(Object.prototype)).toEqual([]);
      }),
      { numRuns: process.env.LONG ? 100_000 : propertyRuns(300) },
    );
    recordFigure(context, `${sent.toLocaleString('en')} generated bodies: 0 crashes, 0 changed prototypes`);
  });

  it('near a credential is never accepted', async (context) => {
    const body = JSON.stringify(makePush());
    const other = 'another-secret-for-rotation-of-the-first';
    await start({ failuresPerMinute: 1e9, secrets: [makeEntry({ hmac: [secret, other] })] });
    let tried = 0;

    await fc.assert(
      fc.asyncProperty(nearMisses(body), async (changed) => {
        tried += 1;
        expect((await post(body, makeHeaders(body, changed))).statusCode).toBe(401);
      }),
      { numRuns: process.env.LONG ? 1_000_000 : propertyRuns(300) },
    );

    expect(await storedCount()).toBe(0);
    recordFigure(context, `0 of ${tried.toLocaleString('en')} near misses accepted`);
  });
});

/** Generates near misses of the credentials of a body: one of the two credentials is right, the other is wrong. */
function nearMisses(body: string): fc.Arbitrary<Record<string, string | undefined>> {
  const signatures = [sign(body), sign(body, 'another-secret-for-rotation-of-the-first')];
  const good = fc.constantFrom(...signatures);
  const flip = (text: string, at: number): string =>
    text.slice(0, at) + (text[at] === '0' ? '1' : '0') + text.slice(at + 1);
  const fullWidth = (text: string): string =>
    text.replace(/[0-9]/, (digit) => String.fromCodePoint(0xff10 + Number(digit)));
  const near = (value: fc.Arbitrary<string>) =>
    fc.oneof(
      fc.tuple(value, fc.nat(63)).map(([text, at]) => flip(text, Math.min(at, text.length - 1))),
      fc.tuple(value, fc.nat(63)).map(([text, at]) => text.slice(0, Math.min(at, text.length - 1))),
      fc
        .tuple(value, fc.string({ minLength: 1, maxLength: 8, unit: fc.constantFrom(...'0aA=,;\t\u0000') }))
        .map(([text, more]) => `${text}${more}0`),
      value.map((text) => `${text}, ${text}`),
      value.map(fullWidth),
      fc.string({ unit: 'binary', maxLength: 80 }).map((text) => `x${text}`),
      fc.constant(''),
      fc.constant(undefined),
    );
  const signature = fc.oneof(
    near(good),
    good.map((text) => text.toUpperCase()),
    good.map((text) => `sha256=${text}`),
    good.map((text) => `sha512=${text}`),
    good.map((text) => Buffer.from(text, 'hex').toString('base64')),
    fc.constantFrom(secret, sign(`${body} `), sign(body, `${secret} `), sign(body, '')),
    fc.string({ unit: fc.constantFrom(...'0123456789abcdefABCDEF='), maxLength: 80 }),
  );
  const prefixed = signature.map((text) =>
    text === undefined || text.startsWith('sha') ? undefined : `sha256=${text}`,
  );
  const authorizations = fc.oneof(
    near(fc.constant(authorization)),
    fc.constantFrom(
      authorization.toUpperCase(),
      authorization.replace('Bearer', 'Basic'),
      authorization.slice(7),
    ),
  );
  const name = fc.constantFrom('x-gitea-signature', 'x-forgejo-signature', 'x-gogs-signature');
  return fc.oneof(
    fc.tuple(name, signature).map(([header, value]) => ({ 'x-gitea-signature': undefined, [header]: value })),
    prefixed.map((value) => ({ 'x-gitea-signature': undefined, 'x-hub-signature-256': value })),
    // A signature without the required prefix.
    good.map((value) => ({ 'x-gitea-signature': undefined, 'x-hub-signature-256': value })),
    authorizations.map((value) => ({ authorization: value })),
  );
}
