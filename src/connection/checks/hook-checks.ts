import { count } from '../../output/terminal.ts';
import type { SecretEntry } from '../../receiver/secrets.ts';
import { loadFingerprintKey } from '../../settings/secrets/named-secrets.ts';
import { type Finding, ok, skipped, wrong } from '../finding.ts';
import { hookKinds } from '../hooks/event-kinds.ts';
import { fingerprintHook, missingKinds, type SetupHook } from '../hooks/match.ts';
import { locationName } from '../hooks/places.ts';
import { entryFor } from '../hooks/secret-entry.ts';
import { checkServedHooks } from '../hooks/served-hooks.ts';
import type { Check } from './check.ts';
import { deliveryChecks } from './delivery-checks.ts';
import type { Examination } from './examination.ts';
import type { HookState } from './hook-states.ts';

const noWebhook =
  'the operator file says nothing of hooks (webhook): reeve setup makes them, and they can be looked at';
const again = 'run reeve setup again: it mends the hooks';

/** Checks of the hooks as the forge shows them, then of what they deliver. */
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
      if (settings.webhook === undefined) return skipped(noWebhook);
      const { seen, hidden } = await hooks();
      if (seen.length + hidden.length === 0) {
        return wrong('the operator file names no place for a hook', 'reeve setup --repository owner/name');
      }
      const titles = seen.map(({ place }) => locationName(place)).join(', ');
      if (hidden.length === 0) return ok(`the hooks of ${titles} can be seen`);
      return skipped(
        `the hooks of ${count(hidden.length, 'place')} cannot be seen without SETUP_TOKEN of an account that may: ${hidden.join('; ')}${titles && `; those of ${titles} can`}`,
      );
    },
  },
  {
    id: 'hook-missing',
    looks: 'Whether each location has a hook to `webhook.url`.',
    fails: 'A location has none, so no events arrive from it.',
    remedy: '`reeve setup` creates it.',
    after: ['token', 'store', 'hooks'],
    run: ofHooks('each place has its hook', ({ match, live }, url) => {
      if (match.found ?? match.elsewhere) return [];
      const others = live.map((hook) => hook.config?.url).filter((other) => other?.endsWith('/webhook'));
      return [`has no hook to ${url}${others.length > 0 ? ` (but to ${others.join(', ')})` : ''}`];
    }),
  },
  {
    id: 'hook-elsewhere',
    looks: 'Whether the hook that setup created still delivers to `webhook.url`.',
    fails: 'The URL of the hook was changed, or the address of Reeve changed.',
    remedy: '`reeve setup` corrects it; `--webhook URL` sets Reeve’s new address.',
    after: ['token', 'store', 'hooks'],
    run: ofHooks('hooks point here', ({ match }) =>
      match.elsewhere ? [`has a hook that now points to ${match.elsewhere.config?.url}`] : [],
    ),
  },
  {
    id: 'hook-inactive',
    looks: 'Whether the hooks are active.',
    fails: 'A hook was disabled.',
    remedy: '`reeve setup` enables it.',
    after: ['token', 'store', 'hooks'],
    run: ofHooks('hooks are active', ({ match }) =>
      match.found && !match.found.active ? ['has a hook that is switched off'] : [],
    ),
  },
  {
    id: 'hook-duplicate',
    looks: 'Whether more than one hook of a location delivers to this Reeve.',
    fails: 'There are several, so each event arrives several times.',
    remedy: '`reeve setup` keeps one.',
    after: ['token', 'store', 'hooks'],
    run: ofHooks('each place has one', ({ match }) => {
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
      const look = ofHooks('hooks hear all that they shall', ({ match }) => {
        const missing = match.found ? missingKinds(match.found, kinds) : [];
        return missing.length > 0 ? [`has a hook that does not hear ${missing.join(', ')}`] : [];
      });
      return look(examination);
    },
  },
  {
    id: 'hook-secret',
    looks:
      'Fingerprints of each hook’s header and secret, as written by setup, compared with those of the settings: no forge shows the values.',
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
      const { seen, hiddenPlaces } = await hooks();
      const active = seen.filter(({ match }) => match.found?.active).map(({ place }) => place);
      return checkServedHooks({
        client,
        login: (await account()).login,
        listed: settings.repositories,
        places: [...active, ...hiddenPlaces],
        url: settings.webhook?.url,
        store: await store(),
      });
    },
  },
  ...deliveryChecks,
];

/** Returns the run of a check that looks at each hook that can be seen; `faults` are texts that go on after the place. */
function ofHooks(
  right: string,
  faults: (look: HookState, url: string) => readonly string[],
): (examination: Examination) => Promise<Finding> {
  return async ({ hooks, settings }) => {
    if (settings.webhook === undefined) return skipped(noWebhook);
    const { seen } = await hooks();
    if (seen.length === 0) return skipped('no place with a hook can be seen');
    const found = seen.flatMap((look) =>
      faults(look, settings.webhook?.url ?? '').map((fault) => `${locationName(look.place)} ${fault}`),
    );
    return found.length === 0 ? ok(right) : wrong(found.join('; '), again);
  };
}

async function checkSecrets(examination: Examination): Promise<Finding> {
  const { secrets, data } = examination.settings;
  const key = await loadFingerprintKey(data);
  const unknown: string[] = [];
  const look = ofHooks('hooks send what the settings say', ({ place, match, known }) => {
    if (match.found === undefined) return [];
    const entry = entryFor(place, secrets);
    if (entry === undefined) return ['has no entry of secrets that may speak for all of it'];
    if (known?.id !== match.found.id) unknown.push(locationName(place));
    else if (!isLive(known, entry, key)) return ['has a hook that was made with other values'];
    return [];
  });
  const finding = await look(examination);
  if (finding.state !== 'ok' || unknown.length === 0) return finding;
  return skipped(`${unknown.join(', ')}: not made by setup, so that only a delivery shows what it sends`);
}

/** Says whether what a hook was made with is among the live values, the older ones too. */
function isLive(known: SetupHook, entry: SecretEntry, key: Uint8Array): boolean {
  const isAmong = (kind: 'authorization' | 'hmac'): boolean => {
    const values = entry[kind].length === 0 ? [''] : entry[kind];
    return values.some(
      (value) => fingerprintHook({ authorization: value, hmac: value }, key)[kind] === known[kind],
    );
  };
  return isAmong('authorization') && isAmong('hmac');
}
