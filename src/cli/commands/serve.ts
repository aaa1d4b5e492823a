import { ReeveError } from '../../platform/errors.ts';
import { createLog } from '../../platform/log.ts';
import { startServer } from '../../server/server.ts';
import { type Settings, secretValues } from '../../server/settings/config.ts';
import type { Terminal } from '../output/terminal.ts';
import { keepFilesPrivate, returnIdleMemory, type StopRequest, watchSignals } from './process.ts';
import { testRules } from './rules/rule-tests.ts';

/** Runs the bot, or the demo if no forge is configured, until it is stopped. Returns the exit status. */
export async function serve(
  options: { once: boolean },
  settings: Settings,
  terminal: Terminal,
): Promise<number> {
  if (settings.forge !== undefined && options.once)
    throw new ReeveError('usage', '--once plays the demo on the embedded forge: unset FORGE_URL');
  if (settings.forge === undefined && settings.poll !== undefined)
    throw new ReeveError(
      'usage',
      'the demo is not polled: set FORGE_URL, or leave out --poll and REEVE_POLL',
    );
  keepFilesPrivate();
  returnIdleMemory();
  const stop = watchSignals();
  try {
    return await run(options, settings, { stop, terminal });
  } catch (error) {
    // A stop during startup is not a failure, except for a demo that should have completed.
    if (stop.explains(error)) return options.once ? 1 : 0;
    throw error;
  }
}

async function run(
  { once }: { once: boolean },
  settings: Settings,
  { stop, terminal }: { stop: StopRequest; terminal: Terminal },
): Promise<number> {
  const { forge } = settings;
  if (forge === undefined) {
    const { runDemo } = await import('../demo/demo.ts');
    await runDemo({ once, stop: stop.signal }, settings, terminal);
    return 0;
  }
  const log = createLog({ level: settings.logLevel, secrets: secretValues(settings) });
  const server = await startServer({
    ...settings,
    forge,
    log,
    signal: stop.signal,
    testRules: (paths, options) => testRules(paths, undefined, { ...options, isOperators: true }),
  });
  const end = await Promise.race([stop.received, server.failed]);
  if (!(end instanceof ReeveError)) {
    log.info({ signal: end }, 'stopping');
    await server.stop();
    return 0;
  }
  stop.expire();
  log.error({ error: end.message }, 'stopping: nothing can be stored');
  await server.stop();
  throw end;
}
