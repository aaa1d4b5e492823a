import { randomUUID } from 'node:crypto';
import { ReeveError } from '../../../platform/errors.ts';
import { createMessageSender } from '../../../platform/http/message-sender.ts';
import type { Settings } from '../../../server/settings/config.ts';
import { plain, type Terminal } from '../../output/terminal.ts';

/**
 * Sends a test message to the receiver whose URL a named secret contains. Returns the exit status. Throws
 * `message-refused` or `message-unsent`, without any part of the URL, if the receiver does not take it.
 */
export async function sendTestMessage(
  name: string,
  options: { readonly test?: boolean; readonly chat?: boolean },
  settings: Pick<Settings, 'namedSecrets' | 'notifyHosts'>,
  terminal: Terminal,
): Promise<number> {
  if (!options.test) throw new ReeveError('usage', 'only rules send other messages: add --test');
  const url = settings.namedSecrets.get(name);
  if (url === undefined) {
    const known = [...settings.namedSecrets.keys()];
    const hint = known.length === 0 ? 'the operator file has none' : `known are ${known.join(', ')}`;
    throw new ReeveError('usage', `there is no named secret "${name}"; ${hint}`);
  }
  const text = 'A test message of Reeve: messages of rules arrive here.';
  const send = createMessageSender({ hosts: settings.notifyHosts });
  await send({
    url,
    secret: name,
    id: `test.${randomUUID()}`,
    ...(options.chat
      ? { contentType: 'application/json', content: JSON.stringify({ text }) }
      : { contentType: 'text/plain; charset=utf-8', content: text }),
  });
  terminal.out(`The receiver of ${plain(name)} has taken a test message.`);
  return 0;
}
