import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { operations } from '../../src/contract/operations.ts';
import type { Run } from '../../src/engine/record.ts';
import { reeve, start, waitForExit, waitForOutput } from '../support/command.ts';
import { findLeaks } from '../support/find-leaks.ts';
import { at, authorization, type Harness } from '../support/harness.ts';
import { startOperatorHarness, writesOf } from '../support/operator-harness.ts';
import { certificatePath, type MessageReceiver, startMessageReceiver } from '../support/tls-receiver.ts';

const path = 'hooks/T0K3N-of-the-chat';
let harness: Harness;
let receiver: MessageReceiver;
afterEach(async () => {
  await harness?.close();
  await receiver?.close();
});

const rules = `version: 1
rules:
  tell-chat:
    on: [issues.opened, issues.edited]
    steps:
      - uses: notify
        with:
          to: { secret: CHAT }
          json: { text: "Issue: \${{ issue.title }}", number: "\${{ issue.number }}" }
      - uses: set-labels
        with: { add: [kept] }
`;

async function arrange(
  options: Parameters<typeof startMessageReceiver>[0] = {},
  server: Partial<Parameters<typeof startOperatorHarness>[1]> = {},
): Promise<void> {
  receiver = await startMessageReceiver(options);
  harness = await startOperatorHarness(rules, {
    ...server,
    server: {
      namedSecrets: new Map([['CHAT', `http://127.0.0.1:${receiver.port}/${path}`]]),
      notifyHosts: ['127.0.0.1'],
      ...server?.server,
    },
  });
}

const openIssue = (title: string) =>
  harness.ada.call(operations.createIssue, { params: at, body: { title } });
const edit = (index: number, body: { title?: string; body?: string }) =>
  harness.ada.call(operations.editIssue, { params: { ...at, index }, body });
const outcomesOf = (run: Run) => run.outcomes.map(({ status, error }) => error ?? status);
const bodies = () => receiver.received.map(({ body }) => JSON.parse(body));
const keys = () => receiver.received.map(({ headers }) => headers['idempotency-key']);

it('notify sends a message once per change of its content, and stores no part of the URL', async () => {
  await arrange();

  const { number } = await openIssue('One');
  await harness.waitForRun((run) => run.trigger.activity === 'opened');
  await edit(number, { body: 'The title is the same.' });
  await harness.idle();
  await edit(number, { title: 'Two' });
  await harness.idle();
  await edit(number, { title: 'One' });
  await harness.idle();

  expect(bodies()).toEqual([
    { text: 'Issue: One', number },
    { text: 'Issue: Two', number },
    { text: 'Issue: One', number },
  ]);
  expect(new Set(keys()).size).toBe(3);
  expect(receiver.received[0]?.path).toBe(`/${path}`);
  expect(writesOf(harness).filter((write) => write.includes('labels'))).toEqual([
    `PUT issues/${number}/labels`,
  ]);
  const [run] = harness.runs.filter(({ changes }) => changes.length > 0);
  expect(run?.changes[0]).toMatchObject({
    method: 'POST',
    path: '{secret: CHAT}',
    input: { body: { to: { secret: 'CHAT' }, id: keys()[0] } },
    irreversible: 'a message that was sent cannot be taken back',
  });
  const explained = await reeve(['explain', run?.id ?? ''], { environment: harness.environment });
  const reverted = await reeve(['revert', run?.id ?? ''], { environment: harness.environment });
  expect(explained.out).toContain('(cannot be reverted)');
  expect(reverted.out).toContain('a message that was sent cannot be taken back');
  const outputs = [explained, reverted].flatMap(({ out, error }) => [out, error]);
  expect(findLeaks(harness, [...outputs, JSON.stringify(harness.runs)], [path])).toEqual([]);
});

it('a receiver that fails for a while gets the message when the delivery is retried, under the same key, and other changes are made', async () => {
  // The first attempt of the delivery includes three requests.
  await arrange({ answer: (response, count) => void response.writeHead(count <= 3 ? 503 : 200).end(path) });

  const { number } = await openIssue('One');
  const first = await harness.waitForRun((run) => run.changes.length > 0);
  const second = await harness.waitForRun((run) => run !== first && run.changes.length > 0);
  await harness.idle();

  expect(outcomesOf(first)).toEqual([
    'message:tell-chat/main to CHAT on #1: the receiver {secret: CHAT} answered 503',
    'applied',
  ]);
  expect(outcomesOf(second)).toEqual(['applied']);
  expect(second.trigger).toMatchObject({ delivery: first.trigger.delivery });
  expect(await harness.labelsOf(number)).toEqual(['kept']);
  expect([receiver.received.length, new Set(keys()).size]).toEqual([4, 1]);
  expect(await harness.server.store.readDelivery(first.trigger.delivery ?? '')).toMatchObject({
    state: 'settled',
    attempts: 2,
  });
  expect(findLeaks(harness, [JSON.stringify(harness.runs)], [path])).toEqual([]);
});

it('a message to a host that is not on the allowlist is refused immediately, and the delivery is not retried', async () => {
  await arrange({}, { server: { notifyHosts: [] } });

  await openIssue('One');
  const run = await harness.waitForRun((one) => one.changes.length > 0);
  await harness.idle();

  expect(outcomesOf(run)).toEqual([
    'message:tell-chat/main to CHAT on #1: {secret: CHAT} cannot be reached: it is not an https: URL, and its host is not listed; the operator file lists hosts under notify-hosts',
    'applied',
  ]);
  expect(receiver.connections()).toBe(0);
  expect(await harness.server.store.readDelivery(run.trigger.delivery ?? '')).toMatchObject({
    state: 'settled',
  });
});

it('a server that stops aborts a message in progress, and its delivery is handled after the next start', async () => {
  let isSilent = true;
  await arrange({ answer: (response) => (isSilent ? undefined : void response.writeHead(200).end()) });
  await openIssue('One');
  await receiver.waitFor(1);

  await harness.restart({
    async between() {
      // The message was not sent again while the server stopped.
      expect(receiver.received.length).toBe(1);
      isSilent = false;
    },
  });
  await receiver.waitFor(2);
  await harness.idle();

  expect([receiver.received.length, new Set(keys()).size]).toEqual([2, 1]);
});

it('a process that is killed between sending and recording sends the message once more, under the same key', async () => {
  let child: ReturnType<typeof start> | undefined;
  await arrange(
    {
      secure: true,
      answer(response, count) {
        // The message has arrived, but the process does not see the response.
        if (count === 1) child?.kill('SIGKILL');
        else response.writeHead(200).end();
      },
    },
    { hook: 'none' },
  );
  const { number } = await openIssue('One');
  await harness.server.stop();
  const config = join(harness.data, 'operator.yml');
  await writeFile(config, 'version: 1\nnotify-hosts: [localhost]\n');
  const environment = {
    ...harness.environment,
    PORT: '0',
    REEVE_CONFIG: config,
    REEVE_RULES: harness.rules ?? '',
    REEVE_SECRET_CHAT: `https://localhost:${receiver.port}/${path}`,
    NODE_EXTRA_CA_CERTS: certificatePath,
  };
  const serve = async () => {
    const started = start(['serve'], { environment });
    const seen = await waitForOutput(started, /"listening"/);
    return { started, url: /"url":"([^"]+)"/.exec(seen)?.[1] ?? '' };
  };

  const first = await serve();
  child = first.started;
  const ended = waitForExit(first.started);
  const issue = await harness.root.call(operations.getIssue, { params: { ...at, index: number } });
  const repository = await harness.root.call(operations.getRepository, { params: at });
  const payload = { action: 'opened', number, issue, repository, sender: issue.user };
  const posted = await fetch(`${first.url}/webhook`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      authorization,
      'x-gitea-event': 'issues',
      'x-gitea-event-type': 'issues',
      'x-gitea-delivery': '5b5c3b6e-6b0a-4b52-9d0a-7b8f6a0f2c11',
    },
    body: JSON.stringify(payload),
  });
  expect(posted.status).toBe(202);
  await ended;

  const second = await serve();
  await receiver.waitFor(2);
  await expect.poll(() => harness.labelsOf(number)).toEqual(['kept']);
  second.started.kill('SIGTERM');
  await waitForExit(second.started);
  const third = await serve();
  third.started.kill('SIGTERM');
  const { out, error } = await waitForExit(third.started);

  expect(keys()).toEqual([keys()[0], keys()[0]]);
  expect(bodies()).toEqual([1, 2].map(() => ({ text: 'Issue: One', number })));
  expect(`${out}${error}`).not.toContain(path);
  expect(findLeaks(harness, [], [path])).toEqual([]);
});
