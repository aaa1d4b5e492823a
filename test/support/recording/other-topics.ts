import type { RecordingSetup } from './setup.ts';
import type { Topic } from './step.ts';

/** What wiki pages and commit statuses bring. */
export function createWikiTopic({ ask, clone, repository: at, people: { ada } }: RecordingSetup): Topic {
  const page = (title: string, text: string) => ({
    title,
    content_base64: Buffer.from(text).toString('base64'),
    message: `Write ${title}`,
  });
  return {
    name: 'wiki',
    steps: [
      {
        name: 'page',
        expects: ['wiki.created'],
        perform: () => ask('POST', `/repos/${at}/wiki/new`, { as: ada, body: page('How to', 'So.\n') }),
      },
      {
        name: 'page-edited',
        expects: ['wiki.edited'],
        perform: () =>
          ask('PATCH', `/repos/${at}/wiki/page/How-to`, { as: ada, body: page('How to', 'Or so.\n') }),
      },
      {
        name: 'silent-wiki-push',
        expects: [],
        async perform() {
          const wiki = await clone(`${at}.wiki`, ada);
          await wiki.commit({ 'Pushed.md': 'By git.\n' });
          await wiki.git('push', '--quiet', 'origin', 'HEAD');
        },
      },
      {
        name: 'page-deleted',
        expects: ['wiki.deleted'],
        perform: () => ask('DELETE', `/repos/${at}/wiki/page/How-to`, { as: ada }),
      },
      {
        name: 'status',
        expects: ['status'],
        async perform() {
          const { commit } = await ask('GET', `/repos/${at}/branches/main`, { as: ada });
          const target = { target_url: 'https://ci.example.org/1', description: 'All is well.' };
          const body = { state: 'success', context: 'ci/test', ...target };
          await ask('POST', `/repos/${at}/statuses/${commit.id}`, { as: ada, body });
        },
      },
    ],
  };
}

/** What releases and packages bring. */
export function createReleaseTopic({
  ask,
  repository: at,
  organization,
  people: { ada },
}: RecordingSetup): Topic {
  const file = `/api/packages/${organization}/generic/tool/1.0.0/tool.txt`;
  let id = 0;
  return {
    name: 'releases and packages',
    steps: [
      {
        name: 'release',
        expects: ['push', 'create', 'release.published'],
        async perform() {
          const body = { tag_name: 'v1.0.0', name: 'One', body: 'The first.', target_commitish: 'main' };
          id = (await ask('POST', `/repos/${at}/releases`, { as: ada, body })).id;
        },
      },
      {
        name: 'release-edited',
        expects: ['release.updated'],
        perform: () =>
          ask('PATCH', `/repos/${at}/releases/${id}`, { as: ada, body: { body: 'The very first.' } }),
      },
      {
        name: 'release-deleted',
        expects: ['release.deleted'],
        perform: () => ask('DELETE', `/repos/${at}/releases/${id}`, { as: ada }),
      },
      {
        name: 'silent-draft',
        expects: [],
        async perform() {
          const body = { tag_name: 'v2.0.0', name: 'Two', draft: true, target_commitish: 'main' };
          id = (await ask('POST', `/repos/${at}/releases`, { as: ada, body })).id;
        },
      },
      {
        name: 'draft-published',
        expects: ['push', 'create', 'release.published'],
        perform: () => ask('PATCH', `/repos/${at}/releases/${id}`, { as: ada, body: { draft: false } }),
      },
      {
        name: 'package',
        expects: ['package.created'],
        hooks: ['organization', 'system'],
        perform: () => ask('PUT', file, { as: ada, body: 'content' }),
      },
      {
        name: 'package-of-repository',
        expects: ['package.created'],
        hooks: ['organization', 'system'],
        async perform() {
          await ask('POST', `/packages/${organization}/generic/tool/-/link/demo`, { as: ada });
          await ask('PUT', file.replace('1.0.0', '1.1.0'), { as: ada, body: 'content' });
        },
      },
      {
        name: 'package-deleted',
        expects: ['package.deleted'],
        hooks: ['organization', 'system'],
        perform: () => ask('DELETE', file.replace(/\/tool.txt$/, ''), { as: ada }),
      },
    ],
  };
}

/** What the end of repositories brings, and what only changes them: nothing. */
export function createRemovalTopic({
  ask,
  repository: at,
  organization,
  people: { ada },
}: RecordingSetup): Topic {
  return {
    name: 'farewell',
    steps: [
      {
        name: 'silent-settings',
        expects: [],
        async perform() {
          await ask('PATCH', `/repos/${at}`, {
            as: ada,
            body: { description: 'Otherwise.', has_wiki: false },
          });
          await ask('PUT', `/user/starred/${at}`, { as: ada });
          await ask('PUT', `/repos/${at}/subscription`, { as: ada });
          await ask('PATCH', `/repos/${at}`, { as: ada, body: { archived: true } });
          await ask('PATCH', `/repos/${at}`, { as: ada, body: { archived: false } });
          await ask('PATCH', `/repos/${organization}/copy`, { as: ada, body: { name: 'renamed' } });
        },
      },
      {
        name: 'repository-deleted',
        expects: ['repository.deleted'],
        hooks: ['organization', 'system'],
        perform: () => ask('DELETE', `/repos/${organization}/renamed`, { as: ada }),
      },
      {
        name: 'personal-repository-deleted',
        expects: ['repository.deleted'],
        hooks: ['user', 'system'],
        perform: () => ask('DELETE', `/repos/${ada.name}/own`, { as: ada }),
      },
      {
        name: 'recorded-repository-deleted',
        expects: ['repository.deleted'],
        hooks: ['organization', 'system'],
        perform: () => ask('DELETE', `/repos/${at}`, { as: ada }),
      },
    ],
  };
}
