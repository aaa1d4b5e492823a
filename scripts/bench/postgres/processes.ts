import { type Child, startChild } from '../child.ts';
import type { LibraryProcess } from './library.ts';
import type { ReeveProcess } from './reeve.ts';

/** Starts a process of Reeve; returns the port of its receiver, too. */
export async function startReeve(options: ReeveProcess): Promise<{ child: Child; port: number }> {
  const script = new URL('./reeve.ts', import.meta.url);
  const { child, ready } = await startChild(script, [JSON.stringify(options)]);
  return { child, port: Number(ready) };
}

/** Starts a process of another library. */
export async function startLibrary(options: LibraryProcess): Promise<Child> {
  const script = new URL('./library.ts', import.meta.url);
  return (await startChild(script, [JSON.stringify(options)])).child;
}
