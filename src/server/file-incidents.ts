import { type Incident, type IncidentKind, type Occurrence, shorten } from '../engine/incidents/incident.ts';
import type { Clock } from '../platform/clock.ts';
import { messageOf } from '../platform/errors.ts';
import type { Log } from '../platform/log.ts';
import type { Level } from '../rules/rule.ts';
import type { FileReading } from '../rules/sources/rule-files.ts';
import type { Store } from '../store/store.ts';
import type { IncidentStore } from '../work/sweeps/sweep-incidents.ts';

/** One rule file as it was read: a path of the operator's folder, or `owner/name/path` on the forge. */
export type ReadFile = {
  readonly source: string;
  /** Absent where the file has no rule. */
  readonly revision?: string | undefined;
  readonly commit: string;
  readonly problems: readonly string[];
};

/** Files that were read together: all that their place has. */
type ReadPlace = {
  readonly level: Level;
  /** The repository that owns them; 0 for the operator's folder and for organizations. */
  readonly repositoryId: number;
  /** Full name of the repository that holds the files of an organization; empty for the others. */
  readonly name: string;
  readonly files: readonly ReadFile[];
};

/** Keeps the incidents about rule files in line with the files. */
interface FileIncidents {
  /** Takes note of files that were read, in the background. */
  note(place: ReadPlace): void;
  /** Resolves when nothing is being noted. */
  idle(): Promise<void>;
}

export function createFileIncidents({
  store,
  clock,
  log,
}: {
  readonly store: IncidentStore;
  readonly clock: Pick<Clock, 'now'>;
  readonly log: Log;
}): FileIncidents {
  let noting: Promise<void> = Promise.resolve();
  return {
    note(place) {
      noting = noting
        .then(() => noteFiles(store, place, clock.now()))
        .catch((error: unknown) => {
          log.warn({ error: messageOf(error) }, 'incidents about rule files could not be stored');
        });
    },
    idle: () => noting,
  };
}

/**
 * Brings the incidents of a place in line with its files as they are now: raises those that cannot be used, and ends the
 * incidents of files that are corrected or gone, and of rules whose file has changed since they failed.
 */
async function noteFiles(store: IncidentStore, place: ReadPlace, now: Date): Promise<void> {
  const broken = place.files.filter(({ problems }) => problems.length > 0);
  const revisions = new Map(place.files.map(({ source, revision }) => [source, revision]));
  const isUnchanged = ({ source, revision }: Incident): boolean =>
    revision !== undefined && revisions.get(source ?? '') === revision;
  const isCurrent: Readonly<Record<IncidentKind, (incident: Incident) => boolean>> = {
    'rule-failed': isUnchanged,
    'merged-elsewhere': () => true,
    'sweep-failed': isUnchanged,
    'account-changed': isUnchanged,
    'file-broken': ({ key }) => broken.some(({ source }) => source === key),
  };
  const over = (await store.listIncidents()).filter(
    (incident) => isOf(incident, place) && !isCurrent[incident.kind](incident),
  );
  await clearAll(store, over);
  await store.raise(broken.map((file) => occurrenceOf(file, place, now)));
}

export async function clearAll(store: Pick<Store, 'clear'>, incidents: readonly Incident[]): Promise<void> {
  for (const [kind, some] of Map.groupBy(incidents, (incident) => incident.kind)) {
    await store.clear(
      kind,
      some.map(({ key }) => key),
    );
  }
}

/** Says whether an incident is about the files of a place. */
function isOf({ level, repositoryId, source }: Incident, place: ReadPlace): boolean {
  if (level !== place.level) return false;
  if (level === 'repository') return repositoryId === place.repositoryId;
  return level === 'operator' || isWithin(source, place.name);
}

/** Says whether a source is a rules repository, or a file in it. */
export function isWithin(source: string | undefined, repository: string): boolean {
  return source === repository || (source?.startsWith(`${repository}/`) ?? false);
}

function occurrenceOf(
  { source, commit, problems }: ReadFile,
  { level, repositoryId }: ReadPlace,
  at: Date,
): Occurrence {
  return {
    kind: 'file-broken',
    key: source,
    source,
    level,
    at,
    reason: shorten(problems.join('\n\n')),
    ...(commit === '' ? {} : { commit }),
    ...(level === 'repository' ? { repositoryId } : {}),
  };
}

/** Returns what was read on the forge as a place. */
export function placeOfReading({ level, repositoryId, name, files }: FileReading): ReadPlace {
  return {
    level,
    name: level === 'organization' ? name : '',
    repositoryId: level === 'repository' ? repositoryId : 0,
    files: files.map(({ source, commit, problems, rules }) => ({
      source,
      commit,
      problems,
      revision: rules[0]?.revision,
    })),
  };
}
