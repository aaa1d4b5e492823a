import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { sendTestMessage } from '../../../src/cli/commands/runs/notify.ts';
import { type HookReceiver, startReceiver } from '../../support/hook-receiver.ts';

let receiver: HookReceiver;
let status = 200;
beforeAll(async () => {
  receiver = await startReceiver(() => ({ status }));
});
afterAll(() => receiver.close());

async function send(name: string, options: object, hosts: readonly string[] = ['127.0.0.1'], rules?: string) {
  const lines: string[] = [];
  const write = (text: string): void => void lines.push(text);
  const settings = {
    namedSecrets: new Map([['CHAT', `${receiver.url}/the-secret-path`]]),
    notifyHosts: hosts,
    rules,
  };
  const terminal = { out: write, error: write, style: (_style: unknown, text: string) => text };
  const result = await sendTestMessage(name, { test: true, ...options }, settings, terminal).catch(
    (error: Error) => error.message,
  );
  return { result, out: lines.join('\n') };
}

it('sends a test message as text, and as the JSON that chats expect', async () => {
  expect(await send('CHAT', {})).toEqual({
    result: 0,
    out: 'The receiver of CHAT has taken a test message as plain text.',
  });
  expect(await send('CHAT', { chat: true })).toMatchObject({ result: 0 });

  const [text, json] = receiver.received;
  expect([text?.url, text?.headers['content-type']]).toEqual([
    '/hook/the-secret-path',
    'text/plain; charset=utf-8',
  ]);
  expect(JSON.parse(json?.body ?? '')).toEqual({ text: text?.body });
});

it('sends the test message in the form of the rule that sends messages to the receiver', async () => {
  const step = (content: string): string =>
    `    on: issues.opened\n    steps: [{ uses: notify, with: { key: a, to: { secret: CHAT }, ${content} } }]\n`;
  const folder = await mkdtemp(join(tmpdir(), 'reeve-notify-'));
  const file = join(folder, 'rules.yml');
  const json = `json: { msgtype: text, urgent: true, text: { content: "Opened: \${{ issue.title }}" } }`;
  await writeFile(file, `version: 1\nrules:\n  alarm:\n${step(json)}`);
  const asRule = await send('CHAT', {}, undefined, folder);
  const asChat = await send('CHAT', { chat: true }, undefined, folder);
  await writeFile(file, `version: 1\nrules:\n  alarm:\n${step('text: opened')}`);
  const asText = await send('CHAT', {}, undefined, folder);
  await rm(folder, { recursive: true });

  expect(asRule.out).toBe('The receiver of CHAT has taken a test message as JSON in the form of rule alarm.');
  expect(asChat.out).toContain('as JSON with the member text');
  expect(asText.out).toContain('as plain text, as rule alarm does');
  const content = 'A test message of Reeve: messages of rules arrive here.';
  const [first, second, third] = receiver.received.slice(-3).map(({ body }) => body);
  expect(JSON.parse(first ?? '')).toEqual({ msgtype: 'text', urgent: true, text: { content } });
  expect(JSON.parse(second ?? '')).toEqual({ text: content });
  expect(third).toBe(content);
});

it('says why a message does not arrive, without any part of the address', async () => {
  status = 404;
  const refused = await send('CHAT', {});
  const hidden = await send('CHAT', {}, []);
  const unknown = await send('CHAD', {});
  const plain = await send('CHAT', { test: false });

  expect(refused.result).toContain('404');
  expect(hidden.result).toContain('{secret: CHAT}');
  expect(unknown.result).toBe('there is no named secret "CHAD"; known are CHAT');
  expect(plain.result).toContain('add --test');
  for (const { result } of [refused, hidden, unknown, plain])
    expect(String(result)).not.toContain('secret-path');
});
