import { isRecord } from '../../contract/events/payload-members.ts';
import { parseYamlMap, TemplateError, textMember } from './template-text.ts';

/** What the page for new issues offers beside templates. */
export type IssueConfig = {
  readonly blank_issues_enabled: boolean;
  readonly contact_links: readonly ContactLink[];
};

type ContactLink = { readonly name: string; readonly url: string; readonly about: string };

export const defaultConfig: IssueConfig = { blank_issues_enabled: true, contact_links: [] };

/** Tells whether a text is an absolute address, or a path from the root. */
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
