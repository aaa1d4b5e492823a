/**
 * Instruction of a Dockerfile, with its continuation lines: `COPY`, and `--from=build /app/dist/package
 * ./dist/package`.
 */
export type Instruction = { readonly keyword: string; readonly text: string; readonly line: number };

/** Instructions from one `FROM` to the next. */
export type BuildStage = {
  readonly base: string;
  /** Name of the stage in `COPY --from`; the last stage may have no name. */
  readonly name: string | undefined;
  readonly instructions: readonly Instruction[];
};

/** Instructions that this program supports. */
const supported: ReadonlySet<string> = new Set([
  'FROM',
  'WORKDIR',
  'COPY',
  'RUN',
  'USER',
  'ENV',
  'VOLUME',
  'EXPOSE',
  'STOPSIGNAL',
  'HEALTHCHECK',
  'CMD',
]);

/** Returns the stages of a Dockerfile. Throws, with the line, if it contains something unsupported. */
export function parseDockerfile(text: string): readonly BuildStage[] {
  const stages: (BuildStage & { instructions: Instruction[] })[] = [];
  for (const { keyword, text: rest, line } of readInstructions(text)) {
    if (!supported.has(keyword)) throw new Error(`Dockerfile:${line}: ${keyword} is not supported`);
    if (keyword === 'FROM') {
      const [base = '', as, name] = rest.split(/\s+/);
      if (as !== undefined && as.toUpperCase() !== 'AS')
        throw new Error(`Dockerfile:${line}: FROM ${rest} cannot be read`);
      stages.push({ base, name, instructions: [] });
    } else {
      const stage = stages.at(-1);
      if (stage === undefined) throw new Error(`Dockerfile:${line}: ${keyword} comes before FROM`);
      stage.instructions.push({ keyword, text: rest, line });
    }
  }
  if (stages.length === 0) throw new Error('Dockerfile: there is no FROM');
  return stages;
}

function* readInstructions(text: string): Generator<Instruction> {
  const lines = text.split('\n');
  for (let at = 0; at < lines.length; at += 1) {
    const line = at + 1;
    let whole = lines[at]?.trim() ?? '';
    if (whole === '' || whole.startsWith('#')) continue;
    while (whole.endsWith('\\')) {
      at += 1;
      const next = lines[at]?.trim() ?? '';
      if (!next.startsWith('#')) whole = `${whole.slice(0, -1).trimEnd()} ${next}`;
    }
    const [, keyword = '', rest = ''] = /^(\S+)\s+([\s\S]*)$/.exec(whole) ?? [];
    yield { keyword: keyword.toUpperCase(), text: rest.trim(), line };
  }
}

/** Returns the words of the JSON form of CMD. Throws for the shell form, in which a shell receives the signals. */
export function wordsOf({ keyword, text, line }: Instruction): readonly string[] {
  try {
    const words: unknown = JSON.parse(text);
    if (Array.isArray(words) && words.every((word) => typeof word === 'string')) return words;
  } catch {
    // Reported below.
  }
  throw new Error(`Dockerfile:${line}: ${keyword} must be a JSON list of words`);
}

/** Returns the pairs of an ENV line. */
export function pairsOf({ text, line }: Instruction): Readonly<Record<string, string>> {
  const pairs = text.split(/\s+/).map((pair) => /^(\w+)=("?)([^"\s]*)\2$/.exec(pair));
  if (pairs.includes(null)) throw new Error(`Dockerfile:${line}: ENV ${text} must be NAME=value pairs`);
  return Object.fromEntries(pairs.map((match) => [match?.[1] ?? '', match?.[3] ?? '']));
}

/** Returns the packages that a RUN line installs with apt-get; empty if there are none. */
export function packagesOf({ text }: Instruction): readonly string[] {
  const [, list = ''] = /apt-get install ([^&;|]*)/.exec(text) ?? [];
  return list.split(/\s+/).filter((word) => word !== '' && !word.startsWith('-'));
}

/** Returns what `.dockerignore` allows into the build; supports only a file that excludes everything except names. */
export function readAllowed(text: string): ReadonlySet<string> {
  const lines = text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '' && !line.startsWith('#'));
  if (lines[0] !== '*' || lines.slice(1).some((line) => !/^![\w.-]+$/.test(line)))
    throw new Error('.dockerignore must be * followed by lines of the form !name');
  return new Set(lines.slice(1).map((line) => line.slice(1)));
}
