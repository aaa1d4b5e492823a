import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import fastify, { type FastifyInstance, type FastifyReply } from 'fastify';
import { ReeveError } from '../platform/errors.ts';
import { noSchemas } from '../platform/http/no-schemas.ts';
import { type Log, silentLog } from '../platform/log.ts';
import { createPrivateFile, createPrivateFolder } from '../platform/private-files.ts';
import { registerAvatarFiles } from './accounts/avatars.ts';
import { ensureAdministrator } from './accounts/users-service.ts';
import { registerGitHttp } from './code/git-http.ts';
import { registerLfs } from './code/lfs-http.ts';
import { recover } from './code/recovery.ts';
import { handlers } from './handlers.ts';
import { createDeliveries } from './hooks/deliveries.ts';
import { createEmit } from './hooks/emit.ts';
import { registerAttachmentFiles } from './issues/attachment-files.ts';
import { registerOAuth2 } from './oauth2/routes.ts';
import { registerGenericPackages } from './packages/generic.ts';
import { registerPages } from './pages/routes.ts';
import { createPasswordGate, createPasswords } from './platform/access/password-gate.ts';
import { createAttachmentStore } from './platform/attachment-store.ts';
import {
  createBackground,
  createSyncQueue,
  type Deliveries,
  defaultFeatures,
  type Emission,
  type Features,
  type ForgeContext,
} from './platform/context.ts';
import { openDatabase } from './platform/database.ts';
import { ForgeProblem } from './platform/errors.ts';
import type { Launcher } from './platform/git/launcher.ts';
import { defaultLimits, type GitLimits } from './platform/git/limits.ts';
import { createGitStore } from './platform/git/store.ts';
import { refuseCrossSiteWrites } from './platform/http/cross-site.ts';
import { sendFailure } from './platform/http/respond.ts';
import { maxParamLength, registerOperations, sendBadRequest } from './platform/http/route.ts';
import { limitUnsentAnswers } from './platform/http/unsent-answers.ts';
import type { UserRow } from './platform/rows.ts';
import { secondsOf } from './platform/time.ts';
import { scheduleChecks } from './pulls/checks.ts';
import { resumeScheduledMerges, tryScheduledMerges } from './pulls/merge-service.ts';
import { registerReleaseDownloads } from './releases/releases.ts';
import { followPush, startMirrorSchedule } from './repositories/mirrors-service.ts';
import {
  type Control,
  createFaults,
  createMovableClock,
  ensureControlToken,
  type Faults,
  registerControl,
} from './testing/control.ts';
import { applySeed } from './testing/seed.ts';
import type { Seed, SeedFile } from './testing/seed-shape.ts';

/** An embedded forge: a real code hosting service, not a mock of its responses. */
export interface ForgeInstance {
  /** Public URL of the forge. Reading it before `listen` throws unless `rootUrl` is set. */
  readonly url: string;
  /** Starts listening and returns the URL; port 0 picks a free port. Throws `port-taken`. */
  listen(options?: { port?: number; host?: string }): Promise<string>;
  /** Creates a site administrator, or gives this password and role to an existing account. */
  createAdministrator(options: { name: string; password: string; email?: string }): Promise<UserRow>;
  /** The webhook deliveries; `idle` waits until all of them are sent. */
  readonly deliveries: Deliveries;
  /** The bearer token of `/-/control/`, if the routes are enabled. */
  readonly controlToken: string | undefined;
  /** Stops accepting requests, waits for pending work and closes the files; a temporary folder is removed. */
  close(): Promise<void>;
}

type ForgeInstanceOptions = {
  readonly clock: () => Date;
  /**
   * Folder of the database and the repositories, created with mode 0700 if missing. Absent: a temporary folder, removed
   * on close.
   */
  readonly data?: string | undefined;
  readonly log?: Log | undefined;
  /** The public URL of the forge. Absent: the address it listens on. */
  readonly rootUrl?: string | undefined;
  /** Settings of the instance that differ from Gitea's defaults. */
  readonly features?: Partial<Features> | undefined;
  /**
   * Hosts with private addresses that the hooks of every account may reach: names, addresses, networks, or `loopback`.
   * Absent: none. The hooks of site administrators may reach every address.
   */
  readonly hookHosts?: readonly string[] | undefined;
  /** Timeout of a webhook delivery. Default: 5 s, as in Gitea. */
  readonly hookTimeoutMs?: number | undefined;
  /** Limits of pushes and uploads that differ from the defaults. */
  readonly limits?: Partial<GitLimits> | undefined;
  /** Objects to create once the forge has an address, before `listen` returns. */
  readonly seed?: { readonly seed: Seed; readonly positionOf?: SeedFile['positionOf'] } | undefined;
  /**
   * The cost N of scrypt for passwords, a power of 2. Use a lower cost for an instance with many short-lived accounts.
   * Default: 16,384.
   */
  readonly passwordCost?: number | undefined;
  /**
   * Launcher that starts git for several forges of one process and outlives them. Default: the forge's own launcher.
   */
  readonly launcher?: Launcher | undefined;
  /** Mounts the routes under `/-/control/`; the forge then listens only on loopback. */
  readonly control?: boolean | undefined;
};

/**
 * Maximum size of a request body. Gitea has no limit; this limit admits a file of 20 MiB in base64 and keeps an
 * accidental upload out of memory.
 */
const bodyLimit = 32 * 1024 * 1024;

/** Creates a forge. It starts listening when `listen` is called. */
export async function createForgeInstance(options: ForgeInstanceOptions): Promise<ForgeInstance> {
  const folder = options.data ?? mkdtempSync(join(tmpdir(), 'forge-'));
  createPrivateFolder(folder, { holds: 'forge.db' });
  createPrivateFile(join(folder, 'forge.db'));
  const db = openDatabase(join(folder, 'forge.db'));
  const limits = { ...defaultLimits, ...options.limits };
  const git = createGitStore(join(folder, 'repositories'), limits, options.launcher);
  let address = options.rootUrl?.replace(/\/+$/, '');
  const rootUrl = () => {
    if (address === undefined) throw new ReeveError('internal', 'the forge has no URL before it listens');
    return address;
  };
  const { log = silentLog } = options;
  const movable = createMovableClock(options.clock);
  const clock = movable.now;
  const deliveries = createDeliveries({
    database: db,
    log,
    now: () => secondsOf(clock()),
    hosts: options.hookHosts ?? [],
    timeoutMs: options.hookTimeoutMs ?? 5_000,
  });
  const tellHooks = createEmit({ db, clock }, deliveries.wake);
  const emit: ForgeContext['emit'] = (emission) => {
    tellHooks(emission);
    followEmission(context, emission);
  };
  const background = createBackground(log);
  const attachments = createAttachmentStore(db, join(folder, 'attachments'));
  // Removes files that a previous process left behind: their rows were deleted or never written.
  attachments.sweep();
  const features = { ...defaultFeatures, ...options.features };
  const context: ForgeContext = {
    db,
    git,
    clock,
    log,
    rootUrl,
    emit,
    deliveries,
    background,
    syncs: createSyncQueue(log),
    wakeMerges: (repositoryId) => db.afterCommit(() => tryScheduledMerges(context, repositoryId)),
    attachments,
    features,
    limits,
    passwords: createPasswordGate(clock, createPasswords(options.passwordCost)),
  };
  // Reconciles the unfinished work of a previous process.
  const finishRecovery = await recover(context);
  scheduleChecks(context);
  const stopMirrors = startMirrorSchedule(context);
  const control = options.control
    ? { token: ensureControlToken(folder), clock: movable, faults: createFaults() }
    : undefined;
  const app = createForgeApp(context, control);
  await app.ready();
  return {
    get url() {
      return rootUrl();
    },
    controlToken: control?.token,
    async listen({ port = 0, host = '127.0.0.1' } = {}) {
      if (control && !isLoopback(host)) {
        throw new ReeveError('usage', `the control routes require loopback, not ${host}`);
      }
      const listening = await listenAt(app, port, host);
      address ??= listening;
      finishRecovery();
      resumeScheduledMerges(context);
      if (options.seed) await applySeed(app, context, options.seed);
      return listening;
    },
    deliveries,
    createAdministrator: (account) => createAdministrator(context, account),
    close() {
      stopMirrors();
      return close(app, context, options.data === undefined ? folder : undefined);
    },
  };
}

/** Runs the background effects of an event, whether or not a webhook subscribes to it. */
function followEmission(context: ForgeContext, { type, repository }: Emission): void {
  if (repository === undefined) return;
  if (type === 'push' || type === 'delete') context.db.afterCommit(() => followPush(context, repository.id));
  if (type === 'status' || type.startsWith('pull_request')) context.wakeMerges(repository.id);
}

function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || /^127(\.\d{1,3}){3}$/.test(host);
}

function createForgeApp(context: ForgeContext, control: Control | undefined): FastifyInstance {
  const app = fastify({
    bodyLimit,
    schemaController: noSchemas,
    forceCloseConnections: true,
    // Otherwise, a client that sends its request slowly would hold a connection forever: fastify sets no limit by
    // default.
    requestTimeout: 60_000,
    routerOptions: { ignoreTrailingSlash: true, maxParamLength },
    // A path with invalid percent-encoding never reaches a route.
    frameworkErrors(_error, _request, reply: FastifyReply) {
      sendBadRequest(reply);
    },
  });
  limitUnsentAnswers(app);
  app.setNotFoundHandler((_request, reply) =>
    reply.code(404).type('text/plain; charset=utf-8').send('404 page not found\n'),
  );
  app.setErrorHandler((error: { statusCode?: number; message: string }, request, reply) => {
    const status = error.statusCode ?? 500;
    const problem = status >= 400 && status < 500 ? new ForgeProblem(status, error.message) : error;
    return sendFailure(context, request, reply, problem);
  });
  app.register(async (api) => {
    api.removeAllContentTypeParsers();
    api.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body));
    api.addHook('onRequest', async (_request, reply) => {
      reply.header('x-content-type-options', 'nosniff');
    });
    if (control) registerFaults(api, control.faults);
    refuseCrossSiteWrites(api, context);
    registerOperations(api, context, handlers);
  });
  if (control) app.register(async (scope) => registerControl(scope, context, control));
  app.register(async (scope) => registerGitHttp(scope, context));
  app.register(async (scope) => registerLfs(scope, context));
  app.register(async (scope) => registerAttachmentFiles(scope, context));
  app.register(async (scope) => registerReleaseDownloads(scope, context));
  app.register(async (scope) => registerAvatarFiles(scope, context));
  app.register(async (scope) => registerGenericPackages(scope, context));
  app.register(async (scope) => registerOAuth2(scope, context));
  app.register(async (scope) => registerPages(scope, context));
  return app;
}

function registerFaults(app: FastifyInstance, faults: Faults): void {
  app.addHook('onRequest', async (_request, reply) => {
    const fault = faults.take();
    if (!fault) return;
    if (fault.latencyMs > 0) await setTimeout(fault.latencyMs);
    if (fault.status !== undefined)
      return reply.code(fault.status).send({ message: 'told to fail', url: '' });
  });
}

async function listenAt(app: FastifyInstance, port: number, host: string): Promise<string> {
  try {
    return await app.listen({ port, host });
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EADDRINUSE')) throw error;
    throw new ReeveError('port-taken', `port ${port} on ${host} is taken by another program`, {
      cause: error,
    });
  }
}

async function createAdministrator(
  context: ForgeContext,
  account: { name: string; password: string; email?: string },
): Promise<UserRow> {
  const email = account.email ?? `${account.name}@localhost`;
  return ensureAdministrator(context, { ...account, email });
}

async function close(
  app: FastifyInstance,
  context: ForgeContext,
  temporary: string | undefined,
): Promise<void> {
  await app.close();
  await context.syncs.close();
  await context.background.close();
  await context.deliveries.close();
  context.git.close();
  context.db.close();
  if (temporary !== undefined) rmSync(temporary, { recursive: true, force: true });
}
