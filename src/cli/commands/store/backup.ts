import { resolve } from 'node:path';
import type { StorePlace } from '../../../store/open-store.ts';
import { backUpStore, restoreStore, type StoreCopy } from '../../../store/sqlite/backup.ts';
import { plain, type Terminal } from '../../output/terminal.ts';
import { existingStorePath, storePath } from '../open-store.ts';

type Options = { readonly json?: boolean };

/** Copies the store into a new file. Returns the exit status. */
export async function backup(
  file: string,
  options: Options,
  settings: StorePlace,
  terminal: Terminal,
): Promise<number> {
  const path = existingStorePath(settings);
  const target = resolve(file);
  const copy = backUpStore(path, target);
  if (options.json) terminal.out(JSON.stringify({ file: target, ...copy }));
  else terminal.out(plain(`${target}: ${contentsOf(copy)}`));
  return 0;
}

/** Replaces the store with a backup. Returns the exit status. */
export async function restore(
  file: string,
  options: Options,
  settings: StorePlace,
  terminal: Terminal,
): Promise<number> {
  const path = storePath(settings);
  const stamp = new Date().toISOString().replaceAll(/[-:]|\.\d+/g, '');
  const { replaced, ...copy } = restoreStore(path, resolve(file), stamp);
  if (options.json) terminal.out(JSON.stringify({ file: path, replaced, ...copy }));
  else {
    terminal.out(plain(`${path}: ${contentsOf(copy)}`));
    if (replaced !== undefined)
      terminal.out(plain(`The previous store is now ${replaced}: delete it when you no longer need it.`));
  }
  return 0;
}

function contentsOf({ bytes, deliveries, runs }: StoreCopy): string {
  const mebibytes = (bytes / 1024 / 1024).toFixed(1);
  return `deliveries: ${deliveries}, runs: ${runs}, size: ${mebibytes} MiB`;
}
