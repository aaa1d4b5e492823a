const seconds: Readonly<Record<string, number>> = {
  ns: 1e-9,
  us: 1e-6,
  µs: 1e-6,
  μs: 1e-6,
  ms: 1e-3,
  s: 1,
  m: 60,
  h: 3600,
};

/** Returns the whole seconds of a duration as Go writes it: `8h`, `1h30m`, `1.5h`, `0`; undefined for what is none. */
export function parseGoDuration(text: string): number | undefined {
  if (text.length > 100) return undefined;
  const [, sign = '', rest = ''] = /^([+-]?)(.*)$/s.exec(text) ?? [];
  if (rest === '0') return 0;
  if (!/^(?:(?:\d+\.?\d*|\.\d+)(?:ns|us|µs|μs|ms|s|m|h))+$/.test(rest)) return undefined;
  const parts = [...rest.matchAll(/(\d+\.?\d*|\.\d+)(ns|us|µs|μs|ms|s|m|h)/g)];
  const sum = parts.reduce(
    (total, [, number, unit]) => total + Number(number) * (seconds[unit ?? ''] ?? 0),
    0,
  );
  const whole = Math.trunc(sum);
  // Go counts nanoseconds in 63 bits: 292 years.
  if (whole > 9_223_372_036) return undefined;
  return sign === '-' && whole !== 0 ? -whole : whole;
}

/** Returns whole seconds as Go writes a duration: `8h0m0s`, `10m0s`, `0s`. */
export function formatGoDuration(whole: number): string {
  const [hours, minutes] = [Math.floor(whole / 3600), Math.floor(whole / 60) % 60];
  if (hours > 0) return `${hours}h${minutes}m${whole % 60}s`;
  return minutes > 0 ? `${minutes}m${whole % 60}s` : `${whole}s`;
}
