import type { Problem } from '../problem.ts';
import type { LoadedRule, LoadedStep } from '../rule.ts';
import type { YamlSource } from './yaml-source.ts';

/** Actions that merge. */
const merging: ReadonlySet<string> = new Set(['merge', 'queue-merge']);
/** Actions that a merge depends on. */
const gating: ReadonlySet<string> = new Set([...merging, 'set-status']);
const comparesNewName = /\.filename\s*\.\s*(?:glob|matches|startsWith|endsWith|contains)\s*\(/;
const readsOldName = /\bprevious_filename\b/;

/** Returns a warning for each rule whose gate compares the new names of renamed files alone: a file may be renamed out of sight. */
export function renamedOutOfSight(rules: readonly LoadedRule[], file: YamlSource): readonly Problem[] {
  return rules.flatMap((rule) => {
    const steps = rule.steps.filter(({ action }) => gating.has(action.name));
    if (steps.length === 0) return [];
    const texts = [rule.condition?.source, ...steps.flatMap(conditionsOf)].filter(
      (text) => text !== undefined,
    );
    if (!texts.some((text) => comparesNewName.test(text) && !readsOldName.test(text))) return [];
    const message =
      'a renamed file is only seen by its new name: add || has(f.previous_filename) && f.previous_filename.glob(…)';
    return [file.problem('renamed-files', message, file.keyAt(['rules', rule.name]))];
  });
}
const countsReviews = /(?<![\w.])reviews\b/;
const namesChecks = /(?<![\w.])(required_checks|statuses)\b/;

/**
 * Returns warnings about conditions of merges that look safer than they are: `reviews` has reviews that do not count, and a
 * rule that sets a status holds back the merge of another rule only if the branch requires that status.
 */
export function mergeGates(rules: readonly LoadedRule[], file: YamlSource): readonly Problem[] {
  return rules.flatMap((rule) => {
    const steps = rule.steps.filter(({ action }) => merging.has(action.name));
    if (steps.length === 0) return [];
    const texts = [rule.condition?.source, ...steps.flatMap(conditionsOf)].filter(
      (text) => text !== undefined,
    );
    const place = file.keyAt(['rules', rule.name]);
    const problems: Problem[] = [];
    if (texts.some((text) => countsReviews.test(text))) {
      const message =
        'a merge should count approvals, not reviews: reviews contains dismissed and stale ones, and those of users without write access';
      problems.push(file.problem('merge-reviews', message, place));
    }
    const gate = rules.find(
      (other) => other !== rule && other.steps.some(({ action }) => action.name === 'set-status'),
    );
    if (gate && !texts.some((text) => namesChecks.test(text))) {
      const message = `a failed rule blocks only itself: the status of rule ${gate.name} holds back this merge only if the protection of the branch requires it`;
      problems.push(file.problem('merge-gate', message, place));
    }
    return problems;
  });
}

function conditionsOf({ condition, arguments: { written } }: LoadedStep): readonly (string | undefined)[] {
  const when: unknown =
    typeof written === 'object' && written !== null ? Reflect.get(written, 'when') : undefined;
  return [condition?.source, typeof when === 'string' ? when : undefined];
}
