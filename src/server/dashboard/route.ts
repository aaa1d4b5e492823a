import fastifyCookie from '@fastify/cookie';
import fastifyFormbody from '@fastify/formbody';
import type { FastifyError, FastifyInstance, FastifyPluginAsync, FastifyRequest } from 'fastify';
import { nameOfScope, type PauseScope } from '../../engine/bounds/pauses.ts';
import type { MonotonicClock } from '../../platform/clock.ts';
import { messageOf, ReeveError } from '../../platform/errors.ts';
import { createFailureThrottle, type FailureThrottle } from '../../platform/http/failure-throttle.ts';
import type { FormFields } from '../../platform/http/form.ts';
import { html } from '../../platform/http/html.ts';
import type { Log } from '../../platform/log.ts';
import type { QueueKey } from '../../store/queue-rows.ts';
import type { QueueCommand } from '../../work/merge-queue/queue-commands.ts';
import { findPauseScope, scopeOfName } from '../../work/runs/pause-scope.ts';
import { parseSimulatedSubject } from '../../work/runs/simulate.ts';
import { liveScript, styleSheet } from './assets.ts';
import type { DashboardCommands, DashboardData } from './data.ts';
import type { MetricData, Metrics } from './metrics.ts';
import { markImage, type NavEntry, type PageView } from './page.ts';
import { createPageHandler, type PageHandler, type PageRequest, rejectUnknownHost } from './page-handler.ts';
import { isSecureHost, type PageAudience, setSecurityHeaders } from './page-replies.ts';
import { activityPage } from './pages/activity.ts';
import { auditPage } from './pages/audit.ts';
import { canRedrive, deliveriesPage, findDelivery } from './pages/deliveries.ts';
import { deliveryPage } from './pages/delivery.ts';
import { driftPage } from './pages/drift.ts';
import { overviewPage } from './pages/overview.ts';
import { processesPage } from './pages/processes.ts';
import { queuesPage } from './pages/queues.ts';
import { rulePage, rulesPage } from './pages/rules.ts';
import { runnersPage } from './pages/runners.ts';
import { runPage, runsPage } from './pages/runs.ts';
import { searchPage } from './pages/search.ts';
import { askedSimulation, failedSimulationView, simulatePage, simulationView } from './pages/simulate.ts';
import { subjectPage } from './pages/subject.ts';
import { sweepsPage } from './pages/sweeps.ts';
import { createForgeAccounts, type ForgeSignIn } from './sign-in/forge-accounts.ts';
import { createSessions } from './sign-in/sessions.ts';
import { isSignedIn, registerSignIn, signInPage } from './sign-in/sign-in.ts';
import { createChangeWatch, createLiveStreams } from './streams.ts';
import { viewerWords } from './visibility.ts';

/** Parts of the dashboard. */
export type DashboardParts = {
  readonly metrics: Metrics;
  readonly dashboardData: DashboardData & MetricData;
  readonly commands: DashboardCommands;
  /** Reads the password of this installation, which gives the operator role. */
  readonly readPassword: () => Promise<string>;
  /** Public URL of the dashboard; absent: only IP addresses of this machine. */
  readonly dashboardUrl?: string | undefined;
  /** Absent: no sign-in with forge accounts. */
  readonly forge?: ForgeSignIn | undefined;
  /** Key for the cookie of a sign-in at the forge; absent: a key that lasts as long as this process. */
  readonly signInKey?: Uint8Array | undefined;
  readonly clock: MonotonicClock;
  readonly log: Log;
  /** If false, only the metrics are served. */
  readonly hasPages: boolean;
};

type PageRow = {
  readonly path: string;
  readonly audience: PageAudience;
  /** Group and text in the navigation; absent: only other pages link to the page. */
  readonly entry?: readonly [group: 'Overview' | 'Events' | 'Rules' | 'System', text: string];
  /** Whether the page is updated live; default: true. */
  readonly isLive?: boolean;
  /** Returns the page, or the path to which it leads. */
  readonly view: (pageRequest: PageRequest, data: DashboardData) => Promise<PageView | string | undefined>;
};

/** All pages, those of a group together. */
const pages: readonly PageRow[] = [
  { path: '/', audience: 'everyone', entry: ['Overview', 'Overview'], view: overviewPage },
  { path: '/activity', audience: 'operators', entry: ['Overview', 'Activity'], view: activityPage },
  { path: '/deliveries', audience: 'everyone', entry: ['Events', 'Deliveries'], view: deliveriesPage },
  { path: '/deliveries/:id', audience: 'everyone', view: deliveryPage },
  { path: '/runs', audience: 'operators', entry: ['Events', 'Runs'], view: runsPage },
  { path: '/runs/:id', audience: 'everyone', view: runPage },
  { path: '/queues', audience: 'operators', entry: ['Events', 'Merge queues'], view: queuesPage },
  { path: '/subjects/:owner/:repo/:kind/:index', audience: 'everyone', view: subjectPage },
  { path: '/rules', audience: 'operators', entry: ['Rules', 'Rules'], view: rulesPage },
  { path: '/rules/show', audience: 'operators', view: rulePage },
  { path: '/sweeps', audience: 'operators', entry: ['Rules', 'Sweeps'], view: sweepsPage },
  { path: '/drift', audience: 'operators', entry: ['Rules', 'Drift'], view: driftPage },
  {
    path: '/simulate',
    audience: 'operators',
    entry: ['Rules', 'Simulate'],
    isLive: false,
    view: simulatePage,
  },
  { path: '/runners', audience: 'operators', entry: ['System', 'Runners'], view: runnersPage },
  { path: '/processes', audience: 'operators', entry: ['System', 'Processes'], view: processesPage },
  { path: '/audit', audience: 'operators', entry: ['System', 'Audit'], view: auditPage },
  { path: '/search', audience: 'everyone', isLive: false, view: searchPage },
];

const entries: readonly (NavEntry & { readonly audience: PageAudience })[] = pages.flatMap(
  ({ path, audience, entry }) =>
    entry === undefined ? [] : [{ path: path.slice(1), audience, group: entry[0], text: entry[1] }],
);

/** Maximum size of a form in bytes. */
const maxFormBytes = 8_192;
/** Maximum number of wrong passwords per minute and address; further ones are rejected without a comparison. */
const maxFailures = 10;

/**
 * The dashboard and `/metrics`. Anonymous requests learn only that the dashboard exists, because even counts would
 * reveal activity.
 */
export const dashboard: FastifyPluginAsync<DashboardParts> = async (app, parts) => {
  // Each way to sign in has a separate throttle: a scraper with an old password, or an unavailable forge, must not lock
  // an operator out.
  const makeThrottle = (): FailureThrottle =>
    createFailureThrottle({ perMinute: maxFailures, clock: { now: parts.dashboardData.now } });
  registerMetrics(app, parts, makeThrottle());
  if (parts.hasPages) await app.register(async (inner) => registerDashboardPages(inner, parts, makeThrottle));
};

function registerMetrics(
  app: FastifyInstance,
  { metrics, dashboardData: data, readPassword, log }: DashboardParts,
  throttle: FailureThrottle,
): void {
  app.get('/metrics', async (request, reply) => {
    const { authorization } = request.headers;
    const plain = reply.type('text/plain; charset=utf-8');
    // A request without a password is only told to send one; a wrong password counts as a failure.
    if (authorization !== undefined && throttle.isBlocked(request.ip)) {
      return plain.code(429).header('retry-after', '60').send('429: too many wrong passwords\n');
    }
    try {
      // Without a header, there is nothing to compare.
      if (authorization === undefined || !isSignedIn(authorization, await readPassword())) {
        if (authorization !== undefined) {
          throttle.recordFailure(request.ip);
          log.warn({ address: request.ip }, 'a wrong password for the metrics');
        }
        return plain
          .code(401)
          .header('www-authenticate', 'Basic realm="reeve", charset="UTF-8"')
          .send('401: sign in with any user and the password that `reeve password` shows\n');
      }
      const text = await metrics.text(data);
      return reply.header('cache-control', 'no-store').type(metrics.contentType).send(text);
    } catch (error) {
      log.warn({ error: messageOf(error) }, 'the metrics cannot be read now');
      return reply.code(503).type('text/plain; charset=utf-8').send('503: the store cannot be read now\n');
    }
  });
}

async function registerDashboardPages(
  app: FastifyInstance,
  parts: DashboardParts,
  makeThrottle: () => FailureThrottle,
): Promise<void> {
  const { dashboardData: data, dashboardUrl, forge, log, clock } = parts;
  app.removeAllContentTypeParsers();
  app.addHook('onRequest', async (request, reply) => {
    // First of all, and without reading the body: a forge whose webhook has a wrong path learns the right one.
    if (request.is404 && !isForBrowser(request))
      return setSecurityHeaders(reply).code(404).type('text/plain; charset=utf-8').send(missingText);
    if (rejectUnknownHost(request, reply, dashboardUrl)) return reply;
  });
  await app.register(fastifyFormbody, { bodyLimit: maxFormBytes });
  await app.register(fastifyCookie);
  const accounts = forge && createForgeAccounts(forge, clock);
  const sessions = createSessions({
    rows: data.store.sessions,
    accounts,
    isSecure: (request) => isSecureHost(request, dashboardUrl),
  });
  const signInView = signInPage(forge && dashboardUrl);
  const pageHandler = createPageHandler({
    sessions,
    entries,
    signInView,
    log,
    now: data.now,
    forgeUrl: data.forgeUrl,
  });
  app.setErrorHandler<FastifyError>((error, request, reply) => {
    const status = error.statusCode ?? 500;
    if (status >= 500)
      log.error({ page: request.routeOptions.url, error: messageOf(error) }, 'a page failed');
    const title = status === 413 ? 'Too large' : status < 500 ? 'Not understood' : 'Not now';
    return pageHandler.showSignedOut(request, reply.code(status), { title, content: html`<p>${status}</p>` });
  });
  app.setNotFoundHandler((request, reply) => pageHandler.showMissing(request, reply));
  registerSignIn(app, pageHandler, {
    ...parts,
    forge,
    accounts,
    dashboardUrl,
    sessions,
    makeThrottle,
    clock: data,
  });
  for (const { path, audience, isLive = true, view } of pages) {
    app.get(path, (request, reply) =>
      pageHandler.show(request, reply, audience, async (pageRequest) => {
        const shown = await view(pageRequest, data);
        return typeof shown === 'object' ? { ...shown, isLive } : shown;
      }),
    );
  }
  registerLiveStreams(app, pageHandler, parts);
  registerCommands(app, pageHandler, parts);
  registerPauseCommands(app, pageHandler, parts);
  registerQueueForms(app, pageHandler, parts);
  registerSimulateCommand(app, pageHandler, parts);
  const assets = [
    ['/assets/dashboard.css', 'text/css; charset=utf-8', styleSheet],
    ['/assets/mark.svg', 'image/svg+xml', markImage],
    ['/assets/live.js', 'text/javascript; charset=utf-8', liveScript],
  ] as const;
  for (const [path, type, text] of assets) {
    app.get(path, async (_request, reply) =>
      setSecurityHeaders(reply).header('cache-control', 'max-age=300').type(type).send(text),
    );
  }
}

/** Response to other programs, such as a forge whose webhook has a wrong address. */
const missingText = '404: there is nothing at this path; webhooks go to POST /webhook\n';

/** Returns whether a request asks for a page, as browsers do when they follow a link. */
function isForBrowser({ method, headers }: FastifyRequest): boolean {
  return ['GET', 'HEAD'].includes(method) && (headers.accept ?? '').toLowerCase().includes('text/html');
}

function registerLiveStreams(
  app: FastifyInstance,
  pageHandler: PageHandler,
  { dashboardData: data, log }: DashboardParts,
): void {
  const streams = createLiveStreams(createChangeWatch(data, log));
  // Open streams would delay the shutdown for as long as pages are open.
  app.addHook('preClose', async () => streams.close());
  app.get('/live', { exposeHeadRoute: false }, (request, reply) =>
    pageHandler.stream(request, reply, streams.open),
  );
}

function registerCommands(
  app: FastifyInstance,
  pageHandler: PageHandler,
  { dashboardData: data, commands, log }: DashboardParts,
): void {
  const { store } = data;

  app.get('/deliveries/:id/payload', (request, reply) =>
    pageHandler.send(request, reply, async (pageRequest) => {
      const found = await findDelivery(pageRequest, store);
      if (found?.access !== 'administrator') return undefined;
      const whole = await store.readDelivery(found.delivery.id);
      return whole && { name: `delivery-${whole.id}.json`, bytes: whole.body };
    }),
  );

  app.post('/deliveries/:id/run', (request, reply) =>
    pageHandler.act(request, reply, 'everyone', async (pageRequest) => {
      const found = await findDelivery(pageRequest, store);
      if (found?.access !== 'administrator') return undefined;
      const { id } = found.delivery;
      // If another viewer has already redriven the delivery, nothing is done, and its page shows the current state.
      const count = canRedrive(found.delivery, found.access)
        ? await commands.redrive([id], viewerWords(pageRequest.viewer))
        : 0;
      if (count > 0) log.info({ delivery: id, by: pageRequest.viewer.name }, 'runs again');
      return `deliveries/${id}`;
    }),
  );

  app.post('/rules/run', (request, reply) =>
    pageHandler.act(request, reply, 'operators', async ({ fields, viewer }) => {
      const rule = data.rules().find(({ id }) => id === fields.get('rule'));
      if (rule === undefined || (rule.clocks ?? []).length === 0) return undefined;
      const job = await commands.sweep(rule.id, viewerWords(viewer));
      log.info({ rule: rule.id, job, by: viewer.name }, 'a sweep is started');
      return `deliveries/${job}`;
    }),
  );

  app.post('/deliveries/dead/run', (request, reply) =>
    pageHandler.act(request, reply, 'operators', async (pageRequest) => {
      let before: string | undefined;
      let count = 0;
      do {
        const page = await store.listDeliveries({ state: 'dead', limit: 500, ...(before ? { before } : {}) });
        const ids = page.items.map(({ id }) => id);
        count += await commands.redrive(ids, viewerWords(pageRequest.viewer));
        before = page.next;
      } while (before !== undefined);
      log.info({ count, by: pageRequest.viewer.name }, 'dead deliveries run again');
      return 'deliveries';
    }),
  );
}

/** Maximum length of a name; file paths and rule names are shorter. */
const maxNameChars = 1_000;

/** Registers the forms that pause and resume writes. Operators only, because a pause also stops operator rules. */
function registerPauseCommands(
  app: FastifyInstance,
  pageHandler: PageHandler,
  {
    dashboardData: data,
    commands,
    log,
  }: { readonly dashboardData: DashboardData; readonly commands: DashboardCommands; readonly log: Log },
): void {
  app.post('/pauses', (request, reply) =>
    pageHandler.act(request, reply, 'operators', async ({ fields, viewer }) => {
      const given = scopeOfFields(fields);
      if (given === undefined) return notPaused;
      const rules = async (): Promise<readonly string[]> => data.rules().map(({ id }) => id);
      const found = await findPauseScope(given, rules, data.store);
      if (!('scope' in found)) return notPaused;
      const isNew = await commands.pause(found.scope, viewerWords(viewer));
      if (isNew) log.info({ scope: nameOfScope(found.scope), by: viewer.name }, 'writes are paused');
      return pathBack(fields);
    }),
  );

  app.post('/pauses/end', (request, reply) =>
    pageHandler.act(request, reply, 'operators', async ({ fields, viewer }) => {
      const scope = scopeOfFields(fields);
      // If another viewer has already ended the pause, nothing is done, and the page shows the current state.
      const isEnded = scope !== undefined && (await commands.resume(scope, viewerWords(viewer)));
      if (isEnded) log.info({ scope: nameOfScope(scope), by: viewer.name }, 'writes are resumed');
      return pathBack(fields);
    }),
  );
}

/**
 * Returns the pause scope that a form names. Buttons send the kind of the scope, because a rule may have the name
 * `all`. A typed name is parsed as on the command line.
 */
function scopeOfFields(fields: FormFields): PauseScope | undefined {
  const kind = fields.get('kind');
  if (kind === 'all') return { kind };
  const name = fields.get('name').trim();
  if (name === '' || name.length > maxNameChars) return undefined;
  if (kind === 'rule') return { kind, name: name.replace(/^#/, '') };
  return kind === 'repository' ? { kind, name } : scopeOfName(name);
}

/** Returns the path of the page that contains the button, if the path is in the allowlist. */
function pathBack(fields: FormFields): string {
  return /^(?:rules|deliveries\/\d{1,15})$/.exec(fields.get('back'))?.[0] ?? '';
}

const notPaused: PageView = {
  status: 400,
  title: 'Not paused',
  content: html`<p role="alert">There is no rule with this name, so nothing was paused: enter the name of a rule, OWNER/REPO or all.</p>`,
};

/** Maximum length of a branch name. */
const maxBranchChars = 1_000;
const kinds: readonly QueueCommand['kind'][] = ['move', 'remove', 'pause', 'resume'];

/** Registers the forms that change merge queues. Operators only, because operator rules decide who may merge. */
function registerQueueForms(
  app: FastifyInstance,
  pageHandler: PageHandler,
  {
    dashboardData: { store },
    commands,
    log,
  }: {
    readonly dashboardData: { readonly store: Pick<DashboardData['store'], 'readQueue'> };
    readonly commands: DashboardCommands;
    readonly log: Log;
  },
): void {
  for (const kind of kinds) {
    app.post(`/queues/${kind}`, (request, reply) =>
      pageHandler.act(request, reply, 'operators', async ({ fields, viewer }) => {
        const key = queueOfFields(fields);
        const command = commandOfFields(kind, fields);
        if (key === undefined || command === undefined) return notChanged;
        const queue = await store.readQueue(key);
        // If the queue has changed in the meantime, nothing is done, and the page shows the current state.
        const isChanged = queue && (await commands.queue(queue, command, viewerWords(viewer)));
        if (isChanged)
          log.info(
            { repository: queue.repository, base: key.base, ...command, by: viewer.name },
            'a merge queue is changed',
          );
        return 'queues';
      }),
    );
  }
}

function queueOfFields(fields: FormFields): QueueKey | undefined {
  const repositoryId = wholeNumber(fields.get('repository'));
  const base = fields.get('base');
  if (repositoryId === undefined || base === '' || base.length > maxBranchChars) return undefined;
  return { repositoryId, base };
}

function commandOfFields(kind: QueueCommand['kind'], fields: FormFields): QueueCommand | undefined {
  if (kind === 'pause' || kind === 'resume') return { kind };
  const number = wholeNumber(fields.get('number'));
  const position = wholeNumber(fields.get('position').trim());
  if (number === undefined) return undefined;
  if (kind === 'remove') return { kind, number };
  return position === undefined ? undefined : { kind, number, position };
}

function wholeNumber(text: string): number | undefined {
  return /^[1-9]\d{0,14}$/.test(text) ? Number(text) : undefined;
}

const notChanged: PageView = {
  status: 400,
  title: 'Not changed',
  content: html`<p role="alert">This is not a valid pull request, position or queue, so nothing was changed: a position is a number, and 1 is the first.</p>`,
};

/**
 * Registers the simulation form. Operators only, because operator rules read data that readers of a repository may not
 * see.
 */
function registerSimulateCommand(
  app: FastifyInstance,
  pageHandler: PageHandler,
  { commands }: { readonly commands: DashboardCommands },
): void {
  app.post('/simulate', (request, reply) =>
    pageHandler.act(request, reply, 'operators', (pageRequest) => answer(pageRequest, commands)),
  );
}

async function answer(pageRequest: PageRequest, commands: DashboardCommands): Promise<PageView> {
  const asked = askedSimulation((name) => pageRequest.fields.get(name));
  try {
    const subject = parseSimulatedSubject(asked.kind, asked.subject);
    return simulationView(await commands.simulate(subject), asked, pageRequest);
  } catch (error) {
    if (!(error instanceof ReeveError)) throw error;
    return { ...failedSimulationView(error.message, asked, pageRequest), status: error.http };
  }
}
