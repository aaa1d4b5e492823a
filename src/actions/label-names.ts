import type { LabelDefinition } from '../facts/label-definitions.ts';

/** A label to set; without an id it is identified by its name. */
export type LabelSource = {
  readonly id?: number | undefined;
  readonly name: string;
  readonly exclusive?: boolean | null | undefined;
};

/**
 * Returns the label with this name: the repository's, otherwise the organization's, otherwise undefined. Throws if one of
 * them has two labels of this name.
 */
export function resolveLabel(
  name: string,
  definitions: readonly LabelDefinition[],
): LabelDefinition | undefined {
  for (const level of ['repository', 'organization']) {
    const found = definitions.filter((label) => label.name === name && label.level === level);
    if (found.length > 1) throw new Error(`there are ${found.length} labels named "${name}" in the ${level}`);
    if (found[0]) return found[0];
  }
  return undefined;
}

/**
 * Returns the scope within which a label excludes others: the text before the last slash, when the label is exclusive
 * and the slash is neither first nor last. Source: forge `models/issues/label.go`.
 */
export function exclusiveScope(label: LabelSource): string | undefined {
  const slash = label.name.lastIndexOf('/');
  if (!label.exclusive || slash <= 0 || slash === label.name.length - 1) return undefined;
  return label.name.slice(0, slash);
}
