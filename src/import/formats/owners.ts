import { maxPatternLength } from '../../patterns/codeowners-file.ts';
import { Re2Compiler } from '../../patterns/re2.ts';
import { type Condition, or, touches } from '../condition.ts';
import {
  type ArgumentValue,
  type Conversion,
  type ConversionContext,
  type Entry,
  type Format,
  type RuleDraft,
  SourceError,
  type SourceFile,
  type StepDraft,
  Template,
} from '../conversion.ts';
import { escapeGlob } from '../names.ts';
import { ownersWord } from '../owned-paths.ts';
import { isRecord, readYamlSource, type Source, texts } from '../source.ts';

/**
 * OWNERS and OWNERS_ALIASES of Prow, kubernetes-sigs/prow at a619408: `pkg/repoowners/repoowners.go` reads the files,
 * the plugins `approve`, `blunderbuss` and `owners-label` use them. All files of a repository are one result.
 */
export const owners: Format = {
  name: 'owners',
  title: 'OWNERS of Prow',
  counts: 'keys',
  places: ['**/OWNERS', '**/OWNERS_ALIASES'],
  isGrouped: true,
  convert,
};

const kinds = ['approvers', 'reviewers', 'required_reviewers', 'labels'] as const;
type Kind = (typeof kinds)[number];

/** One list of a file, for the files of a folder that match the filter. */
type List = {
  readonly folder: string;
  readonly file: string;
  readonly line: number;
  readonly kind: Kind;
  /** Regular expression on paths below the folder; undefined: all of them. */
  readonly filter: string | undefined;
  readonly names: readonly string[];
  readonly notes: readonly string[];
};

function convert(first: SourceFile, context: ConversionContext): Conversion {
  const files = [first, ...(first.others ?? [])].map((file) => ({
    ...file,
    place: file.place ?? basenameOf(file.path),
  }));
  const entries: Entry[] = [];
  const aliases = readAliases(files, { context, entries });
  const lists: List[] = [];
  /** Folders whose owners are not joined by those of the folders above. */
  const closed = new Set<string>();
  for (const file of files) {
    if (basenameOf(file.place) !== 'OWNERS') continue;
    // Prow skips these folders by default (`preconfiguredDefaults` in pkg/config/config.go).
    if (/(^|\/)(\.git|_output)\/|(^|\/)vendor\/.*\/.*/.test(file.place)) {
      entries.push({
        line: 1,
        part: file.place,
        outcome: 'without-meaning',
        note: 'Prow reads no OWNERS in this folder',
      });
      continue;
    }
    readOwners(file, { aliases, lists, closed, context, entries });
  }
  const exclusions = (list: List): readonly string[] => closedBelow(list, { lists, closed });
  const made = [
    approverLines(lists, { exclusions, context, entries }),
    reviewerRules(lists, { exclusions, entries }),
    labelRules(lists, { exclusions, entries }),
  ];
  return {
    rules: made.flatMap(({ rules = [] }) => rules),
    files: made.flatMap(({ files: other = [] }) => other),
    todo: made.flatMap(({ todo = [] }) => todo),
    entries,
  };
}

function basenameOf(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}

function readAliases(
  files: readonly (SourceFile & { readonly place: string })[],
  { entries }: { readonly context: ConversionContext; readonly entries: Entry[] },
): ReadonlyMap<string, readonly string[]> {
  const aliases = new Map<string, readonly string[]>();
  // Only the file of the root folder counts (`loadAliasesFrom`).
  const file = files.find(({ place }) => place === 'OWNERS_ALIASES');
  if (file === undefined) return aliases;
  const source = readYamlSource(file);
  const written = isRecord(source.value) ? (source.value.aliases ?? {}) : undefined;
  if (!isRecord(written)) throw new SourceError(`${file.place}: a map \`aliases\` was expected`);
  for (const [alias, value] of Object.entries(written)) {
    const members = isRecord(value) ? Object.keys(value) : value === null ? [] : texts(value);
    const line = source.lineOf(['aliases', alias]);
    const part = `${file.place}: ${alias}`;
    if (members === undefined || typeof value === 'string')
      entries.push({
        line,
        part,
        outcome: 'left-out',
        note: 'a list of users was expected; Prow then reads no alias at all',
      });
    else {
      aliases.set(alias.toLowerCase(), members);
      entries.push({
        line,
        part,
        outcome: 'exact',
        note: 'its users stand where the alias stood; later changes of the alias do not reach them',
      });
    }
  }
  return aliases;
}

function readOwners(
  file: SourceFile & { readonly place: string },
  {
    aliases,
    lists,
    closed,
    context,
    entries,
  }: {
    readonly aliases: ReadonlyMap<string, readonly string[]>;
    readonly lists: List[];
    readonly closed: Set<string>;
    readonly context: ConversionContext;
    readonly entries: Entry[];
  },
): void {
  const folder = file.place.includes('/') ? file.place.slice(0, file.place.lastIndexOf('/')) : '';
  const source = readYamlSource(file);
  const { value } = source;
  if (!isRecord(value)) {
    if (value === null || value === undefined) return;
    throw new SourceError(`${file.place}: a map with \`approvers\` and \`reviewers\` was expected`);
  }
  const at = { folder, file: file.place, source, aliases, lists, context, entries };
  const note = (path: readonly string[], outcome: Entry['outcome'], why?: string): unknown =>
    entries.push({
      line: source.lineOf(path),
      part: `${file.place}: ${path.join('.')}`,
      outcome,
      ...(why === undefined ? {} : { note: why }),
    });
  const isSimple = kinds.some((kind) => (texts(value[kind] ?? []) ?? []).length > 0);
  for (const [key, inner] of Object.entries(value)) {
    if (isKind(key)) readList(inner, { ...at, kind: key, filter: undefined, path: [key] });
    else if (key === 'filters') {
      if (isSimple) note([key], 'without-meaning', 'Prow ignores filters beside lists of the whole folder');
      else readFilters(inner, { ...at, note });
    } else if (key === 'options') {
      for (const [option, on] of Object.entries(isRecord(inner) ? inner : {})) {
        if (option === 'no_parent_owners') {
          if (on === true) closed.add(folder);
          note([key, option], 'exact');
        } else if (option === 'auto_approve_unowned_subfolders' && on === true)
          note([key, option], 'left-out', 'a folder without OWNERS needs an approval of the owners above it');
        else
          note(
            [key, option],
            on === false ? 'without-meaning' : 'left-out',
            'the option is off, or is not known',
          );
      }
    } else if (key.startsWith('emeritus_'))
      note([key], 'without-meaning', 'former owners have no part in Prow either');
    else note([key], 'left-out', 'the key is not known');
  }
}

function isKind(key: string): key is Kind {
  return (kinds as readonly string[]).includes(key);
}

type Reading = {
  readonly folder: string;
  readonly file: string;
  readonly source: Source;
  readonly aliases: ReadonlyMap<string, readonly string[]>;
  readonly lists: List[];
  readonly context: ConversionContext;
  readonly entries: Entry[];
};

function readFilters(
  written: unknown,
  {
    note,
    ...at
  }: Reading & {
    readonly note: (path: readonly string[], outcome: Entry['outcome'], why?: string) => unknown;
  },
): void {
  for (const [filter, config] of Object.entries(isRecord(written) ? written : {})) {
    const regex = filter === '.*' ? undefined : wholePath(filter);
    if (regex !== undefined && 'problem' in regex) {
      note(['filters', filter], 'left-out', regex.problem);
      continue;
    }
    for (const [key, inner] of Object.entries(isRecord(config) ? config : {})) {
      const path = ['filters', filter, key];
      if (isKind(key)) readList(inner, { ...at, kind: key, filter: regex?.text, path });
      else if (key.startsWith('emeritus_'))
        note(path, 'without-meaning', 'former owners have no part in Prow either');
      else note(path, 'left-out', 'the key is not known');
    }
  }
}

function readList(
  written: unknown,
  {
    folder,
    file,
    source,
    aliases,
    lists,
    context,
    entries,
    kind,
    filter,
    path,
  }: Reading & { readonly kind: Kind; readonly filter: string | undefined; readonly path: readonly string[] },
): void {
  const line = source.lineOf(path);
  const given = written === null ? [] : texts(written);
  if (given === undefined || typeof written === 'string') {
    entries.push({
      line,
      part: `${file}: ${path.join('.')}`,
      outcome: 'left-out',
      note: 'a list of names was expected',
    });
    return;
  }
  const notes: string[] = [];
  const names =
    kind === 'labels'
      ? given
      : given
          .flatMap((one) => aliases.get(one.toLowerCase().replace(/^@/, '')) ?? [one])
          .map((login) => {
            const { name, note } = context.names.user(login.toLowerCase());
            if (note !== undefined) notes.push(note);
            return name;
          });
  const invalid = kind === 'labels' ? undefined : names.find((name) => !/^[\w.-]+(\[bot\])?$/.test(name));
  if (invalid !== undefined) notes.push(`\`${invalid}\` is no name of a user`);
  if (kind === 'labels' && names.some((name) => name.includes('${{')))
    notes.push('a label that contains `${{` is left out, because the language would read a template');
  const known = [...new Set(names)].filter((name) =>
    kind === 'labels' ? !name.includes('${{') : /^[\w.-]+$/.test(name),
  );
  if (known.length === 0) {
    if (given.length > 0)
      entries.push({
        line,
        part: `${file}: ${path.join('.')}`,
        ...(names.length === 0
          ? { outcome: 'without-meaning', note: 'the aliases that it names have no members' }
          : { outcome: 'left-out', note: notes.join('; ') || 'no user is left' }),
      });
    return;
  }
  lists.push({ folder, file, line, kind, filter, names: known, notes });
}

/**
 * Converts a regular expression of Go that is searched for in the path below a folder into one of the whole path. Each
 * alternative has its own anchors.
 */
function wholePath(pattern: string): { readonly text: string } | { readonly problem: string } {
  const problem = {
    problem: `the filter \`${pattern}\` has a form that the engines of the forges read in different ways`,
  };
  if (/\\[zQECbBApPdDwWsS]|\[\[:|\(\?/.test(pattern.replace(/\(\?i\)|\(\?:/g, '').replace(/\\[dw]/g, '')))
    return problem;
  const ascii = pattern
    .replace(/\\d/g, (_, at: number) => (isInClass(pattern, at) ? '0-9' : '[0-9]'))
    .replace(/\\w/g, (_, at: number) => (isInClass(pattern, at) ? '0-9A-Za-z_' : '[0-9A-Za-z_]'));
  const alternatives = topAlternatives(ascii).map((one) => {
    const [, flags = '', start = '', body = '', end = ''] =
      /^((?:\(\?i\))?)(\^?)(.*?)(\$?)$/s.exec(one) ?? [];
    const isEscaped = end === '$' && /(^|[^\\])(\\\\)*\\$/.test(body);
    return `${flags}${start === '' ? '.*' : ''}${isEscaped ? body + end : body}${end === '' || isEscaped ? '.*' : ''}`
      .replace(/^\.\*\.\*/, '.*')
      .replace(/\.\*\.\*$/, '.*');
  });
  const inner = alternatives.map((one) => one.replace(/\\.|\[\^?\]?(?:\\.|[^\]\\])*\]/gs, ''));
  if (inner.some((one) => /[\^$]/.test(one))) return problem;
  const text = alternatives.length === 1 ? (alternatives[0] ?? '') : `(${alternatives.join('|')})`;
  const compiled = new Re2Compiler({ length: maxPatternLength }).compile(`^${text}$`);
  return 'reason' in compiled
    ? { problem: `the filter \`${pattern}\` cannot be used: ${compiled.reason}` }
    : { text };
}

function isInClass(pattern: string, at: number): boolean {
  for (const { 0: found, index } of pattern.matchAll(/\\.|\[\^?\]?(?:\\.|[^\]\\])*\]/gs))
    if (found.startsWith('[') && index < at && at < index + found.length) return true;
  return false;
}

function topAlternatives(pattern: string): readonly string[] {
  const found: string[] = [];
  let depth = 0;
  let from = 0;
  for (const { 0: sign, index } of pattern.matchAll(/\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|[()|]/gs)) {
    if (sign === '(') depth += 1;
    if (sign === ')') depth -= 1;
    if (sign === '|' && depth === 0) {
      found.push(pattern.slice(from, index));
      from = index + 1;
    }
  }
  return [...found, pattern.slice(from)];
}

function isBelow(folder: string, above: string): boolean {
  return folder !== above && (above === '' || folder.startsWith(`${above}/`));
}

/**
 * Returns patterns of the paths below a list's folder that it does not reach: those for which a closed folder, or one
 * below that, has an entry of this kind (`entriesForFile`: `NoParentOwners && out.Len() > 0`).
 */
function closedBelow(
  { folder, kind }: List,
  { lists, closed }: { readonly lists: readonly List[]; readonly closed: ReadonlySet<string> },
): readonly string[] {
  const ends = [...closed].filter((one) => isBelow(one, folder));
  const found = lists
    .filter((one) => one.kind === kind && ends.some((end) => one.folder === end || isBelow(one.folder, end)))
    .map(patternOf);
  return [...new Set(found)];
}

function escapeRegex(text: string): string {
  return text.replace(/[\\^$.|?*+()[\]{}]/g, '\\$&');
}

/** The regular expression of the paths for which a list is written, as a whole path. */
function patternOf({ folder, filter = '.*' }: List): string {
  return folder === '' ? filter : `${escapeRegex(folder)}/${filter}`;
}

type Exclusions = (list: List) => readonly string[];
type Made = Pick<Partial<Conversion>, 'rules' | 'files' | 'todo'>;

function partOf({ file, kind, filter }: List): string {
  return filter === undefined ? `${file}: ${kind}` : `${file}: ${kind} of ${filter}`;
}

function approverLines(
  lists: readonly List[],
  {
    exclusions,
    context,
    entries,
  }: { readonly exclusions: Exclusions; readonly context: ConversionContext; readonly entries: Entry[] },
): Made {
  const approvers = lists.filter(({ kind }) => kind === 'approvers');
  const [first] = approvers;
  if (first === undefined) return {};
  const { hasOwnerLookahead: hasLookahead } = context.names.forge;
  const written: string[] = [];
  for (const list of approvers) {
    const excluded = exclusions(list);
    const whole =
      excluded.length === 0
        ? patternOf(list)
        : `(?!${excluded.map((one) => (one.endsWith('.*') && !one.endsWith('\\.*') ? one.slice(0, -2) : `${one}$`)).join('|')})${patternOf(list)}`;
    const isTooLong = whole.length + 2 > maxPatternLength;
    const isOpen = excluded.length > 0 && (hasLookahead === false || isTooLong);
    const notes = [...list.notes];
    if (isOpen || (excluded.length > 0 && hasLookahead === undefined)) {
      const closedFolder = samplePath(excluded[0] ?? '');
      notes.push(
        isOpen
          ? `\`${closedFolder}\`: these approvers may not approve it, because of \`no_parent_owners\`, but on the forge they may: ${isTooLong ? 'the pattern that excludes it would be too long' : 'its patterns have no look-ahead'}`
          : `\`${samplePath(patternOf(list))}\`: exact on Gitea 1.26 or later; Forgejo and earlier releases skip a line with \`(?!\`, so that these approvers own no file`,
      );
    }
    written.push(
      `${ownersWord(isOpen ? patternOf(list) : whole)} ${list.names.map((name) => `@${name}`).join(' ')}`,
    );
    entries.push({
      line: list.line,
      part: partOf(list),
      outcome: notes.length > 0 ? 'differs' : 'exact',
      rules: ['owners'],
      ...(notes.length > 0 && { note: notes.join('; ') }),
    });
  }
  entries.push({
    line: first.line,
    part: 'approvals',
    outcome: 'differs',
    rules: ['owners'],
    note: 'a comment `/approve` of an approver approves in Prow, a review that approves does here; after a push, an approval that the forge takes for stale does not count here, and stays in Prow; a pull request is asked for a review of every approver of its files by the forge, and of two reviewers by Prow',
  });
  // As in rules/codeowners.yml. Files without an approver cannot be approved, as in Prow.
  const when = [
    'codeowners.all(c, c.users.size() + c.teams.size() > 0)',
    'codeowners.all(c, pull_request.user.login in c.users || approvals.exists(a, a.user.login in c.users))',
  ].join(' && ');
  const rule: RuleDraft = {
    name: 'owners',
    description: 'An approver of each file has approved.',
    on: ['auto', { schedule: '27 * * * *' }],
    each: 'pull_request',
    steps: [
      {
        uses: 'set-status',
        with: {
          state: 'success',
          when,
          description: new Template({ expression: 'codeowners_problems.text' }),
          otherwise: {
            state: 'pending',
            description: new Template('The approval of an approver is missing.'),
          },
        },
      },
    ],
  };
  const head = [
    '# Imported from OWNERS: each pattern is a regular expression of the whole path, and the approvers of all lines that',
    '# match a file add up.',
  ];
  return {
    rules: [rule],
    files: [{ path: '.gitea/CODEOWNERS', text: [...head, ...written, ''].join('\n') }],
    todo: [
      'Make the status `reeve/owners` a required check of the branch (in files of repositories `reeve-repo/owners`, in those of organizations `reeve-org/owners`): it takes the place of the label `approved`.',
      'Delete `CODEOWNERS` and `docs/CODEOWNERS` if they exist: the forge reads the first of its files only.',
    ],
  };
}

/** A readable path of a pattern that this file wrote. */
function samplePath(pattern: string): string {
  return pattern.replace(/\.\*/g, 'x').replace(/\\(.)/g, '$1');
}

/** Globs of the paths of a list without filter; undefined with a filter, which globs cannot express. */
function globsOf({ folder, filter }: List, without: readonly string[]): readonly string[] | undefined {
  if (filter !== undefined) return undefined;
  // A leading `!` would exclude.
  const below = (one: string): string => (one === '' ? '**' : `${escapeGlob(one).replace(/^!/, '\\!')}/**`);
  return [below(folder), ...without.map((one) => `!${below(one)}`)];
}

function inChunks<T>(all: readonly T[], size: number): readonly (readonly T[])[] {
  return Array.from({ length: Math.ceil(all.length / size) }, (_, place) =>
    all.slice(place * size, (place + 1) * size),
  );
}

const maxExpressionLength = 2_000;
const renamed = 'a file that is moved out of the folder counts here, and only its new path does in Prow';

function reviewerRules(
  lists: readonly List[],
  { entries }: { readonly exclusions: Exclusions; readonly entries: Entry[] },
): Made {
  const steps: { readonly step: StepDraft; readonly list: List }[] = [];
  for (const kind of ['reviewers', 'required_reviewers'] as const) {
    const ofKind = lists.filter((list) => list.kind === kind);
    for (const list of ofKind) {
      // The reviewers of the nearest folder that has some are asked; required ones of all folders above as well.
      const inner =
        kind === 'reviewers'
          ? ofKind
              .filter((one) => one.filter === undefined && isBelow(one.folder, list.folder))
              .map(({ folder }) => folder)
          : [];
      const nearest = inner.filter((one) => !inner.some((other) => isBelow(one, other)));
      const globs = globsOf(list, nearest);
      if (globs === undefined) {
        entries.push({
          line: list.line,
          part: partOf(list),
          outcome: 'left-out',
          note: 'reviewers for files that match a regular expression are not converted',
        });
        continue;
      }
      const isEverything = globs.length === 1 && globs[0] === '**';
      // One step that is refused would take the other steps of its rule along.
      if (touches(globs).text.length > maxExpressionLength) {
        entries.push({
          line: list.line,
          part: partOf(list),
          outcome: 'left-out',
          note: `folders below it have reviewers of their own (${nearest.length}): the condition that excludes them would be longer than ${maxExpressionLength} characters`,
        });
        continue;
      }
      steps.push({
        list,
        step: {
          ...(list.folder === '' ? {} : { name: list.folder }),
          uses: 'request-reviewers',
          with: {
            users: list.names.map((name) => new Template(name)),
            ...(kind === 'reviewers' ? { pick: 2 } : {}),
            ...(isEverything ? {} : { when: touches(globs) }),
          },
        },
      });
    }
  }
  const rules = inChunks(steps, 10).map(
    (some, place): RuleDraft => ({
      name: place === 0 ? 'reviewers' : `reviewers-${place + 1}`,
      on: { pull_request: ['opened'] },
      steps: some.map(({ step }) => step),
    }),
  );
  for (const [place, { list }] of steps.entries()) {
    const name = rules[Math.floor(place / 10)]?.name ?? 'reviewers';
    const notes = [
      ...list.notes,
      ...(list.kind === 'reviewers'
        ? [
            `of these reviewers, two are asked here, chosen by the number of the pull request; Prow asks two for all folders together, or as many as its \`request_count\` says, and approvers if there are too few`,
          ]
        : []),
      ...(list.folder === '' ? [] : [renamed]),
    ];
    entries.push({
      line: list.line,
      part: partOf(list),
      outcome: notes.length > 0 ? 'differs' : 'exact',
      rules: [name],
      ...(notes.length > 0 && {
        note: `a pull request with \`${list.folder === '' ? '' : `${list.folder}/`}x\`: ${notes.join('; ')}`,
      }),
    });
  }
  return { rules };
}

function labelRules(
  lists: readonly List[],
  { exclusions, entries }: { readonly exclusions: Exclusions; readonly entries: Entry[] },
): Made {
  const conditions = new Map<string, Condition[]>();
  const carried: List[] = [];
  for (const list of lists.filter(({ kind }) => kind === 'labels')) {
    const below = exclusions(list);
    // Excluded folders are those of lists without filter, whose patterns end in `/.*`.
    const folders = below.map((one) =>
      one.endsWith('/.*') ? one.slice(0, -3).replace(/\\(.)/g, '$1') : undefined,
    );
    const globs = folders.includes(undefined)
      ? undefined
      : globsOf(
          list,
          folders.filter((one) => one !== undefined),
        );
    if (globs === undefined) {
      entries.push({
        line: list.line,
        part: partOf(list),
        outcome: 'left-out',
        note: 'labels for files that match a regular expression are not converted',
      });
      continue;
    }
    for (const label of list.names) conditions.set(label, [...(conditions.get(label) ?? []), touches(globs)]);
    carried.push(list);
  }
  const labels = [...conditions].map(([label, some]): readonly [string, ArgumentValue] => [
    label,
    or(...some),
  ]);
  const rules = inChunks(labels, 40).map(
    (some, place): RuleDraft => ({
      name: place === 0 ? 'owners-labels' : `owners-labels-${place + 1}`,
      on: { pull_request: ['opened', 'reopened', 'synchronized'] },
      steps: [{ uses: 'set-labels', with: { add: Object.fromEntries(some) } }],
    }),
  );
  for (const list of carried)
    entries.push({
      line: list.line,
      part: partOf(list),
      outcome: 'differs',
      rules: rules.map(({ name }) => name),
      note: [
        ...list.notes,
        `if the forge has no label \`${list.names[0]}\`, the step fails here, and Prow adds the other labels`,
        renamed,
      ].join('; '),
    });
  return { rules };
}
