import { ConversionBuilder } from '../builder.ts';
import {
  and,
  Condition,
  listLiteral,
  literal,
  not,
  or,
  samplePath,
  situationOf,
  someFile,
} from '../condition.ts';
import { type Format, SourceError } from '../conversion.ts';
import { convertMinimatch } from '../minimatch-glob.ts';
import { isRecord, readYamlSource, texts } from '../source.ts';
import { mapPeople } from './reviewer-lists.ts';

// Source: necojackarc/auto-request-review, src/index.js, src/reviewer.js and src/github.js of commit 5d3060495e58, with
// minimatch 3 without options.

type Candidate = {
  readonly path: readonly string[];
  readonly condition: Condition;
  readonly people: readonly string[];
};

/** The configuration of the action auto-request-review. */
export const autoRequestReview: Format = {
  name: 'auto-request-review',
  title: 'necojackarc/auto-request-review',
  counts: 'options',
  places: ['.github/auto_request_review.{yml,yaml}'],
  convert(file, context) {
    const source = readYamlSource(file);
    if (!isRecord(source.value)) throw new SourceError('a map was expected');
    const { value } = source;
    const reviewers = isRecord(value.reviewers) ? value.reviewers : {};
    const options = isRecord(value.options) ? value.options : {};
    const groups = isRecord(reviewers.groups) ? reviewers.groups : {};
    const built = new ConversionBuilder();
    const membersOf = (list: readonly string[]): readonly string[] =>
      list.flatMap((one) => {
        const group = Object.hasOwn(groups, one) ? groups[one] : undefined;
        return Array.isArray(group) ? (texts(group) ?? []) : [one];
      });
    const guards: Condition[] = [];
    if (options.ignore_draft !== false)
      guards.push(
        new Condition('!pull_request.draft', 'unary', {
          yes: situationOf('pull_request.draft', false),
          no: situationOf('pull_request.draft', true),
        }),
      );
    const ignored =
      options.ignored_keywords === undefined ? ['DO NOT REVIEW'] : (texts(options.ignored_keywords) ?? []);
    for (const keyword of ignored)
      guards.push(new Condition(`!pull_request.title.contains(${literal(keyword)})`, 'unary'));
    const count = options.number_of_reviewers;
    const problems = new Map<string, string>();
    const candidates: Candidate[] = [];
    const author = (logins: readonly string[]): Condition =>
      new Condition(`pull_request.user.login in ${listLiteral(logins)}`, 'relation', {
        yes: situationOf('pull_request.user.login', logins[0]),
        no: situationOf('pull_request.user.login', 'zz'),
      });
    // The author is never asked: an entry with the author alone matches no one, and the defaults apply.
    const findsSomeone = ({ condition, people }: Candidate): Condition => {
      const [only = '', ...others] = [...new Set(people)];
      if (others.length > 0 || only.startsWith('team:')) return condition;
      const login = literal(context.names.user(only).name);
      return and(condition, new Condition(`pull_request.user.login != ${login}`, 'relation'));
    };
    // 1. By changed files.
    for (const [glob, people] of Object.entries(isRecord(value.files) ? value.files : {})) {
      const list = texts(people);
      const found = convertMinimatch(glob, { dot: false });
      if (list === undefined || 'problem' in found) {
        problems.set(
          `files.${glob}`,
          list === undefined ? 'it has no list of reviewers' : 'problem' in found ? found.problem : '',
        );
        continue;
      }
      const tests = found.lists.map(
        (globs) => `f.filename.glob(${globs.length === 1 ? literal(globs[0] ?? '') : listLiteral(globs)})`,
      );
      const joined = tests.join(' || ');
      const test = found.isNegated ? (tests.length === 0 ? 'true' : `!(${joined})`) : joined;
      if (test === '') {
        built.withoutMeaning(
          source.lineOf(['files', glob]),
          `files.${glob}`,
          found.never ?? 'no path matches it',
        );
        continue;
      }
      const sample = found.lists
        .flat()
        .map(samplePath)
        .find((path) => path !== undefined);
      candidates.push({ path: ['files', glob], condition: someFile(test, sample), people: membersOf(list) });
    }
    if (options.last_files_match_only === true && candidates.length > 1)
      problems.set(
        'options.last_files_match_only',
        'the last pattern of each file decides, which a condition per pattern cannot tell',
      );
    // 2. By the author.
    for (const [name, people] of Object.entries(isRecord(reviewers.per_author) ? reviewers.per_author : {})) {
      const list = texts(people);
      if (list === undefined) problems.set(`reviewers.per_author.${name}`, 'it has no list of reviewers');
      else
        candidates.push({
          path: ['reviewers', 'per_author', name],
          condition: author([...new Set([name, ...membersOf([name])])]),
          people: membersOf(list),
        });
    }
    // 3. By the groups of the author.
    if (options.enable_group_assignment === true)
      for (const [name, members] of Object.entries(groups)) {
        const list = texts(members) ?? [];
        if (list.length > 0)
          candidates.push({ path: ['reviewers', 'groups', name], condition: author(list), people: list });
      }
    const isPooled = typeof count === 'number';
    if (isPooled && candidates.length > 1)
      problems.set(
        'options.number_of_reviewers',
        'it counts the reviewers of all matching entries together, and each step of a rule chooses by itself',
      );
    const [firstProblem] = problems.values();
    const isWhole =
      problems.has('options.last_files_match_only') || problems.has('options.number_of_reviewers');
    const names = new Map<string, string>();
    const notes = new Map<string, readonly string[]>();
    const add = (path: readonly string[], condition: Condition, people: readonly string[]): void => {
      const key = path.join('.');
      const mapped = mapPeople(people, context.names, (one) =>
        one.startsWith('team:') ? one.slice('team:'.length) : undefined,
      );
      if (mapped.users.length + mapped.teams.length === 0) return;
      notes.set(key, mapped.notes);
      const pick = isPooled && count >= 1 ? { pick: Math.min(10, Math.floor(count)) } : {};
      const name = built.nameOf(`review ${path.at(-1) ?? ''}`);
      names.set(
        key,
        built.rule({
          name,
          comment: source.commentOf(path),
          on: { pull_request: ['opened', 'reopened', 'synchronized', 'edited'] },
          each: 'pull_request',
          if: and(...guards, condition),
          steps: [
            {
              uses: 'request-reviewers',
              with: {
                ...(mapped.users.length === 0 ? {} : { users: mapped.users }),
                ...(mapped.teams.length === 0 ? {} : { teams: mapped.teams }),
                ...pick,
              },
            },
          ],
        }),
      );
    };
    if (!isWhole) {
      for (const { path, condition, people } of candidates) add(path, condition, people);
      const defaults = texts(reviewers.defaults ?? []);
      // The defaults count if nothing else matches: an entry without a condition that is understood may match.
      if (defaults === undefined)
        problems.set('reviewers.defaults', 'it is no list of reviewers: teams are written `team:NAME`');
      else if (firstProblem !== undefined && defaults.length > 0)
        problems.set('reviewers.defaults', 'it counts if no other entry matches, and one is not understood');
      else if (defaults.length > 0)
        add(['reviewers', 'defaults'], not(or(...candidates.map(findsSomeone))), membersOf(defaults));
    }
    const all = [...names.values()];
    const entry = (path: readonly string[], shown: string): void => {
      const key = path.join('.');
      const line = source.lineOf(path);
      const problem = problems.get(key) ?? (isWhole ? firstProblem : undefined);
      const name = names.get(key);
      if (problem !== undefined) built.leftOut(line, shown, problem);
      else if (name !== undefined) built.carried(line, shown, [name], ...(notes.get(key) ?? []));
    };
    for (const glob of Object.keys(isRecord(value.files) ? value.files : {}))
      entry(['files', glob], `files.${glob}`);
    for (const name of Object.keys(isRecord(reviewers.per_author) ? reviewers.per_author : {}))
      entry(['reviewers', 'per_author', name], `reviewers.per_author.${name}`);
    if (reviewers.defaults !== undefined) entry(['reviewers', 'defaults'], 'reviewers.defaults');
    for (const name of Object.keys(groups)) {
      const path = ['reviewers', 'groups', name];
      if (names.has(path.join('.'))) entry(path, path.join('.'));
      else if (isWhole) built.leftOut(source.lineOf(path), path.join('.'), firstProblem ?? '');
      else built.carried(source.lineOf(path), path.join('.'), all);
    }
    for (const [key, given] of Object.entries(options)) {
      const path = ['options', key];
      const shown = `options.${key}: ${Array.isArray(given) ? given.join(', ') : String(given)}`;
      const problem = problems.get(path.join('.')) ?? (isWhole ? firstProblem : undefined);
      if (!knownOptions.has(key))
        built.withoutMeaning(source.lineOf(path), shown, 'the action has no such option');
      else if (problem !== undefined) built.leftOut(source.lineOf(path), shown, problem);
      else
        built.carried(
          source.lineOf(path),
          shown,
          all,
          key === 'number_of_reviewers' && isPooled
            ? 'a second push to a pull request: the action draws at random again and adds reviewers, the rule keeps those whom it asked'
            : undefined,
        );
    }
    if (all.length > 0) {
      built.todo(
        'The rules listen to opened, reopened, synchronize and edited. Change `on` if your workflow listens to other events.',
      );
      built.carried(
        1,
        'the file',
        all,
        'a push after a review: the action requests the review of the same person again, the rule does not',
      );
    }
    return built.done();
  },
};

const knownOptions = new Set([
  'ignore_draft',
  'ignored_keywords',
  'enable_group_assignment',
  'number_of_reviewers',
  'last_files_match_only',
]);
