import fastifyFormbody from '@fastify/formbody';
import fastify from 'fastify';
import { describe, expect, it } from 'vitest';
import { formFieldsOf } from '../../../src/platform/http/form.ts';

/** Sends a body as a form, and returns the fields that the server reads. */
const readBack = async (payload: string, names: readonly string[]): Promise<Record<string, string>> => {
  const app = fastify();
  await app.register(fastifyFormbody);
  app.post('/', (request) => names.map((name) => [name, formFieldsOf(request.body).get(name)]));
  const headers = { 'content-type': 'application/x-www-form-urlencoded' };
  const answer = await app.inject({ method: 'POST', url: '/', headers, payload });
  return Object.fromEntries(answer.json());
};

describe('fields of a form', () => {
  it('are decoded', async () => {
    expect(await readBack('a=x+y%26z&b=%C3%A9%3D', ['a', 'b'])).toEqual({ a: 'x y&z', b: 'é=' });
  });

  it('are empty if they were sent empty or not at all', async () => {
    expect(await readBack('a=&b', ['a', 'b', 'c'])).toEqual({ a: '', b: '', c: '' });
    expect(await readBack('', ['a'])).toEqual({ a: '' });
  });

  it('have their first value if they were sent several times', async () => {
    expect(await readBack('a=1&a=2&a=3', ['a'])).toEqual({ a: '1' });
  });

  it('do not reach a prototype', async () => {
    const names = ['constructor', 'toString', 'x'];
    const fields = await readBack('__proto__=1&__proto__[x]=2&hasOwnProperty=3', names);

    expect(fields).toEqual({ constructor: '', toString: '', x: '' });
    expect(formFieldsOf(JSON.parse('{"__proto__":{"x":"1"}}')).get('x')).toBe('');
  });

  it.each([null, undefined, 'a=1', 5, ['a'], { a: 5 }, { a: { b: 'c' } }, { a: [] }, { a: [[1]] }])(
    'are empty for the body %j',
    (body) => {
      expect(formFieldsOf(body).get('a')).toBe('');
    },
  );
});
