import { type Client, type ClientOptions, createClient } from '../../../client/client.ts';
import { createLimiter } from '../../../client/limiter.ts';
import type { OAuth2, Tokens } from '../../../client/oauth2.ts';
import { operations } from '../../../contract/operations.ts';
import type { MonotonicClock } from '../../../platform/clock.ts';
import { ReeveError } from '../../../platform/errors.ts';
import { SignedOut, type Viewer } from '../visibility.ts';
import { createForgeViewer } from './forge-viewer.ts';
import type { AccountSession } from './session-seal.ts';

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

/** How people sign in with their forge account. */
export type ForgeSignIn = {
  readonly oauth2: OAuth2;
  /** Address of the forge, as for the client. */
  readonly url: string;
  /** Where the forge sends people back to, as it is registered there. */
  readonly redirectUri: string;
  /** Called with every request that is made for a signed-in person. */
  readonly onRequest?: NonNullable<ClientOptions['onRequest']>;
  /** Ends the requests made for people, once it is aborted. */
  readonly signal?: AbortSignal;
};

/** The people who sign in with their forge account. */
export interface ForgeAccounts {
  /** Asks the forge whose tokens these are. Rejects with a `forge-…` error. */
  identify(tokens: Tokens): Promise<AccountSession>;
  /** Returns the viewer of a session. Tokens are renewed by `share`. */
  viewerOf(session: AccountSession, share?: ShareRenewal): Viewer;
}

/** Calls under way at once for everybody who signed in: the bot’s own work goes before. */
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
