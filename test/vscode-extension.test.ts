import { readFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { join } from 'node:path';
import { unzipSync } from 'fflate';
import { beforeAll, describe, expect, it } from 'vitest';
import { packExtension } from '../scripts/build-vscode.ts';
import { packageRoot } from '../src/platform/package.ts';

const about = JSON.parse(readFileSync(join(packageRoot, 'editors/vscode/package.json'), 'utf8'));

describe('the extension for VS Code', () => {
  let files: Readonly<Record<string, string>>;
  beforeAll(async () => {
    const packed = Object.entries(unzipSync(await packExtension()));
    files = Object.fromEntries(packed.map(([path, bytes]) => [path, Buffer.from(bytes).toString()]));
  });

  it('has a manifest, its code, and the licences of what the code contains', () => {
    expect(Object.keys(files).toSorted()).toEqual([
      '[Content_Types].xml',
      'extension.vsixmanifest',
      'extension/LICENSE.txt',
      'extension/README.md',
      'extension/extension.js',
      'extension/package.json',
      'extension/third-party-licenses.txt',
    ]);
    expect(files['extension.vsixmanifest']).toContain(
      `<Identity Language="en-US" Id="${about.name}" Version="${about.version}" Publisher="${about.publisher}"/>`,
    );
    expect(files['extension/third-party-licenses.txt']).toContain('vscode-languageclient');
  });

  it('needs no other files than its own', () => {
    const required = [...(files['extension/extension.js'] ?? '').matchAll(/\brequire\("([^"]+)"\)/g)];
    const names = [...new Set(required.map(([, name = '']) => name))];

    expect(names).toContain('vscode');
    expect(names.filter((name) => name !== 'vscode' && !isBuiltin(name))).toEqual([]);
    expect(about.main).toBe('./extension.js');
  });

  it('has only settings that a folder cannot change', () => {
    const settings: Readonly<Record<string, { scope: string }>> = about.contributes.configuration.properties;

    expect(Object.keys(settings).length).toBeGreaterThan(0);
    for (const [name, { scope }] of Object.entries(settings))
      expect([name, scope]).toEqual([name, 'machine']);
  });

  it('is the same for the same sources', async () => {
    expect(await packExtension()).toEqual(await packExtension());
  });
});
