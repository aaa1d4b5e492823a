/** What a traced process did to a file, in the order in which it was complete. */
export type TracedStep =
  | { readonly kind: 'write'; readonly file: string; readonly offset: number; readonly bytes: Buffer }
  | { readonly kind: 'truncate'; readonly file: string; readonly length: number }
  /** `from`: how many steps there were when the sync began. It says nothing about later ones. */
  | { readonly kind: 'sync'; readonly file: string; readonly from: number }
  /** Text that the process wrote to the file of what it has acknowledged. */
  | { readonly kind: 'note'; readonly text: string };

/** Arguments of strace with which `parseTrace` gets all that it needs. */
export function traceArguments(output: string, files: readonly string[]): readonly string[] {
  const calls = 'trace=pwrite64,write,fdatasync,fsync,ftruncate';
  return [
    '-f',
    '-y',
    '-xx',
    '-s',
    '100000',
    '-o',
    output,
    '-e',
    calls,
    ...files.flatMap((file) => ['-P', file]),
  ];
}

type Call = { readonly name: string; readonly args: string };

/** Returns the steps of the lines that strace has printed; `notes` is the file whose writes are notes. */
export async function parseTrace(
  lines: AsyncIterable<string>,
  notes: string,
): Promise<readonly TracedStep[]> {
  const steps: TracedStep[] = [];
  const begun = new Map<string, Call & { readonly from: number }>();
  for await (const line of lines) {
    const [, thread = '', rest = ''] = /^(\d+)\s+(.*)$/.exec(line) ?? [];
    const resumed = /^<\.\.\. (\w+) resumed>(.*)= (-?\d+)/.exec(rest);
    if (resumed !== null) {
      const call = begun.get(thread);
      begun.delete(thread);
      if (call !== undefined && Number(resumed[3]) >= 0) add(steps, call, call.from, notes);
      continue;
    }
    const unfinished = /^(\w+)\((.*) <unfinished \.\.\.>$/.exec(rest);
    if (unfinished !== null) {
      begun.set(thread, { name: unfinished[1] ?? '', args: unfinished[2] ?? '', from: steps.length });
      continue;
    }
    const whole = /^(\w+)\((.*)\)\s+= (-?\d+)/.exec(rest);
    if (whole !== null && Number(whole[3]) >= 0)
      add(steps, { name: whole[1] ?? '', args: whole[2] ?? '' }, steps.length, notes);
  }
  return steps;
}

function add(steps: TracedStep[], { name, args }: Call, from: number, notes: string): void {
  const file = decode(/^\d+<([^>]*)>/.exec(args)?.[1] ?? '').toString();
  if (name === 'fdatasync' || name === 'fsync') return void steps.push({ kind: 'sync', file, from });
  if (name === 'ftruncate') return void steps.push({ kind: 'truncate', file, length: lastNumber(args) });
  const bytes = decode(/"((?:\\x[0-9a-f]{2})*)"/.exec(args)?.[1] ?? '');
  if (file === notes) return void steps.push({ kind: 'note', text: bytes.toString() });
  if (name === 'pwrite64') steps.push({ kind: 'write', file, offset: lastNumber(args), bytes });
  else throw new Error(`the trace has a ${name} to ${file}, whose place is not known`);
}

function lastNumber(args: string): number {
  return Number(/(\d+)$/.exec(args)?.[1]);
}

/** Bytes in hexadecimal, as `-xx` prints them; other texts as they are. */
function decode(text: string): Buffer {
  return text.startsWith('\\x') ? Buffer.from(text.replaceAll('\\x', ''), 'hex') : Buffer.from(text);
}
