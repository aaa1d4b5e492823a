import { operations } from '../../contract/operations.ts';
import { type Facts, optionalRequestOf, requestOf } from '../../facts/fact.ts';
import { labelDefinitions } from '../../facts/label-definitions.ts';
import { labels as labelsRow } from '../../facts/labels.ts';
import { indexParams, repositoryParams } from '../../facts/where.ts';
import type { Change } from '../change.ts';

export const labelsFact = requestOf(labelsRow);
export const definitionsFact = optionalRequestOf(labelDefinitions);

/** Returns the name of the label that a change decides. */
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

/** Returns the change of a label that is already in the desired state. */
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
