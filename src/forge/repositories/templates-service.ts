import { ForgeProblem } from '../platform/errors.ts';

/** The licences available for a new repository, as SPDX ids. */
export const licenseNames: readonly string[] = [
  '0BSD',
  'AGPL-3.0',
  'Apache-2.0',
  'BSD-2-Clause',
  'BSD-3-Clause',
  'BSD-3-Clause-Clear',
  'BSL-1.0',
  'CC-BY-4.0',
  'CC-BY-SA-4.0',
  'CC0-1.0',
  'EPL-1.0',
  'EPL-2.0',
  'EUPL-1.2',
  'GPL-2.0',
  'GPL-3.0',
  'ISC',
  'LGPL-2.1',
  'LGPL-3.0',
  'MIT',
  'MIT-0',
  'MPL-2.0',
  'MulanPSL-2.0',
  'OFL-1.1',
  'OSL-3.0',
  'UPL-1.0',
  'Unlicense',
  'WTFPL',
  'Zlib',
];

/** Returns the text of a licence with its placeholders, or undefined for an unknown name. */
export async function loadLicense(name: string): Promise<string | undefined> {
  const { licenseText } = await import('./license-texts.ts');
  const text = licenseText(name);
  return text === undefined ? undefined : `${text.trimEnd()}\n`;
}

const year = /<year>|\[year\]|\[yyyy\]|\[xxxx\]-\[xxxx\]|\bYEAR\b/gi;
const owner =
  /<(copyright holders?|owner|name of author)>|\[(name of copyright (owner|holder)|copyright holders|owner organization)\]|\bAUTHOR EMAIL\b/gi;

/** Returns the text of a licence with year and owner filled into the copyright lines; other lines are unchanged. */
function fillLicense(text: string, values: { readonly year: number; readonly owner: string }): string {
  return text.replace(/^ *copyright .*$/gim, (line) =>
    line.replace(year, String(values.year)).replace(owner, () => values.owner),
  );
}

/** Additional templates that the library lacks: patterns separated by spaces. */
const ownPatterns: Readonly<Record<string, string>> = {
  Bazel: '/bazel-* /.ijwb/ /.clwb/',
  Nix: 'result result-* .direnv/',
  Zig: '.zig-cache/ zig-cache/ zig-out/ *.o',
};

/**
 * Template names that servers offer, with the library files that have the same text; github/gitignore has symbolic
 * links for most of them.
 */
const otherNames: Readonly<Record<string, string>> = {
  Clojure: 'Leiningen',
  Fortran: 'C++',
  JBoss: 'Jboss',
  Kotlin: 'Java',
  MATLAB: 'Matlab',
};

/** Returns the texts of all templates by name, in the order of their names. */
export async function loadGitignores(): Promise<ReadonlyMap<string, string>> {
  // Loaded on demand, because there are 180 texts.
  const { gitignoreTexts } = await import('./gitignore-texts.ts');
  const texts = new Map(gitignoreTexts);
  for (const [name, file] of Object.entries(otherNames)) texts.set(name, gitignoreTexts.get(file) ?? '');
  for (const renamed of ['Jboss', 'Matlab']) texts.delete(renamed);
  for (const [name, patterns] of Object.entries(ownPatterns))
    texts.set(name, `${patterns.replaceAll(' ', '\n')}\n`);
  return new Map([...texts].sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** Files to create with a repository; the names of several gitignore templates are separated by commas. */
export type WantedFiles = {
  readonly readme?: string | undefined;
  readonly gitignores?: string | undefined;
  readonly license?: string | undefined;
};

const separator = ',';
/** Maximum templates in one list; a longer list is assumed to contain duplicates. */
const maxGitignores = 100;

/** Ends the request with 400 if a requested file has no template. */
export async function assertFirstFiles({ readme, gitignores, license }: WantedFiles): Promise<void> {
  if (readme && readme !== 'Default')
    throw new ForgeProblem(400, 'readme template does not exist, available templates: [Default]');
  const names = namesOf(gitignores);
  const texts = await textsFor(names);
  const unknown = names.find((name) => !texts.has(name));
  // Gitea responds with 500 in both cases, and creates nothing.
  if (unknown !== undefined || names.length > maxGitignores)
    throw new ForgeProblem(400, `gitignore template does not exist: ${unknown ?? 'too many'}`);
  if (license && !licenseNames.includes(license))
    throw new ForgeProblem(400, `license template does not exist: ${license}`);
}

/** Returns the requested files of a first commit: README.md, .gitignore and LICENSE. */
export async function makeFirstFiles(
  wanted: WantedFiles,
  about: {
    readonly name: string;
    readonly description: string;
    readonly owner: string;
    readonly year: number;
  },
): Promise<readonly { readonly path: string; readonly content: Buffer }[]> {
  // No newline at the end, as in Gitea.
  const readme = `# ${about.name}\n\n${about.description.replace(/\r\n?/g, '\n')}`;
  const files = [{ path: 'README.md', content: Buffer.from(readme) }];
  const names = namesOf(wanted.gitignores);
  const texts = await textsFor(names);
  const parts = names.map((name) => `# ---> ${name}\n${texts.get(name) ?? ''}\n`);
  if (parts.length > 0) files.push({ path: '.gitignore', content: Buffer.from(parts.join('')) });
  const license = wanted.license ? await loadLicense(wanted.license) : undefined;
  if (license !== undefined)
    files.push({ path: 'LICENSE', content: Buffer.from(fillLicense(license, about)) });
  return files;
}

function namesOf(gitignores: string | undefined): readonly string[] {
  return gitignores ? gitignores.split(separator) : [];
}

async function textsFor(names: readonly string[]): Promise<ReadonlyMap<string, string>> {
  return names.length > 0 ? loadGitignores() : new Map();
}

/** A label of a label set; the color is six hex digits. */
type LabelTemplate = {
  readonly name: string;
  readonly exclusive: boolean;
  readonly color: string;
  readonly description: string;
};

const independent = (name: string, color: string, description: string): LabelTemplate => ({
  name,
  exclusive: false,
  color,
  description,
});

/** Returns an exclusive label: an issue has at most one label of each scope (the part before the last slash). */
const scoped = (name: string, color: string, description: string): LabelTemplate => ({
  ...independent(name, color, description),
  exclusive: true,
});

/** Initial labels of a new repository, by the value of `issue_labels`. */
const sets: Readonly<Record<string, readonly LabelTemplate[]>> = {
  Advanced: [
    scoped('kind/bug', 'd73a4a', 'Does not work as documented'),
    scoped('kind/documentation', '0e6ba8', 'Documentation only'),
    scoped('kind/feature', '1c7c3a', 'New functionality'),
    scoped('kind/question', '7057ff', 'Asks how something works'),
    scoped('kind/security', '8b1a8b', 'Vulnerability or hardening'),
    scoped('priority/urgent', 'b60205', 'Before everything else'),
    scoped('priority/high', 'd95f0e', 'Before the next release'),
    scoped('priority/normal', 'e0a800', 'Planned'),
    scoped('priority/low', '4c9a52', 'When there is time'),
    scoped('status/blocked', '9b2226', 'Waits for another issue or decision'),
    scoped('status/duplicate', '8a8f98', 'Duplicate of another issue'),
    scoped('status/needs information', '57606a', 'Waits for information from the author'),
    scoped('status/ready', '2f9e8f', 'Ready to be worked on'),
    scoped('status/rejected', '33383d', 'Will not be changed'),
    independent('breaking', 'c2185b', 'Requires changes by users'),
  ],
  Default: [
    independent('bug', 'ee0701', 'Something is not working'),
    independent('duplicate', 'cccccc', 'This issue or pull request already exists'),
    independent('enhancement', '84b6eb', 'New feature'),
    independent('help wanted', '128a0c', 'Need some help'),
    independent('invalid', 'e6e6e6', 'Something is wrong'),
    independent('question', 'cc317c', 'More information is needed'),
    independent('wontfix', 'ffffff', "This won't be fixed"),
  ],
};

export const labelSetNames: readonly string[] = Object.keys(sets);

/** Returns the labels of a set, or undefined for an unknown name. */
export function findLabelSet(name: string): readonly LabelTemplate[] | undefined {
  return Object.hasOwn(sets, name) ? sets[name] : undefined;
}

/** Returns the labels of a set. No name selects no labels; an unknown name ends the request with 422. */
export function labelSet(name: string | undefined): readonly LabelTemplate[] {
  if (name === undefined || name === '') return [];
  const labels = findLabelSet(name);
  if (!labels) throw new ForgeProblem(422, `template "${name}" is not a set of labels`);
  return labels;
}
