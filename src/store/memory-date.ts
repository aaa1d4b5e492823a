/** Returns the date by which the retention deletes plain data: its member `at`. */
export function memoryDateOf(value: unknown): string | undefined {
  if (typeof value !== 'object' || value === null || !('at' in value)) return undefined;
  return typeof value.at === 'string' ? value.at : undefined;
}
