import { type Fixture, jsonOf, kindOf, type Recording } from './fixture.ts';

/** Difference between a recording and another recording of the same steps. */
type Divergence = {
  /** Event kinds in which the difference occurs, or the step whose events differ. */
  readonly at: readonly string[];
  readonly path: string;
  /** Value in the first recording, then in the other recording. */
  readonly told: string;
};

/**
 * Returns the differences between two recordings of the same steps: other events, other headers, other fields of
 * payloads or other types of values. Values, ids and times are not compared. Steps that occur in only one of the
 * recordings are ignored.
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
 * Returns the value of a header. Ids and signatures differ each time, so their digits are replaced, and only their
 * presence and length are compared.
 */
function headerOf({ headers }: Fixture, name: string): string {
  const value = headers[name];
  if (value === undefined) return 'nothing';
  return /-(Delivery|Signature|Signature-256)$/.test(name) ? value.replace(/[0-9a-f]/g, '0') : value;
}

function memberTree(fixture: Fixture): MemberTree {
  return treeOf(JSON.parse(jsonOf(fixture)));
}

/** Possible types of a field. A list counts as `list`, and its elements are below it. */
type Kind = 'null' | 'text' | 'number' | 'flag' | 'list' | 'object';

/** Fields of a payload by their path (`issue.labels[].name`), each with the observed types. */
type MemberTree = ReadonlyMap<string, ReadonlySet<Kind>>;

/** Returns the fields of a value. The fields of all elements of a list are merged. */
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
 * Difference between two trees at one path. Fields below a field that is missing or has another type are not listed
 * again.
 */
type Difference = {
  readonly path: string;
  /**
   * Types such as `object → null`: in the first recording, then in the other. `nothing` means that a recording does not
   * have the field.
   */
  readonly told: string;
};

/** Returns the differences between the recorded tree and another tree. */
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
