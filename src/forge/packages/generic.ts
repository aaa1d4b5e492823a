import { randomUUID } from 'node:crypto';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { contentDisposition, readRange } from '../code/serve-file.ts';
import { type Actor, createActorReader, headerCredentials } from '../platform/access/actor.ts';
import { userNamed } from '../platform/access/redirects.ts';
import type { ForgeContext } from '../platform/context.ts';
import { ForgeProblem, found } from '../platform/errors.ts';
import { refuseCrossSiteWrites } from '../platform/http/cross-site.ts';
import { readGitBody } from '../platform/http/request-body.ts';
import type { UserRow } from '../platform/rows.ts';
import {
  findPackageFile,
  findVersion,
  insertFile,
  mayUsePackages,
  type PackageName,
  packageFilesOf,
  removeVersion,
} from './packages-rows.ts';

type PackagePath = { owner: string; name: string; version: string; file: string };
type PackageRequest = FastifyRequest<{ Params: PackagePath }>;
type PackageVisit = {
  readonly owner: UserRow;
  readonly actor: Actor;
  readonly named: PackageName;
  readonly file: string;
};

const longestName = 255;

/**
 * Registers the generic package registry at `/api/packages/OWNER/generic/NAME/VERSION/FILE`. A file is the body of a
 * PUT and is streamed to disk. Errors are plain text; if access is missing, the response asks for Basic credentials.
 */
export function registerGenericPackages(app: FastifyInstance, context: ForgeContext): void {
  const enter = createPackageEntrance(context);
  refuseCrossSiteWrites(app, context);
  app.removeAllContentTypeParsers();
  // The body stays a stream: a file may be larger than memory.
  app.addContentTypeParser('*', (_request, body, done) => done(null, body));
  const version = '/api/packages/:owner/generic/:name/:version';
  const one = `${version}/:file`;
  app.get(one, (request: PackageRequest, reply) =>
    enter(request, reply, 'read', (visit) => download(context, visit, request, reply)),
  );
  app.put(one, { bodyLimit: Number.MAX_SAFE_INTEGER }, (request: PackageRequest, reply) =>
    enter(request, reply, 'write', (visit) => upload(context, visit, request, reply)),
  );
  app.delete(one, (request: PackageRequest, reply) =>
    enter(request, reply, 'write', (visit) => deleteFile(context, visit, reply)),
  );
  app.delete(version, (request: PackageRequest, reply) =>
    enter(request, reply, 'write', async ({ owner, actor, named }) => {
      removeVersion(context, { owner, actor: signedIn(actor) }, findOrRefuse(context, owner, named));
      return reply.code(204).send();
    }),
  );
}

type PackageHandler = (visit: PackageVisit) => Promise<FastifyReply>;

function createPackageEntrance(context: ForgeContext) {
  const readActor = createActorReader(context);
  return async (
    request: PackageRequest,
    reply: FastifyReply,
    level: 'read' | 'write',
    answer: PackageHandler,
  ): Promise<FastifyReply> => {
    try {
      const actor = await readActor(headerCredentials(request), {
        scopes: [`${level}:package`],
        refuse: noAccess,
      });
      const { owner: ownerName, name, version, file = '' } = request.params;
      const owner = found(userNamed(context.db, ownerName));
      if (!mayUsePackages(context.db, owner, actor, level)) throw noAccess();
      return await answer({ owner, actor, named: { type: 'generic', name, version }, file });
    } catch (error) {
      return refusePackage(context, request, reply, error);
    }
  };
}

function noAccess(): ForgeProblem {
  const headers = { 'www-authenticate': 'Basic realm="Gitea Package API"' };
  return new ForgeProblem(401, 'user should have specific permission or be a site admin', 'error', headers);
}

function refusePackage(
  context: ForgeContext,
  request: PackageRequest,
  reply: FastifyReply,
  error: unknown,
): FastifyReply {
  const problem = error instanceof ForgeProblem ? error : new ForgeProblem(500, 'Internal Server Error');
  if (problem.status >= 500) {
    const { method, url } = request;
    context.log.error({ err: error, method, path: url.split('?')[0] }, 'a package could not be served');
  }
  // Discards the unread body, so that the client can read the response and the connection can serve the next request.
  request.raw.resume();
  return reply
    .code(problem.status)
    .headers(problem.headers)
    .type('text/plain; charset=utf-8')
    .send(`${problem.message}\n`);
}

/** Returns the signed-in account; callers with write access are always signed in. */
function signedIn({ user }: Actor): UserRow {
  if (!user) throw noAccess();
  return user;
}

function findOrRefuse({ db }: ForgeContext, owner: UserRow, named: PackageName) {
  return found(findVersion(db, owner, named), 'package does not exist');
}

function assertNames({ name, version }: PackageName, file: string): void {
  const isName = /^[-_+.\w]+$/.test(name) && !/^[-_+.]$|^\.\.$/.test(name);
  if (!isName || name.length > longestName) throw new ForgeProblem(400, 'invalid package name');
  const isFile = /^[-_+=:;.()[\]{}~!@#$%^& \w]+$/.test(file) && file.trim() === file && !/^\.\.?$/.test(file);
  if (!isFile || file.length > longestName) throw new ForgeProblem(400, 'invalid filename');
  if (version.trim() !== version || version.length > longestName)
    throw new ForgeProblem(400, 'invalid package version');
}

async function upload(
  context: ForgeContext,
  { owner, actor, named, file }: PackageVisit,
  request: PackageRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  assertNames(named, file);
  const { headers } = request;
  if (/^multipart\//i.test(headers['content-type'] ?? '') || headers['content-encoding'] !== undefined)
    throw new ForgeProblem(400, 'the request body must be the unencoded file');
  const known = findVersion(context.db, owner, named);
  // Checked before the upload; `insertFile` checks it again afterwards.
  if (known && findPackageFile(context.db, known, file))
    throw new ForgeProblem(409, 'package file already exists');
  const uuid = randomUUID();
  const who = { owner, actor: signedIn(actor) };
  try {
    await context.attachments.receive(uuid, readGitBody(request, context.limits.packageBytes), (received) =>
      insertFile(context, who, named, { ...received, uuid, name: file }),
    );
  } catch (error) {
    if (error instanceof ForgeProblem && error.status === 413)
      throw new ForgeProblem(403, 'maximum allowed package type size exceeded');
    throw error;
  }
  return reply.code(201).send();
}

async function download(
  context: ForgeContext,
  { owner, named, file }: PackageVisit,
  request: PackageRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const row = found(
    findPackageFile(context.db, findOrRefuse(context, owner, named), file),
    'package file does not exist',
  );
  const etag = `"${row.sha256}"`;
  reply
    .header('etag', etag)
    .header('last-modified', new Date(row.created_at * 1000).toUTCString())
    .header('accept-ranges', 'bytes')
    .header('cache-control', 'private, max-age=0, must-revalidate');
  const known = request.headers['if-none-match']?.split(',').map((tag) => tag.trim().replace(/^W\//, ''));
  if (known?.includes(etag) || known?.includes('*')) return reply.code(304).send();
  const range = readRange(request.headers.range, row.size);
  const bytes = found(await context.attachments.read(row.uuid, range));
  if (range) {
    reply.code(206).header('content-range', `bytes ${range.start}-${range.end}/${row.size}`);
  }
  return reply
    .type('application/octet-stream')
    .header('content-length', range ? range.end - range.start + 1 : row.size)
    .header('content-disposition', contentDisposition('attachment', row.name))
    .header('x-content-type-options', 'nosniff')
    .header('content-security-policy', "default-src 'none'; sandbox")
    .send(bytes);
}

async function deleteFile(
  context: ForgeContext,
  { owner, actor, named, file }: PackageVisit,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const { db } = context;
  const version = findOrRefuse(context, owner, named);
  const row = found(findPackageFile(db, version, file), 'package file does not exist');
  // A version must have at least one file, so removing the last one removes the version.
  if (packageFilesOf(db, version).length === 1)
    removeVersion(context, { owner, actor: signedIn(actor) }, version);
  else {
    db.run('DELETE FROM package_files WHERE id = ?', row.id);
    context.attachments.sweep();
  }
  return reply.code(204).send();
}
