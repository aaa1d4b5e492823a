import { html } from '../../../platform/http/html.ts';
import { parseItem } from '../../../work/runs/about-item.ts';
import type { DashboardData } from '../data.ts';
import { subjectPath } from '../links.ts';
import type { PageView } from '../page.ts';
import type { PageRequest } from '../page-handler.ts';
import { findDelivery } from './deliveries.ts';

const maxQueryChars = 200;
const uuid = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/**
 * Finds the page of an issue or pull request, a rule, a delivery or a run by its name, and leads to it. Every other text
 * is searched in the list of deliveries. What the viewer may not see is treated as what does not exist.
 */
export async function searchPage(pageRequest: PageRequest, data: DashboardData): Promise<PageView | string> {
  const { viewer, forgeUrl } = pageRequest;
  const query = (pageRequest.query.get('q') ?? '').trim().slice(0, maxQueryChars);
  if (query === '') return searchView('Enter what you are looking for in the field above.');
  const text = withoutForge(query, forgeUrl);
  const item = parseItem(text);
  const path = item && subjectPath(item.repository, item.index);
  if (path !== undefined) return path;
  if (/^\d{1,15}$/.test(text)) {
    const found = await findDelivery(pageRequest, data.store, text);
    return found ? `deliveries/${text}` : searchView(`No delivery has the number ${text}.`);
  }
  if (uuid.test(text)) {
    const run = await data.store.readRun(text.toLowerCase());
    const { delivery } = run?.trigger ?? {};
    const isVisible =
      viewer.isOperator ||
      (delivery !== undefined && (await findDelivery(pageRequest, data.store, delivery)) !== undefined);
    if (run !== undefined && isVisible) return `runs/${run.id}`;
  }
  const rule = viewer.isOperator
    ? data.rules().find(({ id, name }) => id === text || name === text)
    : undefined;
  if (rule !== undefined) return `rules/show?${new URLSearchParams({ rule: rule.id }).toString()}`;
  return `deliveries?${new URLSearchParams({ search: text }).toString()}`;
}

/** Returns a query in which an address on the forge is replaced by what it shows: `acme/shop#7` or `acme/shop`. */
function withoutForge(query: string, forgeUrl: string): string {
  if (!query.startsWith(`${forgeUrl}/`)) return query;
  const [owner, repo, kind, index] = query.slice(forgeUrl.length + 1).split(/[/?#]/);
  if (!owner || !repo) return query;
  const isItem = (kind === 'issues' || kind === 'pulls') && /^\d{1,9}$/.test(index ?? '');
  return isItem ? `${owner}/${repo}#${index}` : `${owner}/${repo}`;
}

function searchView(result: string): PageView {
  const content = html`<p role="status">${result}</p><dl><dt><code>owner/repo#7</code></dt><dd>everything about an issue or pull request; its address on the forge works as well</dd>
<dt><code>owner/repo</code></dt><dd>the deliveries of a repository</dd>
<dt>a number</dt><dd>a delivery by its id</dd>
<dt>a UUID</dt><dd>a run by its id, or a delivery by its UUID on the forge</dd>
<dt>any other text</dt><dd>a rule by its name, or deliveries by their kind, such as <code>pull_request</code></dd></dl>`;
  return { title: 'Search', content };
}
