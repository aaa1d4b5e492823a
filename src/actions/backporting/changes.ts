import { operations } from '../../contract/operations.ts';
import type { PullRequest } from '../../contract/resources/pulls.ts';
import { backportBranch, backportMarker, backports } from '../../facts/backports.ts';
import { branches } from '../../facts/branches.ts';
import { commits } from '../../facts/commits.ts';
import { type FactRequest, type Facts, requestOf } from '../../facts/fact.ts';
import { mergedPatch } from '../../facts/files.ts';
import { pullRequest } from '../../facts/pull-request.ts';
import { repositoryParams } from '../../facts/where.ts';
import { breakReferences } from '../../patterns/issue-references.ts';
import type { Change } from '../change.ts';
import { asCode } from '../code-text.ts';
import { withMarker } from '../marker.ts';
import type { HandSource } from './notes.ts';
import type { BackportSource } from './source.ts';

/** The request of a forge has no longer title. */
const maxTitle = 255;

/** The change that was merged stays as it is; which backports it has is read once per run, and again after a refusal. */
export const keptFacts: readonly FactRequest[] = [
  requestOf(mergedPatch),
  requestOf(commits),
  requestOf(backports),
];

/** What every change of a backport to one branch has in common: conditions are evaluated again before it. */
function common(target: string) {
  return {
    action: 'backport',
    branch: target,
    reconsiders: true,
    reads: [requestOf(pullRequest), requestOf(branches), requestOf(backports)],
    keeps: keptFacts,
  } as const;
}

/** Returns the name under which a plan knows the branch of a backport. */
function branchTarget(number: number, target: string): string {
  return `branch:${backportBranch(number, target)}`;
}

/** Returns the change that makes the branch of a backport: the patch of the merged change on the tip of the target. */
export function patching(source: BackportSource, target: string, facts: Facts): Change {
  const { number, patch, commit, mergeCommit } = source;
  const name = backportBranch(number, target);
  return {
    ...common(target),
    operation: operations.applyDiffPatch.id,
    input: {
      params: repositoryParams(facts.subject),
      // Forgejo requires any text as `sha`; none is read.
      body: { branch: target, new_branch: name, content: patch, sha: mergeCommit, ...commit },
    },
    target: branchTarget(number, target),
    value: { onto: target, commit: mergeCommit },
    before: null,
    after: { name, onto: target, commits: 1, message: commit.message },
    causes: { event: 'created', branch: name },
    reason: `#${number} is merged, and has no backport to ${target}`,
  };
}

/** Returns the change that opens the pull request of a backport. `exists`: its branch is there, with the right changes. */
export function openingOf(
  pull: PullRequest,
  source: BackportSource,
  target: string,
  { facts, labels, exists }: OpeningOptions,
): Change {
  const { number, mergeCommit } = source;
  const head = backportBranch(number, target);
  // Its author is a stranger, and this account opens it.
  const title = breakReferences([{ text: `[${target}] ${pull.title}`, isInserted: true }]);
  const body = withMarker(
    backportMarker(number, target),
    `Backport of #${number} to ${asCode(target)}.\n\n(cherry picked from commit ${mergeCommit})`,
  );
  const isLong = title.length > maxTitle;
  return {
    ...common(target),
    operation: operations.createPull.id,
    input: {
      params: repositoryParams(facts.subject),
      body: {
        head,
        base: target,
        title: isLong ? `${title.slice(0, maxTitle - 1).toWellFormed()}…` : title,
        body,
        ...(labels.ids.length > 0 ? { labels: labels.ids } : {}),
      },
    },
    target: openingTarget(number, target),
    value: { onto: target, commit: mergeCommit, labels: labels.names },
    before: null,
    after: { state: 'open', head, base: target },
    causes: { event: 'opened', head, base: target },
    ...(exists ? {} : { needs: branchTarget(number, target) }),
    reason: exists ? `the branch ${head} has no pull request` : `#${number} has no backport to ${target}`,
  };
}

type OpeningOptions = {
  readonly facts: Facts;
  readonly labels: { readonly names: readonly string[]; readonly ids: readonly number[] };
  readonly exists: boolean;
};

function openingTarget(number: number, target: string): string {
  return `backport:#${number} to ${target}`;
}

/** Returns the change for a backport that is there, in whatever state: it is not opened again. */
export function opened(known: PullRequest, source: HandSource, target: string, facts: Facts): Change {
  const { number, mergeCommit } = source;
  const state = known.merged ? 'merged' : known.state;
  return {
    ...common(target),
    operation: operations.createPull.id,
    input: { params: repositoryParams(facts.subject) },
    target: openingTarget(number, target),
    value: { onto: target, commit: mergeCommit, labels: [] },
    before: { state, number: known.number },
    after: { state, number: known.number },
    reason: `#${known.number} is its backport to ${target}, and ${state}`,
    already: true,
  };
}

/** Returns the change that removes a branch on which the forge did not make the changes of the pull request. */
export function removal(source: HandSource, target: string, commit: string, facts: Facts): Change {
  const { number, mergeCommit } = source;
  const name = backportBranch(number, target);
  return {
    ...common(target),
    operation: operations.deleteBranch.id,
    input: { params: { ...repositoryParams(facts.subject), branch: name } },
    target: branchTarget(number, target),
    value: { onto: target, commit: mergeCommit, deleted: true },
    before: { name, commit },
    after: null,
    stage: 2,
    causes: { event: 'deleted', branch: name },
    reason: `its commit does not make the changes of #${number}`,
  };
}
