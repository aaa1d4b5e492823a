import { z } from 'zod';
import { flag, int, text } from '../shape.ts';

/** A length of time in milliseconds, which conditions see as a duration. */
const length = z.number().meta({ holds: 'duration' });

/**
 * A runner as a sweep shows it to conditions: what the forge lists, at which level, and what Reeve remembers of it, since
 * forges do not say when a runner was last seen.
 */
export const RunnerItem = z.object({
  id: int,
  name: text,
  /** `online`, `offline`, or once `gone` where it is no longer listed. */
  status: z.enum(['online', 'offline', 'gone']),
  busy: flag,
  disabled: flag,
  labels: z.array(z.object({ name: text })),
  /** Where it is registered: organization, repository, user, instance. */
  level: z.enum(['organization', 'repository', 'user', 'instance']),
  /** The organization, the repository's full name or the account; empty for the instance's. */
  owner: text,
  /** How long it has been offline, as far as Reeve saw; zero while it is not. */
  offline_for: length,
  /** How long it has been online without work, as far as Reeve saw; zero while it works or is offline. */
  idle_for: length,
  /** Changes between online and offline within the last hour. */
  flaps: int,
});
export type RunnerItem = z.output<typeof RunnerItem>;
