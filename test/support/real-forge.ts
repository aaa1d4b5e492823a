/**
 * Forge given by the environment: `FORGE_URL`, and `FORGE_TOKEN`, the token of a site administrator with every scope.
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
  /** Major and minor number, such as `1.26`. */
  readonly release: string;
  /** Display name, such as `Gitea 1.26.3`. */
  readonly name: string;
};

const found = await ask();

/** Returns the forge given by the environment, or undefined if there is none. Its version is requested only once. */
export function realForge(): RealForge | undefined {
  return found;
}

async function ask(): Promise<RealForge | undefined> {
  const { FORGE_URL: address, FORGE_TOKEN: token } = process.env;
  if (!address || !token) return undefined;
  const url = address.replace(/\/+$/, '').replace(/\/api\/v1$/, '');
  const response = await fetch(`${url}/api/v1/version`);
  if (!response.ok) throw new Error(`FORGE_URL: ${url}/api/v1/version answered ${response.status}`);
  // The shape of this response is the same on every forge; a server without it is not a forge.
  const { version } = (await response.json()) as { version: string };
  return { url, token, version };
}

/** Returns the release line of a version. A version of Forgejo contains `+gitea-`. */
export function lineOf(version: string): ForgeLine {
  const kind = version.includes('+gitea-') ? 'forgejo' : 'gitea';
  const release = /^v?(\d+\.\d+)/.exec(version)?.[1] ?? version;
  const plain = version.replace(/^v/, '').replace(/\+gitea-.*$/, '');
  return { kind, release, name: `${kind === 'gitea' ? 'Gitea' : 'Forgejo'} ${plain}` };
}
