import type { Event } from '../../contract/events/events.ts';
import type { RepositoryRef, Subject } from '../../contract/events/subject.ts';
import { type ErrorCode, ReeveError } from '../../platform/errors.ts';
import type { Enrolment } from './enrolment.ts';
import type { Identities } from './identity.ts';

/** Origin of an event. */
export type Origin = {
  /** Name of the secret entry that verified the delivery; absent for an event found by catch-up. */
  readonly entry?: string;
};

/** An event about a repository with a verified identity: id and names are the current ones of the forge. */
export type AdmittedEvent = Event & { readonly repository: RepositoryRef; readonly subject: Subject };

/** Result of the admission of an event. */
type Admission =
  | { readonly state: 'admitted'; readonly event: AdmittedEvent }
  | { readonly state: 'ignored'; readonly reason: string };

/** Reason of a refusal: the secret entry is not configured, does not cover the repository, or id and name do not match. */
type RefusalKind = 'entry' | 'scope' | 'identity';

/**
 * Returns whether a secret entry covers a repository (`owner/name`; undefined: an event without one); undefined if
 * no entry has this name.
 */
type CoverageOf = (entry: string, fullName: string | undefined) => boolean | undefined;

/** Decides which events reach rules, caches, snapshots and records, and for which repository. */
export interface Admissions {
  /** Throws `delivery-refused`, and a `forge-…` error if the forge does not answer. */
  admit(origin: Origin, event: Event): Promise<Admission>;
  /** Removes a repository from the cache, because its name has changed. */
  forget(repositoryId: number): void;
  /** Removes all that is cached. */
  forgetAll(): void;
}

/**
 * Creates the admission. A delivery's sender chooses both the id and the name of its repository, and the receiver has
 * compared the secret's scope only with the name. So, before any other processing, the id must be that of the
 * repository found under the name, and the entry must cover the name that repository has now.
 */
export function createAdmissions(options: {
  identities: Identities;
  served: Pick<Enrolment, 'has'>;
  coverageOf: CoverageOf;
  onRefused?: (kind: RefusalKind) => void;
}): Admissions {
  const { identities, served, coverageOf, onRefused = () => {} } = options;

  const refuse = (kind: RefusalKind, message: string): never => {
    onRefused(kind);
    throw new ReeveError('delivery-refused', message);
  };
  const requireEntry = ({ entry }: Origin, { repository }: Event): void => {
    if (entry === undefined) return;
    const covers = coverageOf(entry, undefined);
    if (covers === undefined) {
      refuse(
        'entry',
        `the secret entry "${entry}", which verified this delivery, is no longer configured; configure it again and redrive the delivery`,
      );
    }
    if (repository === undefined && !covers) {
      refuse('scope', `the event names no repository: the secret entry "${entry}" needs the scope "*"`);
    }
  };
  const requireCoverage = ({ entry }: Origin, { id, owner, name }: RepositoryRef): void => {
    if (entry === undefined || coverageOf(entry, `${owner}/${name}`)) return;
    refuse('scope', `repository ${id} is ${owner}/${name}: outside the scope of the secret entry "${entry}"`);
  };
  const identify = async ({ entry }: Origin, repository: RepositoryRef) => {
    try {
      return await identities.read(repository);
    } catch (error) {
      if (!hasCode(error, 'delivery-refused')) throw error;
      const by = entry === undefined ? '' : `; verified by the secret entry "${entry}"`;
      return refuse('identity', `${error.message}${by}`);
    }
  };

  return {
    async admit(origin, event) {
      requireEntry(origin, event);
      const { repository, subject } = event;
      if (repository === undefined || subject === undefined) return ignored('the event names no repository');
      let identity: Awaited<ReturnType<typeof identify>>;
      try {
        // Checked with the claimed identity: an unserved repository costs no request.
        if (!(await served.has(repository))) return ignored(`${nameOf(repository)} is not served`);
        identity = await identify(origin, repository);
      } catch (error) {
        const isDeleted = event.family === 'repository' && event.activity === 'deleted';
        if (isDeleted && hasCode(error, 'forge-not-found'))
          return ignored(`${nameOf(repository)} is deleted`);
        throw error;
      }
      const { at, archived } = identity;
      requireCoverage(origin, at);
      // After a transfer, the repository may no longer match the operator's list.
      const isRenamed = nameOf(at) !== nameOf(repository);
      if (isRenamed && !(await served.has(at))) return ignored(`${nameOf(at)} is not served`);
      if (archived) return ignored(`${nameOf(at)} is archived`);
      return { state: 'admitted', event: eventAbout(event, subject, at) };
    },
    forget: (repositoryId) => identities.forget(repositoryId),
    forgetAll: () => identities.forgetAll(),
  };
}

/** Returns the event with the current identity of its repository. Its payload is unchanged. */
export function eventAbout(event: Event, subject: Subject, at: RepositoryRef): AdmittedEvent {
  return { ...event, repository: at, subject: { ...subject, repository: at } };
}

function ignored(reason: string): Admission {
  return { state: 'ignored', reason };
}

function nameOf({ owner, name }: RepositoryRef): string {
  return `${owner}/${name}`.toLowerCase();
}

function hasCode(error: unknown, code: ErrorCode): error is ReeveError {
  return error instanceof ReeveError && error.code === code;
}
