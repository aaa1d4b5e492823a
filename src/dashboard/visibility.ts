import { facts } from '../facts/facts.ts';
import type { Delivery } from '../store/store.ts';
import type { Unit, Viewer } from './viewer.ts';

/** Who looks at a run: what it saw and did may be more than they may see. */
export type Onlooker = {
  readonly isOperator: boolean;
  readonly sight: 'reader' | 'administrator';
  /** The repository that they may see; absent where the run is about none. */
  readonly repository: string | undefined;
  /** The parts of it that they may read. */
  readonly units: ReadonlySet<Unit>;
};

/** Returns somebody as they look at a delivery, or, without one, at a run of a sweep. */
export async function onlookerAt(
  viewer: Viewer,
  found: { readonly delivery: Delivery; readonly sight: 'reader' | 'administrator' } | undefined,
): Promise<Onlooker> {
  const { isOperator } = viewer;
  if (found === undefined)
    return { isOperator, sight: 'administrator', repository: undefined, units: new Set() };
  const { delivery, sight } = found;
  const units = isOperator ? new Set<Unit>() : await viewer.unitsOf(delivery);
  return { isOperator, sight, repository: delivery.repository, units };
}

/**
 * What a reader of a repository needs to see a fact: a part of the repository; `own`, what the delivery is about, which they
 * see by seeing it; `any`, what every reader sees. A fact that is not here is for administrators of the repository, and one
 * that shows what is beyond it, or that is narrowed for rules of repositories, for operators.
 */
export const readersOfFact: Readonly<Record<string, Unit | 'own' | 'any'>> = {
  attachments: 'own',
  branch: 'code',
  branches: 'code',
  comment: 'own',
  comments: 'own',
  commits: 'code',
  contents: 'code',
  files: 'code',
  head: 'code',
  issue: 'own',
  label_definitions: 'any',
  labels: 'own',
  milestone: 'own',
  own_labels: 'any',
  pull_request: 'own',
  repository: 'any',
  review: 'own',
  reviews: 'own',
  statuses: 'code',
};

/** What a run is given beside facts: the event is what the delivery is about. */
const variables: ReadonlySet<string> = new Set(['event', 'sender', 'now']);
const factNames = new Map(facts.map((fact) => [fact.name, fact]));

/** Tells whether a value that a condition saw may be shown, by its name as written. What nobody knows is not. */
export function maySeeValue(name: string, { isOperator, sight, units }: Onlooker): boolean {
  if (isOperator) return true;
  const root = /^\w+/.exec(name)?.[0] ?? '';
  // Whoever reads a delivery reads what it is about; of people it may tell more than the forge does.
  if (variables.has(root)) return sight === 'administrator' || !/\bemail\b/i.test(name);
  const fact = factNames.get(root);
  if (fact === undefined || fact.narrow !== undefined || fact.shows === 'beyond') return false;
  if (sight === 'administrator') return true;
  const needed = readersOfFact[root];
  if (fact.shows !== 'repository' || needed === undefined || /\bemail\b/i.test(name)) return false;
  return needed === 'own' || needed === 'any' || units.has(needed);
}

/** Returns a value as text, for a reader without the addresses of people: the bot may see some that others do not. */
export function valueFor(value: unknown, { isOperator, sight }: Onlooker): string {
  if (typeof value === 'string') return value;
  const isWhole = isOperator || sight === 'administrator';
  const text = JSON.stringify(value, (key, one) => (!isWhole && /^email$/i.test(key) ? undefined : one));
  return text ?? 'nothing';
}

/** The same for what an action decides: who reads that part can read what it made. */
export const readersOfAction: Readonly<Record<string, Unit | 'own' | 'any'>> = {
  comment: 'own',
  'open-pull-request': 'pulls',
  'report-issue': 'issues',
  'set-labels': 'own',
  'set-status': 'code',
  'sync-labels': 'any',
};

/** Tells whether what a change decides may be shown. A reader sees what was done, as they see it on the forge. */
export function maySeeChange(
  { path, action }: { readonly path: string; readonly action: string },
  status: string,
  { isOperator, sight, repository, units }: Onlooker,
): boolean {
  if (isOperator) return true;
  const home = `/repos/${repository}/`.toLowerCase();
  if (repository === undefined || !path.toLowerCase().startsWith(home)) return false;
  if (sight === 'administrator') return true;
  const needed = readersOfAction[action];
  if (needed === undefined || status !== 'applied') return false;
  return needed === 'own' || needed === 'any' || units.has(needed);
}

/** Tells whether errors of a rule may be shown: a forge's answer to the bot may name what only the bot may know. */
export function maySeeErrors(
  { source }: { readonly source: string },
  { isOperator, sight, repository }: Onlooker,
): boolean {
  if (isOperator) return true;
  // Of the repository's own file its administrators hear what is wrong.
  return sight === 'administrator' && repository !== undefined && source.startsWith(`${repository}/`);
}
