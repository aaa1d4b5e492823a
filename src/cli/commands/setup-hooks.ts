import { existsSync } from 'node:fs';
import { loadSettings, secretValues, type Variables } from '../../server/settings/config.ts';
import { skipped } from '../connection/finding.ts';
import type { hookKinds } from '../connection/hooks/event-kinds.ts';
import {
  coveredLocations,
  type HookLocation,
  hookLocations,
  locationName,
} from '../connection/hooks/places.ts';
import { checkServedHooks } from '../connection/hooks/served-hooks.ts';
import { saveOperatorFile } from '../connection/steps/files.ts';
import { settleHooks } from '../connection/steps/settle-hooks.ts';
import { withoutLocations } from '../connection/steps/wanted-webhook.ts';
import { type CheckedConnection, makersOf, type SetupRun, type WantedWebhook } from './setup-checks.ts';

/** Sets up the hooks and tries them. Returns whether every hook has the secrets of now. */
export async function connectHooks(
  run: SetupRun,
  checked: CheckedConnection,
  {
    webhook,
    repositories,
    kinds,
    wanted,
  }: {
    webhook: WantedWebhook;
    repositories: readonly string[];
    kinds: ReturnType<typeof hookKinds>;
    /** The environment that the env file gets. */
    wanted: Variables;
  },
): Promise<boolean> {
  const { options, answers, steps } = run;
  const { client, account, file } = checked;
  const plan = options.plan ?? false;
  // A plan has written no operator file.
  const isFileless = plan && !existsSync(answers.config);
  const settings = await steps.attempt('settings', () =>
    loadSettings(isFileless ? { ...wanted, REEVE_CONFIG: '' } : wanted),
  );
  run.secrets.push(...secretValues(settings));
  const undo = run.undo;
  // What stops the run from here on is no fault of the file: a Reeve that listens has to read it first.
  run.undo = undefined;
  const { isWhole, absent } = await settleHooks({
    settings,
    steps,
    plan,
    test: options.test ?? true,
    kinds,
    makers: makersOf(checked),
    covered: coveredLocations(webhook),
    places: hookLocations(webhook),
    url: webhook.url,
  });
  const before = hookLocations(file?.webhook ?? { url: webhook.url });
  const isNew = (one: HookLocation): boolean =>
    !before.some(({ level, name }) => level === one.level && name === one.name);
  const gone = absent.filter(isNew);
  if (gone.length > 0 && !plan) await leaveOut(run, webhook, gone, undo);
  const served = { client, login: account.login, listed: repositories, store: undefined };
  const checkServed = () => checkServedHooks({ ...served, places: hookLocations(webhook), url: webhook.url });
  const servedFinding = await steps.attemptAlone('served-hooks', checkServed);
  if (servedFinding) steps.tell('served-hooks', servedFinding);
  return isWhole;
}

/** Takes places without a hook out of the operator file again: the next run would fail at them, whatever it is asked for. */
async function leaveOut(
  { answers, steps }: SetupRun,
  webhook: WantedWebhook,
  gone: readonly HookLocation[],
  undo: SetupRun['undo'],
): Promise<void> {
  const left = withoutLocations(webhook, gone);
  await steps.attempt('operator-file', async () =>
    left === undefined
      ? await undo?.()
      : void (await saveOperatorFile(answers.config, { webhook: left }, false)),
  );
  const names = gone.map(locationName).join(', ');
  steps.tell('operator-file', skipped(`${names} taken out of ${answers.config} again: no hook was created`));
}
