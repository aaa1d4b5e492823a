import { ReeveError } from '../platform/errors.ts';
import type { NewJob } from './store.ts';

/** Returns the body of a job: its payload as JSON. Throws `internal` for a job that cannot be stored. */
export function encodeJob(job: NewJob): Buffer {
  if (job.lane === '') throw new ReeveError('internal', `job ${job.kind} has no lane`);
  const text = JSON.stringify(job.payload ?? null);
  if (text === undefined)
    throw new ReeveError('internal', `the payload of job ${job.kind} is not plain data`);
  return Buffer.from(text);
}
