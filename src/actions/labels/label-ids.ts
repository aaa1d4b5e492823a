import { type Facts, requestOf } from '../../facts/fact.ts';
import { labelDefinitions } from '../../facts/label-definitions.ts';
import { resolveLabel } from '../label-names.ts';

/** Returns the ids of labels that are set when a pull request is opened. Throws if one does not exist. */
export async function labelIds(labels: readonly string[], facts: Facts): Promise<readonly number[]> {
  const definitions = await facts.ask(requestOf(labelDefinitions));
  return labels.map((label) => {
    const found = resolveLabel(label, definitions);
    if (found) return found.id;
    throw new Error(`there is no label "${label}" in the repository or its organization`);
  });
}
