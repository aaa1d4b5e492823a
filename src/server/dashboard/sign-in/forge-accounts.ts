import { type Client, type ClientOptions, createClient } from '../../../client/client.ts';
import { createLimiter } from '../../../client/limiter.ts';
import type { OAuth2, Tokens } from '../../../client/oauth2.ts';
import { operations } from '../../../contract/operations.ts';
import type { MonotonicClock } from '../../../platform/clock.ts';
import { ReeveError } from '../../../platform/errors.ts';
import { SignedOut, type Viewer } from '../visibility.ts';
import { createForgeViewer } from './forge-viewer.ts';
import type { AccountSession } from './session-seal.ts';

/** Time before expiry at which a token is renewed. */
const renewBeforeMs = 30_000;

/** Limits for requests made while a viewer waits for the page; stricter than for the bot’s own work. */
const patience = { timeoutMs: 5_000, tries: 2 } as const;

/** Renews tokens. Processes that share a session renew them only once. */
export type ShareRenewal = (renew: () => Promise<Tokens>) => Promise<Tokens>;

type HeldTokens = {
  readonly client: Client;
  readonly tokens: Tokens;
  readonly endsMs: number;
};

/**
 * Returns a function that provides the client of the signed-in person. The client's token is renewed on expiry, once
 * for all concurrent callers. Rejects with `SignedOut` if the renewal is refused.
 */
export function createPersonalClient(options: {
  /** URL, limiter and metrics, shared by all signed-in people. */
  readonly forge: Pick<ClientOptions, 'url' | 'limiter' | 'onRequest' | 'signal'>;
  readonly oauth2: Pick<OAuth2, 'refresh'>;
  readonly tokens: Tokens;
  readonly clock: MonotonicClock;
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
      // A renewal may omit the refresh token (RFC 6749, section 6).
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

/** Settings of the sign-in with forge accounts. */
export type ForgeSignIn = {
  readonly oauth2: OAuth2;
  /** URL of the forge, as for the client. */
  readonly url: string;
  /** The redirect URI registered at the forge. */
  readonly redirectUri: string;
  /** Called with every request made for a signed-in person. */
  readonly onRequest?: NonNullable<ClientOptions['onRequest']>;
  /** Aborts the requests made for signed-in people. */
  readonly signal?: AbortSignal;
};

/** Forge accounts of signed-in people. */
export interface ForgeAccounts {
  /** Returns the session for the account that these tokens belong to. Rejects with a `forge-…` error. */
  identify(tokens: Tokens): Promise<AccountSession>;
  /** Returns the viewer of a session. `share` renews the tokens. */
  viewerOf(session: AccountSession, share?: ShareRenewal): Viewer;
}

/** Maximum number of concurrent calls for all signed-in people together; the bot’s own work has priority. */
const maxAtOnce = 4;

/** Creates the accounts of a forge. */
export function createForgeAccounts(
  { oauth2, url, onRequest, signal }: ForgeSignIn,
  clock: MonotonicClock,
): ForgeAccounts {
  const forge = { url, limiter: createLimiter({ max: maxAtOnce }), onRequest, signal };
  return {
    async identify(tokens) {
      const client = await createPersonalClient({ forge, oauth2, tokens, clock })();
      const { id, login, is_admin } = await client.call(operations.getSelf, {});
      return { kind: 'forge', self: { id, login, is_admin }, tokens };
    },
    viewerOf: ({ self, tokens }, share) =>
      createForgeViewer(createPersonalClient({ forge, oauth2, tokens, clock, share }), clock, self),
  };
}
