/** A version: numbers, and the identifiers of a pre-release. */
export type Version = {
  readonly numbers: readonly [number, number, number];
  readonly prerelease: readonly string[];
};

const pattern = /^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(?:-([0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*))?$/;

/** Returns a version by its text; undefined where it is none of semantic versioning, or has build metadata. */
export function parseVersion(text: string): Version | undefined {
  const [, major, minor, patch, rest] = pattern.exec(text) ?? [];
  if (major === undefined) return undefined;
  const prerelease = rest?.split('.') ?? [];
  if (prerelease.some((one) => /^0\d+$/.test(one))) return undefined;
  return { numbers: [Number(major), Number(minor), Number(patch)], prerelease };
}

/** Compares two versions by the precedence of semantic versioning: negative if the first is lower. */
export function compareVersions(a: Version, b: Version): number {
  for (const [index, number] of a.numbers.entries()) {
    const difference = number - (b.numbers[index] ?? 0);
    if (difference !== 0) return difference;
  }
  // A version comes after its own pre-releases.
  if (a.prerelease.length === 0 || b.prerelease.length === 0)
    return b.prerelease.length - a.prerelease.length;
  for (const [index, identifier] of a.prerelease.entries()) {
    const other = b.prerelease[index];
    if (other === undefined) return 1;
    const difference = compareIdentifiers(identifier, other);
    if (difference !== 0) return difference;
  }
  return a.prerelease.length - b.prerelease.length;
}

/** Numbers are compared as numbers, and come before text. */
function compareIdentifiers(a: string, b: string): number {
  const [isNumber, isOtherNumber] = [/^\d+$/.test(a), /^\d+$/.test(b)];
  if (isNumber && isOtherNumber) return Number(a) - Number(b);
  if (isNumber !== isOtherNumber) return isNumber ? -1 : 1;
  return a === b ? 0 : a < b ? -1 : 1;
}
