import { readFileSync, writeFileSync } from 'node:fs';

/** Whether the memory of another process can be read on this system. */
export const canReadMemory = process.platform === 'linux';

/** Returns the peak memory of a process since `resetPeak`, in bytes. */
export function peakBytes(pid: number): number {
  return memberOf(pid, 'VmHWM');
}

/** Returns the memory that a process holds, as counted by the system, in bytes. */
export function residentBytes(pid: number): number {
  return memberOf(pid, 'VmRSS');
}

/** Returns the part of `residentBytes` in pages of files and of shared memory, in bytes. */
export function mappedBytes(pid: number): number {
  return memberOf(pid, 'RssFile') + memberOf(pid, 'RssShmem');
}

/** Resets the peak memory of a process. */
export function resetPeak(pid: number): void {
  writeFileSync(`/proc/${pid}/clear_refs`, '5');
}

function memberOf(pid: number, name: string): number {
  const found = new RegExp(`^${name}:\\s+(\\d+) kB$`, 'm').exec(readFileSync(`/proc/${pid}/status`, 'utf8'));
  return Number(found?.[1]) * 1_024;
}
