import type { Event } from '../contract/events/events.ts';
import { comment } from '../facts/comment.ts';
import { type FactRequest, type Facts, requestOf } from '../facts/fact.ts';
import { review } from '../facts/review.ts';
import { ReeveError } from '../platform/errors.ts';
import type { SkipReason } from '../rules/verdict.ts';

/** What of a comment or review is looked at, whichever of the two it is. */
type Announced = {
  readonly created_at?: string | null | undefined;
  readonly submitted_at?: string | null | undefined;
  readonly issue_url?: string | null | undefined;
  readonly pull_request_url?: string | null | undefined;
};

/** Families of events about a comment or a review, the fact that reads it, and whether each event announces a new one. */
const announcing: Partial<
  Record<string, { readonly fact: FactRequest<Announced>; readonly isNew: (event: Event) => boolean }>
> = {
  issue_comment: { fact: requestOf(comment), isNew: ({ activity }) => activity === 'created' },
  pull_request_comment: { fact: requestOf(comment), isNew: ({ activity }) => activity === 'created' },
  pull_request_review: { fact: requestOf(review), isNew: () => true },
};

/**
 * Returns why an event about a comment or review triggers nothing: it is no longer there (`gone`), or it is announced as new
 * though it is older than `maxAgeMs` (`too old`). A signature covers neither time nor id of a delivery, so one that was
 * recorded can be sent again at any time; what it is about shows its age. Rejects where the forge cannot tell.
 */
export async function staleAnnouncement(
  event: Event,
  facts: Facts,
  { now, maxAgeMs }: { readonly now: Date; readonly maxAgeMs: number },
): Promise<SkipReason | undefined> {
  const row = announcing[event.family ?? ''];
  // An event that tells of a removal is about something that is gone.
  if (row === undefined || event.activity === 'deleted') return undefined;
  let announced: Announced;
  try {
    announced = await facts.ask(row.fact);
  } catch (error) {
    if (error instanceof ReeveError && error.code === 'forge-not-found') return 'gone';
    throw error;
  }
  if (isElsewhere(announced, facts.subject.index)) return 'gone';
  const bornMs = Date.parse(announced.created_at ?? announced.submitted_at ?? '');
  return row.isNew(event) && now.getTime() - bornMs > maxAgeMs ? 'too old' : undefined;
}

/** A comment is found by its id alone: it may be one of another issue of the repository. */
function isElsewhere({ issue_url, pull_request_url }: Announced, index: number | undefined): boolean {
  const url = issue_url || pull_request_url || '';
  const [, number] = /\/(?:issues|pulls)\/(\d+)$/.exec(url) ?? [];
  return number !== undefined && Number(number) !== index;
}
