import { maxPatternLength } from '../../patterns/codeowners-file.ts';
import type { Conversion, ConversionContext, Entry, Format, SourceFile } from '../conversion.ts';
import {
  isInPattern,
  lastMatchLines,
  ownersWord,
  type PathPattern,
  type PatternPart,
  pathPattern,
} from '../owned-paths.ts';

/**
 * CODEOWNERS of GitHub: the last line that matches a file names its owners. GitHub documents the syntax in "About code
 * owners"; its reading of patterns is that of hmarr/codeowners at 11d3ff2 (`match.go`, `parse.go`), whose patterns were
 * compared with GitHub. With sections, or in `.gitlab`, it is the file of GitLab, documented in "Code Owners syntax and
 * error handling": each section names owners by itself, and their owners add up.
 *
 * The forge reads patterns as regular expressions of the whole path, and adds up the owners of all lines that match
 * (`GetCodeOwnersFromContent` in models/issues/pull.go; Gitea with regexp2, Forgejo with the engine of Go).
 */
export const codeowners: Format = {
  name: 'codeowners',
  title: 'CODEOWNERS',
  counts: 'lines',
  places: ['CODEOWNERS', '.github/CODEOWNERS', 'docs/CODEOWNERS', '.gitlab/CODEOWNERS'],
  convert,
};

/** One line of the source that has a pattern. */
type Line = {
  readonly line: number;
  readonly written: string;
  readonly pattern: PathPattern;
  readonly except: readonly PathPattern[];
  /** Names on the forge, as the line of the result has them. */
  readonly owners: readonly string[];
  /** What differs, or is left out, because of the owners. */
  readonly notes: readonly string[];
  readonly hasOwners: boolean;
};

function convert(file: SourceFile, context: ConversionContext): Conversion {
  const isGitlab = /(^|\/)\.gitlab\//.test(file.path) || /^\^?\[[^\]]+\](\[\d+\])?(\s|$)/m.test(file.text);
  const { sections, entries } = isGitlab ? readGitlab(file, context) : readGithub(file, context);
  const { hasOwnerLookahead } = context.names.forge;
  const hasLookahead = hasOwnerLookahead ?? true;
  const isUnknown = hasOwnerLookahead === undefined;
  const written: string[] = [];
  for (const lines of sections) {
    const made = lastMatchLines(lines, { hasLookahead, maxLength: maxPatternLength });
    for (const [place, source] of lines.entries()) {
      const result = made[place];
      const part = source.written;
      const { line } = source;
      if (result?.text === undefined) {
        entries.push({ line, part, outcome: 'without-meaning', note: 'later lines own all of its files' });
        continue;
      }
      const path = result.sample ?? 'such a file';
      if (source.owners.length > 0) {
        written.push(`${ownersWord(result.text)} ${source.owners.map((owner) => `@${owner}`).join(' ')}`);
      }
      const notes = source.notes.map((note) => `\`${path}\`: ${note}`);
      if (result.hasLookahead && source.owners.length > 0 && isUnknown)
        notes.push(
          `\`${path}\`: exact on Gitea 1.26 or later; Forgejo and earlier releases skip this line because of its \`(?!\`, and then these owners do not own it (--repository asks the forge which it is)`,
        );
      if (result.beyond && source.owners.length > 0) {
        const later = lines[result.beyond.index];
        const why = hasLookahead
          ? 'a pattern that excludes the later lines would be too long'
          : 'the forge has no look-ahead in patterns';
        notes.push(
          `\`${result.beyond.path ?? path}\` belongs to line ${later?.line} alone here (\`${later?.written}\`), and to the owners of this line as well on the forge: ${why}`,
        );
      }
      const isMatched = context.names.forge.files?.some((one) => isInPattern(source.pattern, one)) ?? true;
      const unmatched = isMatched ? [] : ['no file of the default branch matches'];
      if (notes.length > 0)
        entries.push({ line, part, outcome: 'differs', note: [...notes, ...unmatched].join('; ') });
      else {
        const exempt = source.hasOwners ? [] : ['these files have no owner, here and on the forge'];
        const note = [...exempt, ...unmatched].join('; ');
        entries.push({ line, part, outcome: 'exact', ...(note === '' ? {} : { note }) });
      }
    }
  }
  if (written.length > 0)
    entries.push({
      line: 1,
      part: 'branch of the file',
      outcome: 'differs',
      apart: true,
      note: 'the forge reads the file on the default branch: a pull request into `release` has the owners of `main`, not those of the file on `release`',
    });
  const place = resultPlace(file);
  const text = [
    '# Imported from CODEOWNERS: each pattern is a regular expression of the whole path, and the owners of all',
    '# lines that match a file add up.',
    ...written,
    '',
  ].join('\n');
  const others = ['CODEOWNERS', 'docs/CODEOWNERS', '.gitea/CODEOWNERS'];
  const before = others.slice(0, others.indexOf(place));
  const regular = sections
    .flat()
    .find(({ written }) =>
      /\.[*+](?=[$(/\s]|$)|\\\\?\.|\(\?|^!|\$(?=\s)/.test(written.split(/\s@/)[0] ?? ''),
    );
  const todo = [
    ...(regular
      ? [
          `Do not take the result if this file was written for Gitea or Forgejo: line ${regular.line} (\`${regular.written}\`) looks like one of their regular expressions, and is read here as GitHub reads it.`,
        ]
      : []),
    ...(before.length > 0
      ? [
          `Delete ${before.map((one) => `\`${one}\``).join(' and ')} if it exists: the forge reads the first of its files only.`,
        ]
      : []),
    'The forge asks the owners for a review. To require an approval of an owner of each file, copy the rule `owners` of rules/codeowners.yml, and make the status `reeve/owners` a required check of the branch; files without an owner pass if the first line of its condition is removed.',
  ];
  return {
    rules: [],
    entries: entries.toSorted((a, b) => a.line - b.line),
    files: written.length > 0 ? [{ path: place, text }] : [],
    todo: written.length > 0 ? todo : [],
  };
}

/** The forge reads the first of three places. The one of the source has to be replaced, because it would count. */
function resultPlace({ path, place = path }: SourceFile): string {
  if (/(^|\/)\.(github|gitlab)\/[^/]*$/.test(place)) return '.gitea/CODEOWNERS';
  return /(^|\/)docs\/[^/]*$/.test(place) ? 'docs/CODEOWNERS' : 'CODEOWNERS';
}

type Read = { readonly sections: readonly (readonly Line[])[]; readonly entries: Entry[] };

function readGithub(file: SourceFile, context: ConversionContext): Read {
  const lines: Line[] = [];
  const entries: Entry[] = [];
  for (const [place, text] of file.text.split(/\r\n|\n/).entries()) {
    const line = place + 1;
    const [word, ...owners] = words(text);
    if (word === undefined) continue;
    const written = text.trim();
    const skipped = (why: string): unknown =>
      entries.push({
        line,
        part: written,
        outcome: 'without-meaning',
        note: `GitHub skips this line: ${why}`,
      });
    if (word.startsWith('!')) skipped('`!` does not negate');
    else if (word.includes('***')) skipped('three asterisks in a row are no pattern');
    else {
      const invalid = owners.find(
        (owner) => !/^@[\w-]+(\/[\w-]+)?$|^[\w.%+-]+@[\w.-]+\.[A-Za-z]{2,}$/.test(owner),
      );
      if (invalid !== undefined)
        skipped(`\`${invalid}\` is neither \`@user\`, \`@organization/team\` nor an address`);
      else if (/^\.?\/$|^\.{1,2}\//.test(word))
        entries.push({ line, part: written, outcome: 'without-meaning', note: 'no file has such a path' });
      else lines.push(lineOf({ line, written, pattern: githubPattern(word), except: [], owners }, context));
    }
  }
  return { sections: [lines], entries };
}

function lineOf(
  {
    owners,
    ...rest
  }: Pick<Line, 'line' | 'written' | 'pattern' | 'except'> & { readonly owners: readonly string[] },
  { names }: ConversionContext,
): Line {
  const found: string[] = [];
  const notes: string[] = [];
  for (const owner of owners) {
    if (!owner.startsWith('@')) {
      notes.push(
        `the owner \`${owner}\` is an address, and the forge knows owners by their names only: write \`@LOGIN\``,
      );
      continue;
    }
    const { name, note } = owner.includes('/') ? names.team(owner) : names.user(owner);
    if (note !== undefined) notes.push(note);
    if (/^[\w.-]+(\/[\w.-]+)?$/.test(name)) found.push(name);
    else if (note === undefined) notes.push(`the owner \`${name}\` has no name that a forge takes`);
  }
  return { ...rest, owners: [...new Set(found)], notes, hasOwners: owners.length > 0 };
}

/** Returns the words of a line before its comment. `\` keeps the next character in the word. */
function words(line: string): readonly string[] {
  const found: string[] = [];
  let word = '';
  for (const [sign] of line.matchAll(/\\.|[^\\]|\\/gsu)) {
    if (sign === '#') break;
    if (/^\s$/.test(sign)) {
      if (word !== '') found.push(word);
      word = '';
    } else word += sign;
  }
  return word === '' ? found : [...found, word];
}

const inAnyFolder: PatternPart = { optional: [{ all: true }, '/'] };
const andBelow: PatternPart = { optional: ['/', { all: true }] };

/** Pattern as in `.gitignore`, without `!` and classes; see `buildPatternRegex` of hmarr/codeowners. */
export function githubPattern(written: string): PathPattern {
  const segments = written.split('/');
  if (segments[0] === '') segments.shift();
  else if (segments.length === 1 || (segments.length === 2 && segments[1] === '')) {
    if (segments[0] !== '**') segments.unshift('**');
  }
  return segmentsPattern(segments, { isFolderToo: true });
}

/**
 * `isFolderToo`: a name at the end also stands for the files below a folder of this name. A `*` as the last segment
 * stands for files of this folder alone.
 */
function segmentsPattern(
  given: readonly string[],
  { isFolderToo }: { readonly isFolderToo: boolean },
): PathPattern {
  const segments = given.length > 1 && given.at(-1) === '' ? [...given.slice(0, -1), '**'] : given;
  if (/^\*\*(\/\*)?$/.test(segments.join('/'))) return pathPattern([{ all: true }]);
  const parts: PatternPart[] = [];
  const last = segments.length - 1;
  let needsSlash = false;
  for (const [place, segment] of segments.entries()) {
    if (segment === '**') {
      if (place === last) parts.push('/', { all: true });
      else if (place === 0) parts.push(inAnyFolder);
      else parts.push({ optional: ['/', { all: true, least: 1 }] });
      needsSlash = place > 0;
      continue;
    }
    if (needsSlash) parts.push('/');
    needsSlash = true;
    if (segment === '*') {
      parts.push({ within: true, least: 1 });
      continue;
    }
    for (const [sign] of segment.matchAll(/\\.|./gsu)) {
      if (sign === '*') parts.push({ within: true });
      else if (sign === '?') parts.push({ one: true });
      else parts.push(sign.length > 1 && sign.startsWith('\\') ? sign.slice(1) : sign);
    }
    if (place === last && isFolderToo) parts.push(andBelow);
  }
  return pathPattern(parts);
}

/** GitLab: a pattern without a leading slash matches at any depth, and a name without a slash at its end is a file. */
function gitlabPattern(written: string): PathPattern {
  const segments = written.split('/');
  if (segments[0] === '') segments.shift();
  else if (segments[0] !== '**') segments.unshift('**');
  return segmentsPattern(segments, { isFolderToo: false });
}

const sectionHeader = /^(\^?)\[([^\]]+)\](?:\[(\d+)\])?(?:\s+(.*))?$/;

/** Sections are matched by themselves; sections of one name, in any case, are one. */
function readGitlab(file: SourceFile, context: ConversionContext): Read {
  const sections = new Map<string, Line[]>();
  const exclusions = new Map<string, PathPattern[]>();
  const entries: Entry[] = [];
  let name = '';
  let defaults: readonly string[] = [];
  for (const [place, text] of file.text.split(/\r\n|\n/).entries()) {
    const line = place + 1;
    const written = text.trim();
    const [, optional = '', title, approvals, rest = ''] = sectionHeader.exec(written) ?? [];
    if (title !== undefined) {
      name = title.toLowerCase();
      defaults = words(rest);
      const differs = [
        ...(optional === '' ? [] : ['its approvals are optional']),
        ...(approvals === undefined ? [] : [`it asks for ${approvals} approvals`]),
      ];
      entries.push(
        differs.length === 0
          ? { line, part: written, outcome: 'exact' }
          : {
              line,
              part: written,
              outcome: 'differs',
              note: `${differs.join(' and ')} in GitLab; the forge asks all owners of a file and knows no number, so that one approval of an owner satisfies a status as in rules/codeowners.yml`,
            },
      );
      continue;
    }
    const [word, ...given] = words(text);
    if (word === undefined) continue;
    if (word.startsWith('!')) {
      exclusions.set(name, [...(exclusions.get(name) ?? []), gitlabPattern(word.slice(1))]);
      entries.push({ line, part: written, outcome: 'exact', note: 'excluded from all lines of its section' });
      continue;
    }
    const owners = given.length > 0 ? given : defaults;
    const unknown = owners.filter(
      (owner) => owner.startsWith('@@') || owner.split('/').length > 2 || !owner.includes('@'),
    );
    const known = owners.filter((owner) => !unknown.includes(owner));
    const read = lineOf({ line, written, pattern: gitlabPattern(word), except: [], owners: known }, context);
    const notes = unknown.map(
      (owner) => `the owner \`${owner}\` is a role or a nested group, which the forge does not have`,
    );
    sections.set(name, [
      ...(sections.get(name) ?? []),
      { ...read, notes: [...read.notes, ...notes], hasOwners: owners.length > 0 },
    ]);
  }
  const all = [...sections].map(([section, lines]) => {
    const except = exclusions.get(section) ?? [];
    return lines.map((one) => ({ ...one, except }));
  });
  return { sections: all, entries };
}
