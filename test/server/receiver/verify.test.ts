import { describe, expect, it } from 'vitest';
import { digestOfSecret } from '../../../src/platform/http/constant-time-equal.ts';
import { createVerify, isAuthorized } from '../../../src/server/receiver/guards.ts';
import { authorization, makeEntry, secret, sign } from './make.ts';

const body = Buffer.from('{"ref":"refs/heads/main"}');
const many = 100;
const others = (prefix: string, count = many): string[] =>
  Array.from({ length: count }, (_, at) => `${prefix}-value-of-24-bytes-or-more-${at}`);

/** Returns a list together with the set of its values that were read. */
function recordReads<Value>(values: readonly Value[]): { list: readonly Value[]; read: Set<Value> } {
  const read = new Set<Value>();
  const list = new Proxy(values, {
    get(target, key) {
      const value: unknown = Reflect.get(target, key);
      if (typeof key === 'string' && /^\d+$/.test(key)) read.add(value as Value);
      return value;
    },
  });
  return { list, read };
}

describe('a verification', () => {
  it.each(['first', 'last', 'none'] as const)(
    'tries every signing secret, so that its duration does not reveal which one matches (%s)',
    async (place) => {
      const values = others('hmac');
      if (place === 'first') values[0] = secret;
      if (place === 'last') values[many - 1] = secret;
      const { list, read } = recordReads(values);
      const verify = createVerify([makeEntry({ authorization: [], hmac: list })]);
      read.clear();

      const { verifiedEntries } = await verify({ 'x-gitea-signature': sign(body) }, body);

      expect(verifiedEntries).toHaveLength(place === 'none' ? 0 : 1);
      expect(read.size).toBe(many);
    },
  );

  it.each([
    ['first', 0],
    ['last', many - 1],
    ['none', undefined],
  ])('compares every authorization value, whichever of them matches (%s)', (_place, at) => {
    const values = others('Bearer');
    const { list, read } = recordReads(values.map(digestOfSecret));

    const known = isAuthorized(digestOfSecret(at === undefined ? 'wrong' : (values[at] ?? '')), list);

    expect(known).toBe(at !== undefined);
    expect(read.size).toBe(many);
  });

  it('tries the signature even if the authorization header is wrong', async () => {
    const { list, read } = recordReads(others('hmac'));
    const verify = createVerify([makeEntry({ hmac: list })]);
    read.clear();

    await verify({ authorization: 'wrong', 'x-gitea-signature': sign(body) }, body);

    expect(read.size).toBe(many);
  });

  it('returns every entry that passes, in order', async () => {
    const entry = (name: string, given = {}) => makeEntry({ name, scope: [`${name}/*`], ...given });
    const entries = [entry('one'), entry('foreign', { hmac: others('hmac') }), entry('two')];
    const headers = { authorization, 'x-gitea-signature': sign(body) };

    const { verifiedEntries, failed } = await createVerify(entries)(headers, body);

    expect(verifiedEntries.map(({ name }) => name)).toEqual(['one', 'two']);
    expect(failed).toEqual([{ entry: 'foreign', guard: 'signature' }]);
  });

  it('accepts any of several valid values, at any position', async () => {
    const authorizations = others('Bearer');
    const hmac = others('hmac');
    const entries = [makeEntry({ authorization: authorizations, hmac })];

    for (const at of [0, many / 2, many - 1]) {
      const headers = {
        authorization: authorizations[at] ?? '',
        'x-gitea-signature': sign(body, hmac[many - 1 - at] ?? ''),
      };
      expect((await createVerify(entries)(headers, body)).verifiedEntries).toHaveLength(1);
    }
  });
});
