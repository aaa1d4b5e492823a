import { createHash } from 'node:crypto';
import { watch } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { messageOf } from '../errors.ts';
import type { Log } from '../log.ts';
import { formatProblem } from '../rules/problem.ts';
import type { LoadedRule } from '../rules/rule.ts';
import { type FolderFile, findRuleFiles, loadRuleFiles } from './folder.ts';

/** A watch over the operator's folder. */
export interface FolderWatch {
  /** Looks now, and resolves when what is there is in force. */
  look(): Promise<void>;
  stop(): Promise<void>;
}

/** A folder may lie where nobody announces changes (a network, a mounted map): it is looked at all the same. */
const pollMs = 10_000;
/** Editors write a file in several steps. */
const settleMs = 150;

/**
 * Watches the folder of the operator's rules and hands over its rules whenever a file was changed, made or removed. A
 * file that cannot be used is told to the log and has no rules; the others go on.
 */
export function watchFolder(
  folder: string,
  options: {
    log: Log;
    onRules: (rules: readonly LoadedRule[], files: readonly FolderFile[]) => void;
  },
): FolderWatch {
  const { log, onRules } = options;
  let seen: string | undefined;
  let looking: Promise<void> = Promise.resolve();
  let timer: NodeJS.Timeout | undefined;

  const lookOnce = async (): Promise<void> => {
    try {
      const now = await signatureOf(folder);
      if (now === seen) return;
      const files = await loadRuleFiles([folder]);
      seen = now;
      tellProblems(files, log);
      const rules = files.flatMap((file) => file.rules);
      onRules(rules, files);
      log.info({ folder, files: files.length, rules: rules.length }, 'rules of the operator are in force');
    } catch (error) {
      // The folder may be away for a moment, while it is replaced: what was in force stays until it is back.
      log.warn({ folder, error: messageOf(error) }, 'the folder of rules cannot be read');
    }
  };
  const look = (): Promise<void> => {
    looking = looking.then(lookOnce);
    return looking;
  };
  const soon = (): void => {
    clearTimeout(timer);
    timer = setTimeout(look, settleMs);
  };
  const poll = setInterval(look, pollMs);
  poll.unref();
  const watcher = openWatcher(folder, soon, log);
  return {
    look,
    async stop() {
      clearInterval(poll);
      clearTimeout(timer);
      watcher?.close();
      await looking;
    },
  };
}

function openWatcher(folder: string, onChange: () => void, log: Log): { close(): void } | undefined {
  try {
    const watcher = watch(folder, { recursive: true, persistent: false }, onChange);
    watcher.on('error', (error) => log.warn({ folder, error: messageOf(error) }, 'the folder is polled'));
    return watcher;
  } catch (error) {
    log.warn({ folder, error: messageOf(error) }, 'the folder cannot be watched; it is polled');
    return undefined;
  }
}

/** Tells the log what cannot be used. */
function tellProblems(files: readonly FolderFile[], log: Log): void {
  for (const file of files.filter(({ problems }) => problems.length > 0)) {
    log.error({ file: file.path, problems: file.problems.map(formatProblem) }, 'rule file refused');
  }
}

/** Returns a text that changes whenever a rule file of the folder does. Contents, not times: a touch is no change. */
async function signatureOf(folder: string): Promise<string> {
  const digest = createHash('sha256');
  for (const path of await findRuleFiles([folder])) {
    const text = await readFile(path);
    digest.update(`${path}\0${text.length}\0`).update(text);
  }
  return digest.digest('hex');
}
