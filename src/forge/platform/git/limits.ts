/** Limits on what one push or upload may make the forge write to disk and hold in memory. */
export type GitLimits = {
  /** Bytes of a push, counted after its HTTP body is decompressed. */
  readonly pushBytes: number;
  /** Bytes of one object of a push, counted after git has unpacked it. */
  readonly objectBytes: number;
  /** Bytes of one file of a package. */
  readonly packageBytes: number;
  /** Bytes of one object of Git LFS. */
  readonly lfsBytes: number;
};

const mebibyte = 1024 * 1024;

/** Large enough for the history of most projects, and small enough for the machine that runs a bot. */
export const defaultLimits: GitLimits = {
  pushBytes: 512 * mebibyte,
  objectBytes: 128 * mebibyte,
  packageBytes: 2048 * mebibyte,
  lfsBytes: 2048 * mebibyte,
};
