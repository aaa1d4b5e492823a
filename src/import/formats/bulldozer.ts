import {
  always,
  and,
  Condition,
  isOneOf,
  listLiteral,
  literal,
  never,
  not,
  or,
  regularExpression,
} from '../condition.ts';
import {
  type ArgumentValue,
  type Conversion,
  type Entry,
  type Format,
  type RuleDraft,
  SourceError,
  type StepDraft,
  Template,
} from '../conversion.ts';
import { LongConditions } from '../long-conditions.ts';
import { NameNotes, passedChecks, requiredChecksPassed } from '../pulls.ts';
import { isRecord, readYamlSource, type Source, texts } from '../source.ts';

/**
 * Bulldozer of Palantir. Source: palantir/bulldozer at 5194b88d13897e4fd45950ab6fc109cbcfade166, `bulldozer/config.go`,
 * `config_v0.go`, `signals.go`, `evaluate.go`, `merge.go` and `update.go`.
 */
export const bulldozer: Format = {
  name: 'bulldozer',
  title: 'Bulldozer',
  counts: 'options',
  places: ['.bulldozer.yml'],
  convert(file, context) {
    const source = readYamlSource(file);
    if (!isRecord(source.value)) throw new SourceError('a map was expected');
    return new BulldozerFile(source, source.value, new NameNotes(context.names)).convert();
  },
};

type Config = Readonly<Record<string, unknown>>;

/** Labels of the first version of the format. */
const updateLabels = ['update me', 'update-me', 'update_me'];
const mergeLabels = ['merge when ready', 'merge-when-ready', 'merge_when_ready'];
const ignoreLabels = ['wip', 'do not merge', 'do-not-merge', 'do_not_merge'];

class BulldozerFile {
  readonly #source: Source;
  readonly #file: Config;
  readonly #notes: NameNotes;
  readonly #entries: Entry[] = [];
  readonly #rules: RuleDraft[] = [];

  constructor(source: Source, file: Config, notes: NameNotes) {
    this.#source = source;
    this.#file = file;
    this.#notes = notes;
  }

  convert(): Conversion {
    if (this.#file.remote !== undefined)
      return {
        rules: [],
        entries: [
          {
            line: this.#source.lineOf(['remote']),
            part: 'remote',
            outcome: 'left-out',
            note: `the file of the repository \`${String(this.#file.remote)}\` is not read: import that file`,
            apart: true,
          },
        ],
      };
    const unknown = unknownKeys(this.#file);
    if (unknown.length > 0)
      return {
        rules: [],
        entries: unknown.map((path) => ({
          line: this.#source.lineOf(path),
          part: path.join('.'),
          outcome: 'left-out',
          note: 'this key is not known: Bulldozer refuses the whole file for it and merges nothing; without this key, the rest can be imported',
        })),
      };
    const { merge, update } = this.#file.mode === undefined ? this.#sections() : this.#firstVersion();
    if (merge) this.#merge(merge);
    if (update) this.#update(update);
    const long = new LongConditions();
    return {
      rules: this.#rules.map((draft) => long.shorten(draft)),
      conditions: long.named,
      entries: [...this.#entries, ...this.#notes.entries()].toSorted((one, other) => one.line - other.line),
      todo: [
        'Require status checks in the protection of the branches: Bulldozer merges nothing without them.',
      ],
    };
  }

  #sections(): { readonly merge?: Config; readonly update?: Config } {
    if (this.#file.version !== 1)
      throw new SourceError('`version: 1` was expected', this.#source.lineOf(['version']));
    this.#note(['version'], 'version', 'without-meaning', 'it names the form of the file');
    return {
      merge: isRecord(this.#file.merge) ? this.#file.merge : {},
      ...(isRecord(this.#file.update) ? { update: this.#file.update } : {}),
    };
  }

  /** Returns the sections that the first version of the format stands for. */
  #firstVersion(): { readonly merge: Config; readonly update: Config } {
    const { mode, strategy, deleteAfterMerge } = this.#file;
    const signals: Readonly<Record<string, Config>> = {
      whitelist: { trigger: { labels: mergeLabels } },
      blacklist: { ignore: { labels: ignoreLabels } },
      pr_body: { trigger: { comment_substrings: ['==MERGE_WHEN_READY=='] } },
    };
    const chosen = signals[String(mode)];
    if (chosen === undefined)
      throw new SourceError(`\`mode: ${String(mode)}\` is not known`, this.#source.lineOf(['mode']));
    const squash =
      mode === 'pr_body'
        ? { body: 'pull_request_body', message_delimiter: '==COMMIT_MSG==' }
        : { body: 'summarize_commits' };
    for (const key of ['mode', 'strategy', 'deleteAfterMerge'])
      if (this.#file[key] !== undefined) this.#note([key], `${key}: ${String(this.#file[key])}`, 'exact');
    if (this.#file.ignoreSquashedMessages !== undefined)
      this.#note(
        ['ignoreSquashedMessages'],
        'ignoreSquashedMessages',
        'without-meaning',
        'Bulldozer does not use it',
      );
    return {
      merge: {
        ...chosen,
        method: strategy,
        delete_after_merge: deleteAfterMerge === true,
        ...(strategy === 'squash' ? { options: { squash } } : {}),
      },
      update: { trigger: { labels: updateLabels } },
    };
  }

  #merge(merge: Config): void {
    const [ignore, ignoreKey] = pick(merge, 'ignore', 'blacklist');
    const [trigger, triggerKey] = pick(merge, 'trigger', 'whitelist');
    const ignored = this.#signals(ignore, ['merge', ignoreKey], 'ignore');
    const triggered = this.#signals(trigger, ['merge', triggerKey], 'trigger');
    const own = texts(merge.required_statuses ?? []) ?? [];
    const checks = own.map((name) => this.#notes.check(name));
    const withoutChecks = merge.allow_merge_with_no_checks === true;
    const required = new Condition('required_checks.all(c, c.state == "success")', 'unary', {
      yes: { required_checks: [{ context: 'ci/test', state: 'success' }] },
    });
    const isGreen =
      own.length > 0
        ? and(required, passedChecks([...new Set(checks)]))
        : withoutChecks
          ? required
          : requiredChecksPassed;
    const condition = and(
      ...(ignored === undefined ? [] : [not(ignored)]),
      ...(triggered === undefined ? [] : [triggered]),
      isGreen,
    );
    if (own.length > 0)
      this.#option(['merge', 'required_statuses'], `required_statuses: ${own.join(', ')}`, 'exact');
    if (merge.allow_merge_with_no_checks !== undefined)
      this.#option(
        ['merge', 'allow_merge_with_no_checks'],
        `allow_merge_with_no_checks: ${withoutChecks}`,
        'exact',
      );
    this.#notes.note(
      'merges after a push',
      'an account without write access pushes after the label that a merge depends on: Bulldozer merges once the checks pass, Reeve waits until a person with write access acts again (`after-push`)',
    );
    this.#notes.note(
      'a failed required check',
      'a required check with the state skipped, written by a program: for Bulldozer it has not passed (only check runs count when skipped), for Reeve and the protection of the forge it has',
    );
    this.#rules.push({
      name: 'bulldozer-merge',
      description: 'Merges pull requests as Bulldozer did.',
      on: 'auto',
      each: 'pull_request',
      steps: this.#mergeSteps(merge, condition),
    });
  }

  #mergeSteps(merge: Config, when: Condition): readonly StepDraft[] {
    const deletes = merge.delete_after_merge === true;
    if (merge.delete_after_merge !== undefined && this.#file.mode === undefined)
      this.#option(['merge', 'delete_after_merge'], `delete_after_merge: ${deletes}`, 'exact');
    const step = (method: string, condition: Condition | undefined): StepDraft => ({
      uses: 'merge',
      ...(condition === undefined || condition === always ? {} : { if: condition }),
      with: {
        when,
        method,
        ...(method === 'squash' ? this.#message(merge) : {}),
        ...(deletes ? { 'delete-branch': true } : {}),
      },
    });
    const steps: StepDraft[] = [];
    let rest: Condition = always;
    for (const [place, entry] of (Array.isArray(merge.merge_method) ? merge.merge_method : []).entries()) {
      const path = ['merge', 'merge_method', place];
      if (!isRecord(entry)) continue;
      const signals = this.#signals(
        isRecord(entry.trigger) ? entry.trigger : {},
        [...path, 'trigger'],
        'all',
      );
      this.#option(path, `merge_method: ${String(entry.method)}`, 'exact');
      if (signals === undefined) continue;
      steps.push(step(methodOf(entry.method), and(rest, signals)));
      rest = and(rest, not(signals));
    }
    for (const [branch, method] of Object.entries(isRecord(merge.branch_method) ? merge.branch_method : {})) {
      const isBase = isOneOf('pull_request.base.ref', [branch]);
      this.#option(['merge', 'branch_method', branch], `branch_method ${branch}: ${String(method)}`, 'exact');
      steps.push(step(methodOf(method), and(rest, isBase)));
      rest = and(rest, not(isBase));
    }
    if (merge.method !== undefined && this.#file.mode === undefined)
      this.#option(['merge', 'method'], `method: ${String(merge.method)}`, 'exact');
    steps.push(step(methodOf(merge.method), rest));
    const squash = isRecord(merge.options) && isRecord(merge.options.squash) ? merge.options.squash : {};
    if (this.#file.mode === undefined) {
      for (const key of Object.keys(squash)) this.#squashOption(key, squash[key]);
    } else if (squash.body === 'summarize_commits') this.#squashOption('body', squash.body, true);
    return steps;
  }

  #squashOption(key: string, value: unknown, isApart = false): void {
    const path = ['merge', 'options', 'squash', key];
    const part = `squash ${key}: ${String(value)}`;
    // A value that is not known stands for the default of GitHub.
    const isDefault =
      value !== '' &&
      ((key === 'body' && value !== 'pull_request_body' && value !== 'empty_body') ||
        (key === 'title' && value !== 'pull_request_title' && value !== 'first_commit_title'));
    const note = isDefault
      ? key === 'body'
        ? 'a squash of two commits: GitHub lists their messages, the forge writes its own message'
        : 'a squash of one commit: GitHub takes the title of the commit, the forge that of the pull request'
      : key === 'body' && value === 'pull_request_body'
        ? 'a description of more than 8 KiB: Bulldozer takes all of it, Reeve the first 8 KiB'
        : key === 'message_delimiter' && value !== ''
          ? 'a description with three delimiters: Bulldozer takes all between the first and the last one, Reeve what is between the first two; and a text in the line of the delimiter, which Bulldozer does not accept'
          : undefined;
    this.#note(path, part, note === undefined ? 'exact' : 'differs', note, isApart);
  }

  #message(merge: Config): Readonly<Record<string, ArgumentValue>> {
    const squash = isRecord(merge.options) && isRecord(merge.options.squash) ? merge.options.squash : {};
    const { title = 'pull_request_title', body = 'empty_body', message_delimiter: delimiter } = squash;
    const number = [' (#', { expression: 'pull_request.number' }, ')'] as const;
    const titles: Readonly<Record<string, Template>> = {
      pull_request_title: new Template({ expression: 'pull_request.title' }, ...number),
      first_commit_title: new Template(
        { expression: 'commits[commits.size() - 1].commit.message.split("\\n")[0]' },
        ...number,
      ),
    };
    const chosen = titles[String(title)];
    const parts = `pull_request.body.split(${literal(String(delimiter ?? ''))})`;
    const text =
      typeof delimiter === 'string' && delimiter !== ''
        ? `${parts}.size() > 2 ? ${parts}[1].trim() : ""`
        : 'pull_request.body';
    // Forges write the title alone if there is no message: this is an empty body.
    return {
      ...(chosen === undefined ? {} : { title: chosen }),
      ...(body === 'pull_request_body' ? { message: new Template({ expression: text }) } : {}),
    };
  }

  #update(update: Config): void {
    const [ignore, ignoreKey] = pick(update, 'ignore', 'blacklist');
    const [trigger, triggerKey] = pick(update, 'trigger', 'whitelist');
    const ignored = this.#signals(ignore, ['update', ignoreKey], 'ignore');
    const triggered = this.#signals(trigger, ['update', triggerKey], 'trigger');
    const own = texts(update.required_statuses ?? []) ?? [];
    const drafts = update.ignore_drafts;
    if (ignored === undefined && triggered === undefined && typeof drafts !== 'boolean' && own.length === 0)
      return;
    const others = and(
      ...(drafts === true ? [new Condition('!pull_request.draft', 'unary')] : []),
      ...(own.length > 0 ? [passedChecks([...new Set(own.map((name) => this.#notes.check(name)))])] : []),
    );
    // A trigger decides alone: drafts and statuses only count without one.
    const hasTrigger = triggered !== undefined;
    for (const key of ['ignore_drafts', 'required_statuses'])
      if (update[key] !== undefined)
        this.#option(
          ['update', key],
          `update ${key}: ${String(update[key])}`,
          hasTrigger ? 'without-meaning' : 'exact',
          hasTrigger ? 'Bulldozer reads it only without a trigger' : undefined,
        );
    this.#notes.note(
      'update of drafts',
      'a draft that is behind: Bulldozer updates its branch, Reeve when it is ready for review, because forges check no drafts for conflicts',
    );
    this.#rules.push({
      name: 'bulldozer-update',
      description: 'Merges the base into the branches of pull requests, as Bulldozer did.',
      on: 'auto',
      each: 'pull_request',
      steps: [
        {
          uses: 'update-branch',
          with: {
            when: and(...(ignored ? [not(ignored)] : []), hasTrigger ? triggered : others),
            how: 'merge',
          },
        },
      ],
    });
  }

  /**
   * Converts signals; undefined if none is given. `all`: each given signal has to match, otherwise one of them; the
   * number of commits counts for `all` only.
   */
  #signals(
    signals: Config | undefined,
    path: readonly (string | number)[],
    use: 'trigger' | 'ignore' | 'all',
  ): Condition | undefined {
    if (signals === undefined) return undefined;
    const found: Condition[] = [];
    let isEnabled = false;
    for (const [key, written] of Object.entries(signals)) {
      const list = texts(written ?? []) ?? [];
      const part = `${path.join('.')}.${key}`;
      if (key === 'max_commits') {
        if (typeof written !== 'number' || written <= 0) continue;
        isEnabled = true;
        if (use === 'all') found.push(new Condition(`commits.size() <= ${written}`, 'relation'));
        this.#option(
          [...path, key],
          `${part}: ${written}`,
          use === 'all' ? 'exact' : 'without-meaning',
          use === 'all' ? undefined : 'Bulldozer counts commits only to choose a method',
        );
        continue;
      }
      if (key === 'auto_merge') {
        if (written !== true) continue;
        isEnabled = true;
        found.push(new Condition('scheduled_merge != null', 'relation', { no: { scheduled_merge: null } }));
        this.#option(
          [...path, key],
          part,
          'differs',
          'a merge is scheduled on the forge: no event says so, and Reeve notices it at the next event of the pull request; the forge makes that merge itself',
        );
        continue;
      }
      if (list.length === 0) continue;
      isEnabled = true;
      const converted = this.#signal(key, list);
      if ('why' in converted) {
        this.#option([...path, key], part, 'left-out', converted.why);
        // What is ignored must not be merged: without the signal, everything would be ignored or nothing triggered.
        found.push(use === 'ignore' ? always : never);
        continue;
      }
      found.push(converted.condition);
      this.#option(
        [...path, key],
        `${part}: ${list.join(', ')}`,
        converted.note === undefined ? 'exact' : 'differs',
        converted.note,
      );
    }
    if (!isEnabled) return undefined;
    return use === 'all' ? and(...found) : or(...found);
  }

  #signal(
    key: string,
    list: readonly string[],
  ): { readonly condition: Condition; readonly note?: string } | { readonly why: string } {
    const inComments = (test: (text: string, path: string) => string): Condition => {
      const some = (path: string): string => list.map((text) => test(text, path)).join(' || ');
      return new Condition(
        `${list.length > 1 ? `(${some('pull_request.body')})` : some('pull_request.body')} || comments.exists(c, ${some('c.body')})`,
        'or',
        { yes: { comments: [], pull_request: { body: list[0] ?? '' } }, no: { comments: [] } },
      );
    };
    const note =
      'a comment on a line of the changes: Bulldozer reads it, `comments` of Reeve does not contain it; and a comment of Reeve itself counts';
    switch (key) {
      case 'labels': {
        const names = [...new Set(list.map((label) => label.toLowerCase()))];
        const test = names.length === 1 ? `== ${literal(names[0] ?? '')}` : `in ${listLiteral(names)}`;
        return {
          condition: new Condition(`labels.exists(l, l.name.lower() ${test})`, 'unary', {
            yes: { labels: [list[0] ?? ''] },
            no: { labels: [] },
          }),
        };
      }
      case 'comment_substrings':
        return { condition: inComments((text, path) => `${path}.contains(${literal(text)})`), note };
      case 'comments':
        return { condition: inComments((text, path) => `${path} == ${literal(text)}`), note };
      case 'pr_body_substrings':
        return {
          condition: or(
            ...list.map(
              (text) =>
                new Condition(`pull_request.body.contains(${literal(text)})`, 'unary', {
                  yes: { pull_request: { body: text } },
                }),
            ),
          ),
        };
      case 'branches':
        return { condition: isOneOf('pull_request.base.ref', list) };
      case 'branch_patterns': {
        const conditions: Condition[] = [];
        for (const pattern of list) {
          const test = regularExpression(`^${pattern}$`, { dialect: 'go' });
          // Bulldozer takes no notice of a pattern that Go cannot read.
          if ('problem' in test && test.isInvalid) continue;
          if ('problem' in test) return { why: test.problem };
          conditions.push(test.on('pull_request.base.ref'));
        }
        return { condition: or(...conditions) };
      }
      default:
        return { why: `the signal \`${key}\` is not known` };
    }
  }

  #option(path: readonly (string | number)[], part: string, outcome: Entry['outcome'], note?: string): void {
    if (this.#file.mode !== undefined) return;
    this.#note(path, part, outcome, note);
  }

  #note(
    path: readonly (string | number)[],
    part: string,
    outcome: Entry['outcome'],
    note?: string,
    isApart = false,
  ): void {
    this.#entries.push({
      line: this.#source.lineOf(path),
      part,
      outcome,
      ...(note === undefined ? {} : { note }),
      ...(isApart ? { apart: true as const } : {}),
      ...(outcome === 'without-meaning' || this.#file.mode !== undefined
        ? {}
        : { rules: [`bulldozer-${path[0]}`] }),
      ...(this.#file.mode === undefined ? {} : { rules: ['bulldozer-merge', 'bulldozer-update'] }),
    });
  }
}

const signalKeys = [
  'labels',
  'comment_substrings',
  'comments',
  'pr_body_substrings',
  'branches',
  'branch_patterns',
  'max_commits',
  'auto_merge',
] as const;
/** The keys that Bulldozer knows: a list of keys, or the keys of the maps below them. `[]`: a list of such maps. */
type Keys = { readonly [key: string]: Keys | null | readonly [Keys] };
const leaves = (...keys: readonly string[]): Keys => Object.fromEntries(keys.map((key) => [key, null]));
const signals = leaves(...signalKeys);
const signalSections = { trigger: signals, ignore: signals, whitelist: signals, blacklist: signals };
const knownKeys: Keys = {
  version: null,
  merge: {
    ...signalSections,
    ...leaves(
      'delete_after_merge',
      'allow_merge_with_no_checks',
      'method',
      'branch_method',
      'required_statuses',
    ),
    merge_method: [{ method: null, trigger: signals }],
    options: { squash: leaves('title', 'body', 'message_delimiter') },
  },
  update: { ...signalSections, ...leaves('ignore_drafts', 'required_statuses') },
};
const firstKeys = leaves('mode', 'strategy', 'deleteAfterMerge', 'ignoreSquashedMessages');

/** Returns the paths of the keys that Bulldozer does not know: it reads strictly. */
function unknownKeys(
  value: unknown,
  keys: Keys | null | readonly [Keys] = isRecord(value) && value.mode !== undefined ? firstKeys : knownKeys,
  path: readonly (string | number)[] = [],
): readonly (readonly (string | number)[])[] {
  if (keys === null) return [];
  if (isList(keys))
    return Array.isArray(value)
      ? value.flatMap((one, place) => unknownKeys(one, keys[0], [...path, place]))
      : [];
  if (!isRecord(value)) return [];
  return Object.entries(value).flatMap(([key, inner]) => {
    const known = Object.hasOwn(keys, key) ? keys[key] : undefined;
    return known === undefined ? [[...path, key]] : unknownKeys(inner, known, [...path, key]);
  });
}

function isList(keys: Keys | readonly [Keys]): keys is readonly [Keys] {
  return Array.isArray(keys);
}

/** Returns the section of the new name if it has signals, otherwise that of the old name; with its name. */
function pick(config: Config, name: string, old: string): readonly [Config | undefined, string] {
  const section = config[name];
  const hasSignals =
    isRecord(section) && Object.values(section).some((one) => (Array.isArray(one) ? one.length > 0 : one));
  if (hasSignals) return [section as Config, name];
  return isRecord(config[old]) ? [config[old] as Config, old] : [undefined, name];
}

function methodOf(method: unknown): string {
  if (method === 'ff-only') return 'fast-forward-only';
  return method === 'squash' || method === 'rebase' ? method : 'merge';
}
