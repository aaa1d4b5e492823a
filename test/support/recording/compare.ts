import { type Fixture, jsonOf, kindOf, type Recording } from './fixture.ts';
import { compareTrees, type MemberTree, treeOf } from './member-tree.ts';

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
