import { existsSync } from 'node:fs';
import { isAbsolute, join } from 'node:path';
import type { Client } from '../client/client.ts';
import { type NoPack, notOffered, type PackReader, type PackTree } from '../rules/files/packs.ts';
import { readPacks } from '../rules/sources/folder.ts';
import { type Pins, readOrganizationRules } from '../rules/sources/organization.ts';
import type { ActionRunner } from './runner.ts';

const nothingNamed =
  'the action does not know an operator or organization: set "packs" to a folder of packs among the checked-out files, or "packs-repository" to the OWNER/REPO whose rules/packs contains them';

/**
 * Returns the sources of the packs that a repository's file includes by name: first the rules repository in
 * `packs-repository`, read from its default branch with the token, then the folder in `packs`. Nothing is read until a
 * file includes a pack.
 */
export function createActionPacks(runner: ActionRunner, makeClient: () => Client): PackReader {
  const folder = runner.input('packs');
  const repository = runner.input('packs-repository');
  if (repository !== '' && !/^[^/\s]+\/[^/\s]+$/.test(repository))
    throw new Error(`packs-repository is ${repository}: write OWNER/REPO`);
  const path = isAbsolute(folder) ? folder : join(runner.workspace, folder);
  if (folder !== '' && !existsSync(path))
    throw new Error(`packs is ${folder}, which is not among the checked-out files`);
  let known: Promise<readonly (PackTree | NoPack)[]> | undefined;
  const readAll = async (): Promise<readonly (PackTree | NoPack)[]> => [
    ...(repository === '' ? [] : [await readRepository(makeClient(), repository)]),
    ...(folder === '' ? [] : [await readPacks(path, { shown: folder, isReadable: true })]),
  ];
  return {
    async read(request) {
      const name = 'pack' in request ? request.pack : request.file;
      known ??= readAll();
      const names: string[] = [];
      for (const packs of await known) {
        if ('missing' in packs) return packs;
        const found = packs.get(name);
        if (found !== undefined) return found;
        names.push(...packs.keys());
      }
      return notOffered(name, names, folder + repository === '' ? nothingNamed : undefined);
    },
  };
}

/** Reads the packs that the rules repository offers to the repositories of its organization. Its rules are not used. */
async function readRepository(client: Client, rules: string): Promise<PackTree | NoPack> {
  const [name = ''] = rules.split('/');
  const pins: Pins = {
    recall: async () => undefined,
    remember: async () => {},
    revise: async (_key, edit) => edit(undefined),
  };
  const { head, files, offered } = await readOrganizationRules(client, { name, rules }, { pins, grants: [] });
  if (head !== undefined) return offered;
  const why = files.flatMap(({ problems }) => problems).join('; ');
  return { missing: `${why}; the token of a job may be limited to its own repository: set "token"` };
}
