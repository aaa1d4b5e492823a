import type { Facts } from '../../facts/fact.ts';
import { requestOf } from '../../facts/fact.ts';
import { isWriter, senderPermission } from '../../facts/sender-permission.ts';
import { indexParams } from '../../facts/where.ts';
import type { Change } from '../change.ts';
import { asCode } from '../code-text.ts';
import { askWritten, isOurs, markerOf, withMarker } from '../marker.ts';
import { commentsFact, writeComment } from '../own-comment.ts';
import type { PlanContext } from '../plan-context.ts';
import { type CommandLabels, maxCommandNames } from './command-labels.ts';

/** Stands in the marker after rule and key, where no key of a `comment` step can be. */
const note = 'set-labels';

/**
 * Plans the answer to names in commands that were not used: one comment per subject and rule, edited in place. A sender
 * without write access gets none: a stranger must not make the bot write.
 */
export async function planCommandAnswer(
  labels: CommandLabels,
  { only = [] }: { readonly only?: readonly string[] | undefined },
  { facts, context }: { readonly facts: Facts; readonly context: PlanContext },
): Promise<readonly Change[]> {
  if (labels.refused.length === 0 && labels.tooMany === undefined) return [];
  if (!isWriter(await facts.ask(requestOf(senderPermission)))) return [];
  const marker = markerOf(context, 'labels', note);
  const live = (await askWritten(facts, commentsFact)).find((one) => isOurs(one, marker, context));
  const target = `comment:${context.rule}/labels (${note}) on #${indexParams(facts.subject).index}`;
  const body = withMarker(marker, answerTo(labels, only));
  return [writeComment(live, body, { action: 'set-labels', target, facts })];
}

function answerTo({ refused, tooMany }: CommandLabels, only: readonly string[]): string {
  const bounds = `Commands may name labels that match ${only.map(asCode).join(', ')}.`;
  if (tooMany !== undefined) {
    return `The comment names ${tooMany} labels, and at most ${maxCommandNames} are allowed. None was changed.\n\n${bounds}`;
  }
  const lines = refused.map(({ name, why }) => `- ${asCode(name)}: ${why}`);
  return `These labels were not changed:\n\n${lines.join('\n')}\n\n${bounds}`;
}
