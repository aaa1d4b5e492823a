import type { Tokens } from '../../../client/oauth2.ts';
import { systemClock } from '../../../platform/clock.ts';
import type { SessionRows } from '../../../store/session-rows.ts';
import { SignedOut } from '../viewer.ts';
import type { ShareRenewal } from './personal-client.ts';
import { type AccountSession, keyOfSession, sealSession, unsealSession } from './session-seal.ts';

/** Longer than a renewal takes. */
const claimMs = 25_000;
/** Between two looks at whether another process has renewed. */
const lookMs = 100;

/** Returns tokens as they are `ageMs` after they were sealed. */
export function agedTokens({ tokens }: AccountSession, ageMs: number): Tokens {
  return { ...tokens, expiresInMs: tokens.expiresInMs - ageMs };
}

/**
 * Returns what renews the tokens of a session once, whichever processes need it: a forge may accept each refresh token only
 * once. The others take what the first one got. `sealed` is what the tokens come from.
 */
export function createSharedRenewal(rows: SessionRows, id: string, sealed: string): ShareRenewal {
  const key = keyOfSession(id);
  let seen = sealed;
  return async (renew) => {
    for (;;) {
      const row = await rows.read(key);
      const content = row && unsealSession(id, row.sealed);
      if (row === undefined || content?.kind !== 'forge') throw new SignedOut('the session has ended');
      if (row.sealed !== seen) {
        seen = row.sealed;
        return agedTokens(content, row.ageMs);
      }
      if (await rows.claimRenewal(key, seen, claimMs)) return renewAlone(content, renew);
      await systemClock.sleep(lookMs);
    }
  };

  async function renewAlone(content: AccountSession, renew: () => Promise<Tokens>): Promise<Tokens> {
    let tokens: Tokens;
    try {
      tokens = await renew();
    } catch (error) {
      // A claim that stays only delays the next attempt.
      await rows.releaseRenewal(key).catch(() => {});
      throw error;
    }
    seen = sealSession(id, { ...content, tokens: { ...tokens } });
    await rows.reseal(key, seen);
    return tokens;
  }
}
