import { type Document, isMap, isScalar, isSeq, parseDocument } from 'yaml';
import { isRecord } from '../../contract/events/payload-members.ts';
import { shortenToColumns } from '../../contract/written-texts.ts';
import type { RepositoryTarget } from '../platform/access/targets.ts';
import type { ForgeContext } from '../platform/context.ts';
import { readBranch } from '../platform/git/refs.ts';
import type { GitRepository } from '../platform/git/repository.ts';
import { findEntry, readBlob, readTree, type TreeEntry } from '../platform/git/tree.ts';
import { defineHandlers } from '../platform/http/handler.ts';

const homes = ['', '.gitea/', '.github/', '.gitlab/'];
const folders = homes.flatMap((home) => [`${home}ISSUE_TEMPLATE`, `${home}issue_template`]);
const configs = ['.gitea/', '.github/']
  .flatMap((home) => [`${home}ISSUE_TEMPLATE/config`, `${home}issue_template/config`])
  .flatMap((name) => [`${name}.yaml`, `${name}.yml`]);

const maxBytes = 1024 * 1024;
/** Maximum number of templates that are read, more than a user can choose from. */
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

/** Returns the configuration of the first existing file. Throws `TemplateError` if it is invalid. */
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
    // An empty list is serialized as null, as Gitea does.
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

/** Options of the new-issue page apart from templates. */
type IssueConfig = {
  readonly blank_issues_enabled: boolean;
  readonly contact_links: readonly ContactLink[];
};

type ContactLink = { readonly name: string; readonly url: string; readonly about: string };

const defaultConfig: IssueConfig = { blank_issues_enabled: true, contact_links: [] };

/** Returns whether a text is an absolute URL or an absolute path. */
function isAddress(text: string): boolean {
  const isClean = [...text].every((character) => character >= ' ' && character !== '\x7f');
  return isClean && (text.startsWith('/') || URL.canParse(text));
}

/** Returns the configuration in a file. Throws `TemplateError` with the first error. */
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

/** An issue template as the API shows it. */
type IssueTemplateText = {
  readonly name: string;
  readonly title: string;
  readonly about: string;
  readonly labels: readonly string[] | null;
  readonly assignees: readonly string[] | null;
  readonly ref: string;
  readonly content: string;
  readonly body: readonly FormField[] | null;
  readonly file_name: string;
};

/** Thrown if a file is not a valid template or configuration. Only the reason for a configuration is shown. */
class TemplateError extends Error {}

/** Parses YAML into a map. Limits aliases, because a few lines of them can expand to a billion values. */
function parseYamlMap(text: string): {
  readonly document: Document;
  readonly value: Record<string, unknown>;
} {
  const document = parseDocument(text, { logLevel: 'silent' });
  const [error] = document.errors;
  if (error) throw new TemplateError(error.message);
  if (document.contents === null) return { document, value: {} };
  let value: unknown;
  try {
    value = document.toJS({ maxAliasCount: 100 });
  } catch (cause) {
    throw new TemplateError('the aliases in the file expand to too many values', { cause });
  }
  if (!isMap(document.contents) || !isRecord(value)) throw new TemplateError('the file is not a map');
  return { document, value };
}

/**
 * Returns the text of a field as written in the file, even if the value is a number or a boolean; '' if the field is
 * absent.
 */
function textMember(document: Document, path: readonly (string | number)[]): string {
  const node = document.getIn(path, true);
  if (node === undefined || node === null) return '';
  if (!isScalar(node)) throw new TemplateError(`${path.join('.')} is not text`);
  if (node.value === null) return '';
  return typeof node.value === 'string' ? node.value : (node.source ?? String(node.value));
}

/** Returns a list of names, which may be written as a list or as comma-separated text; null if it is absent. */
function namesMember(document: Document, name: string): readonly string[] | null {
  const node = document.get(name, true);
  if (node === undefined) return null;
  if (isSeq(node)) return node.items.map((_, index) => textMember(document, [name, index]));
  const names = textMember(document, [name])
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '');
  return names.length > 0 ? names : null;
}

function fieldsOf(document: Document, body: unknown): FormField[] | null {
  if (body === undefined || body === null) return null;
  if (!Array.isArray(body)) throw new TemplateError('body is not a list');
  return body.map((field: unknown, index) => {
    if (!isRecord(field)) throw new TemplateError(`body[${index}] is not a map`);
    const type = textMember(document, ['body', index, 'type']);
    const { attributes, validations, visible } = field;
    for (const member of [attributes, validations])
      if (member !== undefined && member !== null && !isRecord(member))
        throw new TemplateError(`body[${index}] has fields that are not a map`);
    if (visible !== undefined && visible !== null && !Array.isArray(visible))
      throw new TemplateError(`body[${index}].visible is not a list`);
    return {
      type,
      id: textMember(document, ['body', index, 'id']) || String(index),
      attributes: isRecord(attributes) ? attributes : null,
      validations: isRecord(validations) ? validations : null,
      visible: Array.isArray(visible)
        ? visible.map((_, at) => textMember(document, ['body', index, 'visible', at]))
        : type === 'markdown'
          ? ['form']
          : ['form', 'content'],
    };
  });
}

function metadataOf(text: string) {
  const { document, value } = parseYamlMap(text);
  const textOf = (name: string) => textMember(document, [name]);
  return {
    name: textOf('name'),
    title: textOf('title'),
    // Templates of other forges use `description`.
    about: textOf('about') || textOf('description'),
    labels: namesMember(document, 'labels'),
    assignees: namesMember(document, 'assignees'),
    ref: textOf('ref'),
    body: fieldsOf(document, value.body),
  };
}

const isSeparator = (line: string) => /^ *-{3,} *$/.test(line);

/** Returns the front matter and the text of a Markdown file; undefined if it has no front matter. */
function splitFrontMatter(text: string): { readonly front: string; readonly rest: string } | undefined {
  const lines = text.split('\n');
  const end = lines.findIndex((line, index) => index > 0 && isSeparator(line));
  if (!isSeparator(lines[0] ?? '') || end < 2) return undefined;
  return { front: lines.slice(1, end).join('\n'), rest: lines.slice(end + 1).join('\n') };
}

function parseMarkdown(fileName: string, text: string) {
  const split = splitFrontMatter(text);
  if (split) {
    try {
      return { ...metadataOf(split.front), content: split.rest };
    } catch (error) {
      if (!(error instanceof TemplateError)) throw error;
    }
  }
  const name = fileName.slice(fileName.lastIndexOf('/') + 1);
  const nothing = { title: '', labels: null, assignees: null, ref: '', body: null };
  return { ...nothing, name, about: shortenToColumns(text, 80), content: text };
}

/** Returns whether a file can be a template, by its extension and name. */
function isTemplateName(name: string): boolean {
  return /\.(md|ya?ml)$/.test(name) && !/^config\.ya?ml$/.test(name);
}

/** Returns the template in a file. Throws `TemplateError` if it is invalid. Source: modules/issue/template. */
export function parseTemplate(fileName: string, text: string): IssueTemplateText {
  const isMarkdown = fileName.endsWith('.md');
  const template = isMarkdown ? parseMarkdown(fileName, text) : { ...metadataOf(text), content: '' };
  if (template.name.trim() === '' || template.about.trim() === '')
    throw new TemplateError('name and about are required');
  if (!isMarkdown && !isForm(template.body ?? [])) throw new TemplateError('body is not a form');
  const ref = template.ref.startsWith('refs/') ? template.ref : `refs/heads/${template.ref}`;
  return { ...template, ref, file_name: fileName };
}

/** One field of a form as written in the file, with the defaults filled in. */
type FormField = {
  readonly type: string;
  readonly id: string;
  readonly attributes: Readonly<Record<string, unknown>> | null;
  readonly validations: Readonly<Record<string, unknown>> | null;
  readonly visible: readonly string[];
};

type FormMembers = Readonly<Record<string, unknown>> | null;

/** Returns whether the existing fields are texts. The first missing field ends the check, as in Gitea. */
function areTexts(members: FormMembers, names: readonly string[], isRequired = false): boolean {
  for (const name of names) {
    const value = members?.[name];
    if (value === undefined) return !isRequired;
    if (typeof value !== 'string') return false;
    if (isRequired && value.trim() === '') return false;
  }
  return true;
}

/** Like `areTexts`, for booleans. */
function areFlags(members: FormMembers, names: readonly string[]): boolean {
  for (const name of names) {
    const value = members?.[name];
    if (value === undefined) return true;
    if (typeof value !== 'boolean') return false;
  }
  return true;
}

function isDefaultOption({ attributes }: FormField): boolean {
  const chosen = attributes?.default;
  if (chosen === undefined) return true;
  const options = attributes?.options;
  const count = Array.isArray(options) ? options.length : 0;
  return Number.isInteger(chosen) && (chosen as number) >= 0 && (chosen as number) < count;
}

function isCheckbox(option: unknown): boolean {
  if (!isRecord(option) || typeof option.label !== 'string' || option.label === '') return false;
  const { visible, required } = option;
  const places: unknown[] | undefined = Array.isArray(visible) ? visible : undefined;
  if (visible !== undefined && !places) return false;
  if (places?.some((place) => place !== 'form' && place !== 'content')) return false;
  if (required !== undefined && typeof required !== 'boolean') return false;
  // Only the presence of `required` counts: Gitea also refuses `required: false` for a hidden checkbox.
  return required === undefined || places === undefined || places.includes('form');
}

function hasOptions({ attributes }: FormField, isOption: (option: unknown) => boolean): boolean {
  const options: unknown = attributes?.options;
  return Array.isArray(options) && options.length > 0 && options.every(isOption);
}

const texts = ['description', 'placeholder', 'value'];

/** Validation of each field type. */
const kinds: Readonly<Record<string, (field: FormField) => boolean>> = {
  markdown: ({ attributes }) => areTexts(attributes, ['value'], true),
  textarea: ({ attributes }) => areTexts(attributes, [...texts, 'render']),
  input: ({ attributes, validations }) =>
    areTexts(attributes, texts) && areFlags(validations, ['is_number']) && areTexts(validations, ['regex']),
  dropdown: (field) =>
    areTexts(field.attributes, ['description']) &&
    areFlags(field.attributes, ['multiple']) &&
    areFlags(field.attributes, ['list']) &&
    hasOptions(field, (option) => typeof option === 'string') &&
    isDefaultOption(field),
  checkboxes: (field) => areTexts(field.attributes, ['description']) && hasOptions(field, isCheckbox),
};

function isField(field: FormField, ids: Set<string>): boolean {
  const rule = Object.hasOwn(kinds, field.type) ? kinds[field.type] : undefined;
  if (rule === undefined) return false;
  if (field.type === 'markdown') return rule(field);
  if (!/^[\w-]+$/.test(field.id) || ids.has(field.id)) return false;
  ids.add(field.id);
  if (!areTexts(field.attributes, ['label'], true) || !rule(field)) return false;
  if (field.type === 'checkboxes') return true;
  if (!areFlags(field.validations, ['required'])) return false;
  return field.validations?.required !== true || field.visible.length === 0 || field.visible.includes('form');
}

/** Returns whether the fields of a form are valid: known types, unique ids, options where required. */
function isForm(fields: readonly FormField[]): boolean {
  const ids = new Set<string>();
  return fields.length > 0 && fields.every((field) => isField(field, ids));
}
