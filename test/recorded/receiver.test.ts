import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { makeEntry, makeReceiver } from '../server/receiver/make.ts';
import {
  type Fixture,
  fixtureAuthorization,
  fixtureSecret,
  jsonOf,
  kindOf,
  readRecordings,
} from '../support/recording/fixture.ts';

/** Returns the headers as the HTTP server passes them on. */
const received = ({ headers }: Fixture): Record<string, string> =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));

describe.each(readRecordings())('deliveries recorded from $server $version', ({ fixtures }) => {
  let made: Awaited<ReturnType<typeof makeReceiver>>;
  beforeAll(async () => {
    const entry = makeEntry({ authorization: [fixtureAuthorization], hmac: [fixtureSecret] });
    made = await makeReceiver({ secrets: [entry], failuresPerMinute: 10_000 });
  });
  afterAll(() => made.app.close());

  const send = (fixture: Fixture, changed: object = {}, body = fixture.body) =>
    made.app.inject({ method: 'POST', url: '/webhook', body, headers: { ...received(fixture), ...changed } });
  const signed = fixtures.filter(({ hook }) => hook !== 'unsigned');

  it('are accepted with their own header and signature, and stored with type and bytes', async () => {
    for (const fixture of signed) {
      const answer = await send(fixture);
      expect(answer.statusCode, `${kindOf(fixture)} ${fixture.step} ${answer.body}`).toBe(202);
    }

    const { accepted, settled } = await made.store.counts();
    const contents = new Set(signed.map((one) => `${one.eventType} ${jsonOf(one)}`));
    // Deliveries of one event from several hooks are run once.
    expect({ accepted, copies: settled }).toEqual({
      accepted: contents.size,
      copies: signed.length - contents.size,
    });
    expect(contents.size).toBeLessThan(signed.length);
  });

  it('are recognized when they are repeated', async () => {
    const before = await made.store.counts();
    for (const fixture of signed) expect((await send(fixture)).statusCode, fixture.step).toBe(200);

    expect(await made.store.counts()).toEqual(before);
  });

  it('are refused with another header, with another body, or without a signature', async () => {
    for (const fixture of signed) {
      const cases = [
        send(fixture, { authorization: 'Bearer another-value-of-24-bytes' }),
        send(fixture, {}, `${fixture.body} `),
        send(fixture, Object.fromEntries(signatureNames.map((name) => [name, '']))),
      ];
      for (const answer of await Promise.all(cases)) expect(answer.statusCode, fixture.step).toBe(401);
    }
  });

  it('are refused if unsigned', async () => {
    const unsigned = fixtures.filter(({ hook }) => hook === 'unsigned');
    expect(unsigned.length).toBeGreaterThan(0);
    for (const fixture of unsigned) {
      expect(fixture.headers['X-Hub-Signature-256']).toBe('sha256=');
      expect((await send(fixture)).statusCode).toBe(401);
    }
  });
});

const signatureNames = [
  ...[
    'x-forgejo-signature',
    'x-gitea-signature',
    'x-gogs-signature',
    'x-hub-signature',
    'x-hub-signature-256',
  ],
];
