import { createCipheriv, createDecipheriv, createHmac, randomBytes } from 'node:crypto';
import { z } from 'zod';

/** Stored content of a session: who signed in, and how. */
const SessionContent = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('password') }),
  z.object({
    kind: z.literal('forge'),
    self: z.object({ id: z.number(), login: z.string(), is_admin: z.boolean().nullish() }),
    tokens: z.object({
      accessToken: z.string(),
      refreshToken: z.string().optional(),
      expiresInMs: z.number(),
    }),
  }),
]);
export type SessionContent = z.output<typeof SessionContent>;
export type AccountSession = Extract<SessionContent, { kind: 'forge' }>;

/**
 * Derives a value for one purpose from the session id. The value reveals neither the id, which is only in the cookie,
 * nor the values for other purposes.
 */
function derive(id: string, purpose: string): Buffer {
  return createHmac('sha256', id).update(purpose).digest();
}

/** Returns the storage key of a session. */
export function keyOfSession(id: string): string {
  return derive(id, 'key').toString('base64url');
}

/** Returns the CSRF token of a form of a session. */
export function formTokenOf(id: string, purpose: string): string {
  return derive(id, `form ${purpose}`).toString('hex');
}

const cipher = 'aes-256-gcm';
const nonceBytes = 12;
const tagBytes = 16;

/**
 * Encrypts the content of a session, which may contain tokens. Decryption requires the session id, which is only in the
 * cookie.
 */
export function sealSession(id: string, content: SessionContent): string {
  const nonce = randomBytes(nonceBytes);
  const sealing = createCipheriv(cipher, derive(id, 'seal'), nonce, { authTagLength: tagBytes });
  const body = Buffer.concat([sealing.update(JSON.stringify(content), 'utf8'), sealing.final()]);
  return Buffer.concat([nonce, sealing.getAuthTag(), body]).toString('base64url');
}

/** Returns the content; undefined if it was sealed for another session or by an incompatible version. */
export function unsealSession(id: string, sealed: string): SessionContent | undefined {
  const bytes = Buffer.from(sealed, 'base64url');
  const [nonce, tag] = [bytes.subarray(0, nonceBytes), bytes.subarray(nonceBytes, nonceBytes + tagBytes)];
  try {
    const opening = createDecipheriv(cipher, derive(id, 'seal'), nonce, { authTagLength: tagBytes });
    opening.setAuthTag(tag);
    const body = Buffer.concat([opening.update(bytes.subarray(nonceBytes + tagBytes)), opening.final()]);
    return SessionContent.safeParse(JSON.parse(body.toString('utf8'))).data;
  } catch {
    return undefined;
  }
}
