import { type Fixture, jsonOf, kindOf, type Recording } from './fixture.ts';

/** Difference between a recording and another one of the same steps. */
type Divergence = {
  /** Kinds at which it occurs, or the step whose events differ. */
  readonly at: readonly string[];
  readonly path: string;
  /** Value in the recording, then in the other one. */
  readonly told: string;
};

/**
 * Returns the differences between two recordings of the same steps: other events, other headers, other fields of
 * payloads or other types of values. Values themselves, ids and times are not compared. Steps that occur in only one of
 * the two are ignored.
 */
export function compareRecordings(recorded: Recording, other: Recording): readonly Divergence[] {
  const found = new Map<string, { path: string; told: string; at: Set<string> }>();
  const note = (path: string, told: string, at: string): void => {
    const key = `${path} ${told}`;
    const entry = found.get(key) ?? { path, told, at: new Set() };
    found.set(key, entry);
    entry.at.add(at);
  };
  for (const { name, came } of recorded.steps) {
    const twin = other.steps.find((step) => step.name === name);
    if (twin === undefined) continue;
    const [one, two] = [came.join(' '), twin.came.join(' ')];
    if (one !== two) note('events', `${one || 'nothing'} → ${two || 'nothing'}`, name);
    const of = (fixture: Fixture): boolean => fixture.step === name;
    const pairs = pairUp(recorded.fixtures.filter(of), other.fixtures.filter(of));
    for (const [was, is] of pairs) {
      for (const [path, told] of differences(was, is)) note(path, told, kindOf(was));
    }
  }
  const all = [...found.values()].map(({ path, told, at }) => ({ at: [...at].sort(), path, told }));
  return all.sort((one, two) => (`${one.path} ${one.told}` < `${two.path} ${two.told}` ? -1 : 1));
}

/** Pairs deliveries of the same kind and hook, ordered by their fields, because deliveries have no fixed order. */
function pairUp(recorded: readonly Fixture[], others: readonly Fixture[]): readonly [Fixture, Fixture][] {
  const key = (fixture: Fixture): string => `${kindOf(fixture)} ${fixture.hook}`;
  const look = (fixture: Fixture): string => JSON.stringify([...memberTree(fixture).keys()]);
  const sorted = (fixtures: readonly Fixture[] = []): readonly Fixture[] =>
    fixtures.toSorted((one, two) => (look(one) < look(two) ? -1 : 1));
  const groups = Map.groupBy(others, key);
  return [...Map.groupBy(recorded, key)].flatMap(([name, fixtures]) => {
    const twins = sorted(groups.get(name));
    return sorted(fixtures).flatMap((fixture, at): [Fixture, Fixture][] => {
      const twin = twins[at];
      return twin === undefined ? [] : [[fixture, twin]];
    });
  });
}

function differences(was: Fixture, is: Fixture): readonly (readonly [string, string])[] {
  const members = compareTrees(memberTree(was), memberTree(is)).map(
    ({ path, told }) => [path, told] as const,
  );
  const names = [...new Set([...Object.keys(was.headers), ...Object.keys(is.headers)])].sort();
  const headers = names.flatMap((name) => {
    const [one, two] = [headerOf(was, name), headerOf(is, name)];
    return one === two ? [] : [[`header ${name}`, `${one} → ${two}`] as const];
  });
  const [one, two] = [was.heardBy.join(' '), is.heardBy.join(' ')];
  return [...members, ...headers, ...(one === two ? [] : [['heard by', `${one} → ${two}`] as const])];
}

/**
 * Returns a header. Ids and signatures differ each time, so only their length is kept, which shows whether they are
 * present.
 */
function headerOf({ headers }: Fixture, name: string): string {
  const value = headers[name];
  if (value === undefined) return 'nothing';
  return /-(Delivery|Signature|Signature-256)$/.test(name) ? value.replace(/[0-9a-f]/g, '0') : value;
}

function memberTree(fixture: Fixture): MemberTree {
  return treeOf(JSON.parse(jsonOf(fixture)));
}

/** Possible types of a field; a list counts as `list` with its elements below it. */
type Kind = 'null' | 'text' | 'number' | 'flag' | 'list' | 'object';

/** Fields of a payload by their path (`issue.labels[].name`), each with the observed types. */
type MemberTree = ReadonlyMap<string, ReadonlySet<Kind>>;

/** Returns the fields of a value, with those of a list's elements merged. */
function treeOf(value: unknown): MemberTree {
  const tree = new Map<string, Set<Kind>>();
  const walk = (at: unknown, path: string): void => {
    const kinds = tree.get(path) ?? new Set();
    tree.set(path, kinds.add(valueKindOf(at)));
    if (Array.isArray(at)) {
      for (const element of at) walk(element, `${path}[]`);
    } else if (typeof at === 'object' && at !== null) {
      for (const [name, member] of Object.entries(at)) walk(member, path === '' ? name : `${path}.${name}`);
    }
  };
  walk(value, '');
  return tree;
}

function valueKindOf(value: unknown): Kind {
  if (value === null || value === undefined) return 'null';
  if (Array.isArray(value)) return 'list';
  if (typeof value === 'object') return 'object';
  if (typeof value === 'string') return 'text';
  return typeof value === 'boolean' ? 'flag' : 'number';
}

/**
 * Difference between two trees at one path. Fields below a missing field, or one of another type, are not listed again.
 */
type Difference = {
  readonly path: string;
  /** Such as `object → null`: type in the recording, then in the other one; `nothing` if it has no such field. */
  readonly told: string;
};

/** Returns the differences between a tree and the recorded one. */
function compareTrees(recorded: MemberTree, other: MemberTree): readonly Difference[] {
  const differences: Difference[] = [];
  for (const path of [...new Set([...recorded.keys(), ...other.keys()])].sort()) {
    const told = `${tell(recorded.get(path))} → ${tell(other.get(path))}`;
    const isSame = tell(recorded.get(path)) === tell(other.get(path));
    if (isSame || differences.some((known) => isBelow(path, known.path))) continue;
    differences.push({ path, told });
  }
  return differences;
}

function isBelow(path: string, other: string): boolean {
  return path.startsWith(`${other}.`) || path.startsWith(`${other}[`);
}

function tell(kinds: ReadonlySet<Kind> | undefined): string {
  return kinds === undefined ? 'nothing' : [...kinds].sort().join(' or ');
}
