import type { Client } from '../../client/client.ts';
import type { RepositoryRef } from '../../contract/events/subject.ts';
import { operations } from '../../contract/operations.ts';
import { ReeveError } from '../../platform/errors.ts';

/** How long a missing served repository is retried: the token may be in rotation, or the forge in restoration. */
const doubtMs = 10 * 60_000;

/** The part of a delivery with the time of its first failure. */
type FailingSince = { readonly failingSince: Date | undefined };

/**
 * Returns the error to throw for an error in the handling of a served repository: a 403 or 404 is not accepted before the
 * delivery has failed for ten minutes, and is retried until then.
 */
export function retryDenial(error: unknown, { failingSince }: FailingSince, now: Date): unknown {
  if (!isDenial(error) || error.code === 'repository-missing') return error;
  const untilMs = (failingSince ?? now).getTime() + doubtMs;
  if (now.getTime() >= untilMs) return error;
  const until = new Date(untilMs).toISOString();
  return new ReeveError(
    'repository-missing',
    `${error.message}; the repository is served, so this is asked again until ${until}`,
    { cause: error, status: error.status },
  );
}

/** Returns the error if the forge denies access to the whole repository, otherwise undefined. */
export async function findDenial(
  client: Client,
  { owner, name }: RepositoryRef,
): Promise<ReeveError | undefined> {
  try {
    await client.call(operations.getRepository, { params: { owner, repo: name } });
    return undefined;
  } catch (error) {
    if (isDenial(error)) return error;
    throw error;
  }
}

/** Returns whether the forge answered 403 or 404. */
function isDenial(error: unknown): error is ReeveError {
  return error instanceof ReeveError && (error.status === 403 || error.status === 404);
}
