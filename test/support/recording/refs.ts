import type { GitClone } from '../git-client.ts';
import type { Scene } from './scene.ts';
import type { Topic } from './step.ts';

/** What repositories, branches, tags and commits bring: repository, push, create, delete, fork. */
export function createRefTopic(scene: Scene): Topic {
  const { organization, people, repository: at } = scene;
  const { ada, cyd } = people;
  const put = (path: string, text: string, more: object = {}) =>
    scene.ask('POST', `/repos/${at}/contents/${path}`, {
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
        async provoke() {
          const body = {
            name: 'demo',
            auto_init: true,
            default_branch: 'main',
            description: 'For recording.',
          };
          await scene.ask('POST', `/orgs/${organization}/repos`, { as: ada, body });
        },
      },
      {
        name: 'new-personal-repository',
        expects: ['repository.created'],
        hooks: ['user', 'system'],
        async provoke() {
          const body = { name: 'own', auto_init: true, default_branch: 'main', private: true };
          await scene.ask('POST', '/user/repos', { as: ada, body });
        },
      },
      {
        name: 'personal-push',
        expects: ['push'],
        hooks: ['user', 'system'],
        keepsAll: true,
        async provoke() {
          const own = await scene.clone(`${ada.name}/own`, ada);
          await own.commit({ 'note.txt': 'One.\n' }, 'Add a note');
          await own.git('push', '--quiet', 'origin', 'main');
        },
      },
      {
        name: 'first-push',
        expects: ['push'],
        keepsAll: true,
        async provoke() {
          await scene.hook('repository');
          clone = await scene.clone(at, ada);
          await clone.commit({ 'code.ts': 'export {};\n', 'kept.txt': 'kept\n' }, 'Add code\n\nAnd say why.');
          await clone.git('push', '--quiet', 'origin', 'main');
        },
      },
      {
        name: 'changed-and-removed',
        expects: ['push'],
        async provoke() {
          await clone.git('rm', '--quiet', 'kept.txt');
          await clone.commit({ 'code.ts': 'export const one = 1;\n' }, 'Change one file, remove another');
          await clone.git('push', '--quiet', 'origin', 'main');
        },
      },
      {
        name: 'many-commits',
        expects: ['push'],
        async provoke() {
          for (let number = 1; number <= 17; number += 1) {
            await clone.git('commit', '--quiet', '--allow-empty', '-m', `Commit ${number}`);
          }
          await clone.git('push', '--quiet', 'origin', 'main');
        },
      },
      {
        name: 'new-branch',
        expects: ['create', 'push'],
        async provoke() {
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
        async provoke() {
          await clone.git('reset', '--quiet', '--hard', 'HEAD~6');
          await clone.commit({ 'code.ts': 'export const two = 2;\n' }, 'Begin again');
          await clone.git('push', '--quiet', '--force', 'origin', 'work/long');
        },
      },
      {
        name: 'branch-deleted',
        expects: ['delete'],
        async provoke() {
          await clone.git('push', '--quiet', '--delete', 'origin', 'work/long');
          await clone.git('switch', '--quiet', 'main');
        },
      },
      {
        name: 'tag',
        expects: ['push', 'create'],
        async provoke() {
          await clone.git('tag', 'v0.1.0');
          await clone.git('push', '--quiet', 'origin', 'v0.1.0');
        },
      },
      {
        name: 'annotated-tag',
        expects: ['push', 'create'],
        async provoke() {
          await clone.git('tag', '-a', 'v0.2.0', '-m', 'The second');
          await clone.git('push', '--quiet', 'origin', 'v0.2.0');
        },
      },
      {
        name: 'tag-deleted',
        expects: ['push', 'delete'],
        provoke: async () => void (await clone.git('push', '--quiet', '--delete', 'origin', 'v0.1.0')),
      },
      {
        name: 'tag-by-api',
        expects: ['push', 'create'],
        async provoke() {
          const body = { tag_name: 'v0.3.0', message: 'The third', target: 'main' };
          await scene.ask('POST', `/repos/${at}/tags`, { as: ada, body });
        },
      },
      {
        name: 'tag-deleted-by-api',
        expects: ['push', 'delete'],
        provoke: () => scene.ask('DELETE', `/repos/${at}/tags/v0.3.0`, { as: ada }),
      },
      {
        name: 'branch-by-api',
        expects: ['create', 'push'],
        async provoke() {
          const body = { new_branch_name: 'made', old_ref_name: 'main' };
          await scene.ask('POST', `/repos/${at}/branches`, { as: ada, body });
        },
      },
      {
        name: 'branch-renamed',
        expects: ['delete', 'create'],
        provoke: () =>
          scene.ask('PATCH', `/repos/${at}/branches/made`, { as: ada, body: { name: 'renamed' } }),
      },
      {
        name: 'branch-deleted-by-api',
        expects: ['delete'],
        provoke: () => scene.ask('DELETE', `/repos/${at}/branches/renamed`, { as: ada }),
      },
      { name: 'file-by-api', expects: ['push'], provoke: () => put('docs/one.md', '# One\n') },
      {
        name: 'file-by-api-on-new-branch',
        expects: ['create', 'push'],
        provoke: () => put('docs/two.md', '# Two\n', { new_branch: 'docs/two' }),
      },
      {
        name: 'test-delivery',
        expects: ['push'],
        hooks: ['repository'],
        async provoke() {
          const hooks = await scene.ask('GET', `/repos/${at}/hooks`, { as: ada });
          await scene.ask('POST', `/repos/${at}/hooks/${hooks[0].id}/tests`, { as: ada });
        },
      },
      {
        name: 'form-and-unsigned',
        expects: ['push'],
        hooks: ['repository', 'organization', 'system', 'form', 'unsigned'],
        keepsAll: true,
        async provoke() {
          await scene.hook('form', { config: { content_type: 'form' }, events: ['push'] });
          await scene.hook('unsigned', { config: { secret: '' }, events: ['push'] });
          await put('docs/three.md', '# Three\n');
        },
      },
      {
        name: 'silent-hooks',
        expects: [],
        async provoke() {
          // From here on the first hook of the repository hears alone.
          for (const { id } of (await scene.ask('GET', `/repos/${at}/hooks`, { as: ada })).slice(1)) {
            await scene.ask('DELETE', `/repos/${at}/hooks/${id}`, { as: ada });
          }
        },
      },
      {
        name: 'fork',
        expects: ['fork'],
        provoke: () => scene.ask('POST', `/repos/${at}/forks`, { as: cyd, body: {} }),
      },
      {
        name: 'fork-into-organization',
        // The hooks of the source hear of the fork; those of its new owner, of a repository.
        expects: ['repository.created'],
        hooks: ['organization', 'system'],
        async provoke() {
          const body = { organization, name: 'copy' };
          await scene.ask('POST', `/repos/${ada.name}/own/forks`, { as: ada, body });
        },
      },
    ],
  };
}
