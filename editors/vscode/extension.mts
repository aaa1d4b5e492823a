import { homedir } from 'node:os';
import { type ExtensionContext, workspace } from 'vscode';
import { LanguageClient } from 'vscode-languageclient/node';

let client: LanguageClient | undefined;

/** Starts `reeve lsp` for YAML files. */
export async function activate(_context: ExtensionContext): Promise<void> {
  const [command = 'reeve', ...args] = ofUser<readonly string[]>('command') ?? ['reeve', 'lsp'];
  const [url, tokenFile] = [ofUser<string>('forge.url'), ofUser<string>('forge.tokenFile')];
  client = new LanguageClient(
    'reeve',
    'Reeve',
    // The folder of the user: in an opened folder, the command could be a file of the folder.
    { command, args: [...args], options: { cwd: homedir() } },
    {
      documentSelector: [{ scheme: 'file', language: 'yaml' }],
      initializationOptions: {
        ...(url && tokenFile ? { forge: { url, tokenFile } } : {}),
        repositories: ofUser<readonly string[]>('repositories') ?? [],
      },
    },
  );
  await client.start();
}

export async function deactivate(): Promise<void> {
  await client?.stop();
}

/**
 * Returns a setting of the user. Settings of a workspace are ignored, although the scope `machine` already excludes them:
 * the author of a folder must choose neither the command nor where the token is sent.
 */
function ofUser<Value>(name: string): Value | undefined {
  const found = workspace.getConfiguration('reeve').inspect<Value>(name);
  return found?.globalValue ?? found?.defaultValue;
}
