import { lstatSync } from 'node:fs';
import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Git } from './process.ts';

/** A bare repository without a database row: `OWNER/NAME.git` in the repositories folder, in lower case. */
export type UnadoptedName = { readonly owner: string; readonly name: string };

/** Repositories that an operator has placed in the repositories folder for adoption. */
export interface UnadoptedRepositories {
  list(): Promise<readonly UnadoptedName[]>;
  exists(name: UnadoptedName): boolean;
  /**
   * Copies all refs to a repository in `folder`, without the original's settings and hooks. Throws `git-failed` for
   * objects that git refuses in a push.
   */
  copyTo(name: UnadoptedName, folder: string): Promise<void>;
  remove(name: UnadoptedName): Promise<void>;
}

const usable = /^[-_.a-z0-9]{1,100}$/;
/** Maximum entries searched in a folder. */
const maxEntries = 100_000;

function isDirectory(path: string): boolean {
  // A symbolic link would lead out of the folder.
  return lstatSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}

/** Opens the unadopted repositories of a folder. */
export function createUnadopted(root: string, git: Git): UnadoptedRepositories {
  /**
   * Returns the path of a repository; undefined for a name that leads out of the folder, or that belongs to a
   * repository of the forge (`17.git`).
   */
  function pathOf({ owner, name }: UnadoptedName): string | undefined {
    if (![owner, name].every((part) => usable.test(part) && !/^\.+$/.test(part))) return undefined;
    const holder = join(root, owner);
    return owner.endsWith('.git') || !isDirectory(holder) ? undefined : join(holder, `${name}.git`);
  }

  function exists(name: UnadoptedName): boolean {
    const path = pathOf(name);
    return path !== undefined && isDirectory(path) && isDirectory(join(path, 'objects'));
  }

  return {
    exists,
    async list() {
      const found: UnadoptedName[] = [];
      const owners = (await readdir(root, { withFileTypes: true })).filter(
        (entry) => entry.isDirectory() && !entry.name.endsWith('.git'),
      );
      for (const { name: owner } of owners) {
        const entries = await readdir(join(root, owner));
        for (const entry of entries.slice(0, maxEntries)) {
          const unadopted = { owner, name: entry.replace(/\.git$/, '') };
          if (entry.endsWith('.git') && exists(unadopted)) found.push(unadopted);
        }
      }
      return found.sort((one, other) => compare(one.owner, other.owner) || compare(one.name, other.name));
    },
    async copyTo(name, folder) {
      const path = pathOf(name) ?? '';
      const checked = ['-c', 'fetch.fsckObjects=true'];
      const args = [
        ...checked,
        'clone',
        '--mirror',
        '--quiet',
        '--no-local',
        '--template=',
        '--',
        path,
        folder,
      ];
      await git.run(args, { timeoutMs: 600_000 });
      // The clone would otherwise remain a mirror of the original, which the forge removes after adoption.
      await git.run(['remote', 'remove', 'origin'], { folder });
    },
    async remove(name) {
      const path = pathOf(name);
      if (path !== undefined) await rm(path, { recursive: true, force: true });
    },
  };
}

function compare(one: string, other: string): number {
  return one < other ? -1 : Number(one > other);
}
