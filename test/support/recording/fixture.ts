import { createHmac } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Secret and authorization value of every recorded delivery. */
export const fixtureSecret = 'the-secret-of-recorded-deliveries';
export const fixtureAuthorization = 'Bearer the-authorization-of-recorded-deliveries';

/** Folder that contains a subfolder for each server and version. */
export const fixtureFolder = join(import.meta.dirname, '../../fixtures');

/**
 * Hooks of a recording: one for each level, and two more for the repository, one with another content type and one
 * without a secret.
 */
export type HookName = 'repository' | 'organization' | 'user' | 'system' | 'form' | 'unsigned';

/** Delivery as a forge sent it, with names, addresses and signatures replaced by `normalise`. */
export type Fixture = {
  readonly server: string;
  readonly version: string;
  readonly eventType: string;
  /** The payload's `action`; empty if the kind has none. */
  readonly activity: string;
  /** Step of the recording that caused the delivery. */
  readonly step: string;
  /** Hook that received this delivery. */
  readonly hook: HookName;
  /** Every hook that received these bytes, each with its own headers. */
  readonly heardBy: readonly HookName[];
  /** Headers in their original spelling. Headers of the transport (host, length, encoding) are left out. */
  readonly headers: Readonly<Record<string, string>>;
  /** Bytes of the body as text. The signatures cover exactly this text. */
  readonly body: string;
};

/** Recording of one server. */
export type Recording = {
  readonly server: string;
  readonly version: string;
  /** Kinds of events that each step caused, in alphabetical order, because deliveries have no fixed order. */
  readonly steps: readonly { readonly name: string; readonly came: readonly string[] }[];
  /** Expected events that did not arrive, and failed steps with the server's message. */
  readonly missing: readonly {
    readonly step: string;
    readonly kinds: readonly string[];
    readonly why: string;
  }[];
  readonly fixtures: readonly Fixture[];
};

/** Returns the kind of a delivery as used in fixtures and steps, such as `issues.opened` or `push`. */
export function kindOf({ eventType, activity }: { eventType: string; activity: string }): string {
  return activity === '' ? eventType : `${eventType}.${activity}`;
}

/** Returns the recordings in `test/fixtures/`, the oldest version first. */
export function readRecordings(): readonly Recording[] {
  const folders = readdirSync(fixtureFolder, { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && existsSync(join(fixtureFolder, entry.name, 'index.json')))
    .map(({ name }) => join(fixtureFolder, name))
    .sort();
  return folders.map((folder) => {
    // Only `writeRecording` writes this file.
    const index = readJson(join(folder, 'index.json')) as Omit<Recording, 'fixtures'>;
    const names = readdirSync(folder).filter((name) => name !== 'index.json');
    return { ...index, fixtures: names.sort().map((name) => readJson(join(folder, name)) as Fixture) };
  });
}

function readJson(path: string): unknown {
  return JSON.parse(readFileSync(path, 'utf8'));
}

/** Returns the JSON text of a delivery, extracted from the form if the delivery is a form. */
export function jsonOf({ headers, body }: Pick<Fixture, 'headers' | 'body'>): string {
  const isForm = headers['Content-Type']?.startsWith('application/x-www-form-urlencoded');
  return isForm ? (new URLSearchParams(body).get('payload') ?? '') : body;
}

/**
 * Returns the value of each signature header for a JSON text, by the header's lower-case name. Both content types sign
 * the JSON.
 */
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
