import { stringify } from 'yaml';
import { actions } from '../../../actions/actions.ts';
import type { Adopted, AdoptedPlace, Adoption } from '../../../actions/adoption.ts';
import type { Client } from '../../../client/client.ts';
import { ReeveError } from '../../../platform/errors.ts';

/** A rule file as text, and what of the live state it cannot express. */
type AdoptedFile = { readonly yaml: string; readonly left: readonly string[] };

/**
 * Returns the rule file that declares what is live in a repository (`acme/demo`) or an organization (`acme`), one step per
 * action that has an adoption. A run of it plans no change. What the account may not read is reported and left out.
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
    description: `What was live in ${name} when it was adopted.`,
    // An organization matches the pattern of its repositories.
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
