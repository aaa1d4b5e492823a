import type { RepositoryTarget } from '../platform/access/targets.ts';
import type { ForgeContext } from '../platform/context.ts';
import { ForgeProblem } from '../platform/errors.ts';
import { cleanTreePath } from '../platform/git/names.ts';
import { findRevision } from '../platform/git/refs.ts';
import type { GitRepository } from '../platform/git/repository.ts';
import { findEntry } from '../platform/git/tree.ts';
import { contentDisposition, contentHeaders, type FileAnswer, tooManyFiles } from './serve-file.ts';

type ArchiveKind = 'zip' | 'tar.gz' | 'bundle';
const kinds: readonly ArchiveKind[] = ['zip', 'tar.gz', 'bundle'];

/** Returns the archive for a name such as `main.zip`, as git writes it; 400 for other formats, 404 for unknown refs. */
export async function serveArchive(
  context: ForgeContext,
  { repository, owner }: RepositoryTarget,
  { name, paths }: { readonly name: string; readonly paths: readonly string[] },
): Promise<FileAnswer> {
  const kind = kinds.find((one) => name.endsWith(`.${one}`));
  if (kind === undefined) throw new ForgeProblem(400, `unknown format: ${name}`);
  if (kind === 'bundle' && paths.length > 0) {
    throw new ForgeProblem(400, 'cannot specify paths when requesting a bundle');
  }
  const ref = name.slice(0, -kind.length - 1);
  const git = context.git.open(repository.id);
  const commit = await findRevision(git, ref);
  if (commit === undefined) throw new ForgeProblem(404, `unrecognized repository reference: ${ref}`);
  const clean = await Promise.all(paths.map((path) => cleanArchivePath(git, commit.id, path)));
  const body =
    kind === 'bundle'
      ? bundle(git, commit.id)
      : archive(git, commit.id, { kind, top: repository.name, paths: clean });
  if (body === undefined) throw tooManyFiles();
  const link = `${context.rootUrl()}/api/v1/repos/${owner.name}/${repository.name}/archive/${commit.id}.${kind}`;
  return {
    status: 200,
    headers: {
      ...contentHeaders('application/octet-stream'),
      'content-disposition': contentDisposition(
        'attachment',
        `${repository.name}-${ref.replaceAll('/', '-')}.${kind}`,
      ),
      'access-control-expose-headers': 'Content-Disposition',
      link: `<${link}?rev=${commit.id}>; rel="immutable"`,
    },
    body,
  };
}

async function cleanArchivePath(git: GitRepository, commitId: string, path: string): Promise<string> {
  const clean = cleanTreePath(path);
  if (!clean || (await findEntry(git, commitId, clean)) === undefined) {
    throw new ForgeProblem(400, "path doesn't exist or is invalid");
  }
  return clean;
}

function archive(
  git: GitRepository,
  commitId: string,
  { kind, top, paths }: { kind: 'zip' | 'tar.gz'; top: string; paths: readonly string[] },
) {
  const args = ['archive', `--format=${kind}`, `--prefix=${top.toLowerCase()}/`, commitId, '--', ...paths];
  return git.git.stream(args, { folder: git.folder });
}

/**
 * Streams the output of `git bundle create` (a header and a pack) without creating a ref that other readers could see.
 */
function bundle(git: GitRepository, commitId: string) {
  const isSha256 = commitId.length === 64;
  const header = [
    ...(isSha256 ? ['# v3 git bundle', '@object-format=sha256'] : ['# v2 git bundle']),
    `${commitId} refs/heads/bundle`,
    `${commitId} HEAD`,
  ];
  const pack = git.git.stream(['pack-objects', '--quiet', '--revs', '--stdout', '--delta-base-offset'], {
    folder: git.folder,
    input: `${commitId}\n`,
  });
  // Prepends the header. Nothing reads the stream before this function returns.
  pack?.unshift(Buffer.from(`${header.join('\n')}\n\n`));
  return pack;
}
