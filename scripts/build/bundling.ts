import { fileURLToPath } from 'node:url';
import type { BuildOptions, Plugin } from 'esbuild';
import { gitignoreTextsModule } from '../../src/forge/templates/gitignore-texts.ts';

/** Folder of the checkout, with a slash at its end. */
export const root: string = fileURLToPath(new URL('../..', import.meta.url));

/** Messages of shapes in fifty languages are a third of a bundle; ours are English. */
const withoutLocales: Plugin = {
  name: 'without-locales',
  setup(building) {
    building.onLoad({ filter: /zod\/v4\/locales\/index\.js$/ }, () => ({ contents: 'export {};' }));
  },
};

/** The texts of gitignore templates are files of a library, which a bundle does not have beside it: it carries them. */
const gitignoreTextsInside: Plugin = {
  name: 'gitignore-texts-inside',
  setup(building) {
    building.onLoad({ filter: /[\\/]forge[\\/]templates[\\/]gitignore-texts\.ts$/ }, () => ({
      contents: gitignoreTextsModule(),
      resolveDir: root,
    }));
  },
};

/** A banner line: CommonJS libraries ask for built-in modules by `require`, which ES modules do not have. */
export const requireBanner =
  "import { createRequire as createRequireOfBundle } from 'node:module'; const require = createRequireOfBundle(import.meta.url);";

/** What every bundle has in common: ES modules for Node, with all libraries inside. */
export const bundling = {
  absWorkingDir: root,
  bundle: true,
  format: 'esm',
  platform: 'node',
  plugins: [withoutLocales, gitignoreTextsInside],
  loader: { '.gitignore': 'text' },
} as const satisfies BuildOptions;
