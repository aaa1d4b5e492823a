/** What a small file says that stands for a large one, which is kept by Git LFS. */
export type LfsPointer = {
  /** SHA-256 of the content, hex. */
  readonly oid: string;
  /** Bytes. */
  readonly size: number;
};

/** A file of this size or more is no pointer. */
export const maxPointerBytes = 1024;

const firstLine = 'version https://git-lfs.github.com/spec/v1';

/** Returns whether an id and a size can be those of a content. */
export function isLfsPointer({ oid, size }: LfsPointer): boolean {
  return /^[0-9a-f]{64}$/.test(oid) && Number.isSafeInteger(size) && size >= 0;
}

/** Reads a pointer; undefined where the bytes are none. */
export function parsePointer(bytes: Buffer): LfsPointer | undefined {
  if (bytes.length >= maxPointerBytes) return undefined;
  const [first, oidLine = '', sizeLine = ''] = bytes.toString('utf8').split('\n');
  if (!first?.startsWith(firstLine)) return undefined;
  const oid = /^oid sha256:([0-9a-f]{64})$/.exec(oidLine)?.[1];
  const size = /^size (\d{1,15})$/.exec(sizeLine)?.[1];
  return oid === undefined || size === undefined ? undefined : { oid, size: Number(size) };
}
