const unitsMs: Readonly<Record<string, number>> = { m: 60_000, h: 3_600_000, d: 86_400_000 };

/** Returns `30m`, `12h` or `7d` as milliseconds; undefined for any other text. */
export function parseDurationMs(text: string): number | undefined {
  const unitMs = unitsMs[text.at(-1) ?? ''];
  return /^\d{1,5}[mhd]$/.test(text) && unitMs !== undefined ? Number(text.slice(0, -1)) * unitMs : undefined;
}
