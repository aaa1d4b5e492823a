import { operations } from '../contract/operations.ts';
import { type Facts, optionalRequestOf, requestOf } from '../facts/fact.ts';
import { FactNotGiven } from '../facts/given-facts.ts';
import { type LabelDefinition, labelDefinitions } from '../facts/label-definitions.ts';
import { labels as labelsRow } from '../facts/labels.ts';
import { indexParams, repositoryParams } from '../facts/where.ts';
import type { Change } from './change.ts';

/** A label to set; if it has no id, its name identifies it. */
export type LabelSource = {
  readonly id?: number | undefined;
  readonly name: string;
  readonly exclusive?: boolean | null | undefined;
};

/**
 * Returns the label with this name: the repository's label, otherwise the organization's, otherwise undefined. Throws
 * if the repository or the organization has two labels with this name.
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
 * Returns the scope in which a label excludes other labels: the text before the last slash, if the label is exclusive
 * and the slash is neither the first nor the last character. Source: forge `models/issues/label.go`.
 */
export function exclusiveScope(label: LabelSource): string | undefined {
  const slash = label.name.lastIndexOf('/');
  if (!label.exclusive || slash <= 0 || slash === label.name.length - 1) return undefined;
  return label.name.slice(0, slash);
}

/**
 * Returns the label definitions; reads them again if a wanted name is missing from the cached ones. Returns undefined
 * if a what-if does not provide the definitions.
 */
export async function definitionsFor(
  wanted: readonly string[],
  facts: Facts,
): Promise<readonly LabelDefinition[] | undefined> {
  try {
    const remembered = await facts.ask(definitionsFact);
    if (wanted.every((label) => remembered.some((one) => one.name === label))) return remembered;
    return await facts.fresh([definitionsFact]).ask(definitionsFact);
  } catch (error) {
    if (error instanceof FactNotGiven) return undefined;
    throw error;
  }
}

/** Returns the ids of the labels to set when a pull request is opened. Throws if one of the labels does not exist. */
export async function labelIds(labels: readonly string[], facts: Facts): Promise<readonly number[]> {
  const definitions = await facts.ask(requestOf(labelDefinitions));
  return labels.map((label) => {
    const found = resolveLabel(label, definitions);
    if (found) return found.id;
    throw new Error(`there is no label "${label}" in the repository or its organization`);
  });
}

export const labelsFact = requestOf(labelsRow);
export const definitionsFact = optionalRequestOf(labelDefinitions);

/** Returns the name of the label that a change adds or removes. */
export function decidedLabel(change: Change): string {
  return change.target.slice('label:'.length);
}

/** Returns the change that adds or removes a label. */
export function labelChange(label: string, there: boolean, reason: string, facts: Facts): Change {
  const { index } = indexParams(facts.subject);
  return {
    action: 'set-labels',
    operation: operations.replaceIssueLabels.id,
    input: { params: indexParams(facts.subject) },
    target: `label:${label}`,
    value: there,
    before: !there,
    after: there,
    reason,
    reads: [labelsFact],
    joins: `labels of #${index}`,
  };
}

/** Returns the change for a label that is already in the desired state. */
export function labelAlready(label: string, there: boolean, facts: Facts): Change {
  return {
    ...labelChange(label, there, 'already in the desired state', facts),
    before: there,
    already: true,
  };
}

/** Returns the change that creates a label in the repository. */
export function labelCreation(
  label: string,
  create: { readonly color: string; readonly description?: string | undefined },
  facts: Facts,
): Change {
  const body = {
    name: label,
    color: create.color.replace('#', '').toLowerCase(),
    description: create.description ?? '',
  };
  return {
    action: 'set-labels',
    operation: operations.createLabel.id,
    input: { params: repositoryParams(facts.subject), body },
    target: `label-definition:${label}`,
    value: { color: body.color, description: body.description },
    before: null,
    after: body,
    reason: 'the label does not exist yet',
    forgets: ['label_definitions'],
    reads: [labelsFact, definitionsFact],
    stage: 0,
  };
}
