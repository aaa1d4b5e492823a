/**
 * Whether this run is a thorough one: `npm run check` and `npm run test:long`, which every release and every night pass.
 * `npm test` has two processor cores and six minutes: what takes long there, and repeats what shorter tests assert, waits for these.
 */
export const isThorough = Boolean(process.env.CHECK ?? process.env.LONG);

/** Returns how often a property is tried: a thorough run tries it `count` times, `npm test` a third as often. */
export const propertyRuns = (count: number): number => (isThorough ? count : Math.ceil(count / 3));
