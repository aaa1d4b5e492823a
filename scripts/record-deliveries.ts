// Records the webhooks of a forge into test/fixtures/: creates accounts, an organization and repositories there,
// performs every action that is known to send an event, and stores the deliveries. The forge must be allowed to reach
// loopback ([security] ALLOWED_HOST_LIST, before 1.27 [webhook]); FORGE_TOKEN is the token of a site administrator,
// with all scopes.

import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import {
  type Fixture,
  fixtureAuthorization,
  fixtureFolder,
  fixtureSecret,
  kindOf,
  type Recording,
} from '../test/support/recording/fixture.ts';
import { record } from '../test/support/recording/record.ts';

const { values } = parseArgs({
  options: {
    /** Seconds to wait for expected events; a busy server needs more. */
    patience: { type: 'string', default: '30' },
    /** Milliseconds without a delivery after which a step is complete. */
    quiet: { type: 'string', default: '1000' },
    /** Topics to omit, separated by commas. */
    without: { type: 'string', default: '' },
  },
});
const { FORGE_URL: url, FORGE_TOKEN: token } = process.env;
if (!url || !token) {
  console.error('Set FORGE_URL and FORGE_TOKEN.');
  process.exit(2);
}
const recording = await record({
  url: url.replace(/\/+$/, '').replace(/\/api\/v1$/, ''),
  token,
  without: values.without.split(','),
  patience: Number(values.patience),
  settle: () => new Promise((resolve) => setTimeout(resolve, Number(values.quiet))),
  tell: (line) => console.log(line),
});
const folder = writeRecording(recording);
console.log(
  `\n${recording.fixtures.length} deliveries of ${recording.server} ${recording.version} in ${folder}`,
);
for (const { step, kinds, why } of recording.missing) {
  console.log(`could not be provoked: ${kinds.join(', ') || step} (${step}): ${why}`);
}

/** Writes a recording, replacing the one of the same server and version; returns its folder. */
function writeRecording({ fixtures, ...recording }: Recording): string {
  const folder = join(fixtureFolder, `${recording.server}-${recording.version.replace(/\+.*/, '')}`);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const { server, version, steps, missing } = recording;
  const how = 'FORGE_URL=… FORGE_TOKEN=… node scripts/record-deliveries.ts';
  const signed = { secret: fixtureSecret, authorization: fixtureAuthorization };
  write(join(folder, 'index.json'), { server, version, how, ...signed, steps, missing });
  for (const [name, fixture] of named(fixtures)) write(join(folder, `${name}.json`), fixture);
  return folder;
}

/**
 * Returns the fixtures by name: kind and step, then the hook if the deliveries of several hooks were kept, otherwise a
 * number.
 */
function named(fixtures: readonly Fixture[]): ReadonlyMap<string, Fixture> {
  const taken = new Map<string, Fixture>();
  for (const fixture of fixtures) {
    const base = `${kindOf(fixture)}.${fixture.step}`;
    const first = taken.get(base);
    let name = first !== undefined && first.hook !== fixture.hook ? `${base}.${fixture.hook}` : base;
    for (let number = 2; taken.has(name); number += 1) name = `${base}.${number}`;
    taken.set(name, fixture);
  }
  return taken;
}

function write(path: string, value: unknown): void {
  writeFileSync(path, `${JSON.stringify(value, null, 2)}\n`);
}
