import { z } from 'zod';
import { flag, int, text } from '../shape.ts';

/** A duration in milliseconds; conditions read it as a CEL duration. */
const length = z.number().meta({ holds: 'duration' });

/**
 * A runner as an item of a sweep: data from the forge, the level of the runner, and data that Reeve records, because
 * forges do not show the last contact of a runner.
 */
export const RunnerItem = z.object({
  id: int,
  name: text,
  /** `online` or `offline`; `gone` once the runner is no longer listed. */
  status: z.enum(['online', 'offline', 'gone']),
  busy: flag,
  disabled: flag,
  labels: z.array(z.object({ name: text })),
  /** Level of the registration: organization, repository, user, instance. */
  level: z.enum(['organization', 'repository', 'user', 'instance']),
  /** The organization, the repository's full name, or the account; empty for the instance. */
  owner: text,
  /** Time offline, as observed by Reeve; zero while the runner is online. */
  offline_for: length,
  /** Time online without a job, as observed by Reeve; zero while the runner is busy or offline. */
  idle_for: length,
  /** Number of changes between online and offline within the last hour. */
  flaps: int,
});
export type RunnerItem = z.output<typeof RunnerItem>;
