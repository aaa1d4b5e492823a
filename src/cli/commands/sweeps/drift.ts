import { stringify } from 'yaml';
import type { Adopted, AdoptedPlace, Adoption } from '../../../actions/action.ts';
import { actions } from '../../../actions/actions.ts';
import type { Client } from '../../../client/client.ts';
import { ReeveError } from '../../../platform/errors.ts';
import type { Settings } from '../../../server/settings/config.ts';
import { type Drift, readDrift } from '../../../work/sweeps/drift.ts';
import { ageOf, plain, type Terminal } from '../../output/terminal.ts';
import { clientOf, openStore } from '../open-store.ts';

/**
 * Prints the drift found by sweeps, and when each drift was first detected; with `adopt`, prints the rule file that
 * describes the live state. Returns the exit status: 1 if there is drift.
 */
export async function drift(
  items: readonly string[],
  options: { adopt?: boolean; json?: boolean },
  settings: Settings,
  terminal: Terminal,
): Promise<number> {
  if (options.adopt) return adoptAll(items, settings, terminal);
  const store = await openStore(settings);
  try {
    const found = (await readDrift(store)).filter(({ item }) => items.length === 0 || items.includes(item));
    if (options.json) terminal.out(JSON.stringify(found));
    else if (found.length === 0) terminal.out('sweeps have found no drift');
    else for (const one of found) print(one, terminal);
    return found.length > 0 ? 1 : 0;
  } finally {
    await store.close();
  }
}

function print({ rule, item, target, live, wanted, since, why }: Drift, terminal: Terminal): void {
  terminal.out(terminal.style('bold', plain(`${item}  ${target}`)));
  terminal.out(plain(`  is ${JSON.stringify(live) ?? 'not there'}, wanted ${JSON.stringify(wanted)}`));
  terminal.out(plain(`  since ${since} (${ageOf(since, new Date())}), by ${rule}: ${why}`));
}

async function adoptAll(items: readonly string[], settings: Settings, terminal: Terminal): Promise<number> {
  if (items.length !== 1) {
    throw new ReeveError('usage', 'name one repository (acme/demo) or organization (acme) to adopt');
  }
  const { yaml, left } = await adopt(clientOf(settings), items[0] ?? '');
  for (const line of left) terminal.error(plain(`left out: ${line}`));
  terminal.out(yaml.trimEnd());
  return 0;
}

/** A rule file as text, and the parts of the live state that it cannot express. */
type AdoptedFile = { readonly yaml: string; readonly left: readonly string[] };

/**
 * Returns the rule file that declares the live state of a repository (`acme/demo`) or an organization (`acme`), with
 * one step per action that has an adoption. A run of this file plans no change. Data that the account may not read is
 * reported and left out.
 */
export async function adopt(client: Client, name: string): Promise<AdoptedFile> {
  const [owner = '', repo] = name.split('/');
  const steps: unknown[] = [];
  const left: string[] = [];
  for (const action of actions) {
    if (action.adoption === undefined) continue;
    const adopted = await read(action.adoption, client, { owner, repo });
    left.push(...(adopted.left ?? []));
    if (adopted.arguments) steps.push({ uses: action.name, with: adopted.arguments });
  }
  const rule = {
    description: `Live state of ${name} when it was adopted.`,
    // An organization matches the pattern for its repositories.
    in: [repo === undefined ? `${name}/*` : name],
    on: { schedule: '17 3 * * *' },
    each: repo === undefined ? 'organization' : 'repository',
    steps,
  };
  const file = { version: 1, rules: { [name.replace(/[^\w-]/g, '-').toLowerCase()]: rule } };
  return { yaml: stringify(file, { lineWidth: 110, aliasDuplicateObjects: false }), left };
}

async function read(adoption: Adoption, client: Client, place: AdoptedPlace): Promise<Adopted> {
  try {
    return await adoption.read(client, place);
  } catch (error) {
    const isDenied = error instanceof ReeveError && error.code === 'forge-forbidden';
    if (!isDenied || adoption.what === undefined) throw error;
    return { left: [`${adoption.what}: the account may not read them`] };
  }
}
