/** For each function and loop an expression that holds. A test runs them, and the reference shows them. */
export const functionExamples: Readonly<Record<string, string>> = {
  startsWith: '"release/1.2".startsWith("release/")',
  endsWith: '"src/app.ts".endsWith(".ts")',
  contains: '"fix: a crash".contains("crash")',
  matches: '"feat(ui): a button".matches("^(feat|fix)(\\\\([a-z]+\\\\))?: ")',
  glob: '"docs/guide/install.md".glob("docs/**")',
  lower: '"CRASH".lower() == "crash"',
  lowerAscii: '"CRASH".lowerAscii() == "crash"',
  upperAscii: '"crash".upperAscii() == "CRASH"',
  trim: '"  a ".trim() == "a"',
  indexOf: '"area/docs".indexOf("/") == 4',
  lastIndexOf: '"a/b/c".lastIndexOf("/") == 3',
  substring: '"area/docs".substring(5) == "docs"',
  split: '"a,b".split(",") == ["a", "b"]',
  join: '["a", "b"].join("-") == "a-b"',
  size: 'size("docs") == 4 && [1, 2].size() == 2',
  string: 'string(7) == "7"',
  int: 'int("7") == 7',
  double: 'double("0.5") == 0.5',
  bool: 'bool("true")',
  timestamp: 'timestamp("2026-01-02T03:04:05Z") < now',
  duration: 'now - duration("24h") < now',
  all: '[1, 2, 3].all(n, n > 0)',
  exists: '["bug", "docs"].exists(name, name == "bug")',
  exists_one: '[1, 2, 2].exists_one(n, n == 1)',
  filter: '[1, 2, 3].filter(n, n > 1) == [2, 3]',
  map: '[1, 2].map(n, n * 2) == [2, 4]',
  has: '!has(event.no_such_member)',
};

/** Returns the example of a function; those of dates and times are all of one form. */
export function exampleOf(name: string): string {
  return functionExamples[name] ?? `timestamp("2026-01-02T03:04:05Z").${name}() >= 0`;
}
