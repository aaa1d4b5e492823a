import { operations } from '../contract/operations.ts';
import { WikiPageMetaData } from '../contract/resources/wiki.ts';
import { list } from '../contract/shape.ts';
import { ReeveError } from '../platform/errors.ts';
import { defineFact } from './fact.ts';
import { repositoryParams } from './where.ts';

/** All pages of the repository's wiki, without their text. */
export const wikiPages = defineFact({
  name: 'wiki_pages',
  meaning:
    "All pages of the repository's wiki with their last commit, without their text; empty if there is no wiki.",
  shows: 'repository',
  visibleTo: 'administrators',
  shape: list(WikiPageMetaData),
  of: ['repository', 'pull_request', 'issue', 'branch'],
  needs: { access: 'reader', scopes: ['repository'] },
  requests: 1,
  example: 'wiki_pages.exists(p, p.title == "Home")',
  async ask({ client, subject }) {
    const found: WikiPageMetaData[] = [];
    const params = repositoryParams(subject);
    try {
      for await (const page of client.items(operations.listWikiPages, { params })) found.push(page);
    } catch (error) {
      // A wiki is created with its first page; until then the forge answers 404.
      if (!(error instanceof ReeveError && error.code === 'forge-not-found')) throw error;
    }
    return found;
  },
});
