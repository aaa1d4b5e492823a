/**
 * GitHub's CODEOWNERS. GitHub's own code is closed; the semantics are those of its documentation ("About code owners")
 * and of github.com/hmarr/codeowners 11d3ff2659b769bcb43ddef81a6ab19d1205d9c2, which GitHub's documentation and the CLI
 * world use: `ParseFile`, `parseRule` (parse.go), `buildPatternRegex` (match.go), `Ruleset.Match` (codeowners.go).
 *
 * The last matching line wins; a line without owners makes its files nobody's. An invalid line is skipped on GitHub,
 * while the library refuses the file. A pattern matches like one of .gitignore, without `!` and `[ ]`; `docs/*` does not
 * match below `docs/x/`.
 *
 * The result on a forge is judged by the forge's own parser, not by this file: Gitea's `TokenizeCodeOwnersLine` and
 * `ParseCodeOwnersLine` (models/issues/pull.go) and the loop of `PullRequestCodeOwnersReview` (services/issue/pull.go).
 * There, a line is split at spaces outside of backslashes, which it removes; the first token without `!` and then `/` is
 * compiled as `^TOKEN$`; the owners of *all* lines that match a changed file add up, for a token with `!` of those that
 * do not match. `GetCodeOwnersFromContent` needs a database for the names, the first two functions none.
 */
import { type Decision, decision, nothing, type Subject } from './subject.ts';

export type OwnerLine = {
  readonly pattern: string;
  readonly owners: readonly string[];
  readonly regex: RegExp;
};

export const decide = (configuration: string, subject: Subject, _now = 0): Decision => {
  if (subject.kind === 'issue' || subject.state === 'closed') return nothing('not an open pull request');
  if (subject.draft) return nothing('draft');
  const lines = parseCodeowners(configuration);
  const because: string[] = [];
  const wanted = new Set<string>();
  for (const { path } of subject.files) {
    for (const owner of ownersOf(lines, path)) {
      if (!owner.startsWith('@')) because.push(`the address ${owner} has no account here`);
      else if (!owner.includes('/')) wanted.add(owner.slice(1));
      else if (owner.startsWith(`@${subject.owner}/`)) wanted.add(`@${owner.split('/')[1]}`);
      else because.push(`the team ${owner} is of another organization`);
    }
  }
  wanted.delete(subject.author);
  const reviewed = new Set(subject.reviews.map(({ author }) => author));
  const asked = new Set([
    ...subject.requestedUsers,
    ...subject.requestedTeams.map((team) => `@${team}`),
    ...reviewed,
  ]);
  const effects = [...wanted]
    .filter((name) => !asked.has(name))
    .map((name) => `request-review ${name}` as const);
  return decision(effects, ...because);
};

/** Returns the owners of a path: those of the last line that matches. */
export function ownersOf(lines: readonly OwnerLine[], path: string): readonly string[] {
  return lines.findLast(({ regex }) => regex.test(path))?.owners ?? [];
}

/** Reads the valid lines of a file, in order. */
export function parseCodeowners(text: string): OwnerLine[] {
  return text.split(/\r?\n/).flatMap((raw): OwnerLine[] => {
    const line = raw.trim();
    if (line === '' || line.startsWith('#')) return [];
    // The pattern ends at the first white space that has no backslash before it; `#` starts a comment anywhere.
    const [, pattern = '', rest = ''] = /^((?:\\[^#]|[^\s\\#])+)(.*)$/.exec(line) ?? [];
    const owners = (rest.split('#', 1)[0] ?? '').split(/\s+/).filter((owner) => owner !== '');
    const valid = owners.every(
      (owner) =>
        /^@[\w-]+(?:\/[\w-]+)?$/.test(owner) || /^[\w.%+-]+@[A-Za-z\d.-]+\.[A-Za-z]{2,6}$/.test(owner),
    );
    const regex = valid && (rest === '' || /^[\s#]/.test(rest)) ? patternToRegex(pattern) : undefined;
    return regex === undefined ? [] : [{ pattern, owners, regex }];
  });
}

/** Returns the expression of whole paths that a pattern matches, or undefined if it is invalid. */
export function patternToRegex(pattern: string): RegExp | undefined {
  if (
    pattern === '' ||
    pattern.includes('***') ||
    !/^[\w*?\\/.~@!%+&,:;=$^(){}'"<>|`[\] -]+$/.test(pattern.replaceAll(/[^\x00-\x7f]/g, 'x'))
  )
    return undefined;
  if (pattern === '/') return /^$/;
  const anchored = pattern.startsWith('/') || pattern.slice(0, -1).includes('/');
  const folder = pattern.endsWith('/');
  const parts = pattern.replace(/^\//, '').replace(/\/$/, '').split('/');
  if (!anchored && parts[0] !== '**') parts.unshift('**');
  if (folder) parts.push('**');
  let source = '';
  let slash = false;
  for (const [index, part] of parts.entries()) {
    const last = index === parts.length - 1;
    if (part === '**') {
      if (index === 0) source += last ? '.+' : '(?:.+/)?';
      else source += last ? '/.*' : '(?:/.+)?';
      slash = index > 0;
      continue;
    }
    if (slash) source += '/';
    slash = true;
    if (part === '*') {
      source += '[^/]+';
      continue;
    }
    for (const [, escaped, wildcard, plain] of part.matchAll(/\\(.)|([*?])|([^\\])/gsu)) {
      const literal = escaped ?? plain;
      if (literal !== undefined) source += literal.replace(/[\\^$.*+?()[\]{}|/-]/u, '\\$&');
      else source += wildcard === '*' ? '[^/]*' : '[^/]';
    }
    // Without a slash at the end it may be a folder.
    if (last) source += '(?:/.*)?';
  }
  return new RegExp(`^${source}$`, 's');
}
