import { z } from 'zod';
import { defineOperation } from '../operation.ts';
import { codeAs } from '../row-fields.ts';
import { inRepository, list, resource, text } from '../shape.ts';

const path = '/repos/{owner}/{repo}';
const atPath = z.object({ ...inRepository, filepath: text });
const query = z.object({ ref: text.optional() });

/** EditorConfig properties; absent if no section of the file sets them. */
const EditorConfig = resource(
  {},
  { charset: text, indent_style: text, indent_size: text, end_of_line: text },
);

export const fileReadOperations = {
  getRawFile: defineOperation({
    id: 'file.raw',
    meaning:
      'Returns the bytes of a file. The path may begin with a branch, a tag or the whole id of a commit; otherwise the file is that of the default branch, also where `ref` is unknown (404 on Forgejo). `Range` and `If-None-Match` are served.',
    method: 'GET',
    path: `${path}/raw/{filepath*}`,
    ...codeAs('reader'),
    params: atPath,
    query,
    success: 200,
    response: text,
    media: 'file',
    errors: [404, 416],
    source: 'routers/api/v1/repo/file.go GetRawFile; services/context/repo.go getRefNameLegacy',
  }),
  getMediaFile: defineOperation({
    id: 'file.media',
    meaning:
      'Returns the bytes of a file; in place of a pointer of Git LFS what it stands for, where the repository has it.',
    method: 'GET',
    path: `${path}/media/{filepath*}`,
    ...codeAs('reader'),
    params: atPath,
    query,
    success: 200,
    response: text,
    media: 'file',
    errors: [404, 416],
    source: 'routers/api/v1/repo/file.go GetRawFileOrLFS',
  }),
  getArchive: defineOperation({
    id: 'archive.get',
    meaning:
      'Returns the files of a branch, tag or commit as `NAME.zip` or `NAME.tar.gz`, those below `path` alone where given, or its history as `NAME.bundle`. Forgejo ignores `path`.',
    method: 'GET',
    path: `${path}/archive/{archive*}`,
    ...codeAs('reader'),
    params: z.object({ ...inRepository, archive: text }),
    query: z.object({ path: z.array(text).optional() }),
    success: 200,
    response: text,
    media: 'file',
    errors: [400, 404],
    source: 'routers/api/v1/repo/download.go; services/repository/archiver/archiver.go',
  }),
  getEditorConfig: defineOperation({
    id: 'file.editorconfig',
    meaning:
      'Returns what `.editorconfig` sets for a file name, which need not exist; 404 without that file.',
    method: 'GET',
    path: `${path}/editorconfig/{filepath}`,
    ...codeAs('reader'),
    params: atPath,
    query,
    success: 200,
    response: EditorConfig,
    errors: [404],
    source: 'routers/api/v1/repo/file.go GetEditorconfig',
  }),
  listLanguages: defineOperation({
    id: 'repository.list-languages',
    meaning: 'Returns the bytes of each programming and markup language on the default branch, most first.',
    method: 'GET',
    path: `${path}/languages`,
    ...codeAs('reader'),
    success: 200,
    response: z.record(text, z.number()),
    errors: [404],
    source: 'routers/api/v1/repo/language.go; modules/git/languagestats/language_stats_nogogit.go',
  }),
  listLicenses: defineOperation({
    id: 'repository.list-licenses',
    meaning:
      'Lists the SPDX ids of the licences in the file `LICENSE` of the default branch; not on Forgejo.',
    method: 'GET',
    path: `${path}/licenses`,
    ...codeAs('reader'),
    success: 200,
    response: list(text),
    errors: [404],
    source: 'routers/api/v1/repo/license.go; services/repository/license.go',
  }),
} as const;
