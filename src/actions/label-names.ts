import { type Facts, requestOf } from '../facts/fact.ts';
import { FactNotGiven } from '../facts/given-facts.ts';
import { type LabelDefinition, labelDefinitions } from '../facts/label-definitions.ts';
import { definitionsFact } from './labels/changes.ts';

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

/**
 * Returns the label definitions, read again if a wanted name is not among the cached ones; undefined if a
 * what-if does not provide them.
 */
export async function definitionsFor(
  wanted: readonly string[],
  facts: Facts,
): Promise<readonly LabelDefinition[] | undefined> {
  try {
    const remembered = await facts.ask(definitionsFact);
    if (wanted.every((label) => remembered.some((one) => one.name === label))) return remembered;
    return await facts.fresh([definitionsFact], 1_000).ask(definitionsFact);
  } catch (error) {
    if (error instanceof FactNotGiven) return undefined;
    throw error;
  }
}

/** Returns the ids of labels that are set when a pull request is opened. Throws if one does not exist. */
export async function labelIds(labels: readonly string[], facts: Facts): Promise<readonly number[]> {
  const definitions = await facts.ask(requestOf(labelDefinitions));
  return labels.map((label) => {
    const found = resolveLabel(label, definitions);
    if (found) return found.id;
    throw new Error(`there is no label "${label}" in the repository or its organization`);
  });
}
