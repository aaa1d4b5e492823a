import { globSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';

/** The only file that may compare secrets. */
const home = 'src/platform/http/constant-time-equal.ts';

/** Comparisons from the platform and from libraries that would be a second way to compare a secret. */
const otherComparisons: readonly RegExp[] = [
  /\btimingSafeEqual\b/,
  /\bverify\b[^;]*from '@octokit\/webhooks-methods'/,
];

/** Names of values that are secrets anywhere in the sources. */
const secretName = /(password|secret|token|authorization|signature|credential|hmac|passphrase|bearer)s?$/i;

/** Values that a secret may be compared with by `===`: tests for presence, or for a SQLite column that is a flag. */
const plainValue = /^(undefined|null|true|false|\d+|''|"")$/;

/** Keyed fingerprints of webhook secrets, which are named like the secret. Only this installation can compute them. */
const fingerprint = /^(prints|known|current\.known)\b/;

const sources = globSync('src/**/*.ts').map((path) => ({ path, text: readFileSync(path, 'utf8') }));

/** Returns both operands of each `===` and `!==` of a line, up to the next space or bracket. */
function comparisonsIn(line: string): readonly (readonly [string, string])[] {
  return [...line.matchAll(/([^\s(]+)\s*[!=]==\s*([^\s);,]+)/g)].map(
    ([, left = '', right = '']) => [left, right] as const,
  );
}

function isUnsafe([left, right]: readonly [string, string]): boolean {
  const isSecret = (operand: string): boolean =>
    secretName.test(operand) && !/^['"]/.test(operand) && !fingerprint.test(operand);
  return (
    (isSecret(left) && !plainValue.test(right) && !/^['"]/.test(right)) ||
    (isSecret(right) && !plainValue.test(left) && !/^['"]/.test(left))
  );
}

it('secrets are compared only in one constant-time function', () => {
  const found = sources
    .filter(({ path }) => path !== home)
    .flatMap(({ path, text }) =>
      otherComparisons.filter((other) => other.test(text)).map((other) => `${path}: ${other.source}`),
    );

  expect(sources.length).toBeGreaterThan(300);
  expect(readFileSync(home, 'utf8').match(/timingSafeEqual\(/g)).toHaveLength(1);
  expect(found).toEqual([]);
});

it('no secret is compared by string equality', () => {
  const found = sources.flatMap(({ path, text }) =>
    text
      .split('\n')
      .flatMap((line, at) =>
        comparisonsIn(line).some(isUnsafe) ? [`${path}:${at + 1}: ${line.trim()}`] : [],
      ),
  );

  expect(found).toEqual([]);
});

it('a comparison of secrets by equality is detected', () => {
  const unsafe = [
    'if (given === password) {',
    'return form.token !== parts.token;',
    'a === entry.hmac',
    'text.slice(at + 1) === password',
  ];
  const safe = ['if (token === undefined) {', "password === ''", "kind === 'token'", 'left === right'];

  expect(unsafe.filter((line) => comparisonsIn(line).some(isUnsafe))).toEqual(unsafe);
  expect(safe.filter((line) => comparisonsIn(line).some(isUnsafe))).toEqual([]);
});
