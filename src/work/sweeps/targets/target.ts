import type { Client } from '../../../client/client.ts';
import type { Subject } from '../../../contract/events/subject.ts';
import { ReeveError } from '../../../platform/errors.ts';
import type { LoadedRule } from '../../../rules/rule.ts';
import type { SweepFailure } from '../progress.ts';
import type { ListFailure, ServedBy } from './repositories.ts';
import type { RunnerMemory } from './runner-memory.ts';

/** One item of `each`: what it is about, and what conditions see of it as it was listed. */
export type Target = {
  /** For people and as identity within a sweep: `acme/demo#5`. */
  readonly key: string;
  readonly subject: Subject;
  readonly item: Readonly<Record<string, unknown>>;
};

/** Some items, with the place at which a sweep that was interrupted after them goes on. */
export type TargetPage = {
  readonly targets: readonly Target[];
  /** Plain data; given back as `from`. */
  readonly next: unknown;
  /** How many items there are in all, where that is known. */
  readonly total?: number | undefined;
  /** What could not be listed, and why: the sweep goes on without it. */
  readonly failures?: readonly ListFailure[];
};

/** What walking over items needs. */
export type Walk = {
  readonly client: Client;
  readonly served: ServedBy;
  readonly rule: LoadedRule;
  /** Returns whether the rule, and what a person named on the command line, take this subject. */
  readonly isInScope: (subject: Subject) => boolean;
  readonly runners: RunnerMemory;
  readonly now: Date;
  /** Where an earlier attempt stopped. */
  readonly from: unknown;
};

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
