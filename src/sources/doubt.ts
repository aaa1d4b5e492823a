import type { Client } from '../client/client.ts';
import type { RepositoryRef } from '../contract/events/subject.ts';
import { operations } from '../contract/operations.ts';
import { ReeveError } from '../errors.ts';

/** How long a served repository that is not there is asked again: a token that is rotated, a forge that is restored. */
const doubtMs = 10 * 60_000;

/** A delivery, as far as it says since when it fails. */
type Since = { readonly failingSince: Date | undefined };

/**
 * Returns what to throw for an error in the handling of a served repository: a 403 or 404 is not believed before the
 * delivery has failed for ten minutes, and is tried again until then.
 */
export function doubted(error: unknown, { failingSince }: Since, now: Date): unknown {
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

/** Returns the error with which a repository denies itself as a whole, or undefined where it answers. */
export async function denialOf(
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

/** Says whether the forge itself answered 403 or 404. */
function isDenial(error: unknown): error is ReeveError {
  return error instanceof ReeveError && (error.status === 403 || error.status === 404);
}
