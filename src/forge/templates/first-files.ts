import { ForgeProblem } from '../core/errors.ts';
import { loadGitignores } from './gitignores.ts';
import { fillLicense, licenseNames, loadLicense } from './licenses.ts';

/** What the creation of a repository may ask for; names of several gitignore templates are separated by commas. */
export type WantedFiles = {
  readonly readme?: string | undefined;
  readonly gitignores?: string | undefined;
  readonly license?: string | undefined;
};

const separator = ',';
/** A longer list names templates more than once. */
const maxGitignores = 100;

/** Ends the request with 400 where a file is wanted that there is no template for. */
export async function assertFirstFiles({ readme, gitignores, license }: WantedFiles): Promise<void> {
  if (readme && readme !== 'Default')
    throw new ForgeProblem(400, 'readme template does not exist, available templates: [Default]');
  const names = namesOf(gitignores);
  const texts = await textsFor(names);
  const unknown = names.find((name) => !texts.has(name));
  // Gitea answers 500 to both, and leaves nothing behind.
  if (unknown !== undefined || names.length > maxGitignores)
    throw new ForgeProblem(400, `gitignore template does not exist: ${unknown ?? 'too many'}`);
  if (license && !licenseNames.includes(license))
    throw new ForgeProblem(400, `license template does not exist: ${license}`);
}

/** Returns the files of a first commit, README.md, .gitignore and LICENSE, as far as they are wanted. */
export async function makeFirstFiles(
  wanted: WantedFiles,
  about: {
    readonly name: string;
    readonly description: string;
    readonly owner: string;
    readonly year: number;
  },
): Promise<readonly { readonly path: string; readonly content: Buffer }[]> {
  // No newline at the end: the bytes of Gitea.
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
