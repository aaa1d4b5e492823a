import type { ASTNode } from '@marcbachmann/cel-js';
import { chainOf, literalOf } from './tree.ts';

/** Words that other systems use, and what they are here. */
const foreign: Readonly<Record<string, string>> = {
  synchronize: 'synchronized',
  labeled: 'label_updated',
  unlabeled: 'label_updated',
  milestone: 'milestoned',
  ready_for_review: 'edited',
  converted_to_draft: 'edited',
  submitted: 'approved',
  CHANGES_REQUESTED: 'REQUEST_CHANGES',
  COMMENTED: 'COMMENT',
  DISMISSED: 'REQUEST_CHANGES',
  pull_request_target: 'pull_request',
  issue: 'issues',
  merge_request: 'pull_request',
  cron: 'schedule',
  comment: 'issue_comment',
  review: 'pull_request_review',
  check_run: 'status',
  check_suite: 'status',
  tag: 'create',
};

/** Returns the word of the forge for a word of GitHub's, or undefined. */
export function wordOfForge(word: string): string | undefined {
  return Object.hasOwn(foreign, word) ? foreign[word] : undefined;
}

/** Returns the literals that `event.action` is compared with although the forge never says them (`synchronize`). */
export function foreignActivities(left: ASTNode, right: ASTNode): readonly ASTNode[] {
  const chains = [left, right].map((side) => chainOf(side)?.join('.'));
  if (!chains.includes('event.action')) return [];
  const words = [left, right].flatMap((side) => (side.op === 'list' ? side.args : [side]));
  return words.filter((word) => {
    const text = literalOf(word);
    return typeof text === 'string' && wordOfForge(text) !== undefined;
  });
}
