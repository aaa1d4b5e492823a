// Builds dist/vscode/reeve.vsix, the extension for VS Code. It is neither committed nor published: a user installs the file.
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { build } from 'esbuild';
import { zipSync } from 'fflate';
import { root } from './build/bundling.ts';
import { licensesOf } from './build-package.ts';

const folder = join(root, 'editors/vscode');

/** Returns the bytes of the package, the same for the same sources. */
export async function packExtension(): Promise<Uint8Array> {
  const { outputFiles, metafile } = await build({
    absWorkingDir: root,
    entryPoints: [join(folder, 'extension.mts')],
    bundle: true,
    write: false,
    metafile: true,
    platform: 'node',
    format: 'cjs',
    target: 'node20',
    minify: true,
    legalComments: 'none',
    external: ['vscode'],
  });
  const about = await readFile(join(folder, 'package.json'), 'utf8');
  const text = (content: string): Uint8Array => new TextEncoder().encode(content);
  const files = {
    '[Content_Types].xml': text(contentTypes),
    'extension.vsixmanifest': text(manifestOf(JSON.parse(about))),
    'extension/package.json': text(about),
    'extension/extension.js': outputFiles[0]?.contents ?? text(''),
    'extension/README.md': await readFile(join(folder, 'README.md')),
    'extension/LICENSE.txt': await readFile(join(root, 'LICENSE')),
    'extension/third-party-licenses.txt': text(licensesOf(Object.keys(metafile.inputs))),
  };
  // The earliest time that a zip file can have.
  return zipSync(files, { mtime: new Date(1980, 0, 1) });
}

const contentTypes = `<?xml version="1.0" encoding="utf-8"?>
<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">
<Default Extension=".json" ContentType="application/json"/>
<Default Extension=".js" ContentType="application/javascript"/>
<Default Extension=".md" ContentType="text/markdown"/>
<Default Extension=".txt" ContentType="text/plain"/>
<Default Extension=".vsixmanifest" ContentType="text/xml"/>
</Types>
`;

type About = Readonly<Record<'name' | 'displayName' | 'description' | 'version' | 'publisher', string>> & {
  readonly engines: { readonly vscode: string };
  readonly categories: readonly string[];
};

/** Returns the manifest of the package. Source: the schema `vsix/2011` of Visual Studio, as VS Code reads it. */
function manifestOf({
  name,
  displayName,
  description,
  version,
  publisher,
  engines,
  categories,
}: About): string {
  const safe = (value: string): string =>
    value.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');
  return `<?xml version="1.0" encoding="utf-8"?>
<PackageManifest Version="2.0.0" xmlns="http://schemas.microsoft.com/developer/vsx-schema/2011">
<Metadata>
<Identity Language="en-US" Id="${safe(name)}" Version="${safe(version)}" Publisher="${safe(publisher)}"/>
<DisplayName>${safe(displayName)}</DisplayName>
<Description xml:space="preserve">${safe(description)}</Description>
<Categories>${safe(categories.join(','))}</Categories>
<Properties>
<Property Id="Microsoft.VisualStudio.Code.Engine" Value="${safe(engines.vscode)}"/>
<Property Id="Microsoft.VisualStudio.Code.ExtensionKind" Value="workspace"/>
</Properties>
<License>extension/LICENSE.txt</License>
</Metadata>
<Installation><InstallationTarget Id="Microsoft.VisualStudio.Code"/></Installation>
<Dependencies/>
<Assets>
<Asset Type="Microsoft.VisualStudio.Code.Manifest" Path="extension/package.json" Addressable="true"/>
<Asset Type="Microsoft.VisualStudio.Services.Content.Details" Path="extension/README.md" Addressable="true"/>
<Asset Type="Microsoft.VisualStudio.Services.Content.License" Path="extension/LICENSE.txt" Addressable="true"/>
</Assets>
</PackageManifest>
`;
}

if (import.meta.main) {
  const made = await packExtension();
  const target = join(root, 'dist/vscode');
  await mkdir(target, { recursive: true });
  await writeFile(join(target, 'reeve.vsix'), made);
  console.log(`dist/vscode/reeve.vsix: ${Math.round(made.length / 1024)} KB`);
}
