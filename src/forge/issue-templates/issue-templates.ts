import { isRecord } from '../../contract/events/payload-members.ts';
import type { RepositoryTarget } from '../access/targets.ts';
import type { ForgeContext } from '../core/context.ts';
import { readBranch } from '../git/refs.ts';
import type { GitRepository } from '../git/repository.ts';
import { findEntry, readBlob, readTree, type TreeEntry } from '../git/tree.ts';
import { defineHandlers } from '../http/handler.ts';
import {
  type IssueTemplateText,
  isTemplateName,
  parseTemplate,
  parseYamlMap,
  TemplateError,
  textMember,
} from './template-text.ts';

const homes = ['', '.gitea/', '.github/', '.gitlab/'];
const folders = homes.flatMap((home) => [`${home}ISSUE_TEMPLATE`, `${home}issue_template`]);
const configs = ['.gitea/', '.github/']
  .flatMap((home) => [`${home}ISSUE_TEMPLATE/config`, `${home}issue_template/config`])
  .flatMap((name) => [`${name}.yaml`, `${name}.yml`]);

const maxBytes = 1024 * 1024;
/** More than a person chooses from; the rest is not read. */
const maxTemplates = 200;

type TemplateTarget = RepositoryTarget & { readonly context: ForgeContext };

async function defaultCommit({ context, repository }: TemplateTarget) {
  const git = context.git.open(repository.id);
  return { git, commit: await readBranch(git, repository.default_branch) };
}

async function readTemplate(
  git: GitRepository,
  entry: TreeEntry,
  folder: string,
): Promise<IssueTemplateText> {
  const content = (await readBlob(git, entry.id, maxBytes))?.content;
  if (content === undefined) throw new TemplateError('not a file, or too large');
  return parseTemplate(`${folder}/${entry.name}`, content.toString('utf8'));
}

async function listEntries(git: GitRepository, commitId: string) {
  const entries: { readonly folder: string; readonly entry: TreeEntry }[] = [];
  for (const folder of folders) {
    const found = await findEntry(git, commitId, folder);
    if (found?.kind !== 'dir') continue;
    for (const entry of (await readTree(git, found.id)) ?? [])
      if (isTemplateName(entry.name)) entries.push({ folder, entry });
  }
  return entries.slice(0, maxTemplates);
}

/** Returns the configuration of the first file that there is. Throws `TemplateError` if it is none. */
async function readConfig(target: TemplateTarget): Promise<IssueConfig> {
  const { git, commit } = await defaultCommit(target);
  if (!commit) return defaultConfig;
  for (const path of configs) {
    const entry = await findEntry(git, commit.id, path);
    if (!entry) continue;
    const content = (await readBlob(git, entry.id, maxBytes))?.content;
    return content === undefined ? defaultConfig : parseIssueConfig(content.toString('utf8'));
  }
  return defaultConfig;
}

/** Handlers for issue templates and their configuration, from the default branch. */
export const issueTemplateHandlers = defineHandlers({
  async listIssueTemplates(call) {
    const { git, commit } = await defaultCommit(call);
    if (!commit) return null;
    const templates: IssueTemplateText[] = [];
    let mistakes = 0;
    for (const { entry, folder } of await listEntries(git, commit.id)) {
      try {
        templates.push(await readTemplate(git, entry, folder));
      } catch (error) {
        if (!(error instanceof TemplateError)) throw error;
        mistakes += 1;
      }
    }
    if (mistakes > 0)
      call.reply.header('X-Gitea-Warning', `error occurs when parsing issue template: count=${mistakes}`);
    // A list without anything is written as null, as Gitea does.
    return templates.length > 0 ? templates.map(toTemplate) : null;
  },

  async getIssueConfig(call) {
    try {
      return toConfig(await readConfig(call));
    } catch (error) {
      if (error instanceof TemplateError) return toConfig(defaultConfig);
      throw error;
    }
  },

  async validateIssueConfig(call) {
    try {
      await readConfig(call);
      return { valid: true, message: '' };
    } catch (error) {
      if (error instanceof TemplateError) return { valid: false, message: error.message };
      throw error;
    }
  },
});

const toConfig = ({ contact_links, ...rest }: IssueConfig) => ({
  ...rest,
  contact_links: [...contact_links],
});

function toTemplate({ labels, assignees, body, ...rest }: IssueTemplateText) {
  return {
    ...rest,
    labels: labels && [...labels],
    assignees: assignees && [...assignees],
    body:
      body?.map(({ visible, attributes, validations, ...field }) => ({
        ...field,
        attributes: attributes && { ...attributes },
        validations: validations && { ...validations },
        ...(visible.length > 0 ? { visible: [...visible] } : {}),
      })) ?? null,
  };
}

/** What the page for new issues offers beside templates. */
type IssueConfig = {
  readonly blank_issues_enabled: boolean;
  readonly contact_links: readonly ContactLink[];
};

type ContactLink = { readonly name: string; readonly url: string; readonly about: string };

const defaultConfig: IssueConfig = { blank_issues_enabled: true, contact_links: [] };

/** Returns whether a text is an absolute address, or a path from the root. */
function isAddress(text: string): boolean {
  const isClean = [...text].every((character) => character >= ' ' && character !== '\x7f');
  return isClean && (text.startsWith('/') || URL.canParse(text));
}

/** Returns the configuration in a file. Throws `TemplateError` with the first mistake. */
export function parseIssueConfig(text: string): IssueConfig {
  const { document, value } = parseYamlMap(text);
  const { blank_issues_enabled = true, contact_links = [] } = value;
  if (typeof blank_issues_enabled !== 'boolean')
    throw new TemplateError('blank_issues_enabled is not a boolean');
  if (!Array.isArray(contact_links)) throw new TemplateError('contact_links is not a list');
  const links = contact_links.map((link: unknown, index) => {
    if (!isRecord(link)) throw new TemplateError(`contact_link at position ${index + 1} is not a map`);
    const textOf = (name: string) => textMember(document, ['contact_links', index, name]);
    return { name: textOf('name'), url: textOf('url'), about: textOf('about') };
  });
  for (const [index, link] of links.entries()) {
    for (const name of ['name', 'url', 'about'] as const)
      if (link[name] === '')
        throw new TemplateError(`contact_link at position ${index + 1} is missing ${name} key`);
    if (!isAddress(link.url)) throw new TemplateError(`${link.url} is not a valid URL`);
  }
  return { blank_issues_enabled, contact_links: links };
}
