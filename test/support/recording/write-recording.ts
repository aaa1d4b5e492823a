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

/** Names are kind and step, then the hook where several hooks' deliveries were kept, else a number. */
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
