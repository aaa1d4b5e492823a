import { readFileSync, writeFileSync } from 'node:fs';

/** Whether the memory of another process can be read here. */
export const canReadMemory = process.platform === 'linux';

/** Returns the most memory that a process has held since `resetPeak`, in bytes. */
export function peakBytes(pid: number): number {
  return memberOf(pid, 'VmHWM');
}

/** Returns the memory that a process holds, as the system counts it, in bytes. */
export function residentBytes(pid: number): number {
  return memberOf(pid, 'VmRSS');
}

/** Returns the part of `residentBytes` that is pages of files and of memory that processes share, in bytes. */
export function mappedBytes(pid: number): number {
  return memberOf(pid, 'RssFile') + memberOf(pid, 'RssShmem');
}

/** Lets the peak of a process begin anew. */
export function resetPeak(pid: number): void {
  writeFileSync(`/proc/${pid}/clear_refs`, '5');
}

function memberOf(pid: number, name: string): number {
  const found = new RegExp(`^${name}:\\s+(\\d+) kB$`, 'm').exec(readFileSync(`/proc/${pid}/status`, 'utf8'));
  return Number(found?.[1]) * 1_024;
}
