import { type Condition, equals } from '../condition.ts';
import {
  type ArgumentValue,
  type Conversion,
  type ConversionContext,
  createRuleNames,
  type Entry,
  type Format,
  type RuleDraft,
  SourceError,
  type SourceFile,
  type StepDraft,
  Template,
} from '../conversion.ts';
import { isRecord, readYamlSource, type Source, texts } from '../source.ts';

/**
 * `.github/settings.yml` of probot/settings at 54668ca: `lib/plugins/*.js` write what is listed, and delete labels,
 * milestones, collaborators and teams that are not.
 */
export const settings: Format = {
  name: 'settings',
  title: 'probot/settings',
  counts: 'keys',
  places: ['.github/settings.yml'],
  isFormat: (file) => !isSafe(file),
  convert: (file, context) => convertLayers([layerOfProbot(file, context)], context),
};

/**
 * `settings.yml`, `suborgs/*.yml` and `repos/*.yml` of the admin repository of github/safe-settings at 90ae0ae: the files
 * for a repository are merged (`lib/mergeDeep.js`), then written as by probot/settings.
 */
export const safeSettings: Format = {
  name: 'safe-settings',
  title: 'github/safe-settings',
  counts: 'keys',
  places: ['.github/settings.yml', '.github/suborgs/*.{yml,yaml}', '.github/repos/*.{yml,yaml}'],
  isFormat: isSafe,
  isGrouped: true,
  convert: (file, context) => convertLayers(layersOfSafe(file, context), context),
};

function isSafe({ path, place = path, text }: SourceFile): boolean {
  if (/(^|\/)(suborgs|repos)\/[^/]+$/.test(place)) return true;
  return /^(suborgrepos|suborgteams|validator|configvalidators|overridevalidators|restrictedRepos|autolinks|rulesets|custom_properties):/m.test(
    text,
  );
}

type ReadFile = { readonly label: string; readonly source: Source; readonly value: Record<string, unknown> };

/** What is written to a set of repositories. */
type Layer = {
  /** The file whose keys are reported. */
  readonly file: ReadFile;
  /** The keys of this file, merged with those of the files that it completes. */
  readonly value: Record<string, unknown>;
  /** `in` of its rules; undefined: that of the file. */
  readonly scopes: readonly string[] | undefined;
  /** Owner and name of the repository, as far as they are known. */
  readonly owner: string | undefined;
  readonly repository: string | undefined;
  /** Begins the names of its rules. */
  readonly prefix: string;
  readonly isSafe: boolean;
};

const unknownOwner = 'OWNER';

function read(file: SourceFile, label: string): ReadFile {
  const source = readYamlSource(file);
  if (!isRecord(source.value))
    throw new SourceError(`${label === '' ? '' : `${label}: `}a map of settings was expected`);
  return { label, source, value: source.value };
}

function layerOfProbot(file: SourceFile, { repository, target }: ConversionContext): Layer {
  const readFile = read(file, '');
  const section = readFile.value.repository;
  const named = isRecord(section) && typeof section.name === 'string' ? section.name : undefined;
  const [owner, given] = repository?.split('/') ?? [];
  // Without a repository, nothing may happen until a person writes its owner: these settings are of one repository.
  const scopes =
    repository === undefined && target !== 'repository' ? [`${unknownOwner}/${named ?? 'NAME'}`] : undefined;
  return {
    file: readFile,
    value: readFile.value,
    scopes,
    owner,
    repository: given ?? named,
    prefix: '',
    isSafe: false,
  };
}

function layersOfSafe(first: SourceFile, { repository }: ConversionContext): readonly Layer[] {
  const files = [first, ...(first.others ?? [])].map((file) => ({ ...file, place: file.place ?? file.path }));
  const owner = repository?.split('/')[0] ?? unknownOwner;
  const known = repository === undefined ? undefined : owner;
  const labelOf = (place: string): string => (files.length === 1 ? '' : place.replace(/^.*\.github\//, ''));
  const nameOf = (place: string): string => place.replace(/^.*\//, '').replace(/\.ya?ml$/, '');
  const readAll = files.map((file) => ({ ...read(file, labelOf(file.place)), place: file.place }));
  const singles = readAll.filter(({ place }) => /(^|\/)repos\/[^/]+$/.test(place));
  const groups = readAll
    .filter(({ place }) => /(^|\/)suborgs\/[^/]+$/.test(place))
    .map((file) => ({ file, globs: texts(file.value.suborgrepos ?? []) ?? [] }));
  const base = readAll.filter(
    (file) => !singles.includes(file) && !groups.some((group) => group.file === file),
  );
  const of = (name: string): string => `${owner}/${name}`;
  const singleNames = singles.map(({ place }) => of(nameOf(place)));
  const baseValue = merged(...base.map(({ value }) => value));
  const withoutRulesets = { ...baseValue, rulesets: undefined };
  const layers: Layer[] = base.map((file) => ({
    file,
    value: file.value,
    scopes: [
      of('*'),
      ...groups.flatMap(({ globs }) => globs.map((glob) => `!${of(glob)}`)),
      ...singleNames.map((name) => `!${name}`),
    ],
    owner: known,
    repository: undefined,
    prefix: '',
    isSafe: true,
  }));
  for (const { file, globs } of groups)
    layers.push({
      file,
      value: merged(withoutRulesets, file.value),
      // Without repositories, the file applies to those of teams, which `in` cannot name: to none.
      scopes:
        globs.length === 0 ? [of('NAME')] : [...globs.map(of), ...singleNames.map((name) => `!${name}`)],
      owner: known,
      repository: undefined,
      prefix: nameOf(file.place),
      isSafe: true,
    });
  for (const file of singles) {
    const name = nameOf(file.place);
    const group = groups.find(({ globs }) => globs.some((glob) => isSuborgMatch(glob, name)));
    layers.push({
      file,
      value: merged(withoutRulesets, group?.file.value ?? {}, file.value),
      scopes: [of(name)],
      owner: known,
      repository: name,
      prefix: name,
      isSafe: true,
    });
  }
  return layers;
}

/** `lib/glob.js` of safe-settings: `*` and `?` stop at `/`, which names of repositories do not have. */
function isSuborgMatch(glob: string, name: string): boolean {
  const parts = glob
    .split('*')
    .map((part) => part.replace(/[\\^$.|?+()[\]{}]/g, (sign) => (sign === '?' ? '.' : `\\${sign}`)));
  return new RegExp(`^${parts.join('[^/]*')}$`, 'u').test(name);
}

const nameFields = ['name', 'username', 'login', 'type', 'key_prefix', 'title'] as const;

function nameOfItem(item: unknown): string | undefined {
  if (!isRecord(item)) return undefined;
  const field = nameFields.find((one) => item[one] !== undefined);
  return field === undefined ? undefined : String(item[field]);
}

/** Later values win; items of lists with the same name are merged, others are joined. */
function merged(...all: readonly Record<string, unknown>[]): Record<string, unknown> {
  const result: Record<string, unknown> = {};
  for (const [key, value] of all.flatMap((one) => Object.entries(one))) {
    const before = result[key];
    if (isRecord(before) && isRecord(value)) result[key] = merged(before, value);
    else if (Array.isArray(before) && Array.isArray(value)) {
      const items: unknown[] = [...before];
      for (const item of value as unknown[]) {
        const name = nameOfItem(item);
        const at = items.findIndex((one) => (name === undefined ? one === item : nameOfItem(one) === name));
        const same = items[at];
        if (at === -1) items.push(item);
        else if (isRecord(same) && isRecord(item)) items[at] = merged(same, item);
      }
      result[key] = items;
    } else if (value !== undefined || !(key in result)) result[key] = value;
  }
  return result;
}

type PathInFile = readonly string[];

/** What the converters of the sections share: the layer, and where results go. */
type Sheet = Layer & {
  readonly context: ConversionContext;
  /** Notes what became of a key. Keys of files that this one completes are noted there. */
  readonly note: (
    path: PathInFile,
    outcome: Entry['outcome'],
    options?: { readonly why?: string | undefined; readonly rule?: string | undefined },
  ) => void;
  /** The value as it is written, for text that YAML takes for a number. */
  readonly written: (path: PathInFile) => string | undefined;
  /** Adds a rule that keeps a state of each repository. Returns its name. */
  readonly keep: (
    name: string,
    steps: readonly StepDraft[],
    options: { readonly minute: number; readonly scopes?: readonly string[] },
  ) => string;
  readonly rules: RuleDraft[];
  readonly todo: Set<string>;
};

/** Returns the path in which items of lists are counted; undefined if the file does not have it. */
function inFile(path: PathInFile, { value }: ReadFile): readonly (string | number)[] | undefined {
  const found: (string | number)[] = [];
  let at: unknown = value;
  for (const name of path) {
    if (Array.isArray(at)) {
      const place = at.findIndex((item) => nameOfItem(item) === name);
      if (place === -1) return undefined;
      found.push(place);
      at = at[place] as unknown;
    } else if (isRecord(at) && name in at) {
      found.push(name);
      at = at[name];
    } else return undefined;
  }
  return found;
}

function convertLayers(layers: readonly Layer[], context: ConversionContext): Conversion {
  const rules: RuleDraft[] = [];
  const entries: Entry[] = [];
  const todo = new Set<string>();
  const nameOf = createRuleNames();
  for (const layer of layers) {
    const { file, scopes, prefix } = layer;
    const at = (path: PathInFile): readonly (string | number)[] | undefined => inFile(path, file);
    const sheet: Sheet = {
      ...layer,
      context,
      rules,
      todo,
      note(path, outcome, { why, rule } = {}) {
        const place = at(path);
        if (place === undefined) return;
        entries.push({
          line: file.source.lineOf(place),
          part: `${file.label === '' ? '' : `${file.label}: `}${path.join('.')}`,
          outcome,
          ...(why === undefined ? {} : { note: why }),
          ...(rule === undefined ? {} : { rules: [rule] }),
        });
      },
      written(path) {
        const place = at(path);
        return place && file.source.writtenAt(place);
      },
      keep(name, steps, { minute, scopes: ofRule = scopes }) {
        const given = nameOf(prefix === '' ? name : `${prefix} ${name}`);
        rules.push({
          name: given,
          ...(ofRule === undefined ? {} : { in: ofRule }),
          on: ['repository.created', { schedule: `${minute} 3 * * *` }],
          each: 'repository',
          steps,
        });
        return given;
      },
    };
    for (const [section, value] of Object.entries(layer.value)) {
      const convert = Object.hasOwn(sections, section) ? sections[section] : undefined;
      if (value === undefined) continue;
      if (convert) convert(value, sheet);
      else {
        const why = leftOutSections[section];
        for (const path of keysOf(section, value))
          sheet.note(path, 'left-out', {
            why: why ?? 'the section is not known',
          });
      }
    }
    if (layer.isSafe && layers.length === 1)
      todo.add(
        'Import the folder of the admin repository at once: its files for one repository are merged, and the rules of files that were imported one by one would contradict each other.',
      );
    if (scopes?.some((one) => one.startsWith(`${unknownOwner}/`)))
      todo.add(
        `Replace \`${unknownOwner}\` in \`in\` by the owner on the forge, and \`NAME\` by the name of the repository: until then the rules match no repository. With --repository, the importer writes both.`,
      );
  }
  if (rules.length > 0)
    entries.push({
      line: 1,
      part: 'time of writing',
      outcome: 'differs',
      rules: rules.map(({ name }) => name),
      note: 'a setting that a person changes at noon is put back by the rule at night, and by the bot with the next push to its file; a change of this file takes effect with the schedule',
    });
  return { rules, entries, todo: [...todo] };
}

/** One path for each key of a section, so that the report counts keys and not sections. */
function keysOf(section: string, value: unknown): readonly PathInFile[] {
  if (Array.isArray(value)) {
    const names = value.flatMap((item) => nameOfItem(item) ?? []);
    return names.length === 0 ? [[section]] : names.map((name) => [section, name]);
  }
  const keys = isRecord(value) ? Object.keys(value) : [];
  return keys.length === 0 ? [[section]] : keys.map((key) => [section, key]);
}

const leftOutSections: Readonly<Record<string, string>> = {
  _extends: 'settings of another repository are not read: import its file, too',
  environments: 'the forge has no environments for deployments',
  autolinks: 'the forge has one external issue tracker for each repository instead of links by prefix',
  custom_properties: 'the forge has no properties of repositories',
  variables: 'variables of workflows are no state that a rule can keep',
  secrets: 'secrets of workflows are no state that a rule can keep',
  validator: 'no rule checks the names of repositories',
  configvalidators: 'scripts are not run',
  overridevalidators: 'scripts are not run',
  suborgteams: 'a rule is for repositories by name, not for those of a team: list them in `in`',
  suborgproperties: 'the forge has no properties of repositories',
  restrictedRepos: 'write the globs into `in`',
};

/** Whether text can be written where the language takes no template. */
function isPlain(text: string): boolean {
  return !text.includes('${{');
}

const templateProblem = 'it contains `${{`, which the language would read as a template';

type Mapped =
  | { readonly set: Readonly<Record<string, ArgumentValue>>; readonly differs?: string }
  | { readonly leftOut: string }
  | { readonly without: string };

const notBoolean: Mapped = { leftOut: 'neither true nor false' };
const flag =
  (name: string, differs?: string) =>
  (value: unknown): Mapped =>
    typeof value === 'boolean'
      ? { set: { [name]: value }, ...(differs === undefined ? {} : { differs }) }
      : notBoolean;
const without = (why: string) => (): Mapped => ({ without: why });
const onlyAtCreation = without('the bot uses it only when it creates a repository');

/** Keys of `repository`; those of "Update a repository" of the API of GitHub, and those that the bots add. */
const repositoryKeys: Readonly<Record<string, (value: unknown, sheet: Sheet) => Mapped>> = {
  description: (value) => text('description', value, 2_048),
  homepage(value) {
    const address = value === null ? '' : String(value);
    if (address !== '' && (!/^https?:\/\/[^\s]+$/.test(address) || !URL.canParse(address)))
      return { leftOut: 'the forge takes an address that begins with http:// or https://' };
    return text('website', address, 1_024);
  },
  topics(value, { isSafe: isOfSafe }) {
    if (value === '' || value === null)
      return { without: 'without a topic, the bot leaves the topics as they are' };
    const given = typeof value === 'string' ? value.split(/\s*,\s*/) : texts(value);
    if (given === undefined) return { leftOut: 'neither text nor a list' };
    const topics = [...new Set(given.map((one) => one.trim()).filter((one) => one !== ''))];
    const invalid = topics.find((one) => !/^[a-z0-9][-.a-z0-9]{0,34}$/.test(one));
    if (invalid !== undefined)
      return {
        leftOut: `the forge takes no topic \`${invalid}\`: up to 35 lower-case letters, digits, - and .`,
      };
    if (topics.length > 25) return { leftOut: 'the forge takes at most 25 topics' };
    return {
      set: { topics },
      ...(Array.isArray(value) &&
        !isOfSafe && {
          differs:
            'probot/settings takes text with commas, and fails for this list; the rule sets the topics',
        }),
    };
  },
  default_branch(value, { isSafe: isOfSafe }) {
    if (typeof value !== 'string' || !/^(?!.*\.\.)[^\s~^:?*[\\]{1,255}$/.test(value))
      return { leftOut: 'no name of a branch' };
    return {
      set: { default_branch: value },
      ...(isOfSafe && {
        differs: `if there is no branch \`${value}\`, safe-settings renames the default branch to it; the rule fails and says so`,
      }),
    };
  },
  name(value, { repository, context, scopes }) {
    if (typeof value !== 'string') return { leftOut: 'no text' };
    const [owner, present] = context.repository?.split('/') ?? [];
    if (present === undefined)
      return scopes?.[0]?.endsWith(`/${value}`)
        ? {
            set: {},
            differs: `the rules are for a repository \`${value}\`; one of another name is renamed by the bot, and left alone here`,
          }
        : { leftOut: 'a repository of this name is not named by --repository' };
    if (present === value) return { without: 'the repository has this name' };
    return {
      leftOut: `\`${repository}\` would be renamed: write a rule with \`in: [${owner}/${present}, ${owner}/${value}]\` and \`name: ${value}\``,
    };
  },
  private: (value, sheet) =>
    typeof value === 'boolean' ? visibility(value ? 'private' : 'public', sheet) : notBoolean,
  visibility: (value, sheet) => visibility(value, sheet),
  archived: flag('archived'),
  is_template: flag('template'),
  has_issues: flag('has_issues'),
  has_projects: flag('has_projects'),
  has_wiki: flag('has_wiki'),
  allow_squash_merge: flag('allow_squash_merge'),
  allow_merge_commit: (value) =>
    typeof value === 'boolean'
      ? { set: { allow_merge_commits: value, ...(value ? {} : { allow_rebase_explicit: false }) } }
      : notBoolean,
  // "Rebase, then a merge commit" exists only on the forge: forbidden with either, and never allowed.
  allow_rebase_merge: (value) =>
    typeof value === 'boolean'
      ? { set: { allow_rebase: value, ...(value ? {} : { allow_rebase_explicit: false }) } }
      : notBoolean,
  delete_branch_on_merge: flag(
    'default_delete_branch_after_merge',
    'who merges may keep the branch on the forge, where this is only the preselected answer',
  ),
  allow_update_branch: flag(
    'allow_rebase_update',
    'a person who looks at a pull request that is behind sees another button: here it allows an update by rebase, and one by merge is always allowed',
  ),
  allow_auto_merge: (value) =>
    value === true
      ? { without: 'the forge always lets people schedule a merge' }
      : { leftOut: 'scheduled merges cannot be forbidden on the forge' },
  allow_forking: without('the forge has no such setting for a repository'),
  has_downloads: without('the forge has releases instead, and their files'),
  has_pages: without('the forge has no pages'),
  has_discussions: without('the forge has no discussions'),
  enable_vulnerability_alerts: without('the forge has no alerts of vulnerabilities'),
  enable_automated_security_fixes: without('the forge opens no pull requests for vulnerabilities'),
  security: without('the forge has no alerts of vulnerabilities'),
  security_and_analysis: without('the forge analyses no code'),
  auto_init: onlyAtCreation,
  gitignore_template: onlyAtCreation,
  license_template: onlyAtCreation,
  force_create: () => ({ leftOut: 'a rule creates no repository' }),
  template: () => ({ leftOut: 'a rule creates no repository' }),
};

function text(name: string, value: unknown, most: number): Mapped {
  const given = value === null ? '' : value;
  if (typeof given !== 'string' && typeof given !== 'number') return { leftOut: 'no text' };
  if (!isPlain(String(given))) return { leftOut: templateProblem };
  if (String(given).length > most) return { leftOut: `longer than ${most} characters` };
  return { set: { [name]: String(given) } };
}

function visibility(value: unknown, { repository, isSafe: isOfSafe }: Sheet): Mapped {
  if (value === 'public')
    return isOfSafe && repository === undefined
      ? {
          leftOut:
            'it would make every repository public that the rule is for: write `private: false` and `publish: true` where this is meant',
        }
      : { set: { private: false, publish: true } };
  if (value === 'internal')
    return {
      set: { private: true },
      differs: 'members of the enterprise can read an internal repository; here only those with access can',
    };
  return value === 'private' ? { set: { private: true } } : { leftOut: 'neither public nor private' };
}

type Section = (value: unknown, sheet: Sheet) => unknown;

const sections: Readonly<Record<string, Section>> = {
  repository: convertRepository,
  labels: convertLabels,
  milestones: convertMilestones,
  collaborators: convertCollaborators,
  teams: convertTeams,
  branches: convertBranches,
  rulesets: convertRulesets,
  suborgrepos(value, { note }) {
    note(
      ['suborgrepos'],
      texts(value) === undefined ? 'left-out' : 'exact',
      texts(value) === undefined ? { why: 'no list of names' } : {},
    );
  },
};

/** Writes what became of keys once the name of their rule is known. */
function noteMapped(
  path: PathInFile,
  mapped: Mapped,
  { note, rule }: { readonly note: Sheet['note']; readonly rule: string | undefined },
): void {
  if ('leftOut' in mapped) note(path, 'left-out', { why: mapped.leftOut });
  else if ('without' in mapped) note(path, 'without-meaning', { why: mapped.without });
  else note(path, mapped.differs === undefined ? 'exact' : 'differs', { why: mapped.differs, rule });
}

function convertRepository(value: unknown, sheet: Sheet): unknown {
  if (!isRecord(value)) return sheet.note(['repository'], 'without-meaning', { why: 'no settings' });
  const mapped = Object.entries(value).map(([key, inner]) => {
    const convert = Object.hasOwn(repositoryKeys, key) ? repositoryKeys[key] : undefined;
    const found: Mapped =
      convert === undefined
        ? { leftOut: 'the forge has no such setting' }
        : inner === null && !['description', 'homepage', 'topics'].includes(key)
          ? { without: 'no value' }
          : convert(inner, sheet);
    return [key, found] as const;
  });
  const given = Object.assign({}, ...mapped.map(([, one]) => ('set' in one ? one.set : {}))) as Record<
    string,
    ArgumentValue
  >;
  const rule =
    Object.keys(given).length === 0
      ? undefined
      : sheet.keep('repository', [{ uses: 'sync-repository', with: given }], { minute: 47 });
  for (const [key, one] of mapped) noteMapped(['repository', key], one, { note: sheet.note, rule });
}

/** What the items of a list became, and whether others may be deleted: never if one of the list was left out. */
type Items = { readonly items: readonly ArgumentValue[]; readonly isComplete: boolean };

function convertItems(
  base: PathInFile,
  list: readonly unknown[],
  {
    sheet,
    convert,
  }: { readonly sheet: Sheet; readonly convert: (item: Record<string, unknown>, path: PathInFile) => Mapped },
): Items & { readonly noteAll: (rule: string | undefined) => void } {
  const found = new Map<string, { readonly path: PathInFile; readonly mapped: Mapped }>();
  let isComplete = true;
  for (const item of list) {
    const name = nameOfItem(item);
    if (!isRecord(item) || name === undefined) {
      isComplete = false;
      sheet.note(base, 'left-out', { why: 'an entry has no name' });
      continue;
    }
    const path = [...base, name];
    const key = name.toLowerCase();
    if (found.has(key)) {
      sheet.note(path, 'without-meaning', { why: 'the list has this name more than once' });
      continue;
    }
    const mapped = isPlain(name) ? convert(item, path) : { leftOut: templateProblem };
    if (!('set' in mapped)) isComplete = false;
    found.set(key, { path, mapped });
  }
  const all = [...found.values()];
  return {
    items: all.flatMap(({ mapped }) => ('set' in mapped ? [mapped.set] : [])),
    isComplete,
    noteAll(rule) {
      for (const { path, mapped } of all) noteMapped(path, mapped, { note: sheet.note, rule });
    },
  };
}

/** Adds a step that also deletes what is not listed, as the bots do. */
function keepList(
  section: string,
  { items, isComplete, noteAll }: ReturnType<typeof convertItems>,
  {
    sheet,
    step,
    minute,
    others,
    most = 200,
  }: {
    readonly sheet: Sheet;
    readonly step: (items: readonly ArgumentValue[]) => {
      readonly uses: string;
      readonly with: Readonly<Record<string, ArgumentValue>>;
    };
    readonly minute: number;
    /** What a run does with those that are not listed, and the bot does not; with `prune`. */
    readonly others: string;
    readonly most?: number;
  },
): unknown {
  if (items.length === 0) {
    noteAll(undefined);
    return sheet.note([section], 'left-out', {
      why: 'an empty list makes the bot delete all of them; a rule keeps at least one',
    });
  }
  const prunes = isComplete && items.length <= most;
  const steps = Array.from({ length: Math.ceil(items.length / most) }, (_, place): StepDraft => {
    const { uses, with: given } = step(items.slice(place * most, (place + 1) * most));
    return { uses, with: { ...given, ...(prunes ? { prune: true } : {}) } };
  });
  const rule = sheet.keep(section, steps.slice(0, 10), { minute });
  noteAll(rule);
  sheet.note([section], prunes ? 'differs' : 'left-out', {
    rule,
    why: prunes
      ? `with 40 others that are not listed, the bot deletes all at once, and the rule at most 5 or a quarter of all in one run${others}`
      : 'those that are not listed are kept, because a part of the list is left out, is for some repositories only, or does not fit into one step: the bot deletes them',
  });
}

function ignoredKeys(
  item: Record<string, unknown>,
  known: readonly string[],
  { path, sheet }: { readonly path: PathInFile; readonly sheet: Sheet },
): void {
  for (const key of Object.keys(item))
    if (!known.includes(key))
      sheet.note([...path, key], 'without-meaning', { why: 'the bot does not read this key' });
}

function convertLabels(value: unknown, sheet: Sheet): unknown {
  const list = isRecord(value) ? value.include : value;
  const excludes = isRecord(value) && Array.isArray(value.exclude) && value.exclude.length > 0;
  if (!Array.isArray(list)) return sheet.note(['labels'], 'without-meaning', { why: 'no list of labels' });
  const prefix = isRecord(value) ? ['labels', 'include'] : ['labels'];
  const made = convertItems(prefix, list, {
    sheet,
    convert(item, path) {
      const name = path.at(-1) ?? '';
      ignoredKeys(item, ['name', 'color', 'description', 'new_name', 'oldname', 'include', 'exclude'], {
        path,
        sheet,
      });
      if (Array.isArray(item.include) || Array.isArray(item.exclude))
        return { leftOut: 'it is for some of the repositories only: write a rule with `in` for them' };
      const written =
        sheet.written([...path, 'color']) ??
        (item.color === undefined || item.color === null ? undefined : String(item.color));
      const color = written?.replace(/^#/, '');
      if (color !== undefined && !/^([0-9a-fA-F]{3}|[0-9a-fA-F]{6})$/.test(color))
        return { leftOut: `\`${color}\` is no color` };
      const description =
        item.description === undefined || item.description === null ? undefined : String(item.description);
      if (description !== undefined && (!isPlain(description) || description.length > 500))
        return {
          leftOut: isPlain(description) ? 'its description has more than 500 characters' : templateProblem,
        };
      const renamed = typeof item.new_name === 'string' ? item.new_name : undefined;
      const former =
        renamed === undefined ? (typeof item.oldname === 'string' ? item.oldname : undefined) : name;
      if (![renamed ?? '', former ?? ''].every(isPlain)) return { leftOut: templateProblem };
      const differs = [
        ...(color === undefined
          ? [
              `a label that exists with the color d73a4a keeps it, and gets ededed here; a new one has ededed with both`,
            ]
          : []),
        ...(color !== undefined &&
        item.color !== color &&
        typeof item.color === 'number' &&
        String(item.color) !== color
          ? [
              `the bot reads \`${color}\` as the number ${String(item.color)}, which GitHub refuses; the rule sets the color ${color}`,
            ]
          : []),
        ...(renamed === undefined
          ? []
          : [
              `with the second run, the bot deletes \`${renamed}\`, which its list does not name, and creates \`${name}\` again; the rule renames it once`,
            ]),
        ...(former !== undefined && renamed === undefined && !sheet.isSafe
          ? [
              `the present release of probot/settings ignores \`oldname\`, and deletes \`${former}\`; the rule renames it, so that it stays on its issues`,
            ]
          : []),
      ];
      return {
        set: {
          name: renamed ?? name,
          color: color ?? 'ededed',
          ...(description === undefined ? {} : { description }),
          ...(former === undefined ? {} : { previously: [former] }),
        },
        ...(differs.length > 0 && { differs: differs.join('; ') }),
      };
    },
  });
  if (excludes)
    sheet.note(['labels', 'exclude'], 'left-out', {
      why: 'labels that match are not deleted by the bot; the rule deletes none',
    });
  const isKept = excludes || !made.isComplete;
  keepList(
    'labels',
    { ...made, isComplete: !isKept, noteAll: made.noteAll },
    {
      sheet,
      minute: 53,
      step: (labels) => ({ uses: 'sync-labels', with: { labels } }),
      others: '',
    },
  );
}

function convertMilestones(value: unknown, sheet: Sheet): unknown {
  if (!Array.isArray(value))
    return sheet.note(['milestones'], 'without-meaning', { why: 'no list of milestones' });
  const made = convertItems(['milestones'], value, {
    sheet,
    convert(item, path) {
      ignoredKeys(item, ['title', 'description', 'state', 'due_on'], { path, sheet });
      if ('due_on' in item)
        sheet.note([...path, 'due_on'], 'without-meaning', { why: 'the bot drops the due date' });
      const { title, description, state } = item;
      if (typeof title !== 'string' && typeof title !== 'number') return { leftOut: 'no title' };
      if (description !== undefined && description !== null && !isPlain(String(description)))
        return { leftOut: templateProblem };
      if (state !== undefined && state !== 'open' && state !== 'closed')
        return { leftOut: 'its state is neither open nor closed' };
      return {
        set: {
          title: String(title),
          ...(description === undefined || description === null ? {} : { description: String(description) }),
          ...(state === undefined ? {} : { state }),
        },
      };
    },
  });
  keepList('milestones', made, {
    sheet,
    minute: 41,
    step: (milestones) => ({ uses: 'sync-milestones', with: { milestones } }),
    others: ', and never one that has issues or pull requests, which the bot deletes as well',
  });
}

/** Roles of GitHub as access on the forge. */
const roles: Readonly<
  Record<string, { readonly permission: 'read' | 'write' | 'admin'; readonly differs?: string }>
> = {
  pull: { permission: 'read' },
  push: { permission: 'write' },
  admin: { permission: 'admin' },
  maintain: {
    permission: 'write',
    differs: 'who may maintain can also change some settings of the repository on GitHub, and not here',
  },
  triage: {
    permission: 'read',
    differs: 'who may triage can set labels and close issues on GitHub, and not here',
  },
};

function convertCollaborators(value: unknown, sheet: Sheet): unknown {
  if (!Array.isArray(value))
    return sheet.note(['collaborators'], 'without-meaning', { why: 'no list of collaborators' });
  const made = convertItems(['collaborators'], value, {
    sheet,
    convert(item) {
      if (Array.isArray(item.include) || Array.isArray(item.exclude))
        return {
          leftOut: 'the collaborator is for some of the repositories only: write a rule with `in` for them',
        };
      const login = item.username ?? item.login ?? item.name;
      if (typeof login !== 'string') return { leftOut: 'no user name' };
      const { name, note } = sheet.context.names.user(login.toLowerCase());
      if (note !== undefined) return { leftOut: note };
      const role = roles[String(item.permission ?? 'push')];
      if (role === undefined) return { leftOut: `the forge has no role \`${String(item.permission)}\`` };
      return {
        set: { login: name, permission: role.permission },
        ...(role.differs !== undefined && { differs: `${name}: ${role.differs}` }),
      };
    },
  });
  keepList('collaborators', made, {
    sheet,
    minute: 51,
    step: (collaborators) => ({ uses: 'sync-collaborators', with: { collaborators } }),
    others: '; invitations do not exist on the forge, where a collaborator has access at once',
  });
}

function convertTeams(value: unknown, sheet: Sheet): unknown {
  if (!Array.isArray(value)) return sheet.note(['teams'], 'without-meaning', { why: 'no list of teams' });
  const { repository, isSafe: isOfSafe } = sheet;
  const isForAll = isOfSafe && repository === undefined && sheet.prefix === '';
  const made = convertItems(['teams'], value, {
    sheet,
    convert(item, path) {
      const written = path.at(-1) ?? '';
      if (Array.isArray(item.include) || Array.isArray(item.exclude))
        return {
          leftOut:
            'the team is for some of the repositories only: write a rule that lists them under `repositories`',
        };
      const { name, note } = teamName(written, sheet);
      if (!/^[-\w.]{1,255}$/.test(name)) return { leftOut: `the forge takes no team \`${name}\`` };
      const role = roles[String(item.permission ?? 'push')];
      if (role === undefined) return { leftOut: `the forge has no role \`${String(item.permission)}\`` };
      if (!isForAll && repository === undefined)
        return { leftOut: 'the repositories of the team are not known by name' };
      // A team has one permission for all of its repositories: it is set only where the source gives it for all.
      const given = isForAll
        ? { permission: role.permission, includes_all_repositories: true }
        : { repositories: [repository ?? ''] };
      const differs = [
        ...(isForAll
          ? []
          : [
              `\`${String(item.permission ?? 'push')}\` is not set: a team has one permission for all of its repositories on the forge, and the rule only adds \`${repository}\` to them`,
            ]),
        ...(role.differs === undefined ? [] : [role.differs]),
        ...(note === undefined ? [] : [note]),
      ];
      return {
        set: { name, ...given },
        ...(differs.length > 0 && { differs: `team \`${name}\`: ${differs.join('; ')}` }),
      };
    },
  });
  if (made.items.length === 0) return made.noteAll(undefined);
  const rule = sheet.keep('teams', [{ uses: 'sync-teams', with: { teams: made.items } }], { minute: 37 });
  made.noteAll(rule);
  sheet.note(['teams'], 'left-out', {
    why: 'a team that is not listed keeps its access here, because `prune` of sync-teams would delete the team itself; the bot takes the access away',
  });
}

/** Name of a team of the owner. */
function teamName(
  team: string,
  { owner, context }: Sheet,
): { readonly name: string; readonly note?: string } {
  if (owner === undefined) return { name: context.names.team(team).name.replace(/^.*\//, '') };
  const { name, note } = context.names.team(`${owner}/${team}`);
  return { name: name.replace(/^.*\//, ''), ...(note === undefined ? {} : { note }) };
}

const requiredKeys = [
  'required_pull_request_reviews',
  'required_status_checks',
  'enforce_admins',
  'restrictions',
] as const;

/** A branch protection, as far as it was converted, and whether it needs the status of owners. */
type Protection = { readonly given: Record<string, ArgumentValue>; readonly needsOwners: boolean };

type NoteKey = (key: PathInFile, mapped: Mapped) => void;

/**
 * Converts the body of "Update branch protection" of the API of GitHub, which replaces the whole protection: what it
 * does not name has its default afterwards.
 */
function convertProtection(
  branch: string,
  protection: Record<string, unknown>,
  { sheet, done }: { readonly sheet: Sheet; readonly done: NoteKey },
): Protection {
  const given: Record<string, ArgumentValue> = {};
  const contexts: string[] = [];
  let needsOwners = false;
  const set: Mapped = { set: {} };
  const differs = (why: string): Mapped => ({ set: {}, differs: why });
  const { names } = sheet.context;
  const missing = requiredKeys.filter((key) => protection[key] === undefined);
  if (missing.length > 0)
    done(
      [],
      differs(
        `GitHub refuses a protection without ${missing.map((one) => `\`${one}\``).join(', ')}, and \`${branch}\` is not protected; the rule sets what is there`,
      ),
    );

  const reviews = protection.required_pull_request_reviews;
  const needsPull = isRecord(reviews);
  if (reviews === null) {
    given.required_approvals = 0;
    done(['required_pull_request_reviews'], set);
  } else if (needsPull) {
    given.required_approvals = 1;
    given.dismiss_stale_approvals = false;
    // On GitHub, a review that requests changes blocks where reviews are required.
    given.block_on_rejected_reviews = true;
    if (Object.keys(reviews).length === 0) done(['required_pull_request_reviews'], set);
    for (const [key, value] of Object.entries(reviews)) {
      const path = ['required_pull_request_reviews', key];
      if (key === 'required_approving_review_count' && Number.isInteger(value)) {
        given.required_approvals = value as number;
        done(path, set);
      } else if (key === 'dismiss_stale_reviews' && isFlag(value)) {
        given.dismiss_stale_approvals = value === true;
        done(path, set);
      } else if (key === 'require_code_owner_reviews' && isFlag(value)) {
        needsOwners ||= value === true;
        done(
          path,
          value === true
            ? differs(
                'a pull request of the only owner of a file, and one that changes a file that only teams own: GitHub knows these owners, and the status of the rule stays pending until `|| approvals.exists(a, a.user.login in team("ORGANIZATION/TEAM"))` is added; CODEOWNERS is to be imported, too',
              )
            : set,
        );
      } else done(path, ofOption(key, value));
    }
  }

  const checks = protection.required_status_checks;
  if (checks === null) {
    given.enable_status_check = false;
    given.block_on_outdated_branch = false;
    done(['required_status_checks'], set);
  } else if (isRecord(checks)) {
    given.block_on_outdated_branch = checks.strict === true;
    for (const [key, value] of Object.entries(checks)) {
      const path = ['required_status_checks', key];
      if (key === 'strict' && isFlag(value)) done(path, set);
      else if (key === 'contexts' || key === 'checks') {
        const list = Array.isArray(value)
          ? value.map((one: unknown) => (isRecord(one) ? one.context : one))
          : [];
        const found = (texts(list) ?? []).filter(isPlain).map((one) => names.check(one));
        contexts.push(...found.map(({ name }) => name));
        const uncertain = found
          .filter(({ isCertain, note }) => !isCertain && note !== undefined)
          .map(({ note }) => note);
        done(
          path,
          uncertain.length > 0
            ? differs(
                `a name that no check reports is never fulfilled, and no pull request into \`${branch}\` can be merged: ${[...new Set(uncertain)].join('; ')}; --checks names them`,
              )
            : set,
        );
      } else done(path, { leftOut: 'the key is not known' });
    }
    if (!needsPull && contexts.length > 0)
      done(
        ['required_status_checks'],
        differs(
          'a direct push of a commit whose check failed is refused by GitHub; the forge asks for checks only when it merges',
        ),
      );
  }

  const admins = protection.enforce_admins;
  if (admins !== undefined) {
    given.block_admin_merge_override = admins === true;
    done(
      ['enforce_admins'],
      admins !== true && needsPull
        ? differs(
            `an administrator may push to \`${branch}\` on GitHub; the forge refuses the push, and lets an administrator only merge`,
          )
        : isFlag(admins)
          ? set
          : notBoolean,
    );
  }

  const restrictions = protection.restrictions;
  if (needsPull) given.enable_push = false;
  else if (reviews === null) given.enable_push = true;
  if (restrictions === null) {
    given.enable_merge_whitelist = false;
    if (given.enable_push === true) given.enable_push_whitelist = false;
    done(['restrictions'], set);
  } else if (isRecord(restrictions)) {
    const lists = restrictedTo(restrictions, { sheet, done });
    given.enable_merge_whitelist = true;
    given.merge_whitelist_usernames = lists.users;
    given.merge_whitelist_teams = lists.teams;
    if (given.enable_push === true) {
      given.enable_push_whitelist = true;
      given.push_whitelist_usernames = lists.users;
      given.push_whitelist_teams = lists.teams;
    }
    if (lists.users.length + lists.teams.length === 0)
      done(
        ['restrictions'],
        differs(
          `an administrator may merge into \`${branch}\` on GitHub unless \`enforce_admins\` is set; with an empty list, nobody may merge here`,
        ),
      );
    else if (Object.keys(restrictions).length === 0) done(['restrictions'], set);
  }

  given.enable_force_push = false;
  for (const [key, value] of Object.entries(protection)) {
    if ((requiredKeys as readonly string[]).includes(key)) continue;
    if (key === 'allow_force_pushes' && isFlag(value)) {
      given.enable_force_push = value === true;
      done(
        [key],
        value === true
          ? differs(
              `who may push to \`${branch}\` may force it on the forge; GitHub allows it to everyone with write access`,
            )
          : set,
      );
    } else if (key === 'required_signatures' && isFlag(value)) {
      given.require_signed_commits = value === true;
      done(
        [key],
        value === true
          ? differs(
              'an unsigned commit: GitHub takes this key only at an address of its own, so that the bot may not have required signatures; the rule does',
            )
          : set,
      );
    } else if (key === 'required_linear_history' && value === true) {
      const section = isRecord(sheet.value.repository) ? sheet.value.repository : {};
      done(
        [key],
        section.allow_merge_commit === false
          ? set
          : {
              leftOut: `the forge allows or forbids merge commits for the whole repository: \`allow_merge_commit: false\` forbids them in all branches, not only in \`${branch}\``,
            },
      );
    } else done([key], ofOption(key, value));
  }
  if (needsOwners) contexts.push(ownersContext(sheet));
  if (isRecord(checks) || needsOwners) {
    // An empty list would require that every status passes.
    given.enable_status_check = contexts.length > 0;
    if (contexts.length > 0) given.status_check_contexts = [...new Set(contexts)];
  }
  return { given, needsOwners };
}

function isFlag(value: unknown): boolean {
  return typeof value === 'boolean' || value === null;
}

/** Options that have no counterpart; off, they mean nothing. */
function ofOption(key: string, value: unknown): Mapped {
  const isOff =
    value === false ||
    value === null ||
    (isRecord(value) && Object.values(value).every((one) => Array.isArray(one) && one.length === 0));
  if (isOff)
    return {
      without:
        key === 'dismissal_restrictions'
          ? 'only administrators dismiss reviews on the forge'
          : 'the option is off',
    };
  const known: Readonly<Record<string, string>> = {
    dismissal_restrictions: 'only administrators dismiss reviews on the forge',
    require_last_push_approval: 'the forge does not ask who pushed last',
    bypass_pull_request_allowances:
      'a list of those who may bypass the protection is set by hand: `bypass_allowlist_usernames`',
    required_conversation_resolution: 'the forge does not ask that conversations are resolved',
    allow_deletions: 'a protected branch cannot be deleted on the forge',
    block_creations: 'the forge protects branches that exist',
    lock_branch: 'the forge has no branches that can only be read: an empty merge list comes near',
    allow_fork_syncing: 'the forge has no such option',
  };
  return { leftOut: known[key] ?? 'the key is not known' };
}

function restrictedTo(
  restrictions: Record<string, unknown>,
  { sheet, done }: { readonly sheet: Sheet; readonly done: NoteKey },
): { readonly users: readonly string[]; readonly teams: readonly string[] } {
  const found: { users: string[]; teams: string[] } = { users: [], teams: [] };
  for (const [key, value] of Object.entries(restrictions)) {
    const path = ['restrictions', key];
    const given = (texts(value ?? []) ?? []).filter(isPlain);
    const notes: string[] = [];
    if (key === 'users' || key === 'apps') {
      for (const login of given) {
        const { name, note } = sheet.context.names.user(key === 'apps' ? `${login}[bot]` : login);
        if (note === undefined) found.users.push(name);
        else notes.push(note);
      }
    } else if (key === 'teams') {
      for (const team of given) {
        const { name, note } = teamName(team, sheet);
        found.teams.push(name);
        if (note !== undefined) notes.push(note);
      }
    } else {
      done(path, { leftOut: 'the key is not known' });
      continue;
    }
    done(path, notes.length > 0 ? { set: {}, differs: notes.join('; ') } : { set: {} });
  }
  return found;
}

function ownersContext({ context }: Sheet): string {
  const begin = { operator: 'reeve', organization: 'reeve-org', repository: 'reeve-repo' };
  return `${begin[context.target]}/owners`;
}

function convertBranches(value: unknown, sheet: Sheet): unknown {
  if (!Array.isArray(value))
    return sheet.note(['branches'], 'without-meaning', { why: 'no list of branches' });
  const steps: StepDraft[] = [];
  const notes: (readonly [path: PathInFile, mapped: Mapped])[] = [];
  const seen = new Set<string>();
  let needsOwners = false;
  for (const item of value) {
    const name = nameOfItem(item);
    if (!isRecord(item) || name === undefined) {
      sheet.note(['branches'], 'left-out', { why: 'an entry has no name' });
      continue;
    }
    const path = ['branches', name];
    const { protection } = item;
    const targets = branchNames(name, sheet);
    const problem =
      protection === undefined
        ? { without: 'no protection is given' }
        : !isRecord(protection) || Object.keys(protection).length === 0
          ? {
              leftOut: `the bot deletes the protection of \`${name}\`; a rule deletes only those that are not listed, with \`prune\``,
            }
          : 'leftOut' in targets
            ? targets
            : seen.has(name)
              ? { leftOut: 'the list has this branch more than once' }
              : undefined;
    seen.add(name);
    if (problem || !isRecord(protection) || 'leftOut' in targets) {
      for (const key of isRecord(protection) && Object.keys(protection).length > 0
        ? Object.keys(protection)
        : [undefined])
        notes.push([
          key === undefined ? path : [...path, 'protection', key],
          problem ?? { leftOut: 'no protection' },
        ]);
      continue;
    }
    const made = convertProtection(name, protection, {
      sheet,
      done: (key, mapped) => notes.push([[...path, 'protection', ...key], mapped]),
    });
    needsOwners ||= made.needsOwners;
    for (const { rule, condition } of targets.names)
      steps.push({
        name: `branch ${rule}`,
        ...(condition === undefined ? {} : { if: condition }),
        uses: 'sync-branch-protections',
        with: { protections: [{ rule_name: rule, ...made.given }] },
      });
    notes.push([
      [...path, 'name'],
      targets.differs === undefined ? { set: {} } : { set: {}, differs: targets.differs },
    ]);
  }
  const rules = Array.from({ length: Math.ceil(steps.length / 10) }, (_, place) =>
    sheet.keep('branches', steps.slice(place * 10, place * 10 + 10), { minute: 29 }),
  );
  if (needsOwners) addOwnersRule(sheet);
  for (const [path, mapped] of notes) noteMapped(path, mapped, { note: sheet.note, rule: rules[0] });
}

/** Names of the protections for a branch of the source, and under which condition each applies. */
function branchNames(
  name: string,
  sheet: Sheet,
):
  | {
      readonly names: readonly { readonly rule: string; readonly condition?: Condition }[];
      readonly differs?: string;
    }
  | { readonly leftOut: string } {
  if (!isPlain(name) || /[\\[\]{}!]/.test(name) || name.length > 255)
    return { leftOut: `\`${name}\` is no name of a protection on the forge` };
  if (name !== 'default' || !sheet.isSafe)
    return {
      names: [{ rule: name }],
      ...(/[*?]/.test(name) && {
        differs: `GitHub's API takes the name of a branch only, and protects nothing; the rule protects the branches of the pattern, such as \`${name.replace(/[*?]+/g, 'x')}\``,
      }),
    };
  const section = isRecord(sheet.value.repository) ? sheet.value.repository : {};
  if (typeof section.default_branch === 'string' && !/[\\[\]{}!*?]/.test(section.default_branch))
    return { names: [{ rule: section.default_branch }] };
  return {
    names: ['main', 'master'].map((rule) => ({ rule, condition: equals('repository.default_branch', rule) })),
    differs:
      'a repository whose default branch is `develop`: the bot protects it, and the rule only `main` and `master`, because no name of a protection follows the default branch',
  };
}

/**
 * The status that an owner has approved each file that has owners; as in rules/codeowners.yml. Its name is in the
 * protections, so that there is one rule for all of them.
 */
function addOwnersRule({ rules, scopes, todo }: Sheet): void {
  todo.add('Import CODEOWNERS as well: the status of owners is computed from the file of the forge.');
  const name = 'owners';
  const at = rules.findIndex((one) => one.name === name);
  const before = rules[at];
  if (before) {
    const isSame = JSON.stringify(before.in) === JSON.stringify(scopes);
    const owner = scopes?.[0]?.split('/')[0] ?? unknownOwner;
    if (!isSame) rules[at] = { ...before, in: [`${owner}/*`] };
    return;
  }
  rules.push({
    name,
    description: 'An owner has approved each file that has owners. Owners that are teams are not counted.',
    ...(scopes === undefined ? {} : { in: scopes }),
    on: ['auto', { schedule: '27 * * * *' }],
    each: 'pull_request',
    steps: [
      {
        uses: 'set-status',
        with: {
          state: 'success',
          when: 'codeowners.all(c, c.users.size() + c.teams.size() == 0 || approvals.exists(a, a.user.login in c.users))',
          description: new Template({ expression: 'codeowners_problems.text' }),
          otherwise: {
            state: 'pending',
            description: new Template(
              'The approval of an owner is missing. Owners that are teams are not counted.',
            ),
          },
        },
      },
    ],
  });
}

/** Rulesets: an active one for branches is a protection, one for tags a tag protection. */
function convertRulesets(value: unknown, sheet: Sheet): unknown {
  if (!Array.isArray(value))
    return sheet.note(['rulesets'], 'without-meaning', { why: 'no list of rulesets' });
  for (const item of value) {
    const name = nameOfItem(item);
    if (!isRecord(item) || name === undefined) {
      sheet.note(['rulesets'], 'left-out', { why: 'an entry has no name' });
      continue;
    }
    convertRuleset(name, item, sheet);
  }
}

function convertRuleset(name: string, ruleset: Record<string, unknown>, sheet: Sheet): unknown {
  const path = ['rulesets', name];
  const rules = (Array.isArray(ruleset.rules) ? ruleset.rules : []).filter(isRecord);
  const none = (mapped: Mapped): undefined => {
    for (const { type } of rules)
      noteMapped([...path, 'rules', String(type)], mapped, { note: sheet.note, rule: undefined });
    if (rules.length === 0) noteMapped(path, mapped, { note: sheet.note, rule: undefined });
  };
  if (ruleset.enforcement !== 'active') return none({ without: 'the ruleset is not active' });
  const conditions = isRecord(ruleset.conditions) ? ruleset.conditions : {};
  const refs = isRecord(conditions.ref_name) ? conditions.ref_name : {};
  const include = texts(refs.include ?? []) ?? [];
  if ((texts(refs.exclude ?? []) ?? []).length > 0)
    return none({ leftOut: 'a protection on the forge has one pattern, and cannot exclude branches' });
  const repositories = isRecord(conditions.repository_name) ? conditions.repository_name : undefined;
  if (conditions.repository_id !== undefined || conditions.repository_property !== undefined)
    return none({ leftOut: 'its repositories are not known by name' });
  const scopes = repositories && rulesetScopes(repositories, sheet);
  const isTag = ruleset.target === 'tag';
  const kind = isTag ? 'refs/tags/' : 'refs/heads/';
  const targets = include.map((one) => (one.startsWith(kind) ? one.slice(kind.length) : one));
  if (targets.length === 0) return none({ without: 'it includes no branch and no tag' });
  const bypassed = Array.isArray(ruleset.bypass_actors) && ruleset.bypass_actors.length > 0;
  const bypass = bypassed
    ? 'those listed under `bypass_actors` may do it on GitHub, and not here'
    : undefined;
  const types = new Map(
    rules.map((one) => [String(one.type), isRecord(one.parameters) ? one.parameters : {}]),
  );
  const options = scopes === undefined ? {} : { scopes };
  if (isTag) {
    const kept = ['creation', 'update', 'deletion'].filter((type) => types.has(type));
    const missing = ['creation', 'update', 'deletion'].filter((type) => !types.has(type));
    const tags = targets.map((one) => tagPattern(one));
    const invalid = tags.includes(undefined);
    const rule =
      kept.length === 0 || invalid
        ? undefined
        : sheet.keep(
            `tags ${name}`,
            [
              {
                uses: 'protect-tags',
                with: {
                  tags: tags.map((one) => ({
                    name_pattern: one ?? '',
                    whitelist_usernames: [],
                    whitelist_teams: [],
                  })),
                },
              },
            ],
            { minute: 33, ...options },
          );
    for (const type of types.keys()) {
      const why = [
        ...(missing.length > 0
          ? [
              `${missing.join(' and ')} of a tag \`${targets[0]}\` is allowed by GitHub; a tag protection forbids all three`,
            ]
          : []),
        ...(bypass === undefined ? [] : [bypass]),
      ].join('; ');
      const mapped: Mapped =
        rule === undefined || !kept.includes(type)
          ? { leftOut: 'the forge protects tags only against creation, update and deletion, by a pattern' }
          : { set: {}, ...(why !== '' && { differs: why }) };
      noteMapped([...path, 'rules', type], mapped, { note: sheet.note, rule });
    }
    return;
  }
  const protection: Record<string, unknown> = {
    required_pull_request_reviews: null,
    required_status_checks: null,
    restrictions: null,
    enforce_admins: true,
    allow_force_pushes: !types.has('non_fast_forward'),
  };
  const outcome = new Map<string, Mapped>();
  for (const [type, given] of types) {
    const without = (keys: readonly string[]): readonly string[] => keys.filter((key) => given[key] === true);
    if (type === 'pull_request') {
      protection.required_pull_request_reviews = {
        required_approving_review_count: given.required_approving_review_count ?? 0,
        dismiss_stale_reviews: given.dismiss_stale_reviews_on_push === true,
        require_code_owner_reviews: given.require_code_owner_review === true,
      };
      const lost = without(['require_last_push_approval', 'required_review_thread_resolution']);
      outcome.set(
        type,
        lost.length > 0
          ? {
              set: {},
              differs: `\`${lost.join('` and `')}\`: GitHub asks for it, and the forge has no such option`,
            }
          : { set: {} },
      );
    } else if (type === 'required_status_checks') {
      protection.required_status_checks = {
        strict: given.strict_required_status_checks_policy === true,
        checks: given.required_status_checks ?? [],
      };
      outcome.set(type, { set: {} });
    } else if (type === 'required_signatures') {
      protection.required_signatures = true;
      outcome.set(type, { set: {} });
    } else if (type === 'required_linear_history') {
      protection.required_linear_history = true;
      outcome.set(type, { set: {} });
    } else if (type === 'deletion' || type === 'non_fast_forward') outcome.set(type, { set: {} });
    else outcome.set(type, { leftOut: 'a protection on the forge has no such rule' });
  }
  const names = targets.flatMap(
    (target): readonly { readonly rule: string; readonly condition?: Condition }[] => {
      if (target === '~ALL') return [{ rule: '**' }];
      const found = branchNames(target === '~DEFAULT_BRANCH' ? 'default' : target, {
        ...sheet,
        isSafe: target === '~DEFAULT_BRANCH',
      });
      if ('leftOut' in found) {
        outcome.set('', found);
        return [];
      }
      if (target === '~DEFAULT_BRANCH' && found.differs !== undefined)
        outcome.set('', { set: {}, differs: found.differs });
      return found.names;
    },
  );
  const made = convertProtection(targets[0] ?? name, protection, {
    sheet,
    done([key = ''], mapped) {
      const type = {
        required_pull_request_reviews: 'pull_request',
        required_status_checks: 'required_status_checks',
        required_linear_history: 'required_linear_history',
      }[key];
      if (type === undefined || !outcome.has(type)) return;
      const before = outcome.get(type);
      if ('leftOut' in mapped) outcome.set(type, mapped);
      if ('set' in mapped && mapped.differs !== undefined && before && 'set' in before)
        outcome.set(type, {
          set: {},
          differs: [before.differs, mapped.differs].filter((one) => one !== undefined).join('; '),
        });
    },
  });
  const rule =
    names.length === 0
      ? undefined
      : sheet.keep(
          `ruleset ${name}`,
          names.slice(0, 10).map(({ rule: rule_name, condition }) => ({
            ...(condition === undefined ? {} : { if: condition }),
            uses: 'sync-branch-protections',
            with: { protections: [{ rule_name, ...made.given }] },
          })),
          { minute: 31, ...options },
        );
  if (made.needsOwners) addOwnersRule(scopes === undefined ? sheet : { ...sheet, scopes });
  const ofNames = outcome.get('');
  outcome.delete('');
  if (ofNames) noteMapped([...path, 'conditions'], ofNames, { note: sheet.note, rule });
  for (const [type, mapped] of outcome) {
    const isOpen = rule === undefined && 'set' in mapped;
    const differing: Mapped =
      'set' in mapped && bypass !== undefined
        ? { set: {}, differs: [mapped.differs, bypass].filter((one) => one !== undefined).join('; ') }
        : mapped;
    noteMapped(
      [...path, 'rules', type],
      isOpen ? { leftOut: 'none of its branches can be named' } : differing,
      { note: sheet.note, rule },
    );
  }
}

function rulesetScopes(
  repositories: Record<string, unknown>,
  { owner = unknownOwner }: Sheet,
): readonly string[] {
  const of = (one: string): string => `${owner}/${one === '~ALL' ? '*' : one}`;
  return [
    ...(texts(repositories.include ?? []) ?? []).map(of),
    ...(texts(repositories.exclude ?? []) ?? []).map((one) => `!${of(one)}`),
  ];
}

/** In patterns of tags, `*` crosses a slash on the forge and not on GitHub: a regular expression says what is meant. */
function tagPattern(pattern: string): string | undefined {
  if (pattern === '~ALL') return '*';
  if (!isPlain(pattern) || /[\\[\]{}]/.test(pattern)) return undefined;
  if (!/[*?]/.test(pattern)) return pattern;
  const regex = pattern
    .replace(/[.+()|^$]/g, '\\$&')
    .replace(/\*\*\/?|\*|\?/g, (sign) => (sign.startsWith('**') ? '.*' : sign === '*' ? '[^/]*' : '[^/]'));
  return `/^${regex}$/`;
}
