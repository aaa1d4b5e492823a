import { readFileSync } from 'node:fs';

/**
 * Returns the CPU time in milliseconds that a process has used, by default this process. Unlike a limit on elapsed
 * time, a limit on CPU time holds on a busy machine.
 */
export function cpuMs(pid?: number): number {
  if (pid === undefined) {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1_000;
  }
  // Fields 14 and 15, user and system time, in ticks of 10 ms.
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) * 10;
}
