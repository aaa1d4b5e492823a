import type { IncomingHttpHeaders } from 'node:http';
import { buffer } from 'node:stream/consumers';
import type { FileBody } from '../../contract/operation.ts';
import { createGlob, GlobError } from '../../patterns/glob.ts';
import type { RepositoryTarget } from '../platform/access/targets.ts';
import type { ForgeContext } from '../platform/context.ts';
import { found } from '../platform/errors.ts';
import type { GitRepository } from '../platform/git/repository.ts';
import { defineHandlers, type Reply } from '../platform/http/handler.ts';
import { serveArchive } from './archives.ts';
import { countLanguages, listLicenses, readTextFile } from './detection.ts';
import { findServedFile, findTreePlace } from './files-service.ts';
import { findLfsObject, type LfsObjectRow, maxPointerBytes, parsePointer } from './lfs-rows.ts';
import {
  contentDisposition,
  contentHeaders,
  type FileAnswer,
  readRange,
  type ServedFile,
  serveFile,
  sniffContentType,
  sniffedBytes,
} from './serve-file.ts';

type FileCall = RepositoryTarget & {
  readonly context: ForgeContext;
  readonly params: { readonly filepath: string };
  readonly query: { readonly ref?: string | undefined };
  readonly headers: IncomingHttpHeaders;
  readonly reply: Reply;
};

/** Handlers for raw files, archives, and metadata derived from the files of a repository. */
export const fileReadHandlers = defineHandlers({
  getRawFile: async (call) => {
    const { git, file } = await openFile(call);
    call.reply.header('X-Gitea-Object-Type', file.entry.kind);
    return send(call.reply, await serveFile(git, file, call.headers));
  },

  getMediaFile: async (call) => {
    const { git, file } = await openFile(call);
    call.reply.header('X-Gitea-Object-Type', file.entry.kind);
    return send(call.reply, await serveMedia(call.context, git, file, call.headers));
  },

  getArchive: async ({ context, params, query, reply, ...target }) => {
    const paths = query.path ?? [];
    return send(reply, await serveArchive(context, target, { name: params.archive, paths }));
  },

  getEditorConfig: async ({ context, repository, params, query }) => {
    const git = context.git.open(repository.id);
    const { commit } = await findTreePlace(git, repository, { path: '', ref: query.ref });
    const text = await readTextFile(git, commit.id, '.editorconfig');
    return editorPropertiesOf(
      found(text, 'object does not exist [id: , rel_path: .editorconfig]'),
      params.filepath,
    );
  },

  listLanguages: async ({ context, repository }) => ({
    ...(await countLanguages(context.git.open(repository.id), repository)),
  }),

  listLicenses: async ({ context, repository }) => [
    ...(await listLicenses(context.git.open(repository.id), repository)),
  ],
});

async function openFile({ context, repository, owner, params, query }: FileCall) {
  const git = context.git.open(repository.id);
  const place = await findTreePlace(git, repository, { path: params.filepath, ref: query.ref });
  const file = await findServedFile(git, place);
  const isPublic = repository.is_private === 0 && owner.visibility === 'public';
  return { git, file: { ...file, isPublic } };
}

function send(reply: Reply, { status, headers, body }: FileAnswer): FileBody | undefined {
  reply.status(status);
  for (const [name, value] of Object.entries(headers)) reply.header(name, value);
  return body;
}

/** Returns a file as a response; a Git LFS pointer is replaced by its object if the repository has it. */
async function serveMedia(
  context: ForgeContext,
  git: GitRepository,
  file: ServedFile,
  request: IncomingHttpHeaders,
): Promise<FileAnswer> {
  const row = await findContent(context, git, file);
  return row ? await serveContent(context, row, file, request) : await serveFile(git, file, request);
}

async function findContent(
  { db }: ForgeContext,
  git: GitRepository,
  { id, size }: ServedFile,
): Promise<LfsObjectRow | undefined> {
  if (size >= maxPointerBytes) return undefined;
  const content = (await git.objects.read(id))?.content;
  const pointer = content && parsePointer(content);
  return pointer && findLfsObject(db, git.id, pointer.oid);
}

async function serveContent(
  { attachments }: ForgeContext,
  { oid, size, uuid, created_at }: LfsObjectRow,
  { name }: ServedFile,
  request: IncomingHttpHeaders,
): Promise<FileAnswer> {
  const validators = { etag: `"${oid}"`, 'last-modified': new Date(created_at * 1000).toUTCString() };
  const known = request['if-none-match']?.split(',').map((tag) => tag.trim().replace(/^W\//, ''));
  if (known?.some((tag) => tag === '*' || tag === validators.etag)) {
    return { status: 304, headers: validators, body: undefined };
  }
  const range = readRange(request.range, size);
  const first = { start: 0, end: Math.max(0, Math.min(size, sniffedBytes) - 1) };
  const head = size === 0 ? Buffer.alloc(0) : await buffer(found(await attachments.read(uuid, first)));
  const body = found(await attachments.read(uuid, range));
  const headers = {
    ...validators,
    ...contentHeaders(sniffContentType(head)),
    'cache-control': 'private, max-age=0, must-revalidate',
    'content-disposition': contentDisposition('inline', name),
    'access-control-expose-headers': 'Content-Disposition',
    'content-length': String(range ? range.end - range.start + 1 : size),
  };
  if (!range) return { status: 200, headers, body };
  const part = `bytes ${range.start}-${range.end}/${size}`;
  return { status: 206, headers: { ...headers, 'content-range': part }, body };
}

/** Properties in an `.editorconfig` that the API shows. */
type EditorProperties = {
  readonly charset?: string;
  readonly indent_style?: string;
  readonly indent_size?: string;
  readonly end_of_line?: string;
};

const shown = new Set(['charset', 'indent_style', 'indent_size', 'end_of_line']);

/** Returns the properties that an `.editorconfig` sets for a file name; the last matching section wins. */
function editorPropertiesOf(text: string, fileName: string): EditorProperties {
  const properties: Record<string, string> = {};
  let isMatch = false;
  for (const line of text.split(/\r?\n/).map((one) => one.trim())) {
    if (line === '' || line.startsWith('#') || line.startsWith(';')) continue;
    if (line.startsWith('[')) {
      const section = /^\[(.*)\]$/.exec(line)?.[1];
      isMatch = section !== undefined && matchesSection(section, fileName);
      continue;
    }
    const [, name = '', value = ''] = /^([^=:]+?)\s*[=:]\s*(.*)$/.exec(line) ?? [];
    const key = name.toLowerCase();
    if (!isMatch || !shown.has(key) || value === '') continue;
    properties[key] = key === 'indent_size' ? value : value.toLowerCase();
  }
  return properties;
}

/**
 * Returns whether a section applies to a file. A pattern without a slash matches files of that name in any folder. An
 * invalid pattern matches nothing.
 */
function matchesSection(pattern: string, fileName: string): boolean {
  const anywhere = pattern.includes('/') ? pattern.replace(/^\//, '') : `**/${pattern}`;
  try {
    return expandRanges(anywhere).some((one) =>
      createGlob(one, { strict: false })(fileName.replace(/^\/+/, '')),
    );
  } catch (error) {
    if (error instanceof GlobError) return false;
    throw error;
  }
}

/** Maximum number of values in one range. */
const maxRange = 1000;

/** Expands `{1..3}` to its numbers and escapes braces around a single name; globs support neither. */
function expandRanges(pattern: string): string[] {
  const [range, from, to] = /\{([+-]?\d+)\.\.([+-]?\d+)\}/.exec(pattern) ?? [];
  if (range === undefined) return [pattern.replace(/\{([^{},]*)\}/g, '\\{$1\\}')];
  const [low, high] = [Math.min(Number(from), Number(to)), Math.max(Number(from), Number(to))];
  if (high - low >= maxRange) return [];
  const numbers = Array.from({ length: high - low + 1 }, (_, at) => String(low + at));
  return [pattern.replace(range, numbers.length === 1 ? (numbers[0] ?? '') : `{${numbers.join(',')}}`)];
}
