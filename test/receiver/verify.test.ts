import { describe, expect, it } from 'vitest';
import type { RequestHeaders } from '../../src/receiver/authorization.ts';
import { createVerify } from '../../src/receiver/verify.ts';
import { authorization, makeEntry, secret, sign } from './make.ts';

/** Large enough that hashing it once per secret outweighs everything else that a verification does. */
const body = Buffer.from(`{"text":"${'a'.repeat(64 * 1024)}"}`);
const many = 100;
const others = (prefix: string, count = many): string[] =>
  Array.from({ length: count }, (_, at) => `${prefix}-value-of-24-bytes-or-more-${at}`);

/** Returns the median time of a verification in milliseconds. */
async function medianMs(
  entries: Parameters<typeof createVerify>[0],
  headers: RequestHeaders,
): Promise<number> {
  const verify = createVerify(entries);
  const times: number[] = [];
  for (let round = 0; round < 15; round += 1) {
    const startedMs = performance.now();
    await verify(headers, body);
    times.push(performance.now() - startedMs);
  }
  return times.toSorted((a, b) => a - b)[7] ?? 0;
}

describe('a verification', () => {
  it('tries every signing secret, whichever matches: the time does not show which one', async () => {
    const headers = { 'x-gitea-signature': sign(body) };
    const withSecretAt = (place: 'first' | 'last' | 'none') => {
      const hmac = others('hmac');
      if (place === 'first') hmac[0] = secret;
      if (place === 'last') hmac[many - 1] = secret;
      return [makeEntry({ authorization: [], hmac })];
    };

    const first = await medianMs(withSecretAt('first'), headers);
    const last = await medianMs(withSecretAt('last'), headers);
    const none = await medianMs(withSecretAt('none'), headers);

    // A verification that stops at the first match is about 100 times as fast there.
    expect(Math.max(first, last, none) / Math.min(first, last, none)).toBeLessThan(10);
  });

  it('tries every authorization value, whichever matches', async () => {
    const values = others('Bearer', 20_000);
    const entries = [makeEntry({ authorization: values, hmac: [] })];

    const first = await medianMs(entries, { authorization: values.at(0) ?? '' });
    const last = await medianMs(entries, { authorization: values.at(-1) ?? '' });

    expect(Math.max(first, last) / Math.min(first, last)).toBeLessThan(10);
  });

  it('tries the signature also where the authorization header is wrong', async () => {
    const entries = [makeEntry({ hmac: others('hmac') })];
    const signature = { 'x-gitea-signature': sign(body) };

    const right = await medianMs(entries, { ...signature, authorization });
    const wrong = await medianMs(entries, { ...signature, authorization: 'wrong' });

    expect(Math.max(right, wrong) / Math.min(right, wrong)).toBeLessThan(10);
  });

  it('returns every entry that passes, in their order', async () => {
    const entry = (name: string, given = {}) => makeEntry({ name, scope: [`${name}/*`], ...given });
    const entries = [entry('one'), entry('foreign', { hmac: others('hmac') }), entry('two')];
    const headers = { authorization, 'x-gitea-signature': sign(body) };

    const { vouchers, failed } = await createVerify(entries)(headers, body);

    expect(vouchers.map(({ name }) => name)).toEqual(['one', 'two']);
    expect(failed).toEqual([{ entry: 'foreign', guard: 'signature' }]);
  });

  it('accepts any of several live values, wherever they stand', async () => {
    const authorizations = others('Bearer');
    const hmac = others('hmac');
    const entries = [makeEntry({ authorization: authorizations, hmac })];

    for (const at of [0, many / 2, many - 1]) {
      const headers = {
        authorization: authorizations[at] ?? '',
        'x-gitea-signature': sign(body, hmac[many - 1 - at] ?? ''),
      };
      expect((await createVerify(entries)(headers, body)).vouchers).toHaveLength(1);
    }
  });
});
