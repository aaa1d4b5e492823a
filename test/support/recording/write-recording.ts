import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  type Fixture,
  fixtureAuthorization,
  fixtureFolder,
  fixtureSecret,
  kindOf,
  type Recording,
} from './fixture.ts';

/** Writes a recording in the place of the one there was of the same server and version; returns its folder. */
export function writeRecording({ fixtures, ...recording }: Recording): string {
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

/** Names are kind, step, then what tells apart those that are still the same: the hook, a number. */
function named(fixtures: readonly Fixture[]): ReadonlyMap<string, Fixture> {
  const taken = new Map<string, Fixture>();
  for (const fixture of fixtures) {
    const base = `${kindOf(fixture)}.${fixture.step}`;
    const candidates = [
      base,
      `${base}.${fixture.hook}`,
      ...[2, 3, 4, 5, 6, 7, 8, 9].map((number) => `${base}.${number}`),
    ];
    const name = candidates.find((one) => !taken.has(one));
    if (name === undefined) throw new Error(`${base} came more often than there are names`);
    taken.set(name, fixture);
  }
  return taken;
}

function write(path: string, value: unknown): void {
  writeFileSync(path, `${JSON.stringify(value, null, 2)}\n`);
}
