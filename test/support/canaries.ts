import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { authorization, type Stage, secret } from './stage.ts';

/**
 * Returns the credentials of a stage that stand in what the bot has written: its whole folder but the key of its
 * fingerprints, its runs, and `told`, what commands and logs have said. Each is looked for as it is and in the forms in
 * which credentials travel.
 */
export function leaksOf(
  stage: Stage,
  told: readonly string[],
  more: readonly string[] = [],
): readonly string[] {
  // The embedded forge lies in the same folder, and keeps what people told it; it is not the bot.
  const files = readdirSync(stage.data, { withFileTypes: true }).filter((entry) => entry.isFile());
  const written = files.map(({ name }) => readFileSync(join(stage.data, name)).toString('latin1'));
  const bytes = [...written, JSON.stringify(stage.runs), ...told].join('\n');
  if (bytes.length < 10_000)
    throw new Error('hardly anything was written: finding nothing in it would prove nothing');
  const values = [stage.token, authorization, secret, ...more];
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
