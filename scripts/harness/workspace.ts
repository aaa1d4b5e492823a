import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Temporary folder. `defer` adds a function that runs before the folder is deleted, in reverse order. */
export type Workspace = { readonly folder: string; readonly defer: (close: () => unknown) => void };

/** Returns the result of the work in a temporary folder, after everything is closed and the folder is deleted. */
export async function withWorkspace<Result>(
  name: string,
  work: (workspace: Workspace) => Promise<Result>,
): Promise<Result> {
  const folder = await mkdtemp(join(tmpdir(), `reeve-${name}-`));
  const closing: (() => unknown)[] = [];
  try {
    return await work({ folder, defer: (close) => void closing.unshift(close) });
  } finally {
    try {
      for (const close of closing) await close();
    } finally {
      await rm(folder, { recursive: true, force: true, maxRetries: 5 });
    }
  }
}
