import { type Client, type ClientOptions, createClient } from '../../../client/client.ts';
import type { OAuth2, Tokens } from '../../../client/oauth2.ts';
import type { Clock } from '../../../platform/clock.ts';
import { ReeveError } from '../../../platform/errors.ts';
import { SignedOut } from '../viewer.ts';

/** A token is renewed this long before it ends. */
const renewBeforeMs = 30_000;

/** A person waits for the page: shorter than for the bot’s own work. */
const patience = { timeoutMs: 5_000, tries: 2 } as const;

/** Renews tokens; where processes share a session, once for all of them. */
export type ShareRenewal = (renew: () => Promise<Tokens>) => Promise<Tokens>;

type HeldTokens = {
  readonly client: Client;
  readonly tokens: Tokens;
  readonly endsMs: number;
};

/**
 * Returns what gives the client that acts as the person who signed in; its token is renewed when it ends, once for however
 * many ask. Rejects with `SignedOut` where that is no longer allowed.
 */
export function createPersonalClient(options: {
  /** Address, limiter and metrics, the same for everybody who signs in. */
  readonly forge: Pick<ClientOptions, 'url' | 'limiter' | 'onRequest' | 'signal'>;
  readonly oauth2: Pick<OAuth2, 'refresh'>;
  readonly tokens: Tokens;
  readonly clock: Pick<Clock, 'monotonicMs'>;
  readonly share?: ShareRenewal | undefined;
}): () => Promise<Client> {
  const { forge, oauth2, clock, share = (renew) => renew() } = options;
  const hold = (tokens: Tokens): HeldTokens => ({
    client: createClient({
      ...forge,
      ...patience,
      credentials: { token: tokens.accessToken, scheme: 'Bearer' },
    }),
    tokens,
    endsMs: clock.monotonicMs() + tokens.expiresInMs,
  });
  let held = hold(options.tokens);
  let renewal: Promise<void> | undefined;

  const renew = async (): Promise<void> => {
    const { refreshToken } = held.tokens;
    if (refreshToken === undefined) throw new SignedOut('the sign-in is over');
    try {
      // A renewal need not bring another token to renew with (RFC 6749, section 6).
      const refresh = async (): Promise<Tokens> => {
        const tokens = await oauth2.refresh(refreshToken);
        return { ...tokens, refreshToken: tokens.refreshToken ?? refreshToken };
      };
      held = hold(await share(refresh));
    } catch (error) {
      const isOver = error instanceof ReeveError && error.code === 'forge-refused';
      throw isOver ? new SignedOut('the forge does not renew the sign-in', { cause: error }) : error;
    }
  };

  return async () => {
    if (clock.monotonicMs() >= held.endsMs - renewBeforeMs) {
      renewal ??= renew().finally(() => {
        renewal = undefined;
      });
      await renewal;
    }
    return held.client;
  };
}
