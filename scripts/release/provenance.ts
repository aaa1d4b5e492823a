import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Tarball } from './pack.ts';

/** What a statement says of a build. */
export type Build = {
  readonly root: string;
  readonly name: string;
  readonly version: string;
  readonly tarball: Tarball;
  readonly commit: string;
  /** Address that the repository is fetched from; undefined: it has none. */
  readonly repository: string | undefined;
  readonly npm: string;
  readonly startedAt: Date;
  readonly finishedAt: Date;
};

/**
 * Returns an in-toto statement with the SLSA provenance of a package: which commit, which locked libraries and which builder made
 * the file with this digest. It is not signed: `npm publish --provenance` in CI adds a statement that is.
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
