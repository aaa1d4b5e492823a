import type { Random } from '../fuzz/random.ts';
import type { TracedStep } from './trace.ts';

type Change = Extract<TracedStep, { kind: 'write' | 'truncate' }>;

/** What a power cut cannot tear. */
const sectorBytes = 512;

/** The files of a process as a disk holds them that writes what is not synced in any order, in part, or not at all. */
export class Disk {
  readonly #files = new Map<string, Buffer>();
  /** Changes that no sync has covered, with their numbers. */
  #pending: { readonly at: number; readonly change: Change }[] = [];
  #steps = 0;

  constructor(files: ReadonlyMap<string, Buffer>) {
    for (const [file, bytes] of files) this.#files.set(file, Buffer.from(bytes));
  }

  apply(step: TracedStep): void {
    const at = this.#steps;
    this.#steps += 1;
    if (step.kind === 'write' || step.kind === 'truncate') this.#pending.push({ at, change: step });
    if (step.kind !== 'sync') return;
    const isCovered = ({ at: when, change }: { at: number; change: Change }): boolean =>
      change.file === step.file && when < step.from;
    for (const one of this.#pending) if (isCovered(one)) write(this.#files, one.change);
    this.#pending = this.#pending.filter((one) => !isCovered(one));
  }

  /** Whether there are changes that a power cut may lose. */
  isBehind(): boolean {
    return this.#pending.length > 0;
  }

  /** Returns what the files hold after a power cut now. */
  cut(random: Random): ReadonlyMap<string, Buffer> {
    const files = new Map([...this.#files].map(([file, bytes]) => [file, Buffer.from(bytes)]));
    const share = random.pick([0, 0.1, 0.5, 0.9]);
    for (const { change } of this.#pending) {
      if (!random.chance(share)) continue;
      write(files, change.kind === 'write' && random.chance(0.3) ? tear(change, random) : change);
    }
    return files;
  }
}

function write(files: Map<string, Buffer>, change: Change): void {
  const before = files.get(change.file) ?? Buffer.alloc(0);
  if (change.kind === 'truncate') {
    const after = Buffer.alloc(change.length);
    before.copy(after);
    files.set(change.file, after);
    return;
  }
  const end = change.offset + change.bytes.length;
  const after = end > before.length ? Buffer.concat([before, Buffer.alloc(end - before.length)]) : before;
  change.bytes.copy(after, change.offset);
  files.set(change.file, after);
}

/** The first sectors of a write, or the last ones. */
function tear(change: Extract<Change, { kind: 'write' }>, random: Random): Change {
  const at = Math.min(
    sectorBytes * random.below(Math.ceil(change.bytes.length / sectorBytes)),
    change.bytes.length,
  );
  return random.chance(0.5)
    ? { ...change, bytes: change.bytes.subarray(0, at) }
    : { ...change, offset: change.offset + at, bytes: change.bytes.subarray(at) };
}
