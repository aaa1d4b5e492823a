import type { Operation } from '../../contract/operation.ts';
import { operations } from '../../contract/operations.ts';
import { html } from '../../platform/http/html.ts';
import type { PageContent } from './page.ts';

/** Shows every operation of the API, one entry each, for reading; programs take the description in JSON. */
export function apiPage(rootUrl: string): PageContent {
  const rows = Object.values<Operation>(operations).toSorted((one, other) =>
    one.path < other.path ? -1 : 1,
  );
  const entries = rows.map(
    (
      row,
    ) => html`<details id="${row.id}"><summary><code>${row.method} ${row.path}</code> ${row.meaning}</summary>
<p>For: ${row.access}. Token scopes: ${row.scopes.join(', ') || 'none'}. Answers ${row.success};
refuses with ${row.errors.join(', ') || 'nothing of its own'}.
${row.paging ? 'A list in pages: page, limit.' : undefined}</p>
${row.query ? html`<p>Query: ${Object.keys(row.query.shape).join(', ')}</p>` : undefined}
${row.body && 'shape' in row.body ? html`<p>Body: ${Object.keys(row.body.shape as object).join(', ')}</p>` : undefined}
</details>`,
  );
  const content = html`<p>Address: <code>${rootUrl}/api/v1</code>. For programs:
<a href="/swagger.v1.json">swagger.v1.json</a> (OpenAPI).</p>${entries}`;
  return { title: 'API', content };
}
