import { type Fixture, jsonOf, kindOf, type Recording } from './fixture.ts';

/** A difference between a recording and another of the same steps. */
type Divergence = {
  /** The kinds it is seen at, or the step whose events differ. */
  readonly at: readonly string[];
  readonly path: string;
  /** What the recorded one has, then the other. */
  readonly told: string;
};

/**
 * Returns where a recording of the same steps is not as the recorded one: other events, other headers, other members of
 * payloads or other kinds of value in them. Values themselves, ids and times are not compared. Steps that only one of the
 * two has are left out.
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

/** Deliveries are not ordered: those of one kind and hook are paired in the order of what they look like. */
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

/** Ids and signatures are other ones each time: how long they are says whether they are there. */
function headerOf({ headers }: Fixture, name: string): string {
  const value = headers[name];
  if (value === undefined) return 'nothing';
  return /-(Delivery|Signature|Signature-256)$/.test(name) ? value.replace(/[0-9a-f]/g, '0') : value;
}

function memberTree(fixture: Fixture): MemberTree {
  return treeOf(JSON.parse(jsonOf(fixture)));
}

/** What a member may be; a list counts as `list` with its elements below. */
type Kind = 'null' | 'text' | 'number' | 'flag' | 'list' | 'object';

/** The members of a payload by their path (`issue.labels[].name`), each with the kinds it was seen as. */
type MemberTree = ReadonlyMap<string, ReadonlySet<Kind>>;

/** Returns the members of a value, those of a list's elements together. */
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

/** One place where two trees differ. What lies below a member that is missing, or of another kind, is not told again. */
type Difference = {
  readonly path: string;
  /** As in `object → null`: what the recorded one has, then the other; `nothing` where it has no such member. */
  readonly told: string;
};

/** Returns where a tree is not as the recorded one is. */
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
