import { FactNotGiven } from '../facts/ask.ts';
import type { FactRequest, Facts } from '../facts/fact.ts';
import type { PlanContext } from './plan-context.ts';

/** What a comment or an issue that we wrote has: its text and its author. */
type Written = {
  readonly body?: string | null | undefined;
  readonly user?: { readonly id: number } | null | undefined;
};

/**
 * Returns the first line of what a rule writes under a key. Names and keys are percent-encoded, so that no text of
 * others can end the marker or stand for another one.
 */
export function markerOf(context: PlanContext, key: string, note = ''): string {
  const name = [context.rule, key].map(encodeURIComponent).join('/');
  return `<!-- reeve:${name}${note === '' ? '' : ` ${note}`} -->`;
}

/** Returns the text with its marker above it. */
export function withMarker(marker: string, text: string): string {
  return `${marker}\n${text.trim()}`;
}

/**
 * Returns whether we wrote this under the marker: it stands on the first line, where inserted text never does, and our
 * account wrote it. In a what-if, where no account is known, the marker alone decides.
 */
export function isOurs(written: Written, marker: string, context: PlanContext): boolean {
  const [first = ''] = (written.body ?? '').split('\n', 1);
  return first.trimEnd() === marker && isByUs(written, context);
}

/** Returns whether our account wrote this; true in a what-if, where no account is known. */
export function isByUs(written: Written, { account }: PlanContext): boolean {
  return account === undefined || written.user?.id === account.id;
}

/** Returns whether two texts are the same but for line ends and space at the end, which forges change. */
export function isSameText(one: string | null | undefined, other: string): boolean {
  const plain = (text: string): string => text.replaceAll('\r\n', '\n').trimEnd();
  return plain(one ?? '') === plain(other);
}

/** Asks for a list in which we look for what we wrote ourselves; in a what-if that does not give it, there is nothing. */
export async function askWritten(facts: Facts, request: FactRequest): Promise<readonly unknown[]> {
  try {
    return (await facts.ask(request)) as readonly unknown[];
  } catch (error) {
    if (error instanceof FactNotGiven) return [];
    throw error;
  }
}
