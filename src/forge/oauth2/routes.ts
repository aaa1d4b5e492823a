import fastifyCookie from '@fastify/cookie';
import fastifyFormbody from '@fastify/formbody';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { isSameSecret } from '../../platform/http/constant-time-equal.ts';
import { type FormFields, formFieldsOf } from '../../platform/http/form.ts';
import { toUser } from '../accounts/users-rows.ts';
import { createActorReader, headerCredentials } from '../platform/access/actor.ts';
import { isPublicOnly } from '../platform/access/scopes.ts';
import {
  accessSeconds,
  publicKeyOf,
  readAccessToken,
  readRefreshToken,
  signToken,
  signTokens,
} from '../platform/access/signed-tokens.ts';
import type { ForgeContext } from '../platform/context.ts';
import { ForgeProblem } from '../platform/errors.ts';
import type { OAuth2ApplicationRow, OAuth2GrantRow, UserRow } from '../platform/rows.ts';
import { secondsOf } from '../platform/time.ts';
import { registerAuthorize } from './authorize.ts';
import { applicationOf, isSecretOf, takeCode } from './oauth2-service.ts';

type TokenFailure = { readonly error: string; readonly error_description: string };

/** Maximum size of a form, in bytes. */
const maxFormBytes = 65_536;

/** Registers the OAuth2 routes outside the API: token exchange, refresh, user information. */
export async function registerOAuth2(app: FastifyInstance, context: ForgeContext): Promise<void> {
  const readActor = createActorReader(context);
  app.removeAllContentTypeParsers();
  await app.register(fastifyFormbody, { bodyLimit: maxFormBytes });
  await app.register(fastifyCookie);
  app.addContentTypeParser('*', { parseAs: 'string', bodyLimit: maxFormBytes }, (_request, body, done) =>
    done(null, body),
  );
  registerAuthorize(app, context);

  app.post('/login/oauth/access_token', (request, reply) => {
    const form = readForm(request);
    const client = readClient(request, form);
    const answer = 'error' in client ? client : exchangeGrant(context, form, client);
    reply.header('cache-control', 'no-store');
    return reply.code('error' in answer ? 400 : 200).send(answer);
  });

  app.get('/login/oauth/keys', (_request, reply) => reply.send({ keys: [publicKeyOf(context)] }));

  app.get('/.well-known/openid-configuration', (_request, reply) => reply.send(describe(context)));

  app.post('/login/oauth/introspect', (request, reply) => introspect(context, request, reply));

  app.route({
    method: ['GET', 'POST'],
    url: '/login/oauth/userinfo',
    async handler(request, reply) {
      try {
        const refuse = () => new ForgeProblem(403, 'token does not have required scope: read:user');
        const actor = await readActor(headerCredentials(request), { scopes: ['read:user'], refuse });
        if (!actor.user || actor.isBasic) throw new ForgeProblem(401, 'no valid authorization');
        return reply.send(informationOf(context, actor.user, isPublicOnly(actor.scopes)));
      } catch (error) {
        if (!(error instanceof ForgeProblem)) throw error;
        reply.header('www-authenticate', 'Bearer realm="Gitea OAuth2"').code(error.status);
        reply.headers(error.headers);
        return reply.type('text/plain; charset=utf-8').send(error.message);
      }
    },
  });
}

/** Reads the form of a request. Clients send forms, as the standard requires, or JSON. */
function readForm({ body, headers }: FastifyRequest): FormFields {
  if (typeof body !== 'string') return formFieldsOf(body);
  if (!/^application\/json\b/i.test(headers['content-type'] ?? '')) return formFieldsOf({});
  try {
    const given: unknown = JSON.parse(body);
    const entries = typeof given === 'object' && given !== null ? Object.entries(given) : [];
    return formFieldsOf(Object.fromEntries(entries.filter(([, value]) => typeof value === 'string')));
  } catch {
    // Invalid JSON counts as an empty body, which does not name a client.
    return formFieldsOf({});
  }
}

type OAuth2Client = { readonly id: string; readonly secret: string };

function readBasic(request: FastifyRequest): OAuth2Client | undefined {
  const encoded = /^basic (\S+)$/i.exec(request.headers.authorization ?? '')?.[1];
  const [id, ...secret] = Buffer.from(encoded ?? '', 'base64')
    .toString('utf8')
    .split(':');
  return encoded !== undefined && id !== undefined && secret.length > 0
    ? { id, secret: secret.join(':') }
    : undefined;
}

/** Returns the client's credentials from the form, from the header, or from both if they agree. */
function readClient(request: FastifyRequest, form: FormFields): OAuth2Client | TokenFailure {
  const [id, secret] = [form.get('client_id'), form.get('client_secret')];
  if ((id !== '' && secret !== '') || !request.headers.authorization) return { id, secret };
  const invalid = (error_description: string) => ({ error: 'invalid_request', error_description });
  const basic = readBasic(request);
  if (!basic) return invalid('cannot parse basic auth header');
  if (id !== '' && id !== basic.id)
    return invalid('client_id in request body inconsistent with Authorization header');
  if (secret !== '' && !isSameSecret(secret, basic.secret))
    return invalid('client_secret in request body inconsistent with Authorization header');
  return basic;
}

function exchangeGrant(context: ForgeContext, form: FormFields, client: OAuth2Client): object {
  const kind = form.get('grant_type');
  const refuse = (error: string, error_description: string): TokenFailure => ({ error, error_description });
  if (kind !== 'authorization_code' && kind !== 'refresh_token') {
    const text = 'Only refresh_token or authorization_code grant type is supported';
    return refuse('unsupported_grant_type', text);
  }
  const application = applicationOf(context, client.id);
  if (!application) return refuse('invalid_client', `cannot load client with client id: "${client.id}"`);
  if (application.is_confidential && !isSecretOf(application, client.secret)) {
    const text = client.secret === '' ? 'invalid empty client secret' : 'invalid client secret';
    return refuse(kind === 'refresh_token' ? 'invalid_client' : 'unauthorized_client', text);
  }
  const grant =
    kind === 'refresh_token' ? refresh(context, form, application) : redeem(context, form, application);
  return 'error' in grant ? grant : tokensOf(context, grant, application);
}

function redeem(
  context: ForgeContext,
  form: FormFields,
  application: OAuth2ApplicationRow,
): OAuth2GrantRow | TokenFailure {
  const given = {
    code: form.get('code'),
    verifier: form.get('code_verifier'),
    redirectUri: form.get('redirect_uri'),
  };
  return context.db.transaction(() => takeCode(context, application, given));
}

function refresh(
  context: ForgeContext,
  form: FormFields,
  application: OAuth2ApplicationRow,
): OAuth2GrantRow | TokenFailure {
  const grant = readRefreshToken(context, form.get('refresh_token'));
  if (!grant) return { error: 'unauthorized_client', error_description: 'unable to parse refresh token' };
  if (grant.application_id === application.id) return grant;
  return { error: 'invalid_grant', error_description: 'refresh token belongs to a different client' };
}

function tokensOf(context: ForgeContext, grant: OAuth2GrantRow, application: OAuth2ApplicationRow): object {
  const { access, refresh: again } = signTokens(context, grant);
  const words = grant.scope.split(' ');
  const user = context.db.get<UserRow>('SELECT * FROM users WHERE id = ?', grant.user_id);
  const isOpen = words.includes('openid') && user !== undefined;
  return {
    access_token: access,
    token_type: 'bearer',
    expires_in: accessSeconds,
    refresh_token: again,
    ...(isOpen
      ? { id_token: signToken(context, identityOf(context, { grant, application, user, words })) }
      : {}),
  };
}

function identityOf(
  context: ForgeContext,
  {
    grant,
    application,
    user,
    words,
  }: { grant: OAuth2GrantRow; application: OAuth2ApplicationRow; user: UserRow; words: readonly string[] },
): object {
  const iat = secondsOf(context.clock());
  const about = informationOf(context, user, false);
  const { name, preferred_username, picture, email, groups } = about;
  const profile = {
    name,
    preferred_username,
    picture,
    profile: `${context.rootUrl()}/${user.name}`,
    website: user.website,
  };
  return {
    iss: context.rootUrl(),
    sub: about.sub,
    aud: [application.client_id],
    exp: iat + accessSeconds,
    iat,
    ...(grant.nonce === '' ? {} : { nonce: grant.nonce }),
    ...(words.includes('profile') ? profile : {}),
    ...(words.includes('email') ? { email, email_verified: user.is_active === 1 } : {}),
    ...(words.includes('groups') ? { groups } : {}),
  };
}

/**
 * Returns the user information. Groups are the user's organizations and their teams as `organization:team`; null if
 * there are none.
 */
function informationOf(context: ForgeContext, user: UserRow, isLimited: boolean) {
  const rows = context.db.all<{ organization: string; team: string }>(
    `SELECT o.name AS organization, t.lower_name AS team FROM team_members m JOIN teams t ON t.id = m.team_id
     JOIN users o ON o.id = m.org_id WHERE m.user_id = ? AND (? = 0 OR o.visibility = 'public') ORDER BY o.id, t.id`,
    user.id,
    isLimited,
  );
  const groups = new Set(rows.flatMap(({ organization, team }) => [organization, `${organization}:${team}`]));
  return {
    sub: String(user.id),
    name: user.full_name || user.name,
    preferred_username: user.name,
    email: user.email,
    picture: toUser(context, user, user).avatar_url,
    groups: groups.size > 0 ? [...groups] : null,
  };
}

/**
 * Introspects a token: a client, authenticated by the header, learns whether an access or refresh token was issued to
 * that client and is still valid.
 */
function introspect(context: ForgeContext, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const client = readBasic(request);
  const application = client && applicationOf(context, client.id);
  if (!client || !application || !isSecretOf(application, client.secret)) {
    reply.header('www-authenticate', 'Basic realm="Gitea OAuth2"').code(401);
    return reply.type('text/plain; charset=utf-8').send('no valid authorization');
  }
  const token = readForm(request).get('token');
  const grant = readAccessToken(context, token) ?? readRefreshToken(context, token);
  if (!grant || grant.application_id !== application.id) return reply.send({ active: false });
  const user = context.db.get<UserRow>('SELECT * FROM users WHERE id = ?', grant.user_id);
  return reply.send({
    active: true,
    scope: grant.scope,
    username: user?.name,
    iss: context.rootUrl(),
    sub: String(grant.user_id),
    aud: [application.client_id],
  });
}

function describe(context: ForgeContext): object {
  const root = context.rootUrl();
  const at = (name: string) => `${root}/login/oauth/${name}`;
  return {
    issuer: root,
    authorization_endpoint: at('authorize'),
    token_endpoint: at('access_token'),
    jwks_uri: at('keys'),
    userinfo_endpoint: at('userinfo'),
    introspection_endpoint: at('introspect'),
    response_types_supported: ['code', 'id_token'],
    id_token_signing_alg_values_supported: ['RS256'],
    subject_types_supported: ['public'],
    scopes_supported: ['openid', 'profile', 'email', 'groups'],
    code_challenge_methods_supported: ['plain', 'S256'],
    grant_types_supported: ['authorization_code', 'refresh_token'],
  };
}
