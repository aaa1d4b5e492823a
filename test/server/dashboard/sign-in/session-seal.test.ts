import { describe, expect, it } from 'vitest';
import {
  formTokenOf,
  keyOfSession,
  sealSession,
  unsealSession,
} from '../../../../src/server/dashboard/sign-in/session-seal.ts';

const id = 'i'.repeat(43);
const tokens = {
  accessToken: 'access-token-of-ada',
  refreshToken: 'refresh-token-of-ada',
  expiresInMs: 1_000,
};
const content = { kind: 'forge', self: { id: 7, login: 'ada', is_admin: false }, tokens } as const;

describe('what is kept of a session', () => {
  it('is opened by the id of the session alone', () => {
    const sealed = sealSession(id, content);

    expect(unsealSession(id, sealed)).toEqual(content);
    expect(unsealSession(`${id}x`, sealed)).toBeUndefined();
    expect(unsealSession(keyOfSession(id), sealed)).toBeUndefined();
  });

  it('shows nothing of it, and is never the same twice', () => {
    const sealed = sealSession(id, content);
    const bytes = Buffer.from(sealed, 'base64url').toString('latin1');

    // Long texts: a short one is found in random bytes now and then.
    for (const text of [id, tokens.accessToken, tokens.refreshToken, '"is_admin":false', '"refreshToken"'])
      expect(bytes).not.toContain(text);
    expect(sealSession(id, content)).not.toBe(sealed);
  });

  it.each(['', 'AAAA', 'A'.repeat(200), '%%%'])('is not opened where it was replaced by %j', (sealed) => {
    expect(unsealSession(id, sealed)).toBeUndefined();
  });

  it('is not opened where one bit was changed', () => {
    const bytes = Buffer.from(sealSession(id, content), 'base64url');

    for (let at = 0; at < bytes.length; at += 1) {
      const changed = Buffer.from(bytes);
      changed[at] = (changed[at] ?? 0) ^ 1;
      expect(unsealSession(id, changed.toString('base64url'))).toBeUndefined();
    }
  });

  it('has a key and marks that are of one session and one purpose', () => {
    const values = [
      keyOfSession(id),
      keyOfSession(`${id}x`),
      formTokenOf(id, 'sign-out'),
      formTokenOf(id, 'resume'),
      formTokenOf(`${id}x`, 'sign-out'),
    ];

    expect(new Set(values).size).toBe(values.length);
    for (const value of values) expect(value).not.toContain(id);
  });
});
