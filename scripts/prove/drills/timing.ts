import { createHmac } from 'node:crypto';
import { createVerify, type Verify } from '../../../src/server/receiver/guards.ts';
import type { Drill } from '../promise.ts';

/**
 * Above this value, the times of two classes definitely differ (Reparaz, Balasch, Verbauwhede: "dude, is my code
 * constant time?").
 */
const maxT = 5;
const secret = 'a-secret-that-signs-with-24-bytes-or-more';
const authorization = 'Bearer authorization-value-of-24-bytes-or-more';
const body = Buffer.from(JSON.stringify({ ref: 'refs/heads/main', after: 'a'.repeat(40) }));
const good = createHmac('sha256', secret).update(body).digest('hex');

/** Values that an attacker sends: wrong from the first byte, or wrong only in the last one. */
const classes: Readonly<Record<string, readonly [Record<string, string>, Record<string, string>]>> = {
  signature: [
    { authorization, 'x-gitea-signature': `${flip(good[0])}${good.slice(1)}` },
    { authorization, 'x-gitea-signature': `${good.slice(0, -1)}${flip(good.at(-1))}` },
  ],
  'authorization header': [
    { authorization: `X${authorization.slice(1)}`, 'x-gitea-signature': good },
    { authorization: `${authorization.slice(0, -1)}X`, 'x-gitea-signature': good },
  ],
};

/**
 * Measures the verification of credentials that differ in their first or in their last byte, in random order, and
 * compares the two samples with Welch's t-test. A verification that stops at the first wrong byte is measured as well,
 * because a test that does not detect it would prove nothing.
 */
export const drill: Drill = async ({ isQuick, signal }) => {
  const samples = isQuick ? 20_000 : 200_000;
  const verify = createVerify([
    { name: 'all', scope: ['*'], authorization: [authorization], hmac: [secret] },
  ]);
  const found: string[] = [];
  let worst = 0;
  for (const [name, pair] of Object.entries(classes)) {
    const t = await measure(verify, pair, { samples, signal });
    worst = Math.max(worst, Math.abs(t));
    found.push(`${name} |t| ${Math.abs(t).toFixed(1)}`);
  }
  const control = Math.abs(await measure(leaking(verify), classes.signature as never, { samples, signal }));
  return {
    figure: `${samples.toLocaleString('en')} samples of each: ${found.join(', ')}; a comparison that stops at the first wrong byte: ${control.toFixed(0)}`,
    isKept: worst < maxT && control > maxT,
  };
};

function flip(digit = '0'): string {
  return digit === '0' ? '1' : '0';
}

/**
 * Runs the verification, and then a naive comparison byte by byte, whose duration reveals how many bytes were right.
 */
function leaking(verify: Verify): Verify {
  return async (headers, bytes) => {
    const result = await verify(headers, bytes);
    const given = String(headers['x-gitea-signature']);
    for (let at = 0; at < good.length; at += 1) {
      // Sixteen rounds for each byte make it as slow as an interpreter that compares texts.
      for (let round = 0; round < 16; round += 1)
        if (given.charCodeAt(at) !== good.charCodeAt(at)) return result;
    }
    return result;
  };
}

type Pair = readonly [Record<string, string>, Record<string, string>];

/** Returns the greatest t of all samples, and of the samples without the slowest, which the machine causes. */
async function measure(
  verify: Verify,
  pair: Pair,
  { samples, signal }: { readonly samples: number; readonly signal: AbortSignal },
): Promise<number> {
  const times: [number[], number[]] = [[], []];
  for (let at = 0; at < 2_000; at += 1) await verify(pair[at % 2 === 0 ? 0 : 1], body);
  for (let at = 0; at < samples; at += 1) {
    if (at % 10_000 === 0) signal.throwIfAborted();
    const which = Math.random() < 0.5 ? 0 : 1;
    const startedNs = process.hrtime.bigint();
    await verify(pair[which], body);
    times[which].push(Number(process.hrtime.bigint() - startedNs));
  }
  const all = times.flat().sort((one, other) => one - other);
  const limits = [0.5, 0.9, 0.99].map((share) => all[Math.floor(all.length * share)] ?? 0);
  const ts = limits.map((limit) =>
    welchT(...(times.map((one) => one.filter((ns) => ns <= limit)) as [number[], number[]])),
  );
  return ts.reduce((one, other) => (Math.abs(other) > Math.abs(one) ? other : one), 0);
}

/** Returns Welch's t: the difference of two means in units of its standard error. */
function welchT(one: readonly number[], other: readonly number[]): number {
  const [a, b] = [momentsOf(one), momentsOf(other)];
  return (a.mean - b.mean) / Math.sqrt(a.variance / one.length + b.variance / other.length);
}

function momentsOf(values: readonly number[]): { readonly mean: number; readonly variance: number } {
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  const squares = values.reduce((sum, value) => sum + (value - mean) ** 2, 0);
  return { mean, variance: squares / (values.length - 1) };
}
