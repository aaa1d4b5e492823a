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

describe('the stored form of a session', () => {
  it('can be opened only with the id of the session', () => {
    const sealed = sealSession(id, content);

    expect(unsealSession(id, sealed)).toEqual(content);
    expect(unsealSession(`${id}x`, sealed)).toBeUndefined();
    expect(unsealSession(keyOfSession(id), sealed)).toBeUndefined();
  });

  it('reveals nothing about the session, and is different each time', () => {
    const sealed = sealSession(id, content);
    const bytes = Buffer.from(sealed, 'base64url').toString('latin1');

    // Only long texts are checked: short texts may occur in random bytes by chance.
    for (const text of [id, tokens.accessToken, tokens.refreshToken, '"is_admin":false', '"refreshToken"'])
      expect(bytes).not.toContain(text);
    expect(sealSession(id, content)).not.toBe(sealed);
  });

  it.each(['', 'AAAA', 'A'.repeat(200), '%%%'])('cannot be opened if it is replaced by %j', (sealed) => {
    expect(unsealSession(id, sealed)).toBeUndefined();
  });

  it('cannot be opened if one bit changes', () => {
    const bytes = Buffer.from(sealSession(id, content), 'base64url');

    for (let at = 0; at < bytes.length; at += 1) {
      const changed = Buffer.from(bytes);
      changed[at] = (changed[at] ?? 0) ^ 1;
      expect(unsealSession(id, changed.toString('base64url'))).toBeUndefined();
    }
  });

  it('has a key and form tokens that are specific to one session and one purpose', () => {
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
