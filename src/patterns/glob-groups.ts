import { Automaton, automatonCosts, createMatcher, type Matcher } from './automaton.ts';
import { GlobError, parsePathGlob } from './glob.ts';
import type { Meter } from './meter.ts';
import { buildProgram, buildProgramOfSeveral, type Node } from './program.ts';

/** Costs of `GlobGroups`, in units of about one nanosecond (`scripts/calibrate.ts` measures them). */
const groupCosts = {
  /** Each name, in addition to what follows. */
  name: 150,
  /** Looking up a part of a name, in addition to its characters. */
  lookup: 80,
  /** Each character of a part that is looked up. */
  character: 1,
  /** A glob that matches a name, and each group that has it. */
  hit: 30,
  /** A group, for each name whose result it needs. */
  group: 5,
  /** Building the combined program of a glob, for each character of the glob. */
  builtCharacter: 600,
} as const;

/**
 * Cost at which one combined automaton is given up by a meter: globs that overlap in many ways have too many states
 * together. The remaining names are tested against one glob after the other.
 */
const maxAutomatonCost = 4_000_000;

/** A glob, with the groups whose list has it and the groups whose list excludes it. */
type Glob = {
  readonly text: string;
  readonly node: Node;
  readonly includedBy: number[];
  readonly excludedBy: number[];
};

/**
 * Lists of path globs that are tested together: one pass over a name decides all of them. A name is in a group if a glob
 * of its list matches and none of its globs with `!` does, whatever their order.
 *
 * The forms that most globs have are found in tables: a literal name (`README.md`), everything below a folder
 * (`docs/**`), and a name, a folder or an ending in any folder (`.md`). All others are combined into one automaton for
 * each literal folder that they begin with, so that the folders do not multiply its states.
 */
export class GlobGroups {
  /** All globs: those of a table by its kind and key, others by their text. */
  readonly #globs = new Map<string, Glob>();
  readonly #tables: Readonly<Record<Table['kind'], Map<string, Glob>>> = {
    name: new Map(),
    folder: new Map(),
    'any-name': new Map(),
    'any-folder': new Map(),
    'any-ending': new Map(),
  };
  /** The combined globs by the literal folder that they begin with; `''` has those that begin with none. */
  readonly #combined = new Map<string, CombinedGlobs>();
  /** Lengths of the longest folder and of the longest ending. */
  #longestFolder = 0;
  #longestEnding = 0;
  readonly #quantities: ('some' | 'every')[] = [];
  /** Results of the latest meter for each list of names. */
  readonly #results = new WeakMap<
    readonly string[],
    { readonly meter: Meter; readonly results: readonly boolean[] }
  >();

  /**
   * Adds a list of globs; returns the number of its group. The group asks whether some name, or every name, is in it.
   * Throws GlobError if a glob is invalid or none includes.
   */
  add(entries: readonly string[], quantity: 'some' | 'every'): number {
    const parsed = entries.map((entry) => {
      const excludes = entry.startsWith('!');
      const text = excludes ? entry.slice(1) : entry;
      return { excludes, text, node: parsePathGlob(text) };
    });
    const [first] = entries;
    if (first === undefined) throw new GlobError('', 'is an empty list');
    if (parsed.every(({ excludes }) => excludes))
      throw new GlobError(first, 'only excludes: first list what should match');
    const group = this.#quantities.push(quantity) - 1;
    for (const { excludes, text, node } of parsed) {
      const glob = this.#globFor(text, node);
      (excludes ? glob.excludedBy : glob.includedBy).push(group);
    }
    return group;
  }

  /** Returns the entry of a glob, and adds it if it is missing. Globs that match the same names share it. */
  #globFor(text: string, node: Node): Glob {
    const table = tableOf(text);
    const key = table ? `${table.kind} ${table.key}` : text;
    const known = this.#globs.get(key);
    if (known) return known;
    const glob: Glob = { text, node, includedBy: [], excludedBy: [] };
    this.#globs.set(key, glob);
    if (table) {
      this.#tables[table.kind].set(table.key, glob);
      if (table.kind === 'folder') this.#longestFolder = Math.max(this.#longestFolder, table.key.length);
      if (table.kind === 'any-ending') this.#longestEnding = Math.max(this.#longestEnding, table.key.length);
      return glob;
    }
    const folder = literalFolderOf(text);
    const combined = this.#combined.get(folder) ?? new CombinedGlobs();
    this.#combined.set(folder, combined);
    combined.add(glob);
    this.#longestFolder = Math.max(this.#longestFolder, folder.length);
    return glob;
  }

  /**
   * Returns for each group whether some name, or every name, is in it. Without names, none is. The same list of names is
   * tested once for each meter. Throws LimitExceeded before the cost exceeds what the meter has left.
   */
  test(names: readonly string[], meter: Meter): readonly boolean[] {
    const known = this.#results.get(names);
    if (known?.meter === meter && known.results.length === this.#quantities.length) return known.results;
    const round = new Round(this.#quantities, meter);
    for (const name of names) {
      if (round.open.length === 0) break;
      meter.charge(groupCosts.name);
      round.begin();
      this.#find(name, round);
      round.end();
    }
    const results = round.results(names.length > 0);
    this.#results.set(names, { meter, results });
    return results;
  }

  /** Reports every glob that matches the name. */
  #find(name: string, round: Round): void {
    const {
      name: names,
      folder,
      'any-name': anyName,
      'any-folder': anyFolder,
      'any-ending': endings,
    } = this.#tables;
    const look = <Found>(table: ReadonlyMap<string, Found>, key: string): Found | undefined => {
      round.meter.charge(groupCosts.lookup + key.length * groupCosts.character);
      return table.get(key);
    };
    if (names.size > 0) round.hit(look(names, name));
    this.#combined.get('')?.find(name, round);
    let segment = 0;
    for (let at = name.indexOf('/'); at >= 0 && at < name.length - 1; at = name.indexOf('/', at + 1)) {
      if (at <= this.#longestFolder) {
        const before = name.slice(0, at);
        if (folder.size > 0) round.hit(look(folder, before));
        if (at > 0 && this.#combined.size > 0) look(this.#combined, before)?.find(name, round);
      }
      if (anyFolder.size > 0) round.hit(look(anyFolder, name.slice(segment, at)));
      segment = at + 1;
    }
    const fileName = name.slice(name.lastIndexOf('/') + 1);
    if (anyName.size > 0) round.hit(look(anyName, fileName));
    for (
      let at = fileName.lastIndexOf('.');
      at >= 0 && fileName.length - at <= this.#longestEnding;
      at = at === 0 ? -1 : fileName.lastIndexOf('.', at - 1)
    )
      round.hit(look(endings, fileName.slice(at)));
  }
}

/** Globs that one automaton tests together. */
class CombinedGlobs {
  readonly #globs: Glob[] = [];
  readonly #matchers: Matcher[] = [];
  #automaton: Automaton | undefined;
  /** The meter that has given up the automaton. */
  #givenUp: WeakRef<Meter> | undefined;

  add(glob: Glob): void {
    this.#globs.push(glob);
    this.#matchers.push(createMatcher(() => buildProgram(glob.node)));
    this.#automaton = undefined;
  }

  /** Reports every glob that matches the name and belongs to a group that is still open. */
  find(name: string, round: Round): void {
    const { meter } = round;
    if (this.#givenUp?.deref() === meter) {
      for (const [place, glob] of this.#globs.entries())
        if (round.needs(glob) && this.#matchers[place]?.(name, meter)) round.hit(glob);
      return;
    }
    const automaton = this.#open(round);
    for (const number of automaton.matching(name, meter)) round.hit(this.#globs[number]);
    if (automaton.paid > maxAutomatonCost) this.#givenUp = new WeakRef(meter);
  }

  /** Returns the automaton. Building it is charged to every meter once, whether or not another one has built it. */
  #open(round: Round): Automaton {
    if (!round.opened.has(this)) {
      const characters = this.#globs.reduce((sum, { text }) => sum + text.length, 0);
      round.meter.charge(automatonCosts.pattern + characters * groupCosts.builtCharacter);
      round.opened.add(this);
    }
    this.#automaton ??= new Automaton(buildProgramOfSeveral(this.#globs.map(({ node }) => node)));
    return this.#automaton;
  }
}

/** One test of a list of names: which groups the current name is in, and which groups need further names. */
class Round {
  readonly meter: Meter;
  /** Groups whose result further names may change. */
  open: number[];
  /** The combined globs that were used. */
  readonly opened = new Set<CombinedGlobs>();
  readonly #quantities: readonly ('some' | 'every')[];
  readonly #included: Uint32Array;
  readonly #excluded: Uint32Array;
  /** Whether a group is decided: some name is in it, or not every name is. */
  readonly #decided: Uint8Array;
  #mark = 0;

  constructor(quantities: readonly ('some' | 'every')[], meter: Meter) {
    meter.charge(quantities.length * groupCosts.group);
    this.meter = meter;
    this.#quantities = quantities;
    this.open = quantities.map((_, group) => group);
    this.#included = new Uint32Array(quantities.length);
    this.#excluded = new Uint32Array(quantities.length);
    this.#decided = new Uint8Array(quantities.length);
  }

  /** Starts the next name. */
  begin(): void {
    this.#mark += 1;
  }

  /** Returns whether the result of a group that has the glob is open. */
  needs({ includedBy, excludedBy }: Glob): boolean {
    this.meter.charge((includedBy.length + excludedBy.length) * groupCosts.group);
    const isOpen = (group: number): boolean => this.#decided[group] === 0;
    return includedBy.some(isOpen) || excludedBy.some(isOpen);
  }

  /** Notes that a glob matches the current name. */
  hit(glob: Glob | undefined): void {
    if (glob === undefined) return;
    const { includedBy, excludedBy } = glob;
    this.meter.charge((1 + includedBy.length + excludedBy.length) * groupCosts.hit);
    for (const group of excludedBy) this.#excluded[group] = this.#mark;
    for (const group of includedBy) this.#included[group] = this.#mark;
  }

  /** Ends the current name: decides groups. */
  end(): void {
    this.meter.charge(this.open.length * groupCosts.group);
    let isChanged = false;
    for (const group of this.open) {
      const isIn = this.#included[group] === this.#mark && this.#excluded[group] !== this.#mark;
      if (isIn !== (this.#quantities[group] === 'some')) continue;
      this.#decided[group] = 1;
      isChanged = true;
    }
    if (isChanged) this.open = this.open.filter((group) => this.#decided[group] === 0);
  }

  results(hasNames: boolean): readonly boolean[] {
    return this.#quantities.map(
      (quantity, group) => hasNames && (this.#decided[group] === 1) === (quantity === 'some'),
    );
  }
}

/** The table that finds a glob, with its key. */
type Table = {
  readonly kind: 'name' | 'folder' | 'any-name' | 'any-folder' | 'any-ending';
  readonly key: string;
};

function isLiteral(text: string): boolean {
  return !/[*?[\]{}\\]/.test(text);
}

/** Returns the table of a glob; undefined if only an automaton can find it. */
function tableOf(glob: string): Table | undefined {
  if (isLiteral(glob)) return { kind: 'name', key: glob };
  const [, below] = /^(.*)\/\*\*(?:\/\*)?$/su.exec(glob) ?? [];
  if (below !== undefined && isLiteral(below)) return { kind: 'folder', key: below };
  const isSegment = (text: string): boolean => isLiteral(text) && !text.includes('/');
  if (!glob.startsWith('**/')) return undefined;
  const folder = below?.slice(3);
  if (folder !== undefined && folder !== '' && isSegment(folder)) return { kind: 'any-folder', key: folder };
  const rest = glob.slice(3);
  if (isSegment(rest)) return { kind: 'any-name', key: rest };
  const ending = rest.startsWith('*') ? rest.slice(1) : '';
  return ending.startsWith('.') && isSegment(ending) ? { kind: 'any-ending', key: ending } : undefined;
}

/** Returns the literal folder that a glob begins with, without the slash; empty if there is none. */
function literalFolderOf(glob: string): string {
  const literal = /^[^*?[\]{}\\]*/u.exec(glob)?.[0] ?? '';
  return literal.slice(0, Math.max(literal.lastIndexOf('/'), 0));
}
