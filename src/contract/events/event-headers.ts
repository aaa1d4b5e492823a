/** Event headers of a delivery. */
export type EventHeaders = {
  /** UUID of the delivery; a redelivery has a new UUID. */
  readonly delivery: string;
  readonly eventType: string;
};

/** Prefixes of the header names in order of precedence: Forgejo, Gitea, Gogs, GitHub. */
const prefixes = ['x-forgejo', 'x-gitea', 'x-gogs', 'x-github'];

/** Returns the event headers of a request (names in lower case), or undefined if one is missing or empty. */
export function readEventHeaders(
  headers: Readonly<Record<string, string | readonly string[] | undefined>>,
): EventHeaders | undefined {
  const first = (suffix: string): string | undefined => {
    for (const prefix of prefixes) {
      const value = headers[`${prefix}-${suffix}`];
      if (typeof value === 'string' && value !== '') return value;
    }
    return undefined;
  };
  const delivery = first('delivery');
  // A sender that sends only the older Event header is supported if that header identifies a single kind.
  const eventType = first('event-type') ?? first('event');
  if (delivery === undefined || eventType === undefined) return undefined;
  return { delivery, eventType };
}
