import { fileURLToPath } from 'node:url';
import type { BuildOptions, Plugin } from 'esbuild';
import { gitignoreTextsModule } from '../../src/forge/repositories/gitignore-texts.ts';

/** Folder of the checkout, with a trailing slash. */
export const root: string = fileURLToPath(new URL('../..', import.meta.url));

/** Modules that a bundle contains in another form: patterns of paths, with the JavaScript that replaces them. */
export const replacedModules: readonly { readonly path: RegExp; readonly contents: () => string }[] = [
  // The messages of schemas in fifty languages are a third of a bundle; ours are English.
  { path: /[\\/]zod[\\/]v4[\\/]locales[\\/]index\.js$/, contents: () => 'export {};' },
  // The texts of gitignore templates are files of a library. They would be missing next to a bundle, so it contains
  // them.
  { path: /[\\/]gitignore-texts\.ts$/, contents: gitignoreTextsModule },
  // Fastify loads these for routes with schemas and for simulated requests, which no program of ours has: 0.75 MB of text.
  {
    path: /[\\/](@fastify[\\/](ajv-compiler|fast-json-stringify-compiler)|light-my-request)[\\/]index\.js$/,
    contents: () => "throw new Error('this module is not part of the bundle');",
  },
];

const replacing: Plugin = {
  name: 'replaced-modules',
  setup(building) {
    for (const { path, contents } of replacedModules)
      building.onLoad({ filter: path }, () => ({ contents: contents(), resolveDir: root }));
  },
};

/** Banner line: CommonJS libraries load built-in modules with `require`, which ES modules do not have. */
export const requireBanner =
  "import { createRequire as createRequireOfBundle } from 'node:module'; const require = createRequireOfBundle(import.meta.url);";

/** Common options of every esbuild bundle: ES modules for Node, including all libraries. */
export const bundling = {
  absWorkingDir: root,
  bundle: true,
  format: 'esm',
  platform: 'node',
  plugins: [replacing],
  loader: { '.gitignore': 'text' },
} as const satisfies BuildOptions;
