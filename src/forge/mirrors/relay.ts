import http, { type IncomingMessage, type ServerResponse } from 'node:http';
import https from 'node:https';
import { type AddressInfo, isIPv6, type LookupFunction } from 'node:net';
import { pipeline, Transform } from 'node:stream';
import { getCACertificates } from 'node:tls';
import type { Remote } from './remote-address.ts';

/** A server that does not answer, or begin to, is given up. */
const silenceMs = 60_000;

/** What git may ask another server: dumb HTTP, in which it would take objects unchecked, has other paths. */
const asked = /^\/(info\/refs\?service=git-(upload|receive)-pack|git-(upload|receive)-pack)$/;

/** Headers that are for one connection alone, and the encodings of contents: what is counted is what git gets. */
const dropped = new Set([
  'connection',
  'keep-alive',
  'transfer-encoding',
  'upgrade',
  'host',
  'accept-encoding',
]);

type RelayOptions = {
  readonly remote: Remote;
  /** Where the host of the remote is: other addresses are not connected to. */
  readonly addresses: readonly string[];
  /** Bytes that the remote may send. */
  readonly maxBytes: number;
};

/** A place on this machine where git finds the repository of a remote. */
export interface Relay {
  readonly address: string;
  /** Why the remote is given up; undefined where it is not. */
  readonly refusal: () => string | undefined;
  close(): Promise<void>;
}

/**
 * Passes what git asks to the server of a remote, and the answers back. Git itself limits neither what it is sent nor to where a
 * name leads: here all bytes of a fetch are counted, only checked addresses are connected to, and only git's own protocol is spoken,
 * uncompressed, in which git checks each object. Redirects and refused credentials are answers for git.
 */
export async function openRelay({ remote, addresses, maxBytes }: RelayOptions): Promise<Relay> {
  let bytes = 0;
  let refusal: string | undefined;
  const give = (reason: string, response: ServerResponse): void => {
    refusal ??= reason;
    if (response.headersSent) response.destroy();
    else response.writeHead(502, { 'content-type': 'text/plain' }).end(`${reason}\n`);
  };

  function pass(request: IncomingMessage, response: ServerResponse): void {
    const path = request.url ?? '';
    if (!asked.test(path)) {
      give('the remote does not speak the protocol of git', response);
      return;
    }
    const target = new URL(remote.address);
    const headers = Object.fromEntries(
      Object.entries(request.headers).filter(([name]) => !dropped.has(name)),
    );
    const { program, more } = target.protocol === 'https:' ? overTls() : { program: http, more: {} };
    const sent = program.request(
      {
        ...more,
        hostname: target.hostname.replace(/^\[(.*)\]$/, '$1'),
        port: target.port || undefined,
        path: `${target.pathname.replace(/\/+$/, '')}${path}`,
        method: request.method,
        headers: { ...headers, host: target.host, 'accept-encoding': 'identity' },
        lookup: lookupOf(addresses),
        agent: false,
        timeout: silenceMs,
      },
      (answer) => {
        const reason = unusable(path, answer);
        if (reason !== undefined) {
          answer.destroy();
          return give(reason, response);
        }
        const kept = Object.entries(answer.headers).filter(([name]) => !dropped.has(name));
        response.writeHead(answer.statusCode ?? 502, Object.fromEntries(kept));
        const count = new Transform({
          transform(piece: Buffer, _encoding, done) {
            bytes += piece.length;
            if (bytes <= maxBytes) return done(null, piece);
            refusal ??= `the remote sends more than ${maxBytes} bytes`;
            done(new Error(refusal));
          },
        });
        // An answer that breaks off breaks off for git, too.
        pipeline(answer, count, response, () => {});
      },
    );
    sent.on('timeout', () => sent.destroy(new Error(`no answer within ${silenceMs / 1000} s`)));
    sent.on('error', (error: NodeJS.ErrnoException) =>
      give(`the remote cannot be reached: ${error.code ?? error.message}`, response),
    );
    response.on('close', () => sent.destroy());
    pipeline(request, sent, () => {});
  }

  const server = http.createServer({ requestTimeout: 0 }, pass);
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', resolve);
  });
  return {
    address: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    refusal: () => refusal,
    close() {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}

/** The authorities that git trusts are those of the system. */
function overTls() {
  const ca = [...new Set([...getCACertificates('default'), ...getCACertificates('system')])];
  return { program: https, more: { ca } };
}

/** Returns why an answer is not passed on. */
function unusable(path: string, { statusCode, headers }: IncomingMessage): string | undefined {
  if ((headers['content-encoding'] ?? 'identity') !== 'identity') return 'the remote compresses its answers';
  const service = /service=(.*)$/.exec(path)?.[1];
  const isGit = headers['content-type'] === `application/x-${service}-advertisement`;
  const isDumb = statusCode === 200 && service !== undefined && !isGit;
  return isDumb ? 'the remote does not speak the protocol of git' : undefined;
}

function lookupOf(addresses: readonly string[]): LookupFunction {
  const found = addresses.map((address) => ({ address, family: isIPv6(address) ? 6 : 4 }));
  return (_hostname, { all }, callback) => {
    const [first] = found;
    if (all) callback(null, found);
    else if (first) callback(null, first.address, first.family);
    else callback(new Error('the name has no address'), '');
  };
}
