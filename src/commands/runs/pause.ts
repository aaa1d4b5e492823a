import { userInfo } from 'node:os';
import { nameOfScope, type Pause, type PauseScope } from '../../engine/bounds/pauses.ts';
import { ReeveError } from '../../errors.ts';
import { plain, type Terminal } from '../../output/terminal.ts';
import { nameOfRule } from '../../rules/verdict.ts';
import type { Settings } from '../../settings/config.ts';
import { loadRuleFiles } from '../../sources/folder.ts';
import type { Store } from '../../store/store.ts';
import { openStore } from '../open-store.ts';

/** Runs among which rules of repositories and organizations are looked for. */
const recentRuns = 500;

/**
 * Stops writes of a rule, to a repository, or all; without a name, lists the pauses in force. It holds from the next request
 * of a running server on, and through restarts. Deliveries are kept. Returns the exit status.
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
        terminal.out(plain(isNew ? pausedText(scope) : `${nameOfScope(scope)} is paused already`));
    }
    const pauses = await store.listPauses();
    if (options.json) terminal.out(JSON.stringify(pauses));
    else if (name === undefined) printPauses(pauses, terminal);
    return 0;
  } finally {
    await store.close();
  }
}

/** Ends a pause; what waited for its end runs again now. Returns the exit status: 1 where there was no such pause. */
export async function resume(
  name: string,
  options: { json?: boolean },
  settings: Settings,
  terminal: Terminal,
): Promise<number> {
  const store = await openStore(settings);
  try {
    const by = `${userInfo().username} by reeve resume`;
    const isEnded = await store.resume(scopeOf(name), by);
    const left = await store.listPauses();
    if (options.json) terminal.out(JSON.stringify({ resumed: isEnded, pauses: left }));
    else {
      terminal.out(plain(isEnded ? `${name} goes on` : `${name} is not paused`));
      if (left.length > 0) printPauses(left, terminal);
    }
    return isEnded ? 0 : 1;
  } finally {
    await store.close();
  }
}

function scopeOf(name: string): PauseScope {
  if (name === 'all') return { kind: 'all' };
  return /^[^/\s#]+\/[^/\s#]+$/.test(name) ? { kind: 'repository', name } : { kind: 'rule', name };
}

/** A pause that names nothing there is would stop nothing, and look as if it did. Throws `usage`. */
async function findScope(name: string, settings: Settings, store: Store): Promise<PauseScope> {
  const scope = scopeOf(name);
  if (scope.kind === 'repository') {
    const { items } = await store.listDeliveries({ search: scope.name, limit: 50 });
    const known = items.find(({ repository }) => repository?.toLowerCase() === scope.name.toLowerCase());
    return known?.repositoryId === undefined ? scope : { ...scope, repositoryId: known.repositoryId };
  }
  if (scope.kind === 'all') return scope;
  const files = settings.rules === undefined ? [] : await loadRuleFiles([settings.rules]);
  const { items: runs } = await store.listRuns({ limit: recentRuns });
  const known = new Set([
    ...files.flatMap(({ rules }) => rules.map(({ id }) => id)),
    ...runs.flatMap(({ rules }) => rules.map(({ rule }) => rule)),
  ]);
  if ([...known].some((id) => id === name || nameOfRule(id) === name)) return scope;
  const list = [...known].toSorted().join('\n  ');
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
