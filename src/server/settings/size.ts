const units: Readonly<Record<string, number>> = { KiB: 2 ** 10, MiB: 2 ** 20, GiB: 2 ** 30 };

/** Returns `512KiB`, `8MiB` or `5GiB` as bytes; undefined for any other text. */
export function parseSize(text: string): number | undefined {
  const unit = units[text.slice(-3)];
  return /^\d{1,6}[KMG]iB$/.test(text) && unit !== undefined ? Number(text.slice(0, -3)) * unit : undefined;
}
