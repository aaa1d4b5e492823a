import { createLog, type Log } from '../../src/platform/log.ts';

const names: Readonly<Record<number, string>> = { 20: 'debug', 30: 'info', 40: 'warn', 50: 'error' };

/** Returns a log and its recorded lines: level, text, and members. */
export function recordLog(): { log: Log; lines: [level: string, text: string, members: object][] } {
  const lines: [string, string, object][] = [];
  const write = (line: string): void => {
    const { level, msg, time: _, ...members } = JSON.parse(line);
    lines.push([names[level] ?? '', msg, members]);
  };
  return { log: createLog({ level: 'debug', destination: { write } }), lines };
}
