import { ReeveError } from '../../platform/errors.ts';
import { activitiesOf, eventFamilies, type Family, familyOf } from './event-families.ts';
import { type Event, parseEvent } from './events.ts';

/**
 * Returns the event of a payload whose kind is given as a family or an Event-Type. Throws `usage` if the kind matches
 * neither.
 */
export function namedEvent(kind: string, payload: Record<string, unknown>): Event {
  if (familyOf(kind) !== undefined) return parseEvent(kind, payload);
  const types = Object.hasOwn(eventFamilies, kind) ? eventFamilies[kind as Family].types : undefined;
  if (types === undefined) {
    throw new ReeveError(
      'usage',
      `there is no event "${kind}"; known are ${Object.keys(eventFamilies).join(', ')}`,
    );
  }
  // A family without a kind of the same name (pull_request_review): the payload determines the kind.
  const review = payload.review;
  const said =
    typeof review === 'object' && review !== null && 'type' in review ? review.type : payload.action;
  const type = Object.entries(types).find(
    ([name, activities]) => name === said || activities.includes(String(said)),
  );
  if (type === undefined) {
    const known = activitiesOf(kind as Family).join(', ');
    throw new ReeveError(
      'usage',
      `the payload does not say which ${kind} it is: its action is none of ${known}`,
    );
  }
  return parseEvent(type[0], payload);
}
