import { z } from 'zod';
import { defineOperation } from '../operation.ts';
import { siteAs } from '../row-fields.ts';
import { instant, int, list, pages, resource, text } from '../shape.ts';
import { Email } from './account-settings.ts';

/** A task of the instance. A task without a schedule (`-`) has no next run. */
const Cron = resource(
  { name: text },
  {
    schedule: text,
    next: instant,
    prev: instant,
    /** Number of runs since the server started. */
    exec_times: int,
  },
);

const unadopted = z.object({ username: text, reponame: text });

/** Site administrators' operations except those for accounts, hooks and runners. */
export const administrationOperations = {
  listCronTasks: defineOperation({
    id: 'admin.list-cron-tasks',
    meaning: 'Lists the tasks of the instance with their last runs.',
    method: 'GET',
    path: '/admin/cron',
    ...siteAs('site'),
    query: z.object(pages),
    success: 200,
    response: list(Cron),
    errors: [403],
    paging: 'count',
    source: 'routers/api/v1/admin/cron.go ListCronTasks',
  }),
  runCronTask: defineOperation({
    id: 'admin.run-cron-task',
    meaning: 'Starts a task of the instance; it runs in the background, once at a time.',
    method: 'POST',
    path: '/admin/cron/{task}',
    ...siteAs('site'),
    params: z.object({ task: text }),
    success: 204,
    errors: [403, 404],
    source: 'routers/api/v1/admin/cron.go PostCronTask',
  }),
  listSiteEmails: defineOperation({
    id: 'admin.list-emails',
    meaning: 'Lists the e-mail addresses of all accounts, in their order.',
    method: 'GET',
    path: '/admin/emails',
    ...siteAs('site'),
    query: z.object(pages),
    success: 200,
    response: list(Email),
    errors: [403],
    paging: 'link',
    source: 'routers/api/v1/admin/email.go GetAllEmails',
  }),
  searchSiteEmails: defineOperation({
    id: 'admin.search-emails',
    meaning: 'Searches the e-mail addresses of all accounts by a part of address, name or full name.',
    method: 'GET',
    path: '/admin/emails/search',
    ...siteAs('site'),
    query: z.object({ ...pages, q: text.optional() }),
    success: 200,
    response: list(Email),
    errors: [403],
    paging: 'link',
    source: 'routers/api/v1/admin/email.go SearchEmail',
  }),
  listUnadopted: defineOperation({
    id: 'admin.list-unadopted',
    meaning:
      'Lists the repositories on disk that belong to an account and are not known, as `owner/name`; `query` is a pattern `OWNER/NAME` with `*` and `?`.',
    method: 'GET',
    path: '/admin/unadopted',
    ...siteAs('site'),
    query: z.object({ ...pages, query: text.optional() }),
    success: 200,
    response: list(text),
    errors: [403],
    paging: 'count',
    source: 'routers/api/v1/admin/adopt.go ListUnadoptedRepositories',
  }),
  adoptUnadopted: defineOperation({
    id: 'admin.adopt-repository',
    meaning: 'Makes a repository on disk a private repository of its owner.',
    method: 'POST',
    path: '/admin/unadopted/{username}/{reponame}',
    ...siteAs('site'),
    params: unadopted,
    success: 204,
    errors: [403, 404],
    source: 'routers/api/v1/admin/adopt.go AdoptRepository',
  }),
  deleteUnadopted: defineOperation({
    id: 'admin.delete-unadopted',
    meaning: 'Deletes a repository on disk that is not known.',
    method: 'DELETE',
    path: '/admin/unadopted/{username}/{reponame}',
    ...siteAs('site'),
    params: unadopted,
    success: 204,
    errors: [403, 404],
    source: 'routers/api/v1/admin/adopt.go DeleteUnadoptedRepository',
  }),
} as const;
