const gates = new WeakMap<AbortSignal, Promise<unknown>>();

/**
 * Makes the writes of the work with this abort signal wait until the promise resolves. If it rejects, they reject too.
 */
export function holdWrites(signal: AbortSignal, until: Promise<unknown>): void {
  gates.set(signal, until);
}

/**
 * Resolves when work with this abort signal may write to another server. Work may begin while its delivery is being
 * synced: reading has no consequences, but once a change has been made, a power failure must not undo its delivery.
 */
export async function mayWrite(signal: AbortSignal | undefined): Promise<void> {
  if (signal !== undefined) await gates.get(signal);
}
