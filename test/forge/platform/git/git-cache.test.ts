import { beforeEach, describe, expect, it } from 'vitest';
import { createGitCache } from '../../../../src/forge/platform/git/git-cache.ts';
import type { ObjectReader } from '../../../../src/forge/platform/git/objects.ts';

const id = 'a'.repeat(40);
const longId = 'b'.repeat(64);

describe('the cache of git objects', () => {
  let asked: string[];
  let content: Buffer;
  let reader: ObjectReader;
  beforeEach(() => {
    asked = [];
    content = Buffer.from('text');
    const objectOf = (name: string) => ({
      id: /[0-9a-f]{40,}/.exec(name)?.[0] ?? id,
      type: 'blob' as const,
      size: content.length,
    });
    reader = {
      async info(name) {
        asked.push(`info ${name}`);
        // The process reader responds to `info` with empty content.
        return name === 'gone' ? undefined : { ...objectOf(name), content: Buffer.alloc(0) };
      },
      async read(name) {
        asked.push(`read ${name}`);
        return name === 'gone' ? undefined : { ...objectOf(name), content };
      },
    };
  });
  const open = (number = 1) => cache.readThrough(number, reader);
  let cache = createGitCache();
  beforeEach(() => {
    cache = createGitCache();
  });

  it('reads an object by full id once, and then knows its size', async () => {
    for (const name of [id, longId, `${id}^{tree}`]) {
      const first = await open().read(name);
      expect([await open().read(name), (await open().info(name))?.size]).toEqual([first, 4]);
    }

    expect(asked).toEqual([`read ${id}`, `read ${longId}`, `read ${id}^{tree}`]);
  });

  it('reads the content of an object if only the size is cached', async () => {
    await open().info(id);
    const object = await open().read(id);

    expect([object?.content, asked]).toEqual([content, [`info ${id}`, `read ${id}`]]);
  });

  it('does not cache a name whose target may change', async () => {
    const names = ['refs/heads/main', 'HEAD', 'abcdef', `refs/heads/${id}`, `${id}~1`, `${id}:a.txt`, 'gone'];
    for (const name of names) for (const _ of [1, 2]) await open().read(name);
    for (const name of names) for (const _ of [1, 2]) await open().info(name);

    const twice = names.flatMap((name) => [name, name]);
    expect(asked).toEqual([...twice.map((name) => `read ${name}`), ...twice.map((name) => `info ${name}`)]);
  });

  it('treats a text with the length of an id in the other object format as a ref name', async () => {
    // Represents a branch of that name in a repository of the other format.
    const named: ObjectReader = {
      info: async () => ({ id, type: 'blob', size: 4 }),
      read: async (name) => {
        asked.push(name);
        return { id: name === longId ? id : longId, type: 'blob', size: 4, content };
      },
    };
    for (const name of [id, longId]) for (const _ of [1, 2]) await cache.readThrough(1, named).read(name);

    expect(asked).toEqual([id, id, longId, longId]);
  });

  it('keeps repositories separate, and forgets a removed repository', async () => {
    await open(1).read(id);
    await open(-1).read(id);
    await open(12).read(id);
    cache.forget(1);
    for (const number of [1, -1, 12]) await open(number).read(id);

    expect(asked).toHaveLength(4);
  });

  it('reads the objects of a repository again after git removed some', async () => {
    await open(1).read(id);
    await open(2).read(id);
    cache.of(1).forgetObjects();
    for (const number of [1, 2]) await open(number).read(id);

    expect(asked).toHaveLength(3);
  });

  it('does not cache a large object', async () => {
    content = Buffer.alloc(64 * 1024 + 1);
    for (const _ of [1, 2]) await open().read(id);

    expect(asked).toHaveLength(2);
  });

  it('caches data derived from an id until the repository is removed, but caches no failures', async () => {
    let times = 0;
    const remember = (number: number, fails = false) =>
      cache.of(number).remember(
        `length of ${id}`,
        async () => {
          times += 1;
          if (fails) throw new Error('out of order');
          return { times };
        },
        () => 8,
      );

    await expect(remember(1, true)).rejects.toThrow('out of order');
    const seen = [await remember(1), await remember(1), await remember(2)];
    cache.forget(1);

    expect([...seen, await remember(1)].map((value) => value.times)).toEqual([2, 2, 3, 4]);
  });
});
