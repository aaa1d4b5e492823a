import { createHash } from 'node:crypto';
import { watch } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { messageOf } from '../../platform/errors.ts';
import type { Log } from '../../platform/log.ts';
import type { PackTree } from '../packs/pack.ts';
import { formatProblem } from '../problem.ts';
import type { LoadedRule } from '../rule.ts';
import { type FolderFile, findRuleFiles, loadRuleFiles } from './folder.ts';
import { readOffers } from './folder-packs.ts';

/** A watcher of the operator's folder. */
export interface FolderWatch {
  /** Reads the folder now, and resolves when its rules are in force. */
  look(): Promise<void>;
  stop(): Promise<void>;
}

/** Polling interval for file systems without change notifications (network, mounted volumes). */
const pollMs = 10_000;
/** Debounce time: editors write a file in several steps. */
const settleMs = 150;

/**
 * Watches the folder of the operator's rules and passes on its rules whenever a file was changed, created or deleted. An
 * unusable file is logged and has no rules; the others stay in force.
 */
export function watchFolder(
  folder: string,
  options: {
    log: Log;
    onRules: (rules: readonly LoadedRule[], files: readonly FolderFile[], offered: PackTree) => void;
  },
): FolderWatch {
  const { log, onRules } = options;
  let seen: string | undefined;
  let looking: Promise<void> = Promise.resolve();
  let timer: NodeJS.Timeout | undefined;

  const lookOnce = async (): Promise<void> => {
    try {
      const now = await folderDigest(folder);
      if (now === seen) return;
      const files = await loadRuleFiles([folder]);
      const offered = await readOffers(folder);
      seen = now;
      logProblems(files, log);
      const rules = files.flatMap((file) => file.rules);
      onRules(rules, files, offered);
      log.info({ folder, files: files.length, rules: rules.length }, 'rules of the operator are in force');
    } catch (error) {
      // The folder may be missing while it is replaced: the current rules stay in force until it is back.
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

/** Logs unusable files. */
function logProblems(files: readonly FolderFile[], log: Log): void {
  for (const file of files.filter(({ problems }) => problems.length > 0)) {
    log.error({ file: file.path, problems: file.problems.map(formatProblem) }, 'rule file refused');
  }
}

/** Returns a digest of the contents of all rule files and packs; modification times are ignored. */
async function folderDigest(folder: string): Promise<string> {
  const digest = createHash('sha256');
  for (const path of await findRuleFiles([folder], { withPacks: true })) {
    const text = await readFile(path);
    digest.update(`${path}\0${text.length}\0`).update(text);
  }
  return digest.digest('hex');
}
