import type { FastifyPluginAsync } from 'fastify';
import { messageOf } from '../errors.ts';
import type { Log } from '../log.ts';
import type { Metrics, Readings } from './metrics.ts';
import { isSignedIn } from './password.ts';

/**
 * `/metrics`, for whoever has the password of this installation. A stranger learns that there is a door, and nothing else:
 * counts tell who works when.
 */
export const dashboard: FastifyPluginAsync<{
  metrics: Metrics;
  readings: Readings;
  password: string;
  log: Log;
}> = async (app, { metrics, readings, password, log }) => {
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
};
