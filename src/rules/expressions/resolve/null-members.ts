import type { ASTNode } from '@marcbachmann/cel-js';
import type { ExpressionProblem } from '../expression-problem.ts';
import { chainOf } from '../parse/tree.ts';
import type { Scope } from './scope.ts';

/** Members that forges write as null in everyday use, by the end of their chain, and when. */
const nullMembers: Readonly<Record<string, string>> = {
  milestone: 'without a milestone',
  assignee: 'without an assignee',
  closed_at: 'until it is closed',
  due_date: 'without a due date',
  due_on: 'without a due date',
  merged_at: 'until it is merged',
  merged_by: 'until it is merged',
  merge_commit_sha: 'until it is merged',
  'head.repo': 'once the fork was deleted',
};

/**
 * Returns a warning where the value of a node is often null and its place cannot use null: the rule then fails. None where
 * the expression has asked for the value before, by has() or a comparison with null.
 */
export function warningOfNull(node: ASTNode, scope: Scope): ExpressionProblem | undefined {
  const chain = chainOf(node);
  if (chain === undefined || scope.variables.has(chain[0] ?? '') || scope.present.has(chain.join('.')))
    return undefined;
  const end = [chain.slice(-2).join('.'), chain.slice(-1).join('.')].find((name) =>
    Object.hasOwn(nullMembers, name),
  );
  if (end === undefined) return undefined;
  const text = chain.join('.');
  const message = `${text} is null ${nullMembers[end]}, and the rule then fails: ask has(${text}) first`;
  return { code: 'null-member', message, start: node.start, end: node.end };
}
