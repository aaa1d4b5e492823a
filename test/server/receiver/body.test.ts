import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { type Bodies, BodyError, createBodies, type HeldBody } from '../../../src/server/receiver/body.ts';

let server: Server;
let nowMs: number;
let bodies: Bodies;
afterEach(() => {
  server.closeAllConnections();
  server.close();
});

/** Request whose body is being read, with the result. */
type Reading = { readonly request: IncomingMessage; readonly body: Promise<HeldBody | BodyError> };
let readings: Reading[];

async function start(options: { maxBytes: number; budgetBytes: number }): Promise<void> {
  nowMs = 0;
  readings = [];
  bodies = createBodies({ ...options, clock: { monotonicMs: () => nowMs } });
  server = createServer((request, response) => {
    const body = bodies.read(request).catch((error: BodyError) => error);
    readings.push({ request, body });
    void body.then(() => response.end());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
}

/** Starts a request, and returns its connection once the server reads it. */
async function begin(bytes: number, localAddress = '127.0.0.1'): Promise<Socket> {
  const { port } = server.address() as AddressInfo;
  const socket = connect({ port, host: '127.0.0.1', localAddress }).resume();
  socket.on('error', () => {});
  const read = once(server, 'request');
  socket.write(`POST / HTTP/1.1\r\nhost: x\r\ncontent-length: ${bytes}\r\n\r\n`);
  await read;
  return socket;
}

/** Returns the result for a body: its bytes, or why it was not read. */
async function resultOf(reading: Reading | undefined): Promise<Buffer | string> {
  const body = await reading?.body;
  if (body instanceof BodyError) return `${body.name} ${body.status}: ${body.message}`;
  return Buffer.from(body?.bytes ?? []);
}

/** Returns bytes that differ between any two blocks of a buffer. */
const filled = (bytes: number, first: number): Buffer =>
  Buffer.alloc(
    bytes,
    Uint8Array.from({ length: 251 }, (_, at) => (first + at) % 251),
  );

describe('a body', () => {
  it.each([0, 1, 16_384, 16_385, 262_144, 300_000])('of %i bytes is read unchanged', async (bytes) => {
    await start({ maxBytes: 300_000, budgetBytes: 1_000_000 });
    const sent = filled(bytes, 7);

    (await begin(bytes)).write(sent);

    expect(sent.equals(Buffer.from(await resultOf(readings[0])))).toBe(true);
  });

  it('over the limit is refused: by its declared length before it is read, or otherwise by its bytes', async () => {
    await start({ maxBytes: 1_000, budgetBytes: 1_000_000 });
    const refusal = 'BodyError 413: the body is larger than 1000 bytes';
    const lengths = ['1000', '1001', undefined].map((length) => ({ headers: { 'content-length': length } }));

    (await begin(1_001)).write(filled(1_001, 0));

    expect(await resultOf(readings[0])).toBe(refusal);
    expect(lengths.map((request) => bodies.refuse(request as IncomingMessage)?.status)).toEqual([
      undefined,
      413,
      undefined,
    ]);
  });

  it('that ends early is refused', async () => {
    await start({ maxBytes: 1_000, budgetBytes: 1_000_000 });
    const socket = await begin(1_000);
    socket.write('half');
    await once(readings[0]?.request ?? server, 'data');

    socket.destroy();

    expect(await resultOf(readings[0])).toBe('BodyError 400: the body is incomplete');
  });

  it('that is refused holds no memory, so the next large body is read', async () => {
    await start({ maxBytes: 400_000, budgetBytes: 800_000 });
    for (let at = 0; at < 3; at += 1) {
      const socket = await begin(600_000);
      socket.write(filled(600_000, 0));
      expect(await resultOf(readings[at])).toContain('413');
    }

    (await begin(400_000)).write(filled(400_000, 3));

    expect(filled(400_000, 3).equals(Buffer.from(await resultOf(readings[3])))).toBe(true);
  });
});

describe('the memory of a body', () => {
  it.each([
    [1, 16_384],
    [16_384, 16_384],
    [16_385, 65_536],
    [262_144, 262_144],
    [262_145, 524_288],
    [900_000, 1_000_000],
  ])('of %i bytes has %i bytes', async (bytes, expected) => {
    await start({ maxBytes: 1_000_000, budgetBytes: 4_000_000 });

    (await begin(bytes)).write(filled(bytes, 7));

    const body = await readings[0]?.body;
    expect(body instanceof BodyError ? body.status : body?.bytes.buffer.byteLength).toBe(expected);
  });

  it('is reused for the next body, even after a refusal', async () => {
    await start({ maxBytes: 20_000, budgetBytes: 4_000_000 });
    const read = async (at: number, bytes: number): Promise<HeldBody | BodyError | undefined> => {
      (await begin(bytes)).write(filled(bytes, at));
      return readings[at]?.body;
    };
    const first = await read(0, 20_000);
    if (first === undefined || first instanceof BodyError) throw new Error('not read');
    const { buffer } = first.bytes;
    first.release();

    expect(await read(1, 20_001)).toBeInstanceOf(BodyError);
    const last = await read(2, 20_000);

    expect(last instanceof BodyError ? undefined : last?.bytes.buffer).toBe(buffer);
  });
});

describe('large bodies of one address', () => {
  const large = 900_000;
  const memory = { maxBytes: 2 * 2 ** 20, budgetBytes: 4 * 2 ** 20 };
  const sent = [filled(large, 1), filled(large, 2), filled(large, 3)];

  /** Starts two bodies that use up the share of one address, and a third one that waits. */
  async function fill(): Promise<Socket[]> {
    await start(memory);
    const sockets: Socket[] = [];
    for (const body of sent) {
      const socket = await begin(large);
      sockets.push(socket);
      const { request } = readings.at(-1) ?? {};
      if (request === undefined) throw new Error('no request');
      if (sockets.length < 3) {
        socket.write(body.subarray(0, 600_000));
        while (request.socket.bytesRead < 600_000) await new Promise((resolve) => setImmediate(resolve));
      } else {
        const paused = once(request, 'pause');
        socket.write(body);
        await paused;
      }
    }
    return sockets;
  }

  it('wait for one another, and each is read unchanged', async () => {
    const [one, other] = await fill();

    one?.write(sent[0]?.subarray(600_000) ?? '');
    const first = await readings[0]?.body;
    expect(sent[0]?.equals(Buffer.from(await resultOf(readings[0])))).toBe(true);
    if (!(first instanceof BodyError)) first?.release();
    expect(sent[2]?.equals(Buffer.from(await resultOf(readings[2])))).toBe(true);
    other?.write(sent[1]?.subarray(600_000) ?? '');

    expect(sent[1]?.equals(Buffer.from(await resultOf(readings[1])))).toBe(true);
  });

  it('that are slow make room, and complete bodies do not', async () => {
    const [one] = await fill();
    one?.write(sent[0]?.subarray(600_000) ?? '');
    expect(sent[0]?.equals(Buffer.from(await resultOf(readings[0])))).toBe(true);

    nowMs = 1_001;

    expect(await resultOf(readings[1])).toBe(
      'BodyError 503: the body arrived too slowly while memory was short',
    );
    expect(sent[2]?.equals(Buffer.from(await resultOf(readings[2])))).toBe(true);
    expect(sent[0]?.equals(Buffer.from(await resultOf(readings[0])))).toBe(true);
  });

  it.runIf(process.platform === 'linux')('leave room for bodies of another address', async () => {
    await fill();

    (await begin(large, '127.0.0.2')).write(filled(large, 4));

    expect(filled(large, 4).equals(Buffer.from(await resultOf(readings[3])))).toBe(true);
  });
});
