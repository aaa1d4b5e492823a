import type { z } from 'zod';
import { operations } from '../contract/operations.ts';
import { type WikiPage, WikiPageMetaData } from '../contract/resources/wiki.ts';
import { int, list, text } from '../contract/shape.ts';
import { trimSpace } from '../contract/written-texts.ts';
import { ReeveError } from '../platform/errors.ts';
import { defineFact } from './fact.ts';
import { ways } from './ways.ts';
import { repositoryParams } from './where.ts';

/** A page with its texts decoded; missing texts are empty. */
const Page = WikiPageMetaData.partial({ sub_url: true }).extend({
  content: text,
  sidebar: text.nullish(),
  footer: text.nullish(),
  commit_count: int.nullish(),
});

/** A page of the repository's wiki with its text. */
export const wiki = defineFact({
  name: 'wiki',
  meaning:
    "One page of the repository's wiki, by its title, with its text, sidebar and footer; null if it does not exist. In a facts file, the text is enough.",
  shows: 'repository',
  visibleTo: 'administrators',
  shape: Page.nullable(),
  of: ['repository', 'pull_request', 'issue', 'branch'],
  changes: [ways.elsewhere],
  needs: { access: 'reader', scopes: ['repository'] },
  argument: 'page',
  requests: 1,
  example: 'wiki("Freeze") != null && wiki("Freeze").content.contains("frozen: yes")',
  complete: (written) => (typeof written === 'string' ? { title: '', content: written } : written),
  async ask({ client, subject }, pageName = '') {
    for (const address of addressesOf(pageName)) {
      try {
        const params = { ...repositoryParams(subject), pageName: address };
        return toPage(await client.call(operations.getWikiPage, { params }));
      } catch (error) {
        if (!(error instanceof ReeveError) || error.code !== 'forge-not-found') throw error;
      }
    }
    return null;
  },
});

/**
 * Returns the path names to try for a page: one for the argument as a title, one for the argument as a URL name; for
 * most pages, both are the same. In a path, a marker follows a title that contains a hyphen or ends in `.md`, because a
 * hyphen otherwise stands for a space. Source: forge `services/wiki/wiki_path.go UserTitleToWebPath`.
 */
function addressesOf(page: string): readonly string[] {
  const title = trimSpace(page);
  return title.includes('-') || title.endsWith('.md') ? [`${title}.-`, title] : [title];
}

function toPage({ content_base64, sidebar, footer, ...page }: WikiPage): z.output<typeof Page> {
  return { ...page, content: decode(content_base64), sidebar: decode(sidebar), footer: decode(footer) };
}

function decode(written: string | null | undefined): string {
  return Buffer.from(written ?? '', 'base64').toString('utf8');
}

/** All pages of the repository's wiki, without their text. */
export const wikiPages = defineFact({
  name: 'wiki_pages',
  meaning:
    "All pages of the repository's wiki with their last commit, without their text; empty if there is no wiki.",
  shows: 'repository',
  visibleTo: 'administrators',
  shape: list(WikiPageMetaData),
  of: ['repository', 'pull_request', 'issue', 'branch'],
  changes: [ways.elsewhere],
  needs: { access: 'reader', scopes: ['repository'] },
  requests: 1,
  example: 'wiki_pages.exists(p, p.title == "Home")',
  async ask({ client, subject }) {
    const found: WikiPageMetaData[] = [];
    const params = repositoryParams(subject);
    try {
      for await (const page of client.items(operations.listWikiPages, { params })) found.push(page);
    } catch (error) {
      // A wiki is created with its first page; before that, the forge answers 404.
      if (!(error instanceof ReeveError && error.code === 'forge-not-found')) throw error;
    }
    return found;
  },
});
