import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** Request that the simulated forge received. */
type Asked = {
  readonly method: string;
  readonly path: string;
  readonly repository: string | undefined;
};

/** Forge that has only repositories and their labels, in numbers that a complete forge would take minutes to create. */
export type ManyRepositories = {
  readonly url: string;
  readonly asked: Asked[];
  /** Label names by repository. */
  readonly labels: ReadonlyMap<string, string[]>;
  /** Handles a request before anything else does, if it returns a status. */
  meddle: (asked: Asked) => { status: number; headers?: Record<string, string> } | undefined;
  /** Repositories that are no longer listed. */
  readonly gone: Set<string>;
  /** Whether the list of repositories has no end. */
  endless: boolean;
  /** Whether reeve has starred the repositories; otherwise only the organization lists them. */
  isStarred: boolean;
  close(): Promise<void>;
};

/**
 * Starts a simulated forge with `count` repositories that reeve has starred. It is only for tests of size; behaviour is
 * tested on the embedded forge.
 */
export async function startManyRepositories(count: number, latencyMs = 0): Promise<ManyRepositories> {
  const names = Array.from({ length: count }, (_, index) => `r${index + 1}`);
  const labels = new Map(names.map((name) => [name, [] as string[]]));
  const forge: ManyRepositories = {
    url: '',
    asked: [],
    labels,
    meddle: () => undefined,
    gone: new Set(),
    endless: false,
    isStarred: true,
    close: async () => {},
  };
  const server = createServer(async (request, response) => {
    const url = new URL(request.url ?? '/', 'http://localhost');
    const repository = /^\/api\/v1\/repos\/acme\/([^/]+)/.exec(url.pathname)?.[1];
    const asked = { method: request.method ?? '', path: url.pathname + url.search, repository };
    forge.asked.push(asked);
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    if (latencyMs > 0) await new Promise((resolve) => setTimeout(resolve, latencyMs));
    const answer = (status: number, value: unknown, headers: Record<string, string> = {}): void => {
      response
        .writeHead(status, { 'content-type': 'application/json', ...headers })
        .end(JSON.stringify(value));
    };
    const meddled = forge.meddle(asked);
    if (meddled) return answer(meddled.status, { message: 'meddled' }, meddled.headers);
    if (url.pathname === '/api/v1/user') return answer(200, { id: 2, login: 'reeve', is_admin: false });
    if (url.pathname === '/api/v1/version') return answer(200, { version: '1.27.0' });
    if (url.pathname === '/api/v1/users/reeve/starred')
      return forge.isStarred ? list(url, answer) : answer(200, []);
    if (url.pathname === '/api/v1/user/repos') return answer(200, []);
    if (url.pathname === '/api/v1/orgs/acme/repos') return list(url, answer);
    const own = repository === undefined ? undefined : labels.get(repository);
    if (own === undefined || forge.gone.has(repository ?? '')) return answer(404, { message: 'not found' });
    if (/\/labels$/.test(url.pathname)) {
      if (request.method === 'GET')
        return answer(200, Number(url.searchParams.get('page') ?? 1) > 1 ? [] : own.map(labelOf));
      const body = JSON.parse(Buffer.concat(chunks).toString()) as { name: string };
      own.push(body.name);
      return answer(201, labelOf(body.name, own.length - 1));
    }
    if (/\/milestones$/.test(url.pathname))
      return answer(200, [{ id: 1, title: 'next', state: 'open' }], { 'x-total-count': '1' });
    if (/\/branch_protections$/.test(url.pathname)) {
      return answer(200, [{ rule_name: 'main', branch_name: 'main', required_approvals: 2 }]);
    }
    if (/\/acme\/[^/]+$/.test(url.pathname)) return answer(200, repositoryOf(repository ?? ''));
    return answer(404, { message: 'not found' });
  });

  const list = (
    url: URL,
    answer: (status: number, value: unknown, headers?: Record<string, string>) => void,
  ) => {
    const [page, limit] = [
      Number(url.searchParams.get('page') ?? 1),
      Number(url.searchParams.get('limit') ?? 30),
    ];
    const live = names.filter((name) => !forge.gone.has(name));
    const at = forge.endless ? ((page - 1) % 2) * limit : (page - 1) * limit;
    const shown = live.slice(at, at + limit).map(repositoryOf);
    const isMore = forge.endless || page * limit < live.length;
    answer(200, shown, {
      'x-total-count': String(live.length),
      ...(isMore
        ? { link: '<http://elsewhere/?page=2>; rel="next"' }
        : { link: '<http://elsewhere/>; rel="first"' }),
    });
  };

  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  Object.assign(forge, {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () =>
      new Promise<void>((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  });
  return forge;
}

function labelOf(name: string, index: number): object {
  return { id: index + 1, name, color: 'ff0000', description: '' };
}

function repositoryOf(name: string): object {
  const id = Number(name.slice(1));
  const owner = { id: 1, login: 'acme' };
  return { id, name, full_name: `acme/${name}`, owner, archived: false, permissions: { admin: true } };
}
