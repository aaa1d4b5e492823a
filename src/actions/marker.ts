import type { Facts, OptionalRequest } from '../facts/fact.ts';
import { FactNotGiven } from '../facts/given-facts.ts';
import type { PlanContext } from './plan-context.ts';

/** Text and author of a comment or an issue. */
type WrittenText = {
  readonly body?: string | null | undefined;
  readonly user?: { readonly id: number } | null | undefined;
};

/**
 * Returns the marker: the first line of a text that a rule writes under a key. Names and keys are percent-encoded, so that no
 * text from elsewhere can end the marker or imitate another one.
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
 * Returns whether we wrote this under the marker: the marker is on the first line, where inserted text never is, and our
 * account is the author. In a what-if, which has no account, the marker decides.
 */
export function isOurs(written: WrittenText, marker: string, context: PlanContext): boolean {
  const [first = ''] = (written.body ?? '').split('\n', 1);
  return first.trimEnd() === marker && isByUs(written, context);
}

/** Returns whether our account wrote this; true in a what-if, which has no account. */
export function isByUs(written: WrittenText, { account }: PlanContext): boolean {
  return account === undefined || written.user?.id === account.id;
}

/** Returns whether two texts are equal except for line ends and trailing space, which forges change. */
export function isSameText(one: string | null | undefined, other: string): boolean {
  const plain = (text: string): string => text.replaceAll('\r\n', '\n').trimEnd();
  return plain(one ?? '') === plain(other);
}

/** Reads a list to find our own entries; empty in a what-if without this fact. */
export async function askWritten<Item>(
  facts: Facts,
  request: OptionalRequest<readonly Item[]>,
): Promise<readonly Item[]> {
  return askOr(facts, request, []);
}

/** Reads a fact; in a what-if without it, returns the fallback. */
export async function askOr<Value, Fallback>(
  facts: Facts,
  request: OptionalRequest<Value>,
  fallback: Fallback,
): Promise<Value | Fallback> {
  try {
    return await facts.ask<Value>(request);
  } catch (error) {
    if (error instanceof FactNotGiven) return fallback;
    throw error;
  }
}
