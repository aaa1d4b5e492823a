import { hash, randomUUID } from 'node:crypto';
import type { Client } from '../../client/client.ts';
import { operations } from '../../contract/operations.ts';
import { BoundedMap } from '../../platform/cache/bounded-map.ts';
import { type Clock, systemClock } from '../../platform/clock.ts';
import { messageOf } from '../../platform/errors.ts';
import { type Log, silentLog } from '../../platform/log.ts';
import type { Pins } from './organization.ts';
import type { BranchHead, RepositoryRules } from './repository-file.ts';
import type { FileReading } from './rule-files.ts';

/** How an unusable rule file is reported in its repository. */
const reportProblems = ['status', 'issue', 'none'] as const;
export type ReportProblems = (typeof reportProblems)[number];

/** Context of the status that reports problems of the rule file. */
const statusContext = 'reeve/rules';
const marker = '<!-- reeve:rules -->';
const title = 'The rules of this repository cannot be used';

/** Reports problems of rule files, and failing rules, in the repositories that contain the files. */
export interface Reporter {
  /** Called with the files that were read. Reports in the background, once for each state. */
  readonly onRead: (reading: FileReading) => void;
  /**
   * Updates the report of a repository after its rules were evaluated, because a rule may have failed or may no longer
   * fail.
   */
  refresh(repositoryId: number): void;
  /** Resolves when no report is in progress. */
  idle(): Promise<void>;
}

/** A failing rule in a report: `text` is reported again only if `identity` changes. */
export type ReportedFailure = { readonly text: string; readonly identity: string };

/** The last report: the commit, a digest of the problems, and the number of the issue, if any. */
type Told = { readonly commit: string; readonly digest: string; readonly issue?: number };

/** Stored state of a report: the last report, and the process that is creating the next one. */
type KeptReport = Partial<Told> & { readonly claim?: { readonly by: string; readonly at: string } };

/** The files of a repository as last read: its own file, and the organization's files that it contains. */
type KnownFiles = {
  readonly head: BranchHead;
  readonly repository?: readonly RepositoryRules[];
  readonly organization?: readonly RepositoryRules[];
};

/** Time after which another process takes over an unfinished report. */
const claimMs = 60_000;
/** Delay before retrying a report that another process is creating. */
const againMs = 1_000;

/** Maximum number of repositories whose files are cached for reports. */
const maxKnown = 5_000;

/**
 * Creates the reporter. A repository whose file has always been valid gets no report; after reported problems are
 * solved, another report says so. `pins` stores reports across restarts. `failures` returns the failing rules of a
 * repository's own file, without data that is only for operators, because everyone who can read the repository can read
 * the report.
 */
export function createReporter(options: {
  client: Client;
  how: ReportProblems;
  pins: Pins;
  /** Returns what is wrong with valid files although their rules can be used. The status says it, and succeeds. Default: nothing. */
  warnings?: (files: readonly RepositoryRules[]) => readonly string[];
  /** Default: no failures are reported. */
  failures?: (repositoryId: number) => Promise<readonly ReportedFailure[]>;
  log?: Log;
  clock?: Clock;
}): Reporter {
  const { client, how, pins, failures: findFailures = async () => [], log = silentLog } = options;
  const { clock = systemClock, warnings: findWarnings = () => [] } = options;
  const known = new BoundedMap<number, KnownFiles>(maxKnown);
  let telling: Promise<void> = Promise.resolve();

  const report = async (repositoryId: number): Promise<void> => {
    const files = known.get(repositoryId);
    if (files === undefined || files.head.commit === '' || files.head.archived) return;
    const { head } = files;
    const key = `report rules ${repositoryId}`;
    const all = [...(files.organization ?? []), ...(files.repository ?? [])];
    const invalid = all.filter(({ problems }) => problems.length > 0);
    const broken = invalid.flatMap((file) => file.problems);
    const hasRules = invalid.every(({ lastValid }) => lastValid !== undefined);
    const failures = await findFailures(repositoryId);
    const problems = [...broken, ...failures.map(({ text }) => text)];
    // An issue is for what somebody has to correct.
    const warnings = how === 'status' ? findWarnings(all) : [];
    const identity = [...broken, ...failures.map((failure) => failure.identity), ...warnings].join('\n');
    const digest = hash('sha256', identity);
    const isGood = problems.length + warnings.length === 0;
    const isDue = (before: Told | undefined): boolean =>
      before === undefined ? !isGood : isOther(before, head.commit, digest, how);
    const claimed = await claimReport(key, { pins, now: clock.now(), isDue });
    if (claimed === 'done') return;
    if (claimed === 'begun') {
      void clock.sleep(againMs).then(() => refresh(repositoryId));
      return;
    }
    try {
      const issue =
        how === 'issue'
          ? await syncIssue(client, head, { broken, hasRules, problems }, claimed.before?.issue)
          : undefined;
      if (how === 'status')
        await postRuleStatus(client, head.at, head.commit, summaryOf(problems, goodWords(warnings)));
      const isOver = isGood && issue === undefined;
      const told: Told = { commit: head.commit, digest, ...(issue === undefined ? {} : { issue }) };
      await pins.remember(key, isOver ? undefined : told);
    } catch (error) {
      await pins.remember(key, claimed.before).catch(() => {});
      throw error;
    }
  };

  const refresh = (repositoryId: number): void => {
    const head = known.get(repositoryId)?.head;
    if (how === 'none' || head === undefined) return;
    telling = telling
      .then(() => report(repositoryId))
      .catch((error: unknown) => {
        const repository = `${head.at.owner}/${head.at.name}`;
        log.warn(
          { repository, error: messageOf(error) },
          'could not report on the rule file in its repository',
        );
      });
  };

  return {
    onRead({ level, head, files }) {
      if (how === 'none' || head === undefined) return;
      const before = known.get(head.at.id);
      known.set(head.at.id, { ...before, head, [level]: files });
      refresh(head.at.id);
    },
    refresh,
    async idle() {
      await telling;
    },
  };
}

/**
 * Claims a report, so that only one of several processes that read the same files at the same time opens an issue.
 * `done`: this state has already been reported; `begun`: another process is creating a report.
 */
async function claimReport(
  key: string,
  {
    pins,
    now,
    isDue,
  }: { readonly pins: Pins; readonly now: Date; readonly isDue: (before: Told | undefined) => boolean },
): Promise<'done' | 'begun' | { readonly before: Told | undefined }> {
  const claim = { by: randomUUID(), at: now.toISOString() };
  let isDone = false;
  let before: Told | undefined;
  const stands = await pins.revise(key, (value) => {
    // The cast is safe: only this function and the one above write this key.
    const { claim: other, ...told } = (value ?? {}) as KeptReport;
    before = told.commit === undefined ? undefined : (told as Told);
    isDone = !isDue(before);
    const isBegun = other !== undefined && now.getTime() - Date.parse(other.at) < claimMs;
    return isDone || isBegun ? value : ({ ...told, claim } satisfies KeptReport);
  });
  if (isDone) return 'done';
  return (stands as KeptReport | undefined)?.claim?.by === claim.by ? { before } : 'begun';
}

/**
 * Returns whether a report is due. A status belongs to one commit and is set again for the next commit; an issue
 * remains.
 */
function isOther(before: Told, commit: string, digest: string, how: ReportProblems): boolean {
  return before.digest !== digest || (how === 'status' && before.commit !== commit);
}

type Summary = { readonly state: 'success' | 'failure'; readonly description: string };

/** Returns the status for these problems. Its description is a single line. */
export function summaryOf(problems: readonly string[], good = 'the rules can be used'): Summary {
  const [first] = problems;
  if (first === undefined) return { state: 'success', description: good };
  const more = problems.length === 1 ? '' : ` (and ${problems.length - 1} more)`;
  const line = (first.split('\n')[0] ?? '').replace(/\p{Cc}/gu, ' ');
  return { state: 'failure', description: `${line.slice(0, 250)}${more}` };
}

/** Returns the description of a status that succeeds, with the first warning. */
function goodWords(warnings: readonly string[]): string {
  const [first] = warnings;
  if (first === undefined) return 'the rules can be used';
  const more = warnings.length === 1 ? '' : ` (and ${warnings.length - 1} more)`;
  return `the rules can be used; warning: ${first.slice(0, 200)}${more}`;
}

/** Sets the status `reeve/rules` on a commit. */
export async function postRuleStatus(
  client: Client,
  at: { owner: string; name: string },
  sha: string,
  { state, description }: Summary,
): Promise<void> {
  await client.call(operations.createStatus, {
    params: { owner: at.owner, repo: at.name, sha },
    body: { context: statusContext, state, description },
  });
}

/** Opens, edits or closes the issue about the rules. Returns its number while it is open. */
async function syncIssue(
  client: Client,
  { at, commit }: BranchHead,
  {
    broken,
    hasRules,
    problems,
  }: {
    readonly broken: readonly string[];
    /** Whether each invalid file has a last valid version in force. */
    readonly hasRules: boolean;
    readonly problems: readonly string[];
  },
  known: number | undefined,
): Promise<number | undefined> {
  const params = { owner: at.owner, repo: at.name };
  if (problems.length === 0) {
    if (known === undefined) return undefined;
    await client.call(operations.editIssue, {
      params: { ...params, index: known },
      body: { state: 'closed' },
    });
    return undefined;
  }
  const used = hasRules
    ? 'the last valid version of the file is used'
    : 'none of the rules in the file is used';
  const effect = broken.length > 0 ? `Until this is corrected, ${used}. ` : '';
  const body = `${marker}\n${effect}Read at ${commit}.\n\n${fenced(problems)}`;
  if (known === undefined) {
    const made = await client.call(operations.createIssue, { params, body: { title, body } });
    return made.number;
  }
  await client.call(operations.editIssue, {
    params: { ...params, index: known },
    body: { body, state: 'open' },
  });
  return known;
}

/** Returns problems as a code block, so that text from the file cannot mention a user or become markup. */
export function fenced(problems: readonly string[]): string {
  const text = problems.join('\n\n').slice(0, 20_000);
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map(([ticks]) => ticks.length));
  const fence = '`'.repeat(longest + 1);
  return `${fence}text\n${text}\n${fence}`;
}
