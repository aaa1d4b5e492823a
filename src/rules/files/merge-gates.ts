import type { ASTNode } from '@marcbachmann/cel-js';
import { comparisonsIn, conditionTreesOf, ruleTreesOf } from '../compared-members.ts';
import { childrenOf, literalOf } from '../expressions/parse/tree.ts';
import type { Problem } from '../problem.ts';
import type { LoadedRule } from '../rule.ts';
import type { YamlSource } from './yaml-source.ts';

/** Actions that merge. */
const merging: ReadonlySet<string> = new Set(['merge', 'queue-merge']);
/** Actions that a merge depends on. */
const gating: ReadonlySet<string> = new Set([...merging, 'set-status']);
/** Functions that compare a part of a name, which a renamed file may no longer have. */
const partly: ReadonlySet<string> = new Set(['glob', 'matches', 'startsWith', 'endsWith', 'contains']);
const newNames = { member: 'filename' };

/** Returns a warning for each rule whose gate compares the new names of renamed files alone: a file may be renamed out of sight. */
export function renamedOutOfSight(rules: readonly LoadedRule[], file: YamlSource): readonly Problem[] {
  return rules.flatMap((rule) => {
    const steps = rule.steps.filter(({ action }) => gating.has(action.name));
    if (steps.length === 0) return [];
    const trees = [...ruleTreesOf(rule), ...steps.flatMap(conditionTreesOf)];
    const comparesNewName = (tree: ASTNode): boolean =>
      comparisonsIn(tree, newNames).some(({ by }) => partly.has(by));
    if (!trees.some((tree) => comparesNewName(tree) && !readsMember(tree, 'previous_filename'))) return [];
    const message =
      'a renamed file is only seen by its new name: add || has(f.previous_filename) && f.previous_filename.glob(…)';
    return [file.problem('renamed-files', message, file.keyAt(['rules', rule.name]))];
  });
}

/**
 * Returns warnings about conditions of merges that look safer than they are: `reviews` has reviews that do not count, and a
 * rule that sets a status holds back the merge of another rule only if the branch requires that status.
 */
export function mergeGates(rules: readonly LoadedRule[], file: YamlSource): readonly Problem[] {
  return rules.flatMap((rule) => {
    const steps = rule.steps.filter(({ action }) => merging.has(action.name));
    if (steps.length === 0) return [];
    const conditions = [...ruleTreesOf(rule), ...steps.flatMap(conditionTreesOf)];
    const place = file.keyAt(['rules', rule.name]);
    const problems: Problem[] = [];
    const countsApprovals = conditions.some((one) => names(one, 'approvals'));
    if (
      conditions.some(
        (one) => mayTurn(one, true) || (!countsApprovals && names(one, 'reviews') && asksApproved(one)),
      )
    ) {
      const message =
        'a merge should count approvals and rejections, not reviews: reviews contains dismissed and stale ones, and those of users without write access';
      problems.push(file.problem('merge-reviews', message, place));
    }
    const gate = rules.find(
      (other) => other !== rule && other.steps.some(({ action }) => action.name === 'set-status'),
    );
    if (gate && !conditions.some((one) => names(one, 'required_checks') || names(one, 'statuses'))) {
      const message = `a failed rule blocks only itself: the status of rule ${gate.name} holds back this merge only if the protection of the branch requires it`;
      problems.push(file.problem('merge-gate', message, place));
    }
    return problems;
  });
}

/** Returns whether an expression reads a member with this name. */
function readsMember(node: ASTNode, name: string): boolean {
  const isRead =
    (node.op === '.' && node.args[1] === name) || (node.op === '[]' && literalOf(node.args[1]) === name);
  return isRead || childrenOf(node).some((child) => readsMember(child, name));
}

/** Returns whether an expression reads a name. No variable of a loop has the name of a fact. */
function names(node: ASTNode, name: string): boolean {
  return (node.op === 'id' && node.args === name) || childrenOf(node).some((child) => names(child, name));
}

function asksApproved(node: ASTNode): boolean {
  return literalOf(node) === 'APPROVED' || childrenOf(node).some(asksApproved);
}

/** Comparisons of a count that one more review may make true, and those that it may make false. */
const risen: Readonly<Record<string, boolean>> = { '>': true, '>=': true, '<': false, '<=': false };
const mirrored: Readonly<Record<string, string>> = { '>': '<', '>=': '<=', '<': '>', '<=': '>=' };

/**
 * Returns whether one more review may turn a condition to this answer: a review that does not count is then worth an approval.
 * `!reviews.exists(…)` only gets stricter with each.
 */
function mayTurn(node: ASTNode, answer: boolean): boolean {
  if (!names(node, 'reviews')) return false;
  switch (node.op) {
    case '!_':
      return mayTurn(node.args, !answer);
    case '&&':
    case '||':
      return mayTurn(node.args[0], answer) || mayTurn(node.args[1], answer);
    case '?:': {
      const [condition, held, missed] = node.args;
      return names(condition, 'reviews') || mayTurn(held, answer) || mayTurn(missed, answer);
    }
    case 'rcall': {
      const [name, list, [_variable, body]] = node.args;
      if (!isOfReviews(list) || (body !== undefined && names(body, 'reviews'))) return true;
      return name === 'exists' ? answer : name === 'all' ? !answer : true;
    }
    case '==':
    case '!=':
    case '<':
    case '<=':
    case '>':
    case '>=': {
      const [left, right] = node.args;
      if (isCount(right)) return rises(mirrored[node.op] ?? node.op, left) !== !answer;
      return isCount(left) ? rises(node.op, right) !== !answer : true;
    }
    default:
      return true;
  }
}

/** Returns the answer to which more reviews turn a comparison of their count; undefined if they may turn it to both. */
function rises(operator: string, other: ASTNode): boolean | undefined {
  if (names(other, 'reviews')) return undefined;
  const isZero = literalOf(other) === 0n;
  return risen[operator] ?? (isZero ? operator === '!=' : undefined);
}

function isCount(node: ASTNode): boolean {
  if (node.op === 'call') return node.args[0] === 'size' && node.args[1].some(isOfReviews);
  return node.op === 'rcall' && node.args[0] === 'size' && isOfReviews(node.args[1]);
}

/** Returns whether a list has one item for each of some reviews: more reviews never make it shorter. */
function isOfReviews(node: ASTNode): boolean {
  if (node.op === 'id') return node.args === 'reviews';
  if (node.op !== 'rcall' || !['filter', 'map'].includes(node.args[0])) return false;
  const [, list, [, ...bodies]] = node.args;
  return isOfReviews(list) && !bodies.some((body) => names(body, 'reviews'));
}
