import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { authorization, type Harness, secret } from './harness.ts';

/**
 * Returns the credentials of a harness that occur in the output of the bot. The output is its whole folder except the
 * fingerprint key, its runs, and `outputs` of commands and logs. Each credential is searched for verbatim and in the
 * encodings in which credentials are sent.
 */
export function findLeaks(
  harness: Harness,
  outputs: readonly string[],
  more: readonly string[] = [],
): readonly string[] {
  // The embedded forge stores its data in the same folder, but its files are not part of the bot.
  const files = readdirSync(harness.data, { withFileTypes: true }).filter((entry) => entry.isFile());
  const written = files.map(({ name }) => readFileSync(join(harness.data, name)).toString('latin1'));
  const bytes = [...written, JSON.stringify(harness.runs), ...outputs].join('\n');
  if (bytes.length < 10_000)
    throw new Error('hardly anything was written: finding nothing in it would prove nothing');
  const values = [harness.token, authorization, secret, ...more];
  const forms = values.flatMap((value) => [
    ...[
      value,
      encodeURIComponent(value),
      Buffer.from(value).toString('base64'),
      Buffer.from(value).toString('hex'),
    ],
  ]);
  return forms.filter((form) => bytes.includes(form));
}
