import { createGlob } from '../../patterns/glob.ts';
import { GlobError } from '../../patterns/glob-error.ts';
import { languageTable } from './language-table.ts';

const byExtension = new Map<string, string>();
const byFileName = new Map<string, string>();
const byInterpreter = new Map<string, string>();
for (const entry of languageTable.split(/[;\n]/)) {
  const [name = '', extensions = '', fileNames = '', interpreters = ''] = entry.split('|');
  for (const extension of extensions.split(' ').filter(Boolean)) byExtension.set(extension, name);
  for (const fileName of fileNames.split(' ').filter(Boolean)) byFileName.set(fileName, name);
  for (const interpreter of interpreters.split(' ').filter(Boolean)) byInterpreter.set(interpreter, name);
}

/** Folders and files that come from elsewhere, are written by programs, or explain; source: linguist `vendor.yml`. */
const uncounted = [
  /(^|\/)(node_modules|bower_components|vendors?|third[-_]?party|3rd[-_]?party|extern(als?)?|deps|dist|Godeps|Pods)\//i,
  /(^|\/)(docs?|documentation|javadoc|man|examples?|samples|demos?)\//i,
  /(^|\/)(CHANGE(S|LOG)?|CONTRIBUTING|COPYING|INSTALL|LICEN[CS]E|README|Jenkinsfile)(\.|$)/i,
  /[.-]min\.(js|css)$|\.pb\.(go|cc|h)$|_pb2\.py$|\.g\.dart$|\.designer\.cs$|(^|\/)(jquery|bootstrap|d3|normalize)[^/]*\.(js|css)$/i,
  /(^|\/)(gradlew|mvnw|configure|config\.(guess|sub)|ltmain\.sh|aclocal\.m4|package-lock\.json)(\.bat|\.cmd)?$/,
];

/** Returns whether the path alone says that a file is not the project's own code. */
export function isUncounted(path: string): boolean {
  const name = path.slice(path.lastIndexOf('/') + 1);
  return name.startsWith('.') || uncounted.some((pattern) => pattern.test(path));
}

/** Returns the language of a file by its name, an interpreter in its first line where the name says nothing; undefined if it is not code. */
export function languageOf(path: string, head: string): string | undefined {
  const name = path.slice(path.lastIndexOf('/') + 1);
  const known = byFileName.get(name);
  if (known !== undefined) return known;
  const parts = name.toLowerCase().split('.');
  for (let from = 1; from < parts.length; from += 1) {
    const extension = parts.slice(from).join('.');
    const language = byExtension.get(extension);
    if (language !== undefined) return decide(extension, language, head);
  }
  if (parts.length > 1) return undefined;
  const [, program = ''] =
    /^#!\s*(?:\S*\/env\s+(?:-\S+\s+|\w+=\S+\s+)*)?(?:\S*\/)?([\w.+-]+)/.exec(head) ?? [];
  return byInterpreter.get(program) ?? byInterpreter.get(program.replace(/[\d.]+$/, ''));
}

/** Extensions of several languages that their content tells apart. */
function decide(extension: string, language: string, head: string): string {
  if (extension === 'h') {
    if (/^\s*(@(interface|protocol|class|property|end)\b|#import\b)/m.test(head)) return 'Objective-C';
    const isCpp =
      /^\s*(#include\s*<(iostream|string|vector|map|memory|cstd\w+|algorithm)>|template\s*<|namespace\s|class\s+\w+|using\s+\w)|std::|^\s*(public|private|protected):/m;
    return isCpp.test(head) ? 'C++' : 'C';
  }
  if (
    extension === 'm' &&
    /^\s*(function\b|%)/m.test(head) &&
    !/@(interface|implementation|import)/.test(head)
  ) {
    return 'MATLAB';
  }
  return language;
}

/** What `.gitattributes` says of how a path counts. */
export type LinguistAttributes = {
  /** `linguist-vendored`, `-generated`, `-documentation` or `-detectable=false`: not counted; the reverse: counted. */
  readonly isCounted?: boolean;
  readonly language?: string;
};

/** Reads the lines about languages of a `.gitattributes`; returns what they say of a path, the last one that matches. */
export function readLinguistAttributes(text: string): (path: string) => LinguistAttributes {
  const lines = text.split(/\r?\n/).filter((line) => /linguist-/.test(line) && !line.startsWith('#'));
  const rules = lines.flatMap((line) => {
    const [pattern = '', ...words] = line.trim().split(/\s+/);
    const matches = compilePattern(pattern);
    return matches === undefined ? [] : [{ matches, says: attributesOf(words) }];
  });
  return (path) => {
    const says: Record<string, unknown> = {};
    for (const rule of rules) if (rule.matches(path)) Object.assign(says, rule.says);
    return says;
  };
}

function compilePattern(pattern: string): ((path: string) => boolean) | undefined {
  const plain = pattern.replace(/^\//, '').replace(/\/$/, '/**');
  try {
    const anywhere = pattern.replace(/\/$/, '').includes('/') ? plain : `**/${plain}`;
    return createGlob(anywhere, { strict: false });
  } catch (error) {
    if (error instanceof GlobError) return undefined;
    throw error;
  }
}

function attributesOf(words: readonly string[]): LinguistAttributes {
  let says: LinguistAttributes = {};
  for (const word of words) {
    const [, minus, name, value] = /^(-?)linguist-(\w+)(?:=(.*))?$/.exec(word) ?? [];
    const isOn = minus !== '-' && value !== 'false';
    if (name === 'language' && value) says = { ...says, language: byName(value) };
    if (name === 'detectable') says = { ...says, isCounted: isOn };
    if (name === 'vendored' || name === 'generated' || name === 'documentation') {
      says = { ...says, isCounted: !isOn };
    }
  }
  return says;
}

/** Names are written without regard to case, with `-` for spaces. */
function byName(value: string): string {
  const wanted = value.toLowerCase().replaceAll('-', ' ');
  for (const name of new Set([...byExtension.values(), ...byFileName.values()])) {
    if (name.toLowerCase().replaceAll('-', ' ') === wanted) return name;
  }
  return value;
}
