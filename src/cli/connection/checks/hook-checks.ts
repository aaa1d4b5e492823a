import { ReeveError } from '../../../platform/errors.ts';
import { pollingGaps } from '../../../rules/verdict.ts';
import {
  entryFor,
  fingerprintHook,
  type HookFault,
  hookFault,
  missingKinds,
  type SetupHook,
} from '../../../server/hooks/match.ts';
import { locationName } from '../../../server/hooks/places.ts';
import type { SecretEntry } from '../../../server/receiver/secrets.ts';
import { loadFingerprintKey } from '../../../server/settings/secrets/installation-secret.ts';
import { readLastPoll, requestsPerHour } from '../../../work/sweeps/catch-up/poll.ts';
import { toRepositoryRef } from '../../../work/sweeps/targets/repositories.ts';
import { count, plain } from '../../output/terminal.ts';
import { type Finding, ok, skipped, warning, wrong } from '../finding.ts';
import { checkOtherReceivers } from '../hooks/other-receivers.ts';
import { allowAdvice, probeReceiver, reachOf } from '../hooks/probe-receiver.ts';
import { checkServedHooks, hookKinds } from '../hooks/served-hooks.ts';
import { findingOfLeft, findingOfTest, type HookTestResult, testHook } from '../hooks/test-hook.ts';
import type { Check, Examination, HookState } from './examination.ts';

/** Checks of the deliveries of hooks, and of the address they are sent to. */
const deliveryChecks: readonly Check[] = [
  {
    id: 'webhook-address',
    looks: 'The program that answers at `webhook.url`, requested from this machine.',
    fails:
      'Not this Reeve: no response, another program, a proxy that does not forward /webhook, or a Reeve with other secrets.',
    remedy: 'Configure the proxy to forward POST /webhook to `HOST` and `PORT`, or correct `webhook.url`.',
    after: ['process'],
    run: checkAddress,
  },
  {
    id: 'delivery',
    looks:
      'A test delivery by each hook: whether it arrives and passes the receiver. Hooks of organizations, accounts and the instance only with `--thorough`, because a temporary repository is created for them.',
    fails: 'It does not arrive, or its header or signature does not match the settings.',
    remedy:
      'As the message says: allow the forge to send there, correct the URL, or run `reeve setup`, which replaces the hook.',
    after: ['token', 'store', 'process', 'hooks'],
    run: checkDeliveries,
  },
  {
    id: 'target',
    looks:
      'If no delivery arrived: whether `webhook.url` is an address that forges refuse by default (loopback, private).',
    fails: 'No delivery arrived, and the address is one of these.',
    remedy:
      'Set `ALLOWED_HOST_LIST = external,loopback` (or `private`) in the forge’s app.ini, below `[security]` on Gitea 1.27 and later, below `[webhook]` on earlier versions and on Forgejo, and restart it.',
    after: ['token', 'store', 'process', 'hooks'],
    run: checkTarget,
  },
  {
    id: 'dead',
    looks:
      'Dead deliveries in the store. It also counts those that wait, for example for an unavailable forge.',
    fails: 'There are some: they were given up, and their changes were not made.',
    remedy: 'Fix the cause, then run `reeve redrive --all`.',
    after: ['store'],
    run: async ({ store }) => {
      const { accepted, claimed, retry, deferred, dead, settled } = await (await store()).counts();
      const why = [
        ...(retry > 0 ? [`${retry} for a retry`] : []),
        ...(deferred > 0 ? [`${deferred} deferred`] : []),
      ];
      const waiting = `${accepted + claimed + retry + deferred} waiting${why.length > 0 ? ` (${why.join(', ')})` : ''}`;
      const text = `${count(settled, 'delivery')} settled, ${waiting}, ${dead} given up`;
      return dead === 0 ? ok(text) : wrong(text, 'reeve redrive --all tries them again');
    },
  },
];

async function checkAddress({ settings, listening }: Examination): Promise<Finding> {
  const { webhook } = settings;
  const [entry] = settings.secrets;
  if (webhook === undefined || entry === undefined)
    return skipped('the operator file does not set webhook.url');
  const listener = await listening();
  if ('advice' in listener) return skipped(listener.text);
  const there = await probeReceiver(webhook.url, entry);
  const advice = `configure ${new URL(webhook.url).host} to forward POST /webhook to ${settings.host}:${settings.port}, or correct webhook.url`;
  if (there.who === 'ours') return ok(`${webhook.url} reaches this Reeve`);
  if (there.who === 'other-secrets')
    return wrong(`${webhook.url} reaches a Reeve with other secrets`, advice);
  if (there.who === 'throttled')
    return skipped(`${webhook.url} limits requests after too many failures; try again in a minute`);
  return wrong(`${webhook.url} does not reach this Reeve (${there.why})`, advice);
}

/** Time after which a poll counts as missing, in addition to two intervals. */
const graceMs = 120_000;
/** Maximum number of rules that are named. */
const maxRules = 5;

async function checkPolling(examination: Examination): Promise<Finding> {
  const { settings, store, rules } = examination;
  const { poll: everySeconds } = settings;
  if (everySeconds === undefined) return skipped('REEVE_POLL is not set: webhooks announce events');
  const last = await readLastPoll(await store());
  const every = `every ${everySeconds} s`;
  if (last?.error !== undefined)
    return wrong(
      `${every}; the last poll, at ${last.at}, failed: ${last.error}`,
      'remove the cause: nothing is lost, the next poll continues',
    );
  const cost = last && `, about ${requestsPerHour(last, everySeconds)} requests an hour`;
  const text = last
    ? `${every}${cost}; last poll at ${last.at}, of ${count(last.repositories, 'repository')}`
    : `${every}; there was no poll yet`;
  const operator = (await rules()).flatMap((file) => file.rules);
  const { gaps, note } = await findServedGaps(examination);
  const finding = gapsFinding([...pollingGaps(operator), ...gaps], text);
  if (finding) return { ...finding, text: `${finding.text}${note}` };
  if (last !== undefined && last.failed > 0)
    return warning(
      `${text}; ${count(last.failed, 'repository')} could not be read`,
      'the log of reeve serve names them',
    );
  const ageMs = last === undefined ? 0 : Date.now() - Date.parse(last.at);
  if (ageMs > 2_000 * everySeconds + graceMs)
    return warning(`${text}, which is too long ago`, 'start reeve serve, or look at its log');
  return note === '' ? ok(text) : ok(`${text}${note}`);
}

/** Returns the warning about rules that polling does not start for all of their events; undefined without any. */
export function gapsFinding(gaps: readonly string[], text: string): Finding | undefined {
  if (gaps.length === 0) return undefined;
  const more = gaps.length > maxRules ? `; and ${gaps.length - maxRules} more` : '';
  return warning(
    `${text}; ${plain(gaps.slice(0, maxRules).join('; '))}${more}`,
    'let the rule listen to another event, read facts instead, or give it a schedule',
  );
}

/**
 * Returns what polling does not find for the rules of served repositories and organizations, each with its file, and a
 * note about files that were not examined.
 */
export async function findServedGaps({
  servedRules,
}: Pick<Examination, 'servedRules'>): Promise<{ readonly gaps: readonly string[]; readonly note: string }> {
  try {
    const { rules, read, unread, isWhole } = await servedRules();
    const bySource = Map.groupBy(rules, ({ source }) => source);
    const gaps = [...bySource].flatMap(([source, some]) =>
      pollingGaps(some).map((gap) => `${source}: ${gap}`),
    );
    const [first] = unread;
    const others = unread.length > 1 ? ` and ${unread.length - 1} more` : '';
    const notes = [
      ...(first === undefined ? [] : [`; the rule file of ${first}${others} cannot be read`]),
      ...(isWhole ? [] : [`; only the files of the first ${count(read, 'repository')} were examined`]),
    ];
    return { gaps, note: notes.join('') };
  } catch (error) {
    // The connection to the forge has checks of its own.
    if (!(error instanceof ReeveError)) throw error;
    return { gaps: [], note: '; the rule files of repositories were not examined' };
  }
}

const tries = new WeakMap<Examination, Promise<readonly { look: HookState; tried: HookTestResult }[]>>();

/** Tests each testable hook once. A second call returns the results of the first. */
function tryAll(examination: Examination): Promise<readonly { look: HookState; tried: HookTestResult }[]> {
  const known = tries.get(examination) ?? tryEach(examination);
  tries.set(examination, known);
  return known;
}

async function tryEach(
  examination: Examination,
): Promise<readonly { look: HookState; tried: HookTestResult }[]> {
  const { settings, test, hooks, listening } = examination;
  const listener = test === 'none' ? undefined : await listening();
  const answers: { look: HookState; tried: HookTestResult }[] = [];
  for (const look of (await hooks()).readable) {
    const { location, client, match } = look;
    const untried = (why: string): number => answers.push({ look, tried: { came: 'untried', why } });
    if (listener === undefined) untried('--no-test: no test delivery was requested');
    else if ('advice' in listener) untried(listener.text);
    else if (!match.found?.active) untried(`${locationName(location)} has no active hook that delivers here`);
    else if (entryFor(location, settings.secrets) === undefined)
      untried(`${locationName(location)} has no entry of secrets`);
    else if (location.level !== 'repository' && test !== 'thorough') {
      untried(
        `the hook of ${locationName(location)} is tested only with --thorough: a repository is created for it`,
      );
    } else {
      answers.push({
        look,
        tried: await testHook({ client, place: location, hookId: match.found.id, listening: listener }),
      });
    }
  }
  return answers;
}

async function checkDeliveries(examination: Examination): Promise<Finding> {
  const { webhook, poll } = examination.settings;
  if (webhook === undefined && poll !== undefined) return skipped('polling needs no deliveries');
  const url = webhook?.url ?? '';
  const answers = await tryAll(examination);
  const findings = await Promise.all(
    answers.map(({ look, tried }) => findingOfTest(tried, look.location, url)),
  );
  if (findings.length === 0) return skipped('no location with a readable hook');
  const worst = findings.find(({ state }) => state === 'wrong');
  if (worst) return worst;
  const left = findingOfLeft(answers.map(({ tried }) => tried));
  if (left) return left;
  const isAny = findings.some(({ state }) => state === 'ok');
  return { state: isAny ? 'ok' : 'skipped', text: findings.map(({ text }) => text).join('; ') };
}

async function checkTarget(examination: Examination): Promise<Finding> {
  const { webhook } = examination.settings;
  if (webhook === undefined) return skipped('the operator file does not set webhook.url');
  const reach = await reachOf(webhook.url);
  const { hostname } = new URL(webhook.url);
  if (reach === 'unknown')
    return wrong(`${hostname} does not resolve on this machine`, 'correct webhook.url, or the DNS entry');
  if (reach === 'external') return ok(`${hostname} is a public address, which forges allow by default`);
  const came = (await tryAll(examination)).map(({ tried }) => tried.came);
  if (came.includes('nothing'))
    return wrong(`${hostname} is a ${reach} address, and no delivery arrived`, allowAdvice(reach));
  if (came.includes('arrived') || came.includes('refused'))
    return ok(`${hostname} is a ${reach} address, and the forge sends there`);
  return skipped(
    `${hostname} is a ${reach} address: a forge sends there only if ALLOWED_HOST_LIST allows it`,
  );
}

/** Returns why there are no hooks to check; undefined if the operator file has some. */
function whyNoHooks({ webhook, poll }: Examination['settings']): string | undefined {
  if (webhook !== undefined) return undefined;
  return poll === undefined
    ? 'the operator file has no webhook section: reeve setup creates the hooks'
    : 'polling needs no hooks';
}

const again = 'run reeve setup again: it corrects the hooks';
/** Setup on a machine that Reeve has left would take the hook from the new one, and both would write. */
const adviceElsewhere =
  'another Reeve may run at that address: if so, stop this one and disable its service; run reeve setup here only if that one is stopped for good';

/** Checks of the hooks as the forge shows them, followed by checks of their deliveries. */
export const hookChecks: readonly Check[] = [
  {
    id: 'hooks',
    looks:
      'The hook locations under `webhook` in the operator file, and whether the token can read them. Unreadable ones are reported and skipped.',
    fails: 'A URL is set but no location, so no events arrive.',
    remedy:
      '`reeve setup` with `--repository`, `--organization`, `--user` or `--system`. To check unreadable ones, set `SETUP_TOKEN`.',
    after: ['token', 'store'],
    run: async ({ settings, hooks }) => {
      const why = whyNoHooks(settings);
      if (why !== undefined) return skipped(why);
      const { readable, unreadable } = await hooks();
      if (readable.length + unreadable.length === 0) {
        return wrong(
          'the operator file does not list a location for hooks',
          'reeve setup --repository owner/name',
        );
      }
      const titles = readable.map(({ location }) => locationName(location)).join(', ');
      if (unreadable.length === 0) return ok(`the hooks of ${titles} can be read`);
      return skipped(
        `the hooks of ${count(unreadable.length, 'place')} cannot be seen without SETUP_TOKEN of an account that may: ${unreadable.join('; ')}${titles && `; those of ${titles} can`}`,
      );
    },
  },
  {
    id: 'hook-missing',
    looks: 'Whether each location has a hook to `webhook.url`.',
    fails: 'A location has none, so no events arrive from it.',
    remedy: '`reeve setup` creates it.',
    after: ['token', 'store', 'hooks'],
    run: checkEachHook('each location has a hook', faultsOf('missing')),
  },
  {
    id: 'hook-elsewhere',
    looks: 'Whether the hook that setup created still delivers to `webhook.url`.',
    fails:
      'The URL of the hook was changed, the address of Reeve changed, or another Reeve, to which this one was moved, has the hook now.',
    remedy:
      'If a Reeve works at the other address, stop this one and disable its service. Only if that one is stopped for good, `reeve setup` takes the hook back; `--webhook URL` sets Reeve’s new address.',
    after: ['token', 'store', 'hooks'],
    run: checkEachHook('hooks point here', faultsOf('elsewhere'), adviceElsewhere),
  },
  {
    id: 'hook-inactive',
    looks: 'Whether the hooks are active.',
    fails: 'A hook was disabled.',
    remedy: '`reeve setup` enables it.',
    after: ['token', 'store', 'hooks'],
    run: checkEachHook('hooks are active', faultsOf('inactive')),
  },
  {
    id: 'hook-duplicate',
    looks: 'Whether more than one hook of a location delivers to this Reeve.',
    fails: 'There are several, so each event arrives several times.',
    remedy: '`reeve setup` keeps one.',
    after: ['token', 'store', 'hooks'],
    run: checkEachHook('each location has one hook', ({ match }) => {
      const here = match.duplicates.length + (match.found ? 1 : 0);
      return here > 1 ? [`has ${here} hooks that deliver here`] : [];
    }),
  },
  {
    id: 'hook-events',
    looks: 'The events of the hooks compared with the events of the operator’s rules.',
    fails: 'An event of a rule is missing in the hook.',
    remedy: '`reeve setup` adds it to the hooks.',
    after: ['token', 'store', 'hooks'],
    run: async (examination) => {
      const { capabilities } = await examination.capabilities();
      const rules = (await examination.rules()).flatMap((file) => file.rules);
      const kinds = hookKinds(examination.settings.webhook?.events ?? 'all', rules, capabilities);
      const look = checkEachHook('hooks receive all required events', ({ match }) => {
        const missing = match.found ? missingKinds(match.found, kinds) : [];
        return missing.length > 0 ? [`has a hook that lacks the events ${missing.join(', ')}`] : [];
      });
      return look(examination);
    },
  },
  {
    id: 'hook-secret',
    looks:
      'Fingerprints of each hook’s header and secret, as written by setup, compared with those of the settings: no forge shows the values. Only `delivery` detects later manual changes on the forge.',
    fails: 'The settings have other values now, so every delivery would be refused.',
    remedy: '`reeve setup` writes the values of the settings to the hooks.',
    after: ['token', 'store', 'hooks'],
    run: checkSecrets,
  },
  {
    id: 'served-hooks',
    looks:
      'Whether every served repository has a hook: one of a location under `webhook` that includes it, one of the repository itself, or one that has delivered before.',
    fails: 'A repository has no known hook, so no events arrive from it; or no repository is served.',
    remedy: '`reeve setup --repository OWNER/NAME`, or `--organization NAME` for all of an organization.',
    after: ['token', 'store'],
    run: async ({ client, account, settings, hooks, store }) => {
      if (settings.poll !== undefined) return skipped('polling needs no hooks');
      const { readable, unreadableLocations } = await hooks();
      const active = readable.filter(({ match }) => match.found?.active).map(({ location }) => location);
      return checkServedHooks({
        client,
        login: (await account()).login,
        listed: settings.repositories,
        places: [...active, ...unreadableLocations],
        url: settings.webhook?.url,
        store: await store(),
      });
    },
  },
  ...deliveryChecks,
  {
    id: 'polling',
    looks:
      'With `REEVE_POLL`: the interval, the requests an hour, the last poll, and whether polling finds what the rules of the operator, and those of at most 100 served repositories and their organizations, listen to and read.',
    fails:
      'The last poll failed. A warning if the last poll is too old, or if a rule needs what polling does not find.',
    remedy:
      'As the message says. [Without a reachable address](../connect.md#without-a-reachable-address) lists what polling finds.',
    after: ['store'],
    run: checkPolling,
  },
  {
    id: 'polling-hooks',
    looks:
      'With `REEVE_POLL`: hooks of at most 100 served repositories and their organizations that deliver to a Reeve (`/webhook`), as far as the account can read them.',
    fails: 'Never: it warns of each active one, because an event would be handled twice.',
    remedy:
      'Stop the other Reeve, or delete the hook on the forge: [From hooks to polling](../connect.md#from-hooks-to-polling-and-removing-reeve).',
    after: ['token'],
    run: async ({ client, settings, served }) => {
      if (settings.poll === undefined) return skipped('REEVE_POLL is not set: webhooks announce events');
      const repositories = (await served()).repositories.map(toRepositoryRef);
      return checkOtherReceivers(client, repositories, settings.webhook?.url);
    },
  },
];

/**
 * Returns a function that runs a check for each visible hook; `faults` are texts that continue a sentence after the
 * location.
 */
function checkEachHook(
  okText: string,
  faults: (look: HookState, url: string) => readonly string[],
  advice = again,
): (examination: Examination) => Promise<Finding> {
  return async ({ hooks, settings }) => {
    const why = whyNoHooks(settings);
    if (why !== undefined) return skipped(why);
    const { readable } = await hooks();
    if (readable.length === 0) return skipped('no location with a readable hook');
    const found = readable.flatMap((look) =>
      faults(look, settings.webhook?.url ?? '').map((fault) => `${locationName(look.location)} ${fault}`),
    );
    return found.length === 0 ? ok(okText) : wrong(found.join('; '), advice);
  };
}

/** Returns a function that returns the fault of a hook if it has this code. */
function faultsOf(code: HookFault['code']) {
  return ({ match, live }: HookState, url: string): readonly string[] => {
    const fault = hookFault(match, live, url);
    return fault?.code === code ? [`${fault.text}${fault.detail}`] : [];
  };
}

async function checkSecrets(examination: Examination): Promise<Finding> {
  const why = whyNoHooks(examination.settings);
  if (why !== undefined) return skipped(why);
  const { secrets, data } = examination.settings;
  const key = await loadFingerprintKey(data, { store: await examination.store() });
  const unknown: string[] = [];
  const look = checkEachHook(
    'setup wrote the configured secrets to the hooks',
    ({ location, match, known }) => {
      if (match.found === undefined) return [];
      const entry = entryFor(location, secrets);
      if (entry === undefined) return ['has no entry of secrets whose scope includes all of it'];
      if (known?.id !== match.found.id) unknown.push(locationName(location));
      else if (!isLive(known, entry, key)) return ['has a hook that was created with other secrets'];
      return [];
    },
  );
  const finding = await look(examination);
  if (finding.state !== 'ok' || unknown.length === 0) return finding;
  return skipped(`${unknown.join(', ')}: not created by setup: only a delivery shows its secrets`);
}

/** Returns whether the secrets with which a hook was created are among the accepted values, including older ones. */
function isLive(known: SetupHook, entry: SecretEntry, key: Uint8Array): boolean {
  const isAmong = (kind: 'authorization' | 'hmac'): boolean => {
    const values = entry[kind].length === 0 ? [''] : entry[kind];
    return values.some(
      (value) => fingerprintHook({ authorization: value, hmac: value }, key)[kind] === known[kind],
    );
  };
  return isAmong('authorization') && isAmong('hmac');
}
