import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';

/** A line between Reeve and a server. */
export interface Line {
  /** Where it begins, on loopback. */
  readonly port: number;
  /**
   * `pass` forwards; `hold` forwards later, once it passes again; `cut` breaks and refuses connections; `swallow` leaves them
   * open, and never forwards anything on them again; `mute` swallows the answers alone.
   */
  set(mode: NetworkMode): void;
  /** Leads connections from now on to another server, like a name or an address that moves. */
  lead(target: Target): void;
  /** Connections that were refused so far. */
  refused(): number;
  /** Breaks and refuses connections for so long. */
  cut(ms: number): Promise<void>;
  close(): Promise<void>;
}

type NetworkMode = 'pass' | 'hold' | 'cut' | 'swallow' | 'mute';

/** Where a server listens: a port of loopback, or the path of a socket. */
type Target = { readonly port: number; readonly host: '127.0.0.1' } | { readonly path: string };

/** A line to the socket of a PostgreSQL server. */
export interface Network extends Omit<Line, 'lead'> {
  /** The connection string through it, with the schema of the one that was given. */
  readonly url: string;
  lead(url: string): void;
}

/** Opens a port on loopback that leads to the server of `url`, which names the folder of its socket. */
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

/** Opens a port on loopback that leads to a server. */
export async function openLine(to: Target): Promise<Line> {
  let target = to;
  let refused = 0;
  const sockets = new Set<Socket>();
  const swallowed = new Set<Socket>();
  /** Those of the server. */
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
      // The server learns nothing of it either: it keeps its end, with its locks.
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
