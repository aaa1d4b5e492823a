/**
 * Forge that the environment names: `FORGE_URL`, and `FORGE_TOKEN`, the token of a site administrator with every scope.
 */
export type RealForge = {
  /** Address without a trailing slash and without `/api/v1`. */
  readonly url: string;
  readonly token: string;
  /** Version as reported by `/api/v1/version`. */
  readonly version: string;
};

/** Line of releases with the same behaviour. */
export type ForgeLine = {
  readonly kind: 'gitea' | 'forgejo';
  /** Major and minor number: `1.26`. */
  readonly release: string;
  /** Display name: `Gitea 1.26.3`. */
  readonly name: string;
};

const found = await ask();

/** Returns the forge that the environment names, or undefined if it names none. Its version was requested once. */
export function realForge(): RealForge | undefined {
  return found;
}

async function ask(): Promise<RealForge | undefined> {
  const { FORGE_URL: address, FORGE_TOKEN: token } = process.env;
  if (!address || !token) return undefined;
  const url = address.replace(/\/+$/, '').replace(/\/api\/v1$/, '');
  const response = await fetch(`${url}/api/v1/version`);
  if (!response.ok) throw new Error(`FORGE_URL: ${url}/api/v1/version answered ${response.status}`);
  // The shape of this answer is the same on every forge; a server without it is not a forge.
  const { version } = (await response.json()) as { version: string };
  return { url, token, version };
}

/** Returns the line of a version; a version of Forgejo contains `+gitea-`. */
export function lineOf(version: string): ForgeLine {
  const kind = version.includes('+gitea-') ? 'forgejo' : 'gitea';
  const release = /^v?(\d+\.\d+)/.exec(version)?.[1] ?? version;
  const plain = version.replace(/^v/, '').replace(/\+gitea-.*$/, '');
  return { kind, release, name: `${kind === 'gitea' ? 'Gitea' : 'Forgejo'} ${plain}` };
}
