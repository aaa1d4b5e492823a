import ky from 'ky';
import { z } from 'zod';
import { memoize } from '../platform/cache/caches.ts';
import { systemClock } from '../platform/clock.ts';
import { ReeveError } from '../platform/errors.ts';
import { createRedactor } from '../platform/redactor.ts';
import { apiRoot } from './address.ts';
import { forgeError, stopped, unreachable } from './failure.ts';

/** The OAuth2 application for sign-in with a forge account. */
export type SignInApplication = { readonly clientId: string; readonly clientSecret: string };

/** Tokens that a forge issues for a code: they act as the user who granted access. */
export type Tokens = {
  readonly accessToken: string;
  /** Absent if the forge issues none. */
  readonly refreshToken?: string | undefined;
  readonly expiresInMs: number;
};

/** OAuth2 client of one forge (RFC 6749, RFC 7636). Its endpoints are outside the API. */
export interface OAuth2 {
  /** Returns the authorization URL for a user’s browser. The forge provides it: its public host name may differ. */
  authorizeUrl(asked: {
    readonly redirectUri: string;
    readonly state: string;
    /** SHA-256 of the verifier, base64url. */
    readonly challenge: string;
    readonly scopes: readonly string[];
  }): Promise<string>;
  /** Returns the tokens for a code. Rejects with `forge-refused` if the forge rejects it. */
  redeem(code: string, proof: { readonly verifier: string; readonly redirectUri: string }): Promise<Tokens>;
  /** Returns new tokens. Rejects with `forge-refused` if the user has revoked the access. */
  refresh(refreshToken: string): Promise<Tokens>;
}

const Description = z.object({ authorization_endpoint: z.url({ protocol: /^https?$/ }) });
const TokenAnswer = z.object({
  access_token: z.string().min(1),
  refresh_token: z.string().optional(),
  expires_in: z.number().positive().optional(),
});
const TokenRefusal = z.object({ error: z.string(), error_description: z.string().optional() });

/** Tokens are valid for an hour; one without a lifetime is refreshed after a few minutes. */
const standardLifeMs = 300_000;
/** Time for which the addresses of the sign-in endpoints are cached; they rarely change and are public. */
const descriptionAgeMs = 600_000;
const maxAnswerBytes = 64 * 1024;
/** Error codes for an invalid or expired code or token (RFC 6749, section 5.2; Gitea uses the third). */
const refusals: ReadonlySet<string> = new Set(['invalid_grant', 'invalid_client', 'unauthorized_client']);

/** Creates the OAuth2 client. `url` is the URL of the forge, as for the API client; secrets are sent only there. */
export function createOAuth2(options: {
  readonly url: string;
  readonly application: SignInApplication;
  /** Timeout of one request in milliseconds, including the body; default 10,000. */
  readonly timeoutMs?: number;
  /** When aborted, ends requests in progress and refuses further ones with `stopped`. */
  readonly signal?: AbortSignal | undefined;
}): OAuth2 {
  const { application, timeoutMs = 10_000 } = options;
  const root = new URL(apiRoot(options.url).href.replace(/\/api\/v1$/, '/'));

  const send = async (path: string, form?: URLSearchParams): Promise<{ status: number; text: string }> => {
    const where = `${form ? 'POST' : 'GET'} /${path}`;
    const { signal } = options;
    if (signal?.aborted) throw stopped(where);
    // Node's fetch holds its signal weakly: a body that never arrives ends only with a promise of our own.
    const deadline = new AbortController();
    const ended = new Promise<never>((_resolve, reject) => {
      deadline.signal.addEventListener('abort', () => reject(deadline.signal.reason));
    });
    const timer = setTimeout(() => deadline.abort(new DOMException('timed out', 'TimeoutError')), timeoutMs);
    const stop = (): void => deadline.abort(signal?.reason);
    signal?.addEventListener('abort', stop, { once: true });
    const exchange = async (): Promise<{ status: number; text: string }> => {
      const response = await ky(new URL(path, root), {
        method: form ? 'post' : 'get',
        headers: { accept: 'application/json', 'user-agent': 'reeve' },
        ...(form === undefined ? {} : { body: form }),
        redirect: 'manual',
        throwHttpErrors: false,
        // A code is valid only once, so only the GET is repeated, after a lost connection.
        retry: { limit: 2, methods: ['get'] },
        timeout: false,
        signal: deadline.signal,
      });
      return { status: response.status, text: await readText(response, where) };
    };
    try {
      return await Promise.race([exchange(), ended]);
    } catch (thrown) {
      throw signal?.aborted ? stopped(where) : unreachable(where, thrown);
    } finally {
      clearTimeout(timer);
      signal?.removeEventListener('abort', stop);
    }
  };

  const ask = async (form: Record<string, string>): Promise<Tokens> => {
    const { clientId, clientSecret } = application;
    const body = new URLSearchParams({ ...form, client_id: clientId, client_secret: clientSecret });
    const { status, text } = await send('login/oauth/access_token', body);
    return readTokens(status, text, body);
  };

  const findAuthorize = memoize(
    async (): Promise<string> => {
      const { status, text } = await send('.well-known/openid-configuration');
      const described = Description.safeParse(parse(text));
      if (described.success) return described.data.authorization_endpoint;
      throw new ReeveError(
        'forge-junk',
        `GET /.well-known/openid-configuration: the forge answered ${status} without an authorization endpoint`,
      );
    },
    { maxAgeMs: descriptionAgeMs, clock: systemClock },
  );

  return {
    async authorizeUrl({ redirectUri, state, challenge, scopes }) {
      const url = new URL(await findAuthorize());
      const asked = {
        client_id: application.clientId,
        redirect_uri: redirectUri,
        response_type: 'code',
        state,
        scope: scopes.join(' '),
        code_challenge: challenge,
        code_challenge_method: 'S256',
      };
      for (const [name, value] of Object.entries(asked)) url.searchParams.set(name, value);
      return url.href;
    },
    redeem: (code, { verifier, redirectUri }) =>
      ask({ grant_type: 'authorization_code', code, code_verifier: verifier, redirect_uri: redirectUri }),
    refresh: (refreshToken) => ask({ grant_type: 'refresh_token', refresh_token: refreshToken }),
  };
}

/** Returns the text of a response up to the limit. */
async function readText(response: Response, where: string): Promise<string> {
  const pieces: Uint8Array[] = [];
  let size = 0;
  for await (const piece of response.body ?? []) {
    size += piece.length;
    if (size > maxAnswerBytes)
      throw new ReeveError('forge-unexpected', `${where}: the response exceeds ${maxAnswerBytes} bytes`);
    pieces.push(piece);
  }
  return Buffer.concat(pieces).toString('utf8');
}

/** Returns the tokens of a response. Throws `forge-refused` for a refusal; its message contains no value of `sent`. */
function readTokens(status: number, text: string, sent: URLSearchParams): Tokens {
  const json = parse(text);
  const tokens = status === 200 ? TokenAnswer.safeParse(json) : undefined;
  if (tokens?.success) {
    const { access_token, refresh_token, expires_in } = tokens.data;
    return {
      accessToken: access_token,
      refreshToken: refresh_token,
      expiresInMs: expires_in === undefined ? standardLifeMs : expires_in * 1_000,
    };
  }
  const where = 'POST /login/oauth/access_token';
  const refusal = TokenRefusal.safeParse(json);
  if (refusal.success && refusals.has(refusal.data.error)) {
    const words = withoutSent(`${refusal.data.error}: ${refusal.data.error_description ?? ''}`, sent);
    throw new ReeveError('forge-refused', `${where}: the forge answered ${status} ${words}`, { status });
  }
  if (status >= 400) throw forgeError(where, status, '', null);
  throw new ReeveError('forge-junk', `${where}: the forge answered ${status} and no token`, { status });
}

/** Returns a forge's message without the values that were sent to it. */
function withoutSent(text: string, sent: URLSearchParams): string {
  const redact = createRedactor([...sent.values()], { minLength: 1 });
  return redact(text)
    .replace(/\p{Cc}/gu, ' ')
    .slice(0, 200);
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // Without JSON, the caller reports that there is no token.
    return undefined;
  }
}
