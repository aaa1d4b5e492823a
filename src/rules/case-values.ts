import { markerOf, withMarker } from '../actions/texts.ts';
import { isRecord } from '../contract/events/payload-members.ts';
import { findFact } from '../facts/facts.ts';
import { completeGiven } from '../facts/given-facts.ts';
import type { LoadedRule } from './rule.ts';
import type { RuleCase } from './rule-tests.ts';

type Values = Readonly<Record<string, unknown>>;

/** Reeve's account in rule tests. */
export const ownAccount = { id: 1, login: 'reeve' } as const;

/**
 * Returns a case with the short forms of its values expanded: items of lists that are given by their name, comments,
 * reviews and issues of a rule (`by: RULE`), and ids of accounts. Throws if `by` names no rule of the file, or if the id
 * of an account is ambiguous.
 */
export function completeCase(one: RuleCase, rules: readonly LoadedRule[]): RuleCase {
  const expand = (facts: Values): Values => expandFacts(facts, { head: headOf(one), rules });
  const values = {
    facts: expand(one.facts),
    others: one.others.map(expand),
    ...(one.payload && { payload: one.payload }),
    ...(one.item && { item: one.item }),
  };
  return { ...one, ...withAccountIds(values) };
}

function headOf({ payload, item, facts }: RuleCase): unknown {
  const pulls = [facts.pull_request, payload?.pull_request, item?.value];
  const heads = [facts.head, ...pulls.map((pull) => (isRecord(pull) ? pull.head : undefined))];
  return heads.map((head) => (isRecord(head) ? head.sha : undefined)).find((sha) => sha !== undefined);
}

/** What `by: RULE` needs to know: the rules of the file, and the head of the pull request. */
type Authors = { readonly rules: readonly LoadedRule[]; readonly head: unknown };

function expandFacts(facts: Values, authors: Authors): Values {
  return Object.fromEntries(
    Object.entries(facts).map(([name, value]) => {
      const own = ownForms[name];
      const fact = findFact(name);
      const expandList = (list: unknown, path: string): unknown => {
        const whole = fact && Array.isArray(list) ? completeGiven(fact, list) : list;
        if (own === undefined || !Array.isArray(whole)) return whole;
        return whole.map((item, place) =>
          expandOwn(item, own, { path: `${path}[${place}]`, place, ...authors }),
        );
      };
      if (fact?.argument === undefined || !isRecord(value)) return [name, expandList(value, `facts.${name}`)];
      const lists = Object.entries(value).map(([argument, list]) => [
        argument,
        expandList(list, `facts.${name}["${argument}"]`),
      ]);
      return [name, Object.fromEntries(lists)];
    }),
  );
}

/** How a rule writes into a list: the key in its marker, and the members of what it wrote. */
type OwnForm = (written: Values, authors: Authors) => { readonly key: string; readonly members: Values };

const ownForms: Readonly<Record<string, OwnForm>> = {
  comments: ({ key = 'main' }) => ({ key: String(key), members: {} }),
  reviews: ({ state }, { head }) => ({
    key: state === 'APPROVED' ? 'approve' : 'request-changes',
    members: { commit_id: head, dismissed: false, stale: false },
  }),
  own_issues: ({ key = 'main', state }) => ({
    key: String(key),
    members: { title: '', state: state ?? 'open' },
  }),
};

function expandOwn(
  item: unknown,
  form: OwnForm,
  { path, place, ...authors }: Authors & { readonly path: string; readonly place: number },
): unknown {
  if (!isRecord(item) || item.by === undefined) return item;
  const { by, key: _, body = '', ...given } = item;
  if (typeof by !== 'string' || !authors.rules.some(({ name }) => name === by))
    throw new Error(`${path}.by names the rule ${JSON.stringify(by)}, which the file does not have`);
  const { key, members } = form(item, authors);
  const text = withMarker(markerOf({ rule: by }, key), String(body));
  return { id: firstId + place, ...members, ...given, user: ownAccount, body: text };
}

/** First id of what a case gives without one. */
const firstId = 1_001;

/** Facts whose items have a login and are no accounts. */
const withoutAccounts: ReadonlySet<string> = new Set(['review_requests']);

/**
 * Returns the values with an id in each account that has a login only: the id that the case gives this login elsewhere,
 * or a new one. Without ids, accounts would never be equal. Logins are compared as forges do, ignoring case.
 */
function withAccountIds<T extends object>(values: T): T {
  const known = new Map<string, Set<unknown>>();
  const needed = new Set<string>();
  visitAccounts(values, (account, login) => {
    const ids = known.get(login) ?? new Set();
    if (account.id === undefined) needed.add(login);
    else known.set(login, ids.add(account.id));
    return account;
  });
  if (needed.size === 0) return values;
  const used = new Set([...known.values()].flatMap((ids) => [...ids]));
  const ids = new Map<string, unknown>();
  let next = firstId;
  for (const login of needed) {
    const [given, other] = [...(known.get(login) ?? [])].toSorted();
    if (other !== undefined)
      throw new Error(
        `${login} has the ids ${given} and ${other} in this case: give the id wherever it stands`,
      );
    if (given === undefined && login === ownAccount.login) ids.set(login, ownAccount.id);
    else if (given !== undefined) ids.set(login, given);
    else {
      while (used.has(next)) next += 1;
      ids.set(login, next);
      next += 1;
    }
  }
  return visitAccounts(values, (account, login) =>
    account.id === undefined ? { ...account, id: ids.get(login) } : account,
  ) as T;
}

/** Returns a copy of a value with each account replaced. */
function visitAccounts(value: unknown, replace: (account: Values, login: string) => Values): unknown {
  if (Array.isArray(value)) return value.map((item) => visitAccounts(item, replace));
  if (!isRecord(value)) return value;
  const inner = Object.fromEntries(
    Object.entries(value).map(([name, member]) => [
      name,
      withoutAccounts.has(name) ? member : visitAccounts(member, replace),
    ]),
  );
  return typeof inner.login === 'string' && inner.login !== ''
    ? replace(inner, inner.login.toLowerCase())
    : inner;
}
