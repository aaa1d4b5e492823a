import { pipeline } from 'node:stream/promises';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { createActorReader, headerCredentials } from '../platform/access/actor.ts';
import { findRepository } from '../platform/access/guards.ts';
import { reaches } from '../platform/access/permissions.ts';
import { Redirect } from '../platform/access/redirects.ts';
import type { RepositoryTarget } from '../platform/access/targets.ts';
import type { ForgeContext } from '../platform/context.ts';
import { ForgeProblem } from '../platform/errors.ts';
import { refuseCrossSiteWrites } from '../platform/http/cross-site.ts';
import { readGitBody } from '../platform/http/request-body.ts';
import { settingsOf } from '../platform/repository-settings.ts';
import type { UserRow } from '../platform/rows.ts';
import { ensureWiki, hasWiki, wikiIdOf } from '../wiki/wiki-service.ts';
import { receivePush } from './receive-pack.ts';

type Service = 'git-upload-pack' | 'git-receive-pack';
type GitTarget = RepositoryTarget & { readonly isWiki: boolean };
type GitRequest = GitTarget & {
  readonly caller: UserRow | undefined;
  readonly service: Service;
  /** Id of the git repository: the repository's own, or its wiki's. */
  readonly gitId: number;
  /** Checks credentials and permission again, because access may be revoked while the body is uploaded. */
  readonly comeIn: () => Promise<GitTarget & { readonly caller: UserRow | undefined }>;
};

/** Time limit of a clone, and maximum number of concurrent clones; further clones are rejected. */
const uploadMs = 600_000;
const maxUploads = 32;
/** Maximum size of the negotiation (wants and haves): about fifty bytes per ref. */
const maxNegotiationBytes = 32 * 1024 * 1024;

const services: readonly string[] = ['git-upload-pack', 'git-receive-pack'];

/**
 * Registers git's smart HTTP under `/{owner}/{repo}` (with or without `.git`) and `/{owner}/{repo}.wiki`, for `git
 * clone`, `fetch` and `push`. Authentication is Basic, with a password or a token.
 */
export function registerGitHttp(app: FastifyInstance, context: ForgeContext): void {
  const enter = createEntrance(context);
  refuseCrossSiteWrites(app, context);
  app.removeAllContentTypeParsers();
  // The body stays a stream: a push may be larger than memory.
  app.addContentTypeParser('*', (_request, body, done) => done(null, body));

  app.get('/:owner/:repo/info/refs', async (request, reply) => {
    const service = new URLSearchParams(request.url.split('?')[1]).get('service') ?? '';
    return await enter(request, reply, service, (visit) => advertise(context, visit, request, reply));
  });
  let uploads = 0;
  app.post('/:owner/:repo/git-upload-pack', async (request, reply) =>
    enter(request, reply, 'git-upload-pack', async (visit) => {
      if (uploads >= maxUploads) throw new ForgeProblem(503, 'too many clones at a time, try again');
      uploads += 1;
      reply.raw.once('close', () => {
        uploads -= 1;
      });
      return await upload(context, visit, request, reply);
    }),
  );
  app.post('/:owner/:repo/git-receive-pack', async (request, reply) =>
    enter(request, reply, 'git-receive-pack', async (visit) => {
      const report = await receivePush(context, visit, {
        body: readGitBody(request, context.limits.pushBytes),
        environment: protocolOf(request),
      });
      return await reply.type('application/x-git-receive-pack-result').send(report);
    }),
  );
}

type GitHandler = (visit: GitRequest) => Promise<FastifyReply>;

function createEntrance(context: ForgeContext) {
  const readActor = createActorReader(context);
  return async (request: FastifyRequest, reply: FastifyReply, service: string, answer: GitHandler) => {
    reply.headers({
      'cache-control': 'no-cache, max-age=0, must-revalidate',
      expires: 'Fri, 01 Jan 1980 00:00:00 GMT',
      pragma: 'no-cache',
    });
    try {
      if (!services.includes(service)) throw new ForgeProblem(403, 'only smart HTTP is served');
      guardContentType(request, service);
      const isRead = service === 'git-upload-pack';
      const comeIn = async () => {
        const scope = `${isRead ? 'read' : 'write'}:repository` as const;
        const actor = await readActor(headerCredentials(request), [scope]);
        const target = findTarget(context, request, actor.user);
        if (!isRead) guardPush(target, actor.user);
        return { ...target, caller: actor.user };
      };
      const visit = await comeIn();
      const gitId = await gitIdOf(context, visit, isRead);
      // The cast is safe: `service` was checked against `services`.
      return await answer({ ...visit, service: service as Service, gitId, comeIn });
    } catch (error) {
      return refuse(request, reply, error);
    }
  };
}

/** Requires git's content type, which HTML forms cannot send. */
function guardContentType({ method, headers }: FastifyRequest, service: string): void {
  const expected = `application/x-${service}-request`;
  if (method === 'POST' && headers['content-type'] !== expected) {
    throw new ForgeProblem(400, `the content type must be ${expected}`);
  }
}

/** Returns the repository or wiki. An anonymous caller gets 401 instead of 404. */
function findTarget(context: ForgeContext, request: FastifyRequest, caller: UserRow | undefined): GitTarget {
  // The route defines both parameters.
  const { owner, repo } = request.params as { owner: string; repo: string };
  const name = repo.replace(/\.git$/, '');
  const isWiki = name.endsWith('.wiki');
  const unit = isWiki ? 'wiki' : 'code';
  try {
    const target = findRepository(context.db, owner, name.replace(/\.wiki$/, ''), caller, unit);
    if (target.permission === 'none') throw new ForgeProblem(404, 'Repository not found');
    return { ...target, isWiki };
  } catch (error) {
    const isHidden = error instanceof ForgeProblem && error.status === 404 && caller === undefined;
    throw isHidden ? new ForgeProblem(401, 'credentials are needed') : error;
  }
}

/**
 * Returns the id of the git repository. A push creates the wiki if it does not exist; a clone of a missing wiki fails.
 */
async function gitIdOf(
  context: ForgeContext,
  { repository, isWiki }: GitTarget,
  isRead: boolean,
): Promise<number> {
  if (!isWiki) return repository.id;
  if (!settingsOf(repository).has_wiki) throw new ForgeProblem(403, 'repository wiki is disabled');
  if (!isRead) await ensureWiki(context, repository);
  else if (!hasWiki(context, repository)) throw new ForgeProblem(404, 'Repository not found');
  return wikiIdOf(repository);
}

/**
 * Ends the request if the caller may not push. Read access to the code is sufficient here, because only the commands
 * show whether the push writes code or opens pull requests. A wiki accepts no pull requests.
 */
function guardPush({ repository, permission, isWiki }: GitTarget, caller: UserRow | undefined): void {
  if (caller === undefined) throw new ForgeProblem(401, 'credentials are needed');
  if (isWiki && !reaches(permission, 'write')) throw new ForgeProblem(404, 'Repository not found');
  if (repository.is_mirror === 1) throw new ForgeProblem(403, 'mirror repository is read-only');
  if (repository.archived_at > 0) {
    throw new ForgeProblem(
      403,
      'This repo is archived. You can view files and clone it, but cannot push or open issues/pull-requests.',
    );
  }
}

function refuse(request: FastifyRequest, reply: FastifyReply, error: unknown): FastifyReply {
  if (error instanceof Redirect) {
    return reply.code(301).header('location', error.locationOf(request.url)).send();
  }
  if (!(error instanceof ForgeProblem)) throw error;
  if (error.status === 401) reply.header('www-authenticate', 'Basic realm="Gitea"');
  reply.code(error.status).headers(error.headers);
  return reply.type('text/plain; charset=utf-8').send(`${error.message}\n`);
}

/** Returns the protocol header if a git client could have sent it; other values are ignored. */
function protocolOf(request: FastifyRequest): Record<string, string> {
  const given = request.headers['git-protocol'];
  const isPlain = typeof given === 'string' && /^[0-9a-zA-Z=:-]{1,100}$/.test(given);
  return isPlain ? { GIT_PROTOCOL: given } : {};
}

async function advertise(
  context: ForgeContext,
  { gitId, service }: GitRequest,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const { git, folder } = context.git.open(gitId);
  const { stdout } = await git.run(
    [service.slice('git-'.length), '--stateless-rpc', '--advertise-refs', folder],
    { folder, environment: protocolOf(request) },
  );
  const line = `# service=${service}\n`;
  const head = `${(line.length + 4).toString(16).padStart(4, '0')}${line}0000`;
  return reply
    .type(`application/x-${service}-advertisement`)
    .send(Buffer.concat([Buffer.from(head), stdout]));
}

async function upload(
  context: ForgeContext,
  { gitId }: GitRequest,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const body = readGitBody(request, maxNegotiationBytes);
  const { git, folder } = context.git.open(gitId);
  const child = git.start(['upload-pack', '--stateless-rpc', '--strict', folder], {
    folder,
    environment: protocolOf(request),
  });
  child.stderr.resume();
  child.on('error', (error) => child.stdout.destroy(error));
  const timer = setTimeout(() => child.kill(), uploadMs);
  // Stops the process if the client disconnects midway.
  reply.raw.on('close', () => {
    clearTimeout(timer);
    child.kill();
  });
  pipeline(body, child.stdin).catch(() => child.kill());
  return reply.type('application/x-git-upload-pack-result').send(child.stdout);
}
