import { randomBytes } from 'node:crypto';
import { chmodSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { messageOf, ReeveError } from '../../platform/errors.ts';
import { isSameSecret } from '../../platform/http/constant-time-equal.ts';
import { redeliverOf } from '../hooks/deliveries.ts';
import type { ForgeContext } from '../platform/context.ts';
import { putRunners } from './seed.ts';
import { SeedRunner } from './seed-runner.ts';

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

/** Dependencies of the control routes. */
export type Control = { readonly token: string; readonly clock: MovableClock; readonly faults: Faults };

/**
 * Registers the routes under `/-/control/` for callers with the bearer token. The routes set state that a real forge
 * receives through other protocols. Only for a forge that listens on loopback.
 */
export function registerControl(app: FastifyInstance, context: ForgeContext, control: Control): void {
  app.addHook('onRequest', async (request, reply) => {
    if (!isBearer(request.headers.authorization, control.token)) {
      return reply.code(401).send({ message: 'the bearer token in control.token is required' });
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
    // An unknown owner of a runner is a client error; anything else is a server error.
    if (error instanceof ReeveError && error.code === 'usage')
      return reply.code(422).send({ message: messageOf(error) });
    throw error;
  }
}

/** A simulated fault of the API. */
type Fault = {
  /** Delay of every response. */
  readonly latencyMs: number;
  /** Status returned instead of the operation's response. Undefined: the operation runs, but with the delay. */
  readonly status: number | undefined;
  /** Number of requests affected, after which the API works normally. */
  readonly count: number;
};

/** Scheduled faults for testing a client. */
export interface Faults {
  /** Replaces the scheduled fault; a count of 0 clears it. */
  put(fault: Fault): void;
  /** Consumes and returns the fault of the next request, if any. */
  take(): Fault | undefined;
}

/** Creates an empty fault schedule. */
export function createFaults(): Faults {
  let fault: Fault | undefined;
  let left = 0;
  return {
    put(given) {
      fault = given;
      left = given.count;
    },
    take() {
      if (left <= 0) return undefined;
      left -= 1;
      return fault;
    },
  };
}

/** A running clock that can be set forward or back. */
interface MovableClock {
  readonly now: () => Date;
  /** Sets the current time; the clock continues from there. */
  set(to: Date): void;
}

/** Creates a clock that follows the given clock until it is set. */
export function createMovableClock(clock: () => Date): MovableClock {
  let offsetMs = 0;
  return {
    now: () => new Date(clock().getTime() + offsetMs),
    set(to) {
      offsetMs = to.getTime() - clock().getTime();
    },
  };
}

/** Returns the path of the file with the bearer token of the control routes. */
export function controlTokenFile(folder: string): string {
  return join(folder, 'control.token');
}

/**
 * Returns the bearer token of the control routes from `DATA/control.token` (mode 0600), which is created if missing.
 */
export function ensureControlToken(folder: string): string {
  const file = controlTokenFile(folder);
  const known = readKnown(file);
  if (known !== undefined) {
    chmodSync(file, 0o600);
    return known;
  }
  const token = randomBytes(32).toString('hex');
  writeFileSync(file, `${token}\n`, { mode: 0o600 });
  // If the file existed and was empty, writing did not change its mode.
  chmodSync(file, 0o600);
  return token;
}

function readKnown(file: string): string | undefined {
  try {
    const text = readFileSync(file, 'utf8').trim();
    return text.length >= 24 ? text : undefined;
  } catch {
    // The file is missing at the first start.
    return undefined;
  }
}

/** Returns whether a header contains the bearer token. The comparison takes constant time. */
function isBearer(header: string | undefined, token: string): boolean {
  const given = /^bearer (\S+)$/i.exec(header ?? '')?.[1] ?? '';
  return isSameSecret(given, token);
}
