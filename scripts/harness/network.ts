import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';

/** Connection between Reeve and a server. */
export interface Line {
  /** Port on loopback at which it accepts connections. */
  readonly port: number;
  /**
   * `pass` forwards; `hold` forwards later, once it passes again; `cut` breaks and refuses connections; `swallow`
   * leaves them open, and never forwards anything on them again; `mute` swallows only what the server sends.
   */
  set(mode: NetworkMode): void;
  /** Directs new connections to another server, like a name or an address that moves. */
  lead(target: Target): void;
  /** Returns the number of connections refused so far. */
  refused(): number;
  /** Breaks and refuses connections for this time. */
  cut(ms: number): Promise<void>;
  close(): Promise<void>;
}

type NetworkMode = 'pass' | 'hold' | 'cut' | 'swallow' | 'mute';

/** Address of a server: a loopback port, or the path of a socket. */
type Target = { readonly port: number; readonly host: '127.0.0.1' } | { readonly path: string };

/** Line to the socket of a PostgreSQL server. */
export interface Network extends Omit<Line, 'lead'> {
  /** Connection string through the line, with the schema of the given one. */
  readonly url: string;
  lead(url: string): void;
}

/** Opens a loopback port to the server of `url`, which contains the folder of its socket. */
export async function openNetwork(url: string): Promise<Network> {
  const parameters = new URLSearchParams(url.split('?')[1]);
  const line = await openLine(socketOf(url));
  parameters.delete('host');
  return {
    ...line,
    url: `postgres://reeve@127.0.0.1:${line.port}/postgres?${parameters}`,
    lead: (other) => line.lead(socketOf(other)),
  };
}

function socketOf(url: string): Target {
  return { path: join(new URLSearchParams(url.split('?')[1]).get('host') ?? '', '.s.PGSQL.5432') };
}

/** Opens a loopback port to a server. */
export async function openLine(to: Target): Promise<Line> {
  let target = to;
  let refused = 0;
  const sockets = new Set<Socket>();
  const swallowed = new Set<Socket>();
  /** Sockets of the server. */
  const farther = new Set<Socket>();
  let mode: NetworkMode = 'pass';
  const keep = (socket: Socket, other?: Socket): void => {
    sockets.add(socket);
    socket
      .on('error', () => {})
      .on('close', () => {
        sockets.delete(socket);
        swallowed.delete(socket);
        farther.delete(socket);
        other?.destroy();
      });
  };
  const server = createServer((near) => {
    if (mode === 'cut' || mode === 'swallow') {
      keep(near);
      if (mode === 'cut') refused += 1;
      if (mode === 'cut') near.destroy();
      else swallowed.add(near.pause());
      return;
    }
    const far = connect(target);
    keep(near, far);
    keep(far, near);
    farther.add(far);
    near.pipe(far).pipe(near);
    if (mode === 'hold') near.pause();
    if (mode === 'mute') swallowed.add(far.unpipe().pause());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const port = typeof address === 'object' ? (address?.port ?? 0) : 0;
  const set = (next: NetworkMode): void => {
    mode = next;
    for (const socket of sockets) {
      if (mode === 'pass' && !swallowed.has(socket)) socket.resume();
      if (mode === 'hold') socket.pause();
      if (mode === 'cut') socket.destroy();
      // The server does not notice it either: it keeps its end of the connection, with its locks.
      if (mode === 'swallow' || (mode === 'mute' && farther.has(socket)))
        swallowed.add(socket.unpipe().pause());
    }
  };
  return {
    port,
    set,
    lead(other) {
      target = other;
    },
    refused: () => refused,
    async cut(ms) {
      set('cut');
      await pause(ms);
      set('pass');
    },
    async close() {
      server.close();
      for (const socket of sockets) socket.destroy();
      await once(server, 'close');
    },
  };
}
