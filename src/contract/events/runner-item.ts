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
  status: z
    .enum(['online', 'offline', 'gone'])
    .describe('`online` or `offline`, as the forge says; `gone`: the forge no longer lists the runner.'),
  busy: flag.describe('Whether it executes a job now.'),
  disabled: flag.describe('Whether it is switched off on the forge, so that it gets no jobs.'),
  labels: z.array(z.object({ name: text })).describe('What `runs-on` of a workflow selects.'),
  level: z
    .enum(['organization', 'repository', 'user', 'instance'])
    .describe('Where it is registered: `organization`, `repository`, `user` or `instance`.'),
  owner: text.describe(
    'The organization, the full name of the repository, or the account; empty for the instance.',
  ),
  offline_for: length.describe('How long it is offline, as Reeve observed it; zero while it is online.'),
  idle_for: length.describe(
    'How long it is online without a job, as Reeve observed it; zero while it is busy or offline.',
  ),
  flaps: int.describe('Number of changes between online and offline within the last hour.'),
});
export type RunnerItem = z.output<typeof RunnerItem>;
