/** What the library does not have: names of its own, with patterns separated by spaces. */
const ownPatterns: Readonly<Record<string, string>> = {
  Bazel: '/bazel-* /.ijwb/ /.clwb/',
  Nix: 'result result-* .direnv/',
  Zig: '.zig-cache/ zig-cache/ zig-out/ *.o',
};

/** Names that servers list, and under which file the library has that text: github/gitignore keeps links for most of them. */
const otherNames: Readonly<Record<string, string>> = {
  Clojure: 'Leiningen',
  Fortran: 'C++',
  JBoss: 'Jboss',
  Kotlin: 'Java',
  MATLAB: 'Matlab',
};

/** Returns the texts of all templates by name, sorted by it. */
export async function loadGitignores(): Promise<ReadonlyMap<string, string>> {
  // Loaded when one is asked for: 180 texts.
  const { gitignoreTexts } = await import('./gitignore-texts.ts');
  const texts = new Map(gitignoreTexts);
  for (const [name, file] of Object.entries(otherNames)) texts.set(name, gitignoreTexts.get(file) ?? '');
  for (const renamed of ['Jboss', 'Matlab']) texts.delete(renamed);
  for (const [name, patterns] of Object.entries(ownPatterns))
    texts.set(name, `${patterns.replaceAll(' ', '\n')}\n`);
  return new Map([...texts].sort(([a], [b]) => (a < b ? -1 : 1)));
}
