import { ReeveError } from '../../../platform/errors.ts';
import type { SweepFailure } from '../progress.ts';
import type { ListFailure } from './repositories.ts';
import type { TargetPage } from './target.ts';

/** Returns a list that could not be read as a failure of the sweep, which names the request. */
export function failureOfList({ item, error }: ListFailure): SweepFailure {
  const { request, status } = error instanceof ReeveError ? error : {};
  const refused = request === undefined || status === undefined ? error.message : `${request}: ${status}`;
  return { item, error: error.message, refused };
}

/**
 * Yields the pages. Where the forge refuses the list from which all others come (403, 404), that is the failure of a last
 * page: what it refuses today it refuses in the next attempt as well.
 */
export async function* refusedAsFailure(pages: AsyncGenerator<TargetPage>): AsyncGenerator<TargetPage> {
  let next: unknown;
  try {
    for await (const page of pages) {
      ({ next } = page);
      yield page;
    }
  } catch (error) {
    if (!(error instanceof ReeveError) || !isRefusal(error)) throw error;
    yield { targets: [], next, failures: [{ item: 'the list', error }] };
  }
}

function isRefusal({ code }: ReeveError): boolean {
  return code === 'forge-forbidden' || code === 'forge-not-found';
}
