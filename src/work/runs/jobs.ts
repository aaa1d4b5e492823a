import { ReeveError } from '../../platform/errors.ts';
import type { HandleJob } from '../../store/lease.ts';

/** Creates the handler of all jobs from a table of kind to handler. A job of another kind ends with `internal`. */
export function createJobHandler(handlers: Readonly<Record<string, HandleJob>>): HandleJob {
  const table = new Map(Object.entries(handlers));
  return async (job, payload, lease) => {
    const handle = table.get(job.eventType);
    if (handle === undefined)
      throw new ReeveError('internal', `there is no handler for jobs of kind ${job.eventType}`);
    return handle(job, payload, lease);
  };
}
