import { userInfo } from 'node:os';
import { nameOfScope, type Pause, type PauseScope } from '../../../engine/bounds/pauses.ts';
import { ReeveError } from '../../../platform/errors.ts';
import { loadRuleFiles } from '../../../rules/sources/folder.ts';
import type { Settings } from '../../../server/settings/config.ts';
import type { Store } from '../../../store/store.ts';
import { findPauseScope, scopeOfName } from '../../../work/runs/pause-scope.ts';
import { plain, type Terminal } from '../../output/terminal.ts';
import { openStore } from '../open-store.ts';

/**
 * Pauses the writes of a rule, the writes to a repository, or all writes; without a name, lists the active pauses. A
 * pause takes effect with the next request of a running server, and survives restarts. Deliveries are kept. Returns the
 * exit status.
 */
export async function pause(
  name: string | undefined,
  options: { json?: boolean },
  settings: Settings,
  terminal: Terminal,
): Promise<number> {
  const store = await openStore(settings);
  try {
    if (name !== undefined) {
      const scope = await findScope(name, settings, store);
      const isNew = await store.pause(scope, `${userInfo().username} by reeve pause`);
      if (!options.json)
        terminal.out(plain(isNew ? pausedText(scope) : `${nameOfScope(scope)} is already paused`));
    }
    const pauses = await store.listPauses();
    if (options.json) terminal.out(JSON.stringify(pauses));
    else if (name === undefined) printPauses(pauses, terminal);
    return 0;
  } finally {
    await store.close();
  }
}

/**
 * Ends a pause; deliveries that waited for its end run again. Returns the exit status: 1 if there was no such pause.
 */
export async function resume(
  name: string,
  options: { json?: boolean },
  settings: Settings,
  terminal: Terminal,
): Promise<number> {
  const store = await openStore(settings);
  try {
    const by = `${userInfo().username} by reeve resume`;
    const isEnded = await store.resume(scopeOfName(name), by);
    const left = await store.listPauses();
    if (options.json) terminal.out(JSON.stringify({ resumed: isEnded, pauses: left }));
    else {
      terminal.out(plain(isEnded ? `${name} is resumed` : `${name} is not paused`));
      if (left.length > 0) printPauses(left, terminal);
    }
    return isEnded ? 0 : 1;
  } finally {
    await store.close();
  }
}

/** Returns the scope that a name stands for. Throws `usage` if no rule has this name. */
async function findScope(name: string, { rules }: Settings, store: Store): Promise<PauseScope> {
  const load = async (): Promise<readonly string[]> => {
    const files = rules === undefined ? [] : await loadRuleFiles([rules], { isOperators: true });
    return files.flatMap((file) => file.rules.map(({ id }) => id));
  };
  const found = await findPauseScope(scopeOfName(name), load, store);
  if ('scope' in found) return found.scope;
  const list = found.known.join('\n  ');
  throw new ReeveError(
    'usage',
    `no rule is named "${name}"; write a rule, OWNER/REPO or all${list === '' ? '' : `; known rules are\n  ${list}`}`,
  );
}

function pausedText(scope: PauseScope): string {
  const what = scope.kind === 'all' ? 'all writes are' : `${scope.kind} ${scope.name} is`;
  return `${what} paused; deliveries are kept, and reeve resume ${nameOfScope(scope)} ends it`;
}

function printPauses(pauses: readonly Pause[], terminal: Terminal): void {
  if (pauses.length === 0) terminal.out('Nothing is paused.');
  for (const { scope, at, by } of pauses)
    terminal.out(plain(`${nameOfScope(scope)}: paused since ${at.toISOString()} by ${by}`));
}
