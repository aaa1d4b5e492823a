import { type Call, headBranches, hook, measured, type Place, pathOf } from './place.ts';

type Wanted = Omit<Call, 'token'>;

/** Measurement of one operation of the service's description. */
export type OperationLoad = {
  readonly name: string;
  /** Returns the request with this number; each request of a write changes something. */
  readonly ask: (place: Place, number: number) => Wanted;
  /** Returns the request that undoes a response, if the next request requires that; it is not measured. */
  readonly undo?: (place: Place, answer: string) => Wanted;
};

const base = ({ owner }: Place): string => `/repos/${owner}/${measured}`;
const by =
  (method: string) =>
  (path: string, body?: object): Wanted => ({ method, path, ...(body && { body }) });
const [get, post, put, patch] = [by('GET'), by('POST'), by('PUT'), by('PATCH')];
/** Pinned threads are listed like unread ones, so both statuses change something, and the lists keep their length. */
const mark = (number: number): string => `to-status=${number % 2 === 0 ? 'pinned' : 'unread'}`;
const everyStatus = 'status-types=unread&status-types=pinned';
const folderOf = ({ size }: Place, number: number): string => `folder-${number % size.history.folders}`;

/** The 26 operations in the order of the description; the contents of files and of folders are measured separately. */
export const operationLoads: readonly OperationLoad[] = [
  {
    name: 'PATCH /repos/{owner}/{repo}/hooks/{id}',
    ask: (place, number) => patch(`${base(place)}/hooks/${place.hook}`, hook(number)),
  },
  {
    name: 'POST /repos/{owner}/{repo}/pulls',
    ask: (place, number) =>
      post(`${base(place)}/pulls`, {
        title: `pull request ${number}`,
        head: headBranches()[number % headBranches().length],
        base: 'main',
      }),
    undo: (place, answer) =>
      patch(`${base(place)}/pulls/${(JSON.parse(answer) as { number: number }).number}`, { state: 'closed' }),
  },
  {
    name: 'POST /repos/{owner}/{repo}/pulls/{index}/reviews/{id}/dismissals',
    ask: (place, number) =>
      post(`${base(place)}/pulls/${place.pull}/reviews/${place.review}/dismissals`, {
        message: `dismissal ${number}`,
      }),
    undo: (place) => post(`${base(place)}/pulls/${place.pull}/reviews/${place.review}/undismissals`),
  },
  {
    name: 'GET /repos/{owner}/{repo}/branch_protections',
    ask: (place) => get(`${base(place)}/branch_protections`),
  },
  { name: 'GET /repos/{owner}/{repo}/branches', ask: (place) => get(`${base(place)}/branches`) },
  {
    name: 'POST /repos/{owner}/{repo}/tag_protections',
    ask: (place, number) =>
      post(`${base(place)}/tag_protections`, {
        name_pattern: `v${number}.*`,
        whitelist_usernames: [place.owner],
      }),
  },
  {
    name: 'GET /repos/{owner}/{repo}/contents/{path}, a file',
    ask: (place, number) => get(`${base(place)}/contents/${pathOf(place.size.history, number)}`),
  },
  {
    name: 'GET /repos/{owner}/{repo}/contents/{path}, a folder',
    ask: (place, number) => get(`${base(place)}/contents/${folderOf(place, number)}`),
  },
  {
    name: 'GET /repos/{owner}/{repo}/contents-ext/{path}, a file',
    ask: (place, number) =>
      get(
        `${base(place)}/contents-ext/${pathOf(place.size.history, number)}?includes=file_content,commit_metadata,commit_message`,
      ),
  },
  {
    name: 'GET /repos/{owner}/{repo}/contents-ext/{path}, a folder',
    ask: (place, number) =>
      get(`${base(place)}/contents-ext/${folderOf(place, number)}?includes=commit_metadata,commit_message`),
  },
  { name: 'GET /repos/{owner}/{repo}/wiki/pages', ask: (place) => get(`${base(place)}/wiki/pages`) },
  {
    name: 'GET /repos/{owner}/{repo}/wiki/page/{pageName}',
    ask: (place, number) => get(`${base(place)}/wiki/page/Page-${number % place.size.items}`),
  },
  {
    name: 'GET /repos/{owner}/{repo}/issues/{index}/dependencies',
    ask: (place) => get(`${base(place)}/issues/${place.issue}/dependencies`),
  },
  {
    name: 'PUT /repos/{owner}/{repo}/issues/{index}/labels',
    ask: (place, number) =>
      put(`${base(place)}/issues/${place.issue}/labels`, {
        labels: number % 2 === 0 ? place.labels.slice(0, 1) : place.labels,
      }),
  },
  {
    name: 'GET /repos/{owner}/{repo}/issues/{index}/times',
    ask: (place) => get(`${base(place)}/issues/${place.issue}/times`),
  },
  {
    name: 'GET /repos/{owner}/{repo}/issues/comments/{id}/assets/{attachment_id}',
    ask: (place) => get(`${base(place)}/issues/comments/${place.comment}/assets/${place.attachment}`),
  },
  { name: 'GET /notifications', ask: () => get('/notifications') },
  {
    name: 'PUT /notifications',
    ask: (_, number) => put(`/notifications?${everyStatus}&${mark(number)}`),
  },
  { name: 'GET /notifications/new', ask: () => get('/notifications/new') },
  {
    name: 'GET /notifications/threads/{id}',
    ask: (place) => get(`/notifications/threads/${place.thread}`),
  },
  {
    name: 'PATCH /notifications/threads/{id}',
    ask: (place, number) => patch(`/notifications/threads/${place.thread}?${mark(number)}`),
  },
  {
    name: 'GET /repos/{owner}/{repo}/notifications',
    ask: (place) => get(`${base(place)}/notifications`),
  },
  {
    name: 'PUT /repos/{owner}/{repo}/notifications',
    ask: (place, number) => put(`${base(place)}/notifications?${everyStatus}&${mark(number)}`),
  },
  {
    name: 'POST /user/applications/oauth2',
    ask: (_, number) =>
      post('/user/applications/oauth2', {
        name: `application ${number}`,
        redirect_uris: ['http://127.0.0.1/back'],
        confidential_client: true,
      }),
  },
  { name: 'GET /user/hooks', ask: () => get('/user/hooks') },
  { name: 'GET /users/{username}/starred', ask: ({ owner }) => get(`/users/${owner}/starred`) },
  {
    name: 'PATCH /orgs/{org}',
    ask: ({ organization }, number) =>
      patch(`/orgs/${organization}`, { description: `description ${number}`, location: `place ${number}` }),
  },
  {
    name: 'GET /orgs/{org}/actions/runners',
    ask: ({ organization }) => get(`/orgs/${organization}/actions/runners`),
  },
];
