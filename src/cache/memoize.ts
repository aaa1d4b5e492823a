import type { Clock } from '../clock.ts';

/** A question that is asked once and whose answer is kept. */
type Memoized<T> = {
  (): Promise<T>;
  /** The next call asks again. */
  forget(): void;
};

/**
 * Returns a function that asks until it has an answer and then keeps it, for `maxAgeMs` where that is given.
 */
export function memoize<T>(
  ask: () => Promise<T>,
  {
    maxAgeMs = Number.POSITIVE_INFINITY,
    clock = { monotonicMs: () => 0 },
  }: { maxAgeMs?: number; clock?: Pick<Clock, 'monotonicMs'> } = {},
): Memoized<T> {
  let known: { readonly answer: Promise<T>; readonly atMs: number } | undefined;
  const memoized = (): Promise<T> => {
    if (known !== undefined && clock.monotonicMs() - known.atMs <= maxAgeMs) return known.answer;
    const asked = { answer: ask(), atMs: clock.monotonicMs() };
    known = asked;
    asked.answer.catch(() => {
      if (known === asked) known = undefined;
    });
    return asked.answer;
  };
  return Object.assign(memoized, {
    forget() {
      known = undefined;
    },
  });
}
