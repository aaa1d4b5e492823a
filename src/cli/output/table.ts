/** Returns rows under their heads, each column as wide as it needs. */
export function tableOf(heads: readonly string[], rows: readonly (readonly string[])[]): string {
  const widths = heads.map((head, column) =>
    Math.max(head.length, ...rows.map((row) => row[column]?.length ?? 0)),
  );
  const line = (cells: readonly string[]): string =>
    cells
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd();
  return [line(heads), ...rows.map(line)].join('\n');
}

/** Returns how long ago an instant was, in its largest unit. */
export function ageOf(instant: string, now: Date): string {
  const minutes = Math.floor((now.getTime() - Date.parse(instant)) / 60_000);
  if (minutes < 1) return 'just now';
  if (minutes < 120) return `${minutes} min`;
  return minutes < 2_880 ? `${Math.floor(minutes / 60)} h` : `${Math.floor(minutes / 1_440)} days`;
}
