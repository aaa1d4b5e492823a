import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { packagesOf, pairsOf, parseDockerfile, readAllowed, wordsOf } from '../scripts/image/dockerfile.ts';

const only = (text: string) => {
  const [instruction] = parseDockerfile(`FROM node:24\n${text}`)[0]?.instructions ?? [];
  if (instruction === undefined) throw new Error('no instruction');
  return instruction;
};

describe('the Dockerfile', () => {
  const stages = parseDockerfile(readFileSync('Dockerfile', 'utf8'));

  it('has a build stage, and a runtime stage without root, with a volume and a health check', () => {
    expect(stages.map(({ name }) => name)).toEqual(['build', undefined]);
    const keywords = stages.at(-1)?.instructions.map(({ keyword }) => keyword) ?? [];
    expect(keywords).toEqual(expect.arrayContaining(['USER', 'VOLUME', 'EXPOSE', 'HEALTHCHECK', 'CMD']));
    expect(stages.at(-1)?.instructions.findLast(({ keyword }) => keyword === 'USER')?.text).toBe('node');
  });

  it('builds, and runs with a read-only root file system', { timeout: 600_000 }, async ({ skip }) => {
    if (process.env.LONG !== '1') return skip('takes half a minute: LONG=1');
    const { stdout } = await promisify(execFile)(process.execPath, ['scripts/image.ts']);
    if (stdout.startsWith('skipped')) return skip(stdout.trim());
    expect(stdout).toContain('reachable from outside: 8080, 3000 of 8080, 3000');
    expect(stdout).toContain('ended with status 0 after SIGTERM');
  });
});

describe('a line of a Dockerfile', () => {
  it('continues after a backslash, even across a comment', () => {
    expect(only('RUN a \\\n  # why\n && b\n')).toEqual({ keyword: 'RUN', text: 'a && b', line: 2 });
  });

  it('is parsed into the packages that it installs, the variables that it sets, and its words', () => {
    expect(packagesOf(only('RUN apt-get update && apt-get install -y git ca-certificates && rm x'))).toEqual([
      'git',
      'ca-certificates',
    ]);
    expect(packagesOf(only('RUN npm ci'))).toEqual([]);
    expect(pairsOf(only('ENV A=b C="d"'))).toEqual({ A: 'b', C: 'd' });
    expect(wordsOf(only('CMD ["node", "x"]'))).toEqual(['node', 'x']);
  });

  it.each([
    ['ADD x y', 'Dockerfile:2: ADD is not supported'],
    ['FROM a of b', 'Dockerfile:2: FROM a of b cannot be read'],
  ])('that is not supported is refused with its position: %s', (text, message) => {
    expect(() => only(text)).toThrow(message);
  });

  it('with a command in shell form, or with variables that are not NAME=value pairs, is refused', () => {
    expect(() => wordsOf(only('CMD node x'))).toThrow('CMD must be a JSON list');
    expect(() => pairsOf(only('ENV A b'))).toThrow('must be NAME=value pairs');
  });
});

it('.dockerignore must allow only named files', () => {
  expect(readAllowed('*\n# why\n!src\n')).toEqual(new Set(['src']));
  expect(() => readAllowed('node_modules\n')).toThrow('.dockerignore must be');
});
