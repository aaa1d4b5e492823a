import { text } from 'node:stream/consumers';
import type { FastifyRequest } from 'fastify';
import type { ZodType } from 'zod';
import { ForgeProblem } from '../core/errors.ts';
import { readGitBody } from '../smart-http/request-body.ts';

/** Ten thousand objects with room to spare; a request has no reason to be longer. */
const maxRequestBytes = 4 * 1024 * 1024;

/** Returns the body of a request, which must be JSON of a shape; ends the request with `status` where it is not. */
export async function readLfsBody<T>(request: FastifyRequest, shape: ZodType<T>, status: number): Promise<T> {
  const body = await text(readGitBody(request, maxRequestBytes));
  let value: unknown;
  try {
    value = JSON.parse(body);
  } catch {
    throw new ForgeProblem(status, status === 400 ? 'Bad Request' : 'Unprocessable Entity');
  }
  const parsed = shape.safeParse(value);
  if (!parsed.success)
    throw new ForgeProblem(status, status === 400 ? 'Bad Request' : 'Unprocessable Entity');
  return parsed.data;
}
