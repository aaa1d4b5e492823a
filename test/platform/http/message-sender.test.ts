import type { lookup as lookUp } from 'node:dns';
import { afterEach, describe, expect, it } from 'vitest';
import type { ReeveError } from '../../../src/platform/errors.ts';
import { createMessageSender, type MessageSenderOptions } from '../../../src/platform/http/message-sender.ts';
import { certificate, type MessageReceiver, startMessageReceiver } from '../../support/tls-receiver.ts';

const receivers: MessageReceiver[] = [];
afterEach(async () => {
  for (const one of receivers.splice(0)) await one.close();
});

async function start(options: Parameters<typeof startMessageReceiver>[0] = {}): Promise<MessageReceiver> {
  const receiver = await startMessageReceiver(options);
  receivers.push(receiver);
  return receiver;
}

/** Creates a resolver that returns one answer per lookup. The last answer repeats. */
function resolving(...answers: readonly (readonly string[])[]): typeof lookUp & { readonly asked: string[] } {
  const asked: string[] = [];
  const lookup = (name: string, _options: unknown, done: (...given: unknown[]) => void): void => {
    const found = answers[Math.min(asked.length, answers.length - 1)] ?? [];
    asked.push(name);
    const all = found.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }));
    setImmediate(() => done(null, all));
  };
  // This double implements one of many overloads: the sender requests all addresses.
  return Object.assign(lookup as unknown as typeof lookUp, { asked });
}

const token = 'T0K3N-of-the-receiver';
const message = { secret: 'CHAT', contentType: 'application/json', content: '{"text":"Hé"}', id: 'a.1.b' };

/** Sends one message to a URL, and returns its pauses and the error, if any. */
async function send(url: string, options: Partial<MessageSenderOptions> = {}) {
  const pauses: number[] = [];
  const sleep = async (ms: number): Promise<void> => void pauses.push(ms);
  const sender = createMessageSender({ hosts: ['127.0.0.1'], ca: certificate, sleep, ...options });
  const error: ReeveError | undefined = await sender({ ...message, url }).then(
    () => undefined,
    (thrown) => thrown,
  );
  return { pauses, error, code: error?.code, why: error?.message };
}

describe('a message', () => {
  it.each([false, true])('is one POST with its content, its type and its id (TLS: %s)', async (secure) => {
    const { port, received } = await start({ secure });
    const url = `http${secure ? 's' : ''}://127.0.0.1:${port}/hooks/${token}?thread=1`;

    expect(await send(url)).toMatchObject({ error: undefined, pauses: [] });

    expect(received).toMatchObject([
      {
        method: 'POST',
        path: `/hooks/${token}?thread=1`,
        headers: {
          'content-type': 'application/json',
          'content-length': '14',
          'idempotency-key': 'a.1.b',
          'user-agent': 'reeve',
        },
        body: message.content,
      },
    ]);
  });

  it('is not sent if the certificate is for another name or from an unknown authority', async () => {
    const { port, received } = await start({ secure: true });
    const options = { lookup: resolving(['127.0.0.1']), hosts: ['evil.example'] };

    const otherName = await send(`https://evil.example:${port}/${token}`, options);
    const unknown = await send(`https://127.0.0.1:${port}/${token}`, { ca: undefined });

    expect(otherName.why).toBe('{secret: CHAT} cannot be reached: ERR_TLS_CERT_ALTNAME_INVALID');
    expect(unknown.why).toMatch(/^\{secret: CHAT\} cannot be reached: [A-Z_]+$/);
    expect(received).toEqual([]);
  });
});

describe("the receiver's address", () => {
  it.each([
    'https://127.0.0.1',
    'https://127.1',
    'https://2130706433',
    'https://0x7f000001',
    'https://0177.0.0.1',
    'https://[::1]',
    'https://[::ffff:127.0.0.1]',
    'https://[64:ff9b::7f00:1]',
    'https://[2002:7f00:1::]',
    'https://169.254.169.254',
    'https://[fd00:ec2::254]',
    'https://10.0.0.1',
    'https://0.0.0.0',
  ])('in the URL %s is refused before anything is sent', async (origin) => {
    const { port, connections } = await start({ secure: true });

    const { code, why, pauses } = await send(`${origin}:${port}/${token}`, { hosts: [] });

    expect([code, pauses, connections()]).toEqual(['message-refused', [], 0]);
    expect(why).toBe(
      '{secret: CHAT} cannot be reached: its address is not public, and not listed; the operator file lists hosts under notify-hosts',
    );
  });

  it.each([
    [['127.0.0.1']],
    [['93.184.216.34', '127.0.0.1']],
    [['::ffff:127.0.0.1']],
    [['64:ff9b::7f00:1']],
    [['10.1.2.3']],
    [['fd00::1']],
    [['169.254.169.254']],
    [['100.100.100.200']],
  ])('that a name resolves to is checked when connecting: %s', async (addresses) => {
    const { port, connections } = await start({ secure: true });
    const lookup = resolving(addresses);

    const { code, why } = await send(`https://chat.example.org:${port}/${token}`, { hosts: [], lookup });

    expect([code, connections(), lookup.asked]).toEqual(['message-refused', 0, ['chat.example.org']]);
    expect(why).toContain('its name resolves to an address that is not public');
  });

  it('is resolved once per attempt, and the checked address is used', async () => {
    const { port, received } = await start({ secure: true });
    // The listed network represents the public internet. A second lookup would return an address elsewhere.
    const lookup = resolving(['127.0.0.1'], ['10.0.0.1']);

    const { error } = await send(`https://chat.example.org:${port}/${token}`, {
      hosts: ['127.0.0.0/8'],
      lookup,
    });

    expect([error, lookup.asked.length, received.length]).toEqual([undefined, 1, 1]);
  });

  it('of a listed name may be private, with or without TLS', async () => {
    const { port, received } = await start();
    const lookup = resolving(['127.0.0.1']);

    const { error } = await send(`http://chat.example.org:${port}/${token}`, {
      hosts: ['chat.example.org'],
      lookup,
    });

    expect([error, received.length]).toEqual([undefined, 1]);
  });

  it.each([
    ['http://chat.example.org', 'it is not an https: URL, and its host is not listed'],
    ['ftp://127.0.0.1', 'it is not an https: URL, and its host is not listed'],
    ['file:///etc/passwd', 'it is not an https: URL, and its host is not listed'],
    ['chat.example.org/hook', 'is not a URL'],
  ])('requires https unless its host is listed: %s', async (url, why) => {
    const found = await send(url);

    expect([found.code, found.pauses]).toEqual(['message-refused', []]);
    expect(found.why).toContain(why);
  });
});

describe('a response', () => {
  it.each([301, 302, 303, 307, 308])('%s redirects nowhere', async (status) => {
    const other = await start();
    const { port, received } = await start({
      answer: (response) =>
        response.writeHead(status, { location: `http://127.0.0.1:${other.port}/${token}` }).end(),
    });

    const { code, why } = await send(`http://127.0.0.1:${port}/${token}`);

    expect([code, why]).toEqual([
      'message-refused',
      `the receiver {secret: CHAT} answered ${status}: redirects are not followed`,
    ]);
    expect([received.length, other.connections()]).toEqual([1, 0]);
  });

  it.each([400, 401, 403, 404, 410, 413, 422])('%s is not retried', async (status) => {
    const { port, received } = await start({ answer: (response) => response.writeHead(status).end() });

    const found = await send(`http://127.0.0.1:${port}/${token}`);

    expect([found.code, found.error?.keepsWork, received.length]).toEqual(['message-refused', false, 1]);
  });

  it.each([408, 425, 429, 500, 502, 503, 504])(
    '%s is retried up to three attempts, and then left to the queue',
    async (status) => {
      const { port, received } = await start({ answer: (response) => response.writeHead(status).end() });

      const found = await send(`http://127.0.0.1:${port}/${token}`);

      expect(found).toMatchObject({ code: 'message-unsent', pauses: [500, 2_000] });
      expect(found.error).toMatchObject({ keepsWork: true, isHostFailure: false });
      expect(new Set(received.map(({ headers }) => headers['idempotency-key']))).toEqual(new Set(['a.1.b']));
      expect(received.length).toBe(3);
    },
  );

  it('of 503 and then 200 counts as sent', async () => {
    const { port, received } = await start({
      answer: (response, count) => response.writeHead(count === 1 ? 503 : 200).end('ok'),
    });

    expect(await send(`http://127.0.0.1:${port}/${token}`)).toMatchObject({
      error: undefined,
      pauses: [500],
    });
    expect(received.length).toBe(2);
  });

  it.each([
    ['2', [2_000, 2_000], undefined],
    ['3600', [], 3_600_000],
    ['99999', [], 7_200_000],
    ['Wed, 21 Oct 2026 07:28:00 GMT', [500, 2_000], undefined],
    ['-1', [500, 2_000], undefined],
  ])('with Retry-After: %s is retried after these pauses', async (retryAfter, pauses, left) => {
    const { port } = await start({
      answer: (response) => response.writeHead(429, { 'retry-after': retryAfter }).end(),
    });

    const found = await send(`http://127.0.0.1:${port}/${token}`);

    expect(found.pauses).toEqual(pauses);
    if (left !== undefined) expect(found.error?.retryAfterMs).toBe(left);
  });

  it('that never arrives ends with the timeout, and is retried', async () => {
    const { port, received } = await start({ answer: () => {} });

    const found = await send(`http://127.0.0.1:${port}/${token}`, { timeoutMs: 40 });

    expect(found).toMatchObject({ code: 'message-unsent', pauses: [500, 2_000] });
    expect(found.why).toBe('{secret: CHAT} cannot be reached: no answer within 0.04 s');
    // An attempt that ends before its request arrives counts as well.
    expect(received.length).toBeLessThanOrEqual(3);
  });

  it('without an end is not read beyond 64 KiB or the timeout', async () => {
    let written = 0;
    const chunk = Buffer.alloc(16 * 1024);
    const { port } = await start({
      answer(response) {
        response.writeHead(200);
        const write = (): void => {
          while (!response.destroyed && response.write(chunk)) written += chunk.length;
        };
        response.on('drain', write);
        write();
      },
    });
    const silent = await start({ answer: (response) => void response.writeHead(200).flushHeaders() });

    expect(await send(`http://127.0.0.1:${port}/${token}`)).toMatchObject({ error: undefined, pauses: [] });
    // The operating system's buffers on the way are beyond our control.
    expect(written).toBeLessThan(16 * 1024 * 1024);
    // Long enough for the headers to arrive on a busy machine. What follows the headers does not matter.
    const other = await send(`http://127.0.0.1:${silent.port}/${token}`, { timeoutMs: 8_000 });
    expect([other.error, silent.received.length]).toEqual([undefined, 1]);
  });

  it('with garbage, or from a closed port, is retried', async () => {
    const { port } = await start({ answer: (response) => void response.socket?.end('garbage\r\n\r\n') });
    const gone = await start();
    await gone.close();
    receivers.splice(receivers.indexOf(gone), 1);

    expect((await send(`http://127.0.0.1:${port}/${token}`)).why).toMatch(/HPE_\w+$/);
    expect((await send(`http://127.0.0.1:${gone.port}/${token}`)).why).toMatch(/ECONNREFUSED$/);
  });
});

it('no error contains a part of the URL', async () => {
  const { port } = await start({ secure: true, answer: (response) => response.writeHead(500).end(token) });
  const fails = {
    lookup: resolving(['10.0.0.1']),
    ca: undefined,
  };
  const urls = [
    `https://user:${token}@127.0.0.1:${port}/${token}`,
    `https://chat-${token}.example.org/${token}`,
    `http://chat-${token}.example.org/`,
    `nonsense-${token}`,
    `https://127.0.0.1:${port}/%zz${token}`,
  ];

  for (const url of urls)
    for (const options of [{}, fails, { hosts: [] }, { lookup: resolving([]) }]) {
      const { error } = await send(url, options);
      const seen = [error?.message, error?.stack, JSON.stringify(error), String(error?.cause)].join('\n');
      expect(error).toBeDefined();
      expect(seen).not.toContain(token);
      expect(seen).not.toContain('example.org');
      expect(seen).not.toContain(String(port));
    }
});

it('a message that is stopped ends immediately, and is not retried', async () => {
  const stop = new AbortController();
  const { port, received, waitFor } = await start({ answer: () => {} });
  const sender = createMessageSender({ hosts: ['127.0.0.1'] });
  const url = `http://127.0.0.1:${port}/${token}`;
  const sent = sender({ ...message, url }, stop.signal);
  await waitFor(1);

  stop.abort();

  await expect(sent).rejects.toMatchObject({ code: 'stopped', keepsWork: true });
  await expect(sender({ ...message, url }, stop.signal)).rejects.toMatchObject({ code: 'stopped' });
  expect(received.length).toBe(1);
});
