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
   * open, and never forwards anything on them again.
   */
  set(mode: NetworkMode): void;
  /** Breaks and refuses connections for so long. */
  cut(ms: number): Promise<void>;
  close(): Promise<void>;
}

type NetworkMode = 'pass' | 'hold' | 'cut' | 'swallow';

/** Opens a port on loopback that leads to the server of `url`, which names the folder of its socket. */
export async function openNetwork(url: string): Promise<Network> {
  const parameters = new URLSearchParams(url.split('?')[1]);
  const path = join(parameters.get('host') ?? '', '.s.PGSQL.5432');
  parameters.delete('host');
  const sockets = new Set<Socket>();
  const swallowed = new Set<Socket>();
  let mode: NetworkMode = 'pass';
  const keep = (socket: Socket, other?: Socket): void => {
    sockets.add(socket);
    socket
      .on('error', () => {})
      .on('close', () => {
        sockets.delete(socket);
        swallowed.delete(socket);
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
    near.pipe(far).pipe(near);
    if (mode === 'hold') near.pause();
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
      if (mode === 'swallow') swallowed.add(socket.unpipe().pause());
    }
  };
  return {
    url: `postgres://reeve@127.0.0.1:${port}/postgres?${parameters}`,
    set,
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
