/** Nanoseconds of each unit that a written duration may have. */
const units: Readonly<Record<string, bigint>> = {
  ns: 1n,
  us: 1_000n,
  µs: 1_000n,
  ms: 1_000_000n,
  s: 1_000_000_000n,
  m: 60_000_000_000n,
  h: 3_600_000_000_000n,
};
const second = 1_000_000_000n;
const millisecond = 1_000_000n;
/** The longest duration of CEL, about 10,000 years. */
const maxNanoseconds = 315_576_000_000n * second;
const maxLength = 64;

/** A CEL duration: a span of time, exact to the nanosecond, negative where it leads back. */
export class Duration {
  readonly nanoseconds: bigint;

  constructor(nanoseconds: bigint) {
    this.nanoseconds = nanoseconds;
  }

  static ofMilliseconds(milliseconds: number): Duration {
    const whole = Math.trunc(milliseconds);
    // Multiplied as a whole, a date's milliseconds would lose their last digits.
    return new Duration(BigInt(whole) * millisecond + BigInt(Math.round((milliseconds - whole) * 1_000_000)));
  }

  /** Whole milliseconds, rounded down. */
  get milliseconds(): number {
    const rest = this.nanoseconds % millisecond;
    return Number((this.nanoseconds - rest) / millisecond) - (rest < 0n ? 1 : 0);
  }

  /** Whether CEL has durations this long. */
  get isValid(): boolean {
    return this.nanoseconds <= maxNanoseconds && this.nanoseconds >= -maxNanoseconds;
  }

  /** Returns how many of a unit are in the whole duration, without the rest. */
  in(unit: 'h' | 'm' | 's' | 'ms'): number {
    return Number(this.nanoseconds / (units[unit] ?? 1n));
  }

  /** Returns the text as CEL has it: seconds, such as `5400s` or `1.5s`. */
  toString(): string {
    const size = this.nanoseconds < 0n ? -this.nanoseconds : this.nanoseconds;
    const fraction = (size % second).toString().padStart(9, '0').replace(/0+$/, '');
    const sign = this.nanoseconds < 0n ? '-' : '';
    return `${sign}${size / second}${fraction === '' ? '' : `.${fraction}`}s`;
  }

  toJSON(): string {
    return this.toString();
  }
}

/** Returns the duration of a text such as `15m`, `1h30m`, `-1.5h` or `300ms`, or undefined where it is none. */
export function parseDuration(text: string): Duration | undefined {
  if (text.length > maxLength || !/^[+-]?((\d+\.?\d*|\.\d+)(ns|us|µs|ms|s|m|h))+$/.test(text))
    return undefined;
  let nanoseconds = 0n;
  for (const [, amount = '', unit = ''] of text.matchAll(/([\d.]+)(ns|us|µs|ms|s|m|h)/g)) {
    const [whole = '', fraction = ''] = amount.split('.');
    const scale = units[unit] ?? 0n;
    nanoseconds += BigInt(whole) * scale + (BigInt(fraction) * scale) / 10n ** BigInt(fraction.length);
  }
  const duration = new Duration(text.startsWith('-') ? -nanoseconds : nanoseconds);
  return duration.isValid ? duration : undefined;
}
