import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { isRecord } from '../../../contract/events/payload-members.ts';
import { ReeveError } from '../../../platform/errors.ts';
import { createMessageSender } from '../../../platform/http/message-sender.ts';
import { hasTemplate } from '../../../rules/expressions/template.ts';
import { loadRuleFiles } from '../../../rules/sources/folder.ts';
import type { Settings } from '../../../server/settings/config.ts';
import { plain, type Terminal } from '../../output/terminal.ts';

/**
 * Sends a test message to the receiver whose URL a named secret contains, in the form of the first rule of the operator
 * that sends messages to it. Returns the exit status. Throws `message-refused` or `message-unsent`, without any part of
 * the URL, if the receiver does not take it.
 */
export async function sendTestMessage(
  name: string,
  options: { readonly test?: boolean; readonly chat?: boolean },
  settings: Pick<Settings, 'namedSecrets' | 'notifyHosts' | 'rules'>,
  terminal: Terminal,
): Promise<number> {
  if (!options.test) throw new ReeveError('usage', 'only rules send other messages: add --test');
  const url = settings.namedSecrets.get(name);
  if (url === undefined) {
    const known = [...settings.namedSecrets.keys()];
    const hint = known.length === 0 ? 'the operator file has none' : `known are ${known.join(', ')}`;
    throw new ReeveError('usage', `there is no named secret "${name}"; ${hint}`);
  }
  const { json, form } = options.chat ? chatForm : await formOfRules(name, settings.rules);
  const send = createMessageSender({ hosts: settings.notifyHosts });
  await send({
    url,
    secret: name,
    id: `test.${randomUUID()}`,
    ...(json === undefined
      ? { contentType: 'text/plain; charset=utf-8', content: text }
      : { contentType: 'application/json', content: JSON.stringify(json) }),
  });
  terminal.out(`The receiver of ${plain(name)} has taken a test message ${plain(form)}.`);
  return 0;
}

const text = 'A test message of Reeve: messages of rules arrive here.';

/** Content of a test message, as JSON or else as plain text, and the words for its form. */
type TestForm = { readonly json?: unknown; readonly form: string };
const chatForm: TestForm = { json: { text }, form: 'as JSON with the member text' };

/** Returns the form of the first step of the operator's rules that sends messages to a secret, or else plain text. */
async function formOfRules(name: string, folder: string | undefined): Promise<TestForm> {
  const files = folder === undefined ? [] : await loadRuleFiles([folder], { isOperators: true });
  for (const { rules } of files) {
    for (const { name: rule, steps } of rules) {
      for (const { action, arguments: given } of steps) {
        const written = action.name === 'notify' ? Written.safeParse(given.written) : undefined;
        const named = written?.data?.to.secret;
        if (written?.data === undefined || named !== name) continue;
        const { json } = written.data;
        return json === undefined
          ? { form: `as plain text, as rule ${rule} does` }
          : { json: testOf(json), form: `as JSON in the form of rule ${rule}` };
      }
    }
  }
  return { form: 'as plain text' };
}

/** Arguments of a step of `notify`, as written. */
const Written = z.object({ to: z.object({ secret: z.string() }), json: z.unknown().optional() });

/** Returns JSON in which the text of the test message replaces each text with an expression. */
function testOf(value: unknown): unknown {
  if (typeof value === 'string') return hasTemplate(value) ? text : value;
  if (Array.isArray(value)) return value.map(testOf);
  if (!isRecord(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, testOf(member)]));
}
