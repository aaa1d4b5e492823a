/** A forge that the environment names: `FORGE_URL`, and `FORGE_TOKEN`, the token of a site administrator with every scope. */
export type RealForge = {
  /** Address without a slash at the end and without `/api/v1`. */
  readonly url: string;
  readonly token: string;
  /** As `/api/v1/version` tells it. */
  readonly version: string;
};

/** A line of releases that behaves alike. */
export type ForgeLine = {
  readonly kind: 'gitea' | 'forgejo';
  /** Major and minor number: `1.26`. */
  readonly release: string;
  /** For people: `Gitea 1.26.3`. */
  readonly name: string;
};

const found = await ask();

/** Returns the forge that the environment names, or undefined where it names none. It was asked for its version once. */
export function realForge(): RealForge | undefined {
  return found;
}

async function ask(): Promise<RealForge | undefined> {
  const { FORGE_URL: address, FORGE_TOKEN: token } = process.env;
  if (!address || !token) return undefined;
  const url = address.replace(/\/+$/, '').replace(/\/api\/v1$/, '');
  const response = await fetch(`${url}/api/v1/version`);
  if (!response.ok) throw new Error(`FORGE_URL: ${url}/api/v1/version answered ${response.status}`);
  // The shape of this answer is the same on every forge; a server that has none is no forge.
  const { version } = (await response.json()) as { version: string };
  return { url, token, version };
}

/** Returns the line that a version is of; Forgejo tells itself by `+gitea-`. */
export function lineOf(version: string): ForgeLine {
  const kind = version.includes('+gitea-') ? 'forgejo' : 'gitea';
  const release = /^v?(\d+\.\d+)/.exec(version)?.[1] ?? version;
  const plain = version.replace(/^v/, '').replace(/\+gitea-.*$/, '');
  return { kind, release, name: `${kind === 'gitea' ? 'Gitea' : 'Forgejo'} ${plain}` };
}
