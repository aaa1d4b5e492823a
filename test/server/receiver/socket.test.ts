import { once } from 'node:events';
import { Agent, request } from 'node:http';
import { connect } from 'node:net';
import type { FastifyInstance } from 'fastify';
import { afterEach, describe, expect, it } from 'vitest';
import type { Store } from '../../../src/store/store.ts';
import { makeEntry, makeHeaders, makePush, makeReceiver } from './make.ts';

let app: FastifyInstance;
let store: Store;
afterEach(() => app.close());

/** Every request is slow on a busy machine; tests about time set their own limits. */
const patient = { headersTimeoutMs: 600_000, requestTimeoutMs: 600_000 };

const listen = async (options: Parameters<typeof makeReceiver>[0]): Promise<number> => {
  ({ app, store } = await makeReceiver({ limits: patient, ...options }));
  await app.listen({ port: 0, host: '127.0.0.1' });
  return Number(new URL(app.listeningOrigin).port);
};

/** Writes until the generator ends, and returns the response and the number of bytes accepted. */
const talk = async (
  port: number,
  head: string,
  next: (sent: number) => Buffer | undefined,
): Promise<{ answer: string; sent: number }> => {
  const socket = connect(port, '127.0.0.1');
  let answer = '';
  let sent = 0;
  let isOpen = true;
  const closed = new Promise<void>((resolve) => {
    socket.on('close', () => {
      isOpen = false;
      resolve();
    });
  });
  socket.on('data', (data) => {
    answer += data.toString();
  });
  socket.on('error', () => {
    // The receiver may reset a connection after its response; only the response counts.
  });
  socket.write(head);
  for (let chunk = next(sent); chunk !== undefined && isOpen; chunk = next(sent)) {
    sent += chunk.length;
    if (!socket.write(chunk)) {
      await Promise.race([closed, new Promise((resolve) => socket.once('drain', resolve))]);
    }
  }
  await closed;
  return { answer, sent };
};

const headOf = (headers: Record<string, string>): string =>
  `POST /webhook HTTP/1.1\r\nhost: localhost\r\n${Object.entries(headers)
    .map(([name, value]) => `${name}: ${value}\r\n`)
    .join('')}\r\n`;
const block = Buffer.alloc(65_536, 'x');
const chunked = Buffer.concat([Buffer.from('10000\r\n'), block, Buffer.from('\r\n')]);

describe('a body over the limit', () => {
  it('is answered 413 and cut off if it is sent in chunks without a length, and nothing is stored', async () => {
    const port = await listen({ maxBodyBytes: 1_000_000 });
    const before = process.memoryUsage.rss();

    const { answer, sent } = await talk(
      port,
      headOf({ ...makeHeaders(''), 'transfer-encoding': 'chunked' }),
      (sent) => (sent < 200_000_000 ? chunked : undefined),
    );

    expect(answer).toMatch(/^HTTP\/1\.1 413 /);
    expect(sent).toBeLessThan(100_000_000);
    expect(process.memoryUsage.rss() - before).toBeLessThan(100_000_000);
    expect((await store.listDeliveries()).items).toEqual([]);
  });

  it('is answered 413 even if the sender reads no response before it has sent everything', async () => {
    const port = await listen({ maxBodyBytes: 1_000_000 });
    const socket = connect(port, '127.0.0.1').pause();
    const errors: string[] = [];
    let answer = '';
    socket.on('error', ({ message }) => errors.push(message));
    socket.on('data', (data) => {
      answer += data.toString();
    });
    socket.pause().write(headOf({ ...makeHeaders(''), 'transfer-encoding': 'chunked' }));

    for (let sent = 0; sent < 20_000_000 && errors.length === 0; sent += block.length) {
      await new Promise<void>((resolve) => socket.write(chunked, () => resolve()));
    }
    socket.write('0\r\n\r\n');
    socket.resume();

    await expect.poll(() => answer !== '' || errors.length > 0 || socket.closed).toBe(true);
    expect(answer).toMatch(/^HTTP\/1\.1 413 /);
    expect(errors).toEqual([]);
    socket.destroy();
  });

  it('is answered 413 at once if its declared length is over the limit, and cut off if the sender continues', async () => {
    const port = await listen({ maxBodyBytes: 1_000_000 });

    const { answer, sent } = await talk(
      port,
      headOf({ ...makeHeaders(''), 'content-length': '200000000' }),
      (sent) => (sent < 200_000_000 ? block : undefined),
    );

    expect(answer).toMatch(/^HTTP\/1\.1 413 /);
    expect(sent).toBeLessThan(100_000_000);
  });

  it('does not fill the memory when many such bodies arrive at once', async () => {
    const port = await listen({ budgetBytes: 8_000_000 });
    const before = process.memoryUsage.rss();

    const answers = await Promise.all(
      Array.from({ length: 30 }, () =>
        talk(port, headOf({ ...makeHeaders(''), 'transfer-encoding': 'chunked' }), (sent) =>
          sent < 90_000_000 ? chunked : undefined,
        ),
      ),
    );

    // 503: dropped to make room before the body was known to be too large. A sender that never reads may see a reset
    // instead.
    expect(answers.filter(({ answer }) => !/^(HTTP\/1\.1 (413|503) |$)/.test(answer))).toEqual([]);
    expect((await store.listDeliveries()).items).toEqual([]);
    expect(process.memoryUsage.rss() - before).toBeLessThan(100_000_000);
  });
});

describe('a request without a valid authorization header', () => {
  const head = (authorization: string): string =>
    headOf({ ...makeHeaders(''), authorization, 'content-length': '8000000' });

  it('is answered 401 before its body is sent if every entry requires the header', async () => {
    const port = await listen({});
    const socket = connect(port, '127.0.0.1');

    socket.write(head('wrong'));
    const [answer] = (await once(socket, 'data')) as [Buffer];

    expect(answer.toString()).toMatch(/^HTTP\/1\.1 401 /);
    socket.destroy();
  });

  it('has its body read if an entry may pass by its signature alone', async () => {
    const port = await listen({ secrets: [makeEntry(), makeEntry({ name: 'signed', authorization: [] })] });
    const body = JSON.stringify(makePush());

    const answer = await fetch(`http://127.0.0.1:${port}/webhook`, {
      method: 'POST',
      headers: makeHeaders(body, { authorization: 'wrong' }),
      body,
    });

    expect(answer.status).toBe(202);
  });

  it('leaves its connection usable for the next delivery', async () => {
    const port = await listen({});
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const send = (authorization?: string): Promise<number | undefined> =>
      new Promise((resolve, reject) => {
        const body = JSON.stringify({ ...makePush(), pad: 'x'.repeat(1_000_000) });
        const headers = makeHeaders(body, authorization === undefined ? {} : { authorization });
        const outgoing = request({
          agent,
          port,
          host: '127.0.0.1',
          path: '/webhook',
          method: 'POST',
          headers,
        });
        outgoing.on('error', reject).on('response', (answer) => {
          answer.on('end', () => resolve(answer.statusCode)).resume();
        });
        outgoing.end(body);
      });

    expect([await send('wrong'), await send(), await send('wrong')]).toEqual([401, 202, 401]);
    agent.destroy();
  });
});

describe('a slow sender', () => {
  const limits = { headersTimeoutMs: 100, requestTimeoutMs: 200, checkingIntervalMs: 25 };

  it('is answered 408 if its body does not end in time', async () => {
    const port = await listen({ limits });

    const { answer } = await talk(
      port,
      headOf({ ...makeHeaders(''), 'content-length': '100' }),
      () => undefined,
    );

    expect(answer).toMatch(/^HTTP\/1\.1 408 /);
  });

  it('is answered 408 if its headers do not end in time', async () => {
    const port = await listen({ limits });

    const { answer } = await talk(port, 'POST /webhook HTTP/1.1\r\nhost: x\r\n', () => undefined);

    expect(answer).toMatch(/^HTTP\/1\.1 408 /);
  });

  it('that ends early leaves nothing behind, and the next request is served', async () => {
    const port = await listen({});
    const broken = connect(port, '127.0.0.1');
    broken.write(`${headOf({ ...makeHeaders(''), 'content-length': '100' })}{"half`);
    await new Promise((resolve) => setImmediate(resolve));
    broken.destroy();
    const body = JSON.stringify(makePush());

    const answer = await fetch(`http://127.0.0.1:${port}/webhook`, {
      method: 'POST',
      headers: makeHeaders(body),
      body,
    });

    expect(answer.status).toBe(202);
    expect((await store.listDeliveries()).items).toHaveLength(1);
  });
});
