import { z } from 'zod';
import { defineOperation } from '../operation.ts';
import { codeAs } from '../row-fields.ts';
import { inRepository, instant, list, pages, resource, text } from '../shape.ts';

/**
 * A tag. For an annotated tag, `id` is the tag object and `message` its text; otherwise `id` is the commit and
 * `message` the commit message.
 */
const Tag = resource(
  { name: text },
  {
    id: text,
    message: text,
    commit: resource({ sha: text }, { url: text, created: instant }),
    zipball_url: text,
    tarball_url: text,
  },
);

const path = '/repos/{owner}/{repo}/tags';
const atTag = z.object({ ...inRepository, tag: text });

export const tagOperations = {
  listTags: defineOperation({
    id: 'tag.list',
    meaning: 'Lists tags, newest first.',
    method: 'GET',
    path,
    ...codeAs('reader'),
    query: z.object(pages),
    success: 200,
    response: list(Tag),
    errors: [404],
    paging: 'count',
    source: 'routers/api/v1/repo/tag.go ListTags',
  }),
  getTag: defineOperation({
    id: 'tag.get',
    meaning: 'Returns a tag by its name, which may contain slashes.',
    method: 'GET',
    path: `${path}/{tag*}`,
    ...codeAs('reader'),
    params: atTag,
    success: 200,
    response: Tag,
    errors: [404],
    source: 'routers/api/v1/repo/tag.go GetTag',
  }),
  createTag: defineOperation({
    id: 'tag.create',
    meaning:
      'Creates a tag of a branch, tag or commit (default: the default branch); annotated if `message` is given.',
    method: 'POST',
    path,
    ...codeAs('writer'),
    body: z.strictObject({ tag_name: text, message: text.optional(), target: text.optional() }),
    success: 201,
    response: Tag,
    errors: [403, 404, 409, 422, 423],
    archived: 'after-role',
    baseline: { 'invalid tag name': 500 },
    source: 'routers/api/v1/repo/tag.go CreateTag; services/release/release.go createTag',
  }),
  deleteTag: defineOperation({
    id: 'tag.delete',
    meaning: 'Deletes a tag.',
    method: 'DELETE',
    path: `${path}/{tag*}`,
    ...codeAs('writer'),
    params: atTag,
    success: 204,
    errors: [403, 404, 409, 422, 423],
    archived: 'after-role',
    source: 'routers/api/v1/repo/tag.go DeleteTag',
  }),
} as const;
