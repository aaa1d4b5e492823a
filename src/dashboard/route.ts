import type { FastifyInstance, FastifyPluginAsync } from 'fastify';
import { messageOf } from '../errors.ts';
import type { Log } from '../log.ts';
import { deliveriesPage } from './deliveries.ts';
import { deliveryPage, findDelivery, mayRunAgain } from './delivery.ts';
import { driftPage } from './drift.ts';
import { isSecureHost } from './hosts.ts';
import type { MetricReadings, Metrics } from './metrics.ts';
import { overviewPage } from './overview.ts';
import { type Entry, styles, type View } from './page.ts';
import { isSignedIn } from './password.ts';
import type { Deeds, Readings } from './readings.ts';
import { rulesPage } from './rules.ts';
import { runnersPage } from './runners.ts';
import { runPage, runsPage } from './runs.ts';
import { createSessions } from './sessions.ts';
import { type ForgeSignIn, registerSignIn, signInPage } from './sign-in.ts';
import { sweepsPage } from './sweeps.ts';
import {
  type Audience,
  createVisits,
  protect,
  refuseStrangeHost,
  type Visit,
  type Visits,
} from './visits.ts';

/** What the dashboard leads to. */
export type DashboardParts = {
  readonly metrics: Metrics;
  readonly readings: Readings & MetricReadings;
  readonly deeds: Deeds;
  /** Of this installation: opens everything. */
  readonly password: string;
  /** Address that people reach it at; absent: this machine alone, by its addresses. */
  readonly dashboardUrl?: string | undefined;
  /** Absent: people cannot sign in with their forge account. */
  readonly forge?: ForgeSignIn | undefined;
  readonly nowMs: () => number;
  readonly log: Log;
};

type PageRow = {
  readonly path: string;
  readonly audience: Audience;
  /** Absent: it is reached from another page. */
  readonly entry?: string;
  readonly view: (visit: Visit, readings: Readings) => Promise<View | undefined>;
};

/** Every page there is. */
const pages: readonly PageRow[] = [
  { path: '/', audience: 'everyone', entry: 'Overview', view: overviewPage },
  { path: '/deliveries', audience: 'everyone', entry: 'Deliveries', view: deliveriesPage },
  { path: '/deliveries/:id', audience: 'everyone', view: deliveryPage },
  { path: '/runs', audience: 'operators', entry: 'Runs', view: runsPage },
  { path: '/runs/:id', audience: 'everyone', view: runPage },
  { path: '/sweeps', audience: 'operators', entry: 'Sweeps', view: sweepsPage },
  { path: '/runners', audience: 'operators', entry: 'Runners', view: runnersPage },
  { path: '/drift', audience: 'operators', entry: 'Drift', view: driftPage },
  { path: '/rules', audience: 'operators', entry: 'Rules', view: rulesPage },
];

const entries: readonly (Entry & { readonly audience: Audience })[] = pages.flatMap(
  ({ path, audience, entry }) =>
    entry === undefined ? [] : [{ path: path.slice(1), audience, text: entry }],
);

/** Bytes that a form may have. */
const maxFormBytes = 8_192;

/**
 * The window on what Reeve does, and `/metrics`. A stranger learns that there is a door, and nothing else: counts tell who
 * works when.
 */
export const dashboard: FastifyPluginAsync<DashboardParts> = async (app, parts) => {
  registerMetrics(app, parts);
  await app.register(async (inner) => registerPages(inner, parts));
};

function registerMetrics(app: FastifyInstance, { metrics, readings, password, log }: DashboardParts): void {
  app.get('/metrics', async (request, reply) => {
    if (!isSignedIn(request.headers.authorization, password)) {
      return reply
        .code(401)
        .header('www-authenticate', 'Basic realm="reeve", charset="UTF-8"')
        .type('text/plain; charset=utf-8')
        .send('401: sign in with any user and the password in REEVE_DATA/dashboard.password\n');
    }
    try {
      const text = await metrics.text(readings);
      return reply.header('cache-control', 'no-store').type(metrics.contentType).send(text);
    } catch (error) {
      log.warn({ error: messageOf(error) }, 'the metrics cannot be read now');
      return reply.code(503).type('text/plain; charset=utf-8').send('503: the store cannot be read now\n');
    }
  });
}

function registerPages(app: FastifyInstance, parts: DashboardParts): void {
  const { readings, dashboardUrl, forge, log, nowMs } = parts;
  app.removeAllContentTypeParsers();
  app.addContentTypeParser(
    'application/x-www-form-urlencoded',
    { parseAs: 'string', bodyLimit: maxFormBytes },
    (_request, body, done) => done(null, new URLSearchParams(String(body))),
  );
  app.addHook('onRequest', async (request, reply) => {
    if (refuseStrangeHost(request, reply, dashboardUrl)) return reply;
  });
  const sessions = createSessions({ nowMs, isSecure: (request) => isSecureHost(request, dashboardUrl) });
  const visits = createVisits({ sessions, entries, signInView: signInPage(forge !== undefined), log });
  const clock = { now: readings.now };
  registerSignIn(app, visits, { ...parts, forge, dashboardUrl, sessions, clock });
  for (const { path, audience, view } of pages) {
    app.get(path, (request, reply) =>
      visits.show(request, reply, audience, (visit) => view(visit, readings)),
    );
  }
  registerDeeds(app, visits, parts);
  app.get('/assets/dashboard.css', async (_request, reply) =>
    protect(reply).header('cache-control', 'max-age=300').type('text/css; charset=utf-8').send(styles),
  );
}

function registerDeeds(app: FastifyInstance, visits: Visits, { readings, deeds, log }: DashboardParts): void {
  const { store } = readings;
  const by = ({ viewer }: Visit): string => `${viewer.name} by the dashboard`;

  app.get('/deliveries/:id/payload', (request, reply) =>
    visits.send(request, reply, async (visit) => {
      const found = await findDelivery(visit, () => store.readDelivery(visit.params.id ?? ''));
      if (found?.sight !== 'administrator') return undefined;
      return { name: `delivery-${found.delivery.id}.json`, bytes: found.delivery.body };
    }),
  );

  app.post('/deliveries/:id/run', (request, reply) =>
    visits.act(request, reply, 'everyone', async (visit) => {
      const found = await findDelivery(visit, () => store.readDelivery(visit.params.id ?? ''));
      if (found === undefined || !mayRunAgain(found.delivery, found.sight)) return undefined;
      const { id } = found.delivery;
      await deeds.runAgain([id], by(visit));
      log.info({ delivery: id, by: visit.viewer.name }, 'runs again');
      return `deliveries/${id}`;
    }),
  );

  app.post('/deliveries/dead/run', (request, reply) =>
    visits.act(request, reply, 'operators', async (visit) => {
      let before: string | undefined;
      do {
        const page = await store.listDeliveries({ state: 'dead', limit: 500, ...(before ? { before } : {}) });
        await deeds.runAgain(
          page.items.map(({ id }) => id),
          by(visit),
        );
        before = page.next;
      } while (before !== undefined);
      log.info({ by: visit.viewer.name }, 'all dead deliveries run again');
      return 'deliveries';
    }),
  );
}
