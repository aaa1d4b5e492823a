import { formatSignature, parseSignature, type Signature } from './commit.ts';
import { isObjectId, isRefName } from './names.ts';
import type { GitRepository } from './repository.ts';

/** A tag as git lists it. */
export type TagData = {
  readonly name: string;
  /** The tag object, or the commit of a lightweight tag. */
  readonly id: string;
  readonly commitId: string;
  /** Message of the tag object, or else of the commit. */
  readonly message: string;
  /** Seconds since 1970. */
  readonly seconds: number;
};

const format =
  '%(refname:lstrip=2)%00%(objectname)%00%(*objectname)%00%(creatordate:unix)%00%(contents)%00%00';

/** Returns the tags, newest first, optionally filtered by a pattern of full ref names. */
export async function listTags(
  repository: GitRepository,
  pattern = 'refs/tags',
): Promise<readonly TagData[]> {
  const { stdout } = await repository.git.run(
    ['for-each-ref', '--sort=refname', '--sort=-creatordate', `--format=${format}`, '--', pattern],
    { folder: repository.folder },
  );
  return stdout
    .toString('utf8')
    .split('\0\0\n')
    .filter(Boolean)
    .map((entry) => {
      const [name = '', id = '', peeled = '', seconds = '', ...message] = entry.split('\0');
      return { name, id, commitId: peeled || id, message: message.join('\0'), seconds: Number(seconds) || 0 };
    });
}

export async function findTag(repository: GitRepository, name: string): Promise<TagData | undefined> {
  if (!isRefName(name)) return undefined;
  const tags = await listTags(repository, `refs/tags/${name}`);
  // The pattern also matches all refs below it.
  return tags.find((tag) => tag.name === name);
}

/** The object of an annotated tag. */
export type TagObject = {
  readonly id: string;
  /** Id of the tagged object. */
  readonly target: string;
  readonly name: string;
  readonly tagger: Signature;
  readonly message: string;
};

/** Returns the object of an annotated tag by its full id; undefined for any other object. */
export async function readTagObject(repository: GitRepository, id: string): Promise<TagObject | undefined> {
  const info = isObjectId(id) ? await repository.objects.info(id) : undefined;
  const object = info?.type === 'tag' ? await repository.objects.read(id) : undefined;
  if (object === undefined) return undefined;
  const text = object.content.toString('utf8');
  const gap = text.indexOf('\n\n');
  const head = gap < 0 ? text : text.slice(0, gap);
  const member = (name: string): string => new RegExp(`^${name} (.*)$`, 'm').exec(head)?.[1] ?? '';
  return {
    id,
    target: member('object'),
    name: member('tag'),
    tagger: parseSignature(member('tagger')),
    // A signature, if any, follows the message.
    message: (gap < 0 ? '' : text.slice(gap + 2)).replace(/-----BEGIN [A-Z ]*SIGNATURE-----.*$/s, ''),
  };
}

/**
 * Writes an annotated tag object, without moving a ref. Returns its id. The message is cleaned as by `git tag`: without
 * comment lines, leading and trailing empty lines, and trailing ASCII spaces.
 */
export async function writeTagObject(
  repository: GitRepository,
  tag: { name: string; commitId: string; message: string; tagger: Signature },
): Promise<string> {
  if (!isRefName(tag.name) || !isObjectId(tag.commitId))
    throw new TypeError(`"${tag.name}" cannot be tagged`);
  const { stdout: message } = await repository.git.run(['stripspace', '--strip-comments'], {
    folder: repository.folder,
    input: tag.message.replaceAll('\0', ''),
  });
  const lines = [
    `object ${tag.commitId}`,
    'type commit',
    `tag ${tag.name}`,
    `tagger ${formatSignature(tag.tagger)}`,
    '',
    message.toString('utf8'),
  ];
  const { stdout } = await repository.git.run(['mktag'], {
    folder: repository.folder,
    input: lines.join('\n'),
  });
  return stdout.toString('latin1').trim();
}
