import { type Readable, Transform } from 'node:stream';
import { createGunzip } from 'node:zlib';
import type { FastifyRequest } from 'fastify';
import { ForgeProblem } from '../errors.ts';

/**
 * Returns the body of a git request, decompressed if it is gzip. The stream fails with 413 once it exceeds
 * `maxBytes`, counted after decompression, and with 400 if the body is invalid.
 */
export function readGitBody(request: FastifyRequest, maxBytes: number): Readable {
  // The content type parser of git's routes passes the stream through.
  const body = request.body as Readable;
  const isPacked = request.headers['content-encoding'] === 'gzip';
  if (!isPacked && Number(request.headers['content-length']) > maxBytes) throw tooLarge(maxBytes);
  const limited = limitBytes(maxBytes);
  let last = body;
  // `pipeline` would destroy the request together with its socket, and the client could not read the error.
  for (const step of isPacked ? [createGunzip(), limited] : [limited]) {
    last.on('error', (error) => step.destroy(asProblem(error)));
    last = last.pipe(step);
  }
  // The stream may fail before it has a reader, which then finds the error in the stream. An unhandled `error` event
  // would end the process.
  limited.on('error', () => {});
  limited.on('close', () => {
    body.unpipe();
    body.resume();
  });
  return limited;
}

function limitBytes(maxBytes: number): Transform {
  let seen = 0;
  return new Transform({
    transform(piece: Buffer, _encoding, done) {
      seen += piece.length;
      if (seen > maxBytes) done(tooLarge(maxBytes));
      else done(null, piece);
    },
  });
}

function tooLarge(maxBytes: number): ForgeProblem {
  return new ForgeProblem(413, `the request unpacks to more than ${maxBytes} bytes, which is the limit here`);
}

function asProblem(error: Error): ForgeProblem {
  return error instanceof ForgeProblem
    ? error
    : new ForgeProblem(400, `the request cannot be read: ${error.message}`);
}
