import { relative } from 'node:path';
import type { Client } from '../client/client.ts';
import type { BrokenFile } from '../dashboard/readings.ts';
import type { Log } from '../log.ts';
import { formatProblem } from '../rules/problem.ts';
import { type FolderFile, findRuleFiles } from '../sources/folder.ts';
import type { OrganizationSource, Pins } from '../sources/organization.ts';
import type { Grant } from '../sources/powers.ts';
import { createReporter, type Reporter, type ReportProblems } from '../sources/report.ts';
import type { RepositoryRules } from '../sources/repository-file.ts';
import { createRuleSource, type RuleSource } from '../sources/rules-for.ts';
import type { Served } from '../sources/served.ts';
import { type FolderWatch, watchFolder } from '../sources/watch.ts';

/** The rules that are in force, and what is known of those that cannot be. */
export interface RulesInForce {
  readonly source: RuleSource;
  /** Files that could not be used when they were read last: the operator’s, then those of organizations and repositories. */
  brokenFiles(): readonly BrokenFile[];
  stop(): Promise<void>;
}

/** Broken files of repositories that are remembered. */
const maxBroken = 1_000;

/** Opens the sources of rules: the operator's folder, which is watched from then on, and the files on the forge. */
export async function openRules(options: {
  readonly folder: string | undefined;
  readonly client: Client;
  readonly served: Served;
  readonly organizations: readonly OrganizationSource[];
  readonly grants: readonly Grant[];
  readonly pins: Pins;
  readonly reportProblems: ReportProblems;
  readonly nowMs: () => number;
  readonly log: Log;
}): Promise<RulesInForce> {
  const { folder, client, pins, log } = options;
  const reporter: Reporter = createReporter({ client, how: options.reportProblems, pins, log });
  const broken = new Map<string, BrokenFile>();
  const note = (files: readonly RepositoryRules[]): void => {
    for (const { source, commit, problems } of files) {
      broken.delete(source);
      if (problems.length > 0) broken.set(source, { file: source, commit, problems });
      const [oldest] = broken.keys();
      if (broken.size > maxBroken && oldest !== undefined) broken.delete(oldest);
    }
  };
  const source = createRuleSource({
    ...options,
    operatorRules: [],
    onRead(head, files) {
      note(files);
      if (head) reporter.onRead(head, files);
    },
  });
  let own: readonly BrokenFile[] = [];
  const watch = await putInForce(folder, log, (loaded, files) => {
    own = files.filter(({ problems }) => problems.length > 0).map((file) => brokenOf(file, folder));
    source.replaceOperatorRules(loaded);
  });
  return {
    source,
    brokenFiles: () => [...own, ...broken.values()],
    async stop() {
      await watch?.stop();
      await reporter.idle();
    },
  };
}

/** A file of the operator's folder is named as there, wherever the folder lies. */
function brokenOf({ path, problems }: FolderFile, folder = ''): BrokenFile {
  const file = relative(folder, path);
  return { file, commit: '', problems: problems.map((problem) => formatProblem({ ...problem, path: file })) };
}

/** Puts the operator's rules in force, and those that the folder holds from then on. */
async function putInForce(
  folder: string | undefined,
  log: Log,
  onRules: Parameters<typeof watchFolder>[1]['onRules'],
): Promise<FolderWatch | undefined> {
  if (folder === undefined) {
    log.info({}, 'no REEVE_RULES: there are no rules of the operator, only those of repositories');
    return undefined;
  }
  // A folder that is not there is a mistake at the start; later it may be away for a moment.
  await findRuleFiles([folder]);
  const watch = watchFolder(folder, { log, onRules });
  await watch.look();
  return watch;
}
