import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { messageOf, ReeveError } from '../../platform/errors.ts';
import type { ForgeContext } from '../core/context.ts';
import { redeliverOf } from '../hooks/redelivery.ts';
import { putRunners } from '../seed/apply.ts';
import { SeedRunner } from '../seed/runner-shape.ts';
import type { Faults } from './faults.ts';
import type { MovableClock } from './movable-clock.ts';
import { isBearer } from './token.ts';

const Runners = z.union([z.array(SeedRunner), z.strictObject({ runners: z.array(SeedRunner) })]);
const Clock = z.union([
  z.strictObject({ now: z.iso.datetime({ offset: true }) }),
  z.strictObject({ advance_ms: z.int() }),
]);
const FaultShape = z.strictObject({
  latency_ms: z.int().min(0).max(600_000).default(0),
  status: z.int().min(400).max(599).optional(),
  count: z.int().min(0).default(1),
});

/** What the control routes work on. */
export type Control = { readonly token: string; readonly clock: MovableClock; readonly faults: Faults };

/**
 * Registers `/-/control/`: what a real forge learns through other protocols, for callers with the bearer token. Only for a
 * forge that listens on loopback.
 */
export function registerControl(app: FastifyInstance, context: ForgeContext, control: Control): void {
  app.addHook('onRequest', async (request, reply) => {
    if (!isBearer(request.headers.authorization, control.token)) {
      return reply.code(401).send({ message: 'the bearer in control.token is required' });
    }
  });
  app.put('/-/control/runners', (request, reply) =>
    answer(request, reply, Runners, (given) => {
      putRunners(context, Array.isArray(given) ? given : given.runners);
      return undefined;
    }),
  );
  app.post('/-/control/clock', (request, reply) =>
    answer(request, reply, Clock, (given) => {
      const now = context.clock().getTime();
      control.clock.set('now' in given ? new Date(given.now) : new Date(now + given.advance_ms));
      return { now: context.clock().toISOString() };
    }),
  );
  app.put('/-/control/faults', (request, reply) =>
    answer(request, reply, FaultShape, ({ latency_ms, status, count }) => {
      control.faults.put({ latencyMs: latency_ms, status, count });
      return undefined;
    }),
  );
  app.post<{ Params: { id: string; uuid: string } }>(
    '/-/control/hooks/:id/deliveries/:uuid/redeliver',
    (request, reply) => {
      const { id, uuid } = request.params;
      const again = redeliverOf(context, Number(id), uuid);
      if (again === undefined) return reply.code(404).send({ message: 'no such delivery of this hook' });
      return reply.code(202).send({ uuid: again });
    },
  );
}

function answer<S extends z.ZodType>(
  request: FastifyRequest,
  reply: FastifyReply,
  shape: S,
  work: (given: z.output<S>) => object | undefined,
): FastifyReply {
  const parsed = shape.safeParse(request.body ?? {});
  if (!parsed.success) {
    const problems = parsed.error.issues.map(
      ({ path, message }) => `${path.join('.') || 'the body'}: ${message}`,
    );
    return reply.code(422).send({ message: problems.join('\n') });
  }
  try {
    const said = work(parsed.data);
    return said ? reply.code(200).send(said) : reply.code(204).send();
  } catch (error) {
    // A runner of what is not there is the caller's mistake; anything else is ours.
    if (error instanceof ReeveError && error.code === 'usage')
      return reply.code(422).send({ message: messageOf(error) });
    throw error;
  }
}
