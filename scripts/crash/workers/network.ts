import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';

/** A network between Reeve and the socket of a PostgreSQL server. */
export interface Network {
  /** The connection string through it, with the schema of the one that was given. */
  readonly url: string;
  /**
   * `pass` forwards; `hold` forwards later, once it passes again; `cut` breaks and refuses connections; `swallow` leaves them
   * open, and never forwards anything on them again; `mute` swallows the answers alone.
   */
  set(mode: NetworkMode): void;
  /** Leads connections from now on to another server, like a name or an address that moves. */
  lead(url: string): void;
  /** Breaks and refuses connections for so long. */
  cut(ms: number): Promise<void>;
  close(): Promise<void>;
}

type NetworkMode = 'pass' | 'hold' | 'cut' | 'swallow' | 'mute';

/** Opens a port on loopback that leads to the server of `url`, which names the folder of its socket. */
export async function openNetwork(url: string): Promise<Network> {
  const parameters = new URLSearchParams(url.split('?')[1]);
  let path = socketOf(url);
  parameters.delete('host');
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
      if (mode === 'cut') near.destroy();
      else swallowed.add(near.pause());
      return;
    }
    const far = connect(path);
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
  const port = typeof address === 'object' ? address?.port : undefined;
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
    url: `postgres://reeve@127.0.0.1:${port}/postgres?${parameters}`,
    set,
    lead(other) {
      path = socketOf(other);
    },
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

function socketOf(url: string): string {
  return join(new URLSearchParams(url.split('?')[1]).get('host') ?? '', '.s.PGSQL.5432');
}
