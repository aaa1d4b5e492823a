import type { Fixture } from './fixture.ts';
import { jsonOf, signaturesOf } from './fixture.ts';

/** Where recorded servers say they are. */
const normalAddress = 'http://127.0.0.1:3000';

type Normaliser = {
  /** What the recording added to its names; taken away again. */
  readonly suffix: string;
  /** The address the server gives itself. */
  readonly rootUrl: string;
};

/**
 * Takes out of a delivery what only says which machine and which run recorded it, and signs it again. Times and ids stay.
 * Throws where a signature as it came was not right: a server that signs otherwise must be looked at, not mended.
 */
export function normalise(delivery: Fixture, secret: string, { suffix, rootUrl }: Normaliser): Fixture {
  const json = jsonOf(delivery);
  for (const [name, value] of Object.entries(delivery.headers)) {
    const right = signaturesOf(json, secret)[name.toLowerCase()];
    if (right !== undefined && right !== value) throw new Error(`${name} of ${delivery.step} is not right`);
  }
  const { host } = new URL(rootUrl);
  const text = json
    .replaceAll(suffix, '')
    .replaceAll(rootUrl.replace(/\/$/, ''), normalAddress)
    .replaceAll(host, new URL(normalAddress).host)
    // The account that the server's process runs under.
    .replaceAll(/(ssh_url\\*": ?\\*")(ssh:\/\/)?\w+@/g, '$1$2git@');
  const signatures = signaturesOf(text, secret);
  const headers = Object.entries(delivery.headers).map(([name, value]) => [
    name,
    signatures[name.toLowerCase()] ?? value,
  ]);
  const body = json === delivery.body ? text : new URLSearchParams({ payload: text }).toString();
  return { ...delivery, headers: Object.fromEntries(headers), body };
}
