import type { ClientOptions } from '../../../client/client.ts';
import { createLimiter } from '../../../client/limiter.ts';
import type { OAuth2, Tokens } from '../../../client/oauth2.ts';
import { operations } from '../../../contract/operations.ts';
import type { Clock } from '../../../platform/clock.ts';
import type { Viewer } from '../viewer.ts';
import { createForgeViewer } from './forge-viewer.ts';
import { createPersonalClient, type ShareRenewal } from './personal-client.ts';
import type { AccountSession } from './session-seal.ts';

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
  clock: Pick<Clock, 'monotonicMs'>,
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
