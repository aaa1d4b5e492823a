import { z } from 'zod';
import type { Clock } from '../../platform/clock.ts';
import { messageOf } from '../../platform/errors.ts';
import { type Log, silentLog } from '../../platform/log.ts';
import type { LoadedFile } from '../files/load.ts';
import {
  areStillThere,
  gatherPacks,
  type NoPack,
  type Pack,
  type PackReader,
  type PackTree,
} from '../files/packs.ts';
import { clashesOfFiles } from '../files/warnings.ts';
import type { LoadedRule, ScopedGrant } from '../rule.ts';
import type { Grant } from './grants.ts';

/** A stored text of a rule file. `content` is JSON that only this file reads and writes. */
export type StoredRuleText = {
  /** Path of the file within its location. */
  readonly path: string;
  /** The commit that the text was read from; empty for files in the operator's folder. */
  readonly commit: string;
  readonly content: string;
};

/** Stores the last valid texts of rule files, by location. Implemented by the store, which limits their total size. */
export interface RuleTexts {
  /** Returns the texts of a location. `at`: when a text was stored. */
  listRuleTexts(place: string): Promise<readonly (StoredRuleText & { readonly at: Date })[]>;
  /** Stores texts of a location, replacing those with the same path, and deletes those of other paths. */
  storeRuleTexts(
    place: string,
    change: { readonly kept: readonly StoredRuleText[]; readonly gone: readonly string[] },
  ): Promise<void>;
}

/** The text of a rule file with the packs that it includes. */
export type RuleContent = { readonly text: Uint8Array; readonly packs: PackTree };

/** A rule file as read now. */
export type ReadRuleFile = {
  /** Path within the location. */
  readonly path: string;
  readonly commit: string;
  /** The rules of a valid file. */
  readonly rules: readonly LoadedRule[];
  readonly isValid: boolean;
  /** Set for a valid file. */
  readonly content?: RuleContent | undefined;
};

/** A location of rule files: the operator's folder, a rules repository, or a repository. */
export type RuleLocation = {
  /** Identity of the location, by which its texts are stored. */
  readonly place: string;
  /** All rule files that exist at the location, valid or not. */
  readonly files: readonly ReadRuleFile[];
  /** The operator's grants to the files of the location. */
  readonly grants: readonly Grant[];
  /** Converts grants to those of the files of the location. */
  readonly scope: (grants: readonly Grant[]) => readonly ScopedGrant[];
  /** Returns the reader for the packs that a file may include now. */
  readonly reader: (path: string) => PackReader;
  /** Loads a stored text like a file of the location. */
  readonly load: (source: {
    readonly path: string;
    readonly commit: string;
    readonly text: Uint8Array;
    readonly packs: PackTree;
    readonly grants: readonly ScopedGrant[];
  }) => LoadedFile;
};

/** The last valid version of a rule file that is invalid now. */
export type LastValidFile = { readonly rules: readonly LoadedRule[]; readonly commit: string };

/** Keeps the last valid version of each rule file. */
export interface LastValid {
  /**
   * Stores the texts of the valid files of a location, and deletes those of deleted files. Returns the last valid
   * versions of the invalid files, by path. Rejects if the stored texts cannot be read.
   */
  settle(location: RuleLocation): Promise<ReadonlyMap<string, LastValidFile>>;
}

/** Returns the statement, for reports and records, that the last valid version of a file is in force. */
export function lastValidWords(commit: string): string {
  return `the last valid version${commit === '' ? '' : ` (commit ${commit.slice(0, 10)})`} stays in force`;
}

/** Returns the problems of an invalid file, with the statement before the first of them. */
export function withLastValidWords(problems: readonly string[], commit: string): readonly string[] {
  const [first = '', ...others] = problems;
  return [`${lastValidWords(commit)}: ${first}`, ...others];
}

/** Maximum size of a stored text with its packs, in characters of JSON. */
const maxContent = 1024 * 1024;
/** Maximum size of all stored texts of a location, so that one location cannot displace all others. */
const maxPlace = 8 * 1024 * 1024;
/** Interval in which an unchanged text is stored again: texts that no process has renewed for long are deleted first. */
const renewMs = 86_400_000;

/** Creates the keeper of last valid versions. Without `texts`, there is none. */
export function createLastValid({
  texts,
  clock,
  log = silentLog,
}: {
  readonly texts: RuleTexts | undefined;
  readonly clock: Pick<Clock, 'now'>;
  readonly log?: Log;
}): LastValid {
  if (texts === undefined) return { settle: async () => new Map() };

  return {
    async settle(location) {
      const { place, files } = location;
      const known = new Map((await texts.listRuleTexts(place)).map((text) => [text.path, text]));
      const change = changeOf(location, known, clock.now());
      if (change.oversized.length > 0)
        log.warn(
          { place, files: change.oversized },
          'the last valid text of these rule files is too large to be stored',
        );
      if (change.kept.length + change.gone.length > 0) {
        // The rules that were just read stay in force without a stored copy.
        await texts.storeRuleTexts(place, change).catch((error: unknown) => {
          log.warn(
            { place, error: messageOf(error) },
            'the last valid text of rule files could not be stored',
          );
        });
      }
      const restored = new Map<string, LastValidFile>();
      for (const { path, isValid } of files) {
        const text = isValid ? undefined : known.get(path);
        const rules = text && (await restore(text, location));
        if (text !== undefined && rules !== undefined) restored.set(path, { rules, commit: text.commit });
      }
      return withoutClashes(restored, files);
    },
  };
}

/** Returns which texts of a location have to be stored and deleted. */
function changeOf(
  { files, grants, scope }: RuleLocation,
  known: ReadonlyMap<string, StoredRuleText & { readonly at: Date }>,
  now: Date,
): {
  readonly kept: readonly StoredRuleText[];
  readonly gone: readonly string[];
  readonly oversized: readonly string[];
} {
  const applying = grants.filter((grant) => scope([grant]).length > 0);
  const kept: StoredRuleText[] = [];
  const oversized: string[] = [];
  let size = 0;
  for (const { path, commit, isValid, content } of files) {
    const before = known.get(path);
    if (!isValid || content === undefined) {
      size += before?.content.length ?? 0;
      continue;
    }
    const text = encode(content, applying);
    if (text.length > maxContent || size + text.length > maxPlace) {
      oversized.push(path);
      continue;
    }
    size += text.length;
    const isFresh = before !== undefined && now.getTime() - before.at.getTime() < renewMs;
    if (!isFresh || before.content !== text) kept.push({ path, commit, content: text });
  }
  const present = new Set(files.map(({ path }) => path));
  const gone = [...known.keys()].filter((path) => !present.has(path) || oversized.includes(path));
  return { kept, gone, oversized };
}

/**
 * Compiles a stored text with this version of Reeve, under both the present grants and those of the time when it was
 * valid. The packs are those of now; if it is not valid with them, those that were stored, as long as each still
 * exists. Returns undefined if the text is no longer valid.
 */
async function restore(
  { path, commit, content }: StoredRuleText,
  { grants, scope, reader, load }: RuleLocation,
): Promise<readonly LoadedRule[] | undefined> {
  const kept = decode(content);
  if (kept === undefined) return undefined;
  const { text, packs } = kept;
  const narrowed = narrowest(scope(grants), scope(kept.grants));
  const now = await gatherPacks({ path, text }, reader(path));
  const source = { path, commit, text, grants: narrowed };
  let loaded = load({ ...source, packs: now });
  if (
    loaded.problems.length > 0 &&
    packs.size > 0 &&
    (await areStillThere({ path, text }, packs, reader(path)))
  )
    loaded = load({ ...source, packs });
  if (loaded.problems.length > 0) return undefined;
  return loaded.rules.map((rule) => ({ ...rule, isLastValid: true }));
}

/** Removes restored files whose statuses conflict with those of other files, as among files that are valid. */
function withoutClashes(
  restored: ReadonlyMap<string, LastValidFile>,
  files: readonly ReadRuleFile[],
): ReadonlyMap<string, LastValidFile> {
  if (restored.size === 0) return restored;
  const valid = files.filter(({ path }) => !restored.has(path)).map(({ rules }) => rules);
  // Of two rules that conflict, the later one is reported.
  const clashes = clashesOfFiles([...valid, ...[...restored.values()].map(({ rules }) => rules)]);
  const clashing = new Set(clashes.map(({ rule }) => rule));
  return new Map([...restored].filter(([, { rules }]) => !rules.some((rule) => clashing.has(rule))));
}

/**
 * Returns the grants that both lists give: each pair of a present and an earlier grant, with the names of both. A place
 * or branch is covered only if both cover it.
 */
export function narrowest(
  present: readonly ScopedGrant[],
  earlier: readonly ScopedGrant[],
): readonly ScopedGrant[] {
  return present.flatMap((grant) =>
    earlier.flatMap((other): readonly ScopedGrant[] => {
      const names = grant.names.filter((name) => other.names.includes(name));
      if (names.length === 0) return [];
      return [
        {
          ...grant,
          names,
          covers: (fullName) => grant.covers(fullName) && other.covers(fullName),
          forks: grant.forks && other.forks,
          within: other,
        },
      ];
    }),
  );
}

const StoredGrant = z.object({
  in: z.array(z.string()).optional(),
  repositories: z.array(z.string()),
  organizations: z.array(z.string()),
  names: z.array(z.string()),
  branches: z.array(z.string()).optional(),
  forks: z.boolean().optional(),
});

type StoredPack =
  | z.infer<typeof NoStoredPack>
  | { path: string; text: string; isReadable: boolean; packs: StoredPacks };
type StoredPacks = { [name: string]: StoredPack };
const NoStoredPack = z.object({ missing: z.string() });
const StoredPacks: z.ZodType<StoredPacks> = z.lazy(() =>
  z.record(
    z.string(),
    z.union([
      NoStoredPack,
      z.object({ path: z.string(), text: z.string(), isReadable: z.boolean(), packs: StoredPacks }),
    ]),
  ),
);
const StoredContent = z.object({ text: z.string(), packs: StoredPacks, grants: z.array(StoredGrant) });

/** Returns the stored form of a valid file, which is valid UTF-8. */
function encode({ text, packs }: RuleContent, grants: readonly Grant[]): string {
  return JSON.stringify({ text: textOf(text), packs: encodePacks(packs), grants });
}

function encodePacks(packs: PackTree): StoredPacks {
  const stored = [...packs].map(([name, pack]): [string, StoredPack] => {
    if ('missing' in pack) return [name, { missing: pack.missing }];
    const { path, text, isReadable } = pack;
    return [name, { path, text: textOf(text), isReadable, packs: encodePacks(pack.packs) }];
  });
  return Object.fromEntries(stored);
}

function textOf(text: string | Uint8Array): string {
  return typeof text === 'string' ? text : Buffer.from(text).toString('utf8');
}

/** Returns a stored content; undefined if another version of Reeve wrote it in a form that this one does not know. */
function decode(content: string): (RuleContent & { readonly grants: readonly Grant[] }) | undefined {
  const found = StoredContent.safeParse(JSON.parse(content));
  if (!found.success) return undefined;
  const { text, packs, grants } = found.data;
  return { text: Buffer.from(text), packs: decodePacks(packs), grants };
}

function decodePacks(packs: StoredPacks): PackTree {
  return new Map(
    Object.entries(packs).map(([name, pack]): [string, Pack | NoPack] => [
      name,
      'missing' in pack ? pack : { ...pack, text: Buffer.from(pack.text), packs: decodePacks(pack.packs) },
    ]),
  );
}
