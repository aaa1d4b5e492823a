import type { Clock } from '../clock.ts';

/** A question that is asked once and whose answer is kept. */
type Remembered<T> = {
  (): Promise<T>;
  /** The next call asks again. */
  forget(): void;
};

/**
 * Returns a function that asks until it has an answer and then keeps it, for `maxAgeMs` where that is given.
 */
export function remembering<T>(
  ask: () => Promise<T>,
  {
    maxAgeMs = Number.POSITIVE_INFINITY,
    clock = { monotonicMs: () => 0 },
  }: { maxAgeMs?: number; clock?: Pick<Clock, 'monotonicMs'> } = {},
): Remembered<T> {
  let known: { readonly answer: Promise<T>; readonly atMs: number } | undefined;
  const remembered = (): Promise<T> => {
    if (known !== undefined && clock.monotonicMs() - known.atMs <= maxAgeMs) return known.answer;
    const asked = { answer: ask(), atMs: clock.monotonicMs() };
    known = asked;
    asked.answer.catch(() => {
      if (known === asked) known = undefined;
    });
    return asked.answer;
  };
  return Object.assign(remembered, {
    forget() {
      known = undefined;
    },
  });
}
