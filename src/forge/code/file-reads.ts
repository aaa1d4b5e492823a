import type { IncomingHttpHeaders } from 'node:http';
import type { FileBody } from '../../contract/operation.ts';
import type { RepositoryTarget } from '../access/targets.ts';
import type { ForgeContext } from '../core/context.ts';
import { found } from '../core/errors.ts';
import { editorPropertiesOf } from '../detection/editorconfig.ts';
import { defineHandlers, type Reply } from '../http/handler.ts';
import { serveArchive } from './archives.ts';
import { findServedFile, findTreePlace } from './find-file.ts';
import { serveMedia } from './media.ts';
import { countLanguages, listLicenses, readTextFile } from './repository-contents.ts';
import { type FileAnswer, serveFile } from './serve-file.ts';

type FileCall = RepositoryTarget & {
  readonly context: ForgeContext;
  readonly params: { readonly filepath: string };
  readonly query: { readonly ref?: string | undefined };
  readonly headers: IncomingHttpHeaders;
  readonly reply: Reply;
};

/** Files as bytes, archives, and what the files of a repository say about it. */
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
