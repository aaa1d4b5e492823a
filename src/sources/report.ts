import { createHash } from 'node:crypto';
import type { Client } from '../client/client.ts';
import { operations } from '../contract/operations.ts';
import { messageOf } from '../errors.ts';
import { type Log, silentLog } from '../log.ts';
import type { Pins } from './organization.ts';
import type { Head } from './plain-file.ts';
import type { RepositoryRules } from './repository-file.ts';

/** How a repository is told that its rule file cannot be used. */
export const reportProblems = ['status', 'issue', 'none'] as const;
export type ReportProblems = (typeof reportProblems)[number];

/** The context of the status that tells whether rules can be used. */
export const statusContext = 'reeve/rules';
const marker = '<!-- reeve:rules -->';
const title = 'The rules of this repository cannot be used';

/** Tells repositories about their rule files. */
export interface Reporter {
  /** Takes note of files that were read; what is to be told is told in the background, once for the same state. */
  readonly onRead: (head: Head, files: readonly RepositoryRules[]) => void;
  /** Resolves when nothing is being told. */
  idle(): Promise<void>;
}

/** What was told last: the commit and a digest of the problems; with an issue, its number. */
type Told = { readonly commit: string; readonly digest: string; readonly issue?: number };

/**
 * Creates the reporter. A repository whose file has always been good hears nothing; one that was told of problems hears
 * when they are gone. `pins` keeps what was told over a restart.
 */
export function createReporter(options: {
  client: Client;
  how: ReportProblems;
  pins: Pins;
  log?: Log;
}): Reporter {
  const { client, how, pins, log = silentLog } = options;
  let telling: Promise<void> = Promise.resolve();

  const report = async (head: Head, files: readonly RepositoryRules[]): Promise<void> => {
    if (head.commit === '' || head.archived) return;
    const key = `report rules ${head.at.id}`;
    const before = (await pins.recall(key)) as Told | undefined;
    const problems = files.flatMap((file) => file.problems);
    const digest = createHash('sha256').update(problems.join('\n')).digest('hex');
    const isNew = before === undefined ? problems.length > 0 : isOther(before, head.commit, digest, how);
    if (!isNew) return;
    const issue = how === 'issue' ? await tellIssue(client, head, problems, before?.issue) : undefined;
    if (how === 'status') await postRuleStatus(client, head.at, head.commit, summaryOf(problems));
    const isOver = problems.length === 0 && issue === undefined;
    const told: Told = { commit: head.commit, digest, ...(issue === undefined ? {} : { issue }) };
    await pins.remember(key, isOver ? undefined : told);
  };

  return {
    onRead(head, files) {
      if (how === 'none') return;
      telling = telling
        .then(() => report(head, files))
        .catch((error: unknown) => {
          const repository = `${head.at.owner}/${head.at.name}`;
          log.warn(
            { repository, error: messageOf(error) },
            'could not tell the repository about its rule file',
          );
        });
    },
    async idle() {
      await telling;
    },
  };
}

/** A status belongs to its commit and is told again for the next one; an issue stays. */
function isOther(before: Told, commit: string, digest: string, how: ReportProblems): boolean {
  return before.digest !== digest || (how === 'status' && before.commit !== commit);
}

type Summary = { readonly state: 'success' | 'failure'; readonly description: string };

/** Returns the status that these problems come to; its description is one line. */
export function summaryOf(problems: readonly string[], good = 'the rules can be used'): Summary {
  const [first] = problems;
  if (first === undefined) return { state: 'success', description: good };
  const more = problems.length === 1 ? '' : ` (and ${problems.length - 1} more)`;
  const line = (first.split('\n')[0] ?? '').replace(/\p{Cc}/gu, ' ');
  return { state: 'failure', description: `${line.slice(0, 220)}${more}` };
}

/** Sets the status `reeve/rules` of a commit. */
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

/** Opens, edits or closes the one issue about the rules. Returns its number while it is open. */
async function tellIssue(
  client: Client,
  { at, commit }: Head,
  problems: readonly string[],
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
  const body = `${marker}\nUntil this is mended none of the rules in the file is used. Read at ${commit}.\n\n${fenced(problems)}`;
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

/** Shows text of the file as it stands: nothing in it may mention anybody or become markup. */
function fenced(problems: readonly string[]): string {
  const text = problems.join('\n\n').slice(0, 20_000);
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map(([ticks]) => ticks.length));
  const fence = '`'.repeat(longest + 1);
  return `${fence}text\n${text}\n${fence}`;
}
