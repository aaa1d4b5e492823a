import { execFile, execFileSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** The git repository that is measured; every forge gets the same objects. */
export type HistorySize = {
  readonly folders: number;
  readonly filesPerFolder: number;
  readonly commits: number;
  readonly branches: number;
};

/** Branches with a commit of their own, from which pull requests are made; the others are at commits of `main`. */
const heads = 10;

/** Returns the names of branches that pull requests are made from. */
export function headBranches(): readonly string[] {
  return Array.from({ length: heads }, (_, at) => `work-${at}`);
}

/** Returns the path of a file; consecutive numbers are in different folders. */
export function pathOf({ folders, filesPerFolder }: HistorySize, number: number): string {
  return `folder-${number % folders}/file-${Math.floor(number / folders) % filesPerFolder}.txt`;
}

/** Makes a bare repository: the first commit has every file, each further one changes one, in turns; then the branches. */
export function makeHistory(folder: string, size: HistorySize): void {
  mkdirSync(folder, { recursive: true });
  execFileSync('git', ['init', '--quiet', '--bare', '--initial-branch=main', folder]);
  execFileSync('git', ['fast-import', '--quiet', '--done'], {
    cwd: folder,
    input: streamOf(size),
    maxBuffer: 2 ** 30,
  });
}

function streamOf(size: HistorySize): string {
  const files = size.folders * size.filesPerFolder;
  const lines: string[] = [];
  const data = (text: string): string => `data ${Buffer.byteLength(text)}\n${text}\n`;
  const commit = (ref: string, mark: number, message: string, from?: number): void => {
    const who = `Bench <bench@localhost> ${1_700_000_000 + mark * 60} +0000`;
    lines.push(`commit ${ref}\nmark :${mark}\nauthor ${who}\ncommitter ${who}\n${data(message)}`);
    if (from !== undefined) lines.push(`from :${from}\n`);
  };
  const write = (path: string, text: string): void => {
    lines.push(`M 100644 inline ${path}\n${data(text)}`);
  };
  commit('refs/heads/main', 1, 'first');
  for (let at = 0; at < files; at += 1) write(pathOf(size, at), `${at}\n${'line of a file\n'.repeat(20)}`);
  for (let mark = 2; mark <= size.commits; mark += 1) {
    // A step that shares no factor with the number of files reaches every one of them.
    const at = (mark * 7919) % files;
    commit('refs/heads/main', mark, `change ${mark}`, mark - 1);
    write(pathOf(size, at), `${at}\n${'line of a file\n'.repeat(20)}changed by ${mark}\n`);
  }
  for (const [at, name] of headBranches().entries()) {
    commit(`refs/heads/${name}`, size.commits + 1 + at, `work ${at}`, size.commits);
    write(`work/${name}.txt`, 'new\n');
  }
  for (let at = 0; at < size.branches - heads; at += 1) {
    lines.push(`reset refs/heads/branch-${at}\nfrom :${1 + (at % size.commits)}\n\n`);
  }
  return `${lines.join('')}done\n`;
}

/**
 * Pushes the branches; `main` first, so that it becomes the default branch. Branches without commits of their own are made in
 * `bare`, the folder of the repository on the forge: thousands of new branches are thousands of events. The token is in the
 * environment of git alone.
 */
export async function pushHistory(
  folder: string,
  to: { readonly address: string; readonly user: string; readonly token: string; readonly bare: string },
): Promise<void> {
  const env = {
    PATH: process.env.PATH,
    HOME: folder,
    GIT_TERMINAL_PROMPT: '0',
    GIT_CONFIG_COUNT: '2',
    GIT_CONFIG_KEY_0: 'http.extraHeader',
    GIT_CONFIG_VALUE_0: `Authorization: Basic ${Buffer.from(`${to.user}:${to.token}`).toString('base64')}`,
    GIT_CONFIG_KEY_1: 'http.postBuffer',
    GIT_CONFIG_VALUE_1: '524288000',
  };
  const push = (refs: string) => run('git', ['push', '--quiet', to.address, refs], { cwd: folder, env });
  await push('refs/heads/main:refs/heads/main');
  const format = '--format=create %(refname) %(objectname)';
  const lines = execFileSync('git', ['for-each-ref', format, 'refs/heads/branch-*'], { cwd: folder });
  execFileSync('git', ['update-ref', '--stdin'], { cwd: to.bare, input: lines });
  await push('refs/heads/*:refs/heads/*');
}
