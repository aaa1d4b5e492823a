import type { Facts } from '../../facts/fact.ts';
import { FactNotGiven } from '../../facts/given-facts.ts';
import type { LabelDefinition } from '../../facts/label-definitions.ts';
import { definitionsFact } from './changes.ts';

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
