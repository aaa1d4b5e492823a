import { createForgeGlob } from '../protections/branch-rules.ts';

/** What names in the files of a template stand for. */
export type TemplateNames = {
  readonly repository: TemplateSide;
  readonly template: TemplateSide;
  readonly now: Date;
};

type TemplateSide = {
  readonly name: string;
  readonly owner: string;
  readonly description: string;
  /** Path below the root of the forge. */
  readonly link: string;
  readonly httpsUrl: string;
  readonly sshUrl: string;
};

const months = [
  ...['January', 'February', 'March', 'April', 'May', 'June', 'July', 'August', 'September', 'October'],
  ...['November', 'December'],
];

/** Splits a name at everything that is no letter or digit, and where small letters become large ones. */
function splitWords(name: string): string[] {
  return name
    .replace(/([a-z\d])([A-Z])/g, '$1 $2')
    .replace(/([A-Z]+)([A-Z][a-z])/g, '$1 $2')
    .split(/[^A-Za-z\d]+/)
    .filter((word) => word !== '');
}

const capitalize = (word: string) => word.slice(0, 1).toUpperCase() + word.slice(1);
const pascal = (name: string) =>
  splitWords(name)
    .map((word) => capitalize(word.toLowerCase()))
    .join('');

const transformers: Readonly<Record<string, (name: string) => string>> = {
  SNAKE: (name) => splitWords(name).join('_').toLowerCase(),
  KEBAB: (name) => splitWords(name).join('-').toLowerCase(),
  CAMEL: (name) => pascal(name).replace(/^[A-Z]/, (letter) => letter.toLowerCase()),
  PASCAL: pascal,
  LOWER: (name) => name.toLowerCase(),
  UPPER: (name) => name.toUpperCase(),
  TITLE: (name) => name.toLowerCase().replace(/(?<![a-z\d_])[a-z]/g, (letter) => letter.toUpperCase()),
};

function withTransformers(name: string, value: string): [string, string][] {
  const changed = Object.entries(transformers).map(([suffix, change]): [string, string] => [
    `${name}_${suffix}`,
    change(value),
  ]);
  return [[name, value], ...changed];
}

function valuesOf({ repository, template, now }: TemplateNames): ReadonlyMap<string, string> {
  const two = (value: number) => String(value).padStart(2, '0');
  const sides = [
    ['REPO', repository],
    ['TEMPLATE', template],
  ] as const;
  return new Map([
    ['YEAR', String(now.getUTCFullYear())],
    ['MONTH', two(now.getUTCMonth() + 1)],
    ['DAY', two(now.getUTCDate())],
    ...withTransformers('MONTH_ENGLISH', months[now.getUTCMonth()] ?? ''),
    ...sides.flatMap(([prefix, side]): [string, string][] => [
      ...withTransformers(`${prefix}_NAME`, side.name),
      ...withTransformers(`${prefix}_OWNER`, side.owner),
      [`${prefix}_DESCRIPTION`, side.description],
      [`${prefix}_LINK`, side.link],
      [`${prefix}_HTTPS_URL`, side.httpsUrl],
      [`${prefix}_SSH_URL`, side.sshUrl],
    ]),
  ]);
}

/**
 * Returns a function that replaces `$NAME` and `${NAME}` in bytes. A name that stands for nothing loses its dollar sign, as on the
 * baseline.
 */
export function createExpansion(names: TemplateNames): (content: Buffer) => Buffer {
  const values = valuesOf(names);
  return (content) => {
    // Latin-1 keeps every byte, whatever the encoding of the file is.
    const text = content
      .toString('latin1')
      .replace(/\$(?:\{([^}]*)\}|([*#$@!?\-0-9])|(\w+)|\{)/g, (_, braced, special, plain) => {
        const name: string = braced ?? special ?? plain ?? '';
        const value = values.get(name);
        return value === undefined ? name : Buffer.from(value).toString('latin1');
      });
    return Buffer.from(text, 'latin1');
  };
}

/** Returns whether a path is to be expanded, by the globs of `.gitea/template`, one in a line. */
export function createTemplateMatcher(rules: string): (path: string) => boolean {
  const globs = rules
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '' && !line.startsWith('#'))
    .flatMap((line) => createForgeGlob(line, '/') ?? []);
  return (path) => globs.some((matches) => matches(path));
}

/** Returns an expanded path without what no folder takes: reserved names, `..`, `.git`, control characters. */
export function cleanExpandedPath(path: string): string {
  const cleanField = (field: string): string => {
    const safe = [...field]
      .map((character) => (character < ' ' || '<>:"\\|?*'.includes(character) ? '_' : character))
      .join('')
      .replace(/^(con|prn|aux|nul|com\d|lpt\d)$/i, '_')
      .trim();
    const inside = safe.startsWith('..') ? `__${safe.slice(2)}` : safe;
    return inside.toLowerCase() === '.git' ? `_${inside.slice(1)}` : inside;
  };
  return path
    .split('/')
    .map(cleanField)
    .filter((field) => field !== '' && field !== '.')
    .join('/');
}
