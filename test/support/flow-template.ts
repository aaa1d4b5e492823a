import { cpSync, rmSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Folder of a prepared and closed embedded forge, which other forges are started from. */
export interface FlowTemplate {
  /** Names of the accounts in the template. The first account is the administrator. */
  readonly people: readonly string[];
  /** Copies the template to a folder that does not exist yet. */
  copyTo(folder: string): void;
}

const made = new Map<string, Promise<FlowTemplate>>();

/**
 * Returns the template of this name. `arrange` starts a forge in a folder, prepares it, closes it, and returns the
 * names of its accounts. It runs once per process, however many flows use the template.
 */
export function flowTemplate(
  name: string,
  arrange: (folder: string) => Promise<readonly string[]>,
): Promise<FlowTemplate> {
  const known = made.get(name) ?? makeTemplate(arrange);
  made.set(name, known);
  return known;
}

async function makeTemplate(arrange: (folder: string) => Promise<readonly string[]>): Promise<FlowTemplate> {
  const folder = await mkdtemp(join(tmpdir(), 'reeve-template-'));
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  const people = await arrange(folder);
  return { people, copyTo: (target) => cpSync(join(folder, 'forge'), target, { recursive: true }) };
}
