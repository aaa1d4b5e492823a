import type { Label } from '../../contract/resources/labels.ts';
import type { Facts } from '../../facts/fact.ts';
import { compileGlob } from '../../patterns/glob.ts';
import { GlobError } from '../../patterns/glob-error.ts';
import type { Meter } from '../../patterns/meter.ts';
import { messageOf } from '../../platform/errors.ts';
import type { CommandArguments } from '../action.ts';
import { definitionsFor, exclusiveScope, type LabelSource, resolveLabel } from '../label-names.ts';

/** Labels that the commands of one comment may name. */
export const maxCommandNames = 10;

/** The names of labels in a step: listed in the rule, or the arguments of a command. In the file, those are text. */
type Names = readonly string[] | CommandArguments | undefined;

type LabelArguments = {
  readonly add?: Names;
  readonly remove?: Names;
  readonly sync?: Readonly<Record<string, unknown>> | undefined;
  readonly create?: object | undefined;
  readonly only?: readonly string[] | undefined;
};

/** What becomes of the names in commands. */
export type CommandLabels = {
  /** Label → whether it is to be there. */
  readonly accepted: ReadonlyMap<string, boolean>;
  readonly refused: readonly { readonly name: string; readonly why: string }[];
  /** How many names there are, if that is more than a comment may name: none of them is used. */
  readonly tooMany?: number;
};

/** Returns the labels that the rule lists itself. */
export function listedNames(names: Names): readonly string[] {
  return Array.isArray(names) ? names : [];
}

export function isFromCommand(names: Names): names is CommandArguments {
  return names !== undefined && !Array.isArray(names);
}

/** Returns the problems of a step at load: what commands may name is bounded, and named by nothing else. */
export function examineCommandLabels(
  written: LabelArguments,
): readonly { readonly path: readonly (string | number)[]; readonly message: string }[] {
  const { add, remove, only, create } = written;
  const place = isFromCommand(add) ? 'add' : isFromCommand(remove) ? 'remove' : undefined;
  if (place === undefined) {
    const message = 'only bounds the names in a command: the labels that are listed here need no bound';
    return only === undefined ? [] : [{ path: ['only'], message }];
  }
  if (only === undefined) {
    const message = `name the labels that the command may name, for example only: ["kind/*"]`;
    return [{ path: [place], message }];
  }
  if (create !== undefined) {
    const message =
      'labels named in a command are not created: leave out create, or list labels in a step of their own';
    return [{ path: ['create'], message }];
  }
  try {
    compileGlob(only);
    return [];
  } catch (error) {
    if (!(error instanceof GlobError)) throw error;
    const index = only.indexOf(error.pattern);
    return [{ path: index < 0 ? ['only'] : ['only', index], message: error.message }];
  }
}

/**
 * Sorts the names in commands into those that are used and those that are not. They are texts of others: a name is used
 * only if it matches `only`, exists, and is not decided by the rule itself.
 */
export async function sortCommandLabels(
  given: LabelArguments,
  live: readonly Label[],
  { facts, meter }: { readonly facts: Facts; readonly meter: Meter },
): Promise<CommandLabels> {
  const added = argumentsOf(given.add);
  const removed = argumentsOf(given.remove);
  const all = new Set([...added, ...removed]);
  if (all.size > maxCommandNames) return { accepted: new Map(), refused: [], tooMany: all.size };
  if (all.size === 0) return { accepted: new Map(), refused: [] };
  const matches = compileGlob(given.only ?? []);
  const listed = new Set([
    ...listedNames(given.add),
    ...listedNames(given.remove),
    ...Object.keys(given.sync ?? {}),
  ]);
  const reasons = new Map<string, string>();
  for (const name of all) {
    if (!matches(name, meter)) reasons.set(name, 'commands may not name it here');
    else if (listed.has(name)) reasons.set(name, 'the rule itself decides it');
    else if (added.has(name) && removed.has(name)) reasons.set(name, 'it is named to be added and removed');
  }
  const found = await resolveCommandNames(
    [...all].filter((name) => !reasons.has(name)),
    live,
    { facts, reasons },
  );
  const present = found.filter(({ name }) => added.has(name));
  const rule = live.filter(
    ({ name }) => listedNames(given.add).includes(name) || given.sync?.[name] === true,
  );
  for (const { name } of present) {
    const rival = [...present, ...rule].find((other) =>
      excludes(
        other,
        found.find((one) => one.name === name),
      ),
    );
    if (rival) reasons.set(name, 'it excludes another label that is wanted');
  }
  const names = [...all].filter((name) => !reasons.has(name));
  return {
    accepted: new Map(names.map((name) => [name, added.has(name)])),
    refused: [...reasons].map(([name, why]) => ({ name, why })),
  };
}

function argumentsOf(names: Names): ReadonlySet<string> {
  return new Set(isFromCommand(names) ? names.command.filter((name) => name.trim() !== '') : []);
}

/** Returns the labels of these names, and notes why a name has none. */
async function resolveCommandNames(
  names: readonly string[],
  live: readonly Label[],
  { facts, reasons }: { readonly facts: Facts; readonly reasons: Map<string, string> },
): Promise<readonly LabelSource[]> {
  const isCarried = (name: string): boolean => live.some((label) => label.name === name);
  const unknown = names.filter((name) => !isCarried(name));
  const definitions = unknown.length === 0 ? [] : await definitionsFor(unknown, facts);
  return names.flatMap((name): readonly LabelSource[] => {
    const carried = live.find((label) => label.name === name);
    if (carried) return [carried];
    // A what-if without definitions plans by name.
    if (definitions === undefined) return [{ name }];
    try {
      const label = resolveLabel(name, definitions);
      if (label) return [label];
      reasons.set(name, 'it does not exist');
    } catch (error) {
      reasons.set(
        name,
        messageOf(error).includes('labels named') ? 'it exists more than once' : messageOf(error),
      );
    }
    return [];
  });
}

function excludes(one: LabelSource, other: LabelSource | undefined): boolean {
  if (other === undefined || one.name === other.name) return false;
  const scope = exclusiveScope(one);
  return scope !== undefined && scope === exclusiveScope(other);
}
