import type { MonotonicClock } from '../../platform/clock.ts';
import { describeProgress, type SweepProgress } from '../../work/sweeps/progress.ts';

/** Shows the progress of an operation. */
export interface ProgressLine {
  show(progress: SweepProgress): void;
  /** Ends the line, so that further output starts on a new one. */
  end(): void;
}

/** Output stream of the line. */
export type ProgressStream = {
  readonly isTTY?: boolean | undefined;
  readonly columns?: number | undefined;
  write(text: string): unknown;
};

/** Interval between lines when the output is not a terminal. */
const everyMs = 5_000;
const barWidth = 24;

/** Creates a line that is redrawn on a terminal, and printed at an interval elsewhere (a log, a pipe). */
export function createProgressLine(
  name: string,
  { stream, clock }: { stream: ProgressStream; clock: MonotonicClock },
): ProgressLine {
  if (!stream.isTTY) {
    let writtenAtMs = clock.monotonicMs();
    return {
      show(progress) {
        if (clock.monotonicMs() - writtenAtMs < everyMs) return;
        writtenAtMs = clock.monotonicMs();
        stream.write(`${name}: ${describeProgress(progress)}\n`);
      },
      end() {},
    };
  }
  let isDrawn = false;
  return {
    show(progress) {
      isDrawn = true;
      stream.write(
        `\r\u001b[2K${lineOf(name, progress).slice(0, Math.max((stream.columns ?? 100) - 1, 20))}`,
      );
    },
    end() {
      if (isDrawn) stream.write('\n');
      isDrawn = false;
    },
  };
}

function lineOf(name: string, progress: SweepProgress): string {
  const { items, repositories, ms } = progress;
  // Items in repositories are not counted in advance: the bar shows how many repositories have been visited.
  const [visited, total = 0] =
    repositories === undefined ? [items, progress.total] : [repositories.reached, repositories.total];
  if (total === 0) return `${name}  ${describeProgress(progress)}  ${clockOf(ms)}`;
  const share = Math.min(visited / total, 1);
  const done = Math.round(share * barWidth);
  const bar = `${'█'.repeat(done)}${'░'.repeat(barWidth - done)}`;
  const left = visited === 0 ? '' : `  ${clockOf((ms / visited) * Math.max(total - visited, 0))} left`;
  return `${name}  ${bar} ${Math.floor(share * 100)} %  ${describeProgress(progress)}${left}`;
}

/** Returns a duration as minutes and seconds. */
function clockOf(ms: number): string {
  const seconds = Math.round(ms / 1_000);
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`;
}
