import { unknownSecret } from '../../actions/secrets.ts';
import { type ReceiverTestOptions, testReceiver } from '../../platform/http/message-sender.ts';
import type { LoadedRule } from '../../rules/rule.ts';

/** A place that names a secret. */
export type SecretUse = {
  readonly name: string;
  /** `rule alarm`, or a setting such as `heartbeat.to`. */
  readonly by: string;
  /** The rule and the line of its step; absent for a setting. */
  readonly at?: { readonly source: string; readonly line: number };
  /** True if Reeve itself calls the address that the secret contains. */
  readonly isAddress: boolean;
};

/** A secret that cannot be used. The text contains no part of its value. */
export type SecretFault = Pick<SecretUse, 'name' | 'at'> & { readonly text: string };

/** Returns the places in operator rules that name a secret (`{ secret: NAME }`). */
export function secretUses(rules: readonly LoadedRule[]): readonly SecretUse[] {
  return rules
    .filter(({ level }) => level === 'operator')
    .flatMap(({ name: rule, source, steps }) =>
      steps.flatMap(({ action, line, arguments: { written } }) =>
        namesIn(written).map((name) => ({
          name,
          by: `rule ${rule}`,
          at: { source, line },
          isAddress: action.name === 'notify',
        })),
      ),
    );
}

/** Returns the names of the secrets in the arguments of a step. */
function namesIn(value: unknown): readonly string[] {
  if (typeof value !== 'object' || value === null) return [];
  const members = Object.entries(value);
  const [only] = members;
  if (members.length === 1 && only?.[0] === 'secret' && typeof only[1] === 'string') return [only[1]];
  return members.flatMap(([, member]) => namesIn(member));
}

/**
 * Tests each secret once: those that rules and settings name exist, and the addresses that Reeve calls may be reached
 * and resolve. A secret that nothing names is tested as an address if it is a URL, because a rule may name it later.
 */
export async function testSecrets(
  uses: readonly SecretUse[],
  secrets: ReadonlyMap<string, string>,
  options: ReceiverTestOptions,
): Promise<readonly SecretFault[]> {
  const names = new Set([...uses.map(({ name }) => name), ...secrets.keys()]);
  const tested = [...names].map(async (name): Promise<readonly SecretFault[]> => {
    const ofName = uses.filter((use) => use.name === name);
    const use = ofName.find(({ isAddress }) => isAddress) ?? ofName[0];
    const value = secrets.get(name);
    const about = { name, ...(use?.at === undefined ? {} : { at: use.at }) };
    const by = use === undefined ? '' : `, which ${use.by} names`;
    if (value === undefined)
      return [{ ...about, text: `${unknownSecret(name)}${use ? ` (${use.by})` : ''}` }];
    const isCalled = use?.isAddress ?? /^https?:\/\//i.test(value);
    const why = isCalled ? await testReceiver(value, options) : undefined;
    return why === undefined
      ? []
      : [{ ...about, text: `no message reaches the secret ${name}${by}: ${why}` }];
  });
  return (await Promise.all(tested)).flat();
}
