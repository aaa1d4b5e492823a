import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitepress';
import { readContents, readReference } from '../../scripts/site/check-links.ts';
import { anchorOf } from '../../scripts/site/markdown.ts';
import { pageOf } from '../../scripts/site/stage.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** Returns the address of a page of the repository. */
const addressOf = (path: string): string =>
  `/${pageOf(path, { isFolder: false })}`.replace(/(index)?\.md$/, (_, index) => (index ? '' : '.html'));

const items = (entries: readonly { title: string; path: string }[]) =>
  entries.map(({ title, path }) => ({ text: title, link: addressOf(path) }));

/** Groups cannot be folded: a button within a button is out of reach of a keyboard. The reference has a sidebar of its own. */
const contents = readContents(root).map(({ title, entries }) => ({ text: title, items: items(entries) }));
const reference = [
  { text: 'All pages', link: '/' },
  ...readReference(root).map(({ title, entries }) => ({ text: title, items: items(entries) })),
];

export default defineConfig({
  title: 'Reeve',
  description:
    'Self-hosted automation bot for Gitea and Forgejo: rules in YAML, checked, tested and explained.',
  lang: 'en',
  base: process.env.SITE_BASE ?? '/',
  srcDir: 'pages',
  outDir: 'dist',
  cacheDir: 'node_modules/.cache/vitepress',
  // Addresses such as http://127.0.0.1:8080 are those of a reader's own machine.
  ignoreDeadLinks: 'localhostLinks',
  markdown: {
    theme: { light: 'github-light-high-contrast', dark: 'github-dark-high-contrast' },
    anchor: { slugify: anchorOf },
    languageAlias: { cel: 'js' },
    config(md) {
      // The pages are plain Markdown, as a forge shows them: no tags and no expressions of Vue.
      md.set({ html: false });
      const plain =
        md.renderer.rules.text ?? ((tokens, index) => md.utils.escapeHtml(tokens[index]?.content ?? ''));
      const code = md.renderer.rules.code_inline;
      md.renderer.rules.code_inline = (tokens, index, ...others) => {
        tokens[index]?.attrSet('v-pre', '');
        return code?.(tokens, index, ...others) ?? '';
      };
      md.renderer.rules.text = (...given) => plain(...given).replaceAll('{{', '&#123;&#123;');
    },
  },
  themeConfig: {
    sidebar: { '/reference/': reference, '/': contents },
    nav: [],
    outline: [2, 3],
    search: {
      provider: 'local',
      options: {
        miniSearch: {
          searchOptions: {
            boost: { title: 4, text: 1, titles: 2 },
            // What explains Reeve itself comes after guides and the reference. Serialized: no names from outside.
            boostDocument: (id: string) => {
              if (
                /\/(?:decisions|operations|conformance|benchmarks|changelog|contributing|architecture)\b/.test(
                  id,
                )
              )
                return 0.1;
              return /\/files\//.test(id) ? 0.5 : 1;
            },
          },
        },
      },
    },
  },
});
