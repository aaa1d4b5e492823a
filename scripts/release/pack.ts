import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdir, mkdtemp, readFile, rename, rm } from 'node:fs/promises';
import { delimiter, dirname, join } from 'node:path';
import { promisify } from 'node:util';

/** File that npm publishes. */
export type Tarball = { readonly path: string; readonly sha256: string; readonly sha512: string };

/**
 * Builds and packs the package twice and puts the file into a folder. Throws if the two files differ, because then
 * a build from the sources could not prove that the file comes from them.
 */
export async function packTwice(folder: string, run: RunProgram): Promise<Tarball> {
  await mkdir(folder, { recursive: true });
  const scratch = await mkdtemp(join(folder, '.pack-'));
  try {
    const [first, second] = [
      await packInto(join(scratch, '1'), run),
      await packInto(join(scratch, '2'), run),
    ];
    if (first.sha256 !== second.sha256)
      throw new Error(`two builds differ: ${first.sha256} and ${second.sha256}`);
    const path = join(folder, first.name);
    await rename(first.path, path);
    return { path, sha256: first.sha256, sha512: first.sha512 };
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
}

async function packInto(folder: string, run: RunProgram): Promise<Tarball & { readonly name: string }> {
  await mkdir(folder);
  const printed = await run('npm', ['pack', '--json', '--pack-destination', folder]);
  // The output of the build precedes the JSON.
  const [{ filename }] = JSON.parse(printed.slice(printed.indexOf('['))) as [{ filename: string }];
  const path = join(folder, filename);
  const bytes = await readFile(path);
  const digest = (algorithm: string): string => createHash(algorithm).update(bytes).digest('hex');
  return { name: filename, path, sha256: digest('sha256'), sha512: digest('sha512') };
}

const execute = promisify(execFile);

/**
 * Runs a program in the checkout and returns its output, without the trailing line break. Rejects if the program fails.
 */
export type RunProgram = (program: string, args: readonly string[], input?: string) => Promise<string>;

/**
 * Creates the function for a checkout. Programs run with the current Node, and without the environment that npm gives
 * its scripts.
 */
export function createRunProgram(root: string): RunProgram {
  const inherited = Object.entries(process.env).filter(([name]) => !/^npm_/i.test(name));
  const PATH = `${dirname(process.execPath)}${delimiter}${process.env.PATH}`;
  const options = { cwd: root, env: { ...Object.fromEntries(inherited), PATH }, maxBuffer: 64 * 2 ** 20 };
  return async (program, args, input) => {
    const running = execute(program, [...args], options);
    if (input !== undefined) running.child.stdin?.end(input);
    return (await running).stdout.trimEnd();
  };
}

/** Data about a build for a statement. */
type Build = {
  readonly root: string;
  readonly name: string;
  readonly version: string;
  readonly tarball: Tarball;
  readonly commit: string;
  /** Address from which the repository is fetched; undefined if there is none. */
  readonly repository: string | undefined;
  readonly npm: string;
  readonly startedAt: Date;
  readonly finishedAt: Date;
};

/**
 * Returns an in-toto statement with the SLSA provenance of a package: which commit, which locked libraries and which
 * builder produced the file with this digest. It is not signed: `npm publish --provenance` in CI adds a signed
 * statement.
 */
export async function provenanceOf(build: Build): Promise<object> {
  const { root, name, version, tarball, commit, repository, npm, startedAt, finishedAt } = build;
  const lockfile = createHash('sha256')
    .update(await readFile(join(root, 'package-lock.json')))
    .digest('hex');
  return {
    _type: 'https://in-toto.io/Statement/v1',
    subject: [
      {
        name: `pkg:npm/${name.replace('@', '%40')}@${version}`,
        digest: { sha256: tarball.sha256, sha512: tarball.sha512 },
      },
    ],
    predicateType: 'https://slsa.dev/provenance/v1',
    predicate: {
      buildDefinition: {
        buildType: `https://www.npmjs.com/package/${name}#release-script-v1`,
        externalParameters: { command: 'npm run release', version },
        internalParameters: {},
        resolvedDependencies: [
          {
            uri: repository === undefined ? 'git+file:.' : `git+${repository}@refs/tags/v${version}`,
            digest: { gitCommit: commit },
          },
          { uri: 'package-lock.json', digest: { sha256: lockfile } },
        ],
      },
      runDetails: {
        builder: {
          id: `https://www.npmjs.com/package/${name}#release-by-hand`,
          version: { node: process.versions.node, npm },
        },
        metadata: { startedOn: rfc3339(startedAt), finishedOn: rfc3339(finishedAt) },
      },
    },
  };
}

const rfc3339 = (at: Date): string => at.toISOString().replace(/\.\d+Z$/, 'Z');
