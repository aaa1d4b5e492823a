import { count } from '../../output/terminal.ts';
import { type Finding, ok, skipped, wrong } from '../finding.ts';
import { locationName } from '../hooks/places.ts';
import { probeReceiver } from '../hooks/probe-receiver.ts';
import { entryFor } from '../hooks/secret-entry.ts';
import { allowAdvice, reachOf } from '../hooks/target.ts';
import { findingOfTest } from '../hooks/test-finding.ts';
import { type HookTestResult, testHook } from '../hooks/test-hook.ts';
import type { Check } from './check.ts';
import type { Examination } from './examination.ts';
import type { HookState } from './hook-states.ts';

/** Checks of what the hooks deliver, and where to. */
export const deliveryChecks: readonly Check[] = [
  {
    id: 'webhook-address',
    looks: 'The program that answers at `webhook.url`, requested from this machine.',
    fails:
      'Not this Reeve: no answer, another program, a proxy that does not forward /webhook, or a Reeve with other secrets.',
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
    looks: 'Dead deliveries in the store.',
    fails: 'There are some: they were given up, and their changes were not made.',
    remedy: 'Fix the cause, then run `reeve redrive --all`.',
    after: ['store'],
    run: async ({ store }) => {
      const { dead, retry, settled } = await (await store()).counts();
      const text = `${count(settled, 'delivery').replace(/ys$/, 'ies')} settled, ${retry} waiting for a retry, ${dead} given up`;
      return dead === 0 ? ok(text) : wrong(text, 'reeve redrive --all tries them again');
    },
  },
];

async function checkAddress({ settings, listening }: Examination): Promise<Finding> {
  const { webhook } = settings;
  const [entry] = settings.secrets;
  if (webhook === undefined || entry === undefined) return skipped('the operator file names no webhook.url');
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

const tries = new WeakMap<Examination, Promise<readonly { look: HookState; tried: HookTestResult }[]>>();

/** Has each hook that may be tried deliver once. Asked twice, the answers are those of the first time. */
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
  const url = examination.settings.webhook?.url ?? '';
  const answers = await tryAll(examination);
  const findings = await Promise.all(
    answers.map(({ look, tried }) => findingOfTest(tried, look.location, url)),
  );
  if (findings.length === 0) return skipped('no location with a readable hook');
  const worst = findings.find(({ state }) => state === 'wrong');
  if (worst) return worst;
  const isAny = findings.some(({ state }) => state === 'ok');
  return { state: isAny ? 'ok' : 'skipped', text: findings.map(({ text }) => text).join('; ') };
}

async function checkTarget(examination: Examination): Promise<Finding> {
  const { webhook } = examination.settings;
  if (webhook === undefined) return skipped('the operator file names no webhook.url');
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
