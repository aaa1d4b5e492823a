/** What a member may be; a list counts as `list` with its elements below. */
type Kind = 'null' | 'text' | 'number' | 'flag' | 'list' | 'object';

/** The members of a payload by their path (`issue.labels[].name`), each with the kinds it was seen as. */
export type MemberTree = ReadonlyMap<string, ReadonlySet<Kind>>;

/** Returns the members of a value, those of a list's elements together. */
export function treeOf(value: unknown): MemberTree {
  const tree = new Map<string, Set<Kind>>();
  const walk = (at: unknown, path: string): void => {
    const kinds = tree.get(path) ?? new Set();
    tree.set(path, kinds.add(kindOf(at)));
    if (Array.isArray(at)) {
      for (const element of at) walk(element, `${path}[]`);
    } else if (typeof at === 'object' && at !== null) {
      for (const [name, member] of Object.entries(at)) walk(member, path === '' ? name : `${path}.${name}`);
    }
  };
  walk(value, '');
  return tree;
}

function kindOf(value: unknown): Kind {
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
export function compareTrees(recorded: MemberTree, other: MemberTree): readonly Difference[] {
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
