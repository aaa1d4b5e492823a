import type { OperatorSupport } from '../../language-server/open-files.ts';
import { type LanguageServerOptions, serveLanguage } from '../../language-server/server.ts';
import { messageOf, ReeveError } from '../../platform/errors.ts';
import { packageVersion } from '../../platform/package.ts';
import { type Problem, problemAtLine } from '../../rules/problem.ts';
import { loadForge, type Variables } from '../../server/settings/config.ts';
import { OperatorFile, parseOperatorFile } from '../../server/settings/operator-file.ts';

/** Serves an editor over standard input and output until it ends the process. */
export async function lsp(
  { repository = [], packs }: { readonly repository?: readonly string[]; readonly packs?: string },
  environment: Variables,
): Promise<never> {
  const wrong = repository.find((name) => !/^[^/\s]+\/[^/\s]+$/.test(name));
  if (wrong !== undefined) throw new ReeveError('usage', `${wrong} is not OWNER/NAME`);
  return serveLanguage({
    files: { rules: environment.REEVE_RULES, config: environment.REEVE_CONFIG, packs, operator },
    ...forgeOf(environment),
    repositories: repository,
    version: packageVersion(),
    input: process.stdin,
    output: process.stdout,
  });
}

/** Returns the forge of the environment. Settings that cannot be used must not keep the editor from checking files. */
function forgeOf(environment: Variables): Pick<LanguageServerOptions, 'forge' | 'problem'> {
  try {
    return { forge: loadForge(environment) };
  } catch (error) {
    return { problem: messageOf(error) };
  }
}

/** Maximum size of an operator file that is checked while it is written: its parser compares every pair of keys. */
const maxOperatorBytes = 64 * 1024;

const operator: OperatorSupport = {
  schema: OperatorFile,
  check(path, text) {
    const whole = (message: string): readonly Problem[] => [problemOf(`${path}:1:1: ${message}`, path, text)];
    if (Buffer.byteLength(text) > maxOperatorBytes) return whole('the file is larger than 64 KiB');
    try {
      return parseOperatorFile(path, text).problems.map((problem) => problemOf(problem, path, text));
    } catch (error) {
      // The parser is recursive.
      return whole(error instanceof RangeError ? 'the text is nested too deep' : messageOf(error));
    }
  },
};

/** Returns a problem of the operator file, which begins with its place: `PATH:LINE:COLUMN: `. */
function problemOf(written: string, path: string, text: string): Problem {
  const [, line = '1', column = '1', message = written] =
    /^:(\d+):(\d+): (.*)$/s.exec(written.slice(path.length)) ?? [];
  const found = { code: 'value', message, path, line: Number(line) } as const;
  const whole = problemAtLine(found, () => text);
  const width = /^[\w"'-]+/.exec(whole.source.slice(Number(column) - 1))?.[0].length ?? 1;
  return { ...whole, column: Number(column), width };
}
