import type { z } from 'zod';
import { operations } from '../contract/operations.ts';
import { type WikiPage, WikiPageMetaData } from '../contract/resources/wiki.ts';
import { int, text } from '../contract/shape.ts';
import { ReeveError } from '../errors.ts';
import { defineFact } from './fact.ts';
import { repositoryParams } from './where.ts';

/** A page with its decoded texts, which are empty if missing. */
const Page = WikiPageMetaData.partial({ sub_url: true }).extend({
  content: text,
  sidebar: text.nullish(),
  footer: text.nullish(),
  commit_count: int.nullish(),
});

/** One page of the repository's wiki with its text. */
export const wiki = defineFact({
  name: 'wiki',
  meaning:
    "One page of the repository's wiki with its text, sidebar and footer; null if it does not exist. In a facts file, the text is enough.",
  shows: 'repository',
  visibleTo: 'administrators',
  shape: Page.nullable(),
  of: ['repository', 'pull_request', 'issue', 'branch'],
  needs: { access: 'reader', scopes: ['repository'] },
  argument: 'page',
  requests: 1,
  example: 'wiki("Freeze") != null && wiki("Freeze").content.contains("frozen: yes")',
  complete: (written) => (typeof written === 'string' ? { title: '', content: written } : written),
  async ask({ client, subject }, pageName = '') {
    try {
      const page = await client.call(operations.getWikiPage, {
        params: { ...repositoryParams(subject), pageName },
      });
      return toPage(page);
    } catch (error) {
      if (error instanceof ReeveError && error.code === 'forge-not-found') return null;
      throw error;
    }
  },
});

function toPage({ content_base64, sidebar, footer, ...page }: WikiPage): z.output<typeof Page> {
  return { ...page, content: decode(content_base64), sidebar: decode(sidebar), footer: decode(footer) };
}

function decode(written: string | null | undefined): string {
  return Buffer.from(written ?? '', 'base64').toString('utf8');
}
