import type { Subject } from '../../contract/events/subject.ts';
import type { ActionMemory } from '../memory.ts';

/**
 * Protective changes (`Change.protects`) that are not made: a limit or a pause keeps them waiting, the forge refused them, or their rule
 * failed. Until they are made, what they protect is not merged: a limit, or a failure, never opens a gate.
 */

/** The beginning of the keys under which the memory keeps them. Values have an instant `at`. */
export const dueProtectionPrefix = 'due protection ';

/** Rules with a change that is not made, by identity, and why. */
type DueProtections = { readonly at: string; readonly rules: Readonly<Record<string, string>> };

type Place = {
  readonly repository?: Subject['repository'] | undefined;
  readonly index?: number | undefined;
};

/**
 * Notes which rules have protective changes of a subject that are not made after a run. Rules that are settled and have none any more are
 * forgotten; about other rules the run says nothing.
 */
export async function noteDueProtections(
  memory: ActionMemory,
  place: Place,
  run: {
    readonly due: ReadonlyMap<string, string>;
    /** Whether a rule has no other changes waiting than those of `due`. */
    readonly isSettled: (rule: string) => boolean;
    readonly now: Date;
  },
): Promise<void> {
  const key = keyOf(place);
  if (key === undefined) return;
  // Each run with such a rule asks; hardly any has something to note.
  if (run.due.size === 0 && (await memory.get(key)) === undefined) return;
  await memory.revise(key, (value) => {
    // The border to the memory: what is under these keys was written here alone.
    const { rules = {} } = (value ?? {}) as Partial<DueProtections>;
    const others = Object.entries(rules).filter(([rule]) => !run.isSettled(rule));
    const left = Object.fromEntries([...others, ...run.due]);
    if (Object.keys(left).length === 0) return undefined;
    return { at: run.now.toISOString(), rules: left } satisfies DueProtections;
  });
}

/** Returns why a pull request must not be merged now: a protective change of it or of its repository is not made. */
export async function findDueProtection(
  memory: Pick<ActionMemory, 'get'>,
  { repository, index }: Place,
): Promise<string | undefined> {
  for (const place of [{ repository, index }, { repository }]) {
    const key = keyOf(place);
    const due = key === undefined ? undefined : ((await memory.get(key)) as DueProtections | undefined);
    const [first] = Object.entries(due?.rules ?? {});
    if (first !== undefined) return `a protective change of ${first[0]} is still to be made: ${first[1]}`;
  }
  return undefined;
}

function keyOf({ repository, index }: Place): string | undefined {
  return repository === undefined ? undefined : `${dueProtectionPrefix}${repository.id}#${index ?? ''}`;
}
