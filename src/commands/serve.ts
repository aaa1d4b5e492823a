import { type Settings, secretValues } from '../config.ts';
import { ReeveError } from '../errors.ts';
import { createLog } from '../log.ts';
import { startServer } from '../server.ts';
import { untilStopped } from './signals.ts';
import type { Terminal } from './terminal.ts';

/** Runs the bot until it is told to stop; without a configured forge, the demo. Returns the exit status. */
export async function serve(
  options: { once: boolean },
  settings: Settings,
  terminal: Terminal,
): Promise<number> {
  const { forge } = settings;
  if (forge === undefined) {
    const { runDemo } = await import('../demo/demo.ts');
    await runDemo({ once: options.once, untilStopped }, settings, terminal);
    return 0;
  }
  if (options.once)
    throw new ReeveError('usage', '--once plays the demo on the embedded forge: unset FORGE_URL');
  const log = createLog({ level: settings.logLevel, secrets: secretValues(settings) });
  const stopped = untilStopped();
  const server = await startServer({ ...settings, forge, log });
  const signal = await stopped;
  log.info({ signal }, 'stopping');
  await server.stop();
  return 0;
}
