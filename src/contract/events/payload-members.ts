import { ReeveError } from '../../platform/errors.ts';

/** Returns the problem with a value in a payload, or undefined if the value is valid. */
type MemberCheck = (value: unknown, place: string) => string | undefined;

const text: MemberCheck = (value, place) =>
  typeof value === 'string' ? undefined : `${place} must be a text, ${describeFound(value)}`;

const positive: MemberCheck = (value, place) =>
  Number.isSafeInteger(value) && Number(value) > 0
    ? undefined
    : `${place} must be a positive whole number, ${describeFound(value)}`;

/** The forge's own accounts have negative ids: -1 for deleted accounts, -2 for its workflow runner. */
const accountId: MemberCheck = (value, place) =>
  Number.isSafeInteger(value) && value !== 0
    ? undefined
    : `${place} must be the id of an account, ${describeFound(value)}`;

const fullName: MemberCheck = (value, place) =>
  typeof value === 'string' && /^[^/]+\/[^/]+$/.test(value)
    ? undefined
    : `${place} must be a text like "owner/name", ${describeFound(value)}`;

function object(members: Readonly<Record<string, MemberCheck>> = {}): MemberCheck {
  return (value, place) => {
    if (!isRecord(value)) return `${place} must be an object, ${describeFound(value)}`;
    for (const [name, check] of Object.entries(members)) {
      const problem = check(value[name], `${place}.${name}`);
      if (problem !== undefined) return problem;
    }
    return undefined;
  };
}

function optional(check: MemberCheck): MemberCheck {
  return (value, place) => (value === undefined || value === null ? undefined : check(value, place));
}

const account = object({ id: accountId, login: optional(text) });
/** Events found by catch-up have an owner without an id. */
const owner = object({ id: optional(accountId), login: optional(text) });
const repository = object({ id: positive, full_name: fullName, owner: optional(owner) });

const checks = {
  text,
  positive,
  object: object(),
  account,
  optionalAccount: optional(account),
  repository,
  optionalRepository: optional(repository),
  /** An issue or a pull request. */
  numbered: object({ number: positive }),
  /** A comment. */
  identified: object({ id: positive }),
  /** A package or a run of Forgejo's Actions: it contains its repository, if it has one. */
  holder: object({ repository: optional(repository), owner: optional(account) }),
} as const satisfies Record<string, MemberCheck>;

/** Types of the payload fields from which an event is parsed. */
export type MemberKind = keyof typeof checks;

/** Checks the types of a payload's fields. Throws `delivery-malformed` for the first invalid field. */
export function checkMembers(
  eventType: string,
  payload: Readonly<Record<string, unknown>>,
  members: Readonly<Record<string, MemberKind>>,
): void {
  for (const [name, kind] of Object.entries(members)) {
    const problem = checks[kind](payload[name], name);
    if (problem === undefined) continue;
    throw new ReeveError('delivery-malformed', `the body does not fit ${eventType}: ${problem}`);
  }
}

/** Returns whether a value is an object with fields. */
export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Describes only the type of a value: the value itself may be long, and comes from the sender. */
function describeFound(value: unknown): string {
  if (value === undefined) return 'but is missing';
  if (value === null) return 'but is null';
  if (Array.isArray(value)) return 'found a list';
  if (typeof value === 'object') return 'found an object';
  return `found a ${typeof value === 'string' ? 'text' : typeof value}`;
}

/** Returns a field of a value of unknown type; undefined if the value is not an object. */
export function readMember(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined;
}
