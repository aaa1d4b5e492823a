import type { SecretEntry } from '../../../server/receiver/secrets.ts';

/** Words of examples and of people who meant to come back. */
const placeholders =
  /change.?me|replace.?me|placeholder|example|password|passw0rd|your.?(own|secret|token)|12345|qwertz?y?/i;
/** Random text of 24 letters has more different ones than this with near certainty. */
const leastDifferent = 10;

/** Returns why the values of an entry could be guessed; nothing where they cannot. A value is never repeated. */
export function weaknessOf(entry: SecretEntry): readonly string[] {
  const faults: string[] = [];
  for (const kind of ['authorization', 'hmac'] as const) {
    for (const [location, value] of entry[kind].entries()) {
      const what = `${kind} value ${location + 1} of "${entry.name}"`;
      const own = value.replace(/^(Bearer|Basic|token) /i, '');
      if (placeholders.test(own)) faults.push(`${what} looks like an example`);
      else if (new Set(own).size < leastDifferent) faults.push(`${what} has few different letters`);
      else if (isDouble(own, entry, kind)) faults.push(`${what} is used for header and signature`);
    }
  }
  return faults;
}

/** Who sees the header, which any proxy logs, could sign with it. Told once, of the header. */
function isDouble(own: string, entry: SecretEntry, kind: 'authorization' | 'hmac'): boolean {
  return kind === 'authorization' && entry.hmac.some((value) => value === own);
}
