import { createHmac } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** What every recorded delivery was signed and vouched with. */
export const fixtureSecret = 'the-secret-of-recorded-deliveries';
export const fixtureAuthorization = 'Bearer the-authorization-of-recorded-deliveries';

/** The folder with a folder for each server and version. */
export const fixtureFolder = join(import.meta.dirname, '../../fixtures');

/** The hooks of a recording: one for each level, and two more of the repository, of another content type and without a secret. */
export type HookName = 'repository' | 'organization' | 'user' | 'system' | 'form' | 'unsigned';

/** One delivery as a forge sent it, with names, addresses and signatures as `normalise` leaves them. */
export type Fixture = {
  readonly server: string;
  readonly version: string;
  readonly eventType: string;
  /** The payload's `action`; empty where the kind has none. */
  readonly activity: string;
  /** What was done to provoke it: a step of the recording. */
  readonly step: string;
  /** Whose delivery this is. */
  readonly hook: HookName;
  /** Every hook that got these bytes, with headers of its own. */
  readonly heardBy: readonly HookName[];
  /** Names as they were spelled; those of the transport (host, length, encoding) are left out. */
  readonly headers: Readonly<Record<string, string>>;
  /** The bytes of the body as text: the signatures are over exactly this. */
  readonly body: string;
};

/** What was recorded of one server. */
export type Recording = {
  readonly server: string;
  readonly version: string;
  /** The kinds that each step brought, in alphabetical order: deliveries are not ordered. */
  readonly steps: readonly { readonly name: string; readonly came: readonly string[] }[];
  /** What did not come although it was waited for, or could not be done, and what the server said. */
  readonly missing: readonly {
    readonly step: string;
    readonly kinds: readonly string[];
    readonly why: string;
  }[];
  readonly fixtures: readonly Fixture[];
};

/** Returns the kind of a delivery as fixtures and steps name it: `issues.opened`, `push`. */
export function kindOf({ eventType, activity }: { eventType: string; activity: string }): string {
  return activity === '' ? eventType : `${eventType}.${activity}`;
}

/** Returns the recordings that are in `test/fixtures/`, oldest version first. */
export function readRecordings(): readonly Recording[] {
  const folders = readdirSync(fixtureFolder, { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && existsSync(join(fixtureFolder, entry.name, 'index.json')))
    .map(({ name }) => join(fixtureFolder, name))
    .sort();
  return folders.map((folder) => {
    // Written by `writeRecording` alone.
    const index = readJson(join(folder, 'index.json')) as Omit<Recording, 'fixtures'>;
    const names = readdirSync(folder).filter((name) => name !== 'index.json');
    return { ...index, fixtures: names.sort().map((name) => readJson(join(folder, name)) as Fixture) };
  });
}

function readJson(path: string): unknown {
  return JSON.parse(readFileSync(path, 'utf8'));
}

/** Returns the JSON text of a delivery, out of the form where it came as one. */
export function jsonOf({ headers, body }: Pick<Fixture, 'headers' | 'body'>): string {
  const isForm = headers['Content-Type']?.startsWith('application/x-www-form-urlencoded');
  return isForm ? (new URLSearchParams(body).get('payload') ?? '') : body;
}

/** Returns the value of each signature header over a JSON text, under its name in lower case; both content types sign the JSON. */
export function signaturesOf(json: string, secret: string): Readonly<Record<string, string>> {
  const sign = (algorithm: string): string =>
    secret === '' ? '' : createHmac(algorithm, secret).update(json).digest('hex');
  const sha256 = sign('sha256');
  return {
    'x-forgejo-signature': sha256,
    'x-gitea-signature': sha256,
    'x-gogs-signature': sha256,
    'x-hub-signature': `sha1=${sign('sha1')}`,
    'x-hub-signature-256': `sha256=${sha256}`,
  };
}
