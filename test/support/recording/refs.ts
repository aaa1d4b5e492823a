import type { GitClone } from '../git-client.ts';
import type { RecordingSetup, Topic } from './setup.ts';

/** Events of repositories, branches, tags and commits: repository, push, create, delete, fork. */
export function createRefTopic(setup: RecordingSetup): Topic {
  const { organization, people, repository: at } = setup;
  const { ada, cyd } = people;
  const put = (path: string, text: string, more: object = {}) =>
    setup.ask('POST', `/repos/${at}/contents/${path}`, {
      as: ada,
      body: {
        content: Buffer.from(text).toString('base64'),
        message: `Add ${path}`,
        branch: 'main',
        ...more,
      },
    });
  let clone: GitClone;

  return {
    name: 'refs',
    steps: [
      {
        name: 'new-repository',
        expects: ['repository.created'],
        hooks: ['organization', 'system'],
        keepsAll: true,
        async perform() {
          const body = {
            name: 'demo',
            auto_init: true,
            default_branch: 'main',
            description: 'For recording.',
          };
          await setup.ask('POST', `/orgs/${organization}/repos`, { as: ada, body });
        },
      },
      {
        name: 'new-personal-repository',
        expects: ['repository.created'],
        hooks: ['user', 'system'],
        async perform() {
          const body = { name: 'own', auto_init: true, default_branch: 'main', private: true };
          await setup.ask('POST', '/user/repos', { as: ada, body });
        },
      },
      {
        name: 'personal-push',
        expects: ['push'],
        hooks: ['user', 'system'],
        keepsAll: true,
        async perform() {
          const own = await setup.clone(`${ada.name}/own`, ada);
          await own.commit({ 'note.txt': 'One.\n' }, 'Add a note');
          await own.git('push', '--quiet', 'origin', 'main');
        },
      },
      {
        name: 'first-push',
        expects: ['push'],
        keepsAll: true,
        async perform() {
          await setup.hook('repository');
          clone = await setup.clone(at, ada);
          await clone.commit({ 'code.ts': 'export {};\n', 'kept.txt': 'kept\n' }, 'Add code\n\nAnd say why.');
          await clone.git('push', '--quiet', 'origin', 'main');
        },
      },
      {
        name: 'changed-and-removed',
        expects: ['push'],
        async perform() {
          await clone.git('rm', '--quiet', 'kept.txt');
          await clone.commit({ 'code.ts': 'export const one = 1;\n' }, 'Change one file, remove another');
          await clone.git('push', '--quiet', 'origin', 'main');
        },
      },
      {
        name: 'many-commits',
        expects: ['push'],
        async perform() {
          for (let number = 1; number <= 17; number += 1) {
            await clone.git('commit', '--quiet', '--allow-empty', '-m', `Commit ${number}`);
          }
          await clone.git('push', '--quiet', 'origin', 'main');
        },
      },
      {
        name: 'new-branch',
        expects: ['create', 'push'],
        async perform() {
          await clone.git('switch', '--quiet', '-c', 'work/long');
          for (let number = 1; number <= 12; number += 1) {
            await clone.git('commit', '--quiet', '--allow-empty', '-m', `Work ${number}`);
          }
          await clone.git('push', '--quiet', 'origin', 'work/long');
        },
      },
      {
        name: 'force-push',
        expects: ['push'],
        async perform() {
          await clone.git('reset', '--quiet', '--hard', 'HEAD~6');
          await clone.commit({ 'code.ts': 'export const two = 2;\n' }, 'Begin again');
          await clone.git('push', '--quiet', '--force', 'origin', 'work/long');
        },
      },
      {
        name: 'branch-deleted',
        expects: ['delete'],
        async perform() {
          await clone.git('push', '--quiet', '--delete', 'origin', 'work/long');
          await clone.git('switch', '--quiet', 'main');
        },
      },
      {
        name: 'tag',
        expects: ['push', 'create'],
        async perform() {
          await clone.git('tag', 'v0.1.0');
          await clone.git('push', '--quiet', 'origin', 'v0.1.0');
        },
      },
      {
        name: 'annotated-tag',
        expects: ['push', 'create'],
        async perform() {
          await clone.git('tag', '-a', 'v0.2.0', '-m', 'The second');
          await clone.git('push', '--quiet', 'origin', 'v0.2.0');
        },
      },
      {
        name: 'tag-deleted',
        expects: ['push', 'delete'],
        perform: async () => void (await clone.git('push', '--quiet', '--delete', 'origin', 'v0.1.0')),
      },
      {
        name: 'tag-by-api',
        expects: ['push', 'create'],
        async perform() {
          const body = { tag_name: 'v0.3.0', message: 'The third', target: 'main' };
          await setup.ask('POST', `/repos/${at}/tags`, { as: ada, body });
        },
      },
      {
        name: 'tag-deleted-by-api',
        expects: ['push', 'delete'],
        perform: () => setup.ask('DELETE', `/repos/${at}/tags/v0.3.0`, { as: ada }),
      },
      {
        name: 'branch-by-api',
        expects: ['create', 'push'],
        async perform() {
          const body = { new_branch_name: 'made', old_ref_name: 'main' };
          await setup.ask('POST', `/repos/${at}/branches`, { as: ada, body });
        },
      },
      {
        name: 'branch-renamed',
        expects: ['delete', 'create'],
        perform: () =>
          setup.ask('PATCH', `/repos/${at}/branches/made`, { as: ada, body: { name: 'renamed' } }),
      },
      {
        name: 'branch-deleted-by-api',
        expects: ['delete'],
        perform: () => setup.ask('DELETE', `/repos/${at}/branches/renamed`, { as: ada }),
      },
      { name: 'file-by-api', expects: ['push'], perform: () => put('docs/one.md', '# One\n') },
      {
        name: 'file-by-api-on-new-branch',
        expects: ['create', 'push'],
        perform: () => put('docs/two.md', '# Two\n', { new_branch: 'docs/two' }),
      },
      {
        name: 'test-delivery',
        expects: ['push'],
        hooks: ['repository'],
        async perform() {
          const hooks = await setup.ask('GET', `/repos/${at}/hooks`, { as: ada });
          await setup.ask('POST', `/repos/${at}/hooks/${hooks[0].id}/tests`, { as: ada });
        },
      },
      {
        name: 'form-and-unsigned',
        expects: ['push'],
        hooks: ['repository', 'organization', 'system', 'form', 'unsigned'],
        keepsAll: true,
        async perform() {
          await setup.hook('form', { config: { content_type: 'form' }, events: ['push'] });
          await setup.hook('unsigned', { config: { secret: '' }, events: ['push'] });
          await put('docs/three.md', '# Three\n');
        },
      },
      {
        name: 'silent-hooks',
        expects: [],
        async perform() {
          // From here on, only the first hook of the repository receives events.
          for (const { id } of (await setup.ask('GET', `/repos/${at}/hooks`, { as: ada })).slice(1)) {
            await setup.ask('DELETE', `/repos/${at}/hooks/${id}`, { as: ada });
          }
        },
      },
      {
        name: 'fork',
        expects: ['fork'],
        perform: () => setup.ask('POST', `/repos/${at}/forks`, { as: cyd, body: {} }),
      },
      {
        name: 'fork-into-organization',
        // The hooks of the source receive the fork event. Hooks of the fork's owner receive a repository event.
        expects: ['repository.created'],
        hooks: ['organization', 'system'],
        async perform() {
          const body = { organization, name: 'copy' };
          await setup.ask('POST', `/repos/${ada.name}/own/forks`, { as: ada, body });
        },
      },
    ],
  };
}
