import { fileURLToPath } from 'node:url';
import type { BuildOptions, Plugin } from 'esbuild';
import { gitignoreTextsModule } from '../../src/forge/repositories/gitignore-texts.ts';

/** Folder of the checkout, with a slash at its end. */
export const root: string = fileURLToPath(new URL('../..', import.meta.url));

/** Modules that a bundle has in another form: which paths, and their JavaScript there. */
export const replacedModules: readonly { readonly path: RegExp; readonly contents: () => string }[] = [
  // Messages of shapes in fifty languages are a third of a bundle; ours are English.
  { path: /[\\/]zod[\\/]v4[\\/]locales[\\/]index\.js$/, contents: () => 'export {};' },
  // The texts of gitignore templates are files of a library, which a bundle does not have beside it: it carries them.
  { path: /[\\/]gitignore-texts\.ts$/, contents: gitignoreTextsModule },
];

const replacing: Plugin = {
  name: 'replaced-modules',
  setup(building) {
    for (const { path, contents } of replacedModules)
      building.onLoad({ filter: path }, () => ({ contents: contents(), resolveDir: root }));
  },
};

/** A banner line: CommonJS libraries ask for built-in modules by `require`, which ES modules do not have. */
export const requireBanner =
  "import { createRequire as createRequireOfBundle } from 'node:module'; const require = createRequireOfBundle(import.meta.url);";

/** What every bundle of esbuild has in common: ES modules for Node, with all libraries inside. */
export const bundling = {
  absWorkingDir: root,
  bundle: true,
  format: 'esm',
  platform: 'node',
  plugins: [replacing],
  loader: { '.gitignore': 'text' },
} as const satisfies BuildOptions;
