import type { Clock } from '../clock.ts';

/** A memoized async call. */
type Memoized<T> = {
  (): Promise<T>;
  /** Drops the value: the next call loads again. */
  forget(): void;
};

/** Memoizes an async call, for `maxAgeMs` if given. A failed call is not memoized: the next one calls again. */
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
