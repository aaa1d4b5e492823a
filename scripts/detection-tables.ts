// Writes the tables with which the embedded forge recognises languages and licences. The packages linguist-languages
// and spdx-license-list must be installed in FOLDER: node scripts/detection-tables.ts FOLDER
import { readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { shinglesOf } from '../src/forge/code/detection.ts';

type Language = {
  readonly name: string;
  readonly type: string;
  readonly group?: string;
  readonly languageId: number;
  readonly extensions?: readonly string[];
  readonly filenames?: readonly string[];
  readonly interpreters?: readonly string[];
};

const target = fileURLToPath(new URL('../src/forge/code/', import.meta.url));

/**
 * Common languages. An extension shared by several languages belongs to the first language of this list that has it,
 * otherwise to the language that linguist has known longest.
 */
const common =
  'C,C#,C++,CSS,Clojure,Common Lisp,D,Elixir,Erlang,F#,Fortran,GLSL,Go,HTML,Haskell,Java,JavaScript,Kotlin,Lua,Markdown,Text,' +
  'TypeScript,TSX,Rust,SQL,OCaml,Objective-C,PHP,Pascal,Perl,Python,R,Ruby,Scala,Scheme,Shell,Smalltalk,Swift,TeX,Verilog,' +
  'Vim script,Assembly,BASIC,CoffeeScript,Crystal,Lex,Smarty,Forth,BitBake,Roff,GDScript,Nushell,Puppet,Prolog,Brainfuck,QMake,' +
  'Jasmin,jq,Lean 4,Linker Script,M4,Modelica,Nickel,Julia,Visual Basic 6.0,HLSL,ShaderLab,Apex,ActionScript,AL,HiveQL,JSON,YAML,XML';
const ranks = common.split(',');

function rankOf({ name }: Language): number {
  const rank = ranks.indexOf(name);
  return rank < 0 ? ranks.length : rank;
}

/** Returns one entry per language: name, extensions, file names and interpreters, for languages that count as code. */
function languageLines(languages: readonly Language[]): string[] {
  const found = new Map<string, [string[], string[], string[]]>();
  const members = ['extensions', 'filenames', 'interpreters'] as const;
  for (const [part, member] of members.entries()) {
    const byKey = new Map<string, Language[]>();
    for (const language of languages) {
      for (const key of language[member] ?? []) {
        const plain = part === 0 ? key.toLowerCase().slice(1) : key;
        byKey.set(plain, [...(byKey.get(plain) ?? []), language]);
      }
    }
    for (const [key, of] of byKey) {
      const [first] = of.toSorted(
        (one, other) => rankOf(one) - rankOf(other) || one.languageId - other.languageId,
      );
      if (first === undefined || !['programming', 'markup'].includes(first.type)) continue;
      const name = first.group ?? first.name;
      const entry = found.get(name) ?? [[], [], []];
      entry[part]?.push(key);
      found.set(name, entry);
    }
  }
  const names = [...found.keys()].toSorted();
  return names.map((name) =>
    [name, ...(found.get(name) ?? []).map((keys) => keys.toSorted().join(' '))].join('|').replace(/\|+$/, ''),
  );
}

/** Returns the entries as lines of at most 120 characters, unless an entry is longer. */
function wrap(entries: readonly string[], separator: string): string[] {
  const lines: string[] = [];
  for (const entry of entries) {
    const last = lines.at(-1);
    const joined = last === undefined ? entry : `${last}${separator}${entry}`;
    if (last !== undefined && joined.length <= 160) lines[lines.length - 1] = joined;
    else lines.push(entry);
  }
  return lines;
}

/** Licences by their names in the forge and in the SPDX list. */
const licenses: readonly (readonly [id: string, spdx: string])[] = [
  ...['0BSD', 'Apache-2.0', 'BSD-2-Clause', 'BSD-3-Clause', 'BSD-3-Clause-Clear', 'BSL-1.0', 'CC-BY-4.0'],
  ...['CC-BY-SA-4.0', 'CC0-1.0', 'EPL-1.0', 'EPL-2.0', 'EUPL-1.2', 'ISC', 'MIT', 'MIT-0', 'MPL-2.0'],
  ...['MulanPSL-2.0', 'OFL-1.1', 'OSL-3.0', 'UPL-1.0', 'Unlicense', 'WTFPL', 'Zlib'],
  ...['AGPL-3.0', 'GPL-2.0', 'GPL-3.0', 'LGPL-2.1', 'LGPL-3.0'],
].map((id) => [id, /GPL/.test(id) ? `${id}-only` : id]);

/** Number of hashes that represent a text: the smallest ones, which are a fair sample. */
const sample = 64;

function licenseRows(textOf: (spdx: string) => string): string[] {
  const texts = licenses.map(([id, spdx]) => ({ id, hashes: shinglesOf(textOf(spdx)) }));
  return texts.map(({ id, hashes }) => {
    const sketch = [...hashes].toSorted((one, other) => one - other).slice(0, sample);
    const related = texts.filter(
      (other) =>
        other.id !== id &&
        [...hashes].filter((hash) => other.hashes.has(hash)).length >=
          0.6 * Math.min(hashes.size, other.hashes.size),
    );
    const parts = wrap(
      sketch.map((hash) => hash.toString(36)),
      ' ',
    );
    const text = parts.map((part, at) => `'${part}${at === parts.length - 1 ? '' : ' '}'`).join(' +\n      ');
    const names = related.map((other) => `'${other.id}'`).join(', ');
    return `  {\n    id: '${id}',\n    length: ${hashes.size},\n    related: [${names}],\n    sketch:\n      ${text},\n  },`;
  });
}

const [folder] = process.argv.slice(2);
if (folder === undefined) throw new Error('usage: node scripts/detection-tables.ts FOLDER');
const packages = resolve(folder, 'node_modules');
const versionOf = (name: string): string =>
  JSON.parse(readFileSync(join(packages, name, 'package.json'), 'utf8')).version;
const load = createRequire(join(packages, 'index.js'));
const languages = Object.values(
  (await import(pathToFileURL(load.resolve('linguist-languages')).href)) as Record<string, Language>,
).filter((language) => typeof language.name === 'string');
const rows = wrap(languageLines(languages), ';');
writeFileSync(
  join(target, 'language-table.ts'),
  `/**
 * Languages that count as code, one entry \`name|extensions|file names|interpreters\` each. From linguist-languages
 * ${versionOf('linguist-languages')} (MIT) by \`scripts/detection-tables.ts\`; do not edit.
 */
export const languageTable = \`${rows.join('\n')}\`;
`,
);
const textOf = (spdx: string): string =>
  JSON.parse(readFileSync(join(packages, 'spdx-license-list/licenses', `${spdx}.json`), 'utf8')).licenseText;
writeFileSync(
  join(target, 'license-sketches.ts'),
  `/**
 * Licences by samples of the hashes of their texts, in base 36, with the number of all hashes and the licences with much of the
 * same text. From
 * spdx-license-list ${versionOf('spdx-license-list')} (CC0) by \`scripts/detection-tables.ts\`; do not edit.
 */
export const licenseSketches: readonly {
  readonly id: string;
  readonly length: number;
  readonly related: readonly string[];
  readonly sketch: string;
}[] = [
${licenseRows(textOf).join('\n')}
];
`,
);
