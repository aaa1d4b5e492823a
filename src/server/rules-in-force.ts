import type { Client } from '../client/client.ts';
import type { RepositoryRef } from '../contract/events/subject.ts';
import {
  type Incident,
  type IncidentKind,
  type Occurrence,
  reportedFailuresOf,
  shorten,
} from '../engine/incidents/incident.ts';
import type { Clock } from '../platform/clock.ts';
import { messageOf, ReeveError } from '../platform/errors.ts';
import type { Log } from '../platform/log.ts';
import type { PackTree } from '../rules/files/packs.ts';
import type { Level, LoadedRule } from '../rules/rule.ts';
import type { Enrolment } from '../rules/sources/admission.ts';
import {
  type FolderFile,
  type FolderWatch,
  findRuleFiles,
  problemTextsOf,
  watchFolder,
} from '../rules/sources/folder.ts';
import type { Grant } from '../rules/sources/grants.ts';
import { createLastValid, type LastValid } from '../rules/sources/last-valid.ts';
import type { OrganizationSource } from '../rules/sources/organization.ts';
import { createReporter, type Reporter, type ReportProblems } from '../rules/sources/report.ts';
import type { FileReading } from '../rules/sources/rule-files.ts';
import { createRuleSource, type ListedRepository, type RuleSource } from '../rules/sources/rule-source.ts';
import { pollingGaps } from '../rules/verdict.ts';
import type { Store } from '../store/store.ts';
import { createRuleCoverage, type RuleCoverage, type TestRules } from './rule-coverage.ts';

/** The rules in force, and the incidents about their files. */
export interface RulesInForce {
  readonly source: RuleSource;
  /** Returns all rules of the source. Also reads the files that have incidents again. */
  everyRule(): Promise<readonly LoadedRule[]>;
  /** Refreshes, in the background, the report on a repository whose rules were evaluated. */
  refreshReport(repositoryId: number): void;
  /** Coverage of the operator's rules by rule tests; absent: the tests are not run. */
  readonly coverage?: RuleCoverage | undefined;
  stop(): Promise<void>;
}

/** Opens the sources of rules: the operator's folder, which is watched from then on, and the files on the forge. */
export async function openRules(options: {
  readonly folder: string | undefined;
  readonly client: Client;
  readonly served: Enrolment;
  readonly everyServed: () => AsyncIterable<ListedRepository>;
  readonly organizations: readonly OrganizationSource[];
  readonly grants: readonly Grant[];
  readonly store: Store;
  readonly reportProblems: ReportProblems;
  /** Whether polling announces events, which does not find all that rules may listen to. */
  readonly isPolled: boolean;
  /** Called with each repository whose default branch was moved by an event. */
  readonly onMoved?: (repository: RepositoryRef) => void;
  readonly testRules?: TestRules | undefined;
  readonly clock: Clock;
  readonly log: Log;
}): Promise<RulesInForce> {
  const { folder, client, store, clock, log, served, organizations } = options;
  const incidents = new FileIncidents({ store, clock, log });
  const reporter: Reporter = createReporter({
    client,
    how: options.reportProblems,
    pins: store,
    log,
    warnings: (files) => (options.isPolled ? files.flatMap(({ rules }) => pollingGaps(rules)) : []),
    async failures(repositoryId) {
      // The file that was just read may have opened or closed incidents.
      await incidents.idle();
      return reportedFailuresOf(await store.listIncidents(['rule-failed']), repositoryId);
    },
  });
  const source = createRuleSource({
    ...options,
    pins: store,
    texts: store,
    operatorRules: [],
    onRead(reading) {
      incidents.note(placeOfReading(reading));
      reporter.onRead(reading);
    },
  });
  const noteOperator = (files: readonly ReadFile[]): void =>
    incidents.note({ level: 'operator', repositoryId: 0, name: '', files });
  // Without a folder, all incidents about operator files are closed.
  if (folder === undefined) noteOperator([]);
  const lastValid = createLastValid({ texts: store, clock, log });
  const watch = await putInForce(folder, { log, lastValid }, (loaded, files, offered) => {
    source.replaceOperatorRules(loaded, offered);
    noteOperator(files.map((file) => readFileOf(file, folder)));
  });
  await incidents.idle();

  const { testRules: test } = options;
  const coverage = test && createRuleCoverage({ rules: () => source.operator(), test, log });
  const lookAgain = createRecheck({ store, source, incidents, served, organizations, log });

  return {
    source,
    async everyRule() {
      const rules = await source.everyRule();
      await lookAgain();
      return rules;
    },
    refreshReport: (repositoryId) => reporter.refresh(repositoryId),
    coverage,
    async stop() {
      await watch?.stop();
      await coverage?.stop();
      await incidents.idle();
      await reporter.idle();
    },
  };
}

/** Returns a function that re-reads the rule files that have incidents, and closes the incidents of deleted files. */
function createRecheck(options: {
  readonly store: Store;
  readonly source: RuleSource;
  readonly incidents: FileIncidents;
  readonly served: Enrolment;
  readonly organizations: readonly OrganizationSource[];
  readonly log: Log;
}): () => Promise<void> {
  const { store, source, incidents, served, organizations, log } = options;

  /** Reads a repository's file again, and returns whether the repository still exists and is served. */
  const isReadAgain = async (id: number, [incident]: readonly Incident[]): Promise<boolean> => {
    const [owner = '', name = ''] = incident?.source?.split('/') ?? [];
    try {
      if (!(await served.has({ id, owner, name }))) return false;
      await source.read({ id, owner, name });
      return true;
    } catch (error) {
      if (error instanceof ReeveError && error.code === 'forge-not-found') return false;
      log.warn(
        { repository: `${owner}/${name}`, error: messageOf(error) },
        'a rule file could not be read again',
      );
      return true;
    }
  };

  return async () => {
    await incidents.idle();
    const found = await store.listIncidents();
    const over = found.filter(
      (incident) =>
        incident.level === 'organization' &&
        !organizations.some(({ rules }) => isWithin(incident.source, rules)),
    );
    await clearAll(store, over);
    const own = found.filter(({ level }) => level === 'repository');
    for (const [repositoryId, some] of Map.groupBy(own, (incident) => incident.repositoryId ?? 0)) {
      if (!(await isReadAgain(repositoryId, some))) await clearAll(store, some);
    }
    await incidents.idle();
  };
}

/** Converts a file from the operator's folder. Its problems show the path relative to the folder. */
function readFileOf(file: FolderFile, folder = ''): ReadFile {
  const { path, rules } = file;
  return { source: path, commit: '', revision: rules[0]?.revision, problems: problemTextsOf(file, folder) };
}

/** Called with the rules of the folder, its files, and the packs that it offers. */
type OnRules = (rules: readonly LoadedRule[], files: readonly FolderFile[], offered: PackTree) => void;

/** Puts the operator's rules in force, and replaces them whenever the folder changes. */
async function putInForce(
  folder: string | undefined,
  { log, lastValid }: { readonly log: Log; readonly lastValid: LastValid },
  onRules: OnRules,
): Promise<FolderWatch | undefined> {
  if (folder === undefined) {
    log.info({}, 'REEVE_RULES is not set: there are only rules of repositories');
    return undefined;
  }
  // A missing folder is an error at startup; later it may be missing for a moment.
  await findRuleFiles([folder]);
  const watch = watchFolder(folder, { log, lastValid, onRules });
  await watch.look();
  return watch;
}

/** A rule file: a path in the operator's folder, or `owner/name/path` on the forge. */
type ReadFile = {
  readonly source: string;
  /** Absent if the file has no rules. */
  readonly revision?: string | undefined;
  readonly commit: string;
  readonly problems: readonly string[];
};

/** All files of one location, as read together. */
type ReadPlace = {
  readonly level: Level;
  /** Id of the repository with the files; 0 for the operator's folder and for organizations. */
  readonly repositoryId: number;
  /** Full name of an organization's rules repository; empty for other levels. */
  readonly name: string;
  readonly files: readonly ReadFile[];
};

/** Keeps the incidents about rule files up to date. */
class FileIncidents {
  readonly #store: Store;
  readonly #clock: Clock;
  readonly #log: Log;
  #noting: Promise<void> = Promise.resolve();

  constructor({ store, clock, log }: { readonly store: Store; readonly clock: Clock; readonly log: Log }) {
    this.#store = store;
    this.#clock = clock;
    this.#log = log;
  }

  /** Records files in the background. */
  note(place: ReadPlace): void {
    this.#noting = this.#noting
      .then(() => noteFiles(this.#store, place, this.#clock.now()))
      .catch((error: unknown) => {
        this.#log.warn({ error: messageOf(error) }, 'incidents about rule files could not be stored');
      });
  }

  /** Resolves when all files are recorded. */
  idle(): Promise<void> {
    return this.#noting;
  }
}

/**
 * Updates the incidents of a location: raises incidents for unusable files, and closes the incidents of corrected or
 * deleted files and of rules whose file has changed since they failed.
 */
async function noteFiles(store: Store, place: ReadPlace, now: Date): Promise<void> {
  const broken = place.files.filter(({ problems }) => problems.length > 0);
  const revisions = new Map(place.files.map(({ source, revision }) => [source, revision]));
  const isUnchanged = ({ source, revision }: Incident): boolean =>
    revision !== undefined && revisions.get(source ?? '') === revision;
  // Incidents of other kinds do not end with a change of a file.
  const isCurrent: Partial<Readonly<Record<IncidentKind, (incident: Incident) => boolean>>> = {
    'rule-failed': isUnchanged,
    'sweep-failed': isUnchanged,
    'account-changed': isUnchanged,
    'file-broken': ({ key }) => broken.some(({ source }) => source === key),
  };
  const over = (await store.listIncidents(Object.keys(isCurrent) as IncidentKind[])).filter(
    (incident) => isOf(incident, place) && !isCurrent[incident.kind]?.(incident),
  );
  await clearAll(store, over);
  await store.raise(broken.map((file) => occurrenceOf(file, place, now)));
}

async function clearAll(store: Store, incidents: readonly Incident[]): Promise<void> {
  for (const [kind, some] of Map.groupBy(incidents, (incident) => incident.kind)) {
    await store.clear(
      kind,
      some.map(({ key }) => key),
    );
  }
}

/** Returns whether an incident is about a file of the location. */
function isOf({ level, repositoryId, source }: Incident, place: ReadPlace): boolean {
  if (level !== place.level) return false;
  if (level === 'repository') return repositoryId === place.repositoryId;
  return level === 'operator' || isWithin(source, place.name);
}

/** Returns whether a source is a rules repository, or a file in it. */
function isWithin(source: string | undefined, repository: string): boolean {
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

/** Returns the location that was read on the forge. */
function placeOfReading({ level, repositoryId, name, files }: FileReading): ReadPlace {
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
