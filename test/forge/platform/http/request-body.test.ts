import { Readable } from 'node:stream';
import { gzipSync } from 'node:zlib';
import type { FastifyRequest } from 'fastify';
import { expect, it } from 'vitest';
import { readGitBody } from '../../../../src/forge/platform/http/request-body.ts';

const requestOf = (bytes: Buffer): FastifyRequest =>
  // Only the parts of a request that the body reader uses.
  ({ headers: { 'content-encoding': 'gzip' }, body: Readable.from([bytes]) }) as unknown as FastifyRequest;

it.each([
  ['is not gzip', Buffer.from('no gzip'), 'cannot be read'],
  ['decompresses to more than the limit', gzipSync(Buffer.alloc(2_000)), 'more than 1000 bytes'],
])('a body that %s keeps its error for a later reader', async (_, bytes, message) => {
  const body = readGitBody(requestOf(bytes), 1_000);
  // Without an error listener of its own, the stream would end the process here.
  await new Promise((resolve) => setTimeout(resolve, 50));

  await expect(body.toArray()).rejects.toThrow(message);
});
