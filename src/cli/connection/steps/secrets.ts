import { randomBytes } from 'node:crypto';
import { readSecret, type Variables } from '../../../server/settings/config.ts';
import { type Finding, ok, wrong } from '../finding.ts';

/** The two variables that hooks are made from. */
export const secretVariables = ['WEBHOOK_AUTHORIZATION', 'WEBHOOK_SECRET'] as const;
type Variable = (typeof secretVariables)[number];

/** What becomes of the webhook secrets: the variables to write, and what to say. Absent variables stay as they are. */
type SecretPlan = {
  readonly values: Readonly<Partial<Record<Variable, string>>>;
  readonly finding: Finding;
};

/** 32 random bytes: they cannot be guessed, and every header and file accepts their letters. */
const make = (variable: Variable): string => {
  const random = randomBytes(32).toString('base64url');
  return variable === 'WEBHOOK_AUTHORIZATION' ? `Bearer ${random}` : random;
};

/**
 * Decides on the webhook secrets: kept where they are, made where they are not. With `rotate` new ones are put before the
 * live ones, so that deliveries by hooks of both kinds pass until the hooks are made anew; a rotation that was begun is
 * gone on with.
 */
export function planSecrets(
  environment: Variables,
  options: { hasEntries: boolean; rotate: boolean; isRotating: boolean; plan: boolean },
): SecretPlan {
  const given = secretVariables.filter((name) => readSecret(environment, name) !== undefined);
  if (given.length === 0 && options.hasEntries) {
    return {
      values: {},
      finding: ok('the operator file has entries of secrets: the hooks get their first values'),
    };
  }
  const missing = secretVariables.filter((name) => !given.includes(name));
  const inFiles = given.filter((name) => environment[`${name}_FILE`]);
  if (options.rotate && inFiles.length > 0) {
    return {
      values: {},
      finding: wrong(
        `${inFiles.join(' and ')} come from files that setup does not write`,
        'add a new value on a line before the old one in each file, then run setup without --rotate',
      ),
    };
  }
  const rotated = options.rotate && !options.isRotating ? given : [];
  const values = Object.fromEntries([
    ...missing.map((name) => [name, make(name)]),
    ...rotated.map((name) => [name, `${make(name)}\n${environment[name]}`]),
  ]);
  return { values, finding: findingOf(missing, rotated, options) };
}

function findingOf(
  missing: readonly string[],
  rotated: readonly string[],
  { plan, rotate }: { plan: boolean; rotate: boolean },
): Finding {
  if (missing.length + rotated.length === 0) {
    return ok(
      rotate
        ? 'new secrets were made before; the rotation goes on'
        : 'header and signature have their secrets',
    );
  }
  const what = [
    ...(missing.length > 0 ? [`${missing.join(' and ')}: 32 random bytes each`] : []),
    ...(rotated.length > 0 ? [`${rotated.join(' and ')}: a new value before the live one`] : []),
  ].join('; ');
  return { state: plan ? 'planned' : 'changed', text: plan ? `would create ${what}` : `created ${what}` };
}

/** Returns the variables with their first value alone: what is left once no hook sends the older ones. */
export function withoutOldValues(environment: Variables): Readonly<Partial<Record<Variable, string>>> {
  const several = secretVariables.filter((name) => (environment[name] ?? '').includes('\n'));
  return Object.fromEntries(several.map((name) => [name, environment[name]?.split('\n')[0] ?? '']));
}
