import { z } from 'zod';
import { userNamed } from '../platform/access/redirects.ts';
import type { Database } from '../platform/database.ts';
import { parseTimestamp } from '../platform/time.ts';
import type { ToldRunner } from '../workflows/runners-service.ts';

const instant = z.iso.datetime({ offset: true });

/**
 * A runner as it would report itself over its own protocol. `state` applies until another state is reported. With the
 * two times instead of `state`, a runner goes offline as the clock advances.
 */
export const SeedRunner = z.strictObject({
  name: z.string().min(1).max(255),
  repository: z
    .string()
    .optional()
    .describe('owner/name; without it and owner the runner is the instance’s.'),
  owner: z.string().optional().describe('An organization or an account.'),
  labels: z.array(z.string().min(1)).optional(),
  ephemeral: z.boolean().optional(),
  disabled: z.boolean().optional(),
  state: z.enum(['offline', 'idle', 'busy']).optional().describe('Absent: derived from the two times.'),
  last_online_at: instant.optional().describe('Online for a minute from this time.'),
  last_active_at: instant.optional().describe('Busy for ten seconds from this time, if online.'),
});
export type SeedRunner = z.output<typeof SeedRunner>;

/**
 * The last second that RFC 3339 can express. A runner that is reported as online gets this time, so that it does not go
 * offline by itself.
 */
const always = Date.UTC(9999, 11, 31, 23, 59, 59) / 1000;

/** Returns a runner as stored, or a problem with its owner. */
export function readRunner(db: Database, runner: SeedRunner): ToldRunner | { readonly problem: string } {
  const { repository, owner, state } = runner;
  if (repository !== undefined && owner !== undefined)
    return { problem: 'has a repository or an owner, not both' };
  const repositoryId = repository === undefined ? null : findRepositoryId(db, repository);
  const ownerId = owner === undefined ? null : userNamed(db, owner)?.id;
  if (repositoryId === undefined) return { problem: `there is no repository ${repository}` };
  if (ownerId === undefined) return { problem: `there is no organization or account ${owner}` };
  const isOnline = state === 'idle' || state === 'busy';
  const told = (text: string | undefined) => parseTimestamp(text) ?? 0;
  return {
    repo_id: repositoryId,
    owner_id: ownerId,
    name: runner.name,
    labels: runner.labels ?? [],
    isEphemeral: runner.ephemeral ?? false,
    isDisabled: runner.disabled ?? false,
    lastOnlineAt: state === undefined ? told(runner.last_online_at) : isOnline ? always : 0,
    lastActiveAt: state === undefined ? told(runner.last_active_at) : state === 'busy' ? always : 0,
  };
}

function findRepositoryId(db: Database, fullName: string): number | undefined {
  const [owner = '', name = ''] = fullName.split('/');
  return db.get<{ id: number }>(
    `SELECT r.id FROM repositories r JOIN users o ON o.id = r.owner_id WHERE o.lower_name = ? AND r.lower_name = ?`,
    owner.toLowerCase(),
    name.toLowerCase(),
  )?.id;
}
