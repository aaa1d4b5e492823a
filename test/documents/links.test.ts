import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { findLinkProblems, readContents } from '../../scripts/site/check-links.ts';
import { anchorsOf, blocksOf, linksOf, replaceLinks } from '../../scripts/site/markdown.ts';
import { stagePages } from '../../scripts/site/stage.ts';
import { foreignRequests } from '../../scripts/site.ts';
import { packageRoot } from '../../src/platform/package.ts';

const folder = mkdtempSync(join(tmpdir(), 'reeve-links-'));
afterAll(() => rmSync(folder, { recursive: true }));

describe('the documentation', () => {
  it('has no broken links, and lists each page once in its table of contents', () => {
    expect(findLinkProblems(packageRoot)).toEqual([]);
  });

  it('has its sections in reading order', () => {
    expect(readContents(packageRoot).map(({ title }) => title)).toEqual([
      'Start',
      'Concepts',
      'Rules',
      'How do I …?',
      'Recipes',
      'Deploy',
      'Operate',
      'Security',
      'Reference',
      'Comparison',
      'Contributing',
    ]);
  });

  it('has a README of at most two screens', () => {
    const lines = readFileSync(join(packageRoot, 'README.md'), 'utf8').trimEnd().split('\n');
    const text = lines.filter((line) => !line.startsWith('|'));

    expect(lines.length).toBeLessThanOrEqual(100);
    expect(text.filter((line) => line.length > 140)).toEqual([]);
  });
});

it('links to missing pages and headings, and pages outside the table of contents, are detected', () => {
  const root = join(folder, 'broken');
  mkdirSync(join(root, 'docs/reference'), { recursive: true });
  const write = (path: string, text: string): void => writeFileSync(join(root, path), text);
  write('README.md', '[gone](docs/gone.md) and `[code](is-no-link.md)`\n');
  write('CONTRIBUTING.md', '# Contributing\n\n[up](../outside.md)\n');
  write('CHANGELOG.md', '[one](docs/one.md#there) [two](docs/one.md#not-there)\n');
  write('docs/README.md', '# Docs\n\n## A\n\n- [One](one.md)\n- [One](one.md)\n- [C](../CONTRIBUTING.md)\n');
  write('docs/reference/README.md', '# Reference\n');
  write('docs/one.md', '# One\n\n## There\n\n```text\n## Not there\n[x](gone.md)\n```\n');

  expect(findLinkProblems(root)).toEqual([
    'README.md:1: docs/gone.md: there is no docs/gone.md',
    'CONTRIBUTING.md:3: ../outside.md: there is no ../outside.md',
    'CHANGELOG.md:1: docs/one.md#not-there: docs/one.md has no heading #not-there',
    'docs/README.md: CHANGELOG.md is not in the table of contents',
    'docs/README.md: docs/reference/README.md is not in the table of contents',
    'docs/README.md: docs/one.md is in the table of contents twice',
  ]);
});

describe('the pages of the site', () => {
  const pages = join(folder, 'pages');
  const read = (path: string): string => readFileSync(join(pages, path), 'utf8');

  it('link to each other, and have pages for linked files and folders', () => {
    stagePages(packageRoot, pages);

    expect(read('index.md')).toContain('](start.md)');
    expect(read('security.md')).toContain('](contributing.md#broken-twins)');
    expect(read('how-do-i.md')).toContain('](files/rules/backport.yml.md)');
    expect(read('files/rules/backport.yml.md')).toContain('uses: backport');
    expect(read('files/rules/index.md')).toContain('- [backport.yml](backport.yml.md)');
    for (const path of [
      'index.md',
      'how-do-i.md',
      'files/rules/index.md',
      'reference/index.md',
      'changelog.md',
    ])
      for (const { target } of linksOf(read(path)))
        if (!/^[a-z]+:|^#/.test(target))
          expect(
            () => readFileSync(join(pages, path, '..', target.split('#')[0] ?? '')),
            target,
          ).not.toThrow();
  });

  it('are refused if they load something from another host', () => {
    const page = `<a href="https://cel.dev">CEL</a><script src="/assets/app.js"></script>
<link rel="stylesheet" href="https://fonts.example/inter.css"><img src="//cdn.example/a.png">`;

    expect(foreignRequests(page)).toEqual(['https://fonts.example/inter.css', '//cdn.example/a.png']);
  });
});

describe('parsing Markdown', () => {
  it('gives headings the anchors that forges use, with a number for a repeated heading', () => {
    const page =
      '# A `b`: c?\n## `on`: schedules, and `each`\n## A b c\n```sh\n# no heading\n```\n### [Linked](x.md) text\n';

    expect([...anchorsOf(page)]).toEqual(['a-b-c', 'on-schedules-and-each', 'a-b-c-1', 'linked-text']);
  });

  it('removes the indentation of blocks in lists, and keeps links in code unchanged', () => {
    const page = '1. One\n\n   ```sh\n   a\n     b\n   ```\n\n[a](b.md) `[c](d.md)`\n';

    expect(blocksOf(page)).toEqual([{ language: 'sh', text: 'a\n  b\n', line: 3 }]);
    expect(replaceLinks(page, (target) => `../${target}`)).toBe(page.replace('(b.md)', '(../b.md)'));
  });
});
